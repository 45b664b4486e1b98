package fluid

import "math"

// span is a part of a cycle in which nothing happens, unless a cut ends it.
type span struct {
	length   float64 // s
	hazard   float64 // 0 while no cut can come
	begin    float64 // P(S > age at its beginning)
	add      float64 // to the target at its beginning, bit/s
	increase bool    // R_C moves half way to the target at its beginning
	tick     bool    // alpha decays once at its beginning
	clamps   bool    // a cut in it sets the target

	rate  float64 // mean R_C in it, bit/s
	gap   float64 // mean R_T - R_C
	alpha float64 // mean alpha at its beginning
}

// rest is the state of flows on average over many cycles, at a hazard. At the
// right hazard its drift is 0.
type rest struct {
	m      *Cycle
	hazard float64 // marks of a flow per second
	cuts   float64 // of a flow per second
	decay  float64 // of alpha between ticks, per second
	spans  []span
	mu, nu float64 // a cut takes CutGain (mu alpha + nu) of the rate
	checks bool    // cuts come at checks alone: in spans of narrow length with the marks of a period

	drift   float64 // of R_C per cycle, bit/s
	cut     float64 // mean D, bit/s
	spread  float64 // root of the mean square of a cycle's increases, bit/s
	highest float64 // R_T above the fair share where one cycle in a hundred gets, bit/s
}

const (
	leastTail = 1e-8 // cycles that are longer are as good as none
	mostSpans = 8000 // of a cycle, about
	rare      = 0.01 // cycles whose targets may not matter
	// coarse is how many marks may come per tick of alpha, or per check, before
	// these are taken one by one; below it a steady decay, and a wait of half a
	// period, are as good within 1 %.
	coarse = 0.02
	narrow = 1e-3 // of a period, the length of a check
)

// at returns the state at a hazard h.
func at(m *Cycle, h float64) *rest {
	r := &rest{m: m, hazard: h, mu: 1, checks: m.Polled && h*m.CutInterval.Seconds() > coarse}
	ticks := !m.PerWindow && h*m.AlphaTimer.Seconds() > coarse
	if !ticks {
		r.decay = -math.Log1p(-m.G) / m.AlphaTimer.Seconds()
	}
	r.divide(ticks)
	r.settleAlpha()
	r.settleRates()
	return r
}

// divide makes the spans of a cycle: between increases, ticks of alpha, and the
// end of the time in which no cut can come.
func (r *rest) divide(ticks bool) {
	m, h := r.m, r.hazard
	never := math.Inf(1)
	dead := m.dead()
	end := dead + math.Log(1/leastTail)/h
	timer, perTimer := m.RateTimer.Seconds(), m.RateTimer.Seconds()
	bytes, perBytes := never, never
	if m.ByteCounter > 0 {
		perBytes = 8 * float64(m.ByteCounter) / m.share()
		bytes = perBytes
	}
	tick, perTick := never, never
	if ticks {
		perTick = m.AlphaTimer.Seconds()
		tick = perTick
	}
	var stage stages
	s := span{begin: 1, clamps: m.Clamp == ClampAlways}
	age, wait, period, number := 0.0, dead, m.CutInterval.Seconds(), 1.0
	switch {
	case r.checks:
		wait = period
	case dead == 0:
		s.hazard, wait = h, never
	}
	mean := 0.0
	for age < end && len(r.spans) < 4*mostSpans {
		next := min(timer, bytes, tick, wait, end)
		s.length = next - age
		r.spans = append(r.spans, s)
		mean += s.begin * hold(s.hazard, s.length)
		s.begin *= math.Exp(-s.hazard * s.length)
		s.increase, s.tick, s.add = false, false, 0
		switch next {
		case timer:
			s.increase, s.add = true, stage.increase(m, &stage.timer)
			timer += perTimer
		case bytes:
			s.increase, s.add = true, stage.increase(m, &stage.bytes)
			bytes += perBytes
		case tick:
			s.tick = true
			tick += perTick
		case wait:
			switch {
			case !r.checks:
				s.hazard, wait = h, never
			case s.hazard == 0:
				s.hazard, wait = h/narrow, (number+narrow)*period
				number++
			default:
				s.hazard, wait = 0, number*period
			}
		}
		s.clamps = m.Clamp == ClampAlways || stage.bytes > 0 || m.Clamp == ClampAfterAny && stage.timer > 0
		age = next
	}
	r.cuts = 1 / mean
}

// hold is the mean time that a span of a length is stayed in at a hazard.
func hold(h, length float64) float64 {
	if h*length < 1e-12 {
		return length
	}
	return -math.Expm1(-h*length) / h
}

// stages count increases since the last cut. SIGCOMM'15, section 3, figure 7.
type stages struct{ timer, bytes int }

// increase counts one and returns what it adds to the target in bit/s.
func (s *stages) increase(m *Cycle, which *int) (add float64) {
	if m.CountFirst {
		*which++
	}
	least := min(s.timer, s.bytes)
	if m.HyperTimer {
		least = s.timer
	}
	switch {
	case max(s.timer, s.bytes) < m.F:
	case least > m.F && m.Hyper != nil:
		add = m.Hyper(least-m.F) * float64(m.RHAI)
	default:
		add = float64(m.RAI)
	}
	if !m.CountFirst {
		*which++
	}
	return add
}

// settleAlpha solves for alpha after a cut: what is left of it at the next one
// and what that adds.
func (r *rest) settleAlpha() {
	m := r.m
	alpha, left := 1.0, 0.0
	for i := range r.spans {
		s := &r.spans[i]
		if s.tick {
			alpha *= 1 - m.G
		}
		s.alpha = alpha
		left += s.begin * alpha * s.hazard * hold(s.hazard+r.decay, s.length)
		alpha *= math.Exp(-r.decay * s.length)
	}
	raise := m.G
	if !r.m.alike() {
		raise = min(1, m.G*m.windows(r.hazard)/r.cuts)
	}
	first := raise / (1 - left)
	if !m.PerWindow {
		first = raise / (1 - (1-m.G)*left)
	}
	for i := range r.spans {
		r.spans[i].alpha *= first
	}
	switch {
	case m.Polled && m.PerWindow:
		r.nu = raise // the window has ended when the check comes
	case !m.PerWindow && (m.Polled || m.AlphaFirst):
		r.mu, r.nu = 1-m.G, m.G
	}
}

// settleRates solves for rate and gap after a cut: the gap is the same one cycle
// later, the mean rate is the fair share. Rates and gaps are linear in the gap
// after a cut, g: gap a g + b, rate above the first A g + B.
func (r *rest) settleRates() {
	gain := r.m.CutGain
	var a, b, upA, upB float64
	var meanA, meanB float64               // of the rate above the first, over time
	var cutA, cutB, cutR float64           // of what a cut takes
	var leftA, leftB, riseA, riseB float64 // of the gap that stays, of the increases
	a = 1
	for i := range r.spans {
		s := &r.spans[i]
		if s.increase {
			a, b = a/2, (b+s.add)/2
			upA, upB = upA+a, upB+b
		}
		s.gap, s.rate = b, upB // completed below
		stay := s.begin * hold(s.hazard, s.length)
		ends := s.hazard * stay
		part := gain * (r.mu*s.alpha*s.begin*s.hazard*hold(s.hazard+r.decay, s.length) + r.nu*ends)
		meanA, meanB = meanA+stay*upA*r.cuts, meanB+stay*upB*r.cuts
		cutA, cutB, cutR = cutA+part*upA, cutB+part*upB, cutR+part
		riseA, riseB = riseA+ends*upA, riseB+ends*upB
		if !s.clamps {
			leftA, leftB = leftA+ends*a, leftB+ends*b
		}
	}
	// rate after a cut = share - meanA g - meanB; g = left + cut at that rate.
	base := r.m.share() - meanB
	g := (leftB + cutB + cutR*base) / (1 - leftA - cutA + cutR*meanA)
	first := base - meanA*g
	r.cut = cutA*g + cutB + cutR*first
	r.drift = riseA*g + riseB - r.cut
	a, upA = 1, 0
	square := 0.0
	for i := range r.spans {
		s := &r.spans[i]
		if s.increase {
			a /= 2
			upA += a
		}
		up := upA*g + s.rate
		square += s.hazard * s.begin * hold(s.hazard, s.length) * up * up
		s.gap += a * g
		s.rate = first + up
		if s.begin >= rare {
			r.highest = max(r.highest, s.rate+s.gap-r.m.share())
		}
	}
	r.spread = math.Sqrt(square)
}

// over returns a mean over time of what a span holds.
func (r *rest) over(f func(s *span) float64) (sum float64) {
	for i := range r.spans {
		sum += r.cuts * f(&r.spans[i])
	}
	return sum
}

func (r *rest) meanAlpha() float64 {
	return r.over(func(s *span) float64 { return s.begin * s.alpha * hold(s.hazard+r.decay, s.length) })
}

func (r *rest) meanGap() float64 {
	return r.over(func(s *span) float64 { return s.begin * s.gap * hold(s.hazard, s.length) })
}

// notified is how often per second a flow is told of marks.
func (r *rest) notified() float64 { return r.hazard / (1 + r.hazard*r.m.CNPInterval.Seconds()) }
