package metric

import (
	"cmp"
	"sort"
	"strconv"
	"strings"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Limits and thresholds of forensics.
const (
	// maxEpisodes bounds the memory for pauses, at 24 bytes each.
	maxEpisodes = 4 << 20
	// An egress queue waits for pauses of its port, and not because too much comes
	// for it, if they account for this share of its bytes: what the link would have
	// sent in the time that it was stopped, within the last pausedWindow times that
	// the queue takes to leave, since a backlog outlives the pause that made it. A
	// quarter, since a queue may grow faster than its link sends.
	pausedShare  = 0.25
	pausedWindow = 10
)

// episode is one pause of a port and priority.
type episode struct {
	on, off sim.Time
	root    int32
}

// pausedClass is what is known of one priority of one port.
type pausedClass struct {
	key      class
	episodes []episode
	open     bool // the last episode lasts
	edges    map[int32]*edge
	ordered  []*edge
	rate     int64
}

// edge is a port in the tree of one root.
type edge struct {
	class    *pausedClass
	root     int32
	by       trace.Object
	parents  map[*pausedClass]sim.Duration
	level    int
	episodes int
	paused   sim.Duration
	first    sim.Time
	lag      sim.Duration
	lags     int
	parent   *pausedClass // of the present episode
}

// root is where pauses come from.
type root struct {
	where       trace.Object
	kind        string
	prio        int8
	cross       trace.Object
	first, last sim.Time
	near, far   sim.Time // ends of pauses next to the root, and anywhere
	lasts       bool
	episodes    int
	paused      sim.Duration
	edges       []*edge
}

// xoff is the last reason for which an ingress paused its peer.
type xoff struct {
	known bool
	at    sim.Time
	cause string
	queue trace.Object // egress queue that holds most of its frames
	bytes float64
	// before is the queue of an earlier XOFF, for one that tells none.
	before trace.Object
	waits  *pausedClass // the port for which they wait, nil if it was not paused
}

// pauseTrack follows the pauses of a run.
type pauseTrack struct {
	end       sim.Time
	host      map[string]bool
	rate      map[trace.Object]int64
	far       map[trace.Object]trace.Object // the other end of a port
	classes   map[class]*pausedClass
	order     []*pausedClass
	ingress   map[class]*xoff
	roots     []*root
	number    map[class]int32 // of roots, by where and priority
	count     int
	partial   string
	deadlocks []DeadlockSeen
}

// trackPauses reads the events of a run in their order.
func trackPauses(run *trace.Run) (*pauseTrack, error) {
	f := &pauseTrack{end: sim.Time(run.Manifest.Simulated), host: map[string]bool{}, rate: map[trace.Object]int64{}, far: map[trace.Object]trace.Object{}, classes: map[class]*pausedClass{},
		ingress: map[class]*xoff{}, number: map[class]int32{}}
	nodes := run.Topology.Nodes
	for _, n := range nodes {
		f.host[n.Name] = n.Kind == "host"
	}
	for _, l := range run.Topology.Links {
		a, b := nodes[l.A].Name+":"+strconv.Itoa(l.APort), nodes[l.B].Name+":"+strconv.Itoa(l.BPort)
		f.rate[a], f.rate[b], f.far[a], f.far[b] = l.RateAB, l.RateBA, b, a
	}
	for e, err := range run.Events(trace.EventXoff, trace.EventHeld, trace.EventPauseOn, trace.EventPauseOff, trace.EventDeadlock) {
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case trace.EventXoff:
			x := f.xoffOf(class{e.Object, e.Prio})
			*x = xoff{known: true, at: e.Time, cause: e.Cause, before: cmp.Or(x.queue, x.before)}
		case trace.EventHeld:
			f.held(&e)
		case trace.EventPauseOn:
			e.Peer = cmp.Or(e.Peer, f.far[e.Object])
			f.pause(&e)
		case trace.EventPauseOff:
			f.resume(class{e.Object, e.Prio}, e.Time)
		case trace.EventDeadlock:
			f.deadlocks = append(f.deadlocks, DeadlockSeen{At: e.Value, Prio: e.Prio, Cycle: e.Cause})
		}
	}
	for _, c := range f.order {
		f.finish(c)
	}
	return f, nil
}

func (f *pauseTrack) xoffOf(k class) *xoff {
	x := f.ingress[k]
	if x == nil {
		x = &xoff{}
		f.ingress[k] = x
	}
	return x
}

// held notes the first egress queue of an XOFF, which holds most of the frames.
func (f *pauseTrack) held(e *trace.EventRow) {
	x := f.xoffOf(class{e.Object, e.Prio})
	if x.queue != "" || x.at != e.Time {
		return
	}
	x.queue, x.bytes = e.Peer, e.Value
	port, _, _ := strings.Cut(e.Peer, "/")
	c := f.classes[class{port, e.Prio}]
	if c == nil || c.rate <= 0 {
		return
	}
	window := sim.Duration(e.Value * 8 / float64(c.rate) * float64(sim.Second))
	if stopped := c.overlap(e.Time.Add(-pausedWindow*window), e.Time, nil); float64(stopped) > pausedShare*float64(window) {
		x.waits = c
	}
}

// overlap adds up how long the class was paused within a span; each is told the
// parts by root.
func (c *pausedClass) overlap(from, to sim.Time, each func(root int32, d sim.Duration)) (sum sim.Duration) {
	i := sort.Search(len(c.episodes), func(i int) bool { return c.episodes[i].off > from })
	for ; i < len(c.episodes) && c.episodes[i].on < to; i++ {
		e := &c.episodes[i]
		if d := min(e.off, to).Sub(max(e.on, from)); d > 0 {
			sum += d
			if each != nil {
				each(e.root, d)
			}
		}
	}
	return sum
}

// pause begins an episode: it finds out for which root.
func (f *pauseTrack) pause(e *trace.EventRow) {
	k := class{e.Object, e.Prio}
	c := f.classes[k]
	if c == nil {
		c = &pausedClass{key: k, edges: map[int32]*edge{}, rate: f.rate[e.Object]}
		f.classes[k] = c
		f.order = append(f.order, c)
	}
	if c.open {
		f.resume(k, e.Time)
	}
	if f.count == maxEpisodes {
		f.partial = "only the first " + strconv.Itoa(maxEpisodes) + " pauses were followed"
		return
	}
	f.count++
	r, parent := f.cause(e)
	c.open = true
	c.episodes = append(c.episodes, episode{on: e.Time, off: sim.Never, root: r})
	g := c.edges[r]
	if g == nil {
		g = &edge{class: c, root: r, by: e.Peer, parents: map[*pausedClass]sim.Duration{}, first: e.Time}
		c.edges[r] = g
		c.ordered = append(c.ordered, g)
		f.roots[r].edges = append(f.roots[r].edges, g)
	}
	g.episodes++
	g.parent = parent
	level := 1
	if parent != nil {
		if up := parent.edges[r]; up != nil {
			level = up.level + 1
		}
		if n := len(parent.episodes); n > 0 && parent.episodes[n-1].on <= e.Time {
			g.lag += e.Time.Sub(parent.episodes[n-1].on)
			g.lags++
		}
	}
	if g.level == 0 || level < g.level {
		g.level = level
	}
	f.roots[r].episodes++
}

// cause returns the root of a pause that begins, and the port of the switch
// that asks for it for which its frames wait, nil if that is the root itself.
func (f *pauseTrack) cause(e *trace.EventRow) (r int32, parent *pausedClass) {
	x := f.ingress[class{e.Peer, e.Prio}]
	node, _, _ := strings.Cut(e.Peer, ":")
	switch {
	case f.host[node] && x != nil && x.known && !strings.Contains(x.cause, "storm"):
		return f.rootOf(e.Peer, RootReceiver, e.Prio, e.Object), nil
	case f.host[node]:
		return f.rootOf(e.Peer, RootStorm, e.Prio, e.Object), nil
	case x == nil || !x.known:
		return f.rootOf(cmp.Or(e.Peer, "unknown"), RootUnknown, e.Prio, e.Object), nil
	case x.cause == "stuck":
		return f.rootOf(e.Peer, RootStuck, e.Prio, e.Object), nil
	case x.waits != nil && len(x.waits.episodes) > 0 && x.waits.key.object != e.Object:
		return x.waits.episodes[len(x.waits.episodes)-1].root, x.waits
	}
	queue := cmp.Or(x.queue, x.before, node)
	port, _, _ := strings.Cut(queue, "/")
	return f.rootOf(queue, RootCongestion, e.Prio, port), nil
}

func (f *pauseTrack) rootOf(where trace.Object, kind string, prio int8, cross trace.Object) int32 {
	k := class{where, prio}
	if n, ok := f.number[k]; ok {
		return n
	}
	n := int32(len(f.roots))
	f.number[k] = n
	f.roots = append(f.roots, &root{where: where, kind: kind, prio: prio, cross: cross, first: -1})
	return n
}

// resume ends the episode that lasts.
func (f *pauseTrack) resume(k class, at sim.Time) {
	c := f.classes[k]
	if c == nil || !c.open {
		return
	}
	c.open = false
	e := &c.episodes[len(c.episodes)-1]
	e.off = at
	f.book(c, e)
}

// finish ends an episode that lasts until the run ends.
func (f *pauseTrack) finish(c *pausedClass) {
	if c.open {
		f.roots[c.episodes[len(c.episodes)-1].root].lasts = true
		f.resume(c.key, f.end)
	}
}

func (f *pauseTrack) book(c *pausedClass, e *episode) {
	d := e.off.Sub(e.on)
	g, r := c.edges[e.root], f.roots[e.root]
	g.paused += d
	g.parents[g.parent] += d + 1 // so that a pause of no length counts
	r.paused += d
	if r.first < 0 || e.on < r.first {
		r.first = e.on
	}
	r.last = max(r.last, e.off)
	r.far = max(r.far, e.off)
	if g.parent == nil {
		r.near = max(r.near, e.off)
	}
}
