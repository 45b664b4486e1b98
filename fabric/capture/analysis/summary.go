package analysis

import (
	"cmp"
	"slices"

	"rdmasim/fabric/capture"
	"rdmasim/sim"
)

// Summary is what a capture tells, capture.json of its run directory. Times are
// seconds; a value that could not be measured is null.
type Summary struct {
	Files       []string     `json:"files,omitempty"`
	Application string       `json:"application,omitempty"` // that wrote the capture
	Interfaces  []string     `json:"interfaces"`
	Duration    float64      `json:"duration_s"` // from the first packet to the last
	Frames      Frames       `json:"frames"`
	ICRC        ICRC         `json:"icrc"`
	Answers     AnswerTotal  `json:"answers"`
	QPs         []QP         `json:"queue_pairs"`
	Connections []Connection `json:"connections,omitempty"` // by connection management
	RTT         *Spread      `json:"ack_round_trip_s"`
	CNP         []CNPPace    `json:"cnp"`
	CNPGaps     *Spread      `json:"cnp_interval_s"`
	Pauses      []PauseSum   `json:"pauses"`
	Checks      []Check      `json:"checks"`
	Notes       []string     `json:"notes"`
	Unpaired    uint64       `json:"answers_without_requests"`
	Unfollowed  uint64       `json:"packets_not_followed"`
}

// Frames counts frames by what they are.
type Frames struct {
	Total      uint64 `json:"total"`
	Bytes      uint64 `json:"bytes"` // on the wire, as the capture says
	RoCEv2     uint64 `json:"rocev2"`
	RoCEv1     uint64 `json:"rocev1"`
	InfiniBand uint64 `json:"infiniband"`
	PFC        uint64 `json:"pfc"`
	Pause      uint64 `json:"pause_8023"`
	Fragments  uint64 `json:"fragments"`
	Malformed  uint64 `json:"malformed"`
	Other      uint64 `json:"other"` // not RDMA
	Truncated  uint64 `json:"truncated"`
	Management uint64 `json:"management"` // to queue pair 0 or 1
	Reserved   uint64 `json:"reserved_opcodes"`
	OutOfOrder uint64 `json:"stamps_out_of_order"`
	Damaged    uint64 `json:"damaged"`
	Lost       uint64 `json:"lost_by_capture"`
	Tunnelled  uint64 `json:"tunnelled"` // RDMA inside of VXLAN, Geneve, GRE, ERSPAN or IP
	HeadersCut uint64 `json:"headers_cut"`
	Copies     uint64 `json:"copies"` // the same as one shortly before
}

// ICRC counts invariant CRCs.
type ICRC struct {
	Valid   uint64 `json:"valid"`
	Invalid uint64 `json:"invalid"`
	Absent  uint64 `json:"absent"`
}

// Spread tells durations.
type Spread struct {
	Count uint64   `json:"count"`
	Min   float64  `json:"min"`
	Mean  float64  `json:"mean"`
	P50   *float64 `json:"p50,omitempty"`
	P99   *float64 `json:"p99,omitempty"`
	Max   float64  `json:"max"`
}

// QP is one direction of a queue pair: a requester and its responder.
type QP struct {
	Src         string            `json:"src"`
	Dst         string            `json:"dst"`
	Service     string            `json:"service"`
	QPN         uint32            `json:"qpn"`        // of the responder: what the requests carry
	SrcQPN      *uint32           `json:"source_qpn"` // of the requester: what the answers carry
	SrcPort     uint16            `json:"udp_source_port"`
	PathMTU     int               `json:"path_mtu"` // 0 = no message had two packets
	Begin       float64           `json:"begin_s"`
	End         float64           `json:"end_s"`
	Operations  map[string]uint64 `json:"operations"` // messages begun, by verb
	Messages    uint64            `json:"messages"`
	Completed   uint64            `json:"completed"`
	Partial     uint64            `json:"partial"`              // messages with packets that were never captured
	Bytes       uint64            `json:"payload_bytes"`        // of completed messages
	Sent        uint64            `json:"data_packets"`         // requests, nearest to the requester
	Arrived     uint64            `json:"data_packets_arrived"` // nearest to the responder
	Again       uint64            `json:"retransmitted"`        // PSN at which, or beyond which, the requester had been
	Duplicates  uint64            `json:"duplicates"`           // of these, captured before
	Late        uint64            `json:"late"`                 // of these, captured for the first time
	Discarded   uint64            `json:"discarded"`            // by a go-back-N responder
	Gaps        uint64            `json:"gaps"`                 // holes in the PSNs, nearest to the responder
	Missing     uint64            `json:"missing"`              // packets in them
	NeverSeen   uint64            `json:"never_captured"`       // of these, not captured later either
	Restarts    uint64            `json:"restarts"`             // runs of retransmissions
	ByNak       uint64            `json:"restarts_by_nak"`
	ByRNR       uint64            `json:"restarts_by_rnr"`
	ByTimeout   uint64            `json:"restarts_by_timeout"`
	Acks        uint64            `json:"acks"`
	Naks        uint64            `json:"naks"` // PSN sequence errors
	RNRs        uint64            `json:"rnr_naks"`
	OtherNaks   uint64            `json:"other_naks"`
	Responses   uint64            `json:"read_response_packets"`
	ECT         uint64            `json:"ect_packets"`
	CE          uint64            `json:"ce_packets"`
	CNPs        uint64            `json:"cnps"`
	CNPsBack    uint64            `json:"cnps_for_responses"` // of the requester, for marked READ responses
	CNPInterval *Spread           `json:"cnp_interval_s"`
	RTT         *Spread           `json:"ack_round_trip_s"`
}

// CNPPace is the rhythm of CNPs of one host, to one address or in all.
type CNPPace struct {
	From     string  `json:"from"`
	To       string  `json:"to"` // "" = all together, as of a port
	Count    uint64  `json:"count"`
	Interval *Spread `json:"interval_s"`
}

// PauseSum is what one interface saw of pauses of one priority.
type PauseSum struct {
	Object    string   `json:"object"`
	Direction string   `json:"direction"` // in: the interface obeys; out: it asks; unknown
	Source    string   `json:"source"`    // MAC address
	Priority  int      `json:"priority"`  // -1 = 802.3x
	Xoff      uint64   `json:"xoff"`
	Refresh   uint64   `json:"refresh"`
	Xon       uint64   `json:"xon"`
	Episodes  uint64   `json:"episodes"`
	Paused    *float64 `json:"paused_s"` // null: neither XON nor the speed of the link is known
	Longest   *float64 `json:"longest_s"`
}

func spreadOf(s *spread) *Spread {
	if s.count == 0 {
		return nil
	}
	return &Spread{Count: s.count, Min: s.min.Seconds(), Mean: s.mean().Seconds(), Max: s.max.Seconds()}
}

func quantiles(h *histogram) *Spread {
	if h.count == 0 {
		return nil
	}
	p50, p99 := h.quantile(0.5).Seconds(), h.quantile(0.99).Seconds()
	return &Spread{Count: h.count, Min: h.min.Seconds(), Mean: h.mean().Seconds(), P50: &p50, P99: &p99, Max: h.max.Seconds()}
}

// Finish ends the analysis: messages that have not ended are reported, and the
// summary is made.
func (a *Analyzer) Finish() *Summary {
	a.settle()
	a.endPauses()
	for _, s := range a.streams {
		a.abandon(s)
	}
	a.checkGaps()
	a.checkBareCNPs()
	t := &a.total
	sum := &Summary{Duration: a.now.Sub(a.start).Seconds(), RTT: quantiles(&a.rtt), CNPGaps: quantiles(&a.cnpGaps),
		QPs: []QP{}, Answers: t.Answers, Unpaired: a.unpaired, Unfollowed: t.NotFollowed,
		ICRC: ICRC{t.ICRCValid, t.ICRCInvalid, t.ICRCAbsent},
		Frames: Frames{Total: t.Packets, Bytes: t.Bytes, RoCEv2: t.Kinds[capture.KindRoCEv2], RoCEv1: t.Kinds[capture.KindRoCEv1],
			InfiniBand: t.Kinds[capture.KindInfiniBand], PFC: t.PFC, Pause: t.Pause8023, Fragments: t.Kinds[capture.KindFragment],
			Malformed: t.Kinds[capture.KindMalformed], Other: t.Kinds[capture.KindOther] + t.OtherLink, Truncated: t.Truncated,
			Management: t.Management, Reserved: t.ReservedOpcodes, OutOfOrder: t.OutOfOrder, Damaged: t.Damaged, Lost: t.CaptureDrops,
			Tunnelled: t.Tunnelled, HeadersCut: t.HeadersCut, Copies: a.copies.found}}
	for i := range a.ifaces {
		sum.Interfaces = append(sum.Interfaces, a.ifaceName(i))
	}
	for _, s := range a.streams {
		if s.requests {
			sum.QPs = append(sum.QPs, s.summary())
		}
	}
	for _, k := range a.connList {
		sum.Connections = append(sum.Connections, k.summary())
	}
	sum.CNP = a.cnpPaces()
	sum.Pauses = a.pauseSums()
	sum.Checks = append(sum.Checks, a.checks[:]...)
	sum.Notes = a.notes()
	return sum
}

// summary tells a stream of requests.
func (s *stream) summary() QP {
	up, down := s.upstream(), s.downstream()
	q := QP{Src: s.from.name, Dst: s.to.name, Service: s.transport.String(), QPN: s.key.qp, SrcPort: s.sport, PathMTU: s.mtu,
		Begin: s.begin.Seconds(), End: s.end.Seconds(), Operations: map[string]uint64{}, Messages: s.messages, Completed: s.delivered,
		Partial: s.partial, Bytes: s.payload, Sent: up.counts.data, Arrived: down.counts.data - down.counts.damaged, Again: up.counts.again, Duplicates: up.counts.duplicates,
		Late: up.counts.late, Discarded: down.got.discarded, Gaps: down.counts.gaps, Missing: down.counts.missing,
		NeverSeen: down.requests.absent(), Restarts: s.restarts, ByNak: s.causes[causeNak], ByRNR: s.causes[causeRNR],
		ByTimeout: s.causes[causeTimeout], ECT: down.counts.ect, CE: down.counts.ce, RTT: spreadOf(&s.rtt)}
	q.CNPsBack = s.cnp.count
	for v, n := range s.verbs {
		if n > 0 {
			q.Operations[capture.Verb(v).String()] = n
		}
	}
	if r := s.reverse; r != nil {
		qpn := r.key.qp
		q.SrcQPN = &qpn
		q.Acks, q.Naks, q.RNRs, q.OtherNaks = r.answers.acks, r.answers.sequenceNaks, r.answers.rnrs, r.answers.otherNaks
		q.Responses = r.answers.readPackets
		q.CNPs, q.CNPInterval = r.cnp.count, spreadOf(&r.cnp.intervals)
	}
	return q
}

// cnpPaces tells the rhythm of CNPs per address and per port.
func (a *Analyzer) cnpPaces() (list []CNPPace) {
	for _, h := range a.hostList {
		if h.cnp.count == 0 {
			continue
		}
		list = append(list, CNPPace{From: h.name, Count: h.cnp.count, Interval: spreadOf(&h.cnp.intervals)})
		for i := range h.paceBy {
			p := &h.paceBy[i]
			list = append(list, CNPPace{From: h.name, To: hostName(p.to), Count: p.count, Interval: spreadOf(&p.intervals)})
		}
	}
	return list
}

var directionNames = [...]string{capture.DirUnknown: "unknown", capture.DirIn: "in", capture.DirOut: "out"}

// pauseSums tells pauses by interface and priority.
func (a *Analyzer) pauseSums() (list []PauseSum) {
	for _, p := range a.pauserList {
		for i := range p.classes {
			c := &p.classes[i]
			if c.xoff+c.xon+c.refresh == 0 {
				continue
			}
			prio := i
			if i == global {
				prio = -1
			}
			s := PauseSum{Object: p.object, Direction: directionNames[p.key.dir], Source: macText(p.key.mac), Priority: prio,
				Xoff: c.xoff, Refresh: c.refresh, Xon: c.xon, Episodes: c.episodes}
			if p.rate > 0 || c.unknown == 0 {
				total, longest := c.total.Seconds(), c.longest.Seconds()
				s.Paused, s.Longest = &total, &longest
			}
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(x, y PauseSum) int {
		return cmp.Or(cmp.Compare(x.Object, y.Object), cmp.Compare(x.Direction, y.Direction), cmp.Compare(x.Priority, y.Priority))
	})
	return list
}

func macText(m [6]byte) string {
	const digits = "0123456789abcdef"
	b := make([]byte, 0, 17)
	for i, v := range m {
		if i > 0 {
			b = append(b, ':')
		}
		b = append(b, digits[v>>4], digits[v&15])
	}
	return string(b)
}

// Span returns when the capture began and ended, in the time of its rows.
func (a *Analyzer) Span() (begin, end sim.Time) { return a.start, a.now }
