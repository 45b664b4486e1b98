package fabric

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// blocked returns a rig whose port 0 is paused in a priority from the beginning
// until a time.
func blocked(t *testing.T, ports int, lossless, prio uint8, until sim.Duration, set func(*SwitchConfig)) *rig {
	r := newRig(t, ports, lossless, set)
	for at := sim.Time(rigDelay); at < sim.Time(until); at += sim.Time(100 * sim.Microsecond) {
		r.testers[0].at(at, pauseFrame(1<<prio, 65535))
	}
	r.testers[0].at(sim.Time(until), pauseFrame(1<<prio, 0))
	return r
}

func wredOn(c *WREDConfig) func(*SwitchConfig) {
	return func(cfg *SwitchConfig) {
		for i := range cfg.Ports {
			cfg.Ports[i].MMU.Queues[3].WRED = c
			cfg.Ports[i].ECN = &[8]ECNConfig{3: {On: true}}
		}
	}
}

// Operators' test of marking at dequeue: Kmin = Kmax = 50 KB, a storm blocks
// the queue, 101 frames of 1 KB are sent, then it is released. The first frame
// leaves a long queue behind and is marked, the last leaves none.
func TestDequeueMarking(t *testing.T) {
	step := Curve{On: true, Min: 50_000, Max: 50_000, P: 1}
	for at, want := range map[MarkAt]struct{ first, last bool }{MarkAtDequeue: {true, false}, MarkAtEnqueue: {false, true}} {
		r := blocked(t, 2, 1<<3, 3, 100*sim.Microsecond, wredOn(&WREDConfig{Curves: [3]Curve{step, step, step}, Marks: [3]bool{true, true, true}, Spare: true, At: at}))
		r.stream(1, sim.Time(sim.Microsecond), 101, frame(0, 3, 1000, packet.ECT0))
		r.run(sim.Millisecond)
		got := r.testers[0].got
		require.Len(t, got, 101)
		assert.Equal(t, want.first, got[0].ECN == packet.CE, "first, marking %v", at)
		assert.Equal(t, want.last, got[100].ECN == packet.CE, "last, marking %v", at)
		marked := 0
		for i, a := range got {
			if a.ECN == packet.CE {
				marked++
			}
			if at == MarkAtDequeue {
				assert.Equal(t, (100-i)*1000 > 50_000, a.ECN == packet.CE, "frame %d leaves %d bytes", i, (100-i)*1000)
			}
		}
		assert.Equal(t, float64(marked), r.counter(sim.Millisecond, "sw:0/q3", 3, trace.CountECNMarked))
	}
}

// Operators' test of RED accuracy: Kmin 500 KB, Kmax 900 KB, Pmax 5 %, 910
// frames of 1024 bytes, 200 rounds. The share of marks at each length follows
// the line, within what so many draws scatter.
func TestREDAccuracy(t *testing.T) {
	const rounds, frames, size = 200, 910, 1024
	line := Curve{On: true, Min: 500_000, Max: 900_000, P: 0.05}
	marks := make([]int, frames)
	for round := range rounds {
		r := blocked(t, 2, 1<<3, 3, 200*sim.Microsecond, func(c *SwitchConfig) {
			wredOn(&WREDConfig{Curves: [3]Curve{line, line, line}, Marks: [3]bool{true, true, true}, Spare: true})(c)
			c.Rand = func(n string) *sim.Rand { return sim.NewRand(uint64(round), n) }
		})
		r.stream(1, sim.Time(sim.Microsecond), frames, frame(0, 3, size, packet.ECT0))
		r.run(sim.Millisecond)
		require.Len(t, r.testers[0].got, frames)
		for i, a := range r.testers[0].got {
			if a.ECN == packet.CE {
				marks[i]++
			}
		}
	}
	chi, cells := 0.0, 0
	for from := 0; from < frames; from += 35 { // 35 lengths per cell: expected counts above 5
		want, got := 0.0, 0.0
		for i := from; i < min(from+35, frames); i++ {
			q := float64((frames - 1 - i) * size)
			p := min(max((q-500_000)/400_000*0.05, 0), 0.05)
			if q > 900_000 {
				p = 1
			}
			want += rounds * p
			got += float64(marks[i])
			if p == 0 || p == 1 {
				require.Equal(t, p*rounds, float64(marks[i]), "at %.0f bytes", q)
			}
		}
		if want > 5 {
			chi += (got - want) * (got - want) / want
			cells++
		}
	}
	require.Greater(t, cells, 5)
	assert.Less(t, chi, float64(cells)+4*math.Sqrt(2*float64(cells)), "chi squared of %d cells", cells)
}

// Each colour has its curve; frames that cannot be marked are dropped, or pass
// where the curve spares them.
func TestWREDColours(t *testing.T) {
	curves := [3]Curve{Green: {On: true, Min: 60_000, Max: 60_000, P: 1}, Yellow: {On: true, Min: 30_000, Max: 30_000, P: 1}, Red: {On: true, Min: 10_000, Max: 10_000, P: 1}}
	for _, c := range []struct {
		name  string
		wred  WREDConfig
		ecn   uint8
		marks bool
		drops bool
	}{
		{"ECT, marked", WREDConfig{Curves: curves, Marks: [3]bool{true, true, true}, At: MarkAtEnqueue}, packet.ECT0, true, false},
		{"not ECT, dropped", WREDConfig{Curves: curves, Marks: [3]bool{true, true, true}, At: MarkAtEnqueue}, packet.NotECT, false, true},
		{"not ECT, spared", WREDConfig{Curves: curves, Marks: [3]bool{true, true, true}, Spare: true}, packet.NotECT, false, false},
		{"ECT, no ECN", WREDConfig{Curves: curves}, packet.ECT0, false, true},
	} {
		for color, dscp := range map[Color]uint8{Green: 3, Yellow: 11, Red: 19} { // all in class 3
			r := blocked(t, 2, 1<<3, 3, 100*sim.Microsecond, func(cfg *SwitchConfig) {
				wredOn(&c.wred)(cfg)
				cfg.MMU.Color[11], cfg.MMU.Color[19] = Yellow, Red
			})
			r.stream(1, sim.Time(sim.Microsecond), 100, frame(0, dscp, 1000, c.ecn))
			r.run(sim.Millisecond)
			fit := int(curves[color].Min / 1000) // frames that join a queue up to Min
			marked := 0
			for _, a := range r.testers[0].got {
				if a.ECN == packet.CE {
					marked++
				}
			}
			switch {
			case c.drops:
				assert.Len(t, r.testers[0].got, fit, "%s, colour %d", c.name, color)
				assert.Equal(t, float64(100-fit), r.counter(sim.Millisecond, "sw:0/q3", 3, trace.CountWREDDropped), c.name)
			case c.marks:
				assert.Len(t, r.testers[0].got, 100, "%s, colour %d", c.name, color)
				assert.Equal(t, 100-fit, marked, "%s, colour %d", c.name, color)
			default:
				assert.Len(t, r.testers[0].got, 100, "%s, colour %d", c.name, color)
				assert.Zero(t, marked)
			}
		}
	}
}
