package validation

import (
	"fmt"
	"math"

	"rdmasim/congestion"
	"rdmasim/congestion/fluid"
	"rdmasim/fabric/topology"
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
	name   string // says what else is different, "" for the parameters of the paper
}

// what names the point in the table.
func (c longFlows) what() string {
	name := ""
	if c.name != "" {
		name = ", " + c.name
	}
	return fmt.Sprintf("%v, N %d, %d-byte packets%s: ", c.rate, c.n, c.packet, name)
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
	link := s.Topology.Params.(topology.StarParams).Delay.Seconds()
	return packetModel{n: int64(c.n), line: int64(c.rate), packet: float64(c.packet), link: link, kmin: float64(e.Kmin), kmax: float64(e.Kmax), pmax: float64(e.Pmax),
		g: float64(p.G), cnp: p.CNPInterval.Seconds(), k: p.AlphaTimer.Seconds(), t: p.RateTimer.Seconds(), counter: float64(p.ByteCounter), rai: float64(p.RAI), f: steps,
		warmup: s.Warmup.Seconds(), end: s.Duration.Seconds()}
}

// agrees compares long flows with the model of packets, and returns its mean
// queue in KB.
func (b *Bench) agrees(what string, m packetModel, got settled) (kb float64, err error) {
	seeds := b.Seeds()
	queue, alpha, cnp := make([]float64, len(seeds)), make([]float64, len(seeds)), make([]float64, len(seeds))
	err = each(len(seeds), func(i int) error {
		defer b.slot()()
		r := m.run(seeds[i])
		queue[i], alpha[i], cnp[i] = r.queue/1e3, r.alpha, r.cnp
		return b.ctx.Err()
	})
	if err != nil {
		return 0, err
	}
	const source = "second packet model"
	kb = stat.MeanInterval(queue, Confidence).Mean
	b.Near(what+"mean queue", kb, scaled(got.queue, 1e-3), 0.05, "KB", source)
	b.Near(what+"alpha", stat.MeanInterval(alpha, Confidence).Mean, got.alpha, 0.03, "", source)
	b.Near(what+"CNPs per flow", stat.MeanInterval(cnp, Confidence).Mean, got.cnp, 0.03, "/s", source)
	return kb, nil
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
	const dcqcn = "nic.congestion.dcqcn."
	points := []longFlows{
		{2, 40 * sim.Gbps, 1000, nil, Quick, ""},
		{4, 40 * sim.Gbps, 1000, nil, Full, ""}, {5, 100 * sim.Gbps, 1000, nil, Full, ""}, {3, 40 * sim.Gbps, 1500, nil, Full, ""},
		{10, 100 * sim.Gbps, 1000, nil, Full, ""}, {2, 25 * sim.Gbps, 1000, nil, Full, ""}, {7, 200 * sim.Gbps, 1000, nil, Full, ""},
		{3, 40 * sim.Gbps, 1000, []string{dcqcn + "g=1/64"}, Full, "g 1/64"},
		{3, 50 * sim.Gbps, 1000, []string{dcqcn + "r_ai=80Mbps", dcqcn + "rate_timer=110us"}, Full, "R_AI 80 Mb/s, T 110 us"},
		{4, 100 * sim.Gbps, 1000, []string{"switch.ecn.3.kmin=50KB", "switch.ecn.3.kmax=1MB", "switch.ecn.3.pmax=10%"}, Full, "Kmin 50 KB, Kmax 1 MB, Pmax 10 %"},
		{2, 40 * sim.Gbps, 1000, []string{"topology.star.delay=4us"}, Full, "loop 16 us"},
	}
	if b.Level == Short {
		points = []longFlows{{2, 40 * sim.Gbps, 1000, []string{"warmup=100ms", "duration=200ms"}, Short, ""}}
	}
	found, second := Line{Name: "simulated"}, Line{Name: "second packet model"}
	for _, c := range points {
		if c.level > b.Level {
			continue
		}
		queue, other, err := b.standStill(c)
		if err != nil {
			return err
		}
		if c.packet == 1000 && c.name == "" {
			found.at(float64(c.rate)/float64(c.n)/1e9, queue.Mean/1e3)
			found.Half = append(found.Half, queue.Half/1e3)
			if !math.IsNaN(other) {
				second.at(float64(c.rate)/float64(c.n)/1e9, other)
			}
		}
	}
	return b.drawFixedPoint(found, second)
}

// standStill compares long flows with the fixed point and with the second model
// of packets, and returns their mean queue, and that of the second model in KB:
// NaN where it has not been asked.
func (b *Bench) standStill(c longFlows) (queue stat.Interval, second float64, err error) {
	second = math.NaN()
	s, err := b.Spec("dcqcn-long.yaml", c.settings()...)
	if err != nil {
		return queue, second, err
	}
	f, err := c.fluid(s).FixedPoint()
	if err != nil {
		return queue, second, err
	}
	got, err := b.settle(c)
	if err != nil {
		return queue, second, err
	}
	const source = "SIGCOMM'15 5, exact root"
	b.Within(c.what()+"mean queue", 0.9*f.Queue/1e3, 1.35*f.Queue/1e3, scaled(got.queue, 1e-3), "KB", fmt.Sprintf("%s %.4g KB", source, f.Queue/1e3))
	if c.n == 2 && c.rate == 40*sim.Gbps && c.name == "" {
		b.Near(c.what()+"alpha", f.Alpha, got.alpha, 0.08, "", source)
		b.Within(c.what()+"CNPs per flow", f.CNPRate, 1.18*f.CNPRate, got.cnp, "/s", source)
	}
	if b.Level > Short {
		if second, err = b.agrees(c.what(), c.model(s), got); err != nil {
			return queue, second, err
		}
	}
	b.Within(c.what()+"utilisation", 0.995, inf, got.utilisation, "", "independent packet model")
	b.Within(c.what()+"Jain's index", 0.9, 1, got.jain, "", "independent packet model")
	return got.queue, second, nil
}

func scaled(i stat.Interval, k float64) stat.Interval {
	return stat.Interval{Mean: i.Mean * k, Half: i.Half * k, N: i.N}
}

// drawFixedPoint draws mean queues over the fair share beside the exact root
// and the published approximation.
func (b *Bench) drawFixedPoint(found, second Line) error {
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
	b.Draw(Curve{Name: "queue", Title: "Mean queue of long DCQCN flows", X: Axis{Label: "fair share C/N (Gb/s)", Log: true}, Y: Axis{Label: "mean queue (KB)", Log: true}, Lines: []Line{exact, printed, found, second}})
	return nil
}

// oneFlow is the fluid model of one flow at a rate: the fixed point depends on
// C/N alone.
func oneFlow(s *scenarios.Spec, gbps float64) fluid.DCQCN {
	return longFlows{n: 1, rate: sim.Rate(gbps * 1e9), packet: 1000}.fluid(s)
}
