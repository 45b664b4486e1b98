package congestion

import (
	"math"

	"rdmasim/sim"
)

// dcqcnPoint is DCQCN's reaction point of one queue pair. It starts at line
// rate and is at rest until the first CNP.
//
// Its timers are never events of the engine. Alpha's ticks need no event at
// all: alpha is a closed form of the time since it last rose. The rate timer
// and a pending cut are run, in their order, by the first call at or after
// their time. State changes only at the times of CNPs, sends and those two, so
// that results do not depend on when, or how often, anybody looks.
type dcqcnPoint struct {
	a    *dcqcn
	rc   float64  // R_C in bit/s
	rt   float64  // R_T in bit/s
	line float64  // line rate in bit/s
	next sim.Time // the earlier of rpNext and cutAt: nothing is due before

	rpNext sim.Time // next expiry of the rate timer
	cutAt  sim.Time // when the pending cut is due (polled), Never if none is
	cutRef sim.Time // polled: phase of the checks; at_cnp: the last cut

	alpha   float64  // value at alphaAt
	alphaAt sim.Time // the CNP or tick of alpha that set it
	bytes   int64    // sent since the last event of the byte counter

	timeStage uint32 // events of the rate timer since the last cut (T)
	byteStage uint32 // events of the byte counter since the last cut (BC)
	active    bool   // a CNP has come
	marked    bool   // per_window: a CNP has come since alphaAt
}

func newDCQCNPoint(a *dcqcn, line sim.Rate) *dcqcnPoint {
	r := float64(line)
	return &dcqcnPoint{
		a: a, rc: r, rt: r, line: r, alpha: float64(a.p.InitialAlpha),
		next: sim.Never, rpNext: sim.Never, cutAt: sim.Never,
	}
}

// Rate returns R_C.
func (d *dcqcnPoint) Rate(now sim.Time) sim.Rate {
	if now >= d.next {
		d.advance(now)
	}
	return sim.Rate(d.rc + 0.5)
}

// Window returns the window in proportion to R_C.
func (d *dcqcnPoint) Window(now sim.Time) sim.Bytes {
	w := d.a.p.VariableWindow
	if w == 0 {
		return 0
	}
	return max(1, sim.Bytes(float64(w)*(float64(d.Rate(now))/d.line)))
}

// OnSend feeds the byte counter.
func (d *dcqcnPoint) OnSend(now sim.Time, wire sim.Bytes) {
	if now >= d.next {
		d.advance(now)
	}
	b := int64(d.a.p.ByteCounter)
	if b == 0 || !d.active {
		return
	}
	for d.bytes += int64(wire); d.bytes >= b; d.bytes -= b {
		d.increase(&d.byteStage)
	}
}

// OnAck treats a mark on an ACK as a CNP.
func (d *dcqcnPoint) OnAck(now sim.Time, a Ack) {
	if a.Marked {
		d.OnCNP(now)
	}
}

// OnLoss does nothing: DCQCN does not react to loss.
func (d *dcqcnPoint) OnLoss(sim.Time) {}

// OnCNP cuts the rate, or arms the next check to do so.
func (d *dcqcnPoint) OnCNP(now sim.Time) {
	if now >= d.next {
		d.advance(now)
	}
	p := &d.a.p
	first := !d.active
	if first {
		d.active, d.alphaAt = true, now
	}
	if p.AlphaFirst || p.Cut == CutPolled {
		d.raiseAlpha(now, first)
	}
	switch {
	case p.Cut == CutPolled:
		d.armCheck(now, first)
	case first || now.Sub(d.cutRef) >= p.CutInterval:
		d.cutRef = now
		d.cut(now, first)
	}
	if !p.AlphaFirst && p.Cut == CutAtCNP {
		d.raiseAlpha(now, first)
	}
	d.next = min(d.rpNext, d.cutAt)
}

// armCheck lets the next periodic check cut. The HPCC model starts its checks
// one nanosecond after the first CNP, so that they follow the ticks of alpha.
func (d *dcqcnPoint) armCheck(now sim.Time, first bool) {
	every := d.a.p.CutInterval
	switch {
	case first:
		d.cutRef = now.Add(sim.Nanosecond)
		d.cutAt = d.cutRef.Add(every)
		d.setFirstRate()
	case d.cutAt == sim.Never:
		k := now.Sub(d.cutRef)/every + 1
		d.cutAt = d.cutRef.Add(k * every)
	}
}

// advance runs the rate timer and the pending cut up to now in their order.
func (d *dcqcnPoint) advance(now sim.Time) {
	for {
		switch {
		case d.rpNext <= now && (d.rpNext < d.cutAt || d.rpNext == d.cutAt && d.a.timerBeforeCheck()):
			d.rpNext = d.rpNext.Add(d.a.p.RateTimer)
			d.increase(&d.timeStage)
		case d.cutAt <= now:
			at := d.cutAt
			d.cutAt = sim.Never
			d.cut(at, false)
		default:
			d.next = min(d.rpNext, d.cutAt)
			return
		}
	}
}

// timerBeforeCheck orders a rate timer and a check that fall on one instant:
// the one that was set earlier comes first, as in an event queue.
func (a *dcqcn) timerBeforeCheck() bool { return a.p.RateTimer > a.p.CutInterval }

// cut is the reaction to congestion: SIGCOMM'15, section 3, equation 1, with
// the clamps and floors of NICs. It restarts rate timer, byte counter and stages.
func (d *dcqcnPoint) cut(at sim.Time, first bool) {
	p := &d.a.p
	if !first || !d.setFirstRate() {
		if p.Clamp || d.byteStage > 0 || p.ClampAfterTime && d.timeStage > 0 {
			d.rt = d.rc
		}
		keep := 1 - float64(d.alphaNow(at)*float64(p.CutGain))
		d.rc *= max(keep, float64(p.MinDecreaseFactor))
		if p.IntegerRates {
			d.rc = math.Trunc(d.rc)
		}
		d.rc = max(d.rc, min(float64(p.MinRate), d.line))
	}
	d.timeStage, d.byteStage, d.bytes = 0, 0, 0
	d.rpNext = at.Add(p.RateTimer)
}

// setFirstRate applies FirstCNPRate and reports whether there is one.
func (d *dcqcnPoint) setFirstRate() bool {
	r := d.a.p.FirstCNPRate
	if r == 0 {
		return false
	}
	d.rc = min(float64(r), d.line)
	d.rt = d.rc
	return true
}

// increase is one event of the rate timer or of the byte counter: fast
// recovery, additive or hyper increase by the stages reached (SIGCOMM'15,
// section 3, equations 3 and 4, figure 7). Once it no longer moves a rate whose target
// is the line rate, nothing will until the next cut, and the timer stops.
func (d *dcqcnPoint) increase(stage *uint32) {
	p := &d.a.p
	if p.StageTest == TestAfterCount {
		count(stage)
	}
	f := uint32(p.F)
	least := d.timeStage
	if p.HyperStage == HyperBoth {
		least = min(least, d.byteStage)
	}
	switch {
	case max(d.timeStage, d.byteStage) < f:
	case least > f:
		d.rt = min(d.rt+float64(d.a.hyperSteps(least-f)*float64(p.RHAI)), d.line)
	default:
		d.rt = min(d.rt+float64(p.RAI), d.line)
	}
	if p.StageTest == TestBeforeCount {
		count(stage)
	}
	was := d.rc
	if p.IntegerRates {
		d.rc = math.Trunc(d.rc/2) + math.Trunc(d.rt/2)
	} else {
		d.rc = (d.rc + d.rt) / 2
	}
	if d.rc == was && d.rt == d.line {
		d.rpNext = sim.Never
	}
}

// count increments a stage counter; it saturates.
func count(stage *uint32) {
	if *stage < math.MaxUint32 {
		*stage++
	}
}

// hyperSteps returns i, the multiple of R_HAI, at so many stages beyond F.
func (a *dcqcn) hyperSteps(beyond uint32) float64 {
	switch a.p.HyperStep {
	case HyperLinear:
		return float64(beyond)
	case HyperLinearPlusOne:
		return float64(beyond) + 1
	default:
		return 1
	}
}

// Observe reports the current rate, the target rate and alpha.
func (d *dcqcnPoint) Observe(now sim.Time, f func(name string, value float64)) {
	if now >= d.next {
		d.advance(now)
	}
	f("rate", d.rc)
	f("target", d.rt)
	f("alpha", d.alphaNow(now))
}
