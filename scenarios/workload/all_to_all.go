package workload

import (
	"fmt"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// AllToAllParams are the parameters of all_to_all.
type AllToAllParams struct {
	Common
	Hosts    HostSet   `key:"hosts" doc:"hosts that take part: how many, which, or all"`
	Message  sim.Bytes `key:"message" doc:"what every host sends to each of the others, per queue pair"`
	Schedule string    `key:"schedule" doc:"simultaneous (to all at once) or rounds (host i to i+1, then i+2, ..., one after the other)"`
	Repeat   Repeat    `key:"repeat" doc:"exchanges, or forever; a host begins the next when its own messages of the last have completed"`
}

var _ = sim.Register(Workloads, "all_to_all", "Every host sends to every other.",
	AllToAllParams{Common: defaultCommon(), Hosts: HostSet{"all"}, Message: 64 * sim.KB, Schedule: "simultaneous", Repeat: 1}, nil,
	func(p AllToAllParams) (Workload, error) { return allToAll{p}, nil })

type allToAll struct{ AllToAllParams }

func (w allToAll) Plan(c *Context) (map[int]Instance, error) {
	plan, err := w.plan(c)
	if err != nil {
		return nil, fmt.Errorf("all_to_all: %w", err)
	}
	return plan, nil
}

func (w allToAll) plan(c *Context) (map[int]Instance, error) {
	t, err := w.Common.resolve(c, "all_to_all")
	if err != nil {
		return nil, err
	}
	hosts, err := w.Hosts.resolve(c, "hosts", -1)
	if err != nil {
		return nil, err
	}
	if len(hosts) < 2 {
		return nil, fmt.Errorf("hosts: an exchange needs at least 2 hosts, not %d", len(hosts))
	}
	if err := checkMessage(c, "message", w.Message); err != nil {
		return nil, err
	}
	if err := oneOf("schedule", w.Schedule, "simultaneous", "rounds"); err != nil {
		return nil, err
	}
	if err := t.checkEnds(w.Repeat); err != nil {
		return nil, err
	}
	plan := make(map[int]Instance, len(hosts))
	for rank, h := range hosts {
		e := &exchange{receiver: receiver{receives: t.send()}, traffic: t, hosts: hosts, rank: rank, message: w.Message, repeat: w.Repeat, atOnce: 1}
		if w.Schedule == "simultaneous" {
			e.atOnce = len(hosts) - 1
		}
		plan[h] = e
	}
	return plan, nil
}

// exchange is the instance of one host of an all-to-all: it goes through its
// peers, from the one after it on, atOnce at a time, and posts to the next ones
// when every message to the last ones has completed.
type exchange struct {
	receiver
	traffic
	hosts   []int // shared between hosts, read only
	rank    int
	message sim.Bytes
	repeat  Repeat
	atOnce  int

	conns       []exchangeConn // qps per peer, in the order of the peers
	dead        int            // of them
	step        int64          // peers gone through, over all exchanges
	outstanding int
	done        bool
}

type exchangeConn struct {
	qp   verbs.Connection
	dead bool // in error: nothing more can be posted
}

func (e *exchange) Start(h Host) {
	if e.start > 0 {
		h.After(e.start, 0)
	} else {
		e.OnTimer(h, 0)
	}
}

func (e *exchange) OnTimer(h Host, _ uint64) { e.next(h) }

// next posts to the next atOnce peers that can be posted to, or reports the end.
func (e *exchange) next(h Host) {
	peers := int64(len(e.hosts) - 1)
	for e.outstanding == 0 {
		if e.dead == int(peers)*e.qps || h.Now() >= e.stop || e.repeat != Forever && e.step/peers >= int64(e.repeat) {
			if !e.done {
				e.done = true
				h.Done()
			}
			return
		}
		e.outstanding++ // while it is posting, a flush cannot begin the next step
		for range e.atOnce {
			e.post(h, int(e.step%peers))
			e.step++
		}
		e.outstanding--
	}
}

// post sends a message on every queue pair to the k-th peer.
func (e *exchange) post(h Host, k int) {
	peer := e.hosts[(e.rank+1+k)%len(e.hosts)]
	for i := range e.qps {
		at := k*e.qps + i
		if at == len(e.conns) {
			e.conns = append(e.conns, exchangeConn{qp: h.Connect(ConnParams{Peer: peer, Index: i, Priority: e.priority, Depth: 1, Private: private(e.message, 1)})})
		}
		if e.conns[at].dead {
			continue
		}
		e.outstanding++
		if e.conns[at].qp.PostSend(verbs.WorkRequest{WRID: uint64(at), Opcode: e.opcode, Length: e.message, Signaled: true, Tag: e.tagAt(h.Now())}) != nil {
			e.outstanding--
			e.bury(at)
		}
	}
}

func (e *exchange) bury(at int) {
	if !e.conns[at].dead {
		e.conns[at].dead = true
		e.dead++
	}
}

func (e *exchange) OnCompletion(h Host, qp verbs.Connection, wc verbs.WorkCompletion) {
	if wc.Recv {
		e.receiver.OnCompletion(h, qp, wc)
		return
	}
	if wc.Status != verbs.StatusSuccess {
		e.bury(int(wc.WRID))
	}
	if e.outstanding--; e.outstanding == 0 {
		e.next(h)
	}
}
