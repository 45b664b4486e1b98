package topology

import (
	"math/bits"
	"slices"
)

// batch is how many groups are searched from at once, a bit of a word for each.
const batch = 64

// walk is a breadth-first search from a batch of groups. All of them share one
// look at a link per distance, and in a fabric that is built of alike parts most
// groups reach a switch at the same distance: a fat tree costs one search per
// batch, not one per group. Source: Then et al., "The more the merrier: efficient
// multi-source graph traversal", VLDB 2015.
type walk struct {
	seen, front, next []uint64  // by node: groups that have reached it, now or before; now; one step on
	now, then         []int32   // nodes with a front, with a next
	column            []uint32  // by row: the sets of the batch, group by group
	last              []uint32  // by row: the set that it had last
	hosts             [][]int32 // by switch: rows of hosts with several ways out, one of them to it
	parts             []part
}

// part is a set of groups with the hops that lead towards all of them.
type part struct {
	groups uint64
	hops   []uint16
}

// fill computes the table, batch by batch.
func (b *routing) fill() {
	r, w := b.r, &b.walk
	r.table = make([]uint32, b.rows*r.groups)
	nodes := len(b.g.Nodes)
	w.seen, w.front, w.next = make([]uint64, nodes), make([]uint64, nodes), make([]uint64, nodes)
	w.column, w.last = make([]uint32, b.rows*batch), make([]uint32, b.rows)
	if len(b.hostRows) > 0 {
		w.hosts = make([][]int32, nodes)
		for _, row := range b.hostRows {
			for _, a := range b.arcs[b.lead[row]] {
				if l := w.hosts[a.peer]; len(l) == 0 || l[len(l)-1] != row {
					w.hosts[a.peer] = append(l, row)
				}
			}
		}
	}
	for first := 0; first < r.groups; first += batch {
		n := min(batch, r.groups-first)
		b.fillBatch(first, n)
		for row := range b.rows {
			copy(r.table[row*r.groups+first:], w.column[row*batch:row*batch+n])
		}
	}
}

// fillBatch walks outwards from the switches of n groups, one step of all at a
// time, and notes at each node the hops towards the nodes one step nearer.
func (b *routing) fillBatch(first, n int) {
	r, w := b.r, &b.walk
	clear(w.column)
	clear(w.seen)
	w.now = w.now[:0]
	for i := range n {
		for _, at := range b.attach[first+i] {
			if row := r.row[at]; row >= 0 {
				w.column[int(row)*batch+i] = attached
			}
			if b.g.Nodes[at].Kind == Switch {
				if w.front[at] == 0 {
					w.now = append(w.now, at)
				}
				w.front[at] |= 1 << i
			}
			w.seen[at] |= 1 << i
		}
	}
	for len(w.now) > 0 {
		b.step()
	}
}

// step goes one link further from every node of the front.
func (b *routing) step() {
	w := &b.walk
	w.then = w.then[:0]
	reach := func(node int32, groups uint64) {
		if fresh := groups &^ w.seen[node]; fresh != 0 {
			if w.next[node] == 0 {
				w.then = append(w.then, node)
			}
			w.next[node] |= fresh
		}
	}
	for _, node := range w.now {
		for _, a := range b.arcs[node] {
			reach(a.peer, w.front[node])
		}
		if w.hosts != nil {
			for _, row := range w.hosts[node] {
				reach(b.lead[row], w.front[node])
			}
		}
	}
	for _, node := range w.then {
		b.choose(node)
	}
	for _, node := range w.now {
		w.front[node] = 0
	}
	w.now, w.then = w.then, w.now
	kept := w.now[:0]
	for _, node := range w.now {
		w.seen[node] |= w.next[node]
		if b.g.Nodes[node].Kind == Switch { // hosts never forward
			w.front[node] = w.next[node]
			kept = append(kept, node)
		}
		w.next[node] = 0
	}
	w.now = kept
}

// choose notes the hops of a node towards the groups that have just reached it.
// Groups are told apart only where a hop leads to some of them alone.
func (b *routing) choose(node int32) {
	w := &b.walk
	parts := w.add(w.parts[:0], w.next[node])
	for _, a := range b.arcs[node] {
		towards := w.front[a.peer] & w.next[node]
		for i := 0; towards != 0; i++ {
			both := parts[i].groups & towards
			if both == 0 {
				continue
			}
			towards &^= both
			if rest := parts[i].groups &^ both; rest != 0 {
				parts = w.add(parts, rest)
				k := len(parts) - 1
				parts[k].hops = append(parts[k].hops, parts[i].hops...)
				parts[i].groups = both
			}
			parts[i].hops = append(parts[i].hops, a.hop)
		}
	}
	row := b.r.row[node]
	column := w.column[int(row)*batch : int(row)*batch+batch]
	for i := range parts {
		id := b.same(row, parts[i].hops)
		for groups := parts[i].groups; groups != 0; groups &= groups - 1 {
			column[bits.TrailingZeros64(groups)] = id
		}
	}
	w.parts = parts
}

// add appends a part without hops, whose slice is one that was used before.
func (w *walk) add(parts []part, groups uint64) []part {
	if len(parts) < cap(parts) {
		parts = parts[:len(parts)+1]
	} else {
		parts = append(parts, part{})
	}
	p := &parts[len(parts)-1]
	p.groups, p.hops = groups, p.hops[:0]
	return parts
}

// same is intern with the guess that a row often has the same set as before.
func (b *routing) same(row int32, hops []uint16) uint32 {
	last := &b.walk.last[row]
	if !slices.Equal(b.r.set(*last), hops) {
		*last = b.intern(hops)
	}
	return *last
}
