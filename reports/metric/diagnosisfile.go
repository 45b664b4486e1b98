package metric

import (
	"rdmasim/sim/trace"
)

// DiagnosisShares is where the time of all messages together went, as shares
// that add up to 1.
type DiagnosisShares struct {
	Cause      string   `json:"cause"` // the one that took most of the time beside line rate, in words
	Line       *float64 `json:"line_rate" doc:"share of the time of all messages that they would have taken alone"`
	Host       *float64 `json:"host" doc:"share that senders took: their own earlier messages, other queue pairs, a fixed rate"`
	Window     *float64 `json:"window" doc:"share that the window of NICs took"`
	Congestion *float64 `json:"congestion" doc:"share that congested links without a way around them took, queues and congestion control"`
	Collision  *float64 `json:"collision" doc:"share that congested links took while equal-cost links had room"`
	Paused     *float64 `json:"paused" doc:"share that pauses for a congestion on the way took"`
	Victim     *float64 `json:"victim" doc:"share that pauses for a root that messages do not cross took"`
	Receiver   *float64 `json:"receiver" doc:"share that slow receivers took"`
	Resend     *float64 `json:"retransmission" doc:"share that sending again after a loss took"`
	Timeout    *float64 `json:"timeout" doc:"share that waiting for local ACK timers took"`
	RNR        *float64 `json:"rnr" doc:"share that receivers took that were not ready"`
	Fault      *float64 `json:"fault" doc:"share that storming NICs and stuck switches on the way took"`
	Unknown    *float64 `json:"unknown" doc:"share that nothing in the run explains"`
}

// of returns the figure of a cause.
func (d *DiagnosisShares) of(c Cause) **float64 {
	return [NumCauses]**float64{&d.Line, &d.Host, &d.Window, &d.Congestion, &d.Collision, &d.Paused, &d.Victim, &d.Receiver, &d.Resend, &d.Timeout,
		&d.RNR, &d.Fault, &d.Unknown}[c]
}

// forensics computes what pauses and delays tell.
func (m *Metrics) forensics(run *trace.Run, complete bool) error {
	f, err := trackPauses(run)
	if err != nil {
		return err
	}
	p, err := f.report(run)
	if err != nil {
		return err
	}
	m.pauses = p
	if complete || len(p.Roots) > 0 {
		m.PFC.rootFigures(p)
	}
	d, err := f.diagnose(run, nil)
	if err != nil {
		return err
	}
	m.diagnosis = d
	if d.Measured == 0 {
		return nil
	}
	m.Diagnosis.Cause = d.Total.Main().String()
	for c := CauseLine; c < NumCauses; c++ {
		*m.Diagnosis.of(c) = number(d.Total.Of(c))
	}
	return nil
}

// rootFigures takes the main root into the figures.
func (p *PFC) rootFigures(all *Pauses) {
	victims := map[[2]any]bool{}
	for _, v := range all.Victims {
		victims[[2]any{v.Src, v.QP}] = true
	}
	count := func(n int) *int64 { v := int64(n); return &v }
	p.Depth, p.Breadth, p.Victims = count(0), count(0), count(len(victims))
	if len(all.Roots) == 0 {
		return
	}
	r := &all.Roots[0]
	p.Root, p.RootKind, p.Recover = r.Where, r.Kind, r.Recover
	p.Depth, p.Breadth = count(r.Depth), count(r.Breadth)
}

// DiagnosisFile is diagnosis.json. Shares are by the keys of causes.
type DiagnosisFile struct {
	Messages int                `json:"messages"`
	Cause    string             `json:"cause"`
	Shares   map[string]float64 `json:"shares"` // of the time of all messages; they add up to 1
	Evidence map[string]string  `json:"evidence"`
	Main     map[string]int     `json:"messages_by_main_cause"`
	Worst    []DiagnosedFlow    `json:"worst"`
}

// DiagnosedFlow is one message of diagnosis.json.
type DiagnosedFlow struct {
	ID       uint64             `json:"id"`
	Src      string             `json:"src"`
	Dst      string             `json:"dst"`
	QP       uint32             `json:"qp"`
	Bytes    int64              `json:"bytes"`
	Elapsed  float64            `json:"elapsed_s"`
	Ideal    float64            `json:"ideal_fct_s"`
	Status   string             `json:"status"`
	Cause    string             `json:"cause"`
	Shares   map[string]float64 `json:"shares"`
	Evidence []string           `json:"evidence"`
}

func shareMap(s *Shares) map[string]float64 {
	out := map[string]float64{}
	for c := CauseLine; c < NumCauses; c++ {
		if s[c] > 0 {
			out[c.Key()] = s.Of(c)
		}
	}
	return out
}

// Write writes diagnosis.json into a run directory.
func (d *Diagnosis) Write(dir string) error { return writeJSON(dir, FileDiagnosis, d.File()) }

// LoadDiagnosis reads diagnosis.json of a run; a run without it has it computed.
func LoadDiagnosis(run *trace.Run) (*DiagnosisFile, error) {
	var f DiagnosisFile
	if ok, err := run.ReadJSON(FileDiagnosis, &f); ok || err != nil {
		return &f, err
	}
	d, err := Diagnose(run, nil)
	if err != nil {
		return nil, err
	}
	return d.File(), nil
}

// CauseOf returns the cause of a key; keys that are none are unknown.
func CauseOf(key string) Cause {
	for c, k := range causeKeys {
		if k == key {
			return Cause(c)
		}
	}
	return CauseUnknown
}

// File returns the diagnosis as diagnosis.json has it.
func (d *Diagnosis) File() *DiagnosisFile {
	f := &DiagnosisFile{Messages: d.Measured, Cause: d.Total.Main().Key(), Shares: shareMap(&d.Total), Evidence: map[string]string{}, Main: map[string]int{}, Worst: []DiagnosedFlow{}}
	for c := CauseLine; c < NumCauses; c++ {
		if c != CauseLine && d.Total[c] > 0 {
			f.Evidence[c.Key()] = d.Evidence[c]
		}
		if d.Main[c] > 0 {
			f.Main[c.Key()] = d.Main[c]
		}
	}
	for i := range d.Worst {
		w := &d.Worst[i]
		f.Worst = append(f.Worst, DiagnosedFlow{ID: w.Flow.ID, Src: w.Flow.Src, Dst: w.Flow.Dst, QP: w.Flow.QP, Bytes: int64(w.Flow.Bytes), Elapsed: w.Elapsed.Seconds(),
			Ideal: w.Flow.Ideal.Seconds(), Status: w.Flow.Status, Cause: w.Shares.Main().Key(), Shares: shareMap(&w.Shares), Evidence: w.Evidence})
	}
	return f
}
