package netem

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOptionalCounters: what each kind of device prints of its optional counters
// and of those per queue pair.
func TestOptionalCounters(t *testing.T) {
	ctx := context.Background()
	mlx5 := answers{"rdma statistic mode supported link mlx5_0/1": "rdma-optional-mlx5.txt", "rdma statistic mode link mlx5_0/1": "rdma-optional-mlx5-on.txt",
		"rdma statistic qp mode link mlx5_0/1": "rdma-qp-mode-off.txt", "rdma -j statistic show link mlx5_0/1": "rdma-statistic-mlx5-optional.json"}
	o, err := ReadOptional(ctx, mlx5, "mlx5_0", 1)
	require.NoError(t, err)
	require.Equal(t, Optional{[]string{"cc_rx_ce_pkts", "cc_rx_cnp_pkts", "cc_tx_cnp_pkts", "rdma_tx_bytes"}, []string{"cc_rx_ce_pkts"}, "auto off"}, o)
	c, err := o.Read(ctx, mlx5, "mlx5_0", 1)
	require.NoError(t, err)
	require.Equal(t, Counters{"cc_rx_ce_pkts": 120033}, c, "those of sysfs are read from there")

	changes := o.SwitchOn("mlx5_0", 1)
	require.Len(t, changes, 2)
	require.Equal(t, "rdma statistic set link mlx5_0/1 optional-counters cc_rx_ce_pkts,cc_rx_cnp_pkts,cc_tx_cnp_pkts,rdma_tx_bytes", changes[0].Do.String())
	require.Equal(t, "rdma statistic set link mlx5_0/1 optional-counters cc_rx_ce_pkts", changes[0].Undo.String(), "what was on stays on")
	require.Equal(t, "rdma statistic qp set link mlx5_0/1 auto type on", changes[1].Do.String())
	require.Equal(t, "rdma statistic qp set link mlx5_0/1 auto off", changes[1].Undo.String())

	mlx5["rdma statistic mode link mlx5_0/1"], mlx5["rdma statistic qp mode link mlx5_0/1"] = "rdma-optional-mlx5-all.txt", "rdma-qp-mode-on.txt"
	mlx5["rdma -j statistic qp show link mlx5_0/1"] = "rdma-qp-mlx5.json"
	o, err = ReadOptional(ctx, mlx5, "mlx5_0", 1)
	require.NoError(t, err)
	require.Empty(t, o.SwitchOn("mlx5_0", 1), "all of it is on")
	c, err = o.Read(ctx, mlx5, "mlx5_0", 1)
	require.NoError(t, err)
	require.EqualValues(t, 9120, c["cc_tx_cnp_pkts"])
	require.NotContains(t, c, "rdma_tx_bytes", "2^64-1 is a counter that the device does not fill")
	require.EqualValues(t, 120, c["qp_RC_rx_write_requests"])
	require.EqualValues(t, 3, c["qp_RC_out_of_sequence"])
	require.Contains(t, c, "qp_UD_rx_write_requests")
	require.NotContains(t, c, "qp_RC_pid")

	none := Optional{On: nil, PerQP: "auto off", Supported: []string{"a"}}
	require.Equal(t, "rdma statistic unset link x/1 optional-counters", none.SwitchOn("x", 1)[0].Undo.String())

	rxe := answers{"rdma statistic mode supported link rxe0/1": "rdma-optional-none.txt", "rdma statistic mode link rxe0/1": "rdma-optional-none.txt", "rdma statistic qp mode link rxe0/1": "rdma-qp-mode-rxe.txt"}
	o, err = ReadOptional(ctx, rxe, "rxe0", 1)
	require.NoError(t, err)
	require.Empty(t, o.Supported)
	require.False(t, o.Counts())
	_, err = ReadOptional(ctx, answers{}, "rxe0", 1)
	require.ErrorIs(t, err, ErrNotSupported, "there is no rdma command")
	_, err = ReadOptional(ctx, answers{}, "-x", 1)
	require.Error(t, err)
}

func FuzzOptional(f *testing.F) {
	f.Add(string(fixture(f, "rdma-optional-mlx5.txt")), fixture(f, "rdma-qp-mlx5.json"))
	f.Add("link x/1 mode qp auto type on", []byte(`[{"type":"RC","a":1}]`))
	f.Fuzz(func(t *testing.T, text string, b []byte) {
		for _, n := range parseOptional(text) {
			require.Regexp(t, counterName, n)
		}
		_ = parseQPMode(text)
		c := Counters{}
		_ = parseQPCounters(b, c)
		require.LessOrEqual(t, len(c), maxCounters)
	})
}
