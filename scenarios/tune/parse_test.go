package tune

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/scenarios"
	"rdmasim/scenarios/sweep"
)

const good = `# Say what this is for.
#
# And more.
scenario: incast-8to1
seeds: 3
workloads:
  - {name: eight}
  - {name: four, set: [traffic.0.incast.senders=4]}
parameters:
  - {name: Kmin, path: switch.ecn.3.kmin, from: 10KB, to: 1MB, step: 1KB, role: kmin}
  - {name: Kmax, path: switch.ecn.3.kmax, over: Kmin, from: 1, to: 8, step: 1KB, role: kmax}
  - {name: Pmax, path: switch.ecn.3.pmax, from: 1%, to: 100%, step: 1%, role: pmax}
  - {name: alpha, path: switch.buffer.alpha, from: 1/64, to: 1/2, scale: power_of_two}
figures:
  - {name: paused, value: pfc.paused_s}
  - {name: small, value: "p99(flows.slowdown, max_bytes=1MB)"}
objectives:
  - {figure: paused, scale: 1ms}
  - {figure: small, weight: 2}
constraints:
  - {expect: packets.dropped.lossless == 0}
  - {figure: small, at_most: 110%, of: best_baseline}
  - {figure: paused, at_most: 2ms}
budget: 400 runs
`

func TestPlan(t *testing.T) {
	p, err := parse("a/b.plan.yaml", []byte(good))
	require.NoError(t, err)
	assert.Equal(t, "b", p.Name)
	assert.Equal(t, limits{runs: 400}, p.limits)
	assert.Equal(t, []goal{{figure: 0, sign: 1, weight: 1, scale: 1e-3}, {figure: 1, sign: 1, weight: 2}}, p.judge.goals)
	assert.Equal(t, []bound{{figure: 1, value: 1.1, of: OfBestBaseline}, {figure: 0, value: 2e-3}}, p.judge.bounds)
	assert.Equal(t, []string{"packets.dropped.lossless == 0"}, p.judge.expect)
	text, err := p.Resolved()
	require.NoError(t, err)
	again, err := parse("a/b.plan.yaml", text)
	require.NoError(t, err, string(text))
	assert.Equal(t, p.Plan, again.Plan, "the resolved plan is the same plan")
	assert.Equal(t, p.space, again.space)
	assert.Equal(t, "Say what this is for.\n\nAnd more.", planDescription(good))
}

// Each mistake has its place, its value and what would be valid.
func TestMistakesInPlans(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{good, "", "the file is empty: a tuning plan needs at least scenario"},
		{good, "- 1\n", "a tuning plan needs at least scenario"},
		{"scenario: incast-8to1\n", "", "scenario is missing: file, or name in the library"},
		{"seeds: 3", "seeds: 1", "p.yaml:5:8: seeds: 1: want 2..1000"},
		{"seeds: 3", "sseeds: 3", "p.yaml:5:1: sseeds: unknown key: did you mean seeds?"},
		{"name: four", "name: eight", "workloads.1.name: eight: workloads.0 has this name already"},
		{"from: 10KB", "from: 10", "parameters.0.to: 1MB: want a whole number, as from is"},
		{"from: 10KB", "from: ten", "p.yaml:10:49: parameters.0.from: ten: want a value with its unit"},
		{"from: 10KB", "from: 10MB", "parameters.0.to: 1MB: want more than from, which is 10MB"},
		{"from: 10KB, to: 1MB, ", "to: 1MB, ", "from is missing: want from and to, or values"},
		{"step: 1KB, role: kmin", "step: 3MB, role: kmin", "no multiple of it lies within the range"},
		{"step: 1KB, role: kmin", "step: 1us, role: kmin", "parameters.0.step: 1us: want a size above 0"},
		{"role: kmax", "role: kmin", "parameters.1.role: kmin: parameter Kmin has it already"},
		{"over: Kmin", "over: Kmim", "parameters.1.over: Kmim: no parameter above has this name"},
		{"over: Kmin, from: 1,", "over: Kmin, from: 1/2,", "want a factor of at least 1"},
		{"path: switch.ecn.3.kmax", "path: switch.ecn.3.kmin", "parameter Kmin sets it already"},
		{"scale: power_of_two", "scale: power_of_three", "did you mean power_of_two?"},
		{"from: 1/64, to: 1/2, scale", "from: 3/8, to: 7/8, scale", "there are fewer than two powers of two"},
		{"value: pfc.paused_s", "value: pfc.pausd_s", "figures.0.value: pfc.pausd_s: there is no figure \"pfc.pausd_s\" (did you mean pfc.paused_s?)"},
		{"value: pfc.paused_s", "value: 3", "is the same for every run"},
		{"max_bytes=1MB", "max_bytes=1ms", "max_bytes: \"1ms\" is not a size"},
		{"figure: paused, scale: 1ms", "figure: pausd", "objectives.0.figure: pausd: no figure has this name: did you mean paused?"},
		{"scale: 1ms", "scale: 1KB", "objectives.0.scale: 1KB: want a duration, with its unit"},
		{"scale: 1ms", "scale: 0s", "want more than 0"},
		{"weight: 2", "weight: -2", "want a number above 0"},
		{"figure: small, weight: 2", "figure: paused", "is an objective already"},
		{"lossless == 0", "lossless = 0", "does not begin with an operator"},
		{"{figure: small, at_most: 110%, of: best_baseline}", "{figure: small}", "constraints.1: want one of at_most and at_least"},
		{"at_most: 110%, of: best_baseline", "at_most: 1ms, of: best_baseline", "want a share of best_baseline, such as 100%"},
		{"of: best_baseline", "of: yesterday", "constraints.1.of: yesterday: want one of"},
		{"budget: 400 runs", "baselines: []", "the plan has no baselines"},
		{"at_most: 2ms", "at_most: 2ms, at_least: 1ms", "want one of at_most and at_least"},
		{"budget: 400 runs", "budget: 400", "budget: 400: want a number of runs such as 500 runs, or a time such as 30m"},
		{"budget: 400 runs", "budget: -3 runs", "want 1 to"},
		{"budget: 400 runs", "robust: best", "robust: best: want one of regret, mean, worst"},
		{"budget: 400 runs", "baselines: [fit, cisco]", "want names, or [fit] alone"},
		{"budget: 400 runs", "rate: fast", "rate: fast: want a rate such as 100Gbps"},
		{"budget: 400 runs", "series: 3", "series: 3: want a duration"},
		{"{name: small,", "{name: seed,", "seed: is a column of runs.parquet already"},
		{"budget: 400 runs", "pareto: true\nobjectives: [{figure: small}]", "key is there twice"},
		{"  - {figure: small, weight: 2}\n", "pareto: true\n", "objectives: want at least 2"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		require.NotEqual(t, good, text, c.old)
		_, err := Parse("p.yaml", []byte(text))
		if assert.Error(t, err, c.new) {
			assert.ErrorContains(t, err, c.want, c.new)
			bad := new(scenarios.Error)
			assert.ErrorAs(t, err, &bad)
		}
	}
}

// What is wrong only in the light of the scenario is found before any run.
func TestMistakesBeyondThePlan(t *testing.T) {
	dir := t.TempDir()
	open := func(text string) error {
		file := filepath.Join(dir, "p.yaml")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
		_, err := Open(file)
		return err
	}
	require.NoError(t, open(good))
	for _, c := range []struct{ old, new, want string }{
		{"scenario: incast-8to1", "scenario: incast-9to1", "scenario: \"incast-9to1\" is neither a file nor a scenario of the library"},
		{"senders=4", "sender=4", "workloads.1.set: --set traffic.0.incast.sender=4"},
		{"path: switch.ecn.3.kmin", "path: switch.ecn.4.kmin", "parameters.0: switch.ecn.4.kmin: the scenario incast-8to1 has no such value: write it there"},
		{"path: switch.buffer.alpha", "path: nic.path_mtu", "cannot be run: --set nic.path_mtu="},
		{", role: pmax}", "}", "give one parameter the role pmax, or write baselines: []"},
		{"seeds: 3", "seeds: 3\nbaselines: [ciscoo]", "baselines.0: ciscoo: unknown baseline: did you mean cisco?"},
		{"from: 1%, to: 100%", "from: 1%, to: 300%", "Pmax = 3 cannot be run"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		err := open(text)
		if assert.Error(t, err, c.new) {
			assert.ErrorContains(t, err, c.want, c.new)
		}
	}
	_, err := Open("tune-leafspin-100g")
	require.ErrorContains(t, err, "did you mean tune-leafspine-100g?")
	for _, name := range Plans() {
		_, err := Open(name)
		require.NoError(t, err, name)
	}
}

// Every place of the cube is a point that the device takes and the scenario
// reads back, and the places of points are where they came from.
func TestSpace(t *testing.T) {
	p, err := parse("p.yaml", []byte(strings.Replace(good, "figures:", `  - {name: preset, path: nic.congestion.dcqcn.preset, values: [connectx, sigcomm15]}
  - {name: timer, path: x.y, from: 10us, to: 300us, step: 1us}
  - {name: n, path: x.n, from: 0, to: 9}
figures:`, 1)))
	require.NoError(t, err)
	s := p.space
	cube := append(sweep.LatinHypercube(500, len(s), 1), make([]float64, len(s)), []float64{1, 1, 1, 1, 1, 1, 1})
	for _, u := range cube {
		x := s.at(u)
		kmin, kmax := x[0], x[1]
		require.True(t, kmin >= 10e3 && kmin <= 1e6 && math.Mod(kmin, 1000) == 0, kmin)
		require.True(t, kmax >= kmin && kmax <= 8.001*kmin+500 && math.Mod(kmax, 1000) == 0, "%v %v", kmin, kmax)
		require.InDelta(t, math.Round(x[2]*100), x[2]*100, 1e-9)
		require.Contains(t, []float64{1. / 64, 1. / 32, 1. / 16, 1. / 8, 1. / 4, 1. / 2}, x[3])
		require.True(t, x[4] == 0 || x[4] == 1)
		require.Equal(t, s.key(x), s.key(s.at(s.place(x))), "%v", s.settings(x))
		for i, setting := range s.settings(x) {
			_, text, _ := strings.Cut(setting, "=")
			v, err := s[i].parse(text)
			require.NoError(t, err)
			require.Equal(t, x[i], v, setting)
		}
	}
	low, high := s.envelope(1)
	assert.Equal(t, []float64{10e3, 8e6}, []float64{low, high})
}

// Baselines that were published for the rate are taken, the others named with
// the reason.
func TestBaselinesOfAPlan(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.yaml")
	require.NoError(t, os.WriteFile(file, []byte(good), 0o666))
	x, err := Open(file)
	require.NoError(t, err)
	by := map[string]point{}
	for _, n := range x.named {
		by[n.name] = n.p
	}
	assert.Equal(t, point{400e3, 1600e3, 0.2, 0.125}, by["today"])
	assert.Equal(t, point{150e3, 3e6, 0.07, 0.125}, by["cisco"])
	assert.Equal(t, point{1048576, 2097152, 0.05, 0.125}, by["sonic-default"])
	assert.NotContains(t, by, "arista-leaf", "published for 400G")
	assert.Equal(t, len(scenarios.Baselines.Names()), len(x.named)-1+len(x.lacking))
	for _, l := range x.lacking {
		assert.NotEmpty(t, l.why, l.name)
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte(good))
	for _, name := range Plans() {
		text, _ := PlanText(name)
		f.Add(text)
	}
	f.Add([]byte("scenario: x\nparameters: [{name: a, path: b, values: [c, d]}]\nfigures: [{name: e, value: pfc.xoff}]\nobjectives: [{figure: e, goal: max}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parse("p.yaml", data)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		text, err := p.Resolved()
		require.NoError(t, err)
		again, err := parse("p.yaml", text)
		require.NoError(t, err, string(text))
		require.Equal(t, p.space, again.space)
		u := make([]float64, len(p.space))
		for _, v := range []float64{0, 0.37, 1} {
			for i := range u {
				u[i] = v
			}
			x := p.space.at(u)
			for _, v := range x {
				require.False(t, math.IsNaN(v) || math.IsInf(v, 0), "%v", x)
			}
			p.space.settings(x)
			p.space.place(x)
		}
	})
}

func FuzzRunLog(f *testing.F) {
	header := runHeader{Plan: "x", Parameters: []string{"a"}, Figures: []string{"f"}, Expect: []string{}}
	f.Add([]byte(`{"schema":"rdmasim-tune-runs/1","plan":"x","parameters":["a"],"workloads":[],"figures":["f"],"expect":[]}` + "\n" +
		`{"point":"1KB","workload":0,"seed":1,"figures":[1.5],"held":[],"simulated_s":1}` + "\n" + `{"point":"2KB","wor`))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), FileRuns)
		require.NoError(t, os.WriteFile(path, data, 0o666))
		l, err := openLog(path, header)
		if err != nil {
			return
		}
		require.NoError(t, l.append("3KB", cell{0, 7}, Observation{Figures: []float64{2}}))
		n := len(l.known)
		_, err = l.close()
		require.NoError(t, err)
		l, err = openLog(path, header)
		require.NoError(t, err, "what was written can be read")
		require.LessOrEqual(t, n, len(l.known))
		_, err = l.close()
		require.NoError(t, err)
	})
}
