package page

import (
	"fmt"
	"sort"
	"strings"

	"rdmasim/reports/figure"
	"rdmasim/reports/metric"
	"rdmasim/sim/trace"
)

// fileCapture is what the analysis of a capture leaves in its run directory.
const fileCapture = "capture.json"

// capture is what a page shows of it.
type capture struct {
	Files  []string `json:"files"`
	Frames map[string]uint64
	ICRC   map[string]uint64 `json:"icrc"`
	QPs    []captureQP       `json:"queue_pairs"`
	CNP    []capturePace
	Pauses []capturePause
	Checks []captureCheck
	Notes  []string
}

type captureQP struct {
	Src, Dst, Service string
	QPN               uint32
	SrcQPN            *uint32 `json:"source_qpn"`
	MTU               int     `json:"path_mtu"`
	Operations        map[string]uint64
	Messages          uint64
	Completed         uint64
	Bytes             uint64 `json:"payload_bytes"`
	Sent              uint64 `json:"data_packets"`
	Again             uint64 `json:"retransmitted"`
	Duplicates        uint64
	Gaps              uint64
	ByNak             uint64 `json:"restarts_by_nak"`
	ByRNR             uint64 `json:"restarts_by_rnr"`
	ByTimeout         uint64 `json:"restarts_by_timeout"`
	Naks              uint64
	RNRs              uint64         `json:"rnr_naks"`
	OtherNaks         uint64         `json:"other_naks"`
	CE                uint64         `json:"ce_packets"`
	CNPs              uint64         `json:"cnps"`
	RTT               *captureSpread `json:"ack_round_trip_s"`
}

type capturePace struct {
	From, To string
	Count    uint64
	Interval *captureSpread `json:"interval_s"`
}

type capturePause struct {
	Object, Direction, Source string
	Priority                  int
	Xoff, Refresh, Xon        uint64
	Paused                    *float64 `json:"paused_s"`
	Longest                   *float64 `json:"longest_s"`
}

type captureCheck struct {
	Name, Doc          string
	Tested, Violations uint64
	Examples           []string
}

type captureSpread struct{ Min, Mean, Max float64 }

func (s *captureSpread) String() string {
	if s == nil {
		return "not measured"
	}
	return fmt.Sprintf("%s to %s, mean %s", figure.Seconds(s.Min), figure.Seconds(s.Max), figure.Seconds(s.Mean))
}

// maxCaptureRows bounds the tables of a capture: those with most packets first.
const maxCaptureRows = 50

// addCapture puts what the analysis of a capture found in front of the figures.
func (v *view) addCapture(r *figure.Run) error {
	if r.Manifest.Mode != trace.ModeCapture {
		return nil
	}
	var c capture
	ok, err := r.ReadJSON(fileCapture, &c)
	if err != nil || !ok {
		return err
	}
	s := section{ID: "capture", Name: "What was captured"}
	add := func(title string, t figure.Table) {
		if len(t.Rows) > 0 {
			s.Tables = append(s.Tables, titled{title, t})
		}
	}
	add("Queue pairs", c.queuePairs())
	add("Loss recovery", c.recovery())
	add("Rules of transport", c.rules())
	add("Congestion notification", c.notifications())
	add("Pauses by port and priority", c.pauses())
	add("Frames", c.frames())
	for _, n := range c.Notes {
		s.Missing = append(s.Missing, missing{"Note", n})
	}
	v.Sections = append([]section{s}, v.Sections...)
	v.Files = append(v.Files, file{fileCapture, "queue pairs, rules, notifications and pauses of the capture"})
	return nil
}

// name tells a queue pair from others.
func (q *captureQP) name() string {
	return fmt.Sprintf("%s to %s 0x%06x", q.Src, q.Dst, q.QPN)
}

func (c *capture) queuePairs() figure.Table {
	t := figure.Table{Head: []string{"from, to, QP", "service", "answers to", "path MTU", "operations", "messages", "payload", "packets", "CE", "CNP", "ACK round trip"}}
	sort.SliceStable(c.QPs, func(i, j int) bool { return c.QPs[i].Sent > c.QPs[j].Sent })
	for i := range c.QPs {
		if i == maxCaptureRows {
			t.Note = fmt.Sprintf("The %d with most packets of %d; all are in %s.", i, len(c.QPs), fileCapture)
			break
		}
		q := &c.QPs[i]
		own := "not seen"
		if q.SrcQPN != nil {
			own = fmt.Sprintf("0x%06x", *q.SrcQPN)
		}
		mtu := "not seen"
		if q.MTU > 0 {
			mtu = fmt.Sprint(q.MTU)
		}
		t.Rows = append(t.Rows, []string{q.name(), q.Service, own, mtu, operationList(q.Operations),
			fmt.Sprintf("%d of %d", q.Completed, q.Messages), metric.Format(float64(q.Bytes), metric.Bytes), fmt.Sprint(q.Sent), fmt.Sprint(q.CE), fmt.Sprint(q.CNPs), q.RTT.String()})
	}
	return t
}

// recovery lists the queue pairs that sent something again or were told to.
func (c *capture) recovery() figure.Table {
	t := figure.Table{Head: []string{"from, to, QP", "sent again", "captured before", "restarts by NAK", "by RNR NAK", "by timeout", "gaps", "NAK", "RNR NAK"}}
	for i := range c.QPs {
		q := &c.QPs[i]
		if q.Again+q.Gaps+q.Naks+q.OtherNaks+q.RNRs == 0 {
			continue
		}
		if len(t.Rows) == maxCaptureRows {
			t.Note = "The others are in " + fileCapture + "."
			break
		}
		row := []string{q.name()}
		for _, n := range []uint64{q.Again, q.Duplicates, q.ByNak, q.ByRNR, q.ByTimeout, q.Gaps, q.Naks + q.OtherNaks, q.RNRs} {
			row = append(row, fmt.Sprint(n))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func operationList(m map[string]uint64) string {
	var names []string
	for name, n := range m {
		names = append(names, fmt.Sprintf("%d %s", n, name))
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

func (c *capture) rules() figure.Table {
	t := figure.Table{Head: []string{"rule", "what it asks", "put to the test", "broken", "first example"}}
	for i := range c.Checks {
		k := &c.Checks[i]
		example := ""
		if len(k.Examples) > 0 {
			example = k.Examples[0]
		}
		tested := "not tested"
		if k.Tested > 0 {
			tested = fmt.Sprint(k.Tested)
		}
		t.Rows = append(t.Rows, []string{k.Name, k.Doc, tested, fmt.Sprint(k.Violations), example})
	}
	return t
}

func (c *capture) notifications() figure.Table {
	t := figure.Table{Head: []string{"from", "to", "CNPs", "apart"}}
	for i := range c.CNP {
		if i == maxCaptureRows {
			t.Note = fmt.Sprintf("The first %d of %d; all are in %s.", i, len(c.CNP), fileCapture)
			break
		}
		p := &c.CNP[i]
		to := p.To
		if to == "" {
			to = "all (the port)"
		}
		t.Rows = append(t.Rows, []string{p.From, to, fmt.Sprint(p.Count), p.Interval.String()})
	}
	return t
}

func (c *capture) pauses() figure.Table {
	t := figure.Table{Head: []string{"interface", "direction", "sent by", "priority", "XOFF", "refreshes", "XON", "paused", "longest"}}
	span := func(v *float64) string {
		if v == nil {
			return "not measured"
		}
		return figure.Seconds(*v)
	}
	for i := range c.Pauses {
		if i == maxCaptureRows {
			t.Note = fmt.Sprintf("The first %d of %d; all are in %s.", i, len(c.Pauses), fileCapture)
			break
		}
		p := &c.Pauses[i]
		prio := fmt.Sprint(p.Priority)
		if p.Priority < 0 {
			prio = "all (802.3x)"
		}
		t.Rows = append(t.Rows, []string{p.Object, p.Direction, p.Source, prio, fmt.Sprint(p.Xoff), fmt.Sprint(p.Refresh), fmt.Sprint(p.Xon), span(p.Paused), span(p.Longest)})
	}
	return t
}

func (c *capture) frames() figure.Table {
	t := figure.Table{Head: []string{"frames", "number"}}
	row := func(name string, n uint64) {
		if n > 0 {
			t.Rows = append(t.Rows, []string{name, fmt.Sprint(n)})
		}
	}
	for _, k := range [][2]string{{"total", "all"}, {"rocev2", "RoCEv2"}, {"rocev1", "RoCEv1"}, {"infiniband", "InfiniBand"}, {"pfc", "PFC"}, {"pause_8023", "802.3x pause"},
		{"fragments", "fragments of IP"}, {"malformed", "malformed"}, {"other", "not RDMA"}, {"truncated", "captured in part"}, {"management", "management (QP 0 and 1)"},
		{"damaged", "damaged or dropped, as the capture says"}, {"lost_by_capture", "lost by the capture"}} {
		row(k[1], c.Frames[k[0]])
	}
	row("ICRC valid", c.ICRC["valid"])
	row("ICRC wrong", c.ICRC["invalid"])
	row("ICRC not captured", c.ICRC["absent"])
	return t
}
