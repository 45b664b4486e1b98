package fabric

import (
	"fmt"

	"rdmasim/sim/trace"
)

// threshold returns the XOFF threshold of a priority group now.
func (s *Switch) threshold(p *swPort, k *class) int64 {
	if s.full == nil {
		return s.mmu.limit(p.alpha)
	}
	g := k.config
	pool := &s.full.pools[g.Pool]
	if g.Threshold == nil {
		return pool.Size
	}
	return s.full.limit(g.Threshold, pool)
}

// reset begins a new measurement.
func (b *mmu) reset() {
	b.max = b.total
	for i := range b.pools {
		p := &b.pools[i]
		p.max, p.maxHead = p.used, p.head
	}
}

// counters reports how full the memory and its pools have been.
func (b *mmu) counters(node string, f func(trace.Counter)) {
	f(trace.Counter{Object: node, Prio: -1, Name: trace.CountBufferMax, Value: float64(b.max)})
	for i := range b.pools {
		p := &b.pools[i]
		add := func(n string, v int64) {
			f(trace.Counter{Object: node + "/" + p.Name, Prio: -1, Name: n, Value: float64(v)})
		}
		add(trace.CountPoolSize, p.Size)
		add(trace.CountPoolMax, p.max)
		if p.PoolConfig.Headroom > 0 {
			add(trace.CountPoolHeadroomSize, p.PoolConfig.Headroom)
			add(trace.CountPoolHeadroomMax, p.maxHead)
		}
	}
}

// countersFull reports the watermarks of a priority group and a queue in a
// buffer manager in full, and what WRED dropped.
func (k *class) countersFull(name string, c int, f func(trace.Counter)) {
	group := func(n string, v int64) {
		if v > 0 {
			f(trace.Counter{Object: name, Prio: int8(c), Name: n, Value: float64(v)})
		}
	}
	queue := func(n string, v uint64) {
		if v > 0 {
			f(trace.Counter{Object: fmt.Sprintf("%s/q%d", name, c), Prio: int8(c), Name: n, Value: float64(v)})
		}
	}
	group(trace.CountSharedMax, k.maxShared)
	queue(trace.CountQueueSharedMax, uint64(max(k.maxQueue, 0)))
	queue(trace.CountQueueTxPackets, k.sent-k.sentBefore)
	queue(trace.CountWREDDropped, k.wredDrops[0]+k.wredDrops[1]+k.wredDrops[2])
	queue(trace.CountWREDGreen, k.wredDrops[Green])
	queue(trace.CountWREDYellow, k.wredDrops[Yellow])
	queue(trace.CountWREDRed, k.wredDrops[Red])
}
