// Package congestion holds the congestion-control algorithms of RDMA NICs as
// state machines without packets, clocks or goroutines: they see rates,
// acknowledgements, marks and time, and nothing of a fabric.
package congestion

import "rdmasim/sim"

// Ack is what one acknowledgement tells a reaction point.
type Ack struct {
	RTT    sim.Duration // from the transmission of the acknowledged packet to the arrival of its ACK
	Bytes  sim.Bytes    // payload newly acknowledged
	Marked bool         // the ACK carries a congestion bit (only where Feedback is EchoOnAck)
	Hops   int          // links on the forward path, 0 = unknown
}

// ReactionPoint is the sender's half of an algorithm for one queue pair. Time
// never runs backwards from call to call. Implementations have no timers of
// their own: every method first does what its timers would have done up to now.
type ReactionPoint interface {
	// Rate returns the pacing rate at now, at most the line rate.
	Rate(now sim.Time) sim.Rate
	// Window returns how many payload bytes may be unacknowledged, 0 = no limit.
	Window(now sim.Time) sim.Bytes
	// OnSend is called when a data packet of so many wire bytes starts.
	OnSend(now sim.Time, wire sim.Bytes)
	OnAck(now sim.Time, a Ack)
	OnCNP(now sim.Time)
	// OnLoss is called on a NAK or a timeout.
	OnLoss(now sim.Time)
}

// Observer is a ReactionPoint with inner state worth plotting, such as alpha.
type Observer interface {
	// Observe calls f for each quantity at now, in a fixed order.
	Observe(now sim.Time, f func(name string, value float64))
}

// Feedback says how receivers report CE marks to senders.
type Feedback int

const (
	// NoFeedback ignores CE marks.
	NoFeedback Feedback = iota
	// CNPPackets sends a CNP for a CE-marked packet, at most one per queue pair and CNPInterval.
	CNPPackets
	// EchoOnAck copies the CE mark into the ACK of the packet.
	EchoOnAck
	// RoundTrips ignores CE marks: the round trips of ACKs are what matters.
	RoundTrips
)

// ByAck reports whether the sender learns from ACKs: without them it controls
// nothing.
func (f Feedback) ByAck() bool { return f == EchoOnAck || f == RoundTrips }

// Algorithm makes the two halves of congestion control for queue pairs.
type Algorithm interface {
	// NewReactionPoint returns the sender's half for a queue pair on a port of
	// the given line rate whose round trip without queues takes baseRTT.
	NewReactionPoint(line sim.Rate, baseRTT sim.Duration) ReactionPoint
	// Feedback returns how the receiver reports marks, and the CNP interval.
	Feedback() (Feedback, sim.Duration)
	// ECT reports whether data packets are sent ECN-capable.
	ECT() bool
}

// Algorithms holds every algorithm by the name used in scenarios.
var Algorithms = sim.NewCatalogue[Algorithm]("congestion control")

// NotificationPoint is the receiver's half for one queue pair: it decides
// which CE-marked packets are answered by a CNP. Source: DCQCN, SIGCOMM'15,
// section 3: one CNP at once, then at most one per Interval.
type NotificationPoint struct {
	Interval sim.Duration
	last     sim.Time
	sent     bool
}

// OnMarked reports whether a CNP is to be sent for a CE-marked packet that
// arrives at now.
func (n *NotificationPoint) OnMarked(now sim.Time) bool {
	if n.sent && now.Sub(n.last) < n.Interval {
		return false
	}
	n.last, n.sent = now, true
	return true
}
