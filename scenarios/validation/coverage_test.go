package validation

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/congestion/fluid"
	"rdmasim/scenarios/sweep"
	"rdmasim/sim"
	"rdmasim/sim/stat"
)

// groupSize is how many seeds make an interval.
const groupSize = 10

// replicates runs a scenario with seeds from 1 on and returns metrics of it,
// one row per metric.
func replicates(t *testing.T, file string, settings []sweep.Set, runs int, metrics ...string) [][]float64 {
	text, err := Scenario(file)
	require.NoError(t, err)
	src := sweep.NewSource(file, text)
	jobs := make([]sweep.Job, runs)
	for i := range jobs {
		jobs[i] = sweep.Job{Source: src, Sets: settings, Seed: uint64(i + 1)}
	}
	values := make([][]float64, len(metrics))
	for k := range values {
		values[k] = make([]float64, runs)
	}
	require.NoError(t, sweep.EvaluateAll(context.Background(), jobs, 0, sweep.Options{Metrics: metrics}, func(i int, r sweep.Result) error {
		require.Equal(t, sweep.OK, r.Status, r.Error)
		for k, name := range metrics {
			v, ok := r.Value(name)
			require.True(t, ok, name)
			values[k][i] = v
		}
		return nil
	}))
	return values
}

// covers checks that of the intervals over groups of ten seeds as many hold the
// truth as their confidence says: within three and a half standard deviations of
// a binomial count, which chance leaves once in two thousand.
func covers(t *testing.T, what string, truth float64, values []float64) {
	groups := len(values) / groupSize
	for _, confidence := range []float64{0.5, 0.8, 0.95} {
		hit := 0
		for g := range groups {
			i := stat.MeanInterval(values[g*groupSize:(g+1)*groupSize], confidence)
			if i.Low() <= truth && truth <= i.High() {
				hit++
			}
		}
		n := float64(groups)
		slack := 3.5 * math.Sqrt(n*confidence*(1-confidence))
		all := stat.MeanInterval(values, 0.95)
		t.Logf("%s: truth %.5g, %d runs %.5g ± %.2g; %v intervals of ten seeds: %d of %d hold the truth (%.1f %%)", what, truth, len(values), all.Mean, all.Half, confidence, hit, groups, 100*float64(hit)/n)
		assert.InDelta(t, n*confidence, float64(hit), slack, "%s: intervals of %v", what, confidence)
	}
}

// Ten seeds of a queue with random arrivals and fixed service: the intervals
// hold what Pollaczek and Khinchine's formula says as often as they promise.
func TestCoverageMD1(t *testing.T) {
	if testing.Short() {
		t.Skip("2000 runs")
	}
	l := lawsOfService()[0]
	var sets []sweep.Set
	for _, s := range l.settings(plainPort, 0.5, 4000) {
		sets = append(sets, setOf(s))
	}
	got := replicates(t, "poisson-port.yaml", sets, 2000, "queue_bytes.mean")
	covers(t, "M/D/1, rho 0.5, bytes waiting", fluid.MD1Waiting(0.5)*l.mean, got[0])
}

func setOf(text string) sweep.Set {
	for i := range text {
		if text[i] == '=' {
			return sweep.Set{Path: text[:i], Value: text[i+1:]}
		}
	}
	return sweep.Set{Path: text}
}

// Two long flows at the fixed point of DCQCN. What one of them gets of the port
// is known exactly, half; the mean queue, around which packets swing, is known
// from the second packet model, which shares no code with the product.
func TestCoverageDCQCN(t *testing.T) {
	if testing.Short() {
		t.Skip("400 runs of 750 000 packet-hops")
	}
	c := longFlows{n: 2, rate: 10 * sim.Gbps, packet: 1000}
	sets := []sweep.Set{{Path: "warmup", Value: "50ms"}, {Path: "duration", Value: "100ms"}}
	for _, s := range c.settings() {
		sets = append(sets, setOf(s))
	}
	text, err := Scenario("dcqcn-long.yaml")
	require.NoError(t, err)
	spec, err := sweep.NewSource("dcqcn-long.yaml", text).Spec(sets)
	require.NoError(t, err)
	m := c.model(spec)
	var queues []float64
	for seed := range uint64(200) {
		queues = append(queues, m.run(seed+1).queue)
	}
	model := stat.MeanInterval(queues, 0.95)
	f, err := c.fluid(spec).FixedPoint()
	require.NoError(t, err)
	t.Logf("fluid model %.5g bytes, second packet model %.5g ± %.2g", f.Queue, model.Mean, model.Half)
	got := replicates(t, "dcqcn-long.yaml", sets, 400, "queue_bytes.mean", "goodput(flows, src=h1) / goodput_bps.total")
	covers(t, "DCQCN, 10 Gb/s, N 2, share of a flow", 0.5, got[1])
	covers(t, "DCQCN, 10 Gb/s, N 2, mean queue", model.Mean, got[0])
}
