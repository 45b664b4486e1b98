package fluid

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// TestFixedPoint: exact root and published closed form, side by side.
func TestFixedPoint(t *testing.T) {
	for _, c := range []struct {
		capacity                              sim.Rate
		flows                                 int
		p, approx, alpha, queue, approxQ, cnp float64
	}{
		{40 * sim.Gbps, 2, 7.770e-4, 9.247e-4, 0.1014, 20.15e3, 23.03e3, 1852},
		{100 * sim.Gbps, 10, 1.888e-3, 2.320e-3, 0.1218, 41.81e3, 50.23e3, 2228},
	} {
		m := SIGCOMM15(c.capacity, c.flows)
		f, err := m.FixedPoint()
		require.NoError(t, err)
		require.InEpsilon(t, c.p, f.P, 5e-4)
		require.InEpsilon(t, c.alpha, f.Alpha, 1e-3)
		require.InEpsilon(t, c.queue, f.Queue, 5e-4)
		require.InEpsilon(t, c.cnp, f.CNPRate, 5e-4)
		require.InEpsilon(t, c.approx, m.ApproximateP(), 5e-4)
		require.InEpsilon(t, c.approxQ, m.ApproximateQueue(), 5e-4)
		require.InEpsilon(t, float64(c.capacity)/float64(c.flows), f.Rate, 1e-12)
		require.Greater(t, f.Target, f.Rate)
		require.True(t, f.Valid)
	}
}

// TestFixedPointBelongsToTheShare: C and N matter only through C/N.
func TestFixedPointBelongsToTheShare(t *testing.T) {
	a, err := SIGCOMM15(40*sim.Gbps, 4).FixedPoint()
	require.NoError(t, err)
	b, err := SIGCOMM15(400*sim.Gbps, 40).FixedPoint()
	require.NoError(t, err)
	require.InEpsilon(t, a.P, b.P, 1e-9)
	require.InEpsilon(t, a.Queue, b.Queue, 1e-9)
	require.InEpsilon(t, a.Alpha, b.Alpha, 1e-9)
}

// TestFixedPointEndsAtPmax: 14 flows at 40 Gb/s and 37 at 100 Gb/s still have one.
func TestFixedPointEndsAtPmax(t *testing.T) {
	share, err := SIGCOMM15(40*sim.Gbps, 1).LeastShare()
	require.NoError(t, err)
	require.InEpsilon(t, 2.673e9, float64(share), 5e-4)
	for _, c := range []struct {
		capacity sim.Rate
		flows    int
		valid    bool
	}{{40 * sim.Gbps, 14, true}, {40 * sim.Gbps, 15, false}, {100 * sim.Gbps, 37, true}, {100 * sim.Gbps, 38, false}} {
		f, err := SIGCOMM15(c.capacity, c.flows).FixedPoint()
		require.NoError(t, err)
		require.Equal(t, c.valid, f.Valid, "%d flows at %v", c.flows, c.capacity)
	}
	// At the least share itself p is Pmax and the queue Kmax.
	m := SIGCOMM15(share, 1)
	f, err := m.FixedPoint()
	require.NoError(t, err)
	require.InEpsilon(t, m.Pmax, f.P, 1e-6)
	require.InEpsilon(t, 200e3, f.Queue, 1e-6)
}

// TestApproximationOverestimates by the published closed form's 16 to 48 %.
func TestApproximationOverestimates(t *testing.T) {
	for n := 1; n <= 14; n++ {
		m := SIGCOMM15(40*sim.Gbps, n)
		f, err := m.FixedPoint()
		require.NoError(t, err)
		excess := m.ApproximateP()/f.P - 1
		require.Greater(t, excess, 0.10, "%d flows", n)
		require.Less(t, excess, 0.50, "%d flows", n)
	}
}

// TestPacketSize: marking is per packet, so that the queue above Kmin grows
// with the packet. Bytes and rates stay.
func TestPacketSize(t *testing.T) {
	m := SIGCOMM15(40*sim.Gbps, 4)
	small, err := m.FixedPoint()
	require.NoError(t, err)
	m.Packet = 4174 * sim.Byte
	large, err := m.FixedPoint()
	require.NoError(t, err)
	require.InEpsilon(t, 4.174, (large.Queue-5e3)/(small.Queue-5e3), 0.02)
}

// TestMark: the profile at its corners.
func TestMark(t *testing.T) {
	m := SIGCOMM15(40*sim.Gbps, 1)
	for q, p := range map[float64]float64{0: 0, 5e3: 0, 102.5e3: 0.005, 200e3: 0.01, 200001: 1} {
		require.InDelta(t, p, m.Mark(q), 1e-12, "%v", q)
	}
}

// TestConvergence: the upper bounds that the authors published.
func TestConvergence(t *testing.T) {
	for _, c := range []struct {
		name  string
		flows int
		edit  func(*DCQCN)
		ms    float64
	}{
		{"defaults", 2, func(*DCQCN) {}, 96.90}, {"defaults", 10, func(*DCQCN) {}, 35.89},
		{"defaults", 64, func(*DCQCN) {}, 12.45}, {"defaults", 100, func(*DCQCN) {}, 10.09},
		{"R_AI 10 Mb/s", 2, func(m *DCQCN) { m.RAI = 10 * sim.Mbps }, 358.2},
		{"Kmax 1000 KB", 2, func(m *DCQCN) { m.Kmax = 1000 * sim.KB }, 102.7},
		{"g 1/16", 2, func(m *DCQCN) { m.G = 1.0 / 16 }, 100.1},
	} {
		m := SIGCOMM15(40*sim.Gbps, c.flows)
		c.edit(&m)
		got, err := m.Convergence()
		require.NoError(t, err)
		require.InEpsilon(t, c.ms, got.Time*1e3, 5e-4, "%s, %d flows", c.name, c.flows)
	}
}

// TestFluidSettlesAtFixedPoint: two independent pieces of code, one rest state.
func TestFluidSettlesAtFixedPoint(t *testing.T) {
	for _, m := range []DCQCN{SIGCOMM15(40*sim.Gbps, 2), SIGCOMM15(100*sim.Gbps, 10), noByteCounter(SIGCOMM15(40*sim.Gbps, 4))} {
		f, err := m.FixedPoint()
		require.NoError(t, err)
		var last State
		err = m.Integrate(100*sim.Millisecond, sim.Millisecond, nil, func(s State) { last = s })
		require.NoError(t, err)
		require.InEpsilon(t, f.Queue, last.Queue, 0.01)
		for i := range last.Rate {
			require.InEpsilon(t, f.Rate, last.Rate[i], 0.01)
			require.InEpsilon(t, f.Target, last.Target[i], 0.01)
			require.InEpsilon(t, f.Alpha, last.Alpha[i], 0.01)
		}
	}
}

func noByteCounter(m DCQCN) DCQCN {
	m.ByteCounter = 0
	return m
}

// TestFluidConvergesFromUnequalStarts: after the published bound of 97 ms the flows are equal.
func TestFluidConvergesFromUnequalStarts(t *testing.T) {
	m := SIGCOMM15(40*sim.Gbps, 2)
	var first, last State
	err := m.Integrate(150*sim.Millisecond, 150*sim.Millisecond, []sim.Rate{35 * sim.Gbps, 5 * sim.Gbps}, func(s State) {
		if s.Time == 0 {
			first = State{Rate: append([]float64(nil), s.Rate...)}
		}
		last = s
	})
	require.NoError(t, err)
	require.Equal(t, []float64{35e9, 5e9}, first.Rate)
	require.InEpsilon(t, last.Rate[0], last.Rate[1], 0.02)
}

// TestLongDelayIsUnstable: ten flows with a loop delay of 85 us oscillate,
// with 4 us they do not (CoNEXT'16, section 3.2).
func TestLongDelayIsUnstable(t *testing.T) {
	swing := func(delay, until sim.Duration) float64 { // over the last third

		m := SIGCOMM15(40*sim.Gbps, 10)
		m.Delay = delay
		low, high := 1e18, 0.0
		err := m.Integrate(until, 20*sim.Microsecond, nil, func(s State) {
			if 3*s.Time > 2*until.Seconds() {
				low, high = min(low, s.Queue), max(high, s.Queue)
			}
		})
		require.NoError(t, err)
		return high - low
	}
	calm, wild := swing(4*sim.Microsecond, 90*sim.Millisecond), swing(85*sim.Microsecond, 30*sim.Millisecond)
	require.Less(t, calm, 2e3)
	require.Greater(t, wild, 20e3)
}

func TestFluidRefuses(t *testing.T) {
	good := SIGCOMM15(40*sim.Gbps, 2)
	for _, edit := range []func(*DCQCN){
		func(m *DCQCN) { m.Capacity = 0 }, func(m *DCQCN) { m.Flows = 0 }, func(m *DCQCN) { m.RateTimer = 0 },
		func(m *DCQCN) { m.RAI = 0 }, func(m *DCQCN) { m.G = 0 }, func(m *DCQCN) { m.Pmax = 2 }, func(m *DCQCN) { m.Kmax = 1 },
	} {
		m := good
		edit(&m)
		_, err := m.FixedPoint()
		require.Error(t, err)
		_, err = m.Convergence()
		require.Error(t, err)
		_, err = m.LeastShare()
		require.Error(t, err)
		require.Error(t, m.Integrate(sim.Millisecond, sim.Millisecond, nil, func(State) {}))
	}
	none := func(State) {}
	require.Error(t, good.Integrate(sim.Millisecond, 0, nil, none))
	require.Error(t, good.Integrate(sim.Millisecond, sim.Microsecond, []sim.Rate{1}, none))
	require.ErrorContains(t, good.Integrate(10000*sim.Second, sim.Second, nil, none), "steps")
}
