package sim

func less(a, b *event) bool { return a.at < b.at || a.at == b.at && a.key < b.key }

func (g *group[M]) pushFar(e event) {
	h := append(g.far, e)
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !less(&e, &h[p]) {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = e
	g.far = h
}

func (g *group[M]) popFar() event {
	h := g.far
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	for i := 0; len(h) > 0; {
		c := 2*i + 1
		if c >= len(h) {
			h[i] = last
			break
		}
		if c+1 < len(h) && less(&h[c+1], &h[c]) {
			c++
		}
		if !less(&h[c], &last) {
			h[i] = last
			break
		}
		h[i] = h[c]
		i = c
	}
	g.far = h
	return top
}
