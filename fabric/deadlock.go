package fabric

import (
	"math/bits"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// Wait is one link of a cyclic wait: a port that may not send because its peer,
// whose ingress is full, has paused it.
type Wait struct {
	Node, Port         int // the port that is paused
	PeerNode, PeerPort int // the ingress that has paused it
	Class              uint8
}

// Deadlock is a cyclic wait that nothing in the fabric can end: each ingress of
// the cycle would stay above its XON threshold even if every frame left that
// does not itself wait for the cycle.
type Deadlock struct {
	Since sim.Time // when the last pause of the cycle took effect
	Cycle []Wait   // each waits for the next, the last for the first
	Stuck int      // ingress groups that can never drain, those of the cycle included
}

// DeadlockWatch looks for deadlocks in a fabric. It reads switches, so that it
// may look only between windows.
type DeadlockWatch struct {
	switches []*Switch // by node, nil for hosts
	peer     func(node, port int) (int, int)
	known    map[stuckKey]bool
	found    int
}

// NewDeadlockWatch returns a watch over switches by node; peer returns the other
// end of a link.
func NewDeadlockWatch(switches []*Switch, peer func(node, port int) (peerNode, peerPort int)) *DeadlockWatch {
	return &DeadlockWatch{switches: switches, peer: peer}
}

// Found returns how many deadlocks there have been so far.
func (d *DeadlockWatch) Found() int { return d.found }

type stuckKey struct {
	node, port int32
	class      uint8
}

// stuck is an ingress group that holds XOFF and may be unable to drain.
type stuck struct {
	stuckKey
	out  bool // it can drain
	wait []stuckWait
}

// stuckWait is a paused queue that holds frames of a group.
type stuckWait struct {
	port  int32 // of the switch, paused
	by    int   // the group that pauses it, by index
	bytes int64 // of the group in that queue
}

// Look returns the deadlocks that exist and were not there at the last look,
// of those that are complete at the time given. What it finds does not depend on
// how often it looks.
func (d *DeadlockWatch) Look(upTo sim.Time) []Deadlock {
	groups := d.candidates()
	if len(groups) == 0 || !d.prune(groups, false) {
		d.known = nil
		return nil
	}
	d.weigh(groups)
	if !d.prune(groups, true) {
		d.known = nil
		return nil
	}
	n := 0
	for i := range groups {
		if !groups[i].out {
			n++
		}
	}
	var list []Deadlock
	known := map[stuckKey]bool{}
	for _, members := range cyclic(groups) {
		old := false
		for _, m := range members {
			old = old || d.known[groups[m].stuckKey]
		}
		dl := d.describe(groups, members)
		dl.Stuck = n
		if !old && dl.Since > upTo {
			continue
		}
		for _, m := range members {
			known[groups[m].stuckKey] = true
		}
		if !old {
			list = append(list, dl)
		}
	}
	d.known = known
	d.found += len(list)
	return list
}

// candidates lists the groups that hold XOFF, with the paused queues of their
// switch whose pauser is such a group.
func (d *DeadlockWatch) candidates() []stuck {
	var groups []stuck
	var at map[stuckKey]int
	for n, s := range d.switches {
		if s == nil {
			continue
		}
		for i := range s.ports {
			for c := s.ports[i].xoff; c != 0; c &= c - 1 {
				if at == nil {
					at = map[stuckKey]int{}
				}
				k := stuckKey{int32(n), int32(i), uint8(bits.TrailingZeros8(c))}
				at[k] = len(groups)
				groups = append(groups, stuck{stuckKey: k})
			}
		}
	}
	for i := range groups {
		g := &groups[i]
		s := d.switches[g.node]
		for z := range s.ports {
			o := &s.ports[z]
			if s.stops(z, g.class)&o.stopped&o.nonEmpty == 0 {
				continue
			}
			pn, pp := d.peer(int(g.node), z)
			if by, ok := at[stuckKey{int32(pn), int32(pp), g.class}]; ok {
				g.wait = append(g.wait, stuckWait{port: int32(z), by: by})
			}
		}
	}
	return groups
}

// weigh counts, for groups that are left, what lies in the queues that they
// wait for.
func (d *DeadlockWatch) weigh(groups []stuck) {
	type queue struct{ node, port int32 }
	held := map[queue][]int64{} // by ingress port, for one class after the other
	for class := range uint8(8) {
		clear(held)
		for i := range groups {
			g := &groups[i]
			if g.out || g.class != class {
				continue
			}
			s := d.switches[g.node]
			for k := range g.wait {
				w := &g.wait[k]
				q := queue{g.node, w.port}
				if held[q] == nil {
					held[q] = make([]int64, len(s.ports))
					for c := s.stops(int(w.port), class) & s.ports[w.port].nonEmpty; c != 0; c &= c - 1 {
						s.ports[w.port].class[bits.TrailingZeros8(c)].fifo.count(held[q])
					}
				}
				w.bytes = held[q][g.port]
			}
		}
	}
}

// prune takes out, until nothing changes, the groups that can drain, and
// reports whether any is left. Unless exact, a group that waits for one that is
// left counts as stuck whatever it holds there.
func (d *DeadlockWatch) prune(groups []stuck, exact bool) bool {
	for {
		changed, left := false, false
		used := map[int32]int64{} // by switch: shared bytes that are stuck
		if exact {
			for i := range groups {
				if g := &groups[i]; !g.out {
					_, shared := d.remains(groups, g)
					used[g.node] += shared
				}
			}
		}
		for i := range groups {
			g := &groups[i]
			if g.out {
				continue
			}
			if exact && d.resumes(groups, g, used[g.node]) || !exact && !waits(groups, g) {
				g.out, changed = true, true
				continue
			}
			left = true
		}
		if !changed {
			return left
		}
	}
}

func waits(groups []stuck, g *stuck) bool {
	for _, w := range g.wait {
		if !groups[w.by].out {
			return true
		}
	}
	return false
}

// remains returns the headroom and shared bytes that a group keeps when all
// frames have left that wait for no group that is left.
func (d *DeadlockWatch) remains(groups []stuck, g *stuck) (head, shared int64) {
	n := int64(0)
	for _, w := range g.wait {
		if !groups[w.by].out {
			n += w.bytes
		}
	}
	s := d.switches[g.node]
	pg, reserve := s.groupAsking(int(g.port), g.class)
	gone := max(pg.Ingress+pg.Headroom-n, 0)
	head = max(pg.Headroom-gone, 0)
	return head, max(n-head-reserve, 0)
}

// resumes reports whether a group would send XON then, given the shared bytes
// that are stuck in its switch.
func (d *DeadlockWatch) resumes(groups []stuck, g *stuck, used int64) bool {
	head, shared := d.remains(groups, g)
	s := d.switches[g.node]
	if head > 0 {
		return false
	}
	if s.full != nil {
		return shared == 0 || shared <= s.resumeLevel(int(g.port), g.class, used)
	}
	limit := max(s.mmu.pool-used, 0) * s.ports[g.port].alpha >> 16
	return shared == 0 || shared+s.Cfg.Buffer.XonOffset <= limit
}

// count adds the bytes of a queue up by ingress port.
func (f *fifo) count(byPort []int64) {
	f.each(func(m *packet.Packet) bool {
		byPort[m.InPort] += int64(m.Size)
		return true
	})
}

// describe finds the shortest cycle through the first of a set of groups that
// all reach each other.
func (d *DeadlockWatch) describe(groups []stuck, members []int) Deadlock {
	in := map[int]bool{}
	for _, m := range members {
		in[m] = true
	}
	start := members[0]
	from := map[int]int{} // group -> the group that waits for it, first found
	via := map[int]int32{}
	queue := []int{start}
	for i := 0; i < len(queue); i++ {
		g := &groups[queue[i]]
		for _, w := range g.wait {
			if !in[w.by] || w.bytes == 0 {
				continue
			}
			if _, seen := from[w.by]; !seen {
				from[w.by], via[w.by] = queue[i], w.port
				queue = append(queue, w.by)
			}
		}
	}
	var dl Deadlock
	for at := start; ; {
		g, before := &groups[at], from[at]
		w := Wait{Node: int(groups[before].node), Port: int(via[at]), PeerNode: int(g.node), PeerPort: int(g.port), Class: g.class}
		dl.Cycle = append(dl.Cycle, w)
		dl.Since = max(dl.Since, d.switches[w.Node].ports[w.Port].PausedSince(int(g.class)))
		if at = before; at == start {
			break
		}
	}
	for i, j := 0, len(dl.Cycle)-1; i < j; i, j = i+1, j-1 {
		dl.Cycle[i], dl.Cycle[j] = dl.Cycle[j], dl.Cycle[i]
	}
	return dl
}
