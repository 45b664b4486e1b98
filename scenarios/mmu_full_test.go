package scenarios

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/metric"
	"rdmasim/scenarios/library"
	"rdmasim/sim/trace"
)

// sameRun asserts that two runs have the same messages and events, and the same
// figures.
func sameRun(t testing.TB, a, b *trace.Run) {
	flows := func(r *trace.Run) (list []trace.Flow) {
		for f, err := range r.Flows() {
			require.NoError(t, err)
			list = append(list, f)
		}
		return list
	}
	events := func(r *trace.Run) (list []trace.EventRow) {
		for e, err := range r.Events() {
			require.NoError(t, err)
			list = append(list, e)
		}
		slices.SortStableFunc(list, func(x, y trace.EventRow) int {
			if x.Time != y.Time {
				return int(min(max(x.Time-y.Time, -1), 1))
			}
			return strings.Compare(x.Object, y.Object)
		})
		return list
	}
	fa, fb := flows(a), flows(b)
	require.Equal(t, len(fa), len(fb))
	for i := range fa {
		require.Equal(t, fa[i], fb[i])
	}
	ea, eb := events(a), events(b)
	require.Equal(t, len(ea), len(eb), "events")
	for i := range ea {
		require.Equal(t, ea[i], eb[i])
	}
	ma, err := metric.Compute(a)
	require.NoError(t, err)
	mb, err := metric.Compute(b)
	require.NoError(t, err)
	ma.Run.Fingerprint, mb.Run.Fingerprint = "", ""
	assert.Equal(t, string(figures(ma)), string(figures(mb)))
}

// A buffer manager in full that is told what the simple one assumes does the
// same with every frame: the one is the oracle of the other.
func TestFullBufferManagerIsTheSimpleOne(t *testing.T) {
	for _, e := range library.List() {
		t.Run(e.Name, func(t *testing.T) {
			text, err := library.Get(e.Name)
			require.NoError(t, err)
			s, err := Parse(library.File(e.Name), text)
			require.NoError(t, err)
			if s.full() || s.hpcc() {
				t.Skip("is one already, or follows another model")
			}
			if testing.Short() && s.Duration > 2*1e9 {
				s.Duration = 2 * 1e9
				s.Warmup = min(s.Warmup, 1e9)
			}
			simple, _ := runOn(t, s, 1)
			s.inFull = true
			full, _ := runOn(t, s, 2)
			sameRun(t, simple, full)
		})
	}
}

// full reports whether any switch is configured in full.
func (s *Spec) full() bool {
	return s.Switch.full() || slices.ContainsFunc(s.Switches, func(r SwitchRule) bool { return r.Switch.full() })
}

// The same holds on random small fabrics, with drops and pauses among them.
func TestFullBufferManagerOnRandomFabrics(t *testing.T) {
	n := uint64(40)
	if testing.Short() {
		n = 12
	}
	for seed := range n {
		s := randomSpec(t, seed+1)
		simple, _ := runOn(t, s, 1)
		s.inFull = true
		full, _ := runOn(t, s, 1)
		sameRun(t, simple, full)
		if t.Failed() {
			t.Fatalf("seed %d", seed+1)
		}
	}
}
