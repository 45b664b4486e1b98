// Package page writes the report of a run: report/index.html, which needs no
// other file and no network, and each figure as SVG and PNG.
package page

import (
	"bytes"
	_ "embed" // the template and the style sheet
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"

	"rdmasim/reports/figure"
	"rdmasim/reports/metric"
	"rdmasim/reports/tuning"
	"rdmasim/sim/trace"
)

// Dir is where a report lies in a run directory.
const Dir = "report"

// Write reads the run directory dir and writes dir/report: index.html and
// NAME.svg and NAME.png of every figure that has something to show. The same
// run gives the same bytes.
func Write(dir string) error {
	r, err := figure.Load(dir)
	if err != nil {
		return err
	}
	list, err := figure.DrawAll(r)
	if err != nil {
		return err
	}
	out := r.Path(Dir)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	v, err := newView(r, list)
	if err != nil {
		return err
	}
	for i := range list {
		if err := WriteFigure(out, &list[i].Figure); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, v); err != nil {
		return fmt.Errorf("%s: %w", r.Path(Dir), err)
	}
	return os.WriteFile(filepath.Join(out, "index.html"), b.Bytes(), 0o644)
}

// WriteFigure writes NAME.svg and NAME.png into a directory. Of a figure that
// has nothing to show it removes what an earlier report left.
func WriteFigure(dir string, f *figure.Figure) error {
	svg, png := filepath.Join(dir, f.Name+".svg"), filepath.Join(dir, f.Name+".png")
	if len(f.Panels) == 0 {
		for _, path := range []string{svg, png} {
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
		return nil
	}
	if err := os.WriteFile(svg, f.SVG(), 0o644); err != nil {
		return err
	}
	image, err := f.PNG()
	if err != nil {
		return err
	}
	return os.WriteFile(png, image, 0o644)
}

//go:embed page.html
var pageText string

//go:embed style.css
var styleText string

var pageTemplate = template.Must(template.Must(template.New("page").Parse(partsText)).Parse(pageText))

// Style returns the style sheet of a page with the colours of figures, light
// and dark.
func Style() template.CSS {
	var light, dark strings.Builder
	for _, t := range figure.AllTones() {
		fmt.Fprintf(&light, "--%s:%s;", t.Name, t.Light)
		fmt.Fprintf(&dark, "--%s:%s;", t.Name, t.Dark)
	}
	return template.CSS(fmt.Sprintf(":root{%s}\n@media (prefers-color-scheme:dark){@media screen{:root{%s}}}\n%s", light.String(), dark.String(), styleText))
}

// FigureView is a figure as a page shows it.
type FigureView struct {
	Name, Title, Caption string
	SVG                  template.HTML
	Table                figure.Table
	Open                 bool // the table is shown from the start
}

// View returns the parts of a figure for a page.
func View(f *figure.Figure) FigureView {
	v := FigureView{Name: f.Name, Title: f.Title, Caption: f.Caption, Table: f.Table}
	if len(f.Panels) > 0 {
		v.SVG = template.HTML(f.InlineSVG())
	}
	return v
}

// section is the figures of one part, and what it does not show.
type section struct {
	ID, Name string
	Figures  []FigureView
	Tables   []titled // beside the figures
	Missing  []missing
}

type titled struct {
	Title string
	figure.Table
}

type missing struct{ Title, Why string }

// view is what the template sees.
type view struct {
	Style       template.CSS
	Name        string
	Description []paragraph
	Mode        string
	Partial     bool
	Failed      bool
	Summary     []Paragraph
	Tiles       []Tile
	Expect      []expectation
	First       []FigureView // what the scenario is about
	Sections    []section
	Gate        *gateView     // nil without credibility.json
	FirstLook   *estimateView // nil without estimate.json
	Metrics     []metricRow
	Definitions []definition
	Repro       []definition
	Command     string
	Scenario    string
	Cut         bool // the scenario is longer than what is shown
	Files       []file
}

type file struct{ Name, What string }

func newView(r *figure.Run, list []figure.Placed) (*view, error) {
	m := r.Metrics
	v := &view{Style: Style(), Name: m.Run.Name, Description: paragraphs(r.Manifest.Description), Mode: m.Run.Mode, Partial: m.Run.Partial,
		Summary: summary(r), Tiles: tiles(r), Expect: expectations(m), Metrics: metricRows(m), Definitions: definitions(), Repro: repro(r)}
	look, err := tuning.LoadEstimates(r.Path(""))
	if err != nil {
		return nil, err
	}
	v.FirstLook = newEstimateView(look, m)
	gate, err := tuning.LoadCredibility(r.Path(""))
	if err != nil {
		return nil, err
	}
	v.Gate = newGateView(gate)
	for _, e := range m.Expect {
		v.Failed = v.Failed || !e.OK
	}
	list, first := preset(r, list)
	v.First = first
	for _, p := range list {
		name := p.Section.String()
		if n := len(v.Sections); n == 0 || v.Sections[n-1].Name != name {
			v.Sections = append(v.Sections, section{ID: anchor(name), Name: name})
		}
		s := &v.Sections[len(v.Sections)-1]
		if len(p.Panels) == 0 {
			s.Missing = append(s.Missing, missing{p.Title, p.Empty})
			if len(p.Table.Rows) > 0 {
				s.Tables = append(s.Tables, titled{p.Title, p.Table})
			}
			continue
		}
		f := View(&p.Figure)
		f.Open = p.Name == "link_heatmap"
		s.Figures = append(s.Figures, f)
	}
	v.addTables(r)
	v.Command = "rdmasim run " + trace.FileScenario
	if err := v.scenario(r); err != nil {
		return nil, err
	}
	return v, v.addCapture(r)
}

// addTables puts the tables that have no figure into their sections.
func (v *view) addTables(r *figure.Run) {
	for i := range v.Sections {
		s := &v.Sections[i]
		switch s.Name {
		case figure.Flows.String():
			if t := slowest(r); len(t.Rows) > 0 {
				s.Tables = append(s.Tables, titled{"Slowest messages", t})
			}
		case figure.Pauses.String():
			if t := moments(r); len(t.Rows) > 0 {
				s.Tables = append(s.Tables, titled{"Faults, watchdogs and links", t})
			}
		}
	}
}

// maxScenario bounds how much of a scenario a page repeats.
const maxScenario = 100 << 10

func (v *view) scenario(r *figure.Run) error {
	for _, f := range []file{
		{trace.FileManifest, "what was run, and the fingerprint of the results"},
		{trace.FileScenario, "the scenario with all defaults"},
		{trace.FileMetrics, "the figures of the run"},
		{trace.FileFlows, "one row per message"},
		{trace.FileDelays, "where the time of each message went"},
		{metric.FileDiagnosis, "causes, shares and evidence"},
		{metric.FilePauses, "roots of pauses, their trees and victims"},
		{trace.FileQPs, "the way of each queue pair"},
		{trace.FileCounters, "totals per port and priority"},
		{trace.FileSeries, "time series"},
		{trace.FileEvents, "pauses, drops, marks, faults"},
		{trace.FileExpect, "expectations as JUnit"},
		{tuning.FileEstimate, "closed forms, with the limits of each"},
	} {
		if _, err := os.Stat(r.Path(f.Name)); err == nil {
			v.Files = append(v.Files, f)
		}
	}
	p, err := os.ReadFile(r.Path(trace.FileScenario))
	if os.IsNotExist(err) {
		return nil
	}
	if len(p) > maxScenario {
		p, v.Cut = p[:maxScenario], true
	}
	v.Scenario = strings.ToValidUTF8(string(p), "\uFFFD")
	return err
}

func anchor(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "-")) }
