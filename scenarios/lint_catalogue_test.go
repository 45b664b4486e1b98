package scenarios_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/switchconf"
	"rdmasim/reports/metric"
	"rdmasim/scenarios"
	"rdmasim/scenarios/library"
	"rdmasim/sim/trace"
)

const lintDir = "../docs/lint"

// shows loads the scenario that shows the harm of a rule.
func shows(t *testing.T, r *switchconf.Rule, settings []string) *scenarios.Spec {
	t.Helper()
	name := r.Scenario
	if _, err := library.Get(name); err != nil {
		name = filepath.Join(lintDir, name+".yaml")
	}
	spec, err := scenarios.Load(name, settings)
	require.NoError(t, err)
	return spec
}

// failed runs a scenario and returns the expectations that do not hold.
func failed(t *testing.T, spec *scenarios.Spec) (list []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	_, err := scenarios.Run(context.Background(), spec, scenarios.Options{Out: dir})
	require.NoError(t, err)
	run, err := trace.Open(dir)
	require.NoError(t, err)
	m, err := metric.Compute(run)
	require.NoError(t, err)
	_, err = m.Check(spec.Expect)
	require.NoError(t, err)
	for _, e := range m.Expect {
		if !e.OK {
			list = append(list, e.Text)
		}
	}
	return list
}

func fires(spec *scenarios.Spec, rule string) bool {
	return slices.ContainsFunc(scenarios.Lint(spec), func(f switchconf.Finding) bool { return f.Rule.Name == rule })
}

// Every rule names a scenario in which it fires and the harm is there; without
// the cause the rule is silent and the harm is gone.
func TestEveryRuleHasAScenario(t *testing.T) {
	rules := switchconf.AllRules()
	require.GreaterOrEqual(t, len(rules), 17)
	for _, r := range rules {
		t.Run(r.Name, func(t *testing.T) {
			for what, text := range map[string]string{"doc": r.Doc, "why": r.Why, "set": r.Set, "scenario": r.Scenario, "source": r.Source} {
				assert.NotEmpty(t, text, what)
			}
			assert.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, r.Name)
			spec := shows(t, r, nil)
			assert.True(t, fires(spec, r.Name), "it does not fire in %s", r.Scenario)
			without := spec.Counterfactual()
			require.NotEmpty(t, without, "%s has no control", r.Scenario)
			control := shows(t, r, without)
			assert.False(t, fires(control, r.Name), "it fires without the cause: %v", without)
			if testing.Short() {
				return
			}
			assert.Empty(t, failed(t, spec), "the harm is not there")
			assert.NotEmpty(t, failed(t, control), "the harm is there without the cause")
		})
	}
}

// Every scenario of docs/lint belongs to a rule, and finds nothing that is not
// about it to be an error.
func TestLintScenariosBelongToRules(t *testing.T) {
	names, err := filepath.Glob(lintDir + "/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, n := range names {
		name := strings.TrimSuffix(filepath.Base(n), ".yaml")
		assert.True(t, slices.ContainsFunc(switchconf.AllRules(), func(r *switchconf.Rule) bool { return r.Scenario == name }), "no rule names %s", n)
		spec, err := scenarios.Load(n, nil)
		require.NoError(t, err)
		assert.Equal(t, name, spec.Name)
		assert.NotEmpty(t, spec.Expect)
	}
	json, err := filepath.Glob(lintDir + "/*.json")
	require.NoError(t, err)
	all := ""
	for _, n := range names {
		text, err := os.ReadFile(n)
		require.NoError(t, err)
		all += string(text)
	}
	for _, n := range json {
		assert.Contains(t, all, filepath.Base(n), "no scenario names %s", n)
	}
}

// Baselines are published settings; what lint says of them is listed here with
// the reason, and nothing else.
func TestBaselinesAreCleanOrExplained(t *testing.T) {
	explained := map[string]string{
		"ecn-after-pfc":    "thresholds of deep or large buffers, on the 32 MiB switch that is the default",
		"kmax-unreachable": "the same",
	}
	for _, name := range scenarios.Baselines.Names() {
		spec, err := scenarios.Parse("b.yaml", []byte("switch: {ecn: {3: {baseline: "+name+"}}}"+around))
		if err != nil {
			continue // one that has no figure for the rate
		}
		for _, f := range scenarios.Lint(spec) {
			assert.Contains(t, explained, f.Rule.Name, "%s: %s", name, f.Text)
			t.Logf("%s: %s %s", name, f.Rule.Name, f.Text)
		}
	}
}
