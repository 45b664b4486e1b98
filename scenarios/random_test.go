package scenarios

import (
	"context"
	"path/filepath"
	"testing"

	"rdmasim/congestion"
	"rdmasim/fabric/topology"
	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/sim/trace"

	"github.com/stretchr/testify/require"
)

// randomSpec draws a small fabric with traffic: every mixture of speeds,
// cables, buffers, encapsulations and workloads that the model knows.
func randomSpec(t testing.TB, seed uint64) *Spec {
	r := sim.NewRand(seed, "scenario")
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	rate := func() sim.Rate {
		return []sim.Rate{10 * sim.Gbps, 25 * sim.Gbps, 40 * sim.Gbps, 100 * sim.Gbps, 200 * sim.Gbps, 400 * sim.Gbps}[r.IntN(6)]
	}
	delay := func() sim.Duration {
		return []sim.Duration{10, 49, 51, 200, 500, 1000, 3000}[r.IntN(7)] * sim.Nanosecond
	}
	s := Defaults()
	s.Name, s.Seed, s.UntilDone, s.Duration, s.MaxDuration = "random", seed, true, 0, 30*sim.Millisecond
	s.Topology = randomTopology(t, r, rate, delay)
	sw := &s.Switch
	sw.Mode = pick("store_and_forward", "store_and_forward", "cut_through")
	sw.Latency = sim.Duration(r.IntN(3)) * 300 * sim.Nanosecond
	sw.Buffer.Alpha = []sim.Ratio{1.0 / 64, 1.0 / 8, 1, 8}[r.IntN(4)]
	sw.Balance.Method = pick("ecmp", "ecmp", "spray", "flowlet")
	sw.Balance.Gap = 20 * sim.Microsecond
	if r.IntN(3) > 0 {
		kmin := sim.Bytes(1+r.IntN(200)) * sim.KB
		sw.ECN = map[int]ECNSpec{3: {Kmin: kmin, Kmax: kmin * sim.Bytes(1+r.IntN(5)), Pmax: sim.Ratio(1+r.IntN(100)) / 100, MarkAt: pick("dequeue", "enqueue"), Above: "mark_all"}}
	}
	n := &s.NIC
	n.PathMTU = []int{256, 1024, 4096}[r.IntN(3)]
	n.Encapsulation = pick("none", "vlan", "ipv6", "vxlan")
	n.AckEvery = 1 + r.IntN(20)
	e, err := congestion.Algorithms.Lookup(pick("dcqcn", "none"))
	require.NoError(t, err)
	n.Congestion = Member{e.Name, e.Defaults}
	if len(e.Presets) > 0 {
		n.Congestion.Params = e.Presets[e.PresetNames()[r.IntN(len(e.Presets))]]
	}
	if r.IntN(4) == 0 {
		n.Drain = 5 * sim.Gbps
	}
	s.Traffic = []TrafficSpec{{Member: randomTraffic(t, r)}}
	// A buffer that is hardly larger than what headroom and reserves take.
	sw.Buffer.Size = 100 * sim.KB
	for {
		if _, err := build(&s); err == nil {
			break
		}
		sw.Buffer.Size += sw.Buffer.Size / 4
	}
	sw.Buffer.Size += sim.Bytes(r.IntN(400)) * sim.KB
	return &s
}

func randomTopology(t testing.TB, r *sim.Rand, rate func() sim.Rate, delay func() sim.Duration) Member {
	name := []string{"star", "dumbbell", "leaf_spine", "fat_tree", "ring"}[r.IntN(5)]
	e, err := topology.Topologies.Lookup(name)
	require.NoError(t, err)
	switch p := e.Defaults.(type) {
	case topology.StarParams:
		p.Rate, p.Delay, p.Hosts = rate(), delay(), 2+r.IntN(9)
		return Member{name, p}
	case topology.DumbbellParams:
		p.Rate, p.Delay, p.Bottleneck = rate(), delay(), rate()
		return Member{name, p}
	case topology.LeafSpineParams:
		p.Rate, p.Delay, p.UplinkRate = rate(), delay(), rate()
		p.Leaves, p.Spines, p.HostsPerLeaf = 2+r.IntN(2), 1+r.IntN(3), 1+r.IntN(3)
		return Member{name, p}
	case topology.FatTreeParams:
		p.K, p.Rate, p.Delay, p.CoreRate = 4, rate(), delay(), rate()
		return Member{name, p}
	case topology.RingParams:
		p.Rate, p.Delay = rate(), delay()
		return Member{name, p}
	}
	return Member{name, e.Defaults}
}

func randomTraffic(t testing.TB, r *sim.Rand) Member {
	name := []string{"incast", "permutation", "all_to_all", "poisson", "ring_allreduce"}[r.IntN(5)]
	e, err := workload.Workloads.Lookup(name)
	require.NoError(t, err)
	size := []sim.Bytes{1, 64, 5000, 100_000, 400_000, 1_000_000}[r.IntN(6)]
	switch p := e.Defaults.(type) {
	case workload.IncastParams:
		p.Message, p.Repeat, p.Depth = size, workload.Repeat(1+r.IntN(3)), 1+r.IntN(2)
		return Member{name, p}
	case workload.PermutationParams:
		p.Message, p.Repeat, p.QPsPerPeer = size, workload.Repeat(1+r.IntN(3)), 1+r.IntN(3)
		return Member{name, p}
	case workload.AllToAllParams:
		p.Message = min(size, 100_000)
		return Member{name, p}
	case workload.PoissonParams:
		p.Stop = 200 * sim.Microsecond
		return Member{name, p}
	}
	return Member{name, e.Defaults}
}

// runChecked runs a scenario and checks, between any two windows, that every
// switch holds exactly the bytes that it has accounted.
func runChecked(t testing.TB, s *Spec, workers int) (*Result, *trace.Run) {
	w, err := build(s)
	require.NoError(t, err)
	require.NoError(t, w.attach(nil))
	w.exactly = true
	w.check = func(at sim.Time) {
		for i, sw := range w.switches {
			if sw == nil {
				continue
			}
			if accounted, queued := sw.InUse(); accounted != queued {
				t.Fatalf("seed %d: at %v switch %s has accounted %d bytes and holds %d", s.Seed, at, w.graph.Nodes[i].Name, accounted, queued)
			}
		}
	}
	o := Options{Out: filepath.Join(t.TempDir(), "run"), Workers: workers}
	out, err := w.create(o)
	require.NoError(t, err)
	res, err := w.simulate(context.Background(), out, o)
	require.NoError(t, err)
	run, err := trace.Open(o.Out)
	require.NoError(t, err)
	return res, run
}

// checkLossless asserts what holds for every fabric with computed headroom: no
// lossless frame is dropped, and what was sent has arrived when all is done.
func checkLossless(t testing.TB, s *Spec, run *trace.Run) {
	counters, err := run.Counters()
	require.NoError(t, err)
	sum := map[string]float64{}
	for _, c := range counters {
		sum[c.Name] += c.Value
	}
	require.Zero(t, sum[trace.CountDropLossless], "seed %d: lossless drops", s.Seed)
	require.Zero(t, sum[trace.CountDropFault], "seed %d", s.Seed)
	open, ideal := 0, 0
	for f, err := range run.Flows() {
		require.NoError(t, err)
		if f.End < 0 {
			open++
			continue
		}
		require.Equal(t, trace.StatusSuccess, f.Status, "seed %d", s.Seed)
		if f.End.Sub(f.Start) < f.Ideal {
			ideal++
			t.Errorf("seed %d: flow %d of %d bytes %s->%s took %v, alone it takes %v", s.Seed, f.ID, f.Bytes, f.Src, f.Dst, f.End.Sub(f.Start), f.Ideal)
		}
	}
	require.LessOrEqual(t, ideal, 0)
	if open == 0 && sum[trace.CountRetransmitted] == 0 {
		require.Equal(t, sum[trace.CountDataSent], sum[trace.CountDataDelivered]+sum[trace.CountDiscarded], "seed %d: packets", s.Seed)
	}
}

func TestRandomFabrics(t *testing.T) {
	for seed := uint64(1); seed <= 60; seed++ {
		s := randomSpec(t, seed)
		one, run := runChecked(t, s, 1)
		checkLossless(t, s, run)
		if seed%4 == 0 {
			two, _ := runChecked(t, s, 3)
			require.Equal(t, one.Fingerprint, two.Fingerprint, "seed %d", seed)
		}
	}
}

// FuzzFabric looks for a fabric that loses lossless frames, does not end, or
// brings the program down.
func FuzzFabric(f *testing.F) {
	for seed := uint64(100); seed < 104; seed++ {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		s := randomSpec(t, seed)
		s.MaxDuration = 5 * sim.Millisecond
		_, run := runChecked(t, s, 1)
		checkLossless(t, s, run)
	})
}

// TestWorkersAgree is the part of TestRandomFabrics that the race detector runs.
func TestWorkersAgree(t *testing.T) {
	for _, seed := range []uint64{4, 17, 36} {
		one, _ := runChecked(t, randomSpec(t, seed), 1)
		two, _ := runChecked(t, randomSpec(t, seed), 2)
		require.Equal(t, one.Fingerprint, two.Fingerprint, "seed %d", seed)
	}
}
