package workload_test

import (
	"container/heap"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// A fabric small enough to be seen through: every host sends its messages one
// after the other at its line rate, each arrives after one latency, and its
// acknowledgement takes another. SENDs take a posted receive or fail.
const latency = 2 * sim.Microsecond

type event struct {
	at  sim.Time
	seq int
	do  func()
}

type queue []event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *queue) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

// message is one thing that happened on the fabric.
type message struct {
	from, to   int
	conn       workload.ConnParams
	op         verbs.Opcode
	size       sim.Bytes
	tag        string
	start, end sim.Time
}

func (m message) String() string {
	return fmt.Sprintf("%d>%d qp%d %v %v %q %v..%v", m.from, m.to, m.conn.Index, m.op, m.size, m.tag, m.start, m.end)
}

type fabric struct {
	t        *testing.T
	now      sim.Time
	seq      int
	events   queue
	hosts    []*host
	messages []message
	open     int
	seed     uint64
	fail     func(m message) bool // messages that end in an error
}

type host struct {
	f    *fabric
	i    int
	inst workload.Instance
	busy sim.Time
	done int
	qpn  uint32
}

type qp struct {
	h, peer  *host
	conn     workload.ConnParams
	qpn      uint32
	other    *qp
	receives []verbs.WorkRequest
	closed   bool
	failed   bool
	watch    bool
}

func (f *fabric) at(t sim.Time, do func()) {
	f.seq++
	heap.Push(&f.events, event{t, f.seq, do})
}

func (h *host) Index() int         { return h.i }
func (h *host) Hosts() int         { return len(h.f.hosts) }
func (h *host) Now() sim.Time      { return h.f.now }
func (h *host) LineRate() sim.Rate { return 100 * sim.Gbps }
func (h *host) Rand(name string) *sim.Rand {
	return sim.NewRand(h.f.seed, fmt.Sprintf("h%d/%s", h.i, name))
}
func (h *host) After(d sim.Duration, token uint64) {
	require.GreaterOrEqual(h.f.t, d, sim.Duration(0))
	h.f.at(h.f.now.Add(d), func() { h.inst.OnTimer(h, token) })
}
func (h *host) Done() { h.done++ }

func (h *host) Connect(p workload.ConnParams) verbs.Connection {
	require.NotEqual(h.f.t, h.i, p.Peer)
	peer := h.f.hosts[p.Peer]
	h.qpn++
	peer.qpn++
	a := &qp{h: h, peer: peer, conn: p, qpn: h.qpn}
	b := &qp{h: peer, peer: h, conn: p, qpn: peer.qpn, other: a}
	a.other = b
	h.f.open++
	h.f.at(h.f.now.Add(latency/2), func() {
		if peer.inst != nil {
			peer.inst.OnAccept(peer, b, h.i, p.Private)
		}
	})
	return a
}

func (q *qp) QPN() uint32  { return q.qpn }
func (q *qp) WatchWrites() { q.watch = true }
func (q *qp) Close()       { q.closed = true; q.h.f.open-- }
func (q *qp) State() verbs.State {
	if q.failed {
		return verbs.StateError
	}
	return verbs.StateRTS
}
func (q *qp) PostRecv(wrid uint64, n sim.Bytes) error {
	q.receives = append(q.receives, verbs.WorkRequest{WRID: wrid, Length: n})
	return nil
}

func (q *qp) PostSend(wr verbs.WorkRequest) error {
	f := q.h.f
	if q.closed || wr.Length < 1 {
		return verbs.ErrInvalid
	}
	if q.failed { // flushed at once, before PostSend returns
		q.h.inst.OnCompletion(q.h, q, verbs.WorkCompletion{WRID: wr.WRID, Status: verbs.StatusWRFlush, QPN: q.qpn})
		return nil
	}
	q.h.busy = max(q.h.busy, f.now).Add(q.h.LineRate().TxTime(wr.Length))
	m := message{from: q.h.i, to: q.peer.i, conn: q.conn, op: wr.Opcode, size: wr.Length, tag: wr.Tag, start: f.now}
	arrival := q.h.busy.Add(latency)
	failed := f.fail != nil && f.fail(m)
	f.at(arrival, func() {
		o := q.other
		if !failed && wr.Opcode == verbs.OpWrite && o.watch {
			o.h.inst.OnCompletion(o.h, o, verbs.WorkCompletion{Opcode: verbs.OpWrite, Recv: true, Length: wr.Length, QPN: o.qpn})
		}
		if failed || wr.Opcode != verbs.OpSend {
			return
		}
		require.NotEmpty(f.t, o.receives, "receiver not ready for %v", m)
		require.GreaterOrEqual(f.t, o.receives[0].Length, wr.Length, "receive too short for %v", m)
		w := o.receives[0]
		o.receives = o.receives[1:]
		o.h.inst.OnCompletion(o.h, o, verbs.WorkCompletion{WRID: w.WRID, Recv: true, Length: wr.Length, QPN: o.qpn})
	})
	f.at(arrival.Add(latency), func() {
		wc := verbs.WorkCompletion{WRID: wr.WRID, Opcode: wr.Opcode, QPN: q.qpn, Length: wr.Length}
		switch {
		case failed:
			wc.Status = verbs.StatusRetryExceeded
		case q.failed:
			wc.Status = verbs.StatusWRFlush
		default:
			m.end = f.now
			f.messages = append(f.messages, m)
		}
		q.failed = q.failed || failed
		if wr.Signaled || wc.Status != verbs.StatusSuccess {
			q.h.inst.OnCompletion(q.h, q, wc)
		}
	})
	return nil
}

// scene is what a workload is run in.
type scene struct {
	hosts    int
	duration sim.Duration
	warmup   sim.Duration
	seed     uint64
	files    map[string]string
	skew     sim.Duration // host i starts i times this late
	fail     func(m message) bool
	largest  sim.Bytes // message
}

func (s scene) context() *workload.Context {
	c := &workload.Context{Duration: s.duration, Warmup: s.warmup, MaxMessage: s.largest,
		Rand: func(name string) *sim.Rand { return sim.NewRand(s.seed, name) },
		File: func(name string) ([]byte, error) {
			if text, ok := s.files[name]; ok {
				return []byte(text), nil
			}
			return nil, fmt.Errorf("open %s: no such file", name)
		}}
	index := map[string]int{}
	for i := range s.hosts {
		name := fmt.Sprintf("h%d", i)
		c.Hosts, c.LineRate = append(c.Hosts, name), append(c.LineRate, 100*sim.Gbps)
		index[name] = i
	}
	c.HostIndex = func(name string) (int, error) {
		if i, ok := index[name]; ok {
			return i, nil
		}
		return 0, fmt.Errorf("unknown host %s", name)
	}
	return c
}

// play plans the workload of that name and runs it until nothing happens any
// more, or the duration is over.
func (s scene) play(t *testing.T, name string, params any) *fabric {
	t.Helper()
	plan, err := s.plan(name, params)
	require.NoError(t, err)
	f := &fabric{t: t, seed: s.seed, fail: s.fail}
	for i := range s.hosts {
		f.hosts = append(f.hosts, &host{f: f, i: i, inst: plan[i]})
	}
	for _, h := range f.hosts {
		if h.inst != nil && s.skew > 0 {
			f.at(sim.Time(h.i)*sim.Time(s.skew), func() { h.inst.Start(h) })
		} else if h.inst != nil {
			h.inst.Start(h)
		}
	}
	end := sim.Time(math.MaxInt64)
	if s.duration > 0 {
		end = sim.Time(s.duration)
	}
	for f.events.Len() > 0 && f.events[0].at <= end {
		e := heap.Pop(&f.events).(event)
		f.now = e.at
		e.do()
	}
	return f
}

func (s scene) plan(name string, params any) (map[int]workload.Instance, error) {
	e, err := workload.Workloads.Lookup(name)
	if err != nil {
		return nil, err
	}
	if params == nil {
		params = e.Defaults
	}
	w, err := e.Build(params)
	if err != nil {
		return nil, err
	}
	return w.Plan(s.context())
}

// allDone requires that every instance said Done exactly once.
func (f *fabric) allDone() {
	f.t.Helper()
	for _, h := range f.hosts {
		if h.inst != nil {
			require.Equal(f.t, 1, h.done, "host %d", h.i)
		}
	}
}

// bytes returns what went from host to host, and how many messages did.
func (f *fabric) bytes() (sizes, counts map[[2]int]int64) {
	sizes, counts = map[[2]int]int64{}, map[[2]int]int64{}
	for _, m := range f.messages {
		sizes[[2]int{m.from, m.to}] += int64(m.size)
		counts[[2]int{m.from, m.to}]++
	}
	return
}

// defaults returns a copy of the default parameters of a workload.
func defaults[P any](t *testing.T, name string) P {
	t.Helper()
	e, err := workload.Workloads.Lookup(name)
	require.NoError(t, err)
	return e.Defaults.(P)
}
