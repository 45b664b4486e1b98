package page

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/reports/metric"
	"rdmasim/reports/reporttest"
	"rdmasim/sim/trace"
)

// report writes the report of a synthetic run and returns its directory and page.
func report(t *testing.T, makeRun func(string) error) (dir, html string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	require.NoError(t, makeRun(dir))
	require.NoError(t, Write(dir))
	p, err := os.ReadFile(filepath.Join(dir, Dir, "index.html"))
	require.NoError(t, err)
	return dir, string(p)
}

// shared is one report that tests read and do not change.
var shared = struct {
	sync.Once
	dir, html string
}{}

func sharedReport(t *testing.T) (dir, html string) {
	t.Helper()
	shared.Do(func() {
		root, err := os.MkdirTemp("", "page")
		require.NoError(t, err)
		shared.dir = filepath.Join(root, "run")
		require.NoError(t, reporttest.Incast(shared.dir, reporttest.Options{Ping: true, Fault: true}))
		require.NoError(t, Write(shared.dir))
		p, err := os.ReadFile(filepath.Join(shared.dir, Dir, "index.html"))
		require.NoError(t, err)
		shared.html = string(p)
	})
	return shared.dir, shared.html
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.dir != "" {
		_ = os.RemoveAll(filepath.Dir(shared.dir))
	}
	os.Exit(code)
}

func incast(o reporttest.Options) func(string) error {
	return func(d string) error { return reporttest.Incast(d, o) }
}

func big(d string) error { return reporttest.Big(d, reporttest.Hundreds) }

var links = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

// The page needs no network: whatever it refers to lies in the run directory.
func TestPageIsSelfContained(t *testing.T) {
	for name, get := range map[string]func(t *testing.T) (string, string){
		"incast": sharedReport,
		"big":    func(t *testing.T) (string, string) { return report(t, big) },
		"empty":  func(t *testing.T) (string, string) { return report(t, reporttest.Empty) },
	} {
		dir, html := get(t)
		rest := strings.ReplaceAll(html, `xmlns="http://www.w3.org/2000/svg"`, "")
		for _, bad := range []string{"http:", "https:", "//cdn", "@import", "url(", "<script", "<link", "<img", "NaN", "Inf", "%!", "ZgotmplZ"} {
			require.NotContains(t, rest, bad, name)
		}
		for _, m := range links.FindAllStringSubmatch(html, -1) {
			if anchor, ok := strings.CutPrefix(m[1], "#"); ok {
				require.Contains(t, html, `id="`+anchor+`"`, name)
				continue
			}
			_, err := os.Stat(filepath.Join(dir, Dir, filepath.FromSlash(m[1])))
			require.NoError(t, err, name)
		}
		require.Less(t, len(html), 3_000_000, name)
	}
}

// Every figure of the page is there as SVG and PNG, and nothing else.
func TestFiguresAreFiles(t *testing.T) {
	dir, html := sharedReport(t)
	names := regexp.MustCompile(`<figure id="([^"]*)">`).FindAllStringSubmatch(html, -1)
	require.Greater(t, len(names), 10)
	files, err := filepath.Glob(filepath.Join(dir, Dir, "*"))
	require.NoError(t, err)
	require.Len(t, files, 2*len(names)+1)
	for _, n := range names {
		require.FileExists(t, filepath.Join(dir, Dir, n[1]+".svg"))
		require.FileExists(t, filepath.Join(dir, Dir, n[1]+".png"))
	}
}

// A figure of an earlier report must not survive one that has nothing to show.
func TestStaleFiguresAreRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, reporttest.Empty(dir))
	stale := filepath.Join(dir, Dir, "queue.svg")
	require.NoError(t, os.MkdirAll(filepath.Dir(stale), 0o755))
	require.NoError(t, os.WriteFile(stale, nil, 0o644))
	require.NoError(t, Write(dir))
	require.NoFileExists(t, stale)
}

func TestSameRunSamePage(t *testing.T) {
	_, a := sharedReport(t)
	_, b := report(t, incast(reporttest.Options{Ping: true, Fault: true}))
	require.Equal(t, a, b)
}

// A name from a scenario must not become markup.
func TestNamesAreEscaped(t *testing.T) {
	_, html := report(t, incast(reporttest.Options{Name: `</title><b>"x"&`}))
	require.NotContains(t, html, "<b>\"x\"")
	require.Contains(t, html, "&lt;b&gt;")
}

// A page is HTML whose elements close: checked as XML, void elements aside.
func TestPageIsWellFormed(t *testing.T) {
	_, html := sharedReport(t)
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

// What was not measured is said to be so, and is no zero.
func TestNothingMeasuredNothingClaimed(t *testing.T) {
	_, html := report(t, reporttest.Empty)
	require.Contains(t, html, "No message was posted.")
	require.Contains(t, html, "Whether PFC fired was not measured.")
	require.Contains(t, html, "Whether packets were dropped was not measured.")
	require.Contains(t, html, `<span class="value none">not measured</span>`)
	require.NotContains(t, html, "PFC did not fire")
}

// Verdicts are those of metrics.json.
func TestExpectationsOfMetrics(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, reporttest.Incast(dir, reporttest.Options{}))
	run, err := trace.Open(dir)
	require.NoError(t, err)
	m, err := metric.Compute(run)
	require.NoError(t, err)
	for _, text := range []string{"packets.dropped.lossless == 0", "queue_bytes.max < 1KB"} {
		e, err := metric.ParseExpectation(text)
		require.NoError(t, err)
		m.Expect = append(m.Expect, e.Check(m))
	}
	require.NoError(t, m.Write(dir))
	require.NoError(t, Write(dir))
	p, err := os.ReadFile(filepath.Join(dir, Dir, "index.html"))
	require.NoError(t, err)
	require.Contains(t, string(p), "expectations failed")
	require.Contains(t, string(p), "One of 2 expectations failed: queue_bytes.max &lt; 1KB.")
	require.Contains(t, string(p), "✗ failed")
	require.Contains(t, string(p), "✓ holds")
}

func TestNotARunDirectory(t *testing.T) {
	require.ErrorContains(t, Write(t.TempDir()), "is not a run directory")
}

// TestLook writes pages to $PAGES for people to look at.
func TestLook(t *testing.T) {
	out := os.Getenv("PAGES")
	if out == "" {
		t.Skip("set PAGES to a directory to see the pages")
	}
	for name, makeRun := range map[string]func(string) error{
		"incast": incast(reporttest.Options{Ping: true, Fault: true, Partial: true}), "big": big, "empty": reporttest.Empty,
	} {
		require.NoError(t, makeRun(filepath.Join(out, name)))
		require.NoError(t, Write(filepath.Join(out, name)))
	}
}

func BenchmarkThousandHosts(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "run")
	require.NoError(b, reporttest.Big(dir, reporttest.Thousand))
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, Write(dir))
	}
}
