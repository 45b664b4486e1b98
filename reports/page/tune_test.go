package page

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/reporttest"
	"rdmasim/reports/tuning"
)

// tuneReport writes the report of a made-up search.
func tuneReport(t *testing.T, o reporttest.TuneOptions) (dir, html string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "tune")
	require.NoError(t, reporttest.Tune(dir, o))
	require.NoError(t, WriteTune(dir))
	p, err := os.ReadFile(filepath.Join(dir, Dir, "index.html"))
	require.NoError(t, err)
	return dir, string(p)
}

// selfContained checks that a page needs no network, refers to what exists and
// closes its elements.
func selfContained(t *testing.T, dir, html string) {
	t.Helper()
	rest := strings.ReplaceAll(html, `xmlns="http://www.w3.org/2000/svg"`, "")
	for _, bad := range []string{"http:", "https:", "@import", "url(", "<script", "<link", "<img", "NaN", "Inf", "%!", "ZgotmplZ"} {
		require.False(t, strings.Contains(rest, bad), "%q is there", bad)
	}
	for _, m := range links.FindAllStringSubmatch(html, -1) {
		if anchor, ok := strings.CutPrefix(m[1], "#"); ok {
			require.True(t, strings.Contains(html, `id="`+anchor+`"`), "nothing is called %q", anchor)
			continue
		}
		require.FileExists(t, filepath.Join(dir, Dir, filepath.FromSlash(m[1])))
	}
	d := xml.NewDecoder(strings.NewReader(html))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	depth := 0
	for {
		tok, err := d.Token()
		if tok == nil {
			break
		}
		require.NoError(t, err)
		switch tok.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	require.Zero(t, depth)
}

// plain makes the spaces of numbers ordinary ones.
func plain(s string) string { return strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(s) }

func TestTunePageAnswers(t *testing.T) {
	dir, html := tuneReport(t, reporttest.TuneOptions{})
	selfContained(t, dir, html)
	text := plain(html)
	for _, want := range []string{
		"recommendation</span>", "Set Kmin 5", "Kmax 2", "Pmax 22 %", "Paused time falls by 98 % against today&#39;s (95 % interval",
		"The best of them is", "Whenever 32 senders begin together at leaf0:0", "No marking threshold prevents that", "agree with the simulated today",
		"1024 KiB (1 048 576 B)", // today's Kmin, exactly as the device has it
		"1/8", "np_cnp_sent", "41 000 to 63 000 per s", "sonic-rollback.json", "green_min_threshold",
		"not valid: the fixed point lies above Kmax", "Hash of the plan", "rdmasim tune plan.yaml --out tune",
		`id="thresholds"`, `id="pareto"`, `id="regret"`, `id="tornado"`, `id="sobol"`, `id="margin"`, `id="time_queue"`, `id="change"`, `id="baselines"`} {
		assert.True(t, strings.Contains(text, want), "%q is missing", want)
	}
}

// A run's page shows the closed forms and the counters of a real network where
// the directory has them.
func TestPageShowsFirstLookAndGate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tune")
	require.NoError(t, reporttest.Tune(dir, reporttest.TuneOptions{NoRuns: true, Incredible: true}))
	run := filepath.Join(t.TempDir(), "run")
	require.NoError(t, reporttest.Incast(run, reporttest.Options{}))
	for _, name := range []string{tuning.FileEstimate, tuning.FileCredibility} {
		p, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(run, name), p, 0o600))
	}
	require.NoError(t, Write(run))
	p, err := os.ReadFile(filepath.Join(run, Dir, "index.html"))
	require.NoError(t, err)
	selfContained(t, run, string(p))
	for _, want := range []string{"First look", "at least 3.2 MB", "not valid: the fixed point lies above Kmax", "pauses 11 times as often"} {
		assert.True(t, strings.Contains(plain(string(p)), want), "%q is missing", want)
	}
}

// Whatever a search leaves out, its page says so.
func TestTunePageOfLess(t *testing.T) {
	for name, c := range map[string]struct {
		o           reporttest.TuneOptions
		want, never []string
	}{
		"no winner":  {reporttest.TuneOptions{NoWinner: true, NoRuns: true}, []string{"Nothing is recommended.", "beats sonic-td3-th beyond", "best of the search, not recommended"}, []string{">recommended<", "Set Kmin"}},
		"partial":    {reporttest.TuneOptions{Partial: true, Bare: true}, []string{"cut short: interrupted after 700 of 1500 runs", ">partial<"}, []string{"Set Kmin"}},
		"few":        {reporttest.TuneOptions{Few: true, Bare: true}, []string{"fewer than three seeds", "no run directories", "no exported configurations", "counters were not given"}, nil},
		"refuted":    {reporttest.TuneOptions{Incredible: true, NoRuns: true}, []string{"refuted by today", "Nothing is recommended.", "pauses 11 times as often", "Withheld"}, []string{"Set Kmin", "green_min_threshold", ">recommended<"}},
		"other name": {reporttest.TuneOptions{Name: `</title><b>"x"&`, Few: true, Bare: true}, []string{"&lt;b&gt;"}, []string{`<b>"x"`}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "tune")
			require.NoError(t, reporttest.Tune(dir, c.o))
			_, p, err := renderTune(dir)
			require.NoError(t, err)
			html := string(p)
			for _, want := range c.want {
				assert.True(t, strings.Contains(plain(html), want), "%q is missing", want)
			}
			for _, never := range c.never {
				assert.False(t, strings.Contains(plain(html), never), "%q is there", never)
			}
		})
	}
}

// A search that was interrupted at once has nothing but the point of today.
func TestTunePageOfNothing(t *testing.T) {
	dir := t.TempDir()
	r := &tuning.Result{Schema: tuning.Schema, Name: "x", Plan: tuning.Plan{Criterion: tuning.MinimaxRegret}, Partial: true,
		Parameters: []tuning.Parameter{{Path: "a", Unit: tuning.Bytes, Low: 1, High: 2, Scale: tuning.Log}},
		Objectives: []tuning.Objective{{Metric: "pfc.paused_s", Unit: tuning.Seconds, Goal: tuning.Minimize}},
		Workloads:  []tuning.Workload{{Name: "w", Weight: 1}}, Points: []tuning.Point{{Kind: tuning.KindToday, Values: []float64{1}}}}
	require.NoError(t, r.Write(dir))
	require.NoError(t, WriteTune(dir))
	p, err := os.ReadFile(filepath.Join(dir, Dir, "index.html"))
	require.NoError(t, err)
	selfContained(t, dir, string(p))
	assert.Contains(t, string(p), "Nothing is recommended.")
}

func TestTunePageRefusesWhatIsBroken(t *testing.T) {
	for _, name := range []string{tuning.FileResult, tuning.FileEstimate, tuning.FileCredibility, "runs/today/manifest.json"} {
		dir := filepath.Join(t.TempDir(), "tune")
		require.NoError(t, reporttest.Tune(dir, reporttest.TuneOptions{}))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("{"), 0o600))
		require.ErrorContains(t, WriteTune(dir), filepath.Base(name))
		require.NoDirExists(t, filepath.Join(dir, Dir), "half written")
	}
}
