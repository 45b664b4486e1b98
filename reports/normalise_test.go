package reports

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/reports/reporttest"
	"rdmasim/sim/trace"
)

func calibrated(t *testing.T, dir string, rate float64) {
	b, err := json.Marshal(trace.Calibration{Values: []trace.CalibratedValue{{Name: trace.CalibratedRate, Value: rate, Low: rate * 0.9, High: rate * 1.1}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, trace.FileCalibration), b, 0o600))
}

func rowOf(t *testing.T, c *Comparison, name string) *Row {
	for i := range c.Metrics {
		if c.Metrics[i].Name == name {
			return &c.Metrics[i]
		}
	}
	t.Fatalf("no figure %s", name)
	return nil
}

// TestNormalised: the same run, one of which is said to be on links half as fast,
// has twice the share of the rate and half the bytes at line rate.
func TestNormalised(t *testing.T) {
	dirs := makeRuns(t, reporttest.Options{}, reporttest.Options{})
	plain, err := Compare(dirs, filepath.Join(t.TempDir(), "out"), Options{})
	require.NoError(t, err)
	fast, err := Compare(dirs, filepath.Join(t.TempDir(), "out"), Options{LineRate: true})
	require.NoError(t, err)
	goodput, times := rowOf(t, fast, "goodput_bps.total"), rowOf(t, fast, "flows.fct_s.p99")
	rate := *rowOf(t, plain, "goodput_bps.total").Values[0] / *goodput.Values[0]
	require.InEpsilon(t, *rowOf(t, plain, "flows.fct_s.p99").Values[0]*rate/8, *times.Values[0], 1e-9)
	require.False(t, goodput.Differs())
	require.False(t, rowOf(t, fast, "flows.slowdown.p99").Differs())

	calibrated(t, dirs[1], rate/2)
	slow, err := Compare(dirs, filepath.Join(t.TempDir(), "out"), Options{LineRate: true})
	require.NoError(t, err)
	goodput, times = rowOf(t, slow, "goodput_bps.total"), rowOf(t, slow, "flows.fct_s.p99")
	require.InEpsilon(t, 2**goodput.Values[0], *goodput.Values[1], 1e-9)
	require.InEpsilon(t, *times.Values[0]/2, *times.Values[1], 1e-9)
	require.Contains(t, goodput.Value(1), " %")
	require.Contains(t, times.Value(1), "B")
	require.Equal(t, rowOf(t, plain, "queue_bytes.max").Values, rowOf(t, slow, "queue_bytes.max").Values, "bytes stay")
	require.Contains(t, strings.ReplaceAll(strings.Join(slow.Notes, "\n"), "\u00a0", " "), "run-b is 50 Gbit/s (calibrated, 95 % interval 45 Gbit/s to 55 Gbit/s).")
	for _, f := range slow.Figures {
		if f.Name == "goodput" {
			require.Equal(t, "time × line rate (MB)", f.Panels[0].Plot.X.Label.Text)
			require.Contains(t, f.Panels[0].Plot.Y.Label.Text, "as a share of the line rate (%)")
		}
	}
	calibrated(t, dirs[1], 0)
	again, err := Compare(dirs, filepath.Join(t.TempDir(), "out"), Options{LineRate: true})
	require.NoError(t, err)
	require.False(t, rowOf(t, again, "goodput_bps.total").Differs(), "a rate of 0 is none")
}

// TestBorrowedIdeals: a run without ideal times is held against those of a
// simulation of the same line rate, message by message; not against others.
func TestBorrowedIdeals(t *testing.T) {
	dirs := makeRuns(t, reporttest.Options{}, reporttest.Options{})
	path := filepath.Join(dirs[1], trace.FileFlows)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	for i, l := range lines[1:] {
		f := strings.Split(l, ",")
		f[9], f[10] = "", "" // ideal_fct_s, slowdown
		lines[i+1] = strings.Join(f, ",")
	}
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	require.NoError(t, os.RemoveAll(filepath.Join(dirs[1], trace.FileMetrics)))

	c, err := Compare(dirs, filepath.Join(t.TempDir(), "out"), Options{LineRate: true})
	require.NoError(t, err)
	require.False(t, rowOf(t, c, "flows.slowdown.p99").Differs(), "the same messages took the same time")
	require.Contains(t, strings.Join(c.Notes, "\n"), "run-b has no ideal times")

	calibrated(t, dirs[1], 1e9)
	c, err = Compare(dirs, filepath.Join(t.TempDir(), "out"), Options{LineRate: true})
	require.NoError(t, err)
	require.Nil(t, rowOf(t, c, "flows.slowdown.p99").Values[1], "the ideal times are those of other links")
	for _, f := range c.Figures {
		if f.Name == "slowdown_cdf" {
			require.Contains(t, f.Caption, "Not measured by run-b.")
			require.Equal(t, "not measured", f.Table.Rows[len(f.Table.Rows)-1][1])
		}
	}
}

func TestNoLineRate(t *testing.T) {
	dirs := makeRuns(t, reporttest.Options{})
	other := filepath.Join(t.TempDir(), "big")
	require.NoError(t, reporttest.Empty(other))
	out := filepath.Join(t.TempDir(), "out")
	_, err := Compare(append(dirs, other), out, Options{LineRate: true})
	require.ErrorContains(t, err, "its line rate is not known")
	require.NoDirExists(t, out)
}
