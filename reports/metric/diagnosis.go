package metric

import (
	"slices"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// FileDiagnosis is the machine form of the diagnosis in a run directory.
const FileDiagnosis = "diagnosis.json"

// Cause is why the time of a message passed.
type Cause int

// The causes, in the order in which they are drawn.
const (
	CauseLine       Cause = iota // what the message takes alone on its path
	CauseHost                    // the sender: its own earlier messages, its other queue pairs, its fixed rate
	CauseWindow                  // the window of the sender's NIC
	CauseCongestion              // congestion of a link without a way around it
	CauseCollision               // congestion of one of several equal-cost links while others had room
	CausePaused                  // PFC pauses for a congestion on its own way
	CauseVictim                  // PFC pauses for a root that it does not cross (head-of-line blocking)
	CauseReceiver                // the receiver took packets too slowly
	CauseResend                  // packets sent again after a loss
	CauseTimeout                 // waiting for a local ACK timer
	CauseRNR                     // the receiver had no receive posted
	CauseFault                   // a storming NIC, a stuck switch or a link that a fault slows down on its way
	CauseUnknown                 // nothing in the run tells
	NumCauses
)

var causeKeys = [NumCauses]string{"line_rate", "host", "window", "congestion", "collision", "paused", "victim", "receiver", "retransmission", "timeout", "rnr", "fault", "unknown"}

var causeWords = [NumCauses]string{"line rate", "the sender itself", "the sender's window", "congestion", "a hash collision", "pauses on the way",
	"head-of-line blocking", "a slow receiver", "retransmission after loss", "timeouts", "receiver not ready (RNR)", "a fault", "unknown"}

// Key returns the key of metrics.json, such as line_rate.
func (c Cause) Key() string { return causeKeys[c] }

// String returns the cause in words.
func (c Cause) String() string { return causeWords[c] }

// Shares is how much of some time each cause took. They add up to that time.
type Shares [NumCauses]sim.Duration

// Sum returns the whole time.
func (s *Shares) Sum() (sum sim.Duration) {
	for _, v := range s {
		sum += v
	}
	return sum
}

// Of returns the share of a cause, from 0 to 1.
func (s *Shares) Of(c Cause) float64 {
	sum := s.Sum()
	if sum <= 0 {
		return 0
	}
	return float64(s[c]) / float64(sum)
}

// Main returns the cause other than line rate that took most of the time; it is
// line rate where no other took as much as a twentieth.
func (s *Shares) Main() Cause {
	best := CauseLine
	for c := CauseHost; c < NumCauses; c++ {
		if s[c] > 0 && s.Of(c) >= mainShare && (best == CauseLine || s[c] > s[best]) {
			best = c
		}
	}
	return best
}

// mainShare is what a cause must have taken of the time to be named.
const mainShare = 0.05

// FlowDiagnosis says where the time of one message went, and how the run tells.
type FlowDiagnosis struct {
	Flow     trace.Flow
	Elapsed  sim.Duration // to completion, or to the end of the run
	Shares   Shares
	Evidence []string // one sentence per cause that took a twentieth of the time or more
}

// Diagnosis is where the time of the messages of a run went.
type Diagnosis struct {
	Measured int // messages whose time was accounted for
	Total    Shares
	Main     [NumCauses]int    // messages by their main cause
	Worst    []FlowDiagnosis   // those that lost most time, the worst first
	Evidence [NumCauses]string // of the run, from the message that lost most time to the cause
	most     [NumCauses]sim.Duration
}

// worstKept is how many messages a Diagnosis lists.
const worstKept = 20

// Diagnose computes where time went, message by message; each may be nil.
func Diagnose(run *trace.Run, each func(*FlowDiagnosis) bool) (*Diagnosis, error) {
	f, err := trackPauses(run)
	if err != nil {
		return nil, err
	}
	f.trees()
	return f.diagnose(run, each)
}

func (f *pauseTrack) diagnose(run *trace.Run, each func(*FlowDiagnosis) bool) (*Diagnosis, error) {
	x, err := newExaminer(run, f)
	if err != nil {
		return nil, err
	}
	d := &Diagnosis{}
	for m, err := range passages(run) {
		if err != nil {
			return nil, err
		}
		if !m.delays.Measured || m.elapsed() <= 0 {
			continue
		}
		one := x.examine(m)
		d.add(&one, x, m)
		if each != nil && !each(&one) {
			break
		}
	}
	return d, nil
}

// add takes a message into the totals.
func (d *Diagnosis) add(o *FlowDiagnosis, x *examiner, m *passage) {
	d.Measured++
	for c := range o.Shares {
		d.Total[c] += o.Shares[c]
		if o.Shares[c] > d.most[c] {
			d.most[c] = o.Shares[c]
			d.Evidence[c] = x.evidence(m, Cause(c), o.Shares[c])
		}
	}
	d.Main[o.Shares.Main()]++
	if n := len(d.Worst); n == worstKept && o.lost() <= d.Worst[n-1].lost() {
		return
	}
	same := slices.IndexFunc(d.Worst, func(w FlowDiagnosis) bool { return w.Flow.Src == o.Flow.Src && w.Flow.QP == o.Flow.QP })
	if same >= 0 {
		if o.lost() <= d.Worst[same].lost() {
			return
		}
		d.Worst = slices.Delete(d.Worst, same, same+1)
	}
	i := slices.IndexFunc(d.Worst, func(w FlowDiagnosis) bool { return w.lost() < o.lost() })
	if i < 0 {
		i = len(d.Worst)
	}
	kept := *o
	kept.Evidence = x.allEvidence(m, &o.Shares)
	d.Worst = slices.Insert(d.Worst, i, kept)
	d.Worst = d.Worst[:min(len(d.Worst), worstKept)]
}

// lost returns the time beyond what the message takes alone.
func (o *FlowDiagnosis) lost() sim.Duration { return o.Elapsed - o.Shares[CauseLine] }
