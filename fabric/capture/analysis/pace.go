package analysis

import "rdmasim/sim"

// pace is the rhythm of congestion notification packets.
type pace struct {
	count     uint64
	last      sim.Time
	intervals spread
}

func (p *pace) add(now sim.Time) {
	if p.count > 0 {
		p.intervals.add(now.Sub(p.last))
	}
	p.count++
	p.last = now
}

// cnp follows a congestion notification packet.
func (a *Analyzer) cnpPacket(s *stream, v *view, damaged bool) {
	if damaged {
		return
	}
	v.answers.cnps++
	if v != s.upstream() {
		return
	}
	a.total.Answers.CNPs++
	a.checkCNP(s)
	if s.cnp.count > 0 {
		a.cnpGaps.add(a.now.Sub(s.cnp.last))
	}
	s.cnp.add(a.now)
	s.from.cnp.add(a.now)
	a.paceTo(s.from, s.key.dst).add(a.now)
	if s.from.number < maxSeries {
		s.from.cnps.add(&a.series, a.now, 1)
	}
	a.event(evCNP, s, 0, "")
}
