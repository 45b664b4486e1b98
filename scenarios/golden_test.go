package scenarios

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/metric"
	"rdmasim/scenarios/library"
	"rdmasim/sim/simtest"
	"rdmasim/sim/trace"
)

// Every scenario of the library gives the same results on one, two and three
// workers, those of its golden file, meets its expectations, and no message is
// faster than alone on its path.
func TestLibraryGoldens(t *testing.T) {
	for _, e := range library.List() {
		t.Run(e.Name, func(t *testing.T) {
			text, err := library.Get(e.Name)
			require.NoError(t, err)
			s, err := Parse(library.File(e.Name), text)
			require.NoError(t, err)
			if testing.Short() && s.Long {
				t.Skip("the scenario says that it is long")
			}
			run, res := runOn(t, s, 1)
			more := []int{2, 3}
			if testing.Short() && res.Wall > slowRun {
				more = more[1:]
			}
			if testing.Short() && res.Wall > 10*slowRun {
				more = nil
			}
			for _, workers := range more {
				_, other := runOn(t, s, workers)
				require.Equal(t, workers, other.Workers, "the engine takes as many as it is told to")
				assert.Equal(t, res.Fingerprint, other.Fingerprint, "%d workers", workers)
				assert.Equal(t, res.Events, other.Events, "%d workers", workers)
			}
			if n := notFasterThanAlone(t, run); len(s.Counterfactual()) == 0 {
				require.Positive(t, n, "no message has completed")
			}
			m, err := metric.Compute(run)
			require.NoError(t, err)
			ok, err := m.Check(s.Expect)
			require.NoError(t, err)
			assert.True(t, ok, "%+v", m.Expect)
			checkDiagnosis(t, e.Name, run)
			simtest.Golden(t, "library/"+e.Name, figures(m))
		})
	}
}

// slowRun is how many seconds a run may take to be repeated twice in a short
// test; one that takes ten times as long, as under the race detector, is not
// repeated at all.
const slowRun = 0.5

// runOn runs a scenario on exactly so many workers.
func runOn(t testing.TB, s *Spec, workers int) (*trace.Run, *Result) {
	return runWorld(t, s, workers, nil)
}

// runWith runs a scenario that a test has changed after it was built.
func runWith(t testing.TB, s *Spec, change func(*world)) (*trace.Run, *Result) {
	return runWorld(t, s, 1, change)
}

func runWorld(t testing.TB, s *Spec, workers int, change func(*world)) (*trace.Run, *Result) {
	w, err := s.prepare()
	require.NoError(t, err)
	if change != nil {
		change(w)
	}
	w.exactly = true
	o := Options{Out: filepath.Join(t.TempDir(), fmt.Sprint("run", workers)), Workers: workers}
	out, err := w.create(o)
	require.NoError(t, err)
	res, err := w.simulate(context.Background(), out, o)
	require.NoError(t, err)
	run, err := trace.Open(o.Out)
	require.NoError(t, err)
	return run, res
}

// notFasterThanAlone asserts that every completed message took at least its
// ideal FCT, and returns how many there are.
func notFasterThanAlone(t testing.TB, run *trace.Run) (n int) {
	for f, err := range run.Flows() {
		require.NoError(t, err)
		if f.End >= 0 && f.Status == trace.StatusSuccess {
			n++
			require.GreaterOrEqual(t, f.End.Sub(f.Start), f.Ideal, "message %d, %d bytes from %s to %s", f.ID, f.Bytes, f.Src, f.Dst)
		}
	}
	return n
}

// figures lists every figure of metrics.json that was measured.
func figures(m *metric.Metrics) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "fingerprint %s\n", m.Run.Fingerprint)
	for _, p := range metric.Paths() {
		if v, ok := m.Lookup(p.Name); ok && (v != 0 || !strings.HasPrefix(p.Name, "completions.")) {
			fmt.Fprintf(&b, "%s %.9g\n", p.Name, v)
		}
	}
	fmt.Fprintf(&b, "worst queue %s\n", m.Queue.Where)
	for _, e := range m.Expect {
		if e.Value != nil {
			fmt.Fprintf(&b, "expect %s: %.6g\n", e.Text, *e.Value)
		}
	}
	return []byte(b.String())
}
