package simnic

import (
	"rdmasim/sim"
	"rdmasim/verbs"
)

// HostCosts are what a host's software and bus take; zero costs nothing. One
// core posts and polls for all queue pairs of the host, one thing at a time.
type HostCosts struct {
	Post       sim.Duration // of the core, per request
	Doorbell   sim.Duration // from the end of posting until the NIC has the request
	Poll       sim.Duration // of the core, per completion
	Moderation sim.Duration // the first completion waits so long for others before the host hears of them

	Bus          Bus
	Contexts     Cache     // of queue pairs, QPC
	Translations Cache     // of pages, MTT
	Page         sim.Bytes // that a translation stands for
	Memory       sim.Bytes // that messages lie in, anywhere
}

// delivery is a completion that the host has not taken yet.
type delivery struct {
	at     sim.Time
	client int32
	qp     *QP
	wc     verbs.WorkCompletion
}

// posts reports whether a request takes time to reach the NIC.
func (h *HostCosts) posts() bool { return h.Post > 0 || h.Doorbell > 0 || h.Bus.Latency > 0 }

// ready returns when the NIC has a request that is posted now.
func (n *NIC) ready(m *message, now sim.Time) sim.Time {
	n.coreAt = max(n.coreAt, now).Add(n.cfg.Host.Post)
	return n.coreAt.Add(n.cfg.Host.Doorbell + n.payloadDelay(m))
}

// later hands a completion over once the host has got to it.
func (n *NIC) later(q *qp, wc verbs.WorkCompletion) {
	now := n.node.Now()
	if n.heardAt < now {
		n.heardAt = now.Add(n.cfg.Host.Moderation)
	}
	n.coreAt = max(n.coreAt, n.heardAt).Add(n.cfg.Host.Poll)
	n.deliveries = append(n.deliveries, delivery{n.coreAt, q.client, q.handle, wc})
	n.node.At(n.coreAt, kindDeliver, 0, 0)
}

// deliver hands over the completions whose time has come.
func (n *NIC) deliver() {
	now := n.node.Now()
	for n.delivered < len(n.deliveries) && n.deliveries[n.delivered].at <= now {
		d := n.deliveries[n.delivered]
		n.delivered++
		if n.delivered == len(n.deliveries) {
			n.deliveries, n.delivered = n.deliveries[:0], 0
		}
		n.clients[d.client].OnCompletion(d.qp, d.wc)
	}
}
