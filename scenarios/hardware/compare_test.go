package hardware

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rdmasim/reports"
	"rdmasim/scenarios"
	"rdmasim/scenarios/calibrate"
	"rdmasim/scenarios/hardware/guest"
	"rdmasim/sim/trace"
)

// TestGuestLooksLikeItsSimulation: a simulation with the values that a ladder of
// sizes gave looks like the measured run of another scenario, whose sizes the ladder
// does not have. The guest's clock counts instructions, so that a busy host does not
// change what is measured.
func TestGuestLooksLikeItsSimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: long")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Minute)
	defer cancel()
	im := labImage(ctx, t, testLog{t, new([]byte)})
	dir, share := t.TempDir(), t.TempDir()
	program := filepath.Join(dir, "rdmasim")
	build(ctx, t, "build", "-o", program, "rdmasim/cmd/rdmasim")
	programs := map[string]string{"usr/bin/rdmasim": program, "t/ladder.yaml": "testdata/counted/ladder.yaml", "t/blocks.yaml": "testdata/counted/blocks.yaml"}
	script := "set -e\nrdmasim hw run /t/ladder.yaml --out ladder --no-report\nrdmasim hw run /t/blocks.yaml --out measured --no-report\n"
	status, err := im.Run(ctx, guest.Job{Script: script, Programs: programs, Share: share, Console: testLog{t, new([]byte)}, Timeout: 5 * time.Minute, Counted: true})
	require.NoError(t, err)
	require.Zero(t, status)

	ladder, err := trace.Open(filepath.Join(share, "ladder"))
	require.NoError(t, err)
	fit, err := calibrate.Fit(ctx, ladder, calibrate.Options{Version: "test"})
	require.NoError(t, err)
	measured, err := trace.Open(filepath.Join(share, "measured"))
	require.NoError(t, err)
	list, err := calibrate.Predict(ctx, measured, fit, "test")
	require.NoError(t, err)
	require.Greater(t, len(list), 5)
	for i := range list {
		require.InDelta(t, 0, list[i].Off(), 0.25, "%+v", list[i])
	}

	var set []string
	rate := 0.0
	for _, p := range fit.Params {
		switch {
		case !p.Known:
		case p.Param.Name == "rate":
			set, rate = append(set, "topology.custom.links.0.rate="+p.Param.Print(p.Value)), p.Value
		case p.Param.Name == "delay":
			set = append(set, "topology.custom.links.0.delay="+p.Param.Print(p.Value))
		default:
			set = append(set, "nic.host."+p.Param.Name+"="+p.Param.Print(p.Value))
		}
	}
	require.Positive(t, rate)
	b, err := trace.EncodeJSON(trace.Calibration{Values: []trace.CalibratedValue{{Name: trace.CalibratedRate, Value: rate, Low: rate, High: rate}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(measured.Path(trace.FileCalibration), b, 0o600))
	spec, err := scenarios.Load("testdata/counted/blocks.yaml", set)
	require.NoError(t, err)
	simulated := filepath.Join(share, "simulated")
	_, err = scenarios.Run(ctx, spec, scenarios.Options{Out: simulated, Version: "test"})
	require.NoError(t, err)
	out := filepath.Join(dir, "compare")
	c, err := reports.Compare([]string{measured.Dir, simulated}, out, reports.Options{LineRate: true})
	require.NoError(t, err)
	t.Log("\n" + c.Text())
	for i := range c.Metrics {
		m := &c.Metrics[i]
		switch m.Name {
		case "flows.fct_s.mean", "flows.fct_s.p50", "flows.slowdown.p50", "goodput_bps.total":
			require.InEpsilon(t, *m.Values[1], *m.Values[0], 0.25, m.Name)
		case "pfc.xoff", "cnp.sent", "ecn.marked":
			require.Equal(t, "not measured", m.Value(0), "Soft-RoCE does not tell")
		}
	}
	drawn := 0
	for _, f := range c.Figures {
		if len(f.Panels) > 0 {
			require.Len(t, f.Panels[0].Legend, 2, f.Name)
			drawn++
		}
	}
	require.Equal(t, 3, drawn, "completion times, slowdowns and goodput of both")
	require.Contains(t, strings.Join(c.Notes, "\n"), "(800 of 800)")
	if dir := os.Getenv("RDMASIM_GUEST_OUT"); dir != "" {
		require.NoError(t, os.CopyFS(filepath.Join(dir, "compare"), os.DirFS(out)))
	}
}
