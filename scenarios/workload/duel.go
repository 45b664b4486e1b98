package workload

import (
	"rdmasim/sim"
	"rdmasim/verbs"
)

// duel is one of two hosts that measure the way between them. The client's
// bandwidth test keeps its queues full; its latency test posts a message when
// the one before has come back: as an answer of the server (SEND, WRITE), or as
// its own completion (READ, atomics). The server answers what arrives.
type duel struct {
	Nop
	traffic
	service    verbs.Service
	lat        bool
	sends      bool // measures, beside answering
	peer       int
	sizes      []sim.Bytes
	tags       []string
	iterations int
	depth      int
	batch      int
	moderation int

	lanes []duelLane
	at    int // of sizes
	done  bool
}

// duelLane is one queue pair of the side that measures.
type duelLane struct {
	qp          verbs.Connection
	posted      int
	outstanding int
	unsignaled  int // posted since the last one that asked for a completion
	dead        bool
}

// answers reports whether the test needs answers of the server's program.
func (d *duel) answers() bool { return d.lat && (d.opcode.IsSend() || d.opcode.IsWrite()) }

func (d *duel) largest() (n sim.Bytes) {
	for _, s := range d.sizes {
		n = max(n, s)
	}
	return n
}

func (d *duel) Start(h Host) {
	if !d.sends {
		d.finish(h)
		return
	}
	h.After(d.start, 0)
}

func (d *duel) OnTimer(h Host, _ uint64) {
	for i := range d.qps {
		qp := h.Connect(ConnParams{Peer: d.peer, Index: i, Priority: d.priority, Depth: d.depth, Service: d.service, Private: private(d.largest(), d.depth)})
		d.prepare(qp, 1)
		d.lanes = append(d.lanes, duelLane{qp: qp})
	}
	for i := range d.lanes {
		d.fill(h, i)
	}
	d.next(h)
}

// prepare makes a connection ready for what the peer sends.
func (d *duel) prepare(qp verbs.Connection, receives int) {
	switch {
	case d.opcode.IsSend():
		for range receives {
			_ = qp.PostRecv(uint64(d.largest()), d.largest())
		}
	case d.answers():
		if w, ok := qp.(verbs.WriteWatcher); ok {
			w.WatchWrites()
		}
	}
}

func (d *duel) OnAccept(_ Host, qp verbs.Connection, _ int, private uint64) {
	d.prepare(qp, int(private>>privateSizeBits)+1)
}

// fill posts until the queue is full or all has been posted; in a latency test
// one message at a time.
func (d *duel) fill(h Host, i int) {
	l := &d.lanes[i]
	room := d.depth
	if d.lat {
		room = 1
	}
	for !l.dead && l.posted < d.iterations && h.Now() < d.stop {
		n := min(d.batch, d.iterations-l.posted)
		if d.lat {
			n = 1
		}
		if l.outstanding+n > room {
			return
		}
		for range n {
			if !d.post(h, i) {
				return
			}
		}
	}
}

func (d *duel) post(h Host, i int) bool {
	l := &d.lanes[i]
	l.posted++
	l.outstanding++
	l.unsignaled++
	// One that fills the queue must complete, or nothing would make room again.
	full := l.outstanding+d.batch > d.depth
	signaled := d.lat || full || l.unsignaled == d.moderation || l.posted == d.iterations
	wr := verbs.WorkRequest{WRID: uint64(i)<<32 | uint64(l.unsignaled), Opcode: d.opcode, Length: d.sizes[d.at], Signaled: signaled, Tag: d.tags[d.at]}
	if signaled {
		l.unsignaled = 0
	}
	if l.qp.PostSend(wr) != nil {
		l.posted--
		l.outstanding--
		l.dead = true
	}
	return !l.dead
}

func (d *duel) OnCompletion(h Host, qp verbs.Connection, wc verbs.WorkCompletion) {
	if wc.Recv {
		d.arrived(h, qp, wc)
		return
	}
	i := int(wc.WRID >> 32)
	if wc.WRID == answer || i >= len(d.lanes) {
		return
	}
	l := &d.lanes[i]
	if wc.Status != verbs.StatusSuccess {
		l.dead, l.outstanding = true, 0
		d.next(h)
		return
	}
	if d.answers() {
		return // the answer counts, not the acknowledgement
	}
	l.outstanding -= int(uint32(wc.WRID))
	d.fill(h, i)
	d.next(h)
}

// answer is the WRID of a server's answers.
const answer = 1<<64 - 1

// arrived handles a message of the peer.
func (d *duel) arrived(h Host, qp verbs.Connection, wc verbs.WorkCompletion) {
	if wc.Status != verbs.StatusSuccess {
		return
	}
	if d.opcode.IsSend() {
		_ = qp.PostRecv(wc.WRID, sim.Bytes(wc.WRID))
	}
	if !d.answers() {
		return
	}
	if !d.sends {
		_ = qp.PostSend(verbs.WorkRequest{WRID: answer, Opcode: d.opcode, Length: wc.Length, Tag: "answer"})
		return
	}
	for i := range d.lanes {
		if d.lanes[i].qp == qp {
			d.lanes[i].outstanding = 0
			d.fill(h, i)
			d.next(h)
			return
		}
	}
}

// next goes on to the next size once all messages of one have ended.
func (d *duel) next(h Host) {
	for i := range d.lanes {
		if l := &d.lanes[i]; l.outstanding > 0 || !l.dead && l.posted < d.iterations && h.Now() < d.stop {
			return
		}
	}
	if d.at++; d.at >= len(d.sizes) || h.Now() >= d.stop {
		d.at = len(d.sizes)
		d.finish(h)
		return
	}
	for i := range d.lanes {
		d.lanes[i].posted, d.lanes[i].unsignaled = 0, 0
	}
	for i := range d.lanes {
		d.fill(h, i)
	}
}

func (d *duel) finish(h Host) {
	if !d.done {
		d.done = true
		h.Done()
	}
}
