package topology

import "math/bits"

// A cyclic buffer dependency is a ring of links in which frames on each wait in
// a buffer that drains only over the next. With PFC it is what a deadlock needs;
// whether one comes depends on the traffic. Source: Dally and Seitz,
// "Deadlock-free message routing in multiprocessor interconnection networks",
// 1987; Hu et al., "Deadlocks in Datacenter Networks", HotNets'16.

// Dependency is one link of a cycle of buffer dependencies.
type Dependency struct {
	Hop      Hop // the link, by the port that sends
	Peer     int // the switch at its other end, in whose buffer the frames wait
	Endpoint int // traffic to this endpoint goes over this link and then the next one
}

// BufferCycle returns a cycle of buffer dependencies that the routes allow
// among the switches for which lossless is true, nil if there is none. Traffic
// may go from every host to every other.
//
// Links that lead up, then links that lead down cannot close a cycle. So only
// what follows a turn from down to up, or over links within a tier, is searched,
// and a fat tree without bad routes costs one look at its table.
func (r *Routes) BufferCycle(lossless func(node int) bool) []Dependency {
	c := &cycleSearch{r: r, lossless: lossless, dests: r.destinations()}
	starts := c.turns()
	if len(starts) == 0 {
		return nil
	}
	c.channels()
	for tries := 0; ; tries++ {
		at := c.search(starts)
		if at < 0 {
			return nil
		}
		cycle := c.shortest(at)
		if tries >= maxRefuted || c.confirm(cycle) {
			return c.describe(cycle)
		}
	}
}

// maxRefuted is how many cycles may turn out to need traffic that no host
// sends before one is reported all the same.
const maxRefuted = 256

// destinations returns one endpoint of each set of endpoints that are routed
// alike: those of one group that have the same static routes.
func (r *Routes) destinations() []int {
	var out []int
	if r.over == nil {
		seen := make([]bool, r.groups)
		for e, g := range r.group {
			if !seen[g] {
				seen[g] = true
				out = append(out, e)
			}
		}
		return out
	}
	var nodes []int // with static routes
	for n, row := range r.over.row {
		if row != nil {
			nodes = append(nodes, n)
		}
	}
	seen := map[uint64]bool{}
	for e, g := range r.group {
		h := mix(uint64(g) + 1)
		for _, n := range nodes {
			if id := r.over.row[n][e]; id != 0 {
				h = mix(h ^ mix(uint64(n)<<17|uint64(id)))
			}
		}
		if !seen[h] {
			seen[h] = true
			out = append(out, e)
		}
	}
	return out
}

// mix is a step of a 64-bit hash (the finalizer of SplitMix64).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// cycleSearch is the work in progress of BufferCycle. A channel is one direction
// of a link or LAG between switches.
type cycleSearch struct {
	r        *Routes
	lossless func(int) bool
	dests    []int // representatives

	first  []int32 // by node: number of the channel of its port 0
	node   []int32 // by channel
	hop    []uint16
	next   [][]step // by channel: what it depends on, nil = not yet computed
	state  []uint8  // by channel: new, open (on the path of the search) or done
	dead   map[[2]int32]bool
	active map[int][]bool // by destination: switches that traffic to it passes
}

// step is a dependency on a channel, with an endpoint whose traffic makes it.
type step struct {
	channel int32
	dest    int32
}

// States of a channel in a search.
const (
	fresh = iota
	open
	done
)

// turns returns the channels that begin after a turn which no up-down route
// makes: over a link to a higher switch or one of the same tier, of traffic that
// came from above or from the same tier.
func (c *cycleSearch) turns() []turn {
	r, g := c.r, c.r.graph
	words := (len(c.dests) + 63) / 64
	above := make([][]uint64, len(g.Nodes)) // by switch: the destinations whose traffic comes from its tier or above
	for n := range g.Nodes {
		if g.Nodes[n].Kind == Switch && c.lossless(n) {
			above[n] = make([]uint64, words)
		}
	}
	for p := range above {
		if above[p] != nil {
			c.fromAbove(p, above)
		}
	}
	var out []turn
	seen := map[turn]bool{}
	for n := range g.Nodes {
		for w, bit := range above[n] {
			for ; bit != 0; bit &= bit - 1 {
				for _, h := range r.Next(n, c.dests[w*64+bits.TrailingZeros64(bit)]) {
					q := r.Peer(n, h)
					if q < 0 || g.Nodes[q].Kind != Switch || g.Nodes[q].Tier < g.Nodes[n].Tier {
						continue
					}
					if t := (turn{int32(n), h}); !seen[t] {
						seen[t] = true
						out = append(out, t)
					}
				}
			}
		}
	}
	return out
}

// fromAbove notes what a switch sends to switches of its tier or below it.
func (c *cycleSearch) fromAbove(p int, above [][]uint64) {
	r, g := c.r, c.r.graph
	row := r.plainRow(p)
	up := upward{r: r, node: p}
	for i, e := range c.dests {
		if row != nil && up.same(row[r.group[e]]) {
			continue
		}
		set := r.Next(p, e)
		if len(set) == 0 || up.all(set) {
			continue
		}
		for _, hop := range set {
			n := r.Peer(p, hop)
			if n >= 0 && above[n] != nil && g.Nodes[n].Tier <= g.Nodes[p].Tier {
				above[n][i/64] |= 1 << (i % 64)
			}
		}
	}
}

// turn is a channel by node and hop.
type turn struct {
	node int32
	hop  uint16
}

// upward tells whether sets of next hops of a node lead to higher tiers alone.
// Neighbouring destinations mostly share a set, so that one answer is kept.
type upward struct {
	r    *Routes
	node int
	id   uint32 // number of a set that leads to higher tiers alone, 0 = none yet
	last *uint16
	n    int
	was  bool
}

// same reports whether a set, by its number, is the last one that was found to
// lead to higher tiers alone.
func (u *upward) same(id uint32) bool {
	if id == u.id && id != 0 && u.was {
		return true
	}
	u.id = id
	return false
}

func (u *upward) all(set []uint16) bool {
	if u.last == &set[0] && u.n == len(set) {
		return u.was
	}
	g := u.r.graph
	u.last, u.n, u.was = &set[0], len(set), true
	for _, hop := range set {
		q := u.r.Peer(u.node, hop)
		u.was = u.was && q >= 0 && g.Nodes[q].Kind == Switch && g.Nodes[q].Tier > g.Nodes[u.node].Tier
	}
	return u.was
}

// plainRow returns the sets of a switch by group, nil where static routes have a
// say too.
func (r *Routes) plainRow(node int) []uint32 {
	if r.over != nil && r.over.row[node] != nil {
		return nil
	}
	from := int(r.row[node]) * r.groups
	return r.table[from : from+r.groups]
}
