package sim

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// token wanders over a random graph: where it goes next depends on all that
// its node has seen so far, so that any change of order changes every log.
type token struct{ id, hops uint64 }

type wanderer struct {
	n     *Node[token]
	state uint64
	delay []Duration
	log   []uint64
	left  int
}

func (w *wanderer) mix(v uint64) { w.state = Mix64(w.state ^ v) }

func (w *wanderer) emit(t token) {
	if w.left == 0 || len(w.delay) == 0 {
		return
	}
	w.left--
	port := int(w.state % uint64(len(w.delay)))
	jitter := Duration(w.state>>8%uint64(3*Microsecond)) + 1
	t.hops++
	w.n.Send(port, w.n.Now().Add(w.delay[port]+jitter), &t)
}

func (w *wanderer) OnMessage(port int, m *token) {
	w.mix(uint64(w.n.Now()) ^ uint64(port)<<50 ^ m.id<<30 ^ m.hops)
	w.log = append(w.log, w.state)
	w.n.At(w.n.Now().Add(Duration(w.state%uint64(20*Microsecond))), Kind(100+w.state%2*60+w.state%20), port, m.id)
	w.emit(*m)
}

func (w *wanderer) OnTimer(k Kind, port int, arg uint64) {
	w.mix(uint64(w.n.Now()) ^ uint64(k)<<40 ^ arg)
	w.log = append(w.log, w.state)
	if w.state%3 == 0 {
		w.emit(token{id: arg})
	}
}

func wanderers(seed uint64, nodes int, shortest Duration) (*Engine[token], []*wanderer) {
	r := NewRand(seed, "graph")
	e := NewEngine[token]()
	ws := make([]*wanderer, nodes)
	ports := make([]int, nodes)
	type edge struct{ a, b int }
	var edges []edge
	for i := 1; i < nodes; i++ {
		edges = append(edges, edge{i, r.IntN(i)})
	}
	for range nodes {
		a, b := r.IntN(nodes), r.IntN(nodes)
		if a != b {
			edges = append(edges, edge{a, b})
		}
	}
	for _, d := range edges {
		ports[d.a]++
		ports[d.b]++
	}
	for i := range ws {
		ws[i] = &wanderer{state: Mix64(seed + uint64(i)), left: 60}
		ws[i].n = e.AddNode(ws[i], ports[i], i%5-1)
	}
	for _, d := range edges {
		delay := shortest + Duration(r.Uint64()%uint64(2*Microsecond))
		if r.IntN(4) == 0 {
			delay = Duration(r.IntN(60)) * Nanosecond
		}
		pa, pb := len(ws[d.a].delay), len(ws[d.b].delay)
		e.Connect(ws[d.a].n, pa, ws[d.b].n, pb, delay)
		e.Connect(ws[d.b].n, pb, ws[d.a].n, pa, delay)
		ws[d.a].delay = append(ws[d.a].delay, delay)
		ws[d.b].delay = append(ws[d.b].delay, delay)
	}
	for i, w := range ws {
		w.n.At(Time(i%7)*Time(Nanosecond), 7, 0, uint64(i))
		w.n.At(Time(i)*Time(Millisecond), 7, 0, uint64(i))
	}
	return e, ws
}

func digest(ws []*wanderer) string {
	var h uint64
	n := 0
	for _, w := range ws {
		for _, v := range w.log {
			h = Mix64(h ^ v)
		}
		n += len(w.log)
	}
	return fmt.Sprintf("%d events, %x", n, h)
}

// TestEngineIndependentOfWorkersAndWindows runs one model on 1, 2 and 3
// workers, cut into other windows, and on one plain sorted list of events.
func TestEngineIndependentOfWorkersAndWindows(t *testing.T) {
	for seed := uint64(1); seed <= 6; seed++ {
		end := Time(2 * Millisecond)
		e, ws := wanderers(seed, 170, 60*Nanosecond)
		r := e.Run(context.Background(), RunOptions{Until: end, Workers: 1})
		want := digest(ws)
		require.Equal(t, 1, r.Workers)
		require.Greater(t, r.Events, uint64(3000))
		for _, workers := range []int{2, 3} {
			e, ws := wanderers(seed, 170, 60*Nanosecond)
			r := e.Run(context.Background(), RunOptions{Until: end, Workers: workers, Exactly: true})
			require.Equal(t, want, digest(ws), "seed %d, %d workers", seed, r.Workers)
			require.Equal(t, workers, r.Workers)
		}
		e, ws = wanderers(seed, 170, 60*Nanosecond)
		cuts := NewRand(seed, "cuts")
		for range 300 {
			e.AtGlobal(Time(cuts.Uint64()%uint64(end)), func(Time) {})
		}
		e.Run(context.Background(), RunOptions{Until: end, Workers: 1})
		require.Equal(t, want, digest(ws), "seed %d, cut windows", seed)
		e, ws = wanderers(seed, 170, 60*Nanosecond)
		slowRun(e, end)
		require.Equal(t, want, digest(ws), "seed %d, slow twin", seed)
	}
}

// slowRun is the obvious engine: all nodes in one group whose next event is
// found by sorting everything that waits.
func slowRun(e *Engine[token], end Time) {
	g := &group[token]{nearMin: Never, worker: newWorker[token](0, 1, 0)}
	for _, n := range e.nodes {
		for _, ev := range n.g.far {
			ev.node = int32(n.Index)
			g.far = append(g.far, ev)
		}
		n.g, n.local = g, int32(n.Index)
		g.nodes = append(g.nodes, n)
		for i := range n.out {
			n.out[i].local = int32(n.out[i].dst.Index)
		}
	}
	for len(g.far) > 0 {
		first := 0
		for i := range g.far {
			if less(&g.far[i], &g.far[first]) {
				first = i
			}
		}
		ev := g.far[first]
		if ev.at >= end {
			return
		}
		g.far = append(append([]event(nil), g.far[:first]...), g.far[first+1:]...)
		g.now = ev.at
		n := g.nodes[ev.node]
		if k := Kind(ev.key >> 56); k == KindMessage {
			m := *g.worker.at(int32(ev.arg))
			n.handler.OnMessage(int(ev.key>>40&0xffff), &m)
		} else {
			n.handler.OnTimer(k, int(ev.key>>40&0xffff), ev.arg)
		}
	}
}

// TestEngineStopsWhenDone ends a run a fixed grace after the last node is done,
// wherever the windows lie.
func TestEngineStopsWhenDone(t *testing.T) {
	for _, cuts := range []bool{false, true} {
		e := NewEngine[token]()
		h := &doneAt{at: 12345 * Time(Nanosecond)}
		h.n = e.AddNode(h, 1, -1)
		k := &doneAt{at: 77 * Time(Nanosecond)}
		k.n = e.AddNode(k, 1, -1)
		e.Connect(h.n, 0, k.n, 0, 3*Microsecond)
		e.Connect(k.n, 0, h.n, 0, 3*Microsecond)
		h.n.At(0, 1, 0, 0)
		k.n.At(0, 1, 0, 0)
		if cuts {
			e.AtGlobal(12340*Time(Nanosecond), func(Time) {})
		}
		r := e.Run(context.Background(), RunOptions{Until: Time(Second), UntilDone: true, Workers: 1})
		require.Equal(t, Time(12345*Nanosecond+3*Microsecond), r.End)
		require.False(t, r.Idle)
	}
}

type doneAt struct {
	n  *Node[token]
	at Time
}

func (d *doneAt) OnMessage(int, *token) {}
func (d *doneAt) OnTimer(Kind, int, uint64) {
	if d.n.Now() >= d.at {
		d.n.Done()
	}
	d.n.At(max(d.n.Now()+1, d.at), 1, 0, 0)
	if d.n.Now() >= d.at {
		d.at = d.n.Now() + Time(100*Nanosecond)
	}
}

func TestEngineCancel(t *testing.T) {
	e := NewEngine[token]()
	h := &doneAt{at: Never - 1}
	h.n = e.AddNode(h, 0, -1)
	k := &ticker{}
	k.n = e.AddNode(k, 0, -1)
	k.n.At(0, 1, 0, 0)
	ctx, cancel := context.WithCancel(context.Background())
	k.f = func(i int) {
		if i == 1000 {
			cancel()
		}
	}
	r := e.Run(ctx, RunOptions{Until: Never, Workers: 1})
	require.True(t, r.Stopped)
}

type ticker struct {
	n *Node[token]
	i int
	f func(int)
}

func (k *ticker) OnMessage(int, *token) {}
func (k *ticker) OnTimer(Kind, int, uint64) {
	k.i++
	k.f(k.i)
	k.n.At(k.n.Now().Add(Microsecond), 1, 0, 0)
}

// flood sends one message after the other, and answers none.
type flood struct {
	n   *Node[token]
	got int
}

func (f *flood) OnMessage(int, *token) { f.got++ }

func (f *flood) OnTimer(k Kind, port int, arg uint64) {
	f.n.Send(0, f.n.Now().Add(Microsecond), &token{})
	f.n.At(f.n.Now().Add(10*Nanosecond), k, port, arg)
}

// A worker gets the memory of its messages back from the worker that reads
// them: traffic in one direction does not pile up bundles at the receiver.
func TestMailGoesBackToTheSender(t *testing.T) {
	e := NewEngine[token]()
	a, b := &flood{}, &flood{}
	a.n, b.n = e.AddNode(a, 1, 0), e.AddNode(b, 1, 1)
	e.Connect(a.n, 0, b.n, 0, Microsecond)
	e.Connect(b.n, 0, a.n, 0, Microsecond)
	a.n.At(0, 200, 0, 0)
	r := e.Run(context.Background(), RunOptions{Until: Time(Millisecond), Workers: 2, Exactly: true})
	require.Equal(t, 2, r.Workers)
	require.Equal(t, 99_900, b.got)
	count := func(l *bundle[token]) (n int) {
		for ; l != nil; l = l.next {
			n++
		}
		return n
	}
	total := 0
	for _, w := range e.workers {
		total += count(w.post.empty)
		for p := range w.post.out {
			for i := range w.post.out[p] {
				total += count(w.post.out[p][i].first)
			}
			for i := range w.post.read[p] {
				total += count(w.post.read[p][i].first)
			}
		}
	}
	require.LessOrEqual(t, total, 3*(100/bundleLetters+1), "as many as three windows take")
}

// bursty nodes send a great many messages in some spans and few in others.
type bursty struct {
	n     *Node[token]
	state uint64
}

func (b *bursty) OnMessage(_ int, m *token) { b.state = Mix64(b.state ^ m.id ^ uint64(b.n.Now())) }

func (b *bursty) OnTimer(k Kind, port int, arg uint64) {
	b.state = Mix64(b.state + uint64(b.n.Now()))
	b.n.Send(0, b.n.Now().Add(Microsecond+Duration(b.state%1000)), &token{id: b.state})
	gap := 100 * Nanosecond
	if b.n.Now()/Time(100*Microsecond)%2 == 0 {
		gap = 5 * Nanosecond
	}
	b.n.At(b.n.Now().Add(gap), k, port, arg)
}

// Windows with little to do are not shared, and those with much are: either way
// the results are those of one worker.
func TestSmallWindowsAreNotShared(t *testing.T) {
	run := func(workers int, until Duration) (uint64, int) {
		e := NewEngine[token]()
		all := make([]*bursty, 60)
		for i := range all {
			all[i] = &bursty{state: uint64(i)}
			all[i].n = e.AddNode(all[i], 1, -1)
		}
		for i, b := range all {
			e.Connect(b.n, 0, all[(i+1)%len(all)].n, 0, Microsecond)
			b.n.At(Time(i)*10, 200, 0, 0)
		}
		r := e.Run(context.Background(), RunOptions{Until: Time(until), Workers: workers})
		sum := uint64(0)
		for _, b := range all {
			sum = Mix64(sum ^ b.state)
		}
		return sum, r.Workers
	}
	want, _ := run(1, 400*Microsecond)
	got, used := run(2, 400*Microsecond)
	require.Equal(t, want, got)
	require.Equal(t, 2, used)
	_, used = run(2, 2*Microsecond)
	require.Equal(t, 1, used, "the first windows are small")
}
