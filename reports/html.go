package reports

import (
	"bytes"
	_ "embed" // the template
	"html/template"

	"rdmasim/reports/figure"
	"rdmasim/reports/page"
)

//go:embed compare.html
var compareText string

var compareTemplate = template.Must(template.New("compare").Parse(compareText))

// row is a row of the table of figures.
type row struct {
	Name, Doc, First string
	Others           []cell
}

type cell struct{ Value, Change string }

type view struct {
	Style   template.CSS
	Title   string
	Runs    []RunName
	Notes   []string
	Config  []Setting
	Changed []row
	Same    []row
	Figures []page.FigureView
	Missing []figure.Figure
}

func (c *Comparison) html() ([]byte, error) {
	v := view{Style: page.Style(), Runs: c.Runs, Notes: c.Notes}
	var labels []string
	for _, r := range c.Runs {
		labels = append(labels, r.Label)
	}
	v.Title = figure.List(labels)
	if len(labels) > 3 {
		v.Title = figure.Count(len(labels), "run")
	}
	for _, s := range c.Config {
		v.Config = append(v.Config, Setting{s.Path, orDash(s.Values)})
	}
	for i := range c.Metrics {
		m := &c.Metrics[i]
		x := row{Name: m.Name, Doc: m.describe(), First: m.Value(0)}
		for k := 1; k < len(m.Values); k++ {
			x.Others = append(x.Others, cell{m.Value(k), m.Change(k)})
		}
		if m.Differs() {
			v.Changed = append(v.Changed, x)
		} else {
			v.Same = append(v.Same, x)
		}
	}
	for i := range c.Figures {
		if f := &c.Figures[i]; len(f.Panels) > 0 {
			v.Figures = append(v.Figures, page.View(f))
		} else {
			v.Missing = append(v.Missing, *f)
		}
	}
	var b bytes.Buffer
	err := compareTemplate.Execute(&b, &v)
	return b.Bytes(), err
}
