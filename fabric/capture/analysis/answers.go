package analysis

import (
	"fmt"
	"strconv"

	"rdmasim/fabric/capture"
	"rdmasim/sim"
)

// answer follows a packet of a responder: ACK, NAK, READ response or ATOMIC ACK.
func (a *Analyzer) answer(s *stream, v *view, f *capture.Frame, damaged bool) {
	if damaged {
		return
	}
	if f.Info().Verb == capture.VerbAck && f.Have&capture.ExtAETH == 0 {
		a.total.AnswersCut++ // an ACK or a NAK, nobody knows
		return
	}
	s.countAnswer(v, f)
	if v == s.upstream() {
		a.total.Answers.count(f)
	}
	r := s.reverse
	if r == nil {
		if r = a.pair(s, f); r == nil {
			a.unpaired++
			return
		}
	}
	if !r.upstream().requests.begun {
		a.unpaired++
		return
	}
	number := expand(r.upstream().requests.next, f.BTH.PSN)
	if f.Info().Verb == capture.VerbReadResponse {
		r.reach(number)
	}
	if y := f.Ext.AETH.Syndrome; !y.IsAck() {
		r.asked = a.total.Packets
	}
	if v == s.upstream() {
		a.answered(s, r, f, number)
	}
	if s.atReceiver(v.iface) {
		a.heard(s, r, f, number)
	}
}

// count counts an answer.
func (t *AnswerTotal) count(f *capture.Frame) {
	y := f.Ext.AETH.Syndrome
	switch v := f.Info().Verb; {
	case v == capture.VerbReadResponse:
		t.Responses++
	case v == capture.VerbAtomicAck:
		t.AtomicAcks++
	case y.IsRNR():
		t.RNRs++
	case y == capture.NakSequence:
		t.Naks++
	case y.IsNak():
		t.OtherNaks++
	default:
		t.Acks++
	}
}

// countAnswer counts an answer at an interface.
func (s *stream) countAnswer(v *view, f *capture.Frame) {
	if f.Info().Verb == capture.VerbReadResponse {
		v.answers.readPackets++
		v.answers.readBytes += uint64(f.Payload)
		v.answers.ce += uint64(bit(f.CE()))
		v.answers.ect += uint64(bit(f.ECT()))
		return
	}
	switch y := f.Ext.AETH.Syndrome; {
	case y.IsRNR():
		v.answers.rnrs++
	case y.IsNak():
		v.answers.naks++
	default:
		v.answers.acks++
	}
}

// answered follows an answer where it leaves the responder. s carries it, r
// carries what it answers.
func (a *Analyzer) answered(s, r *stream, f *capture.Frame, number uint64) {
	st := &s.answers
	info := f.Info()
	switch info.Verb {
	case capture.VerbReadResponse:
		st.readPackets++
		st.readBytes += uint64(f.Payload)
		if info.Place == capture.First && f.Payload > 0 {
			r.learnRead(f.Payload)
			s.learnMTU(f.Payload)
		}
		if f.Have&capture.ExtAETH == 0 {
			return
		}
	case capture.VerbAtomicAck:
		st.atomicAcks++
	}
	a.checkMSN(s, f)
	y := f.Ext.AETH.Syndrome
	switch {
	case y.IsAck():
		if info.Verb == capture.VerbAck {
			st.acks++
		}
		a.checkAck(s, r, f, number)
		for i := range r.views {
			r.views[i].got.answered(number, false)
		}
	case y.IsRNR():
		st.rnrs++
		a.event(evRNR, s, float64(f.BTH.PSN), "timer code "+strconv.Itoa(int(y.Value()))+" ("+RNRDelay(y.Value()).String()+")")
		r.refused(number)
	case y.IsNak():
		st.codes[min(y.Value(), 7)]++
		if y != capture.NakSequence {
			st.otherNaks++
			a.event(evNak, s, float64(f.BTH.PSN), y.String())
			return
		}
		st.sequenceNaks++
		a.event(evNak, s, float64(f.BTH.PSN), "PSN sequence error")
		a.checkNak(s, r, f, number)
		r.refused(number)
	}
}

// refused tells the models of the responder that it asks for a number again,
// unless that was some time ago.
func (s *stream) refused(number uint64) {
	for i := range s.views {
		if g := &s.views[i].got; !g.answered(number, true) {
			g.refused(number, s.mtu)
		}
	}
}

// heard follows an answer where it reaches the requester.
func (a *Analyzer) heard(s, r *stream, f *capture.Frame, number uint64) {
	info := f.Info()
	y := f.Ext.AETH.Syndrome
	if info.Verb == capture.VerbReadResponse {
		a.heardRead(r, f, number)
		return
	}
	switch {
	case y.IsAck():
		a.acknowledged(r, number)
		a.completeTo(r, number)
	case y.IsRNR() || y == capture.NakSequence:
		kind := causeNak
		if y.IsRNR() {
			kind = causeRNR
		}
		r.fate = fate{kind, number, a.now}
		if number > 0 {
			a.completeTo(r, number-1)
		}
	case y.IsNak():
		if number > 0 {
			a.completeTo(r, number-1)
		}
		if len(r.out.list) > 0 {
			a.finishMessage(r, 0, nakStatus(y))
		}
	}
}

// heardRead follows a packet of a READ response that has reached the requester.
func (a *Analyzer) heardRead(r *stream, f *capture.Frame, number uint64) {
	m := r.out.find(number)
	if m == nil || m.verb != capture.VerbRead {
		return
	}
	if m.first > 0 {
		a.completeTo(r, m.first-1)
		if m = r.out.find(number); m == nil {
			return
		}
	}
	if number >= r.una {
		a.progress(r, f.Payload)
	}
	m.responses += uint64(f.Payload)
	r.una = max(r.una, number+1)
	if f.Info().Place&capture.Last == 0 {
		return
	}
	a.acknowledged(r, number)
	if number >= m.last || f.Info().Place == capture.Only {
		a.completeTo(r, m.last)
	}
}

// completeTo completes every message up to a number.
func (a *Analyzer) completeTo(r *stream, number uint64) {
	if number+1 > r.una {
		r.una = number + 1
	}
	for len(r.out.list) > 0 && r.out.list[0].last <= number {
		if !r.out.list[0].complete && len(r.out.list) == 1 {
			return // more of it is to come
		}
		a.finishMessage(r, 0, statusSuccess)
	}
}

// Statuses of messages in flows.csv, as libibverbs names them.
const (
	statusSuccess    = "IBV_WC_SUCCESS"
	statusUnfinished = "unfinished"
)

// nakStatus returns the status that a NAK gives the request that it is for.
func nakStatus(y capture.Syndrome) string {
	switch y {
	case capture.NakInvalidRequest:
		return "IBV_WC_REM_INV_REQ_ERR"
	case capture.NakRemoteAccess:
		return "IBV_WC_REM_ACCESS_ERR"
	case capture.NakRemoteOperation:
		return "IBV_WC_REM_OP_ERR"
	case capture.NakInvalidRD:
		return "IBV_WC_REM_INV_RD_REQ_ERR"
	}
	return "IBV_WC_GENERAL_ERR"
}

// rnrUnits are the RNR timers by code in units of 10 us.
// Source: InfiniBand Architecture, volume 1, table 45.
var rnrUnits = [32]int64{65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152}

// RNRDelay returns how long an RNR NAK with a timer code asks to wait.
func RNRDelay(code uint8) sim.Duration {
	return sim.Duration(rnrUnits[code&31]) * 10 * sim.Microsecond
}

func psnText(psn uint32) string { return fmt.Sprint(psn) }
