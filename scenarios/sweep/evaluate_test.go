package sweep

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const small = `
duration: 50us
topology: {star: {hosts: 5, rate: 100Gbps}}
switch: {ecn: {3: {kmin: 100KB, kmax: 400KB, pmax: 20%}}}
traffic:
- incast: {senders: 4, receiver: h0, message: 50KB, repeat: forever}
expect: [packets.dropped.lossless == 0, pfc.xoff > 1000000]
`

func source() *Source { return NewSource("small.yaml", []byte(small)) }

// One point twice is one result; another seed or value is another one.
func TestEvaluate(t *testing.T) {
	ctx, scratch := context.Background(), t.TempDir()
	o := Options{Scratch: scratch, Measures: []string{"max(queue_bytes, switch=sw0)", "goodput(flows, tag='nobody')"}}
	a, err := Evaluate(ctx, source(), nil, 1, o)
	require.NoError(t, err)
	assert.Equal(t, OK, a.Status, a.Error)
	b, err := Evaluate(ctx, source(), nil, 1, o)
	require.NoError(t, err)
	assert.Equal(t, a.Metrics, b.Metrics)
	assert.Equal(t, a.Fingerprint, b.Fingerprint)
	c, err := Evaluate(ctx, source(), []Set{{"switch.ecn.3.kmin", "10KB"}}, 1, o)
	require.NoError(t, err)
	assert.NotEqual(t, a.Fingerprint, c.Fingerprint)
	d, err := Evaluate(ctx, source(), nil, 2, o)
	require.NoError(t, err)
	assert.NotEqual(t, a.Fingerprint, d.Fingerprint)

	assert.Equal(t, []string{"pfc.xoff > 1000000"}, a.Failed)
	v, ok := a.Value("goodput_bps.total")
	assert.True(t, ok)
	assert.InDelta(t, 90e9, v, 20e9)
	q, ok := a.Value("max(queue_bytes, switch=sw0)")
	assert.True(t, ok)
	w, _ := a.Value("queue_bytes.max")
	assert.Equal(t, w, q)
	_, ok = a.Value("icrc.valid")
	assert.False(t, ok, "what was not measured has no value")
	assert.Contains(t, a.Metrics, "icrc.valid", "but its name is there")
	assert.Contains(t, a.Metrics, "goodput(flows, tag='nobody')")

	wanted := []string{"goodput_bps.total", "pfc.xoff", "mean(queue_bytes, switch=sw0)"}
	for _, extra := range []string{"pfc.depth", "diagnosis.congestion", "flows.total"} {
		w, err := Evaluate(ctx, source(), nil, 1, Options{Metrics: append(wanted, extra)})
		require.NoError(t, err)
		assert.Len(t, w.Metrics, 4, "what is wanted and nothing else")
		assert.Equal(t, a.Metrics[extra], w.Metrics[extra], extra)
		assert.Equal(t, a.Metrics["pfc.xoff"], w.Metrics["pfc.xoff"])
		assert.NotNil(t, w.Metrics["mean(queue_bytes, switch=sw0)"])
		assert.Equal(t, a.Fingerprint, w.Fingerprint)
	}

	left, err := os.ReadDir(scratch)
	require.NoError(t, err)
	assert.Empty(t, left, "nothing stays behind")
}

// What is wrong with values is a result, not an error.
func TestEvaluateInvalid(t *testing.T) {
	for _, c := range []struct{ path, value, want string }{
		{"switch.ecn.3.kmin", "500KB", "kmin"},
		{"switch.ecn.3.kmim", "500KB", "did you mean kmin?"},
		{"switch.ecn.3.kmin", "500", "no unit"},
		{"topology.star.hosts", "1", "hosts"},
	} {
		r, err := Evaluate(context.Background(), source(), []Set{{c.path, c.value}}, 1, Options{})
		require.NoError(t, err)
		assert.Equal(t, Invalid, r.Status)
		assert.Contains(t, r.Error, c.want)
		assert.Nil(t, r.Metrics)
	}
}

// A run that takes too long is partial, and one that is given up an error.
func TestEvaluateTimeout(t *testing.T) {
	long := []Set{{"duration", "10s"}}
	r, err := Evaluate(context.Background(), source(), long, 1, Options{Timeout: 300 * time.Millisecond})
	require.NoError(t, err)
	assert.Equal(t, Partial, r.Status)
	assert.Contains(t, r.Error, "takes longer than 300ms")

	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err = Evaluate(ctx, source(), long, 1, Options{})
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

// Every job is done once, whatever the number of workers; an error ends all.
func TestEvaluateAll(t *testing.T) {
	jobs := make([]Job, 12)
	for i := range jobs {
		jobs[i] = Job{Source: source(), Seed: uint64(i % 3)}
	}
	results := make([]Result, len(jobs))
	var calls atomic.Int32
	require.NoError(t, EvaluateAll(context.Background(), jobs, 3, Options{}, func(i int, r Result) error {
		calls.Add(1)
		results[i] = r
		return nil
	}))
	assert.EqualValues(t, len(jobs), calls.Load())
	for i := range jobs {
		assert.Equal(t, results[i%3].Fingerprint, results[i].Fingerprint, "the same seed gives the same result")
	}
	stop := errors.New("enough")
	calls.Store(0)
	assert.ErrorIs(t, EvaluateAll(context.Background(), jobs, 2, Options{}, func(int, Result) error {
		calls.Add(1)
		return stop
	}), stop)
	assert.EqualValues(t, 1, calls.Load())
}
