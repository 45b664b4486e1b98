package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/metric"
)

// realCommand runs one command line of the real program in the working directory.
func realCommand(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = execute(context.Background(), quietApp(&out, &errs), args)
	return code, out.String(), errs.String()
}

// Whatever is wrong with a scenario: exit code 2, one line that names the
// place, and no run directory.
func TestBadInputLeavesNothing(t *testing.T) {
	const head = "name: bad\nduration: 1ms\n"
	const star = head + "topology: {star: {hosts: 4}}\n"
	const traffic = "traffic:\n  - incast: {receiver: h0}\n"
	for name, c := range map[string]struct{ text, want string }{
		"unknown host":         {star + "traffic:\n  - incast: {receiver: h9}\n", "h9"},
		"unknown key":          {star + traffic + "switsh: {}\n", "switch"},
		"no unit":              {"name: bad\nduration: 5\ntopology: star\n" + traffic, "unit"},
		"disconnected":         {head + "topology: {custom: {nodes: [{name: a, kind: host}, {name: b, kind: host}, {name: s, kind: switch}], links: [{a: a, b: s}]}}\n" + traffic, "b"},
		"no rate":              {head + "topology: {star: {hosts: 4, rate: 0bps}}\n" + traffic, "rate"},
		"kmin above kmax":      {star + "switch: {ecn: {3: {kmin: 2MB, kmax: 1MB, pmax: 1%}}}\n" + traffic, "kmin"},
		"headroom over buffer": {star + "switch: {buffer: {size: 1MB, headroom: 500KB}}\n" + traffic, "headroom"},
		"an MTU that is none":  {star + "nic: {path_mtu: 1500}\n" + traffic, "1500"},
		"more than memory":     {"name: bad\nduration: 10000s\nseries: {interval: 1ns}\ntopology: star\n" + traffic, "series.interval"},
		"no link there":        {star + "links: [{a: h0, b: h1, rate: 1Gbps}]\n" + traffic, "h1"},
		"unknown figure":       {star + traffic + "expect: [flows.speed > 1]\n", "flows.speed"},
		"a path as a name":     {"name: ../x\nduration: 1ms\ntopology: star\n" + traffic, "name"},
		"no YAML":              {"name: [", "not YAML"},
		"empty":                {"", "topology"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			require.NoError(t, os.WriteFile("bad.yaml", []byte(c.text), 0o666))
			for _, command := range []string{"run", "check"} {
				code, stdout, stderr := realCommand(command, "bad.yaml")
				assert.Equal(t, exitInput, code, "%s: %s", command, stderr)
				assert.Empty(t, stdout)
				assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
				assert.Contains(t, stderr, c.want)
			}
			assert.NoDirExists(t, "runs")
		})
	}
}

// A CDF that ends below 100 %, HPCC files that lie or end early.
func TestBadFilesLeaveNothing(t *testing.T) {
	good := map[string]string{
		"topology.txt": "3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gbps 1000ns 0\n",
		"flow.txt":     "1\n0 1 3 100 2000 2.0\n",
		"trace.txt":    "0\n",
		"config.txt":   "TOPOLOGY_FILE topology.txt FLOW_FILE flow.txt TRACE_FILE trace.txt CC_MODE 0 ENABLE_QCN 0 BUFFER_SIZE 32 L2_ACK_INTERVAL 1 L2_CHUNK_SIZE 4000 PACKET_PAYLOAD_SIZE 1000 SIMULATOR_STOP_TIME 3\n",
	}
	for name, c := range map[string]struct{ file, text string }{
		"good":                      {},
		"header of topology lies":   {"topology.txt", "3 1 3\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gbps 1000ns 0\n"},
		"topology ends early":       {"topology.txt", "3 1 2\n2\n0 2 100Gbps"},
		"flow to an unknown host":   {"flow.txt", "1\n0 9 3 100 2000 2.0\n"},
		"too few flows":             {"flow.txt", "3\n0 1 3 100 2000 2.0\n"},
		"a typo":                    {"config.txt", "TOPOLOGY_FIEL topology.txt\n"},
		"unsupported CC_MODE":       {"config.txt", strings.Replace(good["config.txt"], "CC_MODE 0", "CC_MODE 3", 1)},
		"a file that is not there":  {"config.txt", strings.Replace(good["config.txt"], "flow.txt", "flows.txt", 1)},
		"marking without a KMIN":    {"config.txt", strings.Replace(good["config.txt"], "ENABLE_QCN 0", "ENABLE_QCN 1", 1)},
		"a distribution below 100%": {"cdf.yaml", "name: x\nduration: 1ms\ntopology: star\ntraffic:\n  - poisson: {cdf_file: cdf.txt}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for file, text := range good {
				require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
			}
			require.NoError(t, os.WriteFile("cdf.txt", []byte("0 0\n1000 50\n"), 0o666))
			scenario, want := "config.txt", exitOK
			if c.file != "" {
				require.NoError(t, os.WriteFile(c.file, []byte(c.text), 0o666))
				want = exitInput
			}
			if c.file == "cdf.yaml" {
				scenario = c.file
			}
			code, _, stderr := realCommand("run", scenario, "--compat", "hpcc", "--out", "out", "--no-report", "--quiet")
			assert.Equal(t, want, code, stderr)
			if want == exitInput {
				assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
				assert.NoDirExists(t, "out")
			}
		})
	}
}

// A run that is interrupted keeps what was measured and says everywhere that
// it is partial.
func TestInterruptedRunIsPartial(t *testing.T) {
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	a := newApp(&out, &errs)
	a.interrupts = func(ctx context.Context, _ func()) (context.Context, func()) {
		return context.WithTimeout(ctx, 300*time.Millisecond)
	}
	code := execute(context.Background(), a, []string{"run", "fattree-websearch-30", "--set", "duration=100s", "--set", "series.interval=1ms", "--out", "cut"})
	assert.Equal(t, exitRun, code, errs.String())
	assert.Contains(t, out.String(), "PARTIAL")
	m, err := metric.Load("cut")
	require.NoError(t, err)
	assert.True(t, m.Run.Partial)
	assert.Positive(t, *m.Run.Simulated)
	for _, file := range []string{"manifest.json", filepath.Join("report", "index.html")} {
		text, err := os.ReadFile(filepath.Join("cut", file))
		require.NoError(t, err)
		assert.Contains(t, strings.ToLower(string(text)), "partial", file)
	}
}
