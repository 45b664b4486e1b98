package scenarios

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// An open loop of tiny messages whose backlog fits no machine is refused
// before anything runs; the same load of long messages, or for a short time, is
// not.
func TestPoissonBacklogIsRefused(t *testing.T) {
	text := "name: a\nduration: 1s\ntopology: {star: {hosts: 8, rate: 100Gbps, delay: 1us}}\ntraffic:\n  - poisson: {cdf: fixed, size: 1B, load: 100%}\n"
	s, err := Parse("a.yaml", []byte(text))
	require.NoError(t, err)
	_, err = s.prepare()
	require.ErrorContains(t, err, "a.yaml:5")
	require.ErrorContains(t, err, "load")
	require.ErrorContains(t, err, "would wait")
	for _, set := range []string{"duration=10us", "traffic.0.poisson.size=1MB", "traffic.0.poisson.messages=1000"} {
		s, err := ParseSet("a.yaml", []byte(text), []string{set})
		require.NoError(t, err, set)
		_, err = s.prepare()
		require.NoError(t, err, set)
	}
}

// Two permutations in one scenario send to different hosts; the first is the
// one that it would be alone.
func TestPermutationsOfAScenarioDiffer(t *testing.T) {
	peers := func(text string) map[string][]string {
		s, err := Parse("a.yaml", []byte("name: a\ntopology: {star: {hosts: 16, rate: 100Gbps, delay: 1us}}\ntraffic:\n"+text))
		require.NoError(t, err)
		r, err := Run(context.Background(), s, Options{Out: filepath.Join(t.TempDir(), "run")})
		require.NoError(t, err)
		to := map[string][]string{}
		run, err := trace.Open(r.Dir)
		require.NoError(t, err)
		for f, err := range run.Flows() {
			require.NoError(t, err)
			to[f.Tag] = append(to[f.Tag], f.Src+">"+f.Dst)
		}
		return to
	}
	one := peers("  - permutation: {message: 1KB, tag: a}\n")
	two := peers("  - permutation: {message: 1KB, tag: a}\n  - permutation: {message: 1KB, tag: b}\n")
	require.Len(t, one["a"], 16)
	require.ElementsMatch(t, one["a"], two["a"])
	common := 0
	for _, x := range two["a"] {
		for _, y := range two["b"] {
			if x == y {
				common++
			}
		}
	}
	require.Less(t, common, 8)
}

// An interrupt while a large fabric is being built ends the run at once, and
// leaves nothing behind.
func TestInterruptWhileBuilding(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a large fabric")
	}
	s := benchSpec(t, benchFatTree(t, 32), benchLoad(t, "permutation"), sim.Millisecond)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	begin := time.Now()
	out := filepath.Join(t.TempDir(), "run")
	_, err := Run(ctx, s, Options{Out: out})
	require.ErrorIs(t, err, ErrInterrupted)
	require.Less(t, time.Since(begin), 20*buildGrace)
	require.NoDirExists(t, out)
}
