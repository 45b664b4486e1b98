package validation

import (
	"container/heap"

	"rdmasim/sim"
)

// packetModel is DCQCN with packets and nothing else: N senders with their
// pacing, one queue, fixed delays, on one clock in seconds. It shares no code
// with the fabric, the NIC or the reaction point of the product, so that both
// agree only if they do the same.
type packetModel struct {
	n, line      int64   // flows, bit/s
	packet       float64 // bytes
	link         float64 // delay of each of the four links of the loop, s
	kmin, kmax   float64 // bytes
	pmax, g      float64
	cnp, k, t    float64 // NP interval, alpha timer, rate timer, s
	counter, rai float64 // bytes, bit/s
	f            int
	warmup, end  float64 // s
}

// packetResult are means after the warm-up.
type packetResult struct{ queue, alpha, cnp, utilisation float64 }

// Kinds of what happens, in the model.
const (
	mSend   = iota // a flow sends a packet
	mArrive        // it is at the queue
	mFree          // the port is free
	mRecv          // a packet is at the receiver; x = 1: marked
	mCNP           // a CNP is at the sender
	mRate          // the rate timer of generation x
	mAlpha         // the alpha timer of generation x
)

type happening struct {
	t          float64
	kind, flow int
	x, seq     int
}

type agenda []happening

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].t < a[j].t || a[i].t == a[j].t && a[i].seq < a[j].seq
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(happening)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

type modelFlow struct {
	rc, rt, alpha, bytes float64
	timed, counted       int // stages since the last CNP
	rateGen, alphaGen    int
	lastCNP              float64
	active               bool
}

// modelRun is the state of one run.
type modelRun struct {
	packetModel
	rand    *sim.Rand
	todo    agenda
	seq     int
	flows   []modelFlow
	fifo    []int
	queue   float64
	busy    bool
	now     float64
	sum     packetResult
	measure bool
}

// run returns what the model does with the draws of one seed.
func (m packetModel) run(seed uint64) packetResult {
	r := &modelRun{packetModel: m, rand: sim.NewRand(seed, "packet model")}
	for i := range int(m.n) {
		r.flows = append(r.flows, modelFlow{rc: float64(m.line), rt: float64(m.line), alpha: 1, lastCNP: -1})
		r.at(r.rand.Float64()*r.tx(), mSend, i, 0)
	}
	for {
		e := heap.Pop(&r.todo).(happening)
		if e.t > m.end {
			break
		}
		if e.t > m.warmup {
			d := e.t - max(r.now, m.warmup)
			r.sum.queue += r.queue * d
			for i := range r.flows {
				r.sum.alpha += r.flows[i].alpha * d / float64(m.n)
			}
			r.measure = true
		}
		r.now = e.t
		r.happen(e)
	}
	span := m.end - m.warmup
	return packetResult{r.sum.queue / span, r.sum.alpha / span, r.sum.cnp / span / float64(m.n), r.sum.utilisation / span}
}

// tx is what a packet takes at line rate.
func (m *packetModel) tx() float64 { return m.packet * 8 / float64(m.line) }

func (r *modelRun) at(t float64, kind, flow, x int) {
	r.seq++
	heap.Push(&r.todo, happening{t, kind, flow, x, r.seq})
}

func (r *modelRun) happen(e happening) {
	f := &r.flows[e.flow]
	switch e.kind {
	case mSend:
		r.at(r.now+r.tx()+r.link, mArrive, e.flow, 0)
		r.at(r.now+r.packet*8/f.rc, mSend, e.flow, 0)
		if f.bytes += r.packet; f.active && f.bytes >= r.counter {
			f.bytes -= r.counter
			f.counted++
			r.increase(f)
		}
	case mArrive:
		r.fifo = append(r.fifo, e.flow)
		r.queue += r.packet
		if !r.busy {
			r.serve()
		}
	case mFree:
		if r.busy = len(r.fifo) > 0; r.busy {
			r.serve()
		}
	case mRecv:
		if e.x == 1 && (f.lastCNP < 0 || r.now-f.lastCNP >= r.cnp) {
			f.lastCNP = r.now
			if r.measure {
				r.sum.cnp++
			}
			r.at(r.now+2*r.link, mCNP, e.flow, 0)
		}
	case mCNP:
		f.rt = f.rc
		f.rc *= 1 - f.alpha/2
		f.alpha = (1-r.g)*f.alpha + r.g
		f.active, f.timed, f.counted, f.bytes = true, 0, 0, 0
		f.rateGen++
		f.alphaGen++
		r.at(r.now+r.t, mRate, e.flow, f.rateGen)
		r.at(r.now+r.k, mAlpha, e.flow, f.alphaGen)
	case mRate:
		if e.x == f.rateGen {
			f.timed++
			r.increase(f)
			r.at(r.now+r.t, mRate, e.flow, e.x)
		}
	case mAlpha:
		if e.x == f.alphaGen {
			f.alpha *= 1 - r.g
			r.at(r.now+r.k, mAlpha, e.flow, e.x)
		}
	}
}

// increase is fast recovery or additive increase; hyper increase needs 50 MB
// between two CNPs and does not occur.
func (r *modelRun) increase(f *modelFlow) {
	if max(f.timed, f.counted) >= r.f {
		f.rt = min(f.rt+r.rai, float64(r.line))
	}
	f.rc = (f.rc + f.rt) / 2
}

// serve sends the packet at the head of the queue, marked by what it leaves.
func (r *modelRun) serve() {
	flow := r.fifo[0]
	r.fifo = r.fifo[1:]
	r.queue -= r.packet
	r.busy = true
	p := 0.0
	switch {
	case r.queue > r.kmax:
		p = 1
	case r.queue > r.kmin:
		p = r.pmax * (r.queue - r.kmin) / (r.kmax - r.kmin)
	}
	marked := 0
	if p > 0 && r.rand.Float64() < p {
		marked = 1
	}
	if r.measure {
		r.sum.utilisation += r.tx()
	}
	r.at(r.now+r.tx(), mFree, flow, 0)
	r.at(r.now+r.tx()+r.link, mRecv, flow, marked)
}
