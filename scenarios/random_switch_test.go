package scenarios

import (
	"testing"

	"rdmasim/fabric"
	"rdmasim/sim"

	"github.com/stretchr/testify/require"
)

// configure gives a random fabric switches that say more: cells, pools,
// thresholds, shapers, groups of queues, a watchdog that finds nothing.
func configure(t testing.TB, s *Spec) {
	r := sim.NewRand(s.Seed, "switch")
	w := &s.Switch
	w.Buffer.Cell = []sim.Bytes{0, 96, 208, 254, 4096}[r.IntN(5)]
	if r.IntN(3) == 0 {
		w.Buffer.Xon = sim.Bytes(r.IntN(20_000))
	}
	if r.IntN(3) == 0 {
		w.Scheduler.Groups = []ETSGroupSpec{{Queues: []int{3}, Share: 0.5}, {Queues: []int{0, 1}, Share: 0.3}}
	}
	if r.IntN(3) == 0 {
		w.Scheduler.Shape = map[int]ShapeSpec{3: {Rate: sim.Rate(1+r.IntN(40)) * sim.Gbps, Burst: sim.Bytes(r.IntN(30_000))}}
	}
	if r.IntN(3) == 0 {
		w.Scheduler.Floor = map[int]ShapeSpec{3: {Rate: sim.Rate(1+r.IntN(40)) * sim.Gbps}, 0: {Rate: sim.Gbps, Burst: sim.Bytes(r.IntN(30_000))}}
	}
	if len(w.Scheduler.Groups) == 0 && r.IntN(3) == 0 {
		w.Scheduler.Quantum = 0
	}
	if r.IntN(4) == 0 {
		w.PFC.Mode = "global"
	}
	if r.IntN(2) == 0 {
		flavours := fabric.Watchdogs.Names()
		m, err := NewMember("watchdog", flavours[r.IntN(len(flavours))], "")
		require.NoError(t, err)
		w.Watchdog = m
	}
	pools := r.IntN(2) == 0
	size := w.Buffer.Size
	if pools || w.Buffer.Cell > 1 || w.Buffer.Xon > 0 { // computed headroom grows with cells
		w.Buffer.Size = sim.GiB
	}
	if !pools {
		return
	}
	rule := w.groupRule()
	rule.Groups, rule.Pool = []int{3}, "lossless"
	rule.Threshold = Member{"static", fabric.StaticParams{Bytes: sim.Bytes(r.IntN(100_000))}}
	if r.IntN(2) == 0 {
		rule.Threshold = Member{"dynamic", fabric.DynamicParams{Alpha: []sim.Ratio{1.0 / 64, 1.0 / 8, 1}[r.IntN(3)]}}
	}
	w.Buffer.Pools = []PoolSpec{{Name: "lossless", Side: "ingress", Mode: "dynamic", Size: size},
		{Name: "lossy", Side: "ingress", Mode: "static", Size: size}, {Name: "out", Side: "egress", Mode: "dynamic", Size: sim.GiB}}
	lossy := w.groupRule()
	lossy.Groups, lossy.Pool, lossy.Headroom = []int{0, 6}, "lossy", Given[sim.Bytes](0)
	w.Buffer.Groups = []GroupRule{rule, lossy}
}

// Switches that are configured in full lose nothing either where the headroom
// is computed, hold what they have accounted at every instant, and do the same
// on any number of workers.
func TestRandomSwitches(t *testing.T) {
	n := uint64(40)
	if testing.Short() {
		n = 8
	}
	for seed := uint64(1); seed <= n; seed++ {
		s := randomSpec(t, seed)
		configure(t, s)
		require.NoError(t, Validate(s), "seed %d", seed)
		one, run := runChecked(t, s, 1)
		checkLossless(t, s, run)
		if seed%4 == 0 {
			two, _ := runChecked(t, s, 3)
			require.Equal(t, one.Fingerprint, two.Fingerprint, "seed %d", seed)
		}
	}
}

// FuzzSwitch looks for a switch that loses lossless frames, miscounts, or brings
// the program down.
func FuzzSwitch(f *testing.F) {
	for seed := uint64(200); seed < 204; seed++ {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		s := randomSpec(t, seed)
		configure(t, s)
		s.MaxDuration = 5 * sim.Millisecond
		_, run := runChecked(t, s, 1)
		checkLossless(t, s, run)
	})
}
