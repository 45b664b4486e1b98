package metric

import (
	"cmp"
	"slices"
	"strconv"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// victimShare is the share of the time of its messages that a queue pair must
// have lost to a root that it does not cross to be called a victim.
const victimShare = 0.05

// loss is what one root cost one queue pair.
type loss struct {
	Victim
	total sim.Duration // of its messages
	lost  sim.Duration
	at    map[trace.Object]sim.Duration
}

// stops returns, by root, how long a message was stopped on its way between two
// times: of the ports of the way from the first one on, that which the root
// paused longest counts.
func (f *pauseTrack) stops(way []trace.Object, prio int8, from, to sim.Time, each func(root int32, port trace.Object, d sim.Duration)) {
	if to <= from {
		return
	}
	type stop struct {
		root int32
		port trace.Object
		d    sim.Duration
	}
	var list []stop
	for _, port := range way {
		c := f.classes[class{port, prio}]
		if c == nil {
			continue
		}
		here := map[int32]sim.Duration{}
		c.overlap(from, to, func(r int32, d sim.Duration) { here[r] += d })
		for r, d := range here {
			i := slices.IndexFunc(list, func(s stop) bool { return s.root == r })
			if i < 0 {
				list = append(list, stop{r, port, d})
			} else if d > list[i].d {
				list[i].port, list[i].d = port, d
			}
		}
	}
	slices.SortFunc(list, func(a, b stop) int { return cmp.Compare(a.root, b.root) })
	for _, s := range list {
		each(s.root, s.port, s.d)
	}
}

// crosses reports whether packets of a way, or their answers, pass the port of a root.
func (r *root) crosses(w *trace.Way) bool {
	return slices.Contains(w.There, r.cross) || slices.Contains(w.Back, r.cross)
}

// stoppable returns how much of the time of a message pauses can have taken: at
// most what it lost, and of a message of which account was kept what it lost while
// its port was paused or its packets were in the network.
func (m *passage) stoppable() sim.Duration {
	d := m.elapsed() - m.ideal()
	if m.delays.Measured {
		of := &m.delays.Of
		d = min(d, of[trace.DelayPaused]+of[trace.DelayNetwork]+of[trace.DelayTimeout]+max(of[trace.DelaySend]+of[trace.DelayFlight]-m.ideal(), 0))
	}
	return d
}

// bothWays returns the ports that packets and their answers pass.
func bothWays(w *trace.Way) []trace.Object { return append(slices.Clone(w.There), w.Back...) }

// findVictims looks for queue pairs that a root slowed down although they do not
// cross it.
//
//nolint:funlen // steps in their order
func (f *pauseTrack) findVictims(run *trace.Run, p *Pauses, roots []PauseRoot) error {
	if len(f.roots) == 0 {
		return nil
	}
	type key struct {
		qp   hostQP
		root int32
	}
	losses := map[key]*loss{}
	total := map[hostQP]sim.Duration{}
	for m, err := range passages(run) {
		if err != nil {
			return err
		}
		excess := m.stoppable()
		if m.way == nil {
			continue
		}
		qp := hostQP{m.Src, m.QP}
		total[qp] += m.elapsed()
		if excess <= 0 {
			continue
		}
		f.stops(bothWays(m.way), m.way.Prio, m.Start, m.end, func(r int32, port trace.Object, d sim.Duration) {
			if f.roots[r].crosses(m.way) {
				return
			}
			k := key{qp, r}
			l := losses[k]
			if l == nil {
				l = &loss{Victim: Victim{Src: m.Src, Dst: m.Dst, QP: m.QP, Root: f.roots[r].where, Kind: f.roots[r].kind}, at: map[trace.Object]sim.Duration{}}
				losses[k] = l
			}
			l.Messages++
			l.lost += min(d, excess)
			l.at[port] += d
		})
	}
	var list []*loss
	of := map[*loss]int32{}
	for k, l := range losses {
		l.total = total[k.qp]
		l.Lost, l.Share = l.lost.Seconds(), float64(l.lost)/float64(l.total)
		if l.Share >= victimShare {
			l.At = longest(l.at)
			list = append(list, l)
			of[l] = k.root
		}
	}
	slices.SortFunc(list, func(a, b *loss) int {
		return cmp.Or(cmp.Compare(b.lost, a.lost), cmp.Compare(a.Src, b.Src), cmp.Compare(a.QP, b.QP), cmp.Compare(a.Root, b.Root))
	})
	cells := map[[2]string]int{}
	for i, l := range list {
		r := &roots[of[l]]
		r.Victims++
		r.VictimLost += l.Lost
		if i < maxVictims {
			p.Victims = append(p.Victims, l.Victim)
		}
		k := [2]string{l.Root, l.Dst}
		at, ok := cells[k]
		if !ok {
			at = len(p.Blocking)
			cells[k] = at
			p.Blocking = append(p.Blocking, Blocking{Root: l.Root, Dst: l.Dst})
		}
		p.Blocking[at].Lost += l.Lost
		p.Blocking[at].QPs++
	}
	slices.SortStableFunc(p.Blocking, func(a, b Blocking) int { return cmp.Compare(b.Lost, a.Lost) })
	p.Blocking = p.Blocking[:min(len(p.Blocking), maxVictims)]
	if len(list) > maxVictims && p.Partial == "" {
		p.Partial = "only the " + strconv.Itoa(maxVictims) + " victims that lost most are listed"
	}
	return nil
}

// longest returns the port of most paused time.
func longest(at map[trace.Object]sim.Duration) trace.Object {
	best, most := "", sim.Duration(-1)
	for port, d := range at {
		if d > most || d == most && port < best {
			best, most = port, d
		}
	}
	return best
}
