package workload

import (
	"fmt"
	"slices"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// PingMeshParams are the parameters of ping_mesh.
type PingMeshParams struct {
	Common
	Hosts    HostSet      `key:"hosts" doc:"hosts that take part: how many, which, or all"`
	Peers    int          `key:"peers" doc:"random peers that every host pings; 0 = all others"`
	Message  sim.Bytes    `key:"message" doc:"size of a ping"`
	Interval sim.Duration `key:"interval" doc:"time between the pings of one pair; a host spreads its peers over it"`
	Count    int64        `key:"count" doc:"pings per pair and queue pair; 0 = until the workload stops"`
	Depth    int          `key:"depth" doc:"pings outstanding per queue pair beyond which one is left out"`
}

var _ = sim.Register(Workloads, "ping_mesh", "Small messages at an interval between many pairs: latency, alone or under the load of other traffic.",
	PingMeshParams{Common: defaultCommon(), Hosts: HostSet{"all"}, Message: 64, Interval: 100 * sim.Microsecond, Depth: 64}, nil,
	func(p PingMeshParams) (Workload, error) { return pingMesh{p}, nil })

type pingMesh struct{ PingMeshParams }

func (w pingMesh) Plan(c *Context) (map[int]Instance, error) {
	plan, err := w.plan(c)
	if err != nil {
		return nil, fmt.Errorf("ping_mesh: %w", err)
	}
	return plan, nil
}

func (w pingMesh) plan(c *Context) (map[int]Instance, error) {
	t, err := w.Common.resolve(c, "ping_mesh")
	if err != nil {
		return nil, err
	}
	hosts, err := w.Hosts.resolve(c, "hosts", -1)
	if err != nil {
		return nil, err
	}
	if err := w.check(c, &t, len(hosts)); err != nil {
		return nil, err
	}
	plan := make(map[int]Instance, len(hosts))
	for rank, h := range hosts {
		p := &pinger{receiver: receiver{receives: t.send()}, traffic: t, message: w.Message, depth: w.Depth, left: w.Count}
		peers := w.Peers
		if peers == 0 {
			peers = len(hosts) - 1
		}
		p.gap = max(1, w.Interval/sim.Duration(peers))
		p.hosts, p.rank, p.peers = hosts, rank, peers
		plan[h] = p
	}
	return plan, nil
}

func (w pingMesh) check(c *Context, t *traffic, n int) error {
	switch {
	case n < 2:
		return fmt.Errorf("hosts: a mesh needs at least 2 hosts, not %d", n)
	case w.Peers < 0 || w.Peers > n-1:
		return fmt.Errorf("peers: %d: want 1..%d, or 0 for all others", w.Peers, n-1)
	case w.Interval <= 0:
		return fmt.Errorf("interval: %v: want a time above 0", w.Interval)
	case w.Count < 0:
		return fmt.Errorf("count: %d is negative", w.Count)
	case w.Count == 0 && t.stop == sim.Never:
		return fmt.Errorf("pings go on for ever: give the run a duration or the workload a stop or a count")
	}
	if err := checkMessage(c, "message", w.Message); err != nil {
		return err
	}
	return checkDepth(w.Depth)
}

// pinger is the instance of one host: every gap it pings the next of its peers,
// whether or not earlier pings have come back (an open loop, so that a slow
// fabric is not asked less often).
type pinger struct {
	receiver
	traffic
	hosts       []int // shared between hosts, read only
	rank, peers int
	message     sim.Bytes
	gap         sim.Duration
	depth       int
	left        int64 // pings of a pair to come, 0 at first = no bound

	conns       []pingConn // qps per peer
	turn        int        // next of the peers
	bounded     bool
	outstanding int
	ended, done bool
}

type pingConn struct {
	qp          verbs.Connection
	outstanding int
	dead        bool // in error: nothing more can be posted
}

func (p *pinger) Start(h Host) {
	p.bounded = p.left > 0
	h.After(p.start+sim.Duration(h.Rand("phase").Float64()*float64(p.gap)), 0)
}

// connect opens the queue pairs: to all others, or to random ones.
func (p *pinger) connect(h Host) {
	others := make([]int, 0, len(p.hosts)-1)
	for k := 1; k < len(p.hosts); k++ {
		others = append(others, p.hosts[(p.rank+k)%len(p.hosts)])
	}
	if p.peers < len(others) {
		pick := h.Rand("peers").Perm(len(others))[:p.peers]
		slices.Sort(pick)
		for i, k := range pick {
			others[i] = others[k]
		}
		others = others[:p.peers]
	}
	for _, peer := range others {
		for i := range p.qps {
			p.conns = append(p.conns, pingConn{qp: h.Connect(ConnParams{Peer: peer, Index: i, Priority: p.priority, Depth: p.depth, Private: private(p.message, p.depth)})})
		}
	}
}

func (p *pinger) OnTimer(h Host, _ uint64) {
	if h.Now() >= p.stop || p.bounded && p.left == 0 {
		p.ended = true
		p.finish(h)
		return
	}
	if p.conns == nil {
		p.connect(h)
	}
	for i := p.turn * p.qps; i < (p.turn+1)*p.qps; i++ {
		p.ping(h, i)
	}
	if p.turn++; p.turn == p.peers {
		p.turn = 0
		p.left--
	}
	h.After(p.gap, 0)
}

func (p *pinger) ping(h Host, i int) {
	c := &p.conns[i]
	if c.dead || c.outstanding >= p.depth {
		return
	}
	c.outstanding++
	p.outstanding++
	if c.qp.PostSend(verbs.WorkRequest{WRID: uint64(i), Opcode: p.opcode, Length: p.message, Signaled: true, Tag: p.tagAt(h.Now())}) != nil {
		c.outstanding--
		p.outstanding--
	}
}

func (p *pinger) OnCompletion(h Host, qp verbs.Connection, wc verbs.WorkCompletion) {
	if wc.Recv {
		p.receiver.OnCompletion(h, qp, wc)
		return
	}
	c := &p.conns[wc.WRID]
	c.outstanding--
	c.dead = c.dead || wc.Status != verbs.StatusSuccess
	p.outstanding--
	p.finish(h)
}

func (p *pinger) finish(h Host) {
	if p.ended && p.outstanding == 0 && !p.done {
		p.done = true
		h.Done()
	}
}
