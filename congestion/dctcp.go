package congestion

import (
	"fmt"

	"rdmasim/sim"
)

// DCTCPParams are the knobs of DCTCP's sender (RFC 8257, section 3.3) as a
// window for RDMA: no slow start, the window starts at what fills the path.
type DCTCPParams struct {
	G             sim.Ratio `key:"g" doc:"gain of the estimate of the marked share (RFC 8257: 1/16)"`
	Segment       sim.Bytes `key:"segment" doc:"payload of one packet: the path MTU; added to the window per round trip"`
	InitialWindow sim.Bytes `key:"initial_window" doc:"window at the start; 0B = what fills the path without queues"`
	MaxWindow     sim.Bytes `key:"max_window" doc:"largest window"`
}

var _ = sim.Register(Algorithms, "dctcp", "window control by the share of marked bytes (Alizadeh et al., SIGCOMM'10; RFC 8257)",
	DCTCPParams{G: 1.0 / 16, Segment: 4096 * sim.Byte, MaxWindow: 16 * sim.MB}, nil, NewDCTCP)

type dctcp struct{ p DCTCPParams }

// NewDCTCP checks the parameters and returns the algorithm.
func NewDCTCP(p DCTCPParams) (Algorithm, error) {
	err := firstError(
		within("g", p.G, 0, 1),
		within("segment", p.Segment, 1, 64*sim.KiB),
		within("max_window", p.MaxWindow, p.Segment, sim.TB),
		within("initial_window", p.InitialWindow, 0, p.MaxWindow),
	)
	if err != nil {
		return nil, fmt.Errorf("congestion dctcp: %w", err)
	}
	return &dctcp{p}, nil
}

func (d *dctcp) Feedback() (Feedback, sim.Duration) { return EchoOnAck, 0 }
func (d *dctcp) ECT() bool                          { return true }

func (d *dctcp) NewReactionPoint(line sim.Rate, baseRTT sim.Duration) ReactionPoint {
	w := d.p.InitialWindow
	if w == 0 {
		w = line.BytesIn(baseRTT) + d.p.Segment
	}
	q := &dctcpPoint{d: d, line: line, alpha: 1, cwnd: d.clip(float64(w))} // alpha: RFC 8257, section 3.3
	q.round = q.cwnd
	return q
}

func (d *dctcp) clip(w float64) float64 {
	return min(max(w, float64(d.p.Segment)), float64(d.p.MaxWindow))
}

// dctcpPoint is DCTCP's reaction point of one queue pair. A round trip ends
// when as many bytes have been acknowledged as the window held at its start.
type dctcpPoint struct {
	d      *dctcp
	line   sim.Rate
	cwnd   float64 // bytes
	alpha  float64
	round  float64 // bytes of this round trip still to be acknowledged
	acked  float64 // bytes acknowledged in it
	marked float64 // of them by ACKs with a mark
	cut    bool    // the window has already been cut in it
}

func (q *dctcpPoint) Rate(sim.Time) sim.Rate     { return q.line }
func (q *dctcpPoint) Window(sim.Time) sim.Bytes  { return sim.Bytes(q.cwnd) }
func (q *dctcpPoint) OnSend(sim.Time, sim.Bytes) {}
func (q *dctcpPoint) OnCNP(sim.Time)             {}

// OnAck cuts at most once per round trip, by alpha/2, and otherwise grows by
// one segment per round trip. RFC 8257, sections 3.3 and 3.4.
func (q *dctcpPoint) OnAck(_ sim.Time, a Ack) {
	n := float64(a.Bytes)
	q.acked += n
	if a.Marked {
		q.marked += n
	}
	if a.Marked && !q.cut {
		q.reduce(q.alpha)
	} else if !q.cut {
		q.cwnd = q.d.clip(q.cwnd + float64(float64(q.d.p.Segment)*n/q.cwnd))
	}
	if q.round -= n; q.round <= 0 {
		q.endRound()
	}
}

// OnLoss halves the window, at most once per round trip. RFC 8257, section 3.5.
func (q *dctcpPoint) OnLoss(sim.Time) {
	if !q.cut {
		q.reduce(1)
	}
}

func (q *dctcpPoint) reduce(alpha float64) {
	q.cwnd = q.d.clip(q.cwnd * (1 - alpha/2))
	q.cut = true
}

func (q *dctcpPoint) endRound() {
	g := float64(q.d.p.G)
	if q.acked > 0 {
		q.alpha = float64((1-g)*q.alpha) + float64(g*(q.marked/q.acked))
	}
	q.acked, q.marked, q.round, q.cut = 0, 0, q.cwnd, false
}

// Observe reports window in bytes and alpha.
func (q *dctcpPoint) Observe(_ sim.Time, f func(name string, value float64)) {
	f("window", q.cwnd)
	f("alpha", q.alpha)
}
