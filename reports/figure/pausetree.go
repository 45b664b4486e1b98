package figure

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"rdmasim/reports/metric"
)

var _ = register("pause_tree", "from which root pauses spread, to which ports, and when", Pauses, 1, pauseTree)

// Most ports and roots of the tree.
const (
	treePorts = 28
	treeRoots = 3
)

// twig is a line of the drawn tree: a root or a port that it stopped.
type twig struct {
	depth int // 0 = a root
	name  string
	note  string
	root  int
	pause *Pause // of a port, nil where events do not tell
}

// pauseTree draws the tree of the main roots, and below it, in the same order,
// when each port was paused.
func pauseTree(r *Run) Figure {
	const title = "Where pauses come from"
	p := r.Forensics
	if p == nil || len(p.Roots) == 0 {
		if r.Metrics.PFC.Episodes == nil {
			return empty(title, "Not measured.")
		}
		return empty(title, "No port was paused.")
	}
	twigs, left := r.twigs(p)
	f := Figure{Title: title, Table: treeTable(p)}
	height := vg.Length(len(twigs)*17) + 20
	pl := newPlot()
	pl.HideAxes()
	pl.X.Min, pl.X.Max, pl.Y.Min, pl.Y.Max = 0, 1, -0.5, float64(len(twigs))-0.5
	pl.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	pl.Add(treeDrawing(twigs))
	f.Panels = []Panel{{Plot: pl, Height: height}}
	var names []string
	g := timelines{x: r.Clock.Borders()}
	var roots []int
	for _, t := range twigs {
		if t.pause != nil {
			names = append(names, fmt.Sprintf("%s p%d", t.pause.Port, t.pause.Prio))
			g.rows = append(g.rows, t.pause.Share)
			roots = append(roots, t.root)
		}
	}
	if len(names) > 0 {
		g.tone = func(i int) Tone { return seriesTones[roots[i]%len(seriesTones)] }
		strip := r.strip(names, 16)
		strip.Plot.Add(grid{x: true}, g)
		r.addMoments(strip.Plot)
		f.Panels = append(f.Panels, strip)
	}
	f.Caption = Capital(p.Roots[0].Sentence()) + "."
	if left > 0 {
		f.Caption += fmt.Sprintf(" %s and roots are left out.", Count(left, "port"))
	}
	return f
}

// twigs lists the lines of the tree, and how many did not fit.
func (r *Run) twigs(p *metric.Pauses) (list []twig, left int) {
	by := map[pauseKey]*Pause{}
	for _, q := range r.Pauses {
		by[pauseKey{q.Port, q.Prio}] = q
	}
	for k := range p.Roots {
		root := &p.Roots[k]
		if k >= treeRoots || len(list)+2 > treePorts {
			left += len(root.Tree) + 1
			continue
		}
		list = append(list, twig{name: root.Where, root: k, note: fmt.Sprintf("%s, priority %d: stopped ports for %s", root.Kind, root.Prio, Seconds(root.Paused))})
		for _, b := range root.Branches() {
			if len(list) >= treePorts {
				left++
				continue
			}
			e := b.Edge
			list = append(list, twig{depth: b.Depth + 1, name: e.Port, root: k, pause: by[pauseKey{e.Port, root.Prio}],
				note: fmt.Sprintf("%s in %s, from %s on", Seconds(e.Paused), Count(e.Episodes, "pause"), Seconds(e.First))})
		}
	}
	return list, left
}

// treeDrawing draws twigs from top to bottom.
type treeDrawing []twig

func (t treeDrawing) Plot(c draw.Canvas, p *plot.Plot) {
	_, ty := p.Transforms(&c)
	const step, gap = vg.Length(26), vg.Length(9)
	x := func(depth int) vg.Length { return c.Min.X + 8 + step*vg.Length(min(depth, 12)) }
	name, note := textOf(toneInk, 10, false), textOf(toneMuted, 9, false)
	last := map[int]vg.Length{} // by depth: where the node stands whose children follow
	for i, g := range t {
		y := ty(float64(i))
		tone := seriesTones[g.root%len(seriesTones)]
		if g.depth > 0 {
			up := x(g.depth - 1)
			c.StrokeLine2(lineOf(tone, 1.1), up, last[g.depth-1], up, y)
			c.StrokeLine2(lineOf(tone, 1.1), up, y, x(g.depth), y)
		}
		last[g.depth] = y
		at := vg.Point{X: x(g.depth), Y: y}
		sty := name
		if g.depth == 0 {
			sty = textOf(toneInk, 10, true)
			c.FillPolygon(tone.color(), rect(at.X-5, at.Y-5, at.X+5, at.Y+5))
		} else {
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: tone.color(), Radius: 3.5, Shape: draw.CircleGlyph{}}, at)
		}
		label := elide(g.name, maxName)
		c.FillText(sty, vg.Point{X: at.X + gap, Y: y}, label)
		c.FillText(note, vg.Point{X: at.X + gap + textWidth(sty, label) + 10, Y: y}, g.note)
	}
}

func treeTable(p *metric.Pauses) Table {
	t := Table{Head: []string{"root", "kind", "port stopped", "by", "for", "level", "pauses", "paused for", "first", "lag"}}
	n := 0
	for k := range p.Roots {
		root := &p.Roots[k]
		for _, e := range root.Tree {
			if n++; n > maxLines*2 {
				continue
			}
			t.Rows = append(t.Rows, []string{root.Where, root.Kind, fmt.Sprintf("%s p%d", e.Port, root.Prio), orUnknown(e.By), orRoot(e.Parent), Whole(e.Level),
				Whole(e.Episodes), Seconds(e.Paused), Seconds(e.First), Seconds(e.Lag)})
		}
	}
	if n > len(t.Rows) {
		t.Note = fmt.Sprintf("The first %s of %s; pauses.json has all.", Whole(len(t.Rows)), Whole(n))
	}
	return t
}

func orRoot(parent string) string {
	if parent == "" {
		return "the root"
	}
	return parent
}
