package figure

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/reports/reporttest"
)

// runs are the synthetic runs on which every figure must stand.
var runs = map[string]func(string) error{
	"incast": func(d string) error { return reporttest.Incast(d, reporttest.Options{Ping: true, Fault: true}) },
	"big":    func(d string) error { return reporttest.Big(d, reporttest.Hundreds) },
	"empty":  reporttest.Empty,
}

func loadRun(t *testing.T, name string) *Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, runs[name](dir))
	r, err := Load(dir)
	require.NoError(t, err)
	return r
}

func drawRun(t *testing.T, name string) []Placed {
	t.Helper()
	list, err := DrawAll(loadRun(t, name))
	require.NoError(t, err)
	require.NotEmpty(t, list)
	return list
}

func find(t *testing.T, list []Placed, name string) Figure {
	t.Helper()
	for _, f := range list {
		if f.Name == name {
			return f.Figure
		}
	}
	require.Fail(t, "no figure "+name)
	return Figure{}
}

var sentence = regexp.MustCompile(`^[\p{Lu}\d\p{Ll}].*\.$`)

// Every figure either shows something, with all that a reader needs, or says
// why there is nothing.
func TestEveryFigureIsWholeOrSaysWhyNot(t *testing.T) {
	for name := range runs {
		for _, f := range drawRun(t, name) {
			t.Run(name+"/"+f.Name, func(t *testing.T) {
				require.NotEmpty(t, f.Title)
				require.NotContains(t, f.Caption+f.Empty, "%!")
				require.NotContains(t, f.Caption, "NaN")
				if len(f.Panels) == 0 {
					require.Regexp(t, sentence, f.Empty)
					return
				}
				require.Empty(t, f.Empty)
				require.Regexp(t, sentence, f.Caption)
				require.NotEmpty(t, f.Table.Rows, "the table is the alternative for who cannot see")
				for _, row := range f.Table.Rows {
					require.Len(t, row, len(f.Table.Head))
				}
				if f.Name != "topology" {
					last := f.Panels[len(f.Panels)-1].Plot
					require.NotEmpty(t, last.X.Label.Text)
				}
				checkSVG(t, string(f.SVG()))
				inline := f.InlineSVG()
				checkSVG(t, inline)
				require.NotRegexp(t, `:#[0-9A-F]{6}`, inline, "a page redefines colours for dark screens")
				for _, text := range regexp.MustCompile(`<text[^>]*>`).FindAllString(inline, -1) {
					require.Contains(t, text, "fill:var(--", "black text would vanish on a dark page")
				}
			})
		}
	}
}

// checkSVG: well-formed, and nothing that is not a number or comes from elsewhere.
func checkSVG(t *testing.T, s string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	require.NotContains(t, s, "NaN")
	require.NotContains(t, s, "Inf")
	require.NotContains(t, s, "href")
	require.Contains(t, s, "<title>")
}

// Lines that are drawn: thousands of objects must not become thousands of lines.
func TestManyObjectsStayReadable(t *testing.T) {
	list := drawRun(t, "big")
	for _, name := range []string{"goodput", "queue", "reaction"} {
		f := find(t, list, name)
		for _, p := range f.Panels {
			require.LessOrEqual(t, len(p.Legend), maxNamed+4, name)
		}
		data := regexp.MustCompile(`stroke-width:1\.\d`).FindAllString(string(f.SVG()), -1)
		require.Less(t, len(data), 3*maxLines, "%s draws %d lines", name, len(data))
	}
	require.Contains(t, find(t, list, "goodput").Panels[1].Legend[0].Label, "p10 – p90 of 160")
}

func TestAxesHaveUnits(t *testing.T) {
	list := drawRun(t, "incast")
	for name, want := range map[string][2]string{
		"fct_cdf":      {"flow completion time (µs)", "share of messages (%)"},
		"slowdown_cdf": {"slowdown (FCT / ideal FCT)", "share of messages (%)"},
		"queue":        {"time (ms)", "queue length (KB)"},
		"ingress":      {"time (ms)", "shared buffer in use (KB)"},
		"headroom":     {"headroom (KB)", ""},
	} {
		p := find(t, list, name).Panels[0].Plot
		require.Equal(t, want[0], p.X.Label.Text, name)
		require.Equal(t, want[1], p.Y.Label.Text, name)
	}
}

// The thresholds of the scenario stand in the figure of the queue.
func TestQueueShowsThresholds(t *testing.T) {
	svg := string(ptr(find(t, drawRun(t, "incast"), "queue")).SVG())
	for _, want := range []string{"Kmin 100\u00a0KB", "Kmax 400\u00a0KB", "lowest XOFF 180\u00a0KB"} {
		require.Contains(t, svg, want)
	}
}

func ptr[T any](v T) *T { return &v }

// What lies far above the data is named, not drawn: it would flatten the rest.
func TestFarThresholdsAreNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, reporttest.Incast(dir, reporttest.Options{Kmin: 10_000_000, Kmax: 20_000_000}))
	r, err := Load(dir)
	require.NoError(t, err)
	list, err := DrawAll(r)
	require.NoError(t, err)
	f := find(t, list, "queue")
	require.NotContains(t, string(f.SVG()), "Kmax")
	if !strings.Contains(f.Caption, "lie above what is drawn") {
		require.Contains(t, string(f.SVG()), "Kmin") // the queue grew with them
	}
}

func TestSameRunSameBytes(t *testing.T) {
	a, b := drawRun(t, "incast"), drawRun(t, "incast")
	for i := range a {
		if len(a[i].Panels) == 0 {
			continue
		}
		require.Equal(t, a[i].SVG(), b[i].SVG(), a[i].Name)
		p, err := a[i].PNG()
		require.NoError(t, err)
		q, err := b[i].PNG()
		require.NoError(t, err)
		require.Equal(t, p, q, a[i].Name)
	}
}

// Names come from scenarios: they must not become markup.
func TestNamesAreEscaped(t *testing.T) {
	f := Figure{Name: "x", Title: `<script>&"`, Panels: []Panel{{Plot: newPlot(), Height: 60, Legend: []Key{{Label: "<b>&"}}}}}
	linear(&f.Panels[0].Plot.X, "<i>", plainScale, 0, 1)
	linear(&f.Panels[0].Plot.Y, "y", plainScale, 0, 1)
	s := f.InlineSVG()
	checkSVG(t, s)
	for _, bad := range []string{"<script", "<b>", "<i>"} {
		require.NotContains(t, s, bad)
	}
}

// TestLook writes every figure to $FIGURES for people to look at.
func TestLook(t *testing.T) {
	out := os.Getenv("FIGURES")
	if out == "" {
		t.Skip("set FIGURES to a directory to see the figures")
	}
	for name := range runs {
		require.NoError(t, os.MkdirAll(filepath.Join(out, name), 0o755))
		for _, f := range drawRun(t, name) {
			t.Log(name, f.Name, f.Caption, f.Empty)
			if len(f.Panels) > 0 {
				p, err := f.PNG()
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(out, name, fmt.Sprintf("%s.png", f.Name)), p, 0o644))
			}
		}
	}
}
