package validation

import (
	"fmt"

	"rdmasim/congestion"
	"rdmasim/congestion/fluid"
	"rdmasim/scenarios"
	"rdmasim/sim"
	"rdmasim/sim/stat"
	"rdmasim/sim/trace"
)

var _ = register("D1", Row{
	Title: "fixed point of DCQCN",
	Hard:  true,
	Explain: `N long flows on one port settle where the fluid model stands still: a^2 alpha / ((b+d)(c+e)) = tau^2 R_AI R_C with
a = 1-(1-p)^(tau R_C), b = p/((1-p)^-B - 1), c = b (1-p)^(F B), d = p/((1-p)^(-T R_C) - 1), e = d (1-p)^(F T R_C),
alpha = 1-(1-p)^(tau' R_C), R_C = C/N in packets per second; queue = Kmin + p/Pmax (Kmax - Kmin); a/tau CNPs per second and flow.
It exists while p <= Pmax: C/N >= 2.67 Gb/s for the parameters of the paper.
Its factors (1-p)^(F B) and (1-p)^(F T R_C) let additive increase begin after F steps of fast recovery, which is stage_test
before_count; with the rule max(T, BC) < F by the letter (after_count, F-1 steps) there are more CNPs, and alpha at 40 Gb/s, N 2
is 0.111, 10 % above the fluid's.
Packets swing around it. Marking is convex in the queue, so that their mean queue lies above it. Two gates therefore:
the fluid model within queue 0.9 to 1.35 times, alpha 8 %, CNPs 1.0 to 1.18 times (at 40 Gb/s, N 2; elsewhere only the queue);
and at every point a second model of packets that shares no code with the product, one event queue, N pacers and one port:
queue within 5 %, alpha and CNPs within 3 %. Utilisation over 0.995, Jain's index over 0.9.
Sources: Zhu et al., SIGCOMM'15, section 5; Zhu et al., CoNEXT'16, section 3 and the authors' MATLAB.`,
	Oracles:   []string{"dcqcn_fixed_point", "dcqcn_fixed_point_approx"},
	Scenarios: []string{"dcqcn-long.yaml"},
	Measure:   measureFixedPoint,
})

// longFlows is one point of D1: N flows on a link of rate C with packets of
// the given size on the wire, in switches that see all of it.
type longFlows struct {
	n      int
	rate   sim.Rate
	packet int
	sets   []string
	level  Level
}

func (c longFlows) settings() []string {
	return append([]string{fmt.Sprintf("topology.star.hosts=%d", c.n+1), "topology.star.rate=" + c.rate.String(),
		fmt.Sprintf("nic.frame={payload: %dB, header: 60B, overhead: 0B}", c.packet-60)}, c.sets...)
}

// fluid returns the fluid model with the parameters of the scenario.
func (c longFlows) fluid(s *scenarios.Spec) fluid.DCQCN {
	p, e := s.NIC.Congestion.Params.(congestion.DCQCNParams), s.Switch.ECN[3]
	return fluid.DCQCN{Capacity: c.rate, Flows: c.n, Packet: sim.Bytes(c.packet), CNPInterval: p.CNPInterval, AlphaTimer: p.AlphaTimer, RateTimer: p.RateTimer,
		ByteCounter: p.ByteCounter, F: p.F, G: float64(p.G), RAI: p.RAI, Kmin: e.Kmin, Kmax: e.Kmax, Pmax: float64(e.Pmax)}
}

// model returns the same as a model of packets; links of the star take the same
// time each way.
func (c longFlows) model(s *scenarios.Spec) packetModel {
	p, e := s.NIC.Congestion.Params.(congestion.DCQCNParams), s.Switch.ECN[3]
	steps := p.F
	if p.StageTest == congestion.TestBeforeCount {
		steps++
	}
	return packetModel{n: int64(c.n), line: int64(c.rate), packet: float64(c.packet), link: 1e-6, kmin: float64(e.Kmin), kmax: float64(e.Kmax), pmax: float64(e.Pmax),
		g: float64(p.G), cnp: p.CNPInterval.Seconds(), k: p.AlphaTimer.Seconds(), t: p.RateTimer.Seconds(), counter: float64(p.ByteCounter), rai: float64(p.RAI), f: steps,
		warmup: s.Warmup.Seconds(), end: s.Duration.Seconds()}
}

// agrees compares long flows with the model of packets.
func (b *Bench) agrees(what string, m packetModel, got settled) {
	var queue, alpha, cnp []float64
	for _, seed := range b.Seeds() {
		r := m.run(seed)
		queue, alpha, cnp = append(queue, r.queue/1e3), append(alpha, r.alpha), append(cnp, r.cnp)
	}
	const source = "second packet model"
	b.Near(what+"mean queue", stat.MeanInterval(queue, Confidence).Mean, scaled(got.queue, 1e-3), 0.05, "KB", source)
	b.Near(what+"alpha", stat.MeanInterval(alpha, Confidence).Mean, got.alpha, 0.03, "", source)
	b.Near(what+"CNPs per flow", stat.MeanInterval(cnp, Confidence).Mean, got.cnp, 0.03, "/s", source)
}

// settled is what long flows have settled to.
type settled struct{ queue, alpha, cnp, utilisation, jain, marked stat.Interval }

func (b *Bench) settle(c longFlows) (settled, error) {
	got, err := b.Replicate("dcqcn-long.yaml", c.settings(), func(o *Outcome) ([]float64, error) {
		if n := o.Sum(trace.CountPFCXoffTx) + o.Sum(trace.CountDropLossless); n != 0 {
			return nil, fmt.Errorf("%v pauses and drops, and there should be none", n)
		}
		alpha, err := o.SeriesMean(trace.SeriesAlpha, sim.Time(o.Spec.Warmup))
		if err != nil {
			return nil, err
		}
		list, err := o.Goodputs()
		if err != nil {
			return nil, err
		}
		var rates []float64
		for i := range list {
			rates = append(rates, list[i].Rate())
		}
		return []float64{o.Of("sw0:0/q3", trace.CountQueueIntegral) / o.Seconds(), alpha, o.Sum(trace.CountCNPSent) / o.Seconds() / float64(c.n),
			o.Of("sw0:0", trace.CountTxBytes) * 8 / o.Seconds() / float64(c.rate), stat.Jain(rates),
			o.Of("sw0:0/q3", trace.CountECNMarked) / o.Of("sw0:0/q3", trace.CountECNEligible)}, nil
	})
	if err != nil {
		return settled{}, err
	}
	return settled{got[0], got[1], got[2], got[3], got[4], got[5]}, nil
}

func measureFixedPoint(b *Bench) error {
	points := []longFlows{
		{2, 40 * sim.Gbps, 1000, nil, Quick},
		{4, 40 * sim.Gbps, 1000, nil, Full}, {5, 100 * sim.Gbps, 1000, nil, Full}, {3, 40 * sim.Gbps, 1500, nil, Full},
		{10, 100 * sim.Gbps, 1000, nil, Full}, {2, 25 * sim.Gbps, 1000, nil, Full},
	}
	if b.Level == Short {
		points = []longFlows{{2, 40 * sim.Gbps, 1000, []string{"warmup=100ms", "duration=200ms"}, Short}}
	}
	found := Line{Name: "simulated"}
	for _, c := range points {
		if c.level > b.Level {
			continue
		}
		s, err := b.Spec("dcqcn-long.yaml", c.settings()...)
		if err != nil {
			return err
		}
		f, err := c.fluid(s).FixedPoint()
		if err != nil {
			return err
		}
		got, err := b.settle(c)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("%v, N %d, %d-byte packets: ", c.rate, c.n, c.packet)
		const source = "SIGCOMM'15 5, exact root"
		b.Within(what+"mean queue", 0.9*f.Queue/1e3, 1.35*f.Queue/1e3, scaled(got.queue, 1e-3), "KB", fmt.Sprintf("%s %.4g KB", source, f.Queue/1e3))
		if c.n == 2 && c.rate == 40*sim.Gbps {
			b.Near(what+"alpha", f.Alpha, got.alpha, 0.08, "", source)
			b.Within(what+"CNPs per flow", f.CNPRate, 1.18*f.CNPRate, got.cnp, "/s", source)
		}
		if b.Level > Short {
			b.agrees(what, c.model(s), got)
		}
		b.Within(what+"utilisation", 0.995, inf, got.utilisation, "", "independent packet model")
		b.Within(what+"Jain's index", 0.9, 1, got.jain, "", "independent packet model")
		if c.packet == 1000 {
			found.at(float64(c.rate)/float64(c.n)/1e9, got.queue.Mean/1e3)
			found.Half = append(found.Half, got.queue.Half/1e3)
		}
	}
	return b.drawFixedPoint(found)
}

func scaled(i stat.Interval, k float64) stat.Interval {
	return stat.Interval{Mean: i.Mean * k, Half: i.Half * k, N: i.N}
}

// drawFixedPoint draws mean queues over the fair share beside the exact root
// and the published approximation.
func (b *Bench) drawFixedPoint(found Line) error {
	s, err := b.Spec("dcqcn-long.yaml")
	if err != nil {
		return err
	}
	exact := Line{Name: "fluid model, exact root", Oracle: true}
	printed := oracle("fluid model, published approximation", 2.7, 30, func(gbps float64) float64 { return oneFlow(s, gbps).ApproximateQueue() / 1e3 })
	for _, gbps := range printed.X {
		f, err := oneFlow(s, gbps).FixedPoint()
		if err != nil {
			return err
		}
		exact.at(gbps, f.Queue/1e3)
	}
	b.Draw(Curve{Name: "queue", Title: "Mean queue of long DCQCN flows", X: Axis{Label: "fair share C/N (Gb/s)", Log: true}, Y: Axis{Label: "mean queue (KB)", Log: true}, Lines: []Line{exact, printed, found}})
	return nil
}

// oneFlow is the fluid model of one flow at a rate: the fixed point depends on
// C/N alone.
func oneFlow(s *scenarios.Spec, gbps float64) fluid.DCQCN {
	return longFlows{n: 1, rate: sim.Rate(gbps * 1e9), packet: 1000}.fluid(s)
}
