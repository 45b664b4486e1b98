package scenarios

import (
	"fmt"
	"slices"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// earlySpan is how long an instance is watched for what it posts.
const earlySpan = 1 * sim.Millisecond

// mostEarly bounds what is looked at.
const (
	mostEarly  = 200_000
	mostTimers = 4096
)

// post is a message that an instance posted at its beginning.
type post struct {
	at       sim.Time
	src, dst int // hosts
	qp       int
	params   workload.ConnParams
	bytes    sim.Bytes
}

// early starts every instance and notes what it posts of itself.
func (w *world) early(plans []map[int]workload.Instance) (posts []post) {
	for k, plan := range plans {
		hosts := make([]int, 0, len(plan))
		for h := range plan {
			hosts = append(hosts, h)
		}
		slices.Sort(hosts)
		for _, h := range hosts {
			if len(posts) >= mostEarly {
				return posts
			}
			host := &earlyHost{w: w, load: k, index: h}
			host.run(plan[h])
			posts = append(posts, host.posts...)
		}
	}
	return posts
}

// earlyHost is a host on which nothing ever completes.
type earlyHost struct {
	w      *world
	load   int
	index  int
	now    sim.Time
	timers []earlyTimer
	fired  int
	posts  []post
	qps    int
}

type earlyTimer struct {
	at    sim.Time
	token uint64
}

func (h *earlyHost) run(i workload.Instance) {
	i.Start(h)
	until := sim.Never
	for len(h.timers) > 0 && h.fired < mostTimers && len(h.posts) < mostTimers {
		if until == sim.Never && len(h.posts) > 0 {
			until = h.posts[0].at.Add(earlySpan)
		}
		k := 0
		for n := range h.timers {
			if h.timers[n].at < h.timers[k].at {
				k = n
			}
		}
		t := h.timers[k]
		if t.at > until {
			return
		}
		h.timers = slices.Delete(h.timers, k, k+1)
		h.now = t.at
		h.fired++
		i.OnTimer(h, t.token)
	}
}

func (h *earlyHost) Index() int         { return h.index }
func (h *earlyHost) Hosts() int         { return len(h.w.hosts) }
func (h *earlyHost) Now() sim.Time      { return h.now }
func (h *earlyHost) LineRate() sim.Rate { return h.w.nics[h.w.hosts[h.index]].LineRate(0) }
func (h *earlyHost) Rand(name string) *sim.Rand {
	s := h.w.spec
	return h.w.rand(fmt.Sprintf("%s/%s%d/%s", h.w.graph.Nodes[h.w.hosts[h.index]].Name, s.Traffic[h.load].Name, h.load, name))
}
func (h *earlyHost) After(d sim.Duration, token uint64) {
	h.timers = append(h.timers, earlyTimer{h.now.Add(d), token})
}
func (h *earlyHost) Connect(p workload.ConnParams) verbs.Connection {
	h.qps++
	return &earlyQP{h, h.qps, p}
}
func (h *earlyHost) Done() {}

type earlyQP struct {
	h      *earlyHost
	number int
	params workload.ConnParams
}

func (q *earlyQP) QPN() uint32 { return uint32(q.number) }
func (q *earlyQP) PostSend(wr verbs.WorkRequest) error {
	if len(q.h.posts) >= mostTimers {
		return verbs.ErrNoMemory
	}
	p := post{at: q.h.now, src: q.h.index, dst: q.params.Peer, qp: q.number, params: q.params, bytes: wr.Length}
	if wr.Opcode == verbs.OpRead { // its bytes come the other way
		p.src, p.dst = p.dst, p.src
	}
	q.h.posts = append(q.h.posts, p)
	return nil
}
func (q *earlyQP) PostRecv(uint64, sim.Bytes) error { return nil }
func (q *earlyQP) State() verbs.State               { return verbs.StateRTS }
func (q *earlyQP) Close()                           {}
