package analysis

import (
	"rdmasim/fabric/capture"
	"rdmasim/sim"
)

// request follows a packet of a requester at an interface.
func (a *Analyzer) request(s *stream, v *view, f *capture.Frame, damaged bool) {
	info := f.Info()
	p := packetInfo{n: 1, verb: info.Verb, place: info.Place, ext: info.Ext &^ (capture.ExtRETH &^ f.Have), payload: f.Payload, now: a.now}
	if p.ext&capture.ExtRETH != 0 {
		p.length = uint64(f.Ext.RETH.Length)
	}
	if info.Place&capture.Last == 0 && f.Payload > 0 {
		s.learnMTU(f.Payload)
	}
	slack := uint64(0)
	if info.Verb == capture.VerbRead {
		p.n, slack = s.readNumbers(&p)
	}
	first := info.Place&capture.First != 0
	if !v.requests.begun && len(a.pairs) > 0 {
		a.begin(s, v, f.BTH.PSN)
	}
	was := v.requests.next
	number, arrived, missing := v.requests.take(f.BTH.PSN, p.n, first, a.now)
	p.number = number
	if arrived == inOrder && was > 0 && number > was {
		v.got.stretch(was, number)
		if v == s.upstream() {
			s.stretch(was, number)
		}
	}
	v.requests.slack = max(slack, v.requests.slack)
	if !s.requests {
		s.requests = true
		k := pairKey{s.key.src, s.key.dst}
		a.byPair[k] = append(a.byPair[k], s)
	}
	a.countRequest(s, v, f, &p, arrived, missing, damaged)
	if v == s.upstream() {
		a.sent(s, v, f, &p, arrived, missing)
	}
}

// countRequest counts a packet at an interface, and hands it to the model of
// the responder.
func (a *Analyzer) countRequest(s *stream, v *view, f *capture.Frame, p *packetInfo, arrived arrival, missing uint64, damaged bool) {
	c := &v.counts
	c.data++
	c.payload += uint64(p.payload)
	switch arrived {
	case ahead:
		c.gaps++
		c.missing += missing
		if v == s.upstream() {
			a.event(evGap, s, float64(missing), "packets missing before PSN "+psnText(f.BTH.PSN))
		}
	case late:
		c.again++
		c.late++
	case duplicate:
		c.again++
		c.duplicates++
	case restarted:
		v.got.restart(p.number)
	}
	if damaged {
		c.damaged++
		return
	}
	if f.ECT() {
		c.ect++
	}
	if f.CE() {
		c.ce++
		v.got.marks++
	}
	payload := p.payload
	if p.verb == capture.VerbRead {
		payload = 0
	}
	if s.transport == capture.TransportRC || s.transport == capture.TransportXRC || s.transport == capture.TransportRD {
		v.got.take(p.number, p.n, payload, p.place&capture.First != 0)
	} else {
		v.got.delivered++
		v.got.payload += uint64(payload)
	}
}

// learnMTU takes the payload of a packet that is not the last of its message.
func (s *stream) learnMTU(payload int) {
	s.mtu = payload
	if s.reverse != nil && s.reverse.mtu == 0 {
		s.reverse.mtu = payload
	}
}

// readNumbers returns how many numbers a READ takes: one for every packet of
// its response. Where the path MTU is not known yet it may be as many more as
// the smallest one would need.
func (s *stream) readNumbers(p *packetInfo) (n, slack uint64) {
	length := p.length
	if p.ext&capture.ExtRETH == 0 { // not captured: nobody knows
		return 1, unknownRead
	}
	packets := func(mtu uint64) uint64 { return max((length+mtu-1)/mtu, 1) }
	if s.mtu > 0 {
		return packets(uint64(s.mtu)), 0
	}
	if s.reverse != nil && s.reverse.mtu > 0 {
		return packets(uint64(s.reverse.mtu)), 0
	}
	n = packets(4096)
	return n, packets(256) - n
}

// unknownRead is how many numbers a READ may take whose length is not known.
const unknownRead = jump / 2

// stretch gives the youngest request, a READ of which that was not known, the
// numbers up to the next one, which tell the path MTU.
func (s *stream) stretch(was, next uint64) {
	if len(s.out.list) == 0 {
		return
	}
	m := &s.out.list[len(s.out.list)-1]
	if m.verb != capture.VerbRead || m.last+1 != was {
		return
	}
	m.last = next - 1
	if !m.told || s.mtu > 0 {
		return
	}
	n := next - m.first
	for mtu := uint64(256); mtu <= 4096; mtu *= 2 {
		if (m.length+mtu-1)/mtu == n {
			s.mtu = int(mtu)
		}
	}
}

// reach gives the youngest request, a READ of which the length was not
// captured, the number of a response.
func (s *stream) reach(number uint64) {
	q := &s.upstream().requests
	was := q.next
	if len(s.out.list) == 0 || number < was || number >= was+q.slack {
		return
	}
	m := &s.out.list[len(s.out.list)-1]
	if m.verb != capture.VerbRead || m.told || m.last+1 != was {
		return
	}
	m.last = number
	for i := range s.views {
		v := &s.views[i]
		if more := number + 1 - was; v.requests.next == was && more <= v.requests.slack {
			v.got.stretch(was, number+1)
			v.requests.next, v.requests.slack = number+1, v.requests.slack-more
		}
	}
}

// learnRead corrects the numbers of the youngest READ when its response tells
// the path MTU.
func (s *stream) learnRead(mtu int) {
	if s.mtu > 0 || len(s.out.list) == 0 {
		return
	}
	s.mtu = mtu
	m := &s.out.list[len(s.out.list)-1]
	if m.verb != capture.VerbRead || m.length == 0 {
		return
	}
	was := m.last
	m.last = m.first + (m.length+uint64(mtu)-1)/uint64(mtu) - 1
	for i := range s.views {
		q := &s.views[i].requests
		if q.next == was+1 && m.last > was {
			q.next, q.slack = m.last+1, 0
		}
		if g := &s.views[i].got; g.begun && g.next == was+1 && m.last > was {
			g.next = m.last + 1
		}
	}
}

// sent follows a packet nearest to its sender: messages, retransmissions, and
// when it asks for an ACK.
func (a *Analyzer) sent(s *stream, v *view, f *capture.Frame, p *packetInfo, arrived arrival, missing uint64) {
	if p.place == capture.Only && s.transport == capture.TransportUD {
		p.ext &^= capture.ExtRETH
	}
	if arrived == restarted {
		a.abandon(s)
		s.una = 0
		s.fate = fate{}
		s.running = false
	}
	had := s.out.added
	defer func() { a.waiting += s.out.added - had }()
	switch {
	case arrived.again():
		a.sentAgain(s, v, p, arrived)
	default:
		if s.running {
			s.running = false
		}
		if n := len(s.out.list); n >= maxMessages || a.waiting >= maxWaiting && n > 0 {
			a.finishMessage(s, 0, statusUnfinished)
		}
		hole := p.number
		if arrived == ahead {
			hole = p.number - missing
		}
		m := s.out.forward(p, hole)
		s.verbs[m.verb] += uint64(bit(p.place&capture.First != 0))
	}
	if !arrived.again() && p.verb != capture.VerbRead {
		a.progress(s, p.payload)
	}
	s.lastSent = a.now
	a.stamp(s, p.number+p.n-1, arrived.again(), f.BTH.AckReq || p.place&capture.Last != 0)
	if s.transport == capture.TransportUC || s.transport == capture.TransportUD {
		a.finishUnacknowledged(s, p)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// finishUnacknowledged completes messages of services without ACKs: they are
// complete when their last packet has been sent.
func (a *Analyzer) finishUnacknowledged(s *stream, p *packetInfo) {
	for len(s.out.list) > 0 {
		m := &s.out.list[0]
		if !m.complete && m.last >= p.number {
			return
		}
		status := statusSuccess
		if !m.complete {
			status = statusUnfinished
		}
		a.finishMessage(s, 0, status)
	}
}

// sentAgain follows a retransmission.
func (a *Analyzer) sentAgain(s *stream, v *view, p *packetInfo, arrived arrival) {
	if arrived == late {
		s.out.backward(p)
	}
	m := s.out.find(p.number)
	if m != nil {
		m.retx++
	}
	// A run goes on although some of it was lost on the way here.
	begins := !s.running || p.number < s.lastAgain
	s.lastAgain = p.number + p.n
	if !begins {
		return
	}
	a.checkResume(s, v, p)
	c := s.why(p.number, a.now)
	s.causes[c]++
	if c == causeTimeout {
		a.event(evTimeout, s, float64(p.number&capture.Mask24), "inferred: sent again after silence, and no NAK asked for it")
	}
	s.running = true
	s.restarts++
	if p.number <= s.fate.number {
		s.fate.kind = causeUnknown
	}
}

// silence is how long a requester that was not asked to send again must have
// been quiet for the reason to be its local ACK timer. The shortest timers of
// adapters are far above the longest round trip of a data centre.
const silence = sim.Millisecond

// why finds the reason of a retransmission that begins with a number.
func (s *stream) why(number uint64, now sim.Time) cause {
	quiet := now.Sub(max(s.lastSent, s.fate.at))
	switch {
	case s.fate.kind == causeRNR && number == s.fate.number:
		return causeRNR
	case s.fate.kind == causeNak && number >= s.fate.number && quiet < silence:
		return causeNak
	case s.fate.kind == causeNak && number == s.fate.number && s.restarts == 0 && quiet < 10*silence:
		return causeNak
	case s.reverse == nil && quiet < silence:
		return causeUnknown
	case quiet >= s.quietest():
		return causeTimeout
	}
	return causeUnknown
}

// quietest is the silence that tells a timeout of this requester: longer than
// its round trips.
func (s *stream) quietest() sim.Duration {
	if s.rtt.count == 0 {
		return silence
	}
	return min(4*s.rtt.max, silence)
}
