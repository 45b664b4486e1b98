package scenarios

import (
	"context"
	"fmt"
	"testing"

	"rdmasim/congestion"
	"rdmasim/fabric/topology"
	"rdmasim/scenarios/workload"
	"rdmasim/sim"

	"github.com/stretchr/testify/require"
)

func tmpSpec() *Spec {
	s := &Spec{Name: "t", Seed: 1, Duration: 200 * sim.Microsecond, MaxDuration: sim.Second, Compat: "none"}
	s.Series = SeriesSpec{Interval: 10 * sim.Microsecond, Hosts: true, MaxQPs: 128}
	sw := &s.Switch
	sw.Mode = "store_and_forward"
	sw.Buffer = BufferSpec{Size: 32 * sim.MiB, Alpha: 0.125, Reserve: 4096, Headroom: Auto[sim.Bytes]{Auto: true}, XonOffset: 3072, EgressAlpha: 1}
	sw.PFC = PFCSpec{Priorities: []int{3}, Quanta: 65535, Refresh: Auto[sim.Duration]{Auto: true}, Timer: true, Response: Auto[sim.Duration]{Auto: true}}
	sw.ECN = map[int]ECNSpec{3: {Kmin: 400 * sim.KB, Kmax: 1600 * sim.KB, Pmax: 0.2}}
	sw.Scheduler = SchedulerSpec{Strict: []int{6, 7}, Quantum: 2048}
	sw.Balance = BalanceSpec{Method: "ecmp", Hash: "mix64"}
	sw.Trust = "dscp"
	sw.DSCPMap = map[int]int{26: 3, 48: 6}
	e, _ := congestion.Algorithms.Lookup("dcqcn")
	s.NIC = NICSpec{PathMTU: 1024, Congestion: Member{"dcqcn", e.Presets["connectx"]}, Priority: 3, DSCP: 26, AckPriority: -1, AckDSCP: -1, CNPPriority: 6, CNPDSCP: 48,
		AckEvery: 16, Recovery: "go_back_n", Timeout: 14, RetryCount: 7, RNRTimer: 12, RNRRetry: 7, SourcePorts: "hash", Encapsulation: "none"}
	return s
}

func member(t testing.TB, kind, name string) any {
	switch kind {
	case "topology":
		e, err := topology.Topologies.Lookup(name)
		require.NoError(t, err)
		return e.Defaults
	default:
		e, err := workload.Workloads.Lookup(name)
		require.NoError(t, err)
		return e.Defaults
	}
}

func TestTmp(t *testing.T) {
	for _, k := range []int{8, 16} {
	s := tmpSpec()
	p := member(t, "topology", "fat_tree").(topology.FatTreeParams)
	p.K = k
	p.Rate = 100 * sim.Gbps
	p.Delay = 1000 * sim.Nanosecond
	s.Topology = Member{"fat_tree", p}
	w := member(t, "workload", "permutation").(workload.PermutationParams)
	w.Message = 1 * sim.MB
	s.Traffic = []TrafficSpec{{Member: Member{"permutation", w}}}
	fp := ""
	for _, workers := range []int{1, 2, 3} {
		r, err := Run(context.Background(), s, Options{Out: t.TempDir() + "/r", Workers: workers})
		require.NoError(t, err)
		fmt.Println(k, r.End, r.PacketHops, "events/hop", float64(r.Events)/float64(r.PacketHops), "ns/hop", r.CPU*1e9/float64(r.PacketHops), "wall", r.Wall, r.Workers, r.Fingerprint[:8], peakRSS()>>20)
		if fp == "" { fp = r.Fingerprint }
		require.Equal(t, fp, r.Fingerprint)
	}
	}
}
