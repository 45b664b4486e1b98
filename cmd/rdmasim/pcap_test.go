package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/metric"
	"rdmasim/sim/trace"
)

const captured = `name: captured
duration: until_done
topology: {star: {hosts: 4, rate: 100Gbps}}
nic: {path_mtu: 1024}
traffic:
  - incast: {receiver: h0, senders: 3, message: 50KB, repeat: 2}
  - incast: {receiver: h1, senders: 2, message: 3KB, verb: send}
`

// A run is captured, the capture is read, and what it tells is played again as
// a scenario of its own: the same messages in all three.
func TestCaptureReadAndReplay(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("s.yaml", []byte(captured), 0o666))
	code, _, stderr := realCommand("run", "s.yaml", "--out", "run", "--pcap", "--no-report", "--quiet")
	require.Equal(t, exitOK, code, stderr)
	code, stdout, stderr := realCommand("pcap", "run/capture.pcapng", "--out", "read", "--to-scenario", "replay.yaml")
	require.Equal(t, exitOK, code, stderr)
	for _, want := range []string{"RoCEv2", "0 invalid", "2 WRITE", "1 SEND", "2 of 2", "and all held", "read/report/index.html"} {
		assert.Contains(t, stdout, want)
	}
	page, err := os.ReadFile("read/report/index.html")
	require.NoError(t, err)
	for _, want := range []string{"What was captured", "Rules of transport", "of traffic among 4 hosts"} {
		assert.Contains(t, string(page), want)
	}
	code, _, stderr = realCommand("run", "replay.yaml", "--out", "again", "--no-report", "--quiet")
	require.Equal(t, exitOK, code, stderr)

	first, err := metric.Load("run")
	require.NoError(t, err)
	second, err := metric.Load("read")
	require.NoError(t, err)
	third, err := metric.Load("again")
	require.NoError(t, err)
	assert.Equal(t, trace.ModeCapture, second.Run.Mode)
	for _, m := range []*metric.Metrics{second, third} {
		assert.Equal(t, first.Flows.Total, m.Flows.Total)
		assert.Equal(t, first.Flows.Completed, m.Flows.Completed)
		assert.Equal(t, first.Flows.Bytes, m.Flows.Bytes)
	}
	assert.Nil(t, second.Queue.Max, "a capture does not tell queues")
	assert.Nil(t, second.PFC.Xoff, "no pause was captured, which is not that there was none")
	require.NotNil(t, second.ICRC.Valid)
	assert.Positive(t, *second.ICRC.Valid)
	assert.EqualValues(t, *first.Packets.Sent, *second.Packets.Sent)
}

func TestPcapOfWhatIsNone(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("text", []byte("this is no capture at all"), 0o666))
	require.NoError(t, os.WriteFile("empty", nil, 0o666))
	require.NoError(t, os.WriteFile("head", []byte("\xd4\xc3\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x01\x00\x00\x00"), 0o666))
	for args, want := range map[string]string{
		"pcap":                          "FILE is missing",
		"pcap absent":                   "absent",
		"pcap .":                        "a directory",
		"pcap text":                     "text: neither pcap nor pcapng",
		"pcap empty":                    "empty: the file is empty",
		"pcap head":                     "holds no packet",
		"pcap head text":                "text: neither pcap nor pcapng",
		"pcap head --rate 100":          "--rate: \"100\" has no unit",
		"pcap head --cnp-interval soon": "--cnp-interval",
	} {
		code, stdout, stderr := realCommand(strings.Fields(args)...)
		assert.Equal(t, exitInput, code, "%s: %s", args, stderr)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, want)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		assert.NoDirExists(t, "runs")
	}
}

// Any flag of a capture asks for one; a wrong one leaves nothing.
func TestFlagsOfCaptures(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("s.yaml", []byte(captured), 0o666))
	for args, want := range map[string]string{
		"--pcap-at nowhere":       "want host, switch or link",
		"--pcap-at host:h7":       "no host of that name: the topology has [h0 h1 h2 h3]",
		"--pcap-snaplen 10":       "want 0 (whole frames) or 160 to 65536 bytes",
		"--pcap-max-size 10":      "has no unit",
		"--pcap-max-size 0B":      "want more than nothing",
		"--pcap --pcap-snaplen x": "want a whole number",
	} {
		for _, command := range []string{"run", "check"} {
			code, _, stderr := realCommand(append([]string{command, "s.yaml"}, strings.Fields(args)...)...)
			assert.Equal(t, exitInput, code, args)
			assert.Contains(t, stderr, want, args)
		}
		assert.NoDirExists(t, "runs")
	}
	code, stdout, stderr := realCommand("check", "s.yaml", "--pcap-at", "switch")
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "capture.pcapng")
	code, _, stderr = realCommand("run", "s.yaml", "--pcap-at", "link:h0-*", "--out", "run", "-q", "--no-report")
	assert.Equal(t, exitOK, code, stderr)
	assert.FileExists(t, "run/capture.pcapng")
}
