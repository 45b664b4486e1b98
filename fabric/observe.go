package fabric

import (
	"fmt"
	"math/bits"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

func (s *Switch) dropped(in int, m *packet.Packet, why string) {
	if t := s.ports[in].tap; t != nil {
		t.Dropped(s.node.Now(), in, *m, why)
	}
	s.Cfg.Sink.Event(trace.Event{Time: s.node.Now(), Kind: trace.EventDrop, Object: s.ports[in].id, Prio: int8(m.Prio), Value: float64(m.Size), Cause: why})
}

// logPause reports pause episodes of a port that began or ended.
func (s *Switch) logPause(port int) {
	if !s.Cfg.PauseLog {
		return
	}
	p := &s.ports[port]
	changed := (p.Paused ^ p.logged)
	if p.Cfg.Global && changed != 0 {
		s.Cfg.Sink.Event(p.GlobalEvent(p.id, s.Cfg.Ports[port].PeerID, s.node.Now()))
		p.logged = p.Paused
		return
	}
	for c := changed; c != 0; c &= c - 1 {
		i := bits.TrailingZeros8(c)
		e := trace.Event{Time: s.node.Now(), Kind: trace.EventPauseOn, Object: p.id, Peer: s.Cfg.Ports[port].PeerID, Prio: int8(i)}
		if p.Paused&(1<<i) == 0 {
			e.Kind = trace.EventPauseOff
			e.Value = s.node.Now().Sub(p.PausedSince(i)).Seconds()
		}
		s.Cfg.Sink.Event(e)
	}
	p.logged = p.Paused
}

func (s *Switch) logXoff(in int, c uint8, g *PriorityGroup, limit int64) {
	if !s.Cfg.PauseLog {
		return
	}
	why := "threshold"
	if g.Headroom > 0 {
		why = "headroom in use"
	}
	s.Cfg.Sink.Event(trace.Event{Time: s.node.Now(), Kind: trace.EventXoff, Object: s.ports[in].id, Peer: s.Cfg.Ports[in].PeerID, Prio: int8(c), Value: float64(g.Ingress), Cause: why})
	s.logHeld(in, c)
}

func (s *Switch) logXon(in int, c uint8, g *PriorityGroup) {
	if s.Cfg.PauseLog {
		s.Cfg.Sink.Event(trace.Event{Time: s.node.Now(), Kind: trace.EventXon, Object: s.ports[in].id, Peer: s.Cfg.Ports[in].PeerID, Prio: int8(c), Value: float64(g.Ingress)})
	}
}

// sample ends a bin of the time series of every port. Once nothing is
// sent and a bin is like the one before it, sampling rests until something
// happens.
func (s *Switch) sample() {
	now, width := s.node.Now(), s.Cfg.Interval
	at := now - sim.Time(width)
	rows := len(s.Cfg.Sink.Points)
	for i := range s.ports {
		p := &s.ports[i]
		SamplePort(&p.Port, p.id, s.Cfg.Sink, at, width, &p.binBytes, &p.lastBps)
		for c, k := range p.class {
			if k == nil {
				continue
			}
			if k.queueID != 0 {
				s.sampleQueue(p, k, c, at, width)
			}
			if k.groupID != 0 {
				s.sampleGroup(p, k, at, width)
			}
		}
	}
	s.sampling = len(s.Cfg.Sink.Points) > rows
	for i := range s.ports {
		s.sampling = s.sampling || s.ports[i].lastBps > 0
	}
	if s.sampling {
		s.node.At(now.Add(width), KindSample, 0, 0)
	}
}

// wake begins sampling again with the bin that now lies in.
func (s *Switch) wake() {
	s.sampling = true
	now, width := s.node.Now(), s.Cfg.Interval
	begin := now - now%sim.Time(width)
	for i := range s.ports {
		p := &s.ports[i]
		for c, k := range p.class {
			if k != nil {
				k.EgressQueue.level.begin(begin)
				k.PriorityGroup.level.begin(begin)
				k.binPause = p.PausedTime(c, begin)
			}
		}
	}
	s.node.At(begin.Add(width), KindSample, 0, 0)
}

// SamplePort ends a bin of a port's throughput.
func SamplePort(p *Port, id trace.ObjectID, sink *trace.Sink, at sim.Time, width sim.Duration, bytes *uint64, last *float64) {
	bps := float64(p.txBytes-*bytes) * 8 / width.Seconds()
	*bytes = p.txBytes
	if bps != *last {
		*last = bps
		sink.Point(trace.Point{Time: at, Object: id, Metric: trace.SeriesThroughput, Mean: bps, Min: bps, Max: bps})
	}
}

func (s *Switch) sampleQueue(p *swPort, k *class, c int, at sim.Time, width sim.Duration) {
	q := &k.EgressQueue
	now := at.Add(width)
	if mean, lo, hi, changed := q.level.bin(now, width); changed {
		s.Cfg.Sink.Point(trace.Point{Time: at, Object: k.queueID, Metric: trace.SeriesQueueBytes, Mean: mean, Min: lo, Max: hi})
	}
	if rate := float64(q.Marked-q.binMarked) / width.Seconds(); rate != k.lastMark {
		k.lastMark = rate
		s.Cfg.Sink.Point(trace.Point{Time: at, Object: k.queueID, Metric: trace.SeriesMarked, Mean: rate, Min: rate, Max: rate})
	}
	q.binMarked = q.Marked
	paused := p.PausedTime(c, now)
	frac := (paused - k.binPause).Seconds() / width.Seconds()
	k.binPause = paused
	if frac != k.lastFrac {
		k.lastFrac = frac
		s.Cfg.Sink.Point(trace.Point{Time: at, Object: k.queueID, Metric: trace.SeriesPaused, Mean: frac, Min: frac, Max: frac})
	}
}

func (s *Switch) sampleGroup(p *swPort, k *class, at sim.Time, width sim.Duration) {
	g := &k.PriorityGroup
	mean, lo, hi, changed := g.level.bin(at.Add(width), width)
	if changed {
		s.Cfg.Sink.Point(trace.Point{Time: at, Object: k.groupID, Metric: trace.SeriesIngressBytes, Mean: mean, Min: lo, Max: hi})
	}
	if limit := float64(s.threshold(p, k)); g.level.max > 0 && limit != g.lastLimit {
		g.lastLimit = limit
		s.Cfg.Sink.Point(trace.Point{Time: at, Object: k.groupID, Metric: trace.SeriesThreshold, Mean: limit, Min: limit, Max: limit})
	}
	head := float64(g.binHead)
	g.binHead = g.Headroom
	if head != g.lastHead {
		g.lastHead = head
		s.Cfg.Sink.Point(trace.Point{Time: at, Object: k.groupID, Metric: trace.SeriesHeadroom, Mean: head, Min: head, Max: head})
	}
}

// ResetStat begins the measured interval: counters start from zero. What the
// bins of series began with may wrap below it, and their differences do not.
func (s *Switch) ResetStat(now sim.Time) {
	s.start = now
	s.mmu.max = s.mmu.total
	if s.full != nil {
		s.full.reset()
	}
	for i := range s.ports {
		p := &s.ports[i]
		p.binBytes -= p.txBytes // bins go on across the reset
		for c, k := range p.class {
			if k != nil {
				k.binPause -= p.PausedTime(c, now)
			}
		}
		p.ResetStat(now)
		if p.dog != nil {
			p.dog.reset(now)
		}
		for _, k := range p.class {
			if k == nil {
				continue
			}
			q, g := &k.EgressQueue, &k.PriorityGroup
			q.level.reset(now)
			q.binMarked -= q.Marked
			q.Eligible, q.Marked = 0, 0
			g.level.reset(now)
			g.max, g.maxHead = g.Ingress, g.Headroom
			g.closestUse, g.closestLimit, g.leastLimit = 0, 0, 0
			if f := k.managed; f != nil {
				f.maxShared, f.maxQueue, f.sentBefore, f.wredDrops = 0, 0, f.sent, [3]uint64{}
			}
		}
	}
}

// TxPackets returns how many frames the switch has sent since the counters
// were reset.
func (s *Switch) TxPackets() (n uint64) {
	for i := range s.ports {
		n += s.ports[i].txPackets
	}
	return n
}

// Counters reports the totals at the end of the measured interval. It may be
// called once, with the time at which the interval ends.
func (s *Switch) Counters(now sim.Time, f func(trace.Counter)) {
	span := now.Sub(s.start)
	node := s.Cfg.Name
	f(trace.Counter{Object: node, Prio: -1, Name: trace.CountBufferSize, Value: float64(s.Cfg.Buffer.Size)})
	if s.full == nil {
		f(trace.Counter{Object: node, Prio: -1, Name: trace.CountBufferMax, Value: float64(s.mmu.max)})
	} else {
		s.full.counters(node, f)
	}
	for i := range s.ports {
		p := &s.ports[i]
		name := fmt.Sprintf("%s:%d", node, i)
		PortCounters(&p.Port, name, now, f)
		for c, k := range p.class {
			if k != nil {
				s.queueCounters(&k.EgressQueue, name, c, now, span, f)
				s.groupCounters(i, &k.PriorityGroup, name, c, f)
				if s.full != nil {
					k.countersFull(name, c, f)
				}
			}
		}
		if p.dog != nil {
			p.dog.counters(name, now, f)
			if p.Stat.DropWatchdog == 0 {
				f(trace.Counter{Object: name, Prio: -1, Name: trace.CountDropWatchdog})
			}
		}
	}
}

func (s *Switch) queueCounters(q *EgressQueue, name string, c int, now sim.Time, span sim.Duration, f func(trace.Counter)) {
	q.level.set(q.level.value, now)
	q.level.settle(now)
	if q.level.max == 0 && q.Eligible == 0 {
		return
	}
	name = fmt.Sprintf("%s/q%d", name, c)
	add := func(n string, v float64) {
		f(trace.Counter{Object: name, Prio: int8(c), Name: n, Value: v})
	}
	add(trace.CountQueueMax, float64(q.level.max))
	add(trace.CountQueueIntegral, q.level.integral/float64(sim.Second))
	add(trace.CountQueueP99, float64(q.level.quantile(0.99, span)))
	if q.ecn.On {
		add(trace.CountECNEligible, float64(q.Eligible))
		add(trace.CountECNMarked, float64(q.Marked))
	}
}

func (s *Switch) groupCounters(i int, g *PriorityGroup, name string, c int, f func(trace.Counter)) {
	if g.max == 0 && g.maxHead == 0 {
		return
	}
	add := func(n string, v float64) {
		f(trace.Counter{Object: name, Prio: int8(c), Name: n, Value: v})
	}
	add(trace.CountIngressMax, float64(g.max))
	head, lossless := s.Cfg.Ports[i].Headroom, s.Cfg.Lossless&(1<<c) != 0
	if s.full != nil {
		head, lossless = s.Cfg.Ports[i].MMU.Groups[c].Headroom, s.lossless(i, uint8(c))
	}
	if !lossless {
		return
	}
	add(trace.CountHeadroomSize, float64(head))
	add(trace.CountHeadroomMax, float64(g.maxHead))
	if g.closestLimit > 0 {
		add(trace.CountXoffMinimum, float64(g.leastLimit))
		add(trace.CountClosestToXoff, float64(g.closestUse)/float64(g.closestLimit))
	}
}

// PortCounters reports the totals of one port.
func PortCounters(p *Port, name string, now sim.Time, f func(trace.Counter)) {
	add := func(prio int, n string, v float64) {
		f(trace.Counter{Object: name, Prio: int8(prio), Name: n, Value: v})
	}
	some := func(prio int, n string, v float64) {
		if v != 0 {
			add(prio, n, v)
		}
	}
	add(-1, trace.CountTxPackets, float64(p.txPackets))
	add(-1, trace.CountTxBytes, float64(p.txBytes))
	some(-1, trace.CountDropLossless, float64(p.Stat.DropLossless))
	some(-1, trace.CountDropLossy, float64(p.Stat.DropLossy))
	some(-1, trace.CountDropFault, float64(p.Stat.DropFault))
	some(-1, trace.CountDropWatchdog, float64(p.Stat.DropWatchdog))
	some(-1, trace.CountFaultCopies, float64(p.Stat.Copies))
	if p.pauses == nil {
		return
	}
	p.globalCounters(name, now, f)
	k := &p.pauses.PauseStat
	for c := 0; c < 8; c++ {
		some(c, trace.CountPFCXoffTx, float64(k.XoffTx[c]))
		some(c, trace.CountPFCXonTx, float64(k.XonTx[c]))
		some(c, trace.CountPFCRefreshTx, float64(k.RefreshTx[c]))
		some(c, trace.CountPFCXoffRx, float64(k.XoffRx[c]))
		some(c, trace.CountPFCXonRx, float64(k.XonRx[c]))
		some(c, trace.CountPauseEpisodes, float64(k.Episodes[c]))
		if d := p.PausedTime(c, now); d > 0 && !p.Cfg.Global {
			add(c, trace.CountPausedSeconds, d.Seconds())
			add(c, trace.CountPauseLongest, p.LongestPause(c, now).Seconds())
		}
	}
}
