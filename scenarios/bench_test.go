package scenarios

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"rdmasim/congestion"
	"rdmasim/fabric/topology"
	"rdmasim/scenarios/workload"
	"rdmasim/sim"

	"github.com/stretchr/testify/require"
)

// The speed cases fix everything that a packet-hop's cost depends on: path MTU
// 1024, 1 us links, an ACK every 16 packets, DCQCN with the NIC defaults, PFC
// on, ECN on, series at 10 us. Only the simulation is counted, with the run
// directory written, and a packet-hop is one transmission of any packet.
func benchSpec(b testing.TB, t Member, load Member, d sim.Duration) *Spec {
	s := Defaults()
	s.Name, s.Seed, s.Duration, s.UntilDone = "bench", 1, d, false
	s.Series.Interval = 10 * sim.Microsecond
	s.Topology = t
	s.Switch.ECN = map[int]ECNSpec{3: {Kmin: 400 * sim.KB, Kmax: 1600 * sim.KB, Pmax: 0.2, MarkAt: "dequeue", Above: "mark_all"}}
	e, err := congestion.Algorithms.Lookup("dcqcn")
	require.NoError(b, err)
	s.NIC.Congestion = Member{"dcqcn", e.Presets["connectx"]}
	s.NIC.PathMTU, s.NIC.AckEvery = 1024, 16
	s.Traffic = []TrafficSpec{{Member: load}}
	return &s
}

func benchFatTree(b testing.TB, k int) Member {
	e, err := topology.Topologies.Lookup("fat_tree")
	require.NoError(b, err)
	p := e.Defaults.(topology.FatTreeParams)
	p.K, p.Rate, p.Delay = k, 100*sim.Gbps, sim.Microsecond
	return Member{"fat_tree", p}
}

// benchHPCC is the tree of the HPCC paper: 5 pods of 4 ToR and 4 aggregation
// switches, 16 core switches, 16 hosts per ToR at 100G, 400G above.
func benchHPCC(b testing.TB) Member {
	e, err := topology.Topologies.Lookup("clos")
	require.NoError(b, err)
	p := e.Presets["hpcc320"]
	require.NotNil(b, p)
	return Member{"clos", p}
}

func benchLoad(b testing.TB, name string) Member {
	e, err := workload.Workloads.Lookup(name)
	require.NoError(b, err)
	switch p := e.Defaults.(type) {
	case workload.PermutationParams:
		p.Message, p.Repeat = sim.MB, workload.Forever
		return Member{name, p}
	case workload.PoissonParams:
		p.Load = 0.3
		return Member{name, p}
	}
	b.Fatal(name)
	return Member{}
}

func benchRun(b *testing.B, s *Spec, workers int) {
	for i := 0; b.Loop(); i++ {
		r, err := Run(context.Background(), s, Options{Out: filepath.Join(b.TempDir(), fmt.Sprint(i)), Workers: workers})
		require.NoError(b, err)
		b.ReportMetric(r.CPU*1e9/float64(r.PacketHops), "cpu-ns/hop")
		b.ReportMetric(r.Wall*1e9/float64(r.PacketHops), "wall-ns/hop")
		b.ReportMetric(float64(r.PacketHops), "hops")
		b.ReportMetric(float64(r.Workers), "workers")
		b.ReportMetric(float64(r.Events)/float64(r.PacketHops), "events/hop")
		b.ReportMetric(float64(peakRSS())/(1<<20), "rss-MiB")
		runtime.GC()
	}
}

func BenchmarkPermutationK8(b *testing.B) {
	s := benchSpec(b, benchFatTree(b, 8), benchLoad(b, "permutation"), 2*sim.Millisecond)
	b.Run("workers=1", func(b *testing.B) { benchRun(b, s, 1) })
	b.Run("workers=2", func(b *testing.B) { benchRun(b, s, 2) })
}

func BenchmarkPermutationK16(b *testing.B) {
	s := benchSpec(b, benchFatTree(b, 16), benchLoad(b, "permutation"), 500*sim.Microsecond)
	b.Run("workers=1", func(b *testing.B) { benchRun(b, s, 1) })
	b.Run("workers=2", func(b *testing.B) { benchRun(b, s, 2) })
}

func BenchmarkWebSearch320(b *testing.B) {
	s := benchSpec(b, benchHPCC(b), benchLoad(b, "poisson"), 2*sim.Millisecond)
	s.NIC.Frame.Payload, s.NIC.Frame.Set, s.NIC.Frame.Overhead.Auto = 1000, true, true
	b.Run("workers=1", func(b *testing.B) { benchRun(b, s, 1) })
	b.Run("workers=2", func(b *testing.B) { benchRun(b, s, 2) })
}
