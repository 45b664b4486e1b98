package simnic

import (
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// TimeoutPolicy says when a local ACK timer expires.
type TimeoutPolicy uint8

// Policies. The standard allows any time between T and 4T (InfiniBand
// Architecture, volume 1, section 9.7.6.1.3).
const (
	TimeoutExact    TimeoutPolicy = iota // T
	TimeoutJitter                        // equally likely between T and 4T
	TimeoutAdaptive                      // 2, 4, 8, 16, 16, ... ms, whatever T: adaptive retransmission of ConnectX
)

// adaptiveFirst and adaptiveLast bound the timeouts of TimeoutAdaptive.
const (
	adaptiveFirst = 2 * sim.Millisecond
	adaptiveLast  = 16 * sim.Millisecond
)

// timeoutOf returns how long a queue pair waits for an ACK now.
func (n *NIC) timeoutOf(q *qp) sim.Duration {
	if q.service != verbs.RC {
		return 0
	}
	if q.irn != nil {
		return q.irn.timeout(q)
	}
	if n.cfg.TimeoutPolicy == TimeoutAdaptive && q.timeout > 0 {
		return min(adaptiveFirst<<min(q.retries, 8), adaptiveLast)
	}
	return q.timeout
}

// arm starts the local ACK timer.
func (n *NIC) arm(q *qp, now sim.Time) {
	if q.rto == 0 {
		return
	}
	q.extended = false
	q.rtoAt = now.Add(q.rto)
	n.sleep(q)
}

// sleep sets the timer to the deadline, unless it goes off before: then it is
// set again. One that was to go off later is overtaken, and ignored when it does.
func (n *NIC) sleep(q *qp) {
	if q.wakeAt == 0 || q.wakeAt > q.rtoAt {
		q.wakeAt = q.rtoAt
		n.node.At(q.rtoAt, kindTimeout, 0, uint64(q.qpn)<<24|uint64(q.slot))
	}
}

// onTimeout handles the local ACK timer: it goes on sleeping where the deadline
// has moved, and retransmits or gives up where it has not.
func (n *NIC) onTimeout(slot int32, qpn uint32) {
	q := n.qps[slot]
	if q == nil || q.qpn != qpn {
		return
	}
	now := n.node.Now()
	if now != q.wakeAt {
		return // overtaken by an earlier one
	}
	q.wakeAt = 0
	if q.una >= q.sent || q.state != verbs.StateRTS && q.state != verbs.StateSQD || q.head == len(q.msgs) {
		return
	}
	if now < q.rtoAt {
		n.sleep(q)
		return
	}
	if now < q.holdAt { // the peer has asked for patience
		q.rtoAt = q.holdAt.Add(q.rto)
		n.sleep(q)
		return
	}
	if n.cfg.TimeoutPolicy == TimeoutJitter && !q.extended {
		q.extended = true
		q.rtoAt = now.Add(sim.Duration(n.random().Float64() * 3 * float64(q.rto)))
		n.sleep(q)
		return
	}
	n.stat.timeouts++
	n.event(trace.EventTimeout, q, "local ACK timeout")
	q.retries++
	n.lost(q, q.una, trace.DelayTimeout, now)
	if q.retries > int(q.retryMax) {
		n.fail(q, verbs.StatusRetryExceeded)
		return
	}
	q.rto = n.timeoutOf(q)
	q.rp.OnLoss(now)
	q.asked = 0
	if q.irn != nil {
		q.irn.repair(q)
	} else {
		n.goBack(q, q.una)
	}
	n.arm(q, now)
	n.offer(q)
}

// random is the NIC's own stream for timers.
func (n *NIC) random() *sim.Rand {
	if n.jitter == nil {
		n.jitter = n.cfg.Rand(n.cfg.Name + "/timeout")
	}
	return n.jitter
}
