package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/tuning"
)

const tunePlan = `scenario: lab/small.yaml
seeds: 2
parameters:
  - {name: Kmin, path: switch.ecn.3.kmin, from: 10KB, to: 300KB, step: 1KB, role: kmin}
  - {name: Kmax, path: switch.ecn.3.kmax, over: Kmin, from: 1, to: 8, step: 1KB, role: kmax}
  - {name: Pmax, path: switch.ecn.3.pmax, from: 1%, to: 100%, step: 1%, role: pmax}
figures:
  - {name: goodput, value: goodput_bps.total}
objectives:
  - {figure: goodput, goal: max}
baselines: [cumulus]
budget: 40 runs
confirm: {seeds: 3, finalists: 1, baselines: 1}
`

const pausesOfToday = `  Port Tx    PFC0    PFC1    PFC2    PFC3
---------  ------  ------  ------  ------
Ethernet0       0       0       0   1,000
Ethernet4       0       0       0   1,000
`

// tuneSession writes plan and scenario into an empty directory.
func tuneSession(t *testing.T) func(args ...string) (code int, out, errs string) {
	sweepSession(t)
	require.NoError(t, os.WriteFile("plans/t.yaml", []byte(tunePlan), 0o644))
	require.NoError(t, os.WriteFile("pfc.txt", []byte(pausesOfToday), 0o644))
	return func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		code := execute(context.Background(), quietApp(&out, &errs), append([]string{"tune"}, args...))
		return code, out.String(), errs.String()
	}
}

func tuneResult(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, tuning.FileResult))
	require.NoError(t, err)
	return string(text)
}

// One run at a time, three, and a search that was killed while it wrote a line
// of its log: the same files.
func TestTuneIsTheSameForJobsAndAfterAKill(t *testing.T) {
	if testing.Short() {
		t.Skip("three searches")
	}
	run := tuneSession(t)
	code, out, errs := run("plans/t.yaml", "--out", "one", "--jobs", "1", "--quiet")
	require.Equal(t, exitOK, code, errs)
	for _, want := range []string{"answer       ", "today        Kmin 100KB, Kmax 400KB", "report       one/report/index.html"} {
		assert.Contains(t, out, want)
	}
	for _, name := range []string{"plan.yaml", "runs.jsonl", "runs.parquet", "tune.json", "estimate.json", "report/index.html"} {
		assert.FileExists(t, filepath.Join("one", name))
	}
	code, _, errs = run("plans/t.yaml", "--out", "three", "--jobs", "3", "--quiet")
	require.Equal(t, exitOK, code, errs)
	assert.Equal(t, tuneResult(t, "one"), tuneResult(t, "three"))

	log, err := os.ReadFile("one/runs.jsonl")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir("killed", 0o755))
	for _, name := range []string{"plan.yaml", "state.json"} {
		if text, err := os.ReadFile(filepath.Join("one", name)); err == nil {
			require.NoError(t, os.WriteFile(filepath.Join("killed", name), text, 0o644))
		}
	}
	require.NoError(t, os.WriteFile("killed/runs.jsonl", log[:len(log)/2], 0o644))
	code, _, errs = run("plans/t.yaml", "--out", "killed", "--quiet")
	require.Equal(t, exitOK, code, errs)
	assert.Equal(t, tuneResult(t, "one"), tuneResult(t, "killed"))
	for _, name := range []string{"runs.parquet", "estimate.json"} {
		a, err := os.ReadFile(filepath.Join("one", name))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join("killed", name))
		require.NoError(t, err)
		assert.Equal(t, a, b, name)
	}

	code, _, errs = run("plans/t.yaml", "--out", "one", "--seed", "9")
	assert.Equal(t, exitInput, code, "another seed is another search: %s", errs)
	assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
}

// Bad input is code 2, one line, and nothing left behind.
func TestTuneBadInput(t *testing.T) {
	run := tuneSession(t)
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join("plans", name), []byte(text), 0o644))
	}
	write("path.yaml", strings.Replace(tunePlan, "ecn.3.kmin", "ecn.3.kmni", 1))
	write("figure.yaml", strings.Replace(tunePlan, "goodput_bps.total", "goodput_bps.totl", 1))
	write("key.yaml", tunePlan+"bugdet: 3 runs\n")
	write("none.yaml", strings.Replace(tunePlan, "lab/small.yaml", "nothing", 1))
	write("baseline.yaml", strings.Replace(tunePlan, "cumulus", "cumulos", 1))
	write("yaml.yaml", "scenario: [")
	before := listAll(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "PLAN is missing"},
		{[]string{"nope.yaml"}, "nope.yaml"},
		{[]string{"plans"}, "plans"},
		{[]string{"plans/path.yaml"}, "kmni"},
		{[]string{"plans/figure.yaml"}, "totl"},
		{[]string{"plans/key.yaml"}, "did you mean budget?"},
		{[]string{"plans/none.yaml"}, "nothing"},
		{[]string{"plans/baseline.yaml"}, "cumulos"},
		{[]string{"plans/yaml.yaml"}, "yaml.yaml"},
		{[]string{"plans/t.yaml", "--jobs", "-1"}, "--jobs -1"},
		{[]string{"plans/t.yaml", "--budget", "5x"}, "--budget 5x"},
		{[]string{"plans/t.yaml", "--budget", "-3runs"}, "--budget"},
		{[]string{"plans/t.yaml", "--budget", "3runs"}, "want at least"},
		{[]string{"plans/t.yaml", "--seed", "x"}, "seed"},
		{[]string{"plans/t.yaml", "--out", "plans"}, "plans"},
		{[]string{"plans/t.yaml", "--today-counters", "nope.txt"}, "nope.txt: no such file"},
		{[]string{"plans/t.yaml", "--today-counters", "plans/t.yaml"}, "no counters found"},
		{[]string{"plans/t.yaml", "--today-counters", "pfc.txt"}, "want --interval"},
		{[]string{"plans/t.yaml", "--counters-ports", "Ethernet0=sw0:1"}, "--counters-ports needs --today-counters"},
		{[]string{"plans/t.yaml", "--counters-interval", "60s"}, "--counters-interval needs --today-counters"},
		{[]string{"plans/t.yaml", "--today-counters", "pfc.txt", "--counters-interval", "60s", "--counters-ports", "Ethernet0=sw0:99"}, "the run has no port sw0:99"},
		{[]string{"plans/t.yaml", "--today-counters", "pfc.txt", "--counters-interval", "60s", "--counters-ports", "Ethernet9=sw0:1"}, "the counters have no port Ethernet9"},
		{[]string{"plans/t.yaml", "--today-counters", "pfc.txt", "--counters-interval", "60s", "--counters-ports", "Ethernet0"}, "no such file, and not pairs"},
		{[]string{"plans/t.yaml", "--today-counters", "pfc.txt", "--counters-interval", "60s", "--counters-ports", "Ethernet0=h1"}, "one is a port of a switch, the other one of a NIC"},
		{[]string{"plans/t.yaml", "--today-counters", "pfc.txt", "--counters-interval", "60s", "--counters-ports", "Ethernet0=sw0:1,Ethernet4=sw0:1"}, "are both sw0:1"},
		{[]string{"plans/t.yaml", "--nope"}, "nope"},
	} {
		code, out, errs := run(c.args...)
		assert.Equal(t, exitInput, code, "%v: %s", c.args, errs)
		assert.Empty(t, out, c.args)
		assert.Contains(t, errs, c.want, c.args)
		assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
	}
	assert.Equal(t, before, listAll(t), "nothing is left behind")
}

func listAll(t *testing.T) (list []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		list = append(list, path)
		return err
	}))
	return list
}

// --show prints a plan with every default, which says the same again.
func TestTuneShow(t *testing.T) {
	run := tuneSession(t)
	code, out, errs := run("plans/t.yaml", "--show")
	require.Equal(t, exitOK, code, errs)
	require.NoError(t, os.WriteFile("plans/shown.yaml", []byte(out), 0o644))
	code, again, errs := run("plans/shown.yaml", "--show")
	require.Equal(t, exitOK, code, errs)
	assert.Equal(t, out, again)
	assert.NoDirExists(t, "tunes")
}

// An interrupt keeps what was run, marks the result partial, says how to go on,
// and is code 3; the same command goes on from there.
func TestTuneInterrupt(t *testing.T) {
	tuneSession(t)
	require.NoError(t, os.WriteFile("plans/long.yaml", []byte(strings.Replace(tunePlan, "40 runs", "4000 runs", 1)), 0o644))
	var out, errs bytes.Buffer
	a := newApp(&out, &errs)
	a.interrupts = func(ctx context.Context, onFirst func()) (context.Context, func()) {
		ctx, cancel := context.WithCancelCause(ctx)
		timer := time.AfterFunc(700*time.Millisecond, func() { onFirst(); cancel(errInterrupted) })
		return ctx, func() { timer.Stop() }
	}
	require.Equal(t, exitRun, execute(context.Background(), a, []string{"tune", "plans/long.yaml", "--out", "cut"}), errs.String())
	assert.Contains(t, errs.String(), "rdmasim: interrupted: what was run is kept in cut, and the same command with --out cut goes on")
	assert.Contains(t, out.String(), "answer       none: the search was cut short")
	assert.Contains(t, out.String(), "go on        rdmasim tune plans/long.yaml --out cut\n")
	var r tuning.Result
	require.NoError(t, json.Unmarshal([]byte(tuneResult(t, "cut")), &r))
	assert.True(t, r.Partial)
	assert.Nil(t, r.Winner)
	assert.FileExists(t, "cut/report/index.html")
	log, err := os.ReadFile("cut/runs.jsonl")
	require.NoError(t, err)
	assert.Positive(t, bytes.Count(log, []byte("\n")))
}

// Counters of ports that are named on both sides are compared port by port of
// the map; where they refute the model there is no recommendation.
func TestTuneGateWithPorts(t *testing.T) {
	if testing.Short() {
		t.Skip("a search")
	}
	run := tuneSession(t)
	code, out, errs := run("plans/t.yaml", "--out", "gate", "--quiet", "--today-counters", "pfc.txt", "--counters-interval", "1s", "--counters-ports", "Ethernet0=sw0:1 Ethernet4=sw0:2")
	require.Contains(t, []int{exitOK, exitExpect}, code, errs)
	assert.Contains(t, out, "ports compared: Ethernet0=sw0:1 Ethernet4=sw0:2")
}
