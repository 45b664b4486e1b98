package topology

import "slices"

// channels numbers one channel per port of a switch; the first member of a LAG
// stands for all of them.
func (c *cycleSearch) channels() {
	g := c.r.graph
	c.first = make([]int32, len(g.Nodes)+1)
	for n := range g.Nodes {
		ports := 0
		if g.Nodes[n].Kind == Switch {
			ports = len(c.r.ports.Of(n))
		}
		c.first[n+1] = c.first[n] + int32(ports)
	}
	total := c.first[len(g.Nodes)]
	c.node, c.hop = make([]int32, total), make([]uint16, total)
	for n := range g.Nodes {
		for i := c.first[n]; i < c.first[n+1]; i++ {
			c.node[i], c.hop[i] = int32(n), c.r.HopOf(n, int(i-c.first[n]))
		}
	}
	c.next = make([][]step, total)
	c.state = make([]uint8, total)
	c.dead = map[[2]int32]bool{}
	c.active = map[int][]bool{}
}

// channel returns the number of a hop of a node.
func (c *cycleSearch) channel(node int, hop uint16) int32 {
	if hop&LAGHop != 0 {
		hop = c.r.LAG(node, hop)[0]
	}
	return c.first[node] + int32(hop)
}

// none marks channels that depend on nothing.
var none = make([]step, 0)

// after returns what a channel depends on: the channels by which its far end
// sends on some traffic that comes over it.
func (c *cycleSearch) after(ch int32) []step {
	if c.next[ch] != nil {
		return c.next[ch]
	}
	r, g := c.r, c.r.graph
	p, hop := int(c.node[ch]), c.hop[ch]
	n := r.Peer(p, hop)
	out := none
	if n >= 0 && g.Nodes[n].Kind == Switch && c.lossless(n) {
		var last *uint16
		has := false
		seen := map[*uint16]bool{}
		for i, e := range c.dests {
			set := r.Next(p, e)
			if len(set) == 0 {
				continue
			}
			if &set[0] != last {
				last, has = &set[0], slices.Contains(set, hop)
			}
			if !has {
				continue
			}
			on := r.Next(n, e)
			if len(on) == 0 || seen[&on[0]] {
				continue
			}
			seen[&on[0]] = true
			for _, h := range on {
				q := r.Peer(n, h)
				if q < 0 || g.Nodes[q].Kind != Switch || !c.lossless(q) {
					continue
				}
				to := c.channel(n, h)
				if !slices.ContainsFunc(out, func(s step) bool { return s.channel == to }) {
					out = append(out, step{to, int32(i)})
				}
			}
		}
	}
	c.next[ch] = out
	return out
}

// search walks the dependencies from the channels given and returns one that
// lies on a cycle, -1 if there is none.
func (c *cycleSearch) search(starts []turn) int32 {
	clear(c.state)
	type frame struct {
		channel int32
		edge    int
	}
	for _, s := range starts {
		root := c.channel(int(s.node), s.hop)
		if c.state[root] != fresh {
			continue
		}
		c.state[root] = open
		walk := []frame{{root, 0}}
		for len(walk) > 0 {
			f := &walk[len(walk)-1]
			next := c.after(f.channel)
			if f.edge == len(next) {
				c.state[f.channel] = done
				walk = walk[:len(walk)-1]
				continue
			}
			to := next[f.edge].channel
			f.edge++
			if c.dead[[2]int32{f.channel, to}] {
				continue
			}
			switch c.state[to] {
			case open:
				return to
			case fresh:
				c.state[to] = open
				walk = append(walk, frame{to, 0})
			}
		}
	}
	return -1
}

// link is a channel of a cycle with the destination whose traffic goes on to
// the next one, by its number among dests.
type link struct {
	channel, dest int32
}

// shortest returns the shortest cycle through a channel that lies on one.
func (c *cycleSearch) shortest(start int32) []link {
	type came struct{ from, dest int32 }
	from := map[int32]came{}
	queue := []int32{start}
	for i := 0; i < len(queue); i++ {
		for _, s := range c.after(queue[i]) {
			if c.dead[[2]int32{queue[i], s.channel}] {
				continue
			}
			if _, seen := from[s.channel]; seen {
				continue
			}
			from[s.channel] = came{queue[i], s.dest}
			if s.channel != start {
				queue = append(queue, s.channel)
				continue
			}
			var cycle []link
			for at := start; ; {
				f := from[at]
				cycle = append(cycle, link{f.from, f.dest})
				if at = f.from; at == start {
					slices.Reverse(cycle)
					return cycle
				}
			}
		}
	}
	return nil
}

// confirm reports whether hosts send the traffic that each dependency of a
// cycle needs, and puts its destination there. A dependency that no traffic
// makes is not followed any more.
func (c *cycleSearch) confirm(cycle []link) bool {
	ok := true
	for i := range cycle {
		a, b := cycle[i].channel, cycle[(i+1)%len(cycle)].channel
		if d := c.witness(a, b, cycle[i].dest); d >= 0 {
			cycle[i].dest = d
		} else {
			c.dead[[2]int32{a, b}] = true
			ok = false
		}
	}
	return ok
}

// witness returns a destination whose traffic goes over channel a and then b,
// -1 if there is none; first is looked at before the others.
func (c *cycleSearch) witness(a, b, first int32) int32 {
	goes := func(i int32) bool {
		e := c.dests[i]
		p, n := int(c.node[a]), int(c.node[b])
		return slices.Contains(c.r.Next(p, e), c.hop[a]) && slices.Contains(c.r.Next(n, e), c.hop[b]) && c.passed(e)[p]
	}
	if goes(first) {
		return first
	}
	for i := range c.dests {
		if goes(int32(i)) {
			return int32(i)
		}
	}
	return -1
}

// passed returns the nodes that traffic to an endpoint passes, whoever sends it.
func (c *cycleSearch) passed(e int) []bool {
	if p := c.active[e]; p != nil {
		return p
	}
	r, g := c.r, c.r.graph
	p := make([]bool, len(g.Nodes))
	var queue []int
	reach := func(node int, hop uint16) {
		if n := r.Peer(node, hop); n >= 0 && !p[n] && g.Nodes[n].Kind == Switch {
			p[n] = true
			queue = append(queue, n)
		}
	}
	for n := range g.Nodes {
		if g.Nodes[n].Kind == Host && n != r.endpoints[e].Node {
			for _, hop := range r.Next(n, e) {
				reach(n, hop)
			}
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, hop := range r.Next(queue[i], e) {
			reach(queue[i], hop)
		}
	}
	c.active[e] = p
	return p
}

// describe turns channels into links of the graph.
func (c *cycleSearch) describe(cycle []link) []Dependency {
	out := make([]Dependency, len(cycle))
	for i, l := range cycle {
		n := int(c.node[l.channel])
		out[i] = Dependency{Hop: Hop{n, int(l.channel - c.first[n])}, Peer: c.r.Peer(n, c.hop[l.channel]), Endpoint: c.dests[l.dest]}
	}
	return out
}
