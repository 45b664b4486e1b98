package validation

import (
	"fmt"
	"math"

	"rdmasim/congestion"
	"rdmasim/sim"
)

var _ = register("D6", Row{
	Title: "DCQCN reaction point",
	Hard:  true,
	Explain: `A CNP: RT = RC, RC = RC (1 - alpha/2), then alpha = (1-g) alpha + g. Each K without one: alpha = (1-g) alpha.
An increase each T: stage < F: RC = (RT+RC)/2; from stage F on RT = RT + R_AI first.
Closed forms: after k decays alpha = (1-g)^k; after j < F steps RC = RT - (RT - RC0)/2^j; the nth additive step has RT = RT0 + n R_AI.
Source: Zhu et al., SIGCOMM'15, section 3.1 (RP), equations 1 to 4, in the order of the text: the cut uses the old alpha.`,
	Measure: measureReaction,
})

// reaction is a scripted reaction point: CNPs every gap, cnps of them, then
// silence. T and K are the paper's, the byte counter is off.
type reaction struct {
	line     sim.Rate
	g        float64
	cnps     int
	gap      sim.Duration
	timer    sim.Duration // T and K
	f        int
	rai      sim.Rate
	observed int // increases after the last CNP
}

// closed returns RT, RC and alpha after j increases by the closed forms.
func (r reaction) closed(j int) (rt, rc, alpha float64) {
	alpha = 1
	rc = float64(r.line)
	for range r.cnps {
		rt = rc
		rc *= 1 - alpha/2
		alpha = (1-r.g)*alpha + r.g // stays 1 from 1 on
	}
	rc0 := rc
	alpha = math.Pow(1-r.g, float64(j))
	for k := 1; k <= j; k++ {
		if k < r.f {
			rc = rt - (rt-rc0)/math.Pow(2, float64(k))
			continue
		}
		rt = min(rt+float64(r.rai), float64(r.line))
		rc = (rt + rc) / 2
	}
	return rt, rc, alpha
}

// point returns the reaction point that the program has.
func (r reaction) point() (congestion.ReactionPoint, error) {
	e, err := congestion.Algorithms.Lookup("dcqcn")
	if err != nil {
		return nil, err
	}
	p := e.Presets["sigcomm15"].(congestion.DCQCNParams)
	p.G, p.AlphaTimer, p.RateTimer, p.ByteCounter, p.F, p.RAI = sim.Ratio(r.g), r.timer, r.timer, 0, r.f, r.rai
	a, err := e.Build(p)
	if err != nil {
		return nil, err
	}
	return a.NewReactionPoint(r.line, 4*sim.Microsecond), nil
}

// trainOfThree is a train worked out by hand: 40 Gb/s, three CNPs 50 us apart, as
// numbers: time in us, target and rate in Gb/s, alpha.
var trainOfThree = [][4]float64{{0, 40, 20, 1}, {50, 20, 10, 1}, {100, 10, 5, 1}, {155, 10, 7.5, 0.99609375}, {210, 10, 8.75, 0.992202759}, {265, 10, 9.375, 0.988326967},
	{320, 10, 9.6875, 0.984466314}, {375, 10.04, 9.86375, 0.980620743}}

// writtenDown compares a reaction point with those numbers, which have nine
// digits.
func (b *Bench) writtenDown(r reaction) error {
	p, err := r.point()
	if err != nil {
		return err
	}
	worst := 0.0
	for _, line := range trainOfThree {
		t := sim.Time(line[0] * float64(sim.Microsecond))
		if t <= sim.Time(100*sim.Microsecond) {
			p.OnCNP(t)
		}
		got := map[string]float64{}
		p.(congestion.Observer).Observe(t, func(name string, v float64) { got[name] = v })
		worst = max(worst, math.Abs(got["target"]/1e9-line[1])/line[1], math.Abs(got["rate"]/1e9-line[2])/line[2], math.Abs(got["alpha"]-line[3])/line[3])
	}
	b.Off("40 Gb/s, CNPs at 0, 50, 100 us, to 375 us: worst deviation from the written table", 0, one(worst), 1e-9, "", "SIGCOMM'15 3.1")
	return nil
}

func measureReaction(b *Bench) error {
	const us = sim.Microsecond
	points := []reaction{
		{40 * sim.Gbps, 1. / 256, 3, 50 * us, 55 * us, 5, 40 * sim.Mbps, 12},
		{100 * sim.Gbps, 1. / 256, 3, 50 * us, 55 * us, 5, 40 * sim.Mbps, 12},
		{400 * sim.Gbps, 1. / 16, 5, 4 * us, 300 * us, 1, 5 * sim.Mbps, 20},
		{25 * sim.Gbps, 1. / 2, 2, 10 * us, 100 * us, 8, 400 * sim.Mbps, 30},
		{800 * sim.Gbps, 1. / 1024, 7, 20 * us, 25 * us, 3, 1 * sim.Gbps, 200},
	}
	if err := b.writtenDown(points[0]); err != nil {
		return err
	}
	for i, r := range points {
		rc, want, err := b.react(r)
		if err != nil {
			return err
		}
		if i == 0 {
			b.Draw(Curve{Name: "rate", Title: "Rate after three CNPs", X: Axis{Label: "time (us)"}, Y: Axis{Label: "rate (Gb/s)"}, Lines: []Line{want, rc}})
		}
	}
	return nil
}

// react compares a reaction point with the closed forms, and returns its rate
// and theirs over time.
func (b *Bench) react(r reaction) (rc, want Line, err error) {
	p, err := r.point()
	if err != nil {
		return rc, want, err
	}
	o := p.(congestion.Observer)
	now := sim.Time(0)
	for k := range r.cnps {
		now = sim.Time(int64(k) * int64(r.gap))
		p.OnCNP(now)
	}
	worst, at := 0.0, ""
	rc, want = Line{Name: "RC simulated"}, Line{Name: "RC, closed form", Oracle: true}
	for j := 0; j <= r.observed; j++ {
		t := now.Add(sim.Duration(j) * r.timer)
		got := map[string]float64{}
		o.Observe(t, func(name string, v float64) { got[name] = v })
		wrt, wrc, wa := r.closed(j)
		for _, c := range []struct {
			name string
			want float64
		}{{"alpha", wa}, {"rate", wrc}, {"target", wrt}} {
			v, ok := got[c.name]
			if !ok {
				return rc, want, fmt.Errorf("the reaction point does not show its %s", c.name)
			}
			if d := math.Abs(v-c.want) / c.want; d > worst {
				worst, at = d, fmt.Sprintf(" (%s, step %d)", c.name, j)
			}
		}
		rc.at(t.Seconds()*1e6, got["rate"]/1e9)
		want.at(t.Seconds()*1e6, wrc/1e9)
	}
	b.Off(fmt.Sprintf("%v, g %.4g, %d CNPs, F %d, %d steps: worst deviation%s", r.line, r.g, r.cnps, r.f, r.observed, at), 0, one(worst), 1e-9, "", "SIGCOMM'15 3.1")
	return rc, want, nil
}
