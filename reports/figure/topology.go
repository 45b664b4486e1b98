package figure

import (
	"fmt"
	"math"
	"sort"

	"rdmasim/sim/trace"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var _ = register("topology", "picture of the fabric", Fabric, 2, topology)

// A fabric beyond these sizes is described in a sentence: in a picture nobody
// could follow a link.
const (
	maxTierNodes = 128
	maxDrawn     = 512 // links
	maxTiers     = 8
)

// topology draws nodes by tier and links by how busy they were.
func topology(r *Run) Figure {
	const title = "Fabric"
	nodes, links := r.Topology.Nodes, r.Topology.Links
	if len(nodes) == 0 {
		return empty(title, "The run has no topology.")
	}
	t := Table{Head: []string{"tier", "nodes", "links to it from below"}}
	tiers := map[int][]int{}
	var order []int
	widest := 0
	for i, n := range nodes {
		if tiers[n.Tier] == nil {
			order = append(order, n.Tier)
		}
		tiers[n.Tier] = append(tiers[n.Tier], i)
		widest = max(widest, len(tiers[n.Tier]))
	}
	sort.Ints(order)
	below := map[int]int{}
	for _, l := range links {
		if a, b := nodes[l.A].Tier, nodes[l.B].Tier; a != b {
			below[max(a, b)]++
		}
	}
	var words []string
	for _, tier := range order {
		t.Rows = append(t.Rows, []string{r.tierName(tier), Whole(len(tiers[tier])), Whole(below[tier])})
		words = append(words, Count(len(tiers[tier]), r.nodeNoun(tier)))
	}
	size := fmt.Sprintf("%s joined by %s", List(words), Count(len(links), "link"))
	if widest > maxTierNodes || len(links) > maxDrawn || len(order) > maxTiers {
		return Figure{Title: title, Table: t, Empty: Capital(size) + ": too many for a picture that could be read."}
	}
	pic := newPicture(r, order, tiers)
	p := newPlot()
	p.HideAxes()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, -0.35, float64(len(order))-0.65
	p.Add(pic)
	f := Figure{Title: title, Table: t, Panels: []Panel{{Plot: p, Height: vg.Length(max(2, len(order))) * 92, Legend: pic.keys()}}}
	f.Caption = Capital(size) + "; a link is as dark and as wide as its busier direction."
	if !pic.measured {
		f.Caption = Capital(size) + "; how busy they were was not measured."
	}
	return f
}

func (r *Run) nodeNoun(tier int) string {
	if name := r.tierName(tier); name == "host" || name == "switch" {
		return name
	} else {
		return name + " switch"
	}
}

// picture is a layered drawing of a fabric.
type picture struct {
	r        *Run
	at       []xy // of each node
	order    []int
	tiers    map[int][]int
	use      []float64 // of each link, by its busier direction; negative = not measured
	beside   []float64 // of each link, in points: parallel links lie side by side
	measured bool
}

func newPicture(r *Run, order []int, tiers map[int][]int) *picture {
	p := &picture{r: r, order: order, tiers: tiers, at: make([]xy, len(r.Topology.Nodes))}
	for row, tier := range order {
		list := tiers[tier]
		sort.SliceStable(list, func(i, j int) bool { return r.Topology.Nodes[list[i]].Pod < r.Topology.Nodes[list[j]].Pod })
		for i, n := range list {
			p.at[n] = xy{(float64(i) + 0.5) / float64(len(list)), float64(row)}
		}
	}
	by := map[string]float64{}
	for _, u := range r.LinkUses() {
		by[u.From] = u.Mean
	}
	for _, l := range r.Topology.Links {
		a := by[portName(r.Topology.Nodes[l.A].Name, l.APort)]
		b := by[portName(r.Topology.Nodes[l.B].Name, l.BPort)]
		p.use = append(p.use, max(a, b))
		p.measured = p.measured || max(a, b) >= 0
	}
	p.beside = sideBySide(r.Topology.Links)
	return p
}

// sideBySide returns by how much each link is moved so that links between the
// same two nodes do not cover each other.
func sideBySide(links []trace.TopologyLink) []float64 {
	pair := func(l trace.TopologyLink) [2]int { return [2]int{min(l.A, l.B), max(l.A, l.B)} }
	total, seen := map[[2]int]int{}, map[[2]int]int{}
	for _, l := range links {
		total[pair(l)]++
	}
	at := make([]float64, len(links))
	for i, l := range links {
		k := pair(l)
		if n := total[k]; n > 1 {
			at[i] = (float64(seen[k]) - float64(n-1)/2) * min(3.5, 12/float64(n-1))
			seen[k]++
		}
	}
	return at
}

func (p *picture) keys() []Key {
	if !p.measured {
		return nil
	}
	var keys []Key
	for _, i := range []int{0, 3, 6, 9} {
		label := fmt.Sprintf("%d – %d %% busy", i*10, i*10+10)
		keys = append(keys, Key{Label: label, Line: linkStyle(i)})
	}
	return keys
}

// linkStyle is that of a level of utilisation. The lightest shades of the heat
// map would vanish as lines.
func linkStyle(level int) draw.LineStyle {
	return lineOf(heatTones[min(level+3, len(heatTones)-1)], 0.6+float64(level)*0.22)
}

// thin makes the lines of a dense picture narrower.
func (p *picture) thin() float64 {
	return max(0.4, min(1, 150/float64(len(p.use))))
}

func (p *picture) Plot(c draw.Canvas, pl *plot.Plot) {
	tx, ty := pl.Transforms(&c)
	links := make([]int, len(p.r.Topology.Links))
	for i := range links {
		links[i] = i
	}
	sort.SliceStable(links, func(i, j int) bool { return p.use[links[i]] < p.use[links[j]] })
	for _, i := range links {
		l := p.r.Topology.Links[i]
		sty := lineOf(toneFaint, 0.8)
		if p.use[i] >= 0 {
			sty = linkStyle(heatLevel(p.use[i]))
			sty.Width *= vg.Length(p.thin())
		}
		a, b := p.at[l.A], p.at[l.B]
		p0, p1 := vg.Point{X: tx(a.x), Y: ty(a.y)}, vg.Point{X: tx(b.x), Y: ty(b.y)}
		beside := vg.Length(p.beside[i])
		var path vg.Path
		if a.y != b.y && beside != 0 {
			d := p1.Sub(p0)
			d = vg.Point{X: -d.Y, Y: d.X}.Scale(beside / vg.Length(math.Hypot(float64(d.X), float64(d.Y))))
			p0, p1 = p0.Add(d), p1.Add(d)
		}
		path.Move(p0)
		if a.y == b.y && l.A != l.B { // within a tier: a bow above the nodes between
			bow := min(38, 8+(p1.X-p0.X)*(p1.X-p0.X)/4000) + 2*beside
			path.QuadTo(vg.Point{X: (p0.X + p1.X) / 2, Y: p0.Y + bow}, p1)
		} else {
			path.Line(p1)
		}
		c.SetLineStyle(sty)
		c.Stroke(path)
	}
	for row, tier := range p.order {
		p.drawTier(c, tx, ty, row, p.tiers[tier])
	}
}

func (p *picture) drawTier(c draw.Canvas, tx, ty func(float64) vg.Length, row int, list []int) {
	room := (c.Max.X - c.Min.X) / vg.Length(len(list))
	sty := textOf(toneInk, 9, false)
	sty.XAlign, sty.YAlign = text.XCenter, text.YTop
	widest := vg.Length(0)
	for _, n := range list {
		widest = max(widest, textWidth(sty, p.r.Topology.Nodes[n].Name))
	}
	named := widest+4 < room
	for _, n := range list {
		node := p.r.Topology.Nodes[n]
		at := vg.Point{X: tx(p.at[n].x), Y: ty(p.at[n].y)}
		half := min(room*0.38, 7)
		if node.Kind == "host" {
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: toneInk.color(), Radius: min(half, 4), Shape: draw.CircleGlyph{}}, at)
		} else {
			w := half
			if named {
				w = max(half, min(widest/2+3, room*0.45))
			}
			box := rect(at.X-w, at.Y-half, at.X+w, at.Y+half)
			c.FillPolygon(tonePaper.color(), box)
			c.StrokeLines(lineOf(toneInk, 1), append(box, box[0]))
		}
		switch {
		case named && node.Kind == "host":
			c.FillText(sty, vg.Point{X: at.X, Y: at.Y - 7}, node.Name)
		case named:
			mid := sty
			mid.YAlign = text.YCenter
			c.FillText(mid, at, node.Name)
		}
	}
	if !named {
		left := sty
		left.XAlign = text.XLeft
		first, last := elide(p.r.Topology.Nodes[list[0]].Name, maxName), elide(p.r.Topology.Nodes[list[len(list)-1]].Name, maxName)
		at, name := vg.Point{X: c.Min.X, Y: ty(float64(row)) - 9}, first+" … "+last
		halo(c, left, at, name)
		c.FillText(left, at, name)
	}
}
