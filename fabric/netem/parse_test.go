package netem

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func fixture(t testing.TB, name string) []byte {
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return b
}

// TestEthtoolFiles reads what the drivers print, and finds the same things under
// their different names.
func TestEthtoolFiles(t *testing.T) {
	for _, c := range []struct {
		file  string
		count int
		name  string
		value int64
		prio3 map[string]float64
	}{
		{"ethtool-mlx5.txt", 35, "rx_vport_rdma_unicast_packets", 183472910, map[string]float64{PauseFramesRx: 1822, PausedRx: 0.091044, PausesRx: 911,
			PauseFramesTx: 40210, PausedTx: 2.010522, PausesTx: 20105, DiscardsRx: 7}},
		{"ethtool-bnxt.txt", 15, "[0]: rx_ucast_packets", 52113, map[string]float64{PauseFramesRx: 5520, PauseFramesTx: 12, PausedRx: 0.27048, PausesRx: 2760, PausedTx: 588e-6, PausesTx: 6}},
		{"ethtool-ice.txt", 9, "rx_bytes.nic", 61988201192, map[string]float64{PauseXonTx: 21, PauseXoffTx: 21, PauseXonRx: 803, PauseXoffRx: 1911}},
		{"ethtool-veth.txt", 4, "peer_ifindex", 5, map[string]float64{}},
	} {
		got, err := ParseEthtool(bytes.NewReader(fixture(t, c.file)))
		require.NoError(t, err, c.file)
		require.Len(t, got, c.count, c.file)
		require.Equal(t, c.value, got[c.name], c.file)
		prio3 := map[string]float64{}
		for name, v := range got {
			if p, ok := OfPriority(name); ok && p.Prio == 3 {
				prio3[p.Name] = float64(v) * p.Scale
			}
		}
		require.InDeltaMapValues(t, c.prio3, prio3, 1e-9, c.file)
	}
	for _, name := range []string{"rx_prio8_pause", "rx_prio_pause", "rx_prio33_pause", "rx_prio3_packets", "", "xrx_prio3_pause"} {
		_, ok := OfPriority(name)
		require.False(t, ok, name)
	}
	_, err := ParseEthtool(strings.NewReader("NIC statistics:\n  rx: 1\nno colon here\n"))
	require.ErrorContains(t, err, "line 3")
}

func TestRDMAStatisticFiles(t *testing.T) {
	for _, c := range []struct {
		file, name string
		value      int64
	}{
		{"rdma-statistic-mlx5.json", "np_ecn_marked_roce_packets", 120033},
		{"rdma-statistic-rxe.json", "out_of_seq_request", 22},
		{"rdma-statistic-irdma.json", "cnpSent", 8801},
		{"rdma-statistic-bnxt.json", "oos_drop_count", 29},
	} {
		got, err := ParseRDMAStatistic(fixture(t, c.file))
		require.NoError(t, err, c.file)
		require.Equal(t, c.value, got[c.name], c.file)
		require.NotContains(t, got, "port", "a number of a port counts nothing")
	}
	got, err := ParseRDMAStatistic(nil)
	require.NoError(t, err)
	require.Empty(t, got, "no device")
}

// answers is a Runner that prints files; what it does not have is not installed.
type answers map[string]string

func (a answers) Run(_ context.Context, c Command) (string, error) {
	file, ok := a[c.String()]
	if !ok {
		return "", errors.New("not found")
	}
	b, err := os.ReadFile(filepath.Join("testdata", file))
	return string(b), err
}

func TestDCBFiles(t *testing.T) {
	ctx := context.Background()
	d, err := ReadDCB(ctx, answers{"dcb -j pfc show dev eth0": "dcb-pfc.json", "dcb -j ets show dev eth0": "dcb-ets.json",
		"dcb -j app show dev eth0": "dcb-app.json", "dcb -j buffer show dev eth0": "dcb-buffer.json"}, "eth0")
	require.NoError(t, err)
	require.Equal(t, []int{3}, d.Lossless())
	require.Equal(t, 4096, d.PFCDelay)
	require.True(t, *d.TrustDSCP)
	require.Equal(t, map[int]int{24: 3, 26: 3, 48: 6}, d.DSCPPrio)
	require.Equal(t, [8]int{0, 0, 0, 3, 0, 0, 6, 0}, *d.PrioTC)
	require.Equal(t, [8]int{0, 0, 0, 1, 0, 0, 0, 0}, *d.Buffer)

	d, err = ReadDCB(ctx, answers{"mlnx_qos -i eth0": "mlnx_qos.txt"}, "eth0")
	require.NoError(t, err)
	require.Equal(t, []int{3}, d.Lossless())
	require.True(t, *d.TrustDSCP)
	require.Equal(t, 3, d.DSCPPrio[26])
	require.Equal(t, 1, d.Buffer[3])

	_, err = ReadDCB(ctx, answers{}, "eth0")
	require.ErrorIs(t, err, ErrNotSupported, "neither command is there: not measured")
	require.Nil(t, d.PrioTC)
}

func TestUserQPs(t *testing.T) {
	list, err := parseUserQPs([]byte(`[{"ifindex":0,"ifname":"rxe0","port":1,"lqpn":1,"type":"GSI","state":"RTS","sq-psn":0,"comm":"[ib_core]"},
{"ifindex":0,"ifname":"rxe0","port":1,"lqpn":17,"rqpn":17,"type":"RC","state":"RTS","pid":4711,"comm":"ib_write_bw"}]`))
	require.NoError(t, err)
	require.Equal(t, []UserQP{{"rxe0", 17, "RC", "RTS", 4711, "ib_write_bw"}}, list)
}

func FuzzParseEthtool(f *testing.F) {
	for _, n := range []string{"ethtool-mlx5.txt", "ethtool-bnxt.txt", "ethtool-ice.txt", "ethtool-veth.txt"} {
		f.Add(fixture(f, n))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := ParseEthtool(bytes.NewReader(b))
		if err != nil && c != nil {
			t.Fatal("counters beside an error")
		}
		for name := range c {
			if p, ok := OfPriority(name); ok && (p.Prio < 0 || p.Prio > 7) {
				t.Fatalf("%s: priority %d", name, p.Prio)
			}
		}
	})
}

func FuzzParseRDMAStatistic(f *testing.F) {
	for _, n := range []string{"mlx5", "rxe", "irdma", "bnxt"} {
		f.Add(fixture(f, "rdma-statistic-"+n+".json"))
	}
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = ParseRDMAStatistic(b) })
}

func FuzzDCB(f *testing.F) {
	for _, n := range []string{"dcb-pfc.json", "dcb-ets.json", "dcb-app.json", "dcb-buffer.json", "mlnx_qos.txt"} {
		f.Add(fixture(f, n))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var d DCB
		for _, parse := range []func([]byte) error{d.parsePFC, d.parseETS, d.parseApp, d.parseBuffer} {
			_ = parse(b)
		}
		_ = d.parseMlnxQoS(string(b))
		for dscp, p := range d.DSCPPrio {
			if dscp < 0 || dscp > 63 || p < 0 || p > 7 {
				t.Fatalf("DSCP %d: priority %d", dscp, p)
			}
		}
		d.Lossless()
	})
}

func FuzzUserQPs(f *testing.F) {
	f.Add([]byte(`[{"ifname":"rxe0","lqpn":17,"type":"RC","state":"RTS","pid":4711,"comm":"x"}]`))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = parseUserQPs(b) })
}
