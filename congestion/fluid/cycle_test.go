package fluid_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/congestion"
	"rdmasim/congestion/fluid"
	"rdmasim/sim"
)

// cycleOf returns the model of a preset of the packet model. Written down here
// a second time, and not taken from the scenario's.
func cycleOf(preset string, capacity sim.Rate, flows int) (*fluid.Cycle, congestion.DCQCNParams) {
	e, _ := congestion.Algorithms.Lookup("dcqcn")
	p := e.Presets[preset].(congestion.DCQCNParams)
	m := &fluid.Cycle{DCQCN: fluid.SIGCOMM15(capacity, flows), Line: capacity, Least: p.MinRate, CutInterval: p.CutInterval, Polled: p.Cut == congestion.CutPolled,
		PerWindow: p.AlphaUpdate == congestion.AlphaPerWindow, AlphaFirst: p.AlphaFirst, CutGain: float64(p.CutGain), MinFactor: float64(p.MinDecreaseFactor),
		CountFirst: p.StageTest == congestion.TestAfterCount, HyperTimer: p.HyperStage == congestion.HyperTimer, RHAI: p.RHAI}
	m.CNPInterval, m.AlphaTimer, m.RateTimer, m.ByteCounter, m.F, m.G, m.RAI = p.CNPInterval, p.AlphaTimer, p.RateTimer, p.ByteCounter, p.F, float64(p.G), p.RAI
	switch {
	case p.Clamp:
	case p.ClampAfterTime:
		m.Clamp = fluid.ClampAfterAny
	default:
		m.Clamp = fluid.ClampAfterByte
	}
	m.Hyper = func(beyond int) float64 {
		if p.HyperStep == congestion.HyperLinear {
			return float64(beyond)
		}
		return 1
	}
	return m, p
}

// gentle has a slope of the marking curve at which the loop is far from
// oscillating, so that swings do not move the mean.
func gentle(preset string, flows int) (*fluid.Cycle, congestion.DCQCNParams) {
	m, p := cycleOf(preset, 100*sim.Gbps, flows)
	m.Kmin, m.Kmax, m.Pmax = 5*sim.KB, 8*sim.MB, 0.1
	return m, p
}

// Packets that are marked one by one, and the reaction point itself, rest where
// the model says: to a few per cent where swings are small, and above it, never
// far below, where the loop rings.
func TestPacketsRestWhereTheCycleSays(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates packets for 250 ms seven times")
	}
	for _, c := range []struct {
		preset string
		flows  int
		most   float64 // of packets against the model
	}{{"sigcomm15", 8, 1.05}, {"sigcomm15", 32, 1.05}, {"connectx", 8, 1.4}, {"connectx", 32, 1.15}, {"hpcc", 8, 1.2}, {"hpcc", 32, 1.15}, {"hpcc_paper", 8, 1.15}} {
		m, p := gentle(c.preset, c.flows)
		f, err := m.Balance()
		require.NoError(t, err)
		require.True(t, f.Valid)
		margin, err := m.PhaseMargin()
		require.NoError(t, err)
		o := atRest(m, p, f, 1).run(sim.Time(100*sim.Millisecond), sim.Time(250*sim.Millisecond))
		t.Logf("%s, %d flows: queue %.4g of %.4g, CNPs %.4g of %.4g, alpha %.3g of %.3g, swing %.3g, margin %.3g at %.3g Hz", c.preset, c.flows, o.queue, f.Queue, o.cnpRate, f.CNPRate, o.alpha, f.Alpha, o.swing, margin.Degrees, margin.Frequency)
		for what, ratio := range map[string]float64{"queue": o.queue / f.Queue, "CNPs": o.cnpRate / f.CNPRate, "alpha": o.alpha / f.Alpha, "marks": o.marked / f.P} {
			assert.True(t, ratio > 0.94 && ratio < c.most, "%s, %d flows: %s is %.3f of the model's", c.preset, c.flows, what, ratio)
		}
		assert.Greater(t, o.jain, 0.97)
	}
}

// With the rules of the paper, a rate timer that is short against the time
// between cuts, and CNPs as often as marks, both models are one: what they differ
// by is in proportion to the cuts per expiry of the timer.
func TestCycleMeetsThePaperWhereCutsAreRare(t *testing.T) {
	for _, timer := range []sim.Duration{55 * sim.Microsecond, 10 * sim.Microsecond, 5 * sim.Microsecond} {
		m, _ := cycleOf("sigcomm15", 100*sim.Gbps, 8)
		m.RateTimer, m.CNPInterval, m.ByteCounter, m.Hyper, m.CountFirst = timer, 10*sim.Nanosecond, 0, nil, false
		share := float64(timer) / float64(55*sim.Microsecond)
		m.RAI = sim.Rate(float64(m.RAI) * share * share) // about as many cuts
		m.Kmax, m.Pmax = 8*sim.MB, 0.1
		paper, err := m.DCQCN.FixedPoint()
		require.NoError(t, err)
		mine, err := m.Balance()
		require.NoError(t, err)
		paperLoop, err := m.DCQCN.PhaseMargin()
		require.NoError(t, err)
		loop, err := m.PhaseMargin()
		require.NoError(t, err)
		cuts := paper.CNPRate * timer.Seconds() // per expiry of the timer
		assert.InEpsilon(t, paper.P, mine.P, cuts/2)
		assert.InEpsilon(t, paper.Alpha, mine.Alpha, cuts/2)
		assert.InDelta(t, paperLoop.Degrees, loop.Degrees, 20*cuts)
		assert.InEpsilon(t, paperLoop.Frequency, loop.Frequency, cuts)
		t.Logf("%v: p %.4g and %.4g, margin %.2f and %.2f, at %.4g and %.4g Hz", timer, mine.P, paper.P, loop.Degrees, paperLoop.Degrees, loop.Frequency, paperLoop.Frequency)
	}
}

// Below 0 the loop swings of itself: marks come much more often than at rest.
func TestNegativeMarginSwings(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates packets for 250 ms twice")
	}
	for _, preset := range []string{"connectx", "hpcc"} {
		m, p := cycleOf(preset, 100*sim.Gbps, 8)
		m.Kmin, m.Kmax, m.Pmax = 100*sim.KB, 1600*sim.KB, 0.3
		f, err := m.Balance()
		require.NoError(t, err)
		margin, err := m.PhaseMargin()
		require.NoError(t, err)
		require.Less(t, margin.Degrees, -5.0)
		o := atRest(m, p, f, 1).run(sim.Time(100*sim.Millisecond), sim.Time(250*sim.Millisecond))
		t.Logf("%s: margin %.3g, CNPs %.4g of %.4g, queue %.4g with swings of %.4g", preset, margin.Degrees, o.cnpRate, f.CNPRate, o.queue, o.swing)
		assert.Greater(t, o.cnpRate, 1.7*f.CNPRate)
		assert.Greater(t, o.swing, 0.6*o.queue)
	}
}

// What the model does not have is said, with its reason.
func TestCycleRefuses(t *testing.T) {
	for want, edit := range map[string]func(m *fluid.Cycle){
		"is not above the least rate": func(m *fluid.Cycle) { m.Least = 50 * sim.Gbps },
		"above the line rate":         func(m *fluid.Cycle) { m.Flows = 1 },
		"alpha_timer 1us is shorter":  func(m *fluid.Cycle) { m.PerWindow = false },
		"nothing increases":           func(m *fluid.Cycle) { m.RAI, m.Hyper = 0, nil },
		"rates of a flow would swing": func(m *fluid.Cycle) { m.RHAI, m.RAI = 50*sim.Gbps, 50*sim.Gbps },
		"a step has no slope":         func(m *fluid.Cycle) { m.Kmax = m.Kmin },
		"above Pmax":                  func(m *fluid.Cycle) { m.Pmax = 1e-6 },
		"cut gain 0":                  func(m *fluid.Cycle) { m.CutGain = 0 },
		"meet min_decrease_factor 1":  func(m *fluid.Cycle) { m.MinFactor = 1 },
	} {
		m, _ := gentle("connectx", 8)
		edit(m)
		_, err := m.PhaseMargin()
		assert.ErrorContains(t, err, want)
	}
}

// Whatever the parameters are, there is an answer or a reason, and soon.
func FuzzCycle(f *testing.F) {
	f.Add(uint8(0), uint16(8), uint32(1000), uint32(300_000), uint32(4000), uint32(0), uint32(5000), uint8(3))
	f.Add(uint8(1), uint16(64), uint32(55_000), uint32(55_000), uint32(50_000), uint32(10_000_000), uint32(40_000), uint8(0))
	f.Fuzz(func(t *testing.T, preset uint8, flows uint16, alpha, timer, cnp, bytes, rai uint32, rules uint8) {
		names := []string{"connectx", "sigcomm15", "hpcc", "hpcc_paper"}
		m, _ := gentle(names[int(preset)%len(names)], int(flows))
		m.AlphaTimer, m.RateTimer = sim.Duration(alpha)*sim.Nanosecond, sim.Duration(timer)*sim.Nanosecond
		m.CNPInterval, m.ByteCounter, m.RAI = sim.Duration(cnp)*sim.Nanosecond, sim.Bytes(bytes), sim.Rate(rai)*sim.Kbps
		m.PerWindow, m.AlphaFirst, m.CountFirst = rules&1 != 0, rules&2 != 0, rules&4 != 0
		m.F = int(rules >> 3)
		x, err := m.Balance()
		if err != nil {
			return
		}
		if !(x.P > 0 && x.P <= 1) || !(x.Alpha >= 0 && x.Alpha <= 1.01) || math.IsNaN(x.Target+x.Queue+x.CNPRate) {
			t.Fatalf("%+v of %+v", x, m)
		}
		if got, err := m.PhaseMargin(); err == nil && (math.IsNaN(got.Degrees) || !(got.Frequency > 0)) {
			t.Fatalf("%+v of %+v", got, m)
		}
	})
}
