package tune

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/tuning"
	"rdmasim/sim/trace"
)

const smallScenario = `duration: 300us
topology: {star: {hosts: 6, rate: 100Gbps}}
switch:
  buffer: {size: 2MB, alpha: 1/8}
  ecn: {3: {kmin: 1MiB, kmax: 2MiB, pmax: 5%}}
nic: {path_mtu: 4096}
traffic:
  - incast: {receiver: h0, senders: 5, message: 64KB, repeat: forever, jitter: 20us}
`

const smallPlan = `# A small search.
scenario: small.yaml
seeds: 2
workloads:
  - {name: five}
  - {name: three, set: [traffic.0.incast.senders=3]}
parameters:
  - {name: Kmin, path: switch.ecn.3.kmin, from: 10KB, to: 1MB, step: 1KB, role: kmin}
  - {name: Kmax, path: switch.ecn.3.kmax, over: Kmin, from: 1, to: 8, step: 1KB, role: kmax}
  - {name: Pmax, path: switch.ecn.3.pmax, from: 1%, to: 100%, step: 1%, role: pmax}
figures:
  - {name: paused, value: pfc.paused_s}
  - {name: goodput, value: goodput_bps.total}
objectives:
  - {figure: paused}
  - {figure: goodput, goal: max}
constraints:
  - {expect: packets.dropped.lossless == 0}
baselines: [cumulus, sonic-td3-th]
budget: 130 runs
confirm: {seeds: 3, finalists: 2, baselines: 1}
`

func small(t *testing.T, plan string) *Tuning {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "small.yaml"), []byte(smallScenario), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(plan), 0o666))
	x, err := Open(filepath.Join(dir, "plan.yaml"))
	require.NoError(t, err)
	return x
}

// A whole search on the simulator: the same files for one run at a time and for
// four, and after a kill.
func TestSearchOfAScenario(t *testing.T) {
	files := map[string]string{}
	var first *tuning.Result
	for _, jobs := range []int{1, 4} {
		out := filepath.Join(t.TempDir(), "out")
		r, err := small(t, smallPlan).Run(context.Background(), Options{Out: out, Jobs: jobs, Command: "x"})
		require.NoError(t, err)
		for _, name := range []string{tuning.FileResult, FileRuns, FileTable, FilePlan} {
			text, err := os.ReadFile(filepath.Join(out, name))
			require.NoError(t, err)
			if jobs == 1 {
				files[name] = string(text)
			} else {
				assert.Equal(t, files[name], string(text), "%s with %d jobs", name, jobs)
			}
		}
		first = r
	}
	assert.Equal(t, tuning.KindToday, first.Point(first.Today).Kind)
	assert.Len(t, first.Baselines, 2)
	assert.LessOrEqual(t, first.Budget.RunsDone, 130)
	assert.NotEmpty(t, first.Contrasts)
	assert.NotEmpty(t, first.Watch)
	assert.NotEmpty(t, first.Confirmed)

	// a kill after 40 runs, in the middle of a line
	out := filepath.Join(t.TempDir(), "out")
	require.NoError(t, os.Mkdir(out, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(out, FileRuns), []byte(files[FileRuns][:len(files[FileRuns])/3]), 0o666))
	_, err := small(t, smallPlan).Run(context.Background(), Options{Out: out, Command: "x"})
	require.NoError(t, err)
	for name, want := range files {
		text, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		assert.Equal(t, want, string(text), "%s after a kill", name)
	}
	back, err := tuning.Load(out)
	require.NoError(t, err)
	assert.Equal(t, first.Points, back.Points)
	for _, name := range []string{tuning.RunBest, tuning.RunToday, tuning.RunWorst} {
		run, err := trace.Open(filepath.Join(out, tuning.DirRuns, name))
		require.NoError(t, err)
		assert.Equal(t, "small", run.Manifest.Name)
	}
}

// An interrupt leaves a partial result, from which the search goes on.
func TestInterruptedSearch(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := small(t, smallPlan).Run(ctx, Options{Out: out, Jobs: 2, Progress: func(p Progress) {
		if p.Runs == 30 {
			cancel()
		}
	}})
	require.NoError(t, err)
	assert.True(t, r.Partial)
	assert.Nil(t, r.Winner)
	var seen struct {
		Partial bool `json:"partial"`
	}
	text, err := os.ReadFile(filepath.Join(out, tuning.FileResult))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &seen))
	assert.True(t, seen.Partial)
	fresh := 0
	r, err = small(t, smallPlan).Run(context.Background(), Options{Out: out, Progress: func(p Progress) { fresh = p.Fresh }})
	require.NoError(t, err)
	assert.False(t, r.Partial)
	assert.Less(t, fresh, r.Budget.RunsDone, "what was run before the interrupt is not run again")
}

// A directory of something else is left alone; too small a budget is refused
// with what is needed, and leaves nothing.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o666))
	_, err := small(t, smallPlan).Run(context.Background(), Options{Out: dir})
	require.ErrorContains(t, err, "no directory of a search")
	out := filepath.Join(dir, "new")
	_, err = small(t, smallPlan).Run(context.Background(), Options{Out: out, Budget: "20 runs"})
	require.ErrorContains(t, err, "budget: 20 runs: want at least")
	require.NoDirExists(t, out)
}

// A trade-off has its front, and a knee on it.
func TestSearchOfATradeOff(t *testing.T) {
	r, err := small(t, smallPlan+"pareto: true\nrobust: mean\nseries: 0s\n").Run(context.Background(), Options{Out: filepath.Join(t.TempDir(), "out")})
	require.NoError(t, err)
	require.NotNil(t, r.Knee)
	assert.Contains(t, r.Pareto, *r.Knee)
	for _, id := range r.Pareto {
		assert.True(t, r.Point(id).Feasible)
	}
}
