package fluid_test

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/congestion"
	"rdmasim/congestion/fluid"
	"rdmasim/sim"
)

// crowd drives reaction points of the packet model, each for itself, with marks
// at random: hazard gives marks per second at a time and a rate in bit/s, most
// bounds it. look is called every so often. It has no queue and no loop.
type crowd struct {
	m      *fluid.Cycle
	p      congestion.DCQCNParams
	hazard func(t, rate float64) float64
	most   float64
	every  float64 // s
	until  float64 // s
	look   func(t, rate, alpha float64)
}

func (c *crowd) member(t *testing.T, seed uint64) {
	a, err := congestion.NewDCQCN(c.p)
	require.NoError(t, err)
	r := sim.NewRand(seed, "crowd")
	point := a.NewReactionPoint(c.m.Line, 0)
	_, interval := a.Feedback()
	notify := congestion.NotificationPoint{Interval: interval}
	point.OnCNP(0)
	at := func(x float64) sim.Time { return sim.Time(x * 1e12) }
	mark, look, sent := -math.Log(1-r.Float64())/c.most, 0.0, 0.0
	for look < c.until {
		now := min(mark, look)
		rate := float64(point.Rate(at(now)))
		if c.p.ByteCounter > 0 && now > sent {
			point.OnSend(at(now), sim.Bytes(rate/8*(now-sent)))
		}
		sent = now
		if now == look {
			c.look(now, rate, observed(point, at(now)))
			look += c.every
			continue
		}
		if r.Float64()*c.most < c.hazard(now, rate) && notify.OnMarked(at(now)) {
			point.OnCNP(at(now))
		}
		mark += -math.Log(1-r.Float64()) / c.most
	}
}

func observed(p congestion.ReactionPoint, now sim.Time) (alpha float64) {
	p.(congestion.Observer).Observe(now, func(name string, v float64) {
		if name == "alpha" {
			alpha = v
		}
	})
	return alpha
}

func newCrowd(t *testing.T, preset string, flows int) (*crowd, fluid.FixedPoint) {
	m, p := gentle(preset, flows)
	m.Line = 100 * sim.Tbps / 100
	f, err := m.Balance()
	require.NoError(t, err)
	p.FirstCNPRate, p.InitialAlpha = sim.Rate(f.Rate), sim.Ratio(f.Alpha)
	h := f.P * f.Rate / (8 * float64(m.Packet))
	return &crowd{m: m, p: p, hazard: func(float64, float64) float64 { return h }, most: h}, f
}

// Flows that are marked as often as the model says have the mean rate and the
// alpha of the model: of every preset, with no queue between.
func TestCrowdHasTheRateOfTheCycle(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a thousand reaction points of each preset")
	}
	for _, c := range []struct {
		preset string
		flows  int
	}{{"sigcomm15", 8}, {"connectx", 4}, {"connectx", 32}, {"hpcc", 16}, {"hpcc_paper", 16}} {
		group, f := newCrowd(t, c.preset, c.flows)
		group.every, group.until = 5e-3, 1
		var rate, alpha, n float64
		group.look = func(at, r, a float64) {
			if at > 0.5 {
				rate, alpha, n = rate+r, alpha+a, n+1
			}
		}
		for i := range uint64(1000) {
			group.member(t, i)
		}
		t.Logf("%s, %d flows: rate %.4g of %.4g, alpha %.4g of %.4g", c.preset, c.flows, rate/n, f.Rate, alpha/n, f.Alpha)
		assert.InEpsilon(t, f.Rate, rate/n, 0.04, "%s, %d flows", c.preset, c.flows)
		assert.InEpsilon(t, f.Alpha, alpha/n, 0.03, "%s, %d flows", c.preset, c.flows)
	}
}

// What the linear model says of marks that come and go in a sine: how much the
// mean rate of many reaction points follows, and how late.
func TestCrowdRespondsAsTheCycleSays(t *testing.T) {
	if testing.Short() {
		t.Skip("runs thousands of reaction points")
	}
	for _, c := range []struct {
		preset string
		flows  int
		hertz  float64
	}{{"sigcomm15", 8, 300}, {"connectx", 32, 40}, {"connectx", 8, 100}, {"hpcc", 32, 100}, {"hpcc_paper", 16, 500}} {
		group, _ := newCrowd(t, c.preset, c.flows)
		const swing, periods, samples = 0.15, 60, 16
		w, h := 2*math.Pi*c.hertz, group.most
		group.most = h * (1 + swing)
		sign := 1.0 // the same marks with both signs: what chance does is in neither
		group.hazard = func(at, _ float64) float64 { return h * (1 + sign*swing*math.Sin(w*at)) }
		group.every, group.until = 1/c.hertz/samples, (periods+10)/c.hertz
		var got complex128
		n := 0.0
		group.look = func(at, rate, _ float64) {
			if at > 10/c.hertz {
				got += complex(sign*rate, 0) * cmplx.Exp(complex(0, -w*at))
				n++
			}
		}
		for i := range uint64(800) {
			for _, sign = range []float64{1, -1} {
				group.member(t, i)
			}
		}
		got *= complex(0, 2/n/(h*swing)) // sin is the imaginary part
		want, err := group.m.Response(c.hertz)
		require.NoError(t, err)
		t.Logf("%s, %d flows, %g Hz: %.4g at %.1f degrees, model %.4g at %.1f", c.preset, c.flows, c.hertz, cmplx.Abs(got), deg(got), cmplx.Abs(want), deg(want))
		assert.InEpsilon(t, cmplx.Abs(want), cmplx.Abs(got), 0.12, "%s at %g Hz", c.preset, c.hertz)
		assert.InDelta(t, 0, deg(got/want), 6, "%s at %g Hz", c.preset, c.hertz)
	}
}

func deg(c complex128) float64 { return cmplx.Phase(c) * 180 / math.Pi }

// A difference between flows that are marked alike vanishes at the rate of the
// slowest mode, where that is one without swings.
func TestCrowdSettlesAsTheCycleSays(t *testing.T) {
	if testing.Short() {
		t.Skip("runs thousands of reaction points")
	}
	for _, preset := range []string{"connectx", "hpcc"} {
		group, f := newCrowd(t, preset, 16)
		want, err := group.m.SettleRate()
		require.NoError(t, err)
		group.p.FirstCNPRate = sim.Rate(1.3 * f.Rate)
		packet := 8 * float64(group.m.Packet)
		group.most, group.hazard = 3*f.Rate*f.P/packet, func(_, rate float64) float64 { return min(rate, 3*f.Rate) * f.P / packet }
		group.every, group.until = 0.1/want, 2/want
		sum := map[float64]float64{}
		group.look = func(at, rate, _ float64) { sum[math.Round(at*want*10)/10] += rate/f.Rate - 1 }
		for i := range uint64(2000) {
			group.member(t, i)
		}
		got := math.Log(sum[0.4] / sum[1.4])
		t.Logf("%s: %.3g per second; over one such time a difference falls by e^%.3f", preset, want, got)
		assert.InDelta(t, 1, got, 0.15, preset)
	}
}
