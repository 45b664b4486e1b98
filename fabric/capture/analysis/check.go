package analysis

import (
	"fmt"
	"slices"

	"rdmasim/fabric/capture"
	"rdmasim/sim"
)

// Check is one rule of transport, how often it was put to the test and how
// often it did not hold.
type Check struct {
	Name       string   `json:"name"`
	Doc        string   `json:"doc"`
	Tested     uint64   `json:"tested"`
	Violations uint64   `json:"violations"`
	Examples   []string `json:"examples,omitempty"`
}

// Rules.
const (
	ruleResume = iota
	ruleNakNames
	ruleNakOnce
	ruleNakGiven
	ruleAck
	ruleMSN
	ruleCNPReason
	ruleCNPInterval
	ruleICRC
	rules
)

// newChecks are the rules. Source of the first six: InfiniBand Architecture,
// volume 1, section 9.7; of the CNP rules: annex A17 and DCQCN (SIGCOMM'15);
// the idea of judging adapters by a mirror of their traffic: Lumina (SIGCOMM'23).
func newChecks() [rules]Check {
	return [rules]Check{
		ruleResume:      {Name: "go-back-N sender", Doc: "after a NAK the requester goes on from the PSN that the NAK asks for"},
		ruleNakNames:    {Name: "NAK names what is missing", Doc: "a NAK asks for the first PSN that the responder has not got"},
		ruleNakOnce:     {Name: "one NAK per episode", Doc: "no second NAK for a PSN before the requester has sent again"},
		ruleNakGiven:    {Name: "a gap is answered", Doc: "when PSNs are missing the responder sends a NAK"},
		ruleAck:         {Name: "ACK of what came", Doc: "an ACK names no PSN that has not arrived in order"},
		ruleMSN:         {Name: "MSN counts up", Doc: "the message sequence number never goes back"},
		ruleCNPReason:   {Name: "CNP has a reason", Doc: "no more CNPs are sent than packets marked CE have come"},
		ruleCNPInterval: {Name: "CNP interval", Doc: "two CNPs of a flow are at least the given interval apart (--cnp-interval)"},
		ruleICRC:        {Name: "ICRC", Doc: "the invariant CRC of a packet holds"},
	}
}

// violated notes that a rule did not hold.
func (a *Analyzer) violated(rule int, s *stream, format string, args ...any) {
	c := &a.checks[rule]
	c.Violations++
	text := fmt.Sprintf(format, args...)
	if len(c.Examples) < maxExamples {
		c.Examples = append(c.Examples, a.where(s, text))
	}
	a.event(evCheck, s, 0, c.Name+": "+text)
}

// where says when and between whom something was seen.
func (a *Analyzer) where(s *stream, text string) string {
	who := ""
	if s != nil {
		who = fmt.Sprintf("%s to %s QP 0x%06x ", s.from.name, s.to.name, s.key.qp)
	}
	return fmt.Sprintf("%s: %s%s (packet %d)", a.now.Sub(a.start), who, text, a.total.Packets)
}

// checkResume judges where a retransmission begins.
func (a *Analyzer) checkResume(s *stream, v *view, p *packetInfo) {
	if s.reverse != nil {
		s.reverse.answers.nakOpen = false
	}
	if s.fate.kind != causeNak || s.why(p.number, a.now) != causeNak {
		return
	}
	if p.number > s.fate.number && v.requests.missing(s.fate.number) {
		return // what was asked for may have been lost again before it came here
	}
	a.checks[ruleResume].Tested++
	if p.number > s.fate.number {
		a.violated(ruleResume, s, "goes on from PSN %d after a NAK for PSN %d", p.number&capture.Mask24, s.fate.number&capture.Mask24)
	}
}

// checkNak judges a NAK for a sequence error where it leaves the responder.
func (a *Analyzer) checkNak(s, r *stream, f *capture.Frame, number uint64) {
	st := &s.answers
	a.checks[ruleNakOnce].Tested++
	if st.nakOpen && st.lastNak == number {
		a.violated(ruleNakOnce, s, "NAK for PSN %d again", f.BTH.PSN)
	}
	st.nakOpen, st.lastNak = true, number
	v := r.downstream()
	if v.iface != s.upstream().iface && len(r.views) > 1 || !v.got.begun {
		return // the packets and the NAK were not seen at one place
	}
	g := &v.got
	if !g.gap && len(g.owed) == 0 {
		return // the gap arose between here and the responder
	}
	a.checks[ruleNakNames].Tested++
	if number != g.next && number != g.message && !slices.Contains(g.owed, number) {
		a.violated(ruleNakNames, s, "NAK for PSN %d where PSN %d is missing", f.BTH.PSN, g.next&capture.Mask24)
	}
}

// checkAck judges an ACK where it leaves the responder.
func (a *Analyzer) checkAck(s, r *stream, f *capture.Frame, number uint64) {
	v := r.downstream()
	g := &v.got
	if !g.begun || v.counts.data == 0 || r.upstream().requests.slack > 0 {
		return
	}
	a.checks[ruleAck].Tested++
	if number >= g.next && (len(r.views) == 1 || v.iface == s.upstream().iface) {
		if v.requests.missing(g.next) || number >= v.requests.next {
			a.violated(ruleAck, s, "ACK of PSN %d where PSN %d was not seen", f.BTH.PSN, g.next&capture.Mask24)
		}
		// The responder has it, whatever was captured.
		g.next = min(number+1, v.requests.next)
		g.gap = false
	}
}

// checkMSN judges the order of message sequence numbers.
func (a *Analyzer) checkMSN(s *stream, f *capture.Frame) {
	if f.Info().Verb != capture.VerbAck {
		return // responses to READs are made before they are sent
	}
	st := &s.answers
	msn := f.Ext.AETH.MSN
	if st.msnKnown {
		a.checks[ruleMSN].Tested++
		d := capture.PSNDelta(msn, st.msn)
		if d < 0 && d > -jump {
			a.violated(ruleMSN, s, "MSN %d after %d", msn, st.msn)
		}
		if d < 0 {
			return
		}
	}
	st.msn, st.msnKnown = msn, true
}

// bareCNPs are the CNPs of a stream that could not be judged when they came.
type bareCNPs struct {
	tested, without uint64
	first           string // the first one without a marked packet
}

// checkCNP judges a CNP where it leaves the notification point.
func (a *Analyzer) checkCNP(s *stream) {
	a.checkReason(s)
	if a.opt.CNPInterval > 0 && s.cnp.count > 0 {
		a.checks[ruleCNPInterval].Tested++
		if d := a.now.Sub(s.cnp.last); d < a.opt.CNPInterval-stampError {
			a.violated(ruleCNPInterval, s, "CNP %v after the last one", d)
		}
	}
}

// checkReason judges whether marked packets were seen for a CNP. Where the
// capture is in front of the switch that marks, as at the sender's own port, no
// mark can be seen: CNPs then wait for one to show the opposite.
func (a *Analyzer) checkReason(s *stream) {
	r := s.reverse
	if r == nil || len(r.views) == 0 || r.views[0].counts.ect == 0 {
		return
	}
	v := r.downstream()
	if v.iface != s.upstream().iface && len(r.views) > 1 {
		return
	}
	without := v.got.marks == 0
	if !without {
		v.got.marks-- // the host may be behind what has arrived
	}
	const text = "more CNPs than marked packets"
	if r.seesMarks(v) {
		a.checks[ruleCNPReason].Tested++
		if without {
			a.violated(ruleCNPReason, s, text)
		}
		return
	}
	s.bare.tested++
	if without {
		if s.bare.without++; s.bare.first == "" {
			s.bare.first = a.where(s, text)
		}
	}
}

// seesMarks reports whether a place shows which packets of a stream are marked.
func (s *stream) seesMarks(v *view) bool { return s.from.marked == v.iface+1 || v.arrives }

// checkBareCNPs judges, at the end, the CNPs that have waited.
func (a *Analyzer) checkBareCNPs() {
	c := &a.checks[ruleCNPReason]
	for _, s := range a.streams {
		b := &s.bare
		if b.tested == 0 {
			continue
		}
		if !s.reverse.seesMarks(s.reverse.downstream()) {
			a.bareCNPs += b.without
			continue
		}
		c.Tested += b.tested
		c.Violations += b.without
		if b.without > 0 && len(c.Examples) < maxExamples {
			c.Examples = append(c.Examples, b.first)
		}
	}
}

// stampError is what two time stamps of a nanosecond each may be wrong together.
const stampError = 2 * sim.Nanosecond

// checkGaps judges, at the end, whether gaps were answered.
func (a *Analyzer) checkGaps() {
	for _, s := range a.streams {
		if s.transport != capture.TransportRC || s.reverse == nil || len(s.views) == 0 {
			continue
		}
		v := s.downstream()
		naks := s.reverse.answers.sequenceNaks
		a.checks[ruleNakGiven].Tested += naks + v.got.silent
		if v.got.silent > 0 {
			a.checks[ruleNakGiven].Violations += v.got.silent
			if len(a.checks[ruleNakGiven].Examples) < maxExamples {
				a.checks[ruleNakGiven].Examples = append(a.checks[ruleNakGiven].Examples,
					fmt.Sprintf("%s to %s QP 0x%06x: %d gaps without a NAK", s.from.name, s.to.name, s.key.qp, v.got.silent))
			}
		}
	}
}
