package tuning

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim/trace"
)

func f(v float64) *float64 { return &v }
func id(v int) *int        { return &v }

// small is the least that a search leaves: today, a baseline, two points.
func small() *Result {
	cell := func(paused, p99 float64) []Cell {
		return []Cell{{Seeds: 3, Regret: f(0.1), Objectives: []Value{{f(paused), f(paused / 10), 3}, {f(p99), f(p99 / 20), 3}}, Constraints: []Value{{f(0), f(0), 3}}}}
	}
	return &Result{Schema: Schema, Name: "small", Scenario: "incast", Plan: Plan{Criterion: MinimaxRegret, Search: "two points",
		Stages: []Stage{{"first", 2, 1, 3, 6}}},
		Parameters: []Parameter{
			{Path: "switch.ecn.3.kmin", Role: RoleKmin, Unit: Bytes, Low: 1e4, High: 1e6, Scale: Log, Step: 1000, Device: "KB"},
			{Path: "switch.ecn.3.pmax", Role: RolePmax, Unit: Ratio, Low: 0, High: 1, Scale: Linear}},
		Objectives:  []Objective{{"pfc.paused_s", "paused time", Seconds, Minimize, 1}, {"flows.slowdown.p99", "slowdown", Ratio, Minimize, 1}},
		Constraints: []Constraint{{Metric: "packets.dropped.lossless", Unit: Count, Op: "=="}},
		Workloads:   []Workload{{Name: "incast", Weight: 1}}, Seeds: []uint64{1, 2, 3},
		Today: 0, Baselines: []Baseline{{Name: "cisco", Source: "blueprint", Point: id(1)}, {Name: "huawei", Source: "manual", Lacks: "a share of the buffer"}},
		Points: []Point{
			{ID: 0, Kind: KindToday, Values: []float64{2e5, 0.05}, Rank: 3, Feasible: true, Cells: cell(1e-3, 5)},
			{ID: 1, Kind: KindBaseline, Name: "cisco", Values: []float64{1.5e5, 0.07}, Rank: 2, Feasible: true, Cells: cell(5e-4, 4)},
			{ID: 2, Kind: KindSearch, Values: []float64{5e4, 0.2}, Rank: 1, Feasible: true, Regret: f(0), Score: f(0.5), Cells: cell(1e-4, 4)},
			{ID: 5, Kind: KindSearch, Values: []float64{1e6, 0.2}, Violations: []string{"loss"}}},
		Pareto: []int{2}, Knee: id(2), Winner: id(2), BestOf: id(1),
		Contrasts: []Contrast{NewContrast(2, 0, AgainstToday, "incast", "pfc.paused_s", []float64{1, 2, 3}, []float64{11, 12, 14})},
		Watch:     []Watch{{Metric: "pfc.episodes", Unit: Count, Workload: "incast", Low: f(1), High: f(4)}},
		Budget:    Budget{Runs: 10, RunsDone: 6, Simulated: 0.06}, Repro: Repro{Command: "rdmasim tune plan.yaml"}}
}

func TestResultRoundTrip(t *testing.T) {
	dir := t.TempDir()
	r := small()
	require.NoError(t, r.Write(dir))
	got, err := Load(dir)
	require.NoError(t, err)
	assert.Equal(t, r, got)
	require.NoError(t, got.Write(dir))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 1, "nothing but %s", FileResult)
}

func TestResultRefuses(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*Result)
	}{
		{`schema "rdmasim-tune/9" cannot be read`, func(r *Result) { r.Schema = "rdmasim-tune/9" }},
		{"name is missing", func(r *Result) { r.Name = "" }},
		{"plan.criterion", func(r *Result) { r.Plan.Criterion = "best" }},
		{"0 parameters", func(r *Result) { r.Parameters = nil }},
		{"parameters[1].path", func(r *Result) { r.Parameters[1].Path = r.Parameters[0].Path }},
		{"want low below high", func(r *Result) { r.Parameters[0].High = r.Parameters[0].Low }},
		{"logarithmic scale begins above 0", func(r *Result) { r.Parameters[1].Scale = Log }},
		{"parameters[0].unit", func(r *Result) { r.Parameters[0].Unit = "KB" }},
		{"0 objectives", func(r *Result) { r.Objectives = nil }},
		{"objectives[0].goal", func(r *Result) { r.Objectives[0].Goal = "low" }},
		{"constraints[0]", func(r *Result) { r.Constraints[0].Op = "~" }},
		{"workloads[0].weight", func(r *Result) { r.Workloads[0].Weight = 0 }},
		{"points[1].id 0", func(r *Result) { r.Points[1].ID = 0 }},
		{"points[2].values: 1, want one for each of 2", func(r *Result) { r.Points[2].Values = []float64{1} }},
		{"points[2].cells: 2, want one for each of 1", func(r *Result) { r.Points[2].Cells = make([]Cell, 2) }},
		{"points[2].cells[0].objectives: 1 values, want 2", func(r *Result) { r.Points[2].Cells[0].Objectives = []Value{{}} }},
		{"half of an interval", func(r *Result) { r.Points[2].Cells[0].Objectives[0].Half = f(-1) }},
		{"today: no point has the id 7", func(r *Result) { r.Today = 7 }},
		{`today: point 2 is of kind "search"`, func(r *Result) { r.Today = 2 }},
		{"winner: no point has the id 9", func(r *Result) { r.Winner = id(9) }},
		{"winner: point 5 is not feasible", func(r *Result) { r.Winner = id(5) }},
		{"say why nothing is recommended", func(r *Result) { r.Winner = nil }},
		{"there is a winner", func(r *Result) { r.NoWinner = "none" }},
		{"baselines[1]: neither a point", func(r *Result) { r.Baselines[1].Lacks = "" }},
		{"contrasts[0].metric", func(r *Result) { r.Contrasts[0].Metric = "nothing" }},
		{"contrasts[0].workload", func(r *Result) { r.Contrasts[0].Workload = "nothing" }},
		{"watch[0]: want a metric and a range", func(r *Result) { r.Watch[0].Low = f(9) }},
		{"points[0].values", func(r *Result) { r.Points[0].Values[0] = math.NaN() }},
	} {
		r := small()
		c.change(r)
		dir := t.TempDir()
		require.ErrorContains(t, r.Write(dir), c.want)
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, files, "half written: %s", c.want)
	}
	require.NoError(t, small().Check())
}

func TestLoadRefuses(t *testing.T) {
	p, err := trace.EncodeJSON(small())
	require.NoError(t, err)
	for text, want := range map[string]string{
		"":                              "EOF",
		"{}":                            "no schema field",
		`{"schema":"rdmasim-run/1"}`:    "cannot be read",
		`{"schema":1}`:                  "schema",
		string(p) + "{}":                "something follows",
		`{"best":1,` + string(p[1:]):    `unknown field "best"`,
		string(p[:len(p)/2]):            "EOF",
		`{"points":[{"values":["a"]}]}`: "values",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, FileResult), []byte(text), 0o600))
		_, err := Load(dir)
		require.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, FileResult)
	}
}

// The difference of pairs is less uncertain than the pairs: that is why both
// settings run on the same seeds.
func TestContrast(t *testing.T) {
	c := NewContrast(2, 0, AgainstToday, "", MetricScore, []float64{1, 11, 21}, []float64{2, 12, 22.3})
	require.NotNil(t, c.Delta.Half)
	assert.InDelta(t, -1.1, *c.Delta.Mean, 1e-12)
	assert.InDelta(t, 0.4303, *c.Delta.Half, 1e-3, "t(2) = 4.303 at 97.5 %%; deviation 0.1732")
	assert.True(t, c.Confident)
	assert.InDelta(t, -1.1/(36.3/3), *c.Relative.Mean, 1e-12)

	c = NewContrast(2, 0, AgainstToday, "", MetricScore, []float64{1, 3}, []float64{2, 2})
	assert.False(t, c.Confident)
	c = NewContrast(2, 0, AgainstToday, "", MetricScore, []float64{1}, []float64{2})
	assert.Nil(t, c.Delta.Half, "one run says nothing of chance")
	assert.False(t, c.Confident)
	c = NewContrast(2, 0, AgainstToday, "", MetricScore, []float64{1, 2}, []float64{2})
	assert.Nil(t, c.Delta.Mean)
	c = NewContrast(2, 0, AgainstToday, "", MetricScore, []float64{1, 2}, []float64{0, 0})
	assert.Nil(t, c.Relative.Mean, "nothing is a share of 0")
}

func TestScales(t *testing.T) {
	p := Parameter{Low: 10, High: 1000, Scale: Log}
	assert.InDelta(t, 0.5, p.Unit01(100), 1e-12)
	assert.InDelta(t, 100, p.From01(0.5), 1e-9)
	p.Scale = Linear
	assert.InDelta(t, 505, p.From01(0.5), 1e-9)
}

func FuzzResult(f *testing.F) {
	p, err := trace.EncodeJSON(small())
	require.NoError(f, err)
	f.Add(p)
	f.Add([]byte(`{"schema":"rdmasim-tune/1","name":"x","plan":{"criterion":"pareto"},"parameters":[{"path":"a","unit":"s","low":0,"high":1,"scale":"linear"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(data)
		if err != nil {
			return
		}
		require.NoError(t, r.Check())
		again, err := json.Marshal(r)
		require.NoError(t, err)
		_, err = Decode(again)
		require.NoError(t, err, "what was read can be written and read")
		r.Best()
		for i := range r.Points {
			for o := range r.Objectives {
				r.Mean(&r.Points[i], o)
			}
		}
	})
}
