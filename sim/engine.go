package sim

import (
	"context"
	"fmt"
	"sync/atomic"
)

// The window engine. A fabric is nodes joined by links, and nothing reaches
// another node except over a link, which takes at least its delay. So every
// group of nodes runs alone over one window as long as the smallest delay
// between groups, with a small private event queue; then the frames that the
// links took over are handed to their receivers and the next window starts.
// Results depend neither on the grouping, nor on the window, nor on workers.

// ShortLink is the delay below which two nodes share one group and queue:
// a shorter window would cost more than it brings.
const ShortLink = 50 * Nanosecond

// minGrace bounds the window from above where no delay does.
const minGrace = 1 * Microsecond

// Kind orders what happens to a node at one instant: lower kinds first, then
// lower ports, then the order of scheduling.
type Kind uint8

// KindMessage is the kind of arriving messages; timers of lower kinds come
// before them at the same instant, timers of higher kinds after.
const KindMessage Kind = 128

// Handler is the behaviour of a node. Its methods are called one at a time, in
// the order of (time, kind, port, sequence).
type Handler[M any] interface {
	// OnMessage is called when a message has arrived over the link at port.
	// The message is valid during the call only.
	OnMessage(port int, m *M)
	// OnTimer is called at the time given to Node.At.
	OnTimer(kind Kind, port int, arg uint64)
}

// Node is a node's handle on the engine.
type Node[M any] struct {
	Index   int
	handler Handler[M]
	g       *group[M]
	seq     uint64
	out     []outlet[M]
	pod     int
	done    bool
	local   int32
}

// outlet is the sending end of a link.
type outlet[M any] struct {
	dst   *Node[M]
	delay Duration
	seq   uint64 // of messages sent
	port  uint16 // at the receiver
	cross bool   // the receiver is in another group
	group int32  // of the receiver
	local int32  // the receiver within its group
}

// Now returns the time of the event that is being handled.
func (n *Node[M]) Now() Time { return n.g.now }

// At calls OnTimer(kind, port, arg) at t, which must not be in the past.
func (n *Node[M]) At(t Time, kind Kind, port int, arg uint64) {
	if t < n.g.now {
		panic(fmt.Sprintf("sim: node %d schedules at %d ps, before now %d ps", n.Index, t, n.g.now))
	}
	if kind == KindMessage {
		panic("sim: a timer cannot have the kind of messages")
	}
	if t == Never {
		return
	}
	n.seq++
	n.g.insert(t, uint64(kind)<<56|uint64(port&0xffff)<<40|n.seq&(1<<40-1), n.local, arg)
}

// Send hands a message to the link at port; it arrives at the time given, at
// least the link's delay from now.
func (n *Node[M]) Send(port int, at Time, m *M) {
	o := &n.out[port]
	o.seq++
	key := uint64(KindMessage)<<56 | uint64(o.port)<<40 | o.seq&(1<<40-1)
	if !o.cross {
		g := n.g
		i := g.worker.take()
		*g.worker.at(i) = *m
		g.insert(at, key, o.local, uint64(i))
		return
	}
	w := n.g.worker
	if at < w.end {
		panic(fmt.Sprintf("sim: node %d port %d sends a message that arrives at %d ps, inside the window that ends at %d ps", n.Index, port, at, w.end))
	}
	l := w.post.write(w.parity, o.group)
	l.at, l.key, l.to, l.m = at, key, o.local, *m
	if at < w.sentMin {
		w.sentMin = at
	}
}

// Keep keeps the message that is being handled beyond the call and returns its
// slot, which is never 0. Free gives it back.
func (n *Node[M]) Keep() int32 {
	w := n.g.worker
	w.kept = true
	return w.current
}

// Message returns the message in a slot; the pointer holds until Free.
func (n *Node[M]) Message(slot int32) *M { return n.g.worker.at(slot) }

// Free gives a kept slot back.
func (n *Node[M]) Free(slot int32) { n.g.worker.msgFree = append(n.g.worker.msgFree, slot) }

// Shared returns a place that all nodes of one worker share, such as a pool of
// memory. It exists once a run has begun; what is kept there must not change
// what a node does.
func (n *Node[M]) Shared() *any { return &n.g.worker.shared }

// Done says that the node will start nothing more; a run without a fixed end
// stops when all nodes are done.
func (n *Node[M]) Done() {
	if !n.done {
		n.done = true
		w := n.g.worker
		if w == nil { // before the run
			return
		}
		w.done++
		w.doneAt = max(w.doneAt, n.g.now)
	}
}

// Resume takes Done back: the node has something to do again.
func (n *Node[M]) Resume() {
	if n.done {
		n.done = false
		if w := n.g.worker; w != nil {
			w.done--
		}
	}
}

// Engine runs nodes over simulated time.
type Engine[M any] struct {
	nodes   []*Node[M]
	delay   Duration // largest delay of a link
	groups  []*group[M]
	window  Duration
	grace   Duration
	workers []*worker[M]
	cuts    []cut
	stop    atomic.Bool
	handled uint64  // events, up to the last look
	pace    float64 // events per window, averaged over some
}

type cut struct {
	at Time
	f  func(Time)
}

// NewEngine returns an engine without nodes.
func NewEngine[M any]() *Engine[M] { return &Engine[M]{} }

// AddNode adds a node with so many ports. Nodes of one pod (-1 = none) are kept
// on one worker where possible.
func (e *Engine[M]) AddNode(h Handler[M], ports, pod int) *Node[M] {
	n := &Node[M]{Index: len(e.nodes), handler: h, out: make([]outlet[M], ports), pod: pod}
	n.g = &group[M]{nearMin: Never}
	e.nodes = append(e.nodes, n)
	return n
}

// SetHandler replaces the behaviour of a node before the run.
func (n *Node[M]) SetHandler(h Handler[M]) { n.handler = h }

// Connect makes a one-way link from a port of a to a port of b.
func (e *Engine[M]) Connect(a *Node[M], ap int, b *Node[M], bp int, delay Duration) {
	if delay < 0 {
		panic("sim: negative link delay")
	}
	a.out[ap] = outlet[M]{dst: b, port: uint16(bp), delay: delay}
	e.delay = max(e.delay, delay)
}

// Events returns how many events have been handled. It may be called between
// windows.
func (e *Engine[M]) Events() (n uint64) {
	for _, g := range e.groups {
		n += g.handled
	}
	return n
}

// AtGlobal calls f at t between windows: every event before t has happened
// and none at or after t.
func (e *Engine[M]) AtGlobal(t Time, f func(Time)) { e.cuts = append(e.cuts, cut{t, f}) }

// RunOptions says how far and how to run.
type RunOptions struct {
	Until     Time // events before this time happen
	UntilDone bool // stop earlier, once every node is done
	Workers   int  // goroutines asked for; fewer are used where that is faster
	Exactly   bool // as many workers as asked for, at most one per group, whatever is faster: for tests
	// Between is called between windows with the time up to which everything
	// has happened.
	Between func(t Time)
}

// RunResult says how a run ended.
type RunResult struct {
	End     Time   // everything before this time has happened
	Events  uint64 // events handled
	Workers int    // workers used
	Stopped bool   // cut short by the context
	Idle    bool   // nothing was left to happen
}

// smallGroups is the number of groups per worker below which another worker
// costs more in barriers than it saves.
const smallGroups = 24

// Run runs the nodes. It can be called once.
func (e *Engine[M]) Run(ctx context.Context, o RunOptions) RunResult {
	e.prepare(o)
	if ctx != nil && ctx.Done() != nil {
		defer context.AfterFunc(ctx, func() { e.stop.Store(true) })()
	}
	return e.run(o)
}

// prepare forms the groups, sizes their queues and assigns them to workers.
func (e *Engine[M]) prepare(o RunOptions) {
	e.group()
	e.grace = max(e.delay, minGrace)
	e.window = e.grace
	ports := 0
	for i, g := range e.groups {
		g.index = i
		ports = max(ports, g.ports)
	}
	for _, n := range e.nodes {
		for i := range n.out {
			o := &n.out[i]
			if o.dst == nil {
				continue
			}
			o.group, o.local = int32(o.dst.g.index), o.dst.local
			o.cross = o.dst.g != n.g
			if o.cross {
				e.window = min(e.window, o.delay)
			}
		}
	}
	most := len(e.groups) / smallGroups
	if o.Exactly {
		most = len(e.groups)
	}
	e.assign(max(1, min(o.Workers, most)), ports)
}

// group joins nodes over short links and adopts events scheduled so far.
func (e *Engine[M]) group() {
	parent := make([]int, len(e.nodes))
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for i, n := range e.nodes {
		for j := range n.out {
			if o := &n.out[j]; o.dst != nil && o.delay < ShortLink {
				a, b := find(i), find(o.dst.Index)
				parent[max(a, b)] = min(a, b)
			}
		}
	}
	for i, n := range e.nodes {
		r := find(i)
		g := e.nodes[r].g
		if r == i {
			e.groups = append(e.groups, g)
		}
		pending := n.g.far
		if r != i {
			n.g = g
		} else {
			g.far = nil
		}
		n.local = int32(len(g.nodes))
		g.nodes = append(g.nodes, n)
		for _, ev := range pending {
			ev.node = n.local
			g.pushFar(ev)
		}
		g.ports += len(n.out)
	}
}

// assign spreads groups over workers: whole pods where there are enough of
// them, else by weight in order.
func (e *Engine[M]) assign(workers, ports int) {
	e.workers = make([]*worker[M], workers)
	for i := range e.workers {
		w := newWorker[M](i, ports, e.window)
		w.post.init(len(e.groups), workers)
		e.workers[i] = w
	}
	pods := 0
	for _, g := range e.groups {
		pods = max(pods, g.nodes[0].pod+1)
	}
	total, sum := 0, 0
	for _, g := range e.groups {
		total += g.ports + 1
	}
	loose := 0
	for _, g := range e.groups {
		i := sum * workers / total
		if pods >= workers {
			if p := g.nodes[0].pod; p >= 0 {
				i = p * workers / pods
			} else {
				i = loose % workers
				loose++
			}
		}
		sum += g.ports + 1
		g.worker = e.workers[i]
		e.workers[i].groups = append(e.workers[i].groups, g)
	}
	for _, w := range e.workers {
		w.next = make([]Time, len(w.groups))
		for i, g := range w.groups {
			w.next[i] = g.nextTime()
			g.slot = i
		}
	}
	for _, n := range e.nodes {
		if n.done {
			n.g.worker.done++
		}
	}
}

// group is a set of nodes that run together. What is to happen in the window
// that runs lies in the calendar of its worker; the rest waits here.
type group[M any] struct {
	now     Time
	nodes   []*Node[M]
	worker  *worker[M]
	index   int // of Engine.groups
	slot    int // of worker.groups
	ports   int
	near    []event // of the next few windows, in no order
	nearMin Time
	far     []event // all later ones, a heap
	handled uint64
}

// event orders by (at, key); next links the events of a bucket.
type event struct {
	at   Time
	key  uint64
	arg  uint64
	node int32
	next int32
}

// nearWindows is how many windows ahead an event waits without being sorted.
const nearWindows = 4

func (g *group[M]) insert(at Time, key uint64, node int32, arg uint64) {
	w := g.worker
	if w != nil && w.active == g && at < w.end {
		w.insert(at, key, node, arg)
		return
	}
	e := event{at: at, key: key, arg: arg, node: node}
	if w != nil && at.Sub(w.end) < w.length*nearWindows {
		g.near = append(g.near, e)
		g.nearMin = min(g.nearMin, at)
		return
	}
	g.pushFar(e)
}

// nextTime returns the time of the group's earliest event.
func (g *group[M]) nextTime() Time {
	t := g.nearMin
	if len(g.far) > 0 {
		t = min(t, g.far[0].at)
	}
	return t
}

// gather moves what is to happen in the open window to the calendar.
func (g *group[M]) gather() {
	w := g.worker
	rest := g.near[:0]
	g.nearMin = Never
	for i := range g.near {
		if e := &g.near[i]; e.at < w.end {
			w.insert(e.at, e.key, e.node, e.arg)
		} else {
			g.nearMin = min(g.nearMin, e.at)
			rest = append(rest, *e)
		}
	}
	g.near = rest
	for len(g.far) > 0 && g.far[0].at < w.end {
		e := g.popFar()
		w.insert(e.at, e.key, e.node, e.arg)
	}
}
