package fluid

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// swings returns how large the queue's swings are late in a run of the fluid
// model that starts a little off its fixed point, relative to early ones.
func swings(t *testing.T, m DCQCN) (early, late float64) {
	f, err := m.FixedPoint()
	require.NoError(t, err)
	in := newIntegrator(m, int(m.Delay/sim.Microsecond), 1e-6, nil)
	bits := 8 * float64(m.Packet)
	in.now.q = f.Queue / float64(m.Packet) * 1.02
	for i := range in.now.rc {
		in.now.rc[i], in.now.rt[i], in.now.alpha[i] = f.Rate/bits, f.Target/bits, f.Alpha
	}
	for i := range in.past {
		in.remember(i, in.now)
	}
	const steps = 400_000
	for i := range steps {
		in.step()
		d := math.Abs(in.now.q*float64(m.Packet) - f.Queue)
		switch {
		case i < steps/10:
			early = max(early, d)
		case i > steps*9/10:
			late = max(late, d)
		}
	}
	return early, late
}

// The sign of the margin must say what the full, nonlinear model does: swings
// die out above 0 and do not below.
func TestPhaseMarginForetellsTheFluidModel(t *testing.T) {
	if testing.Short() {
		t.Skip("integrates 0.4 s")
	}
	stable, unstable := 0, 0
	for _, c := range []struct {
		flows int
		delay sim.Duration
	}{{2, 4 * sim.Microsecond}, {10, 4 * sim.Microsecond}, {2, 85 * sim.Microsecond}, {10, 85 * sim.Microsecond}, {40, 85 * sim.Microsecond}, {14, 4 * sim.Microsecond}, {10, 200 * sim.Microsecond}} {
		m := SIGCOMM15(40*sim.Gbps, c.flows)
		m.Delay = c.delay
		got, err := m.PhaseMargin()
		if err != nil {
			t.Logf("N %d, delay %v: %v", c.flows, c.delay, err)
			continue
		}
		early, late := swings(t, m)
		t.Logf("N %d, delay %v: %.1f degrees at %.0f Hz; swings %.0f then %.0f B", c.flows, c.delay, got.Degrees, got.Frequency, early, late)
		switch {
		case got.Degrees > 3:
			stable++
			assert.Less(t, late, early/2, fmt.Sprintf("N %d, delay %v: %.1f degrees", c.flows, c.delay, got.Degrees))
		case got.Degrees < -3:
			unstable++
			assert.Greater(t, late, early, fmt.Sprintf("N %d, delay %v: %.1f degrees", c.flows, c.delay, got.Degrees))
		}
	}
	assert.Positive(t, stable)
	assert.Positive(t, unstable)
}

func TestPhaseMarginNeedsASlope(t *testing.T) {
	m := SIGCOMM15(40*sim.Gbps, 2)
	m.Kmin = m.Kmax
	_, err := m.PhaseMargin()
	require.ErrorContains(t, err, "a step has no slope")
	m = SIGCOMM15(40*sim.Gbps, 100)
	_, err = m.PhaseMargin()
	require.ErrorContains(t, err, "above Pmax")
	_, err = DCQCN{}.PhaseMargin()
	require.Error(t, err)
}
