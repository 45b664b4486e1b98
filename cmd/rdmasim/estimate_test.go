package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/tuning"
)

func TestEstimateCommand(t *testing.T) {
	code, out, _ := realCommand("estimate", "incast-8to1", "--json")
	assert.Equal(t, exitOK, code)
	var e tuning.Estimates
	require.NoError(t, json.Unmarshal([]byte(out), &e))
	require.NoError(t, e.Check())
	assert.Equal(t, 8, e.Flows)

	code, out, _ = realCommand("estimate", "incast-8to1", "--short", "--set", "traffic.0.incast.senders=4")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, out, "4 flows at sw0:0 to h0, 25 Gbit/s each")
	assert.NotContains(t, out, "formula")
	code, _, stderr := realCommand("estimate", "nosuch")
	assert.Equal(t, exitInput, code)
	assert.Contains(t, stderr, "nosuch")
	code, _, stderr = realCommand("estimate")
	assert.Equal(t, exitInput, code)
	assert.Contains(t, stderr, "SCENARIO is missing")
}

// A plan, its report, and the gate that takes the recommendation away.
func TestTuneReportAndGate(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a search")
	}
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("s.yaml", []byte(`# Four to one.
name: small
duration: 100us
topology: {star: {hosts: 5, rate: 100Gbps, delay: 500ns}}
switch:
  buffer: {size: 2MiB, alpha: 1/8}
  ecn: {3: {kmin: 1MB, kmax: 2MB, pmax: 5%}}
nic: {path_mtu: 4096, congestion: {dcqcn: {preset: sigcomm15}}}
traffic:
  - incast: {receiver: h0, message: 256KB, repeat: forever, jitter: 5us}
`), 0o600))
	require.NoError(t, os.WriteFile("plan.yaml", []byte(`# Which thresholds?
scenario: s.yaml
seeds: 3
parameters:
  - {name: Kmin, path: switch.ecn.3.kmin, from: 5KB, to: 1MB, step: 1KB, role: kmin}
  - {name: Kmax, path: switch.ecn.3.kmax, over: Kmin, from: 1, to: 16, step: 1KB, role: kmax}
  - {name: Pmax, path: switch.ecn.3.pmax, from: 1%, to: 100%, step: 1%, role: pmax}
  - {name: alpha, path: switch.buffer.alpha, from: 1/64, to: 1, scale: power_of_two, role: alpha}
figures:
  - {name: paused time, value: pfc.paused_s}
  - {name: p99 slowdown, value: flows.slowdown.p99}
objectives: [{figure: paused time}, {figure: p99 slowdown}]
baselines: [cumulus]
budget: 90runs
confirm: {seeds: 4, finalists: 2, baselines: 1}
`), 0o600))
	code, out, stderr := realCommand("tune", "plan.yaml", "--out", "t", "--quiet")
	require.Equal(t, exitOK, code, "%s%s", out, stderr)
	assert.Contains(t, out, "report       "+filepath.Join("t", "report", "index.html"))
	page, err := os.ReadFile(filepath.Join("t", "report", "index.html"))
	require.NoError(t, err)
	assert.True(t, strings.Contains(string(page), "When PFC will still fire"), "the first burst")
	assert.True(t, strings.Contains(string(page), `id="time_queue"`), "time series")
	e, err := tuning.LoadEstimates("t")
	require.NoError(t, err)
	require.NotNil(t, e)
	r, err := tuning.Load("t")
	require.NoError(t, err)
	files, _ := filepath.Glob(filepath.Join("t", tuning.DirExport, "*-rollback.txt"))
	assert.Equal(t, r.Winner != nil, len(files) > 5, "configurations where there is something to configure")
	again, out, _ := realCommand("report", "t")
	assert.Equal(t, exitOK, again)
	assert.Contains(t, out, "index.html")

	// A network with a tenth of the watermark of the model.
	require.NoError(t, os.WriteFile("w.txt", []byte("Egress shared pool occupancy per unicast queue:\n     Port    UC0    UC3\n---------  -----  -----\nEthernet0      0  30000\n"), 0o600))
	code, out, stderr = realCommand("tune", "plan.yaml", "--out", "t", "--quiet", "--today-counters", "w.txt")
	require.Equal(t, exitExpect, code, "%s%s", out, stderr)
	assert.Contains(t, out, "answer       none: today's counters do not agree")
	assert.Contains(t, out, "not credible: what the model lacks")
	assert.NotContains(t, out, "Kmin")
	r, err = tuning.Load("t")
	require.NoError(t, err)
	assert.Nil(t, r.Winner)
	assert.NoDirExists(t, filepath.Join("t", tuning.DirExport))
	page, err = os.ReadFile(filepath.Join("t", "report", "index.html"))
	require.NoError(t, err)
	assert.True(t, strings.Contains(string(page), "Nothing is recommended."))
}

func TestCredibilityCommandRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("w.txt", []byte("rx_prio3_pause: 5\n"), 0o600))
	require.NoError(t, os.WriteFile("none.txt", []byte("hello\n"), 0o600))
	for line, want := range map[string]string{
		"r":                            "want a run directory and at least one file",
		"r nofile":                     "nofile: no such file",
		"r none.txt":                   "no counters found",
		"r w.txt":                      "want --interval",
		"r w.txt --interval -5s":       "want a time above 0",
		"r w.txt --interval 5":         "want a time above 0",
		"r w.txt --interval 60s":       "r is not a run directory",
		"r . --interval 60s":           "want a regular file",
		"r w.txt w.txt w.txt":          "three files",
		"r w.txt --interval 60s --nod": "did you mean --node",
	} {
		code, _, stderr := realCommand(append([]string{"credibility"}, strings.Fields(line)...)...)
		assert.Equal(t, exitInput, code, line)
		assert.Contains(t, stderr, want, line)
	}
}
