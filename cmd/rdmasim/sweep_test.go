package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"rdmasim/scenarios/sweep"
)

const testPlan = `# A remark: with a colon
scenario: lab/small.yaml
vary:
  switch.ecn.3.kmin: [50KB, 100KB, 500KB]
seeds: 2
metrics: [goodput_bps.total, pfc.xoff]
`

const testScenario = `
duration: 50us
topology: {star: {hosts: 5, rate: 100Gbps}}
switch: {ecn: {3: {kmin: 100KB, kmax: 400KB, pmax: 20%}}}
traffic:
- incast: {senders: 4, receiver: h0, message: 50KB, repeat: forever}
`

// sweepSession writes a plan into an empty directory and returns a function that
// runs command lines there.
func sweepSession(t *testing.T) func(args ...string) (code int, out, errs string) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll(filepath.Join("plans", "lab"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join("plans", "p.yaml"), []byte(testPlan), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join("plans", "lab", "small.yaml"), []byte(testScenario), 0o644))
	return func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		code := execute(context.Background(), quietApp(&out, &errs), append([]string{"sweep"}, args...))
		return code, out.String(), errs.String()
	}
}

func TestSweepCommand(t *testing.T) {
	run := sweepSession(t)
	code, out, errs := run("plans/p.yaml")
	require.Equal(t, exitOK, code, errs)
	assert.Contains(t, out, "6 runs of 3 points with 2 seeds each: 4 ok, 2 invalid")
	assert.Contains(t, out, "invalid: --set switch.ecn.3.kmin=500KB")
	assert.Contains(t, out, "results      sweeps/p-1/results.parquet")
	want, err := os.ReadFile("sweeps/p-1/results.parquet")
	require.NoError(t, err)

	code, out, errs = run("plans/p.yaml", "--out", "a", "--shard", "2/2")
	require.Equal(t, exitOK, code, errs)
	assert.Contains(t, out, "3 runs of shard 2 of 2 are done, 3 of the plan are missing in a")
	code, _, errs = run("merge", "a")
	assert.Equal(t, exitRun, code)
	assert.Equal(t, "rdmasim: 3 of 6 runs are missing: 0, 2, 4; run them with --resume, or give --partial for a table without them\n", errs)
	assert.NoFileExists(t, "a/results.parquet")
	code, out, _ = run("merge", "a", "--partial", "--out", "part.parquet")
	assert.Equal(t, exitRun, code)
	assert.Contains(t, out, "missing      3 runs: 0, 2, 4")
	assert.FileExists(t, "part.parquet")
	code, _, _ = run("plans/p.yaml", "--out", "b", "--shard", "1/2", "--quiet")
	require.Equal(t, exitOK, code)
	code, out, errs = run("merge", "b", "a")
	require.Equal(t, exitOK, code, errs)
	assert.Contains(t, out, "results      b/results.parquet")
	got, err := os.ReadFile("b/results.parquet")
	require.NoError(t, err)
	assert.Equal(t, want, got)
	code, out, _ = run("merge", "b", "a", "sweeps/p-1", "--out", "all.parquet")
	require.Equal(t, exitOK, code)
	assert.Contains(t, out, "twice        6 runs, with equal results")
}

// Bad input is code 2, one line, and nothing left behind.
func TestSweepBadInput(t *testing.T) {
	run := sweepSession(t)
	require.NoError(t, os.WriteFile("bad.yaml", []byte("scenario: incast-8to1\nvary: {switch.ecn.3.kmni: [1KB]}\n"), 0o644))
	require.NoError(t, os.WriteFile("none.yaml", []byte("scenario: nothing\nvary: {a: [1]}\n"), 0o644))
	before, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "PLAN is missing"},
		{[]string{"nope.yaml"}, "nope.yaml: no such file: want the YAML file of a plan"},
		{[]string{"incast-8to1"}, "no such file"},
		{[]string{"plans"}, "is a directory"},
		{[]string{"bad.yaml"}, "bad.yaml:2:8: vary.switch.ecn.3.kmni: unknown key: did you mean kmin?"},
		{[]string{"none.yaml"}, `none.yaml: scenario: "nothing" is neither a file nor a scenario`},
		{[]string{"plans/p.yaml", "--shard", "3"}, "want I/N"},
		{[]string{"plans/p.yaml", "--shard", "0/2", "--out", "x"}, "want I/N"},
		{[]string{"plans/p.yaml", "--shard", "1/2"}, "--shard needs --out"},
		{[]string{"plans/p.yaml", "--resume"}, "--resume needs --out"},
		{[]string{"plans/p.yaml", "--jobs", "-1"}, "--jobs -1"},
		{[]string{"plans/p.yaml", "--timeout", "-1s"}, "--timeout -1s"},
		{[]string{"plans/p.yaml", "--out", "plans"}, "no directory of a sweep"},
		{[]string{"merge"}, "DIR is missing"},
		{[]string{"merge", "plans"}, "not the directory of a sweep"},
		{[]string{"emit", "slurm"}, "PLAN is missing"},
		{[]string{"emit", "slrm", "plans/p.yaml"}, "did you mean slurm?"},
		{[]string{"emit", "k8s", "plans/p.yaml"}, "k8s needs --image"},
		{[]string{"emit", "k8s", "plans/p.yaml", "--image", "i"}, "k8s needs --claim"},
		{[]string{"emit", "k8s", "plans/p.yaml", "--image", "i", "--claim", "c", "--out", "../x"}, "want a plain relative name"},
		{[]string{"emit", "slurm", "plans/p.yaml", "--shards", "-3"}, "--shards -3"},
		{[]string{"emit", "slurm", "plans/p.yaml", "--out", "a b"}, "blanks"},
		{[]string{"emit", "slurm", "plans/p.yaml", "--time", "1\n2"}, "a line end"},
	} {
		code, out, errs := run(c.args...)
		assert.Equal(t, exitInput, code, c.args)
		assert.Empty(t, out, c.args)
		assert.Contains(t, errs, c.want, c.args)
		assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
	}
	after, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Equal(t, len(before), len(after))
}

// An interrupt keeps what was run, says how to go on, and is code 3.
func TestSweepInterrupt(t *testing.T) {
	sweepSession(t)
	var out, errs bytes.Buffer
	a := newApp(&out, &errs)
	a.interrupts = func(ctx context.Context, onFirst func()) (context.Context, func()) {
		ctx, cancel := context.WithCancelCause(ctx)
		timer := time.AfterFunc(300*time.Millisecond, func() { onFirst(); cancel(errInterrupted) })
		return ctx, func() { timer.Stop() }
	}
	require.NoError(t, os.WriteFile("long.yaml", []byte("scenario: plans/lab/small.yaml\nset: {duration: 100s}\nvary: {switch.ecn.3.kmin: [50KB, 60KB]}\n"), 0o644))
	assert.Equal(t, exitRun, execute(context.Background(), a, []string{"sweep", "long.yaml"}))
	assert.Contains(t, errs.String(), "rdmasim: interrupted: what has been run is kept")
	assert.Contains(t, errs.String(), "rdmasim: 0 of 2 runs are in sweeps/long-1: go on with: rdmasim sweep long.yaml --out sweeps/long-1 --resume\n")
	assert.Empty(t, out.String())
}

func TestSweepProgress(t *testing.T) {
	var w bytes.Buffer
	c := &clock{time.Unix(0, 0)}
	m := &meter[sweep.Progress]{gauge: sweepGauge{}, w: &w, mode: meterLine, every: time.Second, now: c.now}
	for i := range 5 {
		c.t = c.t.Add(time.Second)
		m.update(sweep.Progress{Done: 10 * i, Total: 100, Wall: float64(i), ETA: []float64{-1, 9, 8, 7, 6}[i]})
	}
	m.finish()
	assert.Contains(t, w.String(), "\r0 of 100 runs    0%")
	assert.Contains(t, w.String(), "\r40 of 100 runs   40%  10 runs/s  6.0 s left")
	assert.True(t, strings.HasSuffix(w.String(), " \r"), "the line is gone at the end")
	assert.NotContains(t, w.String(), "\n")

	w.Reset()
	m = &meter[sweep.Progress]{gauge: sweepGauge{}, w: &w, mode: meterJSON, every: time.Second, now: c.now}
	m.update(sweep.Progress{Done: 1, Total: 3, Wall: 2, ETA: 4})
	m.finish()
	assert.Equal(t, `{"runs":1,"of":3,"invalid":0,"wall_s":2,"eta_s":4,"done":false}`+"\n"+`{"runs":1,"of":3,"invalid":0,"wall_s":2,"eta_s":4,"done":true}`+"\n", w.String())
}

func TestEmitSlurm(t *testing.T) {
	run := sweepSession(t)
	code, out, errs := run("emit", "slurm", "plans/p.yaml", "--out", "it", "--shards", "4", "--jobs", "2", "--program", "/opt/my tools/rdmasim", "--time", "1:00:00")
	require.Equal(t, exitOK, code, errs)
	wd, err := os.Getwd()
	require.NoError(t, err)
	for _, want := range []string{"#!/bin/sh\n", "#SBATCH --array=1-4\n", "#SBATCH --requeue\n", "#SBATCH --open-mode=append\n", "#SBATCH --cpus-per-task=2\n", "#SBATCH --time=1:00:00\n",
		"exec '/opt/my tools/rdmasim' sweep " + wd + "/plans/p.yaml --out " + wd + "/it --shard \"$SLURM_ARRAY_TASK_ID/4\" --jobs 2 --resume\n"} {
		assert.Contains(t, out, want)
	}
	_, out, _ = run("emit", "slurm", "plans/p.yaml", "--shards", "400")
	assert.Contains(t, out, "--array=1-6\n", "no more shards than runs")
}

func TestEmitParallel(t *testing.T) {
	run := sweepSession(t)
	code, out, errs := run("emit", "parallel", "plans/p.yaml", "--out", "it's", "--shards", "3")
	require.Equal(t, exitOK, code, errs)
	assert.Regexp(t, `^parallel --retries 3 '.*--out '.*it.*s.* --shard \{\}/3 --jobs 1 --resume' ::: \$\(seq 3\)\n$`, out)
}

// The manifest is YAML, and the pod finds the scenario where the plan names it.
func TestEmitK8s(t *testing.T) {
	run := sweepSession(t)
	code, out, errs := run("emit", "k8s", "plans/p.yaml", "--shards", "3", "--image", "registry:5000/r@sha256:1", "--claim", "sweeps", "--namespace", "lab", "--jobs", "4")
	require.Equal(t, exitOK, code, errs)
	type object = map[string]any
	var config, job object
	dec := yaml.NewDecoder(strings.NewReader(out))
	require.NoError(t, dec.Decode(&config))
	require.NoError(t, dec.Decode(&job))
	at := func(o any, path ...any) any {
		for _, p := range path {
			switch p := p.(type) {
			case string:
				o = o.(object)[p]
			case int:
				o = o.([]any)[p]
			}
		}
		return o
	}
	assert.Equal(t, testPlan, at(config, "data", "plan"))
	assert.Equal(t, testScenario, at(config, "data", "scenario"), "a text that begins with an empty line")
	assert.Equal(t, at(config, "metadata", "name"), at(job, "spec", "template", "spec", "volumes", 0, "configMap", "name"))
	items := at(job, "spec", "template", "spec", "volumes", 0, "configMap", "items")
	assert.Equal(t, []any{object{"key": "plan", "path": "p.yaml"}, object{"key": "scenario", "path": "lab/small.yaml"}}, items)
	assert.Equal(t, "Indexed", at(job, "spec", "completionMode"))
	assert.Equal(t, 3, at(job, "spec", "completions"))
	assert.Equal(t, "Never", at(job, "spec", "template", "spec", "restartPolicy"))
	pod := at(job, "spec", "template", "spec", "containers", 0)
	assert.Equal(t, "registry:5000/r@sha256:1", at(pod, "image"))
	assert.Equal(t, []any{"sh", "-c", "exec rdmasim sweep /plan/p.yaml --out /sweeps/p --shard $((JOB_COMPLETION_INDEX + 1))/3 --jobs 4 --resume"}, at(pod, "command"))
	assert.Equal(t, "sweeps", at(job, "spec", "template", "spec", "volumes", 1, "persistentVolumeClaim", "claimName"))

	require.NoError(t, os.MkdirAll("other", 0o755))
	require.NoError(t, os.WriteFile("other/q.yaml", []byte(strings.Replace(testPlan, "lab/", "../plans/lab/", 1)), 0o644))
	_, out, errs = run("emit", "k8s", "other/q.yaml", "--image", "i", "--claim", "c")
	assert.Contains(t, out, `{key: plan, path: "other/q.yaml"}`, errs)
	assert.Contains(t, out, `{key: scenario, path: "plans/lab/small.yaml"}`)
	assert.Contains(t, out, "sweep /plan/other/q.yaml ")
}
