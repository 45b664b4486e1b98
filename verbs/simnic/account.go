package simnic

import (
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// account follows where the time of a queue pair's send queue goes: everything
// before mark has been booked. It changes when a packet leaves and when an
// answer comes, never per hop.
type account struct {
	of     [trace.NumDelays]sim.Duration
	mark   sim.Time
	paused sim.Duration // of the port and class, at mark
	cause  trace.Delay  // what packets that are sent again are booked on: why they are
	free   []*messageTime
}

// Phases of a message.
const (
	phaseQueued = iota // earlier ones are being sent
	phaseSending
	phaseSent  // all its packets have left
	phaseAgain // they must be sent again, and others come first
)

// messageTime is where the time of a message went. While it is queued or being
// sent the account's totals at the beginning of that are taken off, so that
// adding those at its end leaves the difference: what earlier messages of the
// queue pair wait for, it waits for.
type messageTime struct {
	of    [trace.NumDelays]sim.Duration
	phase uint8
	since sim.Time // of the phase
}

// accountFor returns the account of a queue pair, nil if none is kept.
func (n *NIC) accountFor(q *qp) *account {
	if q.account == nil && n.cfg.Account {
		q.account = &account{}
	}
	return q.account
}

// book books the time up to t.
func (a *account) book(d trace.Delay, t sim.Time) {
	if t > a.mark {
		a.of[d] += t.Sub(a.mark)
		a.mark = t
	}
}

// open begins the sending of a message, close ends it.
func (a *account) open(x *messageTime, phase uint8) {
	x.phase = phase
	for i := range x.of {
		x.of[i] -= a.of[i]
	}
}

func (a *account) close(x *messageTime, phase uint8) {
	x.phase, x.since = phase, a.mark
	for i := range x.of {
		x.of[i] += a.of[i]
	}
}

// sent books the packet of message m that has just left at now, and what was
// waited for before.
func (n *NIC) sent(q *qp, p *nicPort, m *message, now sim.Time, again, last bool) {
	a, x := q.account, m.time
	if a == nil || x == nil {
		return
	}
	if x.phase == phaseQueued || x.phase == phaseAgain {
		a.begin(x)
	}
	n.wait(q, p, m, now)
	a.paused = p.PausedTime(int(q.prio), now)
	if again {
		a.book(a.resend(), p.FreeAt)
	} else {
		a.book(trace.DelaySend, p.FreeAt)
	}
	if last && x.phase == phaseSending {
		a.close(x, phaseSent)
	}
}

// begin opens a message whose first packet leaves, or leaves again. What earlier
// ones sent meanwhile kept it in the queue.
func (a *account) begin(x *messageTime) {
	if x.phase == phaseQueued {
		x.phase = phaseSending
		x.of[trace.DelayQueue] += x.of[trace.DelaySend] + a.of[trace.DelaySend]
		x.of[trace.DelaySend] = -a.of[trace.DelaySend]
		return
	}
	x.of[a.resend()] += a.mark.Sub(x.since)
	a.open(x, phaseSending)
}

// resend returns what made the queue pair go back last.
func (a *account) resend() trace.Delay {
	if a.cause == 0 {
		return trace.DelayResend
	}
	return a.cause
}

// recycled returns an empty account for the next owner of a slot.
func (a *account) recycled() *account {
	if a != nil {
		*a = account{free: a.free}
	}
	return a
}

// posted begins the account of a message that is posted now.
func (n *NIC) posted(q *qp, m *message, now sim.Time) {
	a := n.accountFor(q)
	if a == nil {
		return
	}
	switch {
	case a.mark >= now:
	case q.nxt == q.end: // the send queue is empty
		a.mark, a.paused = now, n.ports[q.port].PausedTime(int(q.prio), now)
	default:
		n.stalled(q, now)
	}
	x := (*messageTime)(nil)
	if k := len(a.free); k > 0 {
		x, a.free = a.free[k-1], a.free[:k-1]
		*x = messageTime{}
	} else {
		x = new(messageTime)
	}
	m.time = x
	a.open(x, phaseQueued)
	x.of[trace.DelayQueue] += a.mark.Sub(now) // a packet is leaving
}

// wait books the time up to now, at which a packet leaves or could not leave
// yet: the hold of an RNR NAK first, then the pacing, then the host, then pauses;
// the rest was the turn of others.
func (n *NIC) wait(q *qp, p *nicPort, m *message, now sim.Time) {
	a := q.account
	if now <= a.mark {
		return
	}
	a.book(trace.DelayRNR, min(q.holdAt, now))
	a.book(trace.DelayCongestion, min(q.availAt, now))
	a.book(trace.DelayHold, min(n.heldUntil(q, m), now))
	if d := min(p.PausedTime(int(q.prio), now)-a.paused, now.Sub(a.mark)); d > 0 {
		a.book(trace.DelayPaused, a.mark.Add(d))
	}
	a.book(trace.DelayShared, now)
}

// answered books the time that a queue pair waited for its window, when an ACK
// has come: what that ACK took longer than the path alone was spent in the
// network, the rest is the window's.
func (n *NIC) answered(q *qp, rtt sim.Duration, now sim.Time) {
	a := q.account
	if a == nil || q.sched != schedIdle || q.nxt >= q.end || now <= a.mark {
		return
	}
	a.book(trace.DelayCongestion, min(q.availAt, now))
	if late := rtt - q.path.BaseRTT; late > 0 {
		a.book(trace.DelayNetwork, min(a.mark.Add(late), now))
	}
	d := trace.DelayWindow
	if w := q.rp.Window(now); w > 0 && (n.cfg.Window == 0 || w <= n.cfg.Window) {
		d = trace.DelayCongestion
	}
	a.book(d, now)
	a.paused = n.ports[q.port].PausedTime(int(q.prio), now)
}

// lost books the time up to now, at which a queue pair goes back to packet seq
// or gives up, on what made it do so. Messages of which packets must be sent
// again wait for their turn.
func (n *NIC) lost(q *qp, seq uint64, why trace.Delay, now sim.Time) {
	a := q.account
	if a == nil {
		return
	}
	a.book(why, now)
	a.cause = why
	a.paused = n.ports[q.port].PausedTime(int(q.prio), now)
	first := true
	for i := q.head; i < len(q.msgs); i++ {
		m := &q.msgs[i]
		x := m.time
		if m.last < seq || x == nil {
			continue
		}
		switch x.phase {
		case phaseSent:
			x.of[why] += now.Sub(x.since)
			x.positive(why)
			a.again(x, first, now)
		case phaseSending:
			if !first {
				a.close(x, phaseAgain)
			}
		case phaseAgain:
			if first {
				x.of[a.resend()] += now.Sub(x.since)
				x.positive(a.resend())
				a.again(x, true, now)
			}
		}
		first = false
	}
}

// again opens the message that is sent again at once, and lets others wait.
func (a *account) again(x *messageTime, at bool, now sim.Time) {
	if !at {
		x.phase, x.since = phaseAgain, now
		return
	}
	a.mark = max(a.mark, now)
	x.of[a.resend()] += a.mark.Sub(now) // a packet is still leaving
	a.open(x, phaseSending)
}

// positive takes back what was booked of a packet that had not left when the
// wait for its answer ended.
func (x *messageTime) positive(d trace.Delay) {
	over := -x.of[d]
	if over <= 0 {
		return
	}
	x.of[d] = 0
	for _, k := range [...]trace.Delay{trace.DelaySend, trace.DelayResend, trace.DelayTimeout, trace.DelayRNR, trace.DelayQueue} {
		take := min(over, max(x.of[k], 0))
		x.of[k] -= take
		over -= take
	}
	x.of[d] -= over
}

// spent returns where the time of a message went that ends now, or has not
// ended yet; the message gives its part of the account back.
func (n *NIC) spent(q *qp, m *message, now sim.Time) (d trace.Delays) {
	a, x := q.account, m.time
	if a == nil || x == nil {
		return d
	}
	d.Measured, d.LastSent = true, -1
	switch x.phase {
	case phaseSent:
		x.of[trace.DelayFlight] += now.Sub(x.since)
		x.positive(trace.DelayFlight)
		d.LastSent = x.since
	case phaseAgain:
		x.of[a.resend()] += now.Sub(x.since)
		x.positive(a.resend())
	default:
		queued := x.phase == phaseQueued
		n.stalled(q, now)
		over := a.mark.Sub(now) // the packet that leaves is booked to its end
		a.close(x, phaseSent)
		if over > 0 {
			x.of[trace.DelayFlight] = -over
			x.positive(trace.DelayFlight)
		}
		if queued {
			x.of[trace.DelayQueue] += x.of[trace.DelaySend]
			x.of[trace.DelaySend] = 0
		}
	}
	d.Of = x.of
	m.time = nil
	a.free = append(a.free, x)
	return d
}

// stalled books the time up to now of a queue pair that has not sent all of its
// message.
func (n *NIC) stalled(q *qp, now sim.Time) {
	p := &n.ports[q.port]
	a := q.account
	if q.sched == schedIdle && q.nxt > q.una {
		// The window is used up, and no answer has come: what an answer takes
		// alone is the window's, the rest is spent in the network.
		a.book(trace.DelayCongestion, min(q.availAt, now))
		a.book(trace.DelayWindow, min(a.mark.Add(q.path.BaseRTT), now))
		a.book(trace.DelayNetwork, now)
		return
	}
	m := (*message)(nil)
	if q.nxt < q.end && q.head < len(q.msgs) {
		m = &q.msgs[q.find(q.nxt)]
	}
	n.wait(q, p, m, now)
}

// nakDelay is what a NAK makes its sender wait for.
func nakDelay(m *packet.Packet) trace.Delay {
	if m.Flags&packet.FlagRNR != 0 {
		return trace.DelayRNR
	}
	return trace.DelayResend
}
