package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/switchconf"
	"rdmasim/reports"
	"rdmasim/reports/metric"
	"rdmasim/scenarios"
	"rdmasim/sim"
)

// fakeProduct is a product that knows one scenario, "demo", and writes an
// empty run directory for it.
type fakeProduct struct {
	sets    []string
	opt     runOptions
	result  runResult
	runErr  error
	onRun   func(ctx context.Context, opt runOptions)
	metrics metric.Metrics
	drawn   []string
}

func (f *fakeProduct) product() product {
	return product{
		load: func(name string, sets []string) (*scenarios.Spec, error) {
			f.sets = sets
			if name != "demo" {
				return nil, errors.Join(errors.New("my.yaml:3:5: first"), errors.New("my.yaml:9:1: second\n\tmore"))
			}
			return &scenarios.Spec{Name: "demo"}, nil
		},
		run: func(ctx context.Context, _ *scenarios.Spec, opt runOptions) (*runResult, error) {
			f.opt = opt
			if f.onRun != nil {
				f.onRun(ctx, opt)
			}
			if f.runErr != nil {
				return nil, f.runErr
			}
			r := f.result
			r.Dir = opt.Out
			return &r, os.MkdirAll(opt.Out, 0o777)
		},
		deadlock: func(*scenarios.Spec) (*scenarios.DeadlockCheck, error) { return &scenarios.DeadlockCheck{}, nil },
		estimate: func(*scenarios.Spec, *scenarios.CaptureOptions) (*estimate, error) {
			return &estimate{Hosts: 128, Switches: 80, Links: 384, PacketHops: 1.25e6, WallSeconds: 0.31, MemoryBytes: 40 * sim.MB, DiskBytes: 2 * sim.MB}, nil
		},
		page: func(dir string) (string, error) {
			f.drawn = append(f.drawn, dir)
			return filepath.Join(dir, "report", "index.html"), nil
		},
		compare: func(dirs []string, out string, _ reports.Options) (string, string, error) {
			return "of " + strings.Join(dirs, "+") + "\n", filepath.Join(out, "index.html"), nil
		},
		lint:    func(*scenarios.Spec) []switchconf.Finding { return nil },
		metrics: func(string) (*metric.Metrics, error) { return &f.metrics, nil },
		library: func() []libraryEntry {
			return []libraryEntry{{"demo", "One sentence."}, {"other-demo", "Another."}}
		},
		source: func(name string) (string, error) {
			if name != "demo" {
				return "", unknown("scenario", name, []string{"demo", "other-demo"})
			}
			return "name: demo\n", nil
		},
		catalogues: func() []catalogue { return []catalogue{{"topologies", []libraryEntry{{"star", "One switch."}}}} },
		formats:    func() []libraryEntry { return []libraryEntry{{"csv", "A table."}, {"ptm", "Graphviz."}} },
		importTopology: func(format, file string, data []byte, set map[string]string) ([]byte, error) {
			if format != "csv" {
				return nil, unknown("topology format", format, []string{"csv", "ptm"})
			}
			return fmt.Appendf(nil, "%s %s: %d bytes%s\n", format, filepath.Base(file), len(data), set["rate"]), nil
		},
	}
}

// command runs one command line on f in the working directory.
func command(f *fakeProduct, line string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	a := &app{stdout: &out, stderr: &err, product: f.product(), interrupts: func(ctx context.Context, _ func()) (context.Context, func()) { return ctx, func() {} }}
	code = execute(context.Background(), a, strings.Fields(line))
	return code, out.String(), err.String()
}

// Every mistake gets exit code 2 and one line per error that says what would
// be right.
func TestUsageErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("full/x", 0o777))
	require.NoError(t, os.WriteFile("file", nil, 0o666))
	for _, c := range []struct{ line, want string }{
		{"rnu", `rdmasim: unknown command "rnu": did you mean run? (there are `},
		{"xyzzy", `rdmasim: unknown command "xyzzy" (there are calibrate, check, `},
		{"--frobnicate", `rdmasim: usage: unknown flag "--frobnicate" (there are --help, --version)`},
		{"run", `rdmasim: run: SCENARIO is missing: usage: rdmasim run SCENARIO`},
		{"run demo more", `rdmasim: run: "more" is one argument too many`},
		{"run demo --wrokers 2", `rdmasim: run: unknown flag "--wrokers": did you mean --workers?`},
		{"run demo --workers two", `rdmasim: run: --workers "two": want a whole number`},
		{"run demo --workers -1", `rdmasim: --workers -1: want 0 (one per core) to 1024`},
		{"run demo --seed -1", `rdmasim: run: --seed "-1": want a whole number`},
		{"run demo --out full", `rdmasim: --out full: it exists and is not empty`},
		{"run demo --out file", `rdmasim: --out file: it exists and is no directory`},
		{"check", `rdmasim: check: SCENARIO is missing`},
		{"show dmo", `rdmasim: unknown scenario "dmo": did you mean demo?`},
		{"list topologys", `rdmasim: unknown kind "topologys": did you mean topologies?`},
		{"compare one", `rdmasim: compare: want two or more run directories, not 1`},
		{"import topology file --format dot", `rdmasim: unknown topology format "dot" (there are csv, ptm)`},
		{"import topology file", `rdmasim: import topology: --format is missing: want one of csv, ptm`},
		{"import topology nofile --format csv", `rdmasim: open nofile: no such file`},
		{"import", `rdmasim: import: want one of lumina, sonic, topology`},
		{"completion tcsh", `rdmasim: unknown completion argument "tcsh"`},
		{"help rnu", `rdmasim: unknown command "rnu"`},
	} {
		code, stdout, stderr := command(&fakeProduct{}, c.line)
		assert.Equal(t, exitInput, code, c.line)
		assert.Empty(t, stdout, c.line)
		assert.Contains(t, stderr, c.want, c.line)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "%s: one error is one line: %q", c.line, stderr)
	}
}

func TestManyErrorsAreOneLineEach(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _, stderr := command(&fakeProduct{}, "run my.yaml")
	assert.Equal(t, exitInput, code)
	assert.Equal(t, "rdmasim: my.yaml:3:5: first\nrdmasim: my.yaml:9:1: second; more\n", stderr)
	assert.NoDirExists(t, "runs", "bad input leaves nothing behind")
}

func TestExitCodesOfRuns(t *testing.T) {
	for _, c := range []struct {
		name string
		f    fakeProduct
		code int
	}{
		{"done", fakeProduct{}, exitOK},
		{"an expectation failed", fakeProduct{result: runResult{ExpectFailed: 1}}, exitExpect},
		{"bad input seen late", fakeProduct{runErr: inputError(errors.New("flow to unknown host"))}, exitInput},
		{"the run failed", fakeProduct{runErr: errors.New("disk full")}, exitRun},
		{"partial", fakeProduct{result: runResult{Partial: true}}, exitRun},
		{"partial beats expectations", fakeProduct{result: runResult{Partial: true, ExpectFailed: 2}}, exitRun},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			code, _, _ := command(&c.f, "run demo")
			assert.Equal(t, c.code, code)
		})
	}
}

func TestRunDirectories(t *testing.T) {
	t.Chdir(t.TempDir())
	f := &fakeProduct{}
	for _, want := range []string{"runs/demo-1", "runs/demo-2"} {
		code, stdout, stderr := command(f, "run demo")
		require.Equal(t, exitOK, code, stderr)
		assert.Equal(t, want, f.opt.Out)
		assert.Contains(t, stdout, want+"/report/index.html")
	}
	assert.Equal(t, []string{"runs/demo-1", "runs/demo-2"}, f.drawn)
	_, stdout, _ := command(f, "run demo --no-report --out here")
	assert.Equal(t, "here", f.opt.Out)
	assert.Len(t, f.drawn, 2, "no report is drawn")
	assert.Contains(t, stdout, "run          here\n")
	_, stdout, stderr := command(f, "run demo --quiet")
	assert.Empty(t, stdout+stderr)
}

func TestFlagsBecomeSettings(t *testing.T) {
	t.Chdir(t.TempDir())
	f := &fakeProduct{}
	command(f, "run demo --workers 3 --set a.b=1,2 --seed 0 --compat hpcc --set c=d")
	assert.Equal(t, []string{"a.b=1,2", "c=d", "compat=hpcc", "seed=0"}, f.sets)
	assert.Equal(t, 3, f.opt.Workers)
	command(f, "check demo --set x=y")
	assert.Equal(t, []string{"x=y"}, f.sets)
}

func TestOtherCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("f.csv", []byte("a,b"), 0o666))
	for line, want := range map[string]string{
		"list":                               "demo        One sentence.\nother-demo  Another.\n",
		"list topologies":                    "star  One switch.\n",
		"show demo":                          "name: demo\n",
		"report runs/x":                      "runs/x/report/index.html\n",
		"compare a b c --out d":              "of a+b+c\nd/index.html\n",
		"import topology f.csv --format csv": "csv f.csv: 3 bytes\n",
		"import topology f.csv --format csv --rate 7G": "csv f.csv: 3 bytes7G\n",
		"version":   versionLine() + "\n",
		"--version": versionLine() + "\n",
		"check demo": "scenario     demo  ok\n" +
			"fabric       128 hosts, 80 switches, 384 links\ndeadlock     not possible: no priority is lossless\npacket-hops  about 1.2M\nwall time    about 0.3 s\nmemory       about 40 MB\ndisk         about 2 MB\n",
	} {
		code, stdout, stderr := command(&fakeProduct{}, line)
		assert.Equal(t, exitOK, code, "%s: %s", line, stderr)
		assert.Equal(t, want, stdout, line)
	}
	code, _, _ := command(&fakeProduct{}, "import topology f.csv --format csv --out t.yaml")
	assert.Equal(t, exitOK, code)
	text, err := os.ReadFile("t.yaml")
	require.NoError(t, err)
	assert.Equal(t, "csv f.csv: 3 bytes\n", string(text))
}

func TestCompletion(t *testing.T) {
	_, stdout, _ := command(&fakeProduct{}, "__complete run de")
	assert.Contains(t, stdout, "demo\tOne sentence.\n")
	assert.NotContains(t, stdout, "other-demo")
	_, stdout, _ = command(&fakeProduct{}, "__complete run ./my")
	assert.Contains(t, stdout, ":0\n", "files are completed where no scenario is called so")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		code, stdout, _ := command(&fakeProduct{}, "completion "+shell)
		assert.Equal(t, exitOK, code)
		assert.Contains(t, stdout, "rdmasim", shell)
	}
}

func TestClosest(t *testing.T) {
	names := []string{"run", "report", "import", "incast-8to1"}
	for got, want := range map[string]string{
		"rn": "run", "reprot": "report", "incast": "incast-8to1", "INCAST-8TO1": "incast-8to1", "": "", "zzzzzz": "", "delete": "",
	} {
		assert.Equal(t, want, closest(got, names), "%q", got)
	}
}
