package simnic

import (
	"fmt"
	"math/bits"

	"rdmasim/congestion"
	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

func (n *NIC) event(kind trace.EventKind, q *qp, cause string) {
	n.cfg.Sink.Event(trace.Event{Time: n.node.Now(), Kind: kind, Object: n.id, Prio: int8(q.prio), Value: float64(q.qpn), Cause: cause})
}

// finish reports a message that has ended.
func (n *NIC) finish(q *qp, m *message, status verbs.Status) {
	n.outstanding--
	n.flow(q, m, n.node.Now(), n.acknowledged(q, m), status.String())
	n.activity()
}

func (n *NIC) flow(q *qp, m *message, end sim.Time, delivered sim.Bytes, status string) {
	now := n.node.Now()
	n.cfg.Sink.Flow(trace.Flow{
		ID: trace.MessageID(n.cfg.Node, m.id), Src: n.cfg.Name, Dst: n.peerName(q, m), QP: q.qpn, Verb: m.op.String(),
		Bytes: m.length, Start: m.posted, End: end, Ideal: q.ideal(m), Delivered: delivered,
		Retransmits: m.retx, Status: status, Tag: m.tag, Workload: n.clientName(q.client), Delays: n.spent(q, m, now),
	})
}

func (n *NIC) peerName(q *qp, m *message) string {
	if m.work != nil && m.work.ah != nil {
		return n.cfg.EndpointName(m.work.ah.endpoint)
	}
	if q.peer < 0 {
		return ""
	}
	return n.cfg.EndpointName(q.peer)
}

// ideal is how long the message alone on its path takes.
func (q *qp) ideal(m *message) sim.Duration {
	if q.service != verbs.RC && q.path.Sent != nil {
		return q.path.Sent(m.length, m.op)
	}
	if q.path.Ideal == nil { // datagrams: each has a way of its own
		return 0
	}
	return q.path.Ideal(m.length, m.op)
}

// Named is a Client with a name for reports.
type Named interface{ Name() string }

func (n *NIC) clientName(c int32) string {
	if int(c) >= len(n.clients) {
		return ""
	}
	if x, ok := n.clients[c].(Named); ok {
		return x.Name()
	}
	return ""
}

// Unfinished reports every message that has not ended, with the payload that
// was acknowledged.
func (n *NIC) Unfinished() {
	for _, q := range n.qps {
		if q.handle == nil {
			continue
		}
		for i := q.head; i < len(q.msgs); i++ {
			m := &q.msgs[i]
			n.flow(q, m, -1, n.acknowledged(q, m), trace.StatusUnfinished)
		}
	}
}

// acknowledged returns the payload of a message that its responder has
// acknowledged.
func (n *NIC) acknowledged(q *qp, m *message) sim.Bytes {
	if q.una <= m.first {
		return 0
	}
	return min(sim.Bytes(q.una-m.first)*q.mtu, m.length)
}

func (n *NIC) logPause(port int) {
	if !n.cfg.PauseLog {
		return
	}
	p := &n.ports[port]
	if p.Cfg.Global && p.Paused != p.logged {
		n.cfg.Sink.Event(p.GlobalEvent(p.id, n.cfg.PeerIDs[port], n.node.Now()))
		p.logged = p.Paused
		return
	}
	for c := p.Paused ^ p.logged; c != 0; c &= c - 1 {
		i := bits.TrailingZeros8(c)
		e := trace.Event{Time: n.node.Now(), Kind: trace.EventPauseOn, Object: p.id, Peer: n.cfg.PeerIDs[port], Prio: int8(i)}
		if p.Paused&(1<<i) == 0 {
			e.Kind = trace.EventPauseOff
			e.Value = n.node.Now().Sub(p.PausedSince(i)).Seconds()
		}
		n.cfg.Sink.Event(e)
	}
	p.logged = p.Paused
}

// inbound follows what arrives of a queue pair that has series, a peer's or, by
// READs, one of the NIC's own: goodput is known where its payload arrives.
type inbound struct {
	id      trace.ObjectID
	metric  string
	payload uint64
	bin     uint64
	last    float64
}

// follow begins a goodput series with the first packet of a peer's queue pair.
// The series bears the sender's name. Its number is known from the packet as
// long as the sender has not used the slot before.
func (n *NIC) follow(q *qp, m *packet.Packet) {
	slot := m.SrcQP >> generationBits
	if n.cfg.Interval == 0 || (slot^m.SrcQP)&(1<<generationBits-1) != 0 || int(slot) > n.cfg.SeriesQPs {
		return
	}
	if id := n.cfg.Names.Lookup(fmt.Sprintf("%s/qp%d", n.cfg.EndpointName(m.Src), slot)); id != 0 {
		q.inbound = &inbound{id: id, metric: trace.SeriesGoodput}
		n.inbound = append(n.inbound, q.inbound)
	}
}

// brought counts what a READ has brought, and begins its series with the first packet.
func (n *NIC) brought(q *qp, payload uint64) {
	if q.series == 0 {
		return
	}
	if q.reads == nil {
		q.reads = &inbound{id: q.series, metric: trace.SeriesReadGoodput}
		n.inbound = append(n.inbound, q.reads)
	}
	q.reads.payload += payload
}

// beginSampling starts sampling with the bin that now lies in.
func (n *NIC) beginSampling() {
	n.sampling = true
	now, width := n.node.Now(), n.cfg.Interval
	begin := now - now%sim.Time(width)
	for i := range n.ports {
		p := &n.ports[i]
		for c := range p.binPause {
			p.binPause[c] = p.PausedTime(c, begin)
		}
	}
	n.node.At(begin.Add(width), fabric.KindSample, 0, 0)
}

// sample ends a bin of the time series. Once nothing is sent or received
// and a bin is like the one before it, sampling rests until the NIC sends or receives again.
func (n *NIC) sample() {
	now, width := n.node.Now(), n.cfg.Interval
	rows := len(n.cfg.Sink.Points)
	at := now - sim.Time(width)
	put := func(id trace.ObjectID, metric string, v float64, last *float64) {
		if v != *last {
			*last = v
			n.cfg.Sink.Point(trace.Point{Time: at, Object: id, Metric: metric, Mean: v, Min: v, Max: v})
		}
	}
	for i := range n.ports {
		p := &n.ports[i]
		fabric.SamplePort(&p.Port, p.id, n.cfg.Sink, at, width, &p.binBytes, &p.lastBps)
		for c, id := range p.queueID {
			if id == 0 {
				continue
			}
			paused := p.PausedTime(c, now)
			put(id, trace.SeriesPaused, (paused-p.binPause[c]).Seconds()/width.Seconds(), &p.lastFrac[c])
			p.binPause[c] = paused
		}
	}
	put(n.id, trace.SeriesCNP, float64(n.stat.cnpSent-n.binCNP)/width.Seconds(), &n.lastCNP)
	n.binCNP = n.stat.cnpSent
	for _, in := range n.inbound {
		put(in.id, in.metric, float64(in.payload-in.bin)*8/width.Seconds(), &in.last)
		in.bin = in.payload
	}
	for _, q := range n.watched {
		if q.rp == nil {
			continue
		}
		put(q.series, trace.SeriesRate, float64(q.rp.Rate(now)), &q.last[0])
		if o, ok := q.rp.(congestion.Observer); ok {
			o.Observe(now, func(name string, v float64) {
				if name == trace.SeriesAlpha {
					put(q.series, name, v, &q.last[1])
				}
			})
		}
	}
	n.sampling = len(n.cfg.Sink.Points) > rows
	for i := range n.ports {
		n.sampling = n.sampling || n.ports[i].lastBps > 0
	}
	for _, in := range n.inbound {
		n.sampling = n.sampling || in.last > 0
	}
	if n.sampling {
		n.node.At(now.Add(width), fabric.KindSample, 0, 0)
	}
}

// ResetStat begins the measured interval.
func (n *NIC) ResetStat(now sim.Time) {
	n.binCNP -= n.stat.cnpSent // bins of series go on across the reset
	n.stat = nicStat{}
	n.rx.max = n.rx.bytes
	n.dog.reset()
	n.dma.reset()
	for i := range n.ports {
		p := &n.ports[i]
		p.binBytes -= p.TxBytes()
		for c := range p.binPause {
			p.binPause[c] -= p.PausedTime(c, now)
		}
		p.ResetStat(now)
	}
}

// TxPackets returns how many frames the NIC has sent since the counters were
// reset.
func (n *NIC) TxPackets() (sum uint64) {
	for i := range n.ports {
		sum += n.ports[i].TxPackets()
	}
	return sum
}

// Counters reports the totals at the end of the measured interval.
func (n *NIC) Counters(now sim.Time, f func(trace.Counter)) {
	add := func(name string, v uint64) {
		f(trace.Counter{Object: n.cfg.Name, Prio: -1, Name: name, Value: float64(v)})
	}
	add(trace.CountDataSent, n.stat.sent)
	add(trace.CountDataDelivered, n.stat.delivered)
	add(trace.CountRetransmitted, n.stat.retransmitted)
	add(trace.CountDiscarded, n.stat.discarded)
	add(trace.CountPayloadDelivered, n.stat.payload)
	add(trace.CountAcks, n.stat.acks)
	add(trace.CountNaks, n.stat.naks)
	add(trace.CountTimeouts, n.stat.timeouts)
	add(trace.CountCNPSent, n.stat.cnpSent)
	add(trace.CountCNPHandled, n.stat.cnpHandled)
	add(trace.CountCEReceived, n.stat.marked)
	add(trace.CountOutOfSequence, n.stat.early)
	add(trace.CountNaksReceived, n.stat.naksGot)
	if n.dog != nil {
		add(trace.CountPauseWarnings, n.dog.warnings)
		add(trace.CountPauseErrors, n.dog.errors)
		add(trace.CountDropWatchdog, 0) // those that there are, are counted at the port
	}
	if n.dma != nil {
		n.dma.counters(add)
	}
	if n.rx.slow {
		f(trace.Counter{Object: n.cfg.Name, Prio: -1, Name: trace.CountBufferSize, Value: float64(n.cfg.RxBuffer)})
		f(trace.Counter{Object: n.cfg.Name, Prio: -1, Name: trace.CountBufferMax, Value: float64(n.rx.max)})
	}
	for i := range n.ports {
		fabric.PortCounters(&n.ports[i].Port, fmt.Sprintf("%s:%d", n.cfg.Name, i), now, f)
	}
}
