package fabric

// MMUConfig is the buffer manager of a switch in full: pools, cells, and, in
// SwitchPortConfig.MMU, what each priority group and queue of a port may use of
// them. Without it a switch has one pool for everything, as BufferConfig says.
type MMUConfig struct {
	Size  int64 // whole memory: what does not fit there is dropped in any case
	Cell  int64 // a frame takes whole cells; 1 = bytes
	Pools []PoolConfig
	Color [64]Color // drop precedence by DSCP
}

// PoolConfig is a part of the memory.
type PoolConfig struct {
	Name     string
	Size     int64 // shared bytes; reserves and private headroom come on top
	Headroom int64 // headroom that its groups share; 0 = private
}

// GroupConfig is a priority group of a port.
type GroupConfig struct {
	Pool      int // index
	Reserve   int64
	Threshold Threshold // nil: only the pool bounds it
	Headroom  int64
	Xon       int64 // resume at this shared use
	XonOffset int64 // or so far below the threshold, whichever is more
}

// QueueConfig is an egress queue of a port.
type QueueConfig struct {
	Pool      int // index
	Reserve   int64
	Threshold Threshold // nil: not bounded
	WRED      *WREDConfig
}

// PortMMU holds the groups and queues of a port.
type PortMMU struct {
	Groups [8]GroupConfig
	Queues [8]QueueConfig
}

// pool is a part of the memory in use. A pool for both sides is charged by
// priority groups alone, and bounds queues by what they leave free.
type pool struct {
	PoolConfig
	used    int64
	head    int64 // of the shared headroom
	max     int64
	maxHead int64
}

func (p *pool) free() int64 { return max(p.Size-p.used, 0) }

func (p *pool) use(n int64) {
	p.used += n
	p.max = max(p.max, p.used)
}

// mmu is the state of a buffer manager in full.
type mmu struct {
	MMUConfig
	pools []pool
	both  []bool // by pool: groups charge it, queues only look
	total int64
	max   int64
}

// round brings a size down to whole cells.
func (b *mmu) round(n int64) int64 { return n - n%b.Cell }

// takes returns what a frame takes of the memory.
func (b *mmu) takes(size uint16) int64 {
	n := int64(size) + b.Cell - 1
	return n - n%b.Cell
}

// newMMU rounds the thresholds of all ports to cells.
func newMMU(c *SwitchConfig) *mmu {
	b := &mmu{MMUConfig: *c.MMU}
	b.Cell = max(b.Cell, 1)
	b.pools, b.both = make([]pool, len(b.Pools)), make([]bool, len(b.Pools))
	for i, p := range b.Pools {
		p.Size, p.Headroom = b.round(p.Size), b.round(p.Headroom)
		b.pools[i].PoolConfig = p
	}
	ingress := make([]bool, len(b.Pools))
	for i := range c.Ports {
		own := *c.Ports[i].MMU
		for k := range own.Groups {
			g := &own.Groups[k]
			g.Reserve, g.Headroom, g.Xon, g.XonOffset = b.round(g.Reserve), b.round(g.Headroom), b.round(g.Xon), b.round(g.XonOffset)
			ingress[g.Pool] = true
		}
		for k := range own.Queues {
			own.Queues[k].Reserve = b.round(own.Queues[k].Reserve)
		}
		c.Ports[i].MMU = &own
	}
	copy(b.both, ingress)
	return b
}

// limit returns the threshold of a group or queue now.
func (b *mmu) limit(t Threshold, p *pool) int64 {
	return b.round(t.Limit(p.free(), p.Size))
}

// below reports whether n is clearly below the threshold: one eighth of slack
// keeps the exact comparison to the slow path.
func (b *mmu) below(n int64, t Threshold, p *pool) bool {
	return n < p.free() && (t == nil || n*8 < b.limit(t, p)*7)
}

// resume returns the shared use at or below which a group lets its peer go on.
// Source: SONiC, sonic-buffer-profile.yang: the larger of xon and threshold
// less xon_offset; without an offset, xon alone.
func (g *GroupConfig) resume(limit int64) int64 {
	if g.Xon > 0 && g.XonOffset == 0 {
		return g.Xon
	}
	return max(g.Xon, limit-g.XonOffset)
}
