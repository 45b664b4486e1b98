package workload

import (
	"errors"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// loop keeps a number of messages outstanding on one connection: a new one is
// posted when one completes (a closed loop).
type loop struct {
	peer, index int
	qp          verbs.Connection
	posted      int64
	outstanding int
	dead        bool // the queue pair is in error, nothing more can be posted
}

// closedLoops is the instance of a host that sends the same messages to a few
// peers in closed loops.
type closedLoops struct {
	receiver
	traffic
	message sim.Bytes
	repeat  Repeat
	depth   int
	jitter  sim.Duration
	loops   []loop
	done    bool
}

// add appends the connections to one peer.
func (l *closedLoops) add(peer int) {
	for i := range l.qps {
		l.loops = append(l.loops, loop{peer: peer, index: i})
	}
}

func (l *closedLoops) Start(h Host) {
	if len(l.loops) == 0 {
		l.finish(h)
		return
	}
	d := l.start
	if l.jitter > 0 {
		d += sim.Duration(h.Rand("jitter").Float64() * float64(l.jitter))
	}
	if d > 0 {
		h.After(d, 0)
	} else {
		l.OnTimer(h, 0)
	}
}

func (l *closedLoops) OnTimer(h Host, _ uint64) {
	for i := range l.loops {
		p := &l.loops[i]
		p.qp = h.Connect(ConnParams{Peer: p.peer, Index: p.index, Priority: l.priority, Depth: l.depth, Private: private(l.message, l.depth)})
		l.fill(h, i)
	}
	l.finish(h)
}

// fill posts until depth messages are outstanding or none is left to post.
func (l *closedLoops) fill(h Host, i int) {
	p := &l.loops[i]
	for p.outstanding < l.depth && !p.dead && l.more(h, p) {
		p.posted++
		p.outstanding++
		err := p.qp.PostSend(verbs.WorkRequest{WRID: uint64(i), Opcode: l.opcode, Length: l.message, Signaled: true, Tag: l.tagAt(h.Now())})
		if err == nil {
			continue
		}
		p.posted--
		p.outstanding--
		if !errors.Is(err, verbs.ErrNoMemory) || p.outstanding == 0 {
			p.dead = true
		} // a full queue has room again when something completes
		return
	}
}

func (l *closedLoops) more(h Host, p *loop) bool {
	return (l.repeat == Forever || p.posted < int64(l.repeat)) && h.Now() < l.stop
}

func (l *closedLoops) OnCompletion(h Host, qp verbs.Connection, wc verbs.WorkCompletion) {
	if wc.Recv {
		l.receiver.OnCompletion(h, qp, wc)
		return
	}
	p := &l.loops[wc.WRID]
	p.outstanding--
	p.dead = p.dead || wc.Status != verbs.StatusSuccess
	l.fill(h, int(wc.WRID))
	if p.outstanding == 0 {
		l.finish(h)
	}
}

// finish reports the end once nothing is outstanding and nothing will be posted.
func (l *closedLoops) finish(h Host) {
	if l.done {
		return
	}
	for i := range l.loops {
		if p := &l.loops[i]; p.outstanding > 0 || !p.dead && l.more(h, p) {
			return
		}
	}
	l.done = true
	h.Done()
}
