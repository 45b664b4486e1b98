package fabric

// cyclic returns the sets of groups that wait for each other in a circle: the
// strongly connected components with more than one member, or with a group that
// waits for itself. Each set and their list are in order of the groups.
// Source: Tarjan, "Depth-first search and linear graph algorithms", 1972.
func cyclic(groups []stuck) [][]int {
	t := tarjan{groups: groups, index: make([]int, len(groups)), low: make([]int, len(groups)), on: make([]bool, len(groups))}
	for i := range groups {
		if !groups[i].out && t.index[i] == 0 {
			t.visit(i)
		}
	}
	return t.sets()
}

type tarjan struct {
	groups     []stuck
	index, low []int // from 1; 0 = not visited
	on         []bool
	stack      []int
	next       int
	of         []int // by group: number of its component, from 1
	count      int
}

// visit walks without recursion: cycles may be as long as a fabric is large.
func (t *tarjan) visit(root int) {
	type frame struct{ group, edge int }
	walk := []frame{{root, 0}}
	t.enter(root)
	for len(walk) > 0 {
		f := &walk[len(walk)-1]
		g := &t.groups[f.group]
		if f.edge < len(g.wait) {
			w := g.wait[f.edge]
			f.edge++
			switch {
			case w.bytes == 0 || t.groups[w.by].out:
			case t.index[w.by] == 0:
				t.enter(w.by)
				walk = append(walk, frame{w.by, 0})
			case t.on[w.by]:
				t.low[f.group] = min(t.low[f.group], t.index[w.by])
			}
			continue
		}
		done := f.group
		walk = walk[:len(walk)-1]
		if len(walk) > 0 {
			up := walk[len(walk)-1].group
			t.low[up] = min(t.low[up], t.low[done])
		}
		if t.low[done] == t.index[done] {
			t.leave(done)
		}
	}
}

func (t *tarjan) enter(i int) {
	t.next++
	t.index[i], t.low[i], t.on[i] = t.next, t.next, true
	t.stack = append(t.stack, i)
}

func (t *tarjan) leave(root int) {
	if t.of == nil {
		t.of = make([]int, len(t.groups))
	}
	t.count++
	for {
		i := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.on[i], t.of[i] = false, t.count
		if i == root {
			return
		}
	}
}

func (t *tarjan) sets() [][]int {
	members := make([][]int, t.count+1)
	var order []int
	for i, c := range t.of {
		if c == 0 {
			continue
		}
		if len(members[c]) == 0 {
			order = append(order, c)
		}
		members[c] = append(members[c], i)
	}
	var out [][]int
	for _, c := range order {
		m := members[c]
		self := false
		for _, w := range t.groups[m[0]].wait {
			self = self || w.by == m[0] && w.bytes > 0
		}
		if len(m) > 1 || self {
			out = append(out, m)
		}
	}
	return out
}
