package reports

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/reports/reporttest"
	"rdmasim/sim/trace"
)

func makeRuns(t *testing.T, options ...reporttest.Options) []string {
	t.Helper()
	root := t.TempDir()
	var dirs []string
	for i, o := range options {
		dir := filepath.Join(root, "run-"+string(rune('a'+i)))
		require.NoError(t, reporttest.Incast(dir, o))
		dirs = append(dirs, dir)
	}
	return dirs
}

func compare(t *testing.T, dirs []string) (*Comparison, string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	c, err := Compare(dirs, out, Options{})
	require.NoError(t, err)
	p, err := os.ReadFile(filepath.Join(out, "index.html"))
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(out, "compare.txt"))
	require.NoError(t, err)
	require.Equal(t, c.Text(), string(text))
	return c, string(p)
}

func TestTwoRunsDiffer(t *testing.T) {
	c, html := compare(t, makeRuns(t, reporttest.Options{Name: "wide"}, reporttest.Options{Name: "narrow", Kmin: 20_000, Kmax: 100_000, Partial: true}))
	require.Equal(t, []Setting{{"switch.ecn.3.kmax", []string{"400KB", "100KB"}}, {"switch.ecn.3.kmin", []string{"100KB", "20KB"}}}, c.Config)
	require.Equal(t, []string{"narrow was cut short: its figures describe what was measured until then."}, c.Notes)
	changed := 0
	for i := range c.Metrics {
		if c.Metrics[i].Differs() {
			changed++
		}
	}
	require.Greater(t, changed, 10)
	require.Contains(t, c.Text(), "switch.ecn.3.kmin  100KB")
	require.Contains(t, html, "queue_bytes.mean")
	drawn := 0
	for _, f := range c.Figures {
		if len(f.Panels) > 0 {
			require.Len(t, f.Panels[0].Legend, 2, f.Name)
			drawn++
		}
	}
	require.GreaterOrEqual(t, drawn, 5)
	for _, bad := range []string{"NaN", "Inf", "%!", "<script", "url("} {
		require.NotContains(t, html, bad)
		require.NotContains(t, c.Text(), bad)
	}
}

func TestIdenticalRuns(t *testing.T) {
	c, html := compare(t, makeRuns(t, reporttest.Options{}, reporttest.Options{}))
	require.Equal(t, "run-a", c.Runs[0].Label, "the names are the same: directories tell them apart")
	require.Equal(t, []string{"run-a and run-b have the same fingerprint: their results are identical."}, c.Notes)
	require.Contains(t, html, "No figure differs.")
	for i := range c.Metrics {
		require.False(t, c.Metrics[i].Differs(), c.Metrics[i].Name)
	}
}

func TestRunsThatAreNotOfOneKind(t *testing.T) {
	c, _ := compare(t, makeRuns(t, reporttest.Options{Name: "sim"}, reporttest.Options{Name: "metal", Mode: trace.ModeHardware}))
	notes := strings.Join(c.Notes, "\n")
	require.Contains(t, notes, "sim and metal are not of one kind: simulated and hardware.")
	require.Contains(t, notes, "Not measured in every run: ", "what a simulation counts as 0 is unknown on hardware")
	dirs := makeRuns(t, reporttest.Options{Name: "sim"})
	other := filepath.Join(t.TempDir(), "big")
	require.NoError(t, reporttest.Empty(other))
	c, _ = compare(t, append(dirs, other))
	notes = strings.Join(c.Notes, "\n")
	require.Contains(t, notes, "have different fabrics: 16 hosts, 6 switches, 24 links and no hosts, no switches, no links.")
	require.Contains(t, notes, "cover different times")
}

func TestSameInputSameBytes(t *testing.T) {
	dirs := makeRuns(t, reporttest.Options{Name: "a"}, reporttest.Options{Name: "b", Ping: true})
	_, x := compare(t, dirs)
	_, y := compare(t, dirs)
	require.Equal(t, x, y)
}

func TestChange(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		a, b *float64
		want string
	}{
		{f(100), f(150), "+50.0 %"}, {f(100), f(99.99), "-0.01 %"}, {f(2), f(2), "="}, {f(0), f(3), "from 0"},
		{nil, f(1), "–"}, {f(1), nil, "–"}, {f(1), f(30), "×30"}, {f(3), f(0), "-100.0 %"},
	} {
		r := Row{Values: []*float64{c.a, c.b}}
		require.Equal(t, c.want, r.Change(1))
	}
}

func TestManyRunsAreTold(t *testing.T) {
	dir := makeRuns(t, reporttest.Options{})[0]
	var dirs []string
	for range 10 {
		dirs = append(dirs, dir)
	}
	c, _ := compare(t, dirs)
	require.Contains(t, c.Figures[0].Caption, "Only the first 8 of 10 runs are drawn.")
	require.Len(t, c.Figures[0].Panels[0].Legend, 8)
}

func TestBadInput(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	_, err := Compare([]string{"one"}, out, Options{})
	require.ErrorContains(t, err, "at least two run directories: 1 given")
	_, err = Compare([]string{t.TempDir(), t.TempDir()}, out, Options{})
	require.ErrorContains(t, err, "is not a run directory")
	require.NoDirExists(t, out, "nothing is left behind")
}

func FuzzFlatten(f *testing.F) {
	f.Add([]byte(`{"a": {"b": [1, "x", null]}, "": {}}`))
	f.Add([]byte(`[[[[[]]]]]`))
	f.Fuzz(func(t *testing.T, p []byte) {
		var v any
		if json.Unmarshal(p, &v) != nil {
			return
		}
		a := flatten(v)
		require.LessOrEqual(t, len(a), maxSettings)
		require.Empty(t, differences([]map[string]string{a, flatten(v)}))
	})
}
