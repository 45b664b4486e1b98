package scenarios

import (
	"cmp"
	"fmt"
	"slices"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/verbs"
	"rdmasim/verbs/simnic"
)

// Bottleneck is what a closed form needs to know of a scenario: the port to the
// host that most flows meet at, who sends to it, and how its switch is set.
type Bottleneck struct {
	Where    string   // leaf0:3 to h3
	Rate     sim.Rate // of that port
	Line     sim.Rate // of the senders, the least
	Priority int      // of their data
	Ports    int      // of the switch

	Senders int       // that begin within one round trip of each other
	Inputs  int       // ports of the switch by which they come
	Flows   int       // queue pairs that send to the host
	Others  int       // messages to other hosts that were posted as early
	Burst   sim.Bytes // payload of the least sender at the beginning
	Once    bool      // no sender posts more than it does at the beginning, as far as one can see
	Message sim.Bytes // the least

	RTT     sim.Duration // of a full frame and its ACK on the empty path, of the farthest sender
	Payload sim.Bytes    // of a full packet
	Frame   sim.Bytes    // that carries it
	Wire    sim.Bytes    // with preamble and gap

	ECN      fabric.ECNConfig
	Curves   bool // marking by curves per colour: ECN is that of the first colour that is marked
	Lossless bool
	Classes  int       // lossless priorities
	Pool     sim.Bytes // shared
	Reserve  sim.Bytes // of the priority group
	// Threshold is the limit of a priority group while so much of the pool is
	// free; nil without one.
	Threshold fabric.Threshold
	Alpha     float64 // of a dynamic threshold, else 0
	Headroom  sim.Bytes
	Needed    sim.Bytes // headroom by headroom: auto
	SharedHR  bool      // headroom is a pool of the switch
}

// FindBottleneck starts the workloads of a scenario without running anything
// and says where most of their flows meet. nil without an error: no traffic.
func FindBottleneck(s *Spec) (*Bottleneck, error) {
	w, err := build(s)
	if err != nil {
		return nil, &InputError{err}
	}
	plans, err := w.plan(s.readBeside)
	if err != nil {
		return nil, &InputError{err}
	}
	posts := w.early(plans)
	if len(posts) == 0 {
		return nil, nil
	}
	return w.bottleneck(posts), nil
}

// flowOf names a queue pair.
type flowOf struct{ src, dst, qp int }

// bottleneck picks the host that most senders begin to send to at one time, of
// several the one with most flows.
func (w *world) bottleneck(posts []post) *Bottleneck {
	slices.SortStableFunc(posts, func(a, b post) int { return cmp.Compare(a.at, b.at) })
	window := w.windowOf(posts[0])
	byHost := map[int][]post{}
	var hosts []int
	for _, p := range posts {
		if byHost[p.dst] == nil {
			hosts = append(hosts, p.dst)
		}
		byHost[p.dst] = append(byHost[p.dst], p)
	}
	slices.Sort(hosts)
	best, bestSenders, bestFlows := -1, 0, 0
	for _, h := range hosts {
		n, f := len(together(byHost[h], window)), flowCount(byHost[h])
		if n > bestSenders || n == bestSenders && f > bestFlows {
			best, bestSenders, bestFlows = h, n, f
		}
	}
	return w.describe(best, byHost[best], together(byHost[best], window), len(posts)-len(byHost[best]))
}

func (w *world) windowOf(p post) sim.Duration {
	return w.path(w.endpoint(p.src), w.endpoint(p.dst), 0, simnic.RoCEv2Port).BaseRTT
}

// endpoint returns the number of a host's first port among the endpoints.
func (w *world) endpoint(host int) int32 {
	for i, e := range w.routes.Endpoints() {
		if e.Node == w.hosts[host] {
			return int32(i)
		}
	}
	return 0
}

func flowCount(posts []post) int {
	seen := map[flowOf]bool{}
	for _, p := range posts {
		seen[flowOf{p.src, p.dst, p.qp}] = true
	}
	return len(seen)
}

// together returns what every sender posted within the span of that length in
// which most hosts begin.
func together(posts []post, span sim.Duration) map[int]sim.Bytes {
	var best map[int]sim.Bytes
	count := map[int]sim.Bytes{}
	refs := map[int]int{}
	from := 0
	for i := range posts {
		count[posts[i].src] += posts[i].bytes
		refs[posts[i].src]++
		for posts[i].at.Sub(posts[from].at) > span {
			src := posts[from].src
			count[src] -= posts[from].bytes
			if refs[src]--; refs[src] == 0 {
				delete(count, src)
			}
			from++
		}
		last := i+1 == len(posts) || posts[i+1].at > posts[i].at
		if last && len(count) > len(best) {
			best = make(map[int]sim.Bytes, len(count))
			for k, v := range count {
				best[k] = v
			}
		}
	}
	return best
}

// describe gathers the facts of the last port before a host.
func (w *world) describe(host int, posts []post, senders map[int]sim.Bytes, others int) *Bottleneck {
	b := &Bottleneck{Senders: len(senders), Flows: flowCount(posts), Others: others, Once: true}
	first := map[flowOf]sim.Time{}
	for _, p := range posts {
		if b.Message == 0 || p.bytes < b.Message {
			b.Message = p.bytes
		}
		f := flowOf{p.src, p.dst, p.qp}
		if at, ok := first[f]; ok && p.at > at {
			b.Once = false
		} else if !ok {
			first[f] = p.at
		}
	}
	b.Once = b.Once && w.once()
	inputs := map[any]bool{}
	order := make([]int, 0, len(senders))
	for src := range senders {
		order = append(order, src)
	}
	slices.Sort(order)
	for _, src := range order {
		if b.Burst == 0 || senders[src] < b.Burst {
			b.Burst = senders[src]
		}
		n := w.nicSpec[w.hosts[src]]
		b.Priority = n.Priority
		sizes := &w.sizes[w.hosts[src]]
		b.Payload, b.Frame = sim.Bytes(sizes.Payload), sizes.Data(sizes.Payload, false, verbs.OpWrite, false)
		from, to := w.endpoint(src), w.endpoint(host)
		path := w.path(from, to, 0, simnic.RoCEv2Port)
		b.RTT = max(b.RTT, path.BaseRTT)
		hops := w.walk(packet.Packet{Src: from, Dst: to, DstPort: simnic.RoCEv2Port})
		last := &hops[len(hops)-1]
		b.Wire = b.Frame + last.overhead
		if line := hops[0].rate; b.Line == 0 || line < b.Line {
			b.Line = line
		}
		if len(hops) >= 2 {
			inputs[hops[len(hops)-2].id] = true
		}
		b.Rate = last.rate
	}
	b.Inputs = len(inputs)
	if node, port := w.lastSwitch(host); node >= 0 {
		b.Where = fmt.Sprintf("%s:%d to %s", w.graph.Nodes[node].Name, port, w.graph.Nodes[w.hosts[host]].Name)
		w.atSwitch(b, node, port)
	}
	return b
}

// once reports whether every workload posts a bounded number of messages that
// was seen in full: closed loops that repeat are not.
func (w *world) once() bool {
	for i := range w.spec.Traffic {
		if p, ok := w.spec.Traffic[i].Params.(workload.IncastParams); !ok || int64(p.Repeat) != 1 {
			return false
		}
	}
	return true
}

// lastSwitch returns the switch and port before the first port of a host.
func (w *world) lastSwitch(host int) (node, port int) {
	me := w.hosts[host]
	q := w.ports.Of(me)[0]
	if w.switches[q.Peer] == nil {
		return -1, -1
	}
	for p := range w.ports.Of(q.Peer) {
		if w.ports.Of(q.Peer)[p].Peer == me {
			return q.Peer, p
		}
	}
	return -1, -1
}

// atSwitch reads what the switch was configured with.
func (w *world) atSwitch(b *Bottleneck, node, port int) {
	c := &w.switches[node].Cfg
	b.Ports = len(c.Ports)
	class := b.Priority
	out := &c.Ports[port]
	if out.ECN != nil {
		b.ECN = out.ECN[class]
	}
	in := 0 // a port by which senders come: any but the one to the host
	if port == 0 && b.Ports > 1 {
		in = 1
	}
	b.Needed = w.headroom(node, in, w.swSpec[node], c.Ports[in].PortConfig)
	for k := range 8 {
		if c.Lossless&(1<<k) != 0 {
			b.Classes++
		}
	}
	b.Lossless = c.Lossless&(1<<class) != 0
	if c.MMU == nil {
		b.Pool, b.Reserve, b.Headroom = sim.Bytes(c.Pool()), sim.Bytes(c.Buffer.Reserve), sim.Bytes(c.Ports[in].Headroom)
		b.Alpha = float64(c.Ports[in].Alpha) / fabric.AlphaOne
		return
	}
	queue := class
	if m := out.Maps; m != nil {
		queue = int(m.Queue[class])
	}
	if r := out.MMU.Queues[queue].WRED; r != nil && len(w.swSpec[node].WRED) > 0 {
		b.Curves = true
		for k, curve := range r.Curves {
			if r.Marks[k] && curve.On {
				b.ECN = fabric.ECNConfig{On: true, Kmin: curve.Min, Kmax: curve.Max, Pmax: curve.P, KeepPmax: curve.KeepP, At: r.At}
				break
			}
		}
	}
	group := class
	if m := c.Ports[in].Maps; m != nil {
		group = int(m.Group[class])
	}
	g := &c.Ports[in].MMU.Groups[group]
	pool := &c.MMU.Pools[g.Pool]
	b.Pool, b.Reserve, b.Headroom, b.Threshold = sim.Bytes(pool.Size), sim.Bytes(g.Reserve), sim.Bytes(g.Headroom), g.Threshold
	b.SharedHR = pool.Headroom > 0
	if g.Threshold != nil && pool.Size > 0 {
		// A dynamic threshold is alpha times what is free, so half as much at half.
		full, half := g.Threshold.Limit(pool.Size, pool.Size), g.Threshold.Limit(pool.Size/2, pool.Size)
		if d := full - 2*half; d*d <= 16 {
			b.Alpha = float64(full) / float64(pool.Size)
		}
	}
}

// Xoff returns at how many bytes in each of n priority groups together the
// first of them pauses, if all are filled alike and nothing else is in the
// buffer; false if nothing bounds them.
func (b *Bottleneck) Xoff(n int) (float64, bool) {
	switch {
	case n < 1 || b.Pool <= 0:
		return 0, false
	case b.Alpha > 0: // T = alpha (B - n T)
		return float64(b.Reserve) + b.Alpha*float64(b.Pool)/(1+float64(n)*b.Alpha), true
	case b.Threshold != nil:
		return float64(b.Reserve) + float64(b.Threshold.Limit(int64(b.Pool), int64(b.Pool))), true
	}
	return float64(b.Reserve) + float64(b.Pool)/float64(n), true
}
