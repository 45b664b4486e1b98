package congestion

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// eager is the slow, obvious twin of dcqcnPoint: every timer of the algorithm
// is an event with its own time, alpha is multiplied tick by tick.
type eager struct {
	p                  DCQCNParams
	line, rc, rt       float64
	alpha              float64
	alphaAt, cutAt, rp sim.Time // next expiry of each timer
	cutSet, rpSet      sim.Time // when it was set, for the order of ties
	lastCut            sim.Time
	sent               int64
	t, bc              int
	active             bool
	alphaCNP, cutCNP   bool
}

func newEager(p DCQCNParams, line sim.Rate) *eager {
	return &eager{p: p, line: float64(line), rc: float64(line), rt: float64(line), alpha: float64(p.InitialAlpha),
		alphaAt: sim.Never, cutAt: sim.Never, rp: sim.Never}
}

func (e *eager) run(now sim.Time) {
	for {
		switch at := min(e.alphaAt, e.cutAt, e.rp); {
		case at > now:
			return
		case at == e.alphaAt:
			g := float64(e.p.G)
			e.alpha *= 1 - g
			if e.p.AlphaUpdate == AlphaPerWindow && e.alphaCNP {
				e.alpha += g
			}
			e.alphaCNP = false
			e.alphaAt += sim.Time(e.p.AlphaTimer)
		case at == e.rp && (e.rp < e.cutAt || e.rpSet < e.cutSet):
			e.rp, e.rpSet = at+sim.Time(e.p.RateTimer), at
			e.event(&e.t)
		default:
			e.cutAt, e.cutSet = at+sim.Time(e.p.CutInterval), at
			if e.cutCNP {
				e.cutCNP = false
				e.cut(at)
			}
		}
	}
}

func (e *eager) cut(now sim.Time) {
	if e.p.Clamp || e.bc > 0 || e.p.ClampAfterTime && e.t > 0 {
		e.rt = e.rc
	}
	factor := math.Max(1-e.alpha*float64(e.p.CutGain), float64(e.p.MinDecreaseFactor))
	e.rc *= factor
	if e.p.IntegerRates {
		e.rc = math.Floor(e.rc)
	}
	e.rc = math.Max(e.rc, math.Min(float64(e.p.MinRate), e.line))
	e.reset(now)
}

func (e *eager) reset(now sim.Time) {
	e.t, e.bc, e.sent, e.lastCut = 0, 0, 0, now
	e.rp, e.rpSet = now+sim.Time(e.p.RateTimer), now
}

func (e *eager) event(stage *int) {
	if e.p.StageTest == TestAfterCount {
		*stage++
	}
	lo := e.t
	if e.p.HyperStage == HyperBoth && e.bc < e.t {
		lo = e.bc
	}
	if e.t >= e.p.F || e.bc >= e.p.F {
		step := float64(e.p.RAI)
		if lo > e.p.F {
			switch step = float64(e.p.RHAI); e.p.HyperStep {
			case HyperLinear:
				step *= float64(lo - e.p.F)
			case HyperLinearPlusOne:
				step *= float64(lo - e.p.F + 1)
			}
		}
		e.rt = math.Min(e.line, e.rt+step)
	}
	if e.p.StageTest == TestBeforeCount {
		*stage++
	}
	if e.p.IntegerRates {
		e.rc = float64(int64(e.rc) / 2) // Rc/2 and Rt/2 are truncated apart
		e.rc += float64(int64(e.rt) / 2)
		return
	}
	e.rc = (e.rc + e.rt) / 2
}

func (e *eager) cnp(now sim.Time) {
	e.run(now)
	first := !e.active
	e.active = true
	raise := func() {
		if e.p.AlphaUpdate == AlphaPerCNP {
			e.alpha = e.alpha*(1-float64(e.p.G)) + float64(e.p.G)
			e.alphaAt = now + sim.Time(e.p.AlphaTimer)
		} else {
			e.alphaCNP = !first
			if first {
				e.alphaAt = now + sim.Time(e.p.AlphaTimer)
			}
		}
	}
	firstRate := first && e.p.FirstCNPRate > 0
	if firstRate {
		e.rc = math.Min(float64(e.p.FirstCNPRate), e.line)
		e.rt = e.rc
	}
	if e.p.Cut == CutPolled {
		raise()
		e.cutCNP = true
		if first {
			e.cutAt, e.cutSet = now+sim.Time(e.p.CutInterval)+sim.Time(sim.Nanosecond), now
		}
		return
	}
	if e.p.AlphaFirst {
		raise()
	}
	if first || now-e.lastCut >= sim.Time(e.p.CutInterval) {
		if firstRate {
			e.reset(now)
		} else {
			e.cut(now)
		}
	}
	if !e.p.AlphaFirst {
		raise()
	}
}

func (e *eager) send(now sim.Time, n sim.Bytes) {
	e.run(now)
	if e.p.ByteCounter == 0 || !e.active {
		return
	}
	for e.sent += int64(n); e.sent >= int64(e.p.ByteCounter); e.sent -= int64(e.p.ByteCounter) {
		e.event(&e.bc)
	}
}

// randomDCQCN draws a parameter set, every knob of the machine among them.
func randomDCQCN(r *rand.Rand) DCQCNParams {
	us := func(from, to int) sim.Duration {
		return sim.Duration(from+r.IntN(to-from)) * sim.Microsecond
	}
	coin := func() bool { return r.IntN(2) == 0 }
	p := DCQCNParams{
		Feedback: FeedbackCNP, CNPInterval: us(1, 60),
		AlphaUpdate: pick(r, AlphaPerCNP, AlphaPerWindow), AlphaTimer: us(1, 60),
		G: pick[sim.Ratio](r, 1.0/256, 1.0/16, 5.0/1024, 0.3), InitialAlpha: pick[sim.Ratio](r, 1, 0.5),
		AlphaFirst: coin(), Cut: pick(r, CutAtCNP, CutPolled), CutInterval: us(1, 60),
		CutGain: pick[sim.Ratio](r, 0.5, 0.25), MinDecreaseFactor: pick[sim.Ratio](r, 0, 0.5, 0.9),
		FirstCNPRate: pick(r, 0, 0, 10*sim.Gbps), Clamp: coin(), ClampAfterTime: coin(), MinRate: pick(r, 1*sim.Mbps, 1*sim.Gbps),
		RateTimer: us(1, 80), ByteCounter: pick(r, 0, 20*sim.KB, 150*sim.KB), F: r.IntN(6),
		StageTest: pick(r, TestAfterCount, TestBeforeCount), HyperStage: pick(r, HyperBoth, HyperTimer),
		HyperStep: pick(r, HyperLinear, HyperLinearPlusOne, HyperFixed),
		RAI:       pick(r, 40*sim.Mbps, 333333333), RHAI: pick(r, 400*sim.Mbps, 777777777), IntegerRates: coin(),
	}
	if r.IntN(4) == 0 { // ties between the timers
		p.RateTimer, p.CutInterval, p.AlphaTimer = 4*sim.Microsecond, pick(r, us(4, 5), us(2, 3), us(8, 9)), us(1, 2)
	}
	return p
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func near(a, b, tol float64) bool {
	return math.Abs(a-b) <= tol*math.Max(math.Abs(a), math.Abs(b))+1e-300 // denormals are 0
}

// TestLazyEqualsEager drives both machines with the same random trains of CNPs
// and sends and compares rate, target and alpha at every step. Alpha differs
// by rounding alone: one factor (1-g)^k against k multiplications.
func TestLazyEqualsEager(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := randomDCQCN(r)
		if seed < 4 {
			p = []DCQCNParams{sigcomm15(), connectx(), hpcc(), hpccPaper()}[seed]
		}
		a, err := NewDCQCN(p)
		require.NoError(t, err)
		line := pick(r, 25*sim.Gbps, 100*sim.Gbps, 99999999999)
		d, e := newDCQCNPoint(a.(*dcqcn), line), newEager(p, line)
		now := sim.Time(0)
		for range 400 {
			step := pick(r, 0, 0, sim.Nanosecond, 700*sim.Nanosecond, sim.Microsecond, 4*sim.Microsecond, 50*sim.Microsecond, 3*sim.Millisecond)
			now = now.Add(step)
			switch r.IntN(4) {
			case 0:
				d.OnCNP(now)
				e.cnp(now)
			case 1:
				n := sim.Bytes(64 + r.IntN(60000))
				d.OnSend(now, n)
				e.send(now, n)
			default:
				e.run(now)
			}
			d.advance(now)
			alpha := d.alphaNow(now)
			if !near(d.rc, e.rc, 1e-9) || !near(d.rt, e.rt, 1e-9) || !near(alpha, e.alpha, 1e-11) {
				t.Fatalf("seed %d at %v: rc %v eager %v, rt %v eager %v, alpha %v eager %v\n%+v", seed, now, d.rc, e.rc, d.rt, e.rt, alpha, e.alpha, p)
			}
		}
	}
}

// TestLookingChangesNothing calls the readers at extra times on one of two
// equal points: every bit of the answers must stay the same.
func TestLookingChangesNothing(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		p := randomDCQCN(r)
		p.VariableWindow = 100 * sim.KB
		a, err := NewDCQCN(p)
		require.NoError(t, err)
		quiet, watched := a.NewReactionPoint(100*sim.Gbps, 0), a.NewReactionPoint(100*sim.Gbps, 0)
		checkLooking(t, r, quiet, watched, func(now sim.Time) func(ReactionPoint) {
			if r.IntN(2) == 0 {
				return func(rp ReactionPoint) { rp.OnCNP(now) }
			}
			return func(rp ReactionPoint) { rp.OnSend(now, 5000) }
		})
	}
}

// checkLooking runs a train of events on two points, looks at one of them at
// many more instants, and wants the same state at the end of every step.
func checkLooking(t *testing.T, r *rand.Rand, quiet, watched ReactionPoint, event func(sim.Time) func(ReactionPoint)) {
	t.Helper()
	now := sim.Time(0)
	for range 200 {
		gap := sim.Duration(r.Int64N(int64(pick(r, sim.Microsecond, 100*sim.Microsecond, 2*sim.Millisecond))))
		for range r.IntN(5) {
			at := now.Add(sim.Duration(float64(gap) * r.Float64()))
			if at < now {
				continue
			}
			gap -= at.Sub(now)
			now = at
			watched.Rate(now)
			watched.Window(now)
			observe(watched, now)
		}
		now = now.Add(gap)
		do := event(now)
		do(quiet)
		do(watched)
	}
	require.Equal(t, observe(quiet, now), observe(watched, now))
	require.Equal(t, quiet.Rate(now), watched.Rate(now))
	require.Equal(t, quiet.Window(now), watched.Window(now))
}

func observe(rp ReactionPoint, now sim.Time) map[string]float64 {
	m := map[string]float64{}
	if o, ok := rp.(Observer); ok {
		o.Observe(now, func(name string, v float64) { m[name] = v })
	}
	return m
}
