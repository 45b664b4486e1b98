package workload

import (
	"fmt"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// RingParams are the parameters of ring_allreduce.
type RingParams struct {
	Common
	Ranks      HostSet   `key:"ranks" doc:"hosts in the order of the ring: how many, which, or all"`
	Size       sim.Bytes `key:"size" doc:"buffer that every rank contributes and receives reduced"`
	Chunks     int       `key:"chunks" doc:"messages per step: a chunk is forwarded as soon as it has arrived"`
	Rails      int       `key:"rails" doc:"NIC ports of every host that carry a ring each; the buffer is divided among them"`
	Iterations Repeat    `key:"iterations" doc:"allreduces, one after the other, or forever"`
}

var _ = sim.Register(Workloads, "ring_allreduce", "A ring allreduce: 2(N-1) steps in which every rank sends to the next.",
	RingParams{Common: ringCommon(), Ranks: HostSet{"all"}, Size: 1 * sim.MB, Chunks: 1, Rails: 1, Iterations: 1}, nil,
	func(p RingParams) (Workload, error) { return ringAllreduce{p}, nil })

func ringCommon() Common {
	c := defaultCommon()
	c.Verb = "send"
	return c
}

// Bounds of a ring: chunks of a step, NIC ports of a host.
const (
	maxChunks = 1 << 12
	maxRails  = 64
)

type ringAllreduce struct{ RingParams }

func (w ringAllreduce) Plan(c *Context) (map[int]Instance, error) {
	plan, err := w.plan(c)
	if err != nil {
		return nil, fmt.Errorf("ring_allreduce: %w", err)
	}
	return plan, nil
}

func (w ringAllreduce) plan(c *Context) (map[int]Instance, error) {
	t, err := w.Common.resolve(c, "ring_allreduce")
	if err != nil {
		return nil, err
	}
	ranks, err := w.Ranks.resolve(c, "ranks", -1)
	if err != nil {
		return nil, err
	}
	if err := w.check(c, &t, len(ranks)); err != nil {
		return nil, err
	}
	plan := make(map[int]Instance, len(ranks))
	for i, h := range ranks {
		plan[h] = &rank{traffic: t, id: i, ranks: len(ranks), next: ranks[(i+1)%len(ranks)], size: w.Size, chunks: w.Chunks, rails: w.Rails, iterations: w.Iterations}
	}
	return plan, nil
}

func (w ringAllreduce) check(c *Context, t *traffic, n int) error {
	switch {
	case !t.send():
		return fmt.Errorf("verb: %s: a ring needs send, so that the receiver gets a completion", w.Verb)
	case n < 2:
		return fmt.Errorf("ranks: a ring needs at least 2 hosts, not %d", n)
	case w.Chunks < 1 || w.Chunks > maxChunks:
		return fmt.Errorf("chunks: %d: want 1..%d", w.Chunks, maxChunks)
	case w.Rails < 1 || w.Rails > maxRails:
		return fmt.Errorf("rails: %d: want 1..%d", w.Rails, maxRails)
	}
	if err := checkMessage(c, "size", w.Size); err != nil {
		return err
	}
	if pieces := sim.Bytes(n) * sim.Bytes(w.Rails*t.qps) * sim.Bytes(w.Chunks); w.Size < pieces {
		return fmt.Errorf("size: %v cannot be cut into %d pieces (ranks x rails x qps_per_peer x chunks)", w.Size, pieces)
	}
	if w.Iterations == Forever && t.stop == sim.Never {
		return fmt.Errorf("iterations: forever needs an end: give the run a duration or the workload a stop")
	}
	if w.Iterations != Forever && w.Iterations < 1 {
		return fmt.Errorf("iterations: %d: want 1 or more, or forever", w.Iterations)
	}
	return nil
}

// rank is the instance of one host of the ring. Its part of the buffer is
// divided into lanes (rails x queue pairs), a lane into one segment per rank, a
// segment into chunks. In step s of 2(N-1), rank r sends segment (r-s) mod N:
// N-1 steps reduce and scatter, N-1 gather (Patarasuk and Yuan, "Bandwidth
// optimal all-reduce algorithms", JPDC 2009). Step s+1 sends what step s
// brought, chunk by chunk.
type rank struct {
	Nop
	traffic
	id, ranks, next int
	size            sim.Bytes
	chunks, rails   int
	iterations      Repeat

	lanes     []lane
	byPrev    map[uint32]int // lane by QPN of the queue pair from the rank before
	iteration int64          // 1 = the first
	finished  int            // lanes that have finished the iteration
	tags      [2]string      // of the two halves of the iteration
	broken    bool           // a queue pair is in error
	done      bool
}

type lane struct {
	next, prev verbs.Connection
	posted     int // messages of the iteration
	sent       int // of them completed
	received   int // of the iteration
	early      int // received of the next iteration, which the rank before has begun
}

// maxRingReceives bounds the receives posted ahead on a lane; each is replaced
// when it completes.
const maxRingReceives = 256

func (r *rank) steps() int { return 2 * (r.ranks - 1) }

// perIteration is how many messages a lane sends and receives in an allreduce.
func (r *rank) perIteration() int { return r.steps() * r.chunks }

func (r *rank) Start(h Host) {
	r.open()
	if r.start > 0 {
		h.After(r.start, 0)
	} else {
		r.OnTimer(h, 0)
	}
}

func (r *rank) OnTimer(h Host, _ uint64) {
	for i := range r.lanes {
		r.lanes[i].next = h.Connect(ConnParams{Peer: r.next, Index: i % r.qps, Rail: i / r.qps, Priority: r.priority, Private: uint64(i)})
	}
	r.begin(h)
}

// open makes room for the lanes; the rank before may be here earlier than Start.
func (r *rank) open() {
	if r.lanes == nil {
		r.lanes = make([]lane, r.rails*r.qps)
		r.byPrev = make(map[uint32]int, len(r.lanes))
	}
}

// OnAccept posts receives for the lane that the rank before has opened.
func (r *rank) OnAccept(_ Host, qp verbs.Connection, _ int, private uint64) {
	r.open()
	if private >= uint64(len(r.lanes)) {
		return
	}
	l := &r.lanes[private]
	l.prev = qp
	r.byPrev[qp.QPN()] = int(private)
	for range min(r.perIteration(), maxRingReceives) {
		r.postRecv(l)
	}
}

// postRecv fails only on a queue pair in error, which receives nothing more.
func (r *rank) postRecv(l *lane) {
	_ = l.prev.PostRecv(0, ceilDiv(ceilDiv(ceilDiv(r.size, len(r.lanes)), r.ranks), r.chunks))
}

// begin starts an allreduce, or reports the end. After the stop a rank begins
// none of itself, but it joins one that the rank before has begun.
func (r *rank) begin(h Host) {
	joining := false
	for i := range r.lanes {
		joining = joining || r.lanes[i].early > 0
	}
	if r.broken || r.iterations != Forever && r.iteration >= int64(r.iterations) || h.Now() >= r.stop && !joining {
		r.end(h)
		return
	}
	r.iteration++
	r.finished = 0
	tag := fmt.Sprintf("%s/%d", r.tagAt(h.Now()), r.iteration)
	r.tags = [2]string{tag + "/reduce-scatter", tag + "/all-gather"}
	for i := range r.lanes {
		l := &r.lanes[i]
		l.posted, l.sent, l.received, l.early = 0, 0, l.early, 0
		r.post(h, i)
	}
}

func (r *rank) end(h Host) {
	if !r.done {
		r.done = true
		h.Done()
	}
}

// post sends the chunks of a lane that may be sent: those of the first step,
// and one more for each that has arrived.
func (r *rank) post(h Host, i int) {
	l := &r.lanes[i]
	for l.posted < min(r.perIteration(), l.received+r.chunks) {
		step, chunk := l.posted/r.chunks, l.posted%r.chunks
		half := 0
		if step >= r.ranks-1 {
			half = 1
		}
		err := l.next.PostSend(verbs.WorkRequest{WRID: uint64(i), Opcode: r.opcode, Length: r.chunk(i, step, chunk), Signaled: true, Tag: r.tags[half]})
		if err != nil {
			r.broken = true
			r.end(h)
			return
		}
		l.posted++
	}
}

// chunk returns the size of a chunk of the segment that is sent in a step.
func (r *rank) chunk(lane, step, chunk int) sim.Bytes {
	segment := ((r.id-step)%r.ranks + r.ranks) % r.ranks
	return part(part(part(r.size, len(r.lanes), lane), r.ranks, segment), r.chunks, chunk)
}

// part returns the i-th of n nearly equal parts of size; the first ones take
// the remainder.
func part(size sim.Bytes, n, i int) sim.Bytes {
	p := size / sim.Bytes(n)
	if sim.Bytes(i) < size%sim.Bytes(n) {
		p++
	}
	return p
}

// ceilDiv returns the largest of the n parts of size.
func ceilDiv(size sim.Bytes, n int) sim.Bytes { return (size + sim.Bytes(n) - 1) / sim.Bytes(n) }

func (r *rank) OnCompletion(h Host, qp verbs.Connection, wc verbs.WorkCompletion) {
	if wc.Status != verbs.StatusSuccess {
		r.broken = true
		r.end(h)
		return
	}
	i := int(wc.WRID)
	if wc.Recv {
		i = r.byPrev[qp.QPN()]
	}
	l := &r.lanes[i]
	switch {
	case !wc.Recv:
		l.sent++
	case r.iteration == 0 || l.received == r.perIteration():
		l.early++
		r.postRecv(l)
		if r.done {
			r.begin(h)
		}
		return
	default:
		l.received++
		r.postRecv(l)
		r.post(h, i)
	}
	if l.sent == r.perIteration() && l.received == r.perIteration() {
		if r.finished++; r.finished == len(r.lanes) {
			r.begin(h)
		}
	}
}
