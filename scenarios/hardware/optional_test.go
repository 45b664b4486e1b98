package hardware

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rdmasim/fabric/netem"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// words is a Runner that prints what it is given; all else fails.
type words map[string]string

func (a words) Run(_ context.Context, c netem.Command) (string, error) {
	if s, ok := a[c.String()]; ok {
		return s, nil
	}
	return "", errors.New("not found")
}

// TestOptionalInRuns: optional counters become totals and series under their own
// names; where there are none, or they are off, the run says so.
func TestOptionalInRuns(t *testing.T) {
	w := offloadedWorld(t, "")
	w.askOptional(words{
		"rdma statistic mode supported link mlx5_0/1": "link mlx5_0/1 supported optional-counters cc_rx_ce_pkts,cc_tx_cnp_pkts\n",
		"rdma statistic mode link mlx5_0/1":           "link mlx5_0/1 optional-counters cc_rx_ce_pkts\n",
		"rdma statistic qp mode link mlx5_0/1":        "link mlx5_0/1 mode qp auto off\n",
	})
	require.Equal(t, []string{"cc_rx_ce_pkts"}, w.ends[0].info.Optional.On)
	require.Len(t, w.missing, 1, "the other device could not be asked")
	require.Equal(t, "optional counters of mlx5_1", w.missing[0].What)
	require.Contains(t, w.stillOff()[0].What, "1 optional counters of mlx5_0: cc_tx_cnp_pkts")
	require.Len(t, w.optionalChanges(), 2)
	var log strings.Builder
	w.print(Options{Log: &log, Optional: true})
	require.Contains(t, log.String(), "rdma statistic set link mlx5_0/1 optional-counters cc_rx_ce_pkts,cc_tx_cnp_pkts\n# afterwards, whatever happens\nrdma statistic set link mlx5_0/1 optional-counters cc_rx_ce_pkts\n")

	before := reading{optional: netem.Counters{"cc_rx_ce_pkts": 100}}
	after := reading{optional: netem.Counters{"cc_rx_ce_pkts": 140, "qp_RC_out_of_sequence": 2}}
	d := after.since(&before)
	names := map[string]float64{}
	for _, c := range d.counters(&w.ends[0].info) {
		require.Equal(t, "mlx5_0", c.Object)
		names[c.Name] = c.Value
	}
	require.Equal(t, map[string]float64{"cc_rx_ce_pkts": 40, "qp_RC_out_of_sequence": 2}, maps.Clone(names))
	s := startSampler(nil, 0, clock{time.Now()})
	s.rates(&w.ends[0].info, d, 0, sim.Time(2*sim.Second))
	require.Len(t, s.points, 2)
	for _, p := range s.points {
		require.Equal(t, "mlx5_0", p.object)
		require.Equal(t, names[strings.TrimSuffix(p.point.Metric, "/s")]/2, p.point.Mean)
	}

	soft := offloadedWorld(t, "")
	for _, e := range soft.ends {
		e.info.Software = true
	}
	soft.askOptional(words{"rdma statistic mode supported link mlx5_0/1": "", "rdma statistic mode supported link mlx5_1/1": "", "rdma statistic qp mode link mlx5_0/1": "link mlx5_0/1 mode qp auto off"})
	require.Equal(t, []trace.Missing{{What: "optional counters of mlx5_0", Reason: "its driver has none"}, {What: "optional counters of mlx5_1", Reason: "its driver has none"}}, soft.missing)
	require.Empty(t, soft.optionalChanges())
}
