package scenarios

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/metric"
)

// A Lumina file runs as it is: every event meets its packet once per message.
func TestLumina(t *testing.T) {
	s, err := Load("testdata/lumina.yml", nil)
	require.NoError(t, err)
	require.Equal(t, "lumina", s.Name)
	run, _ := runOn(t, s, 1)
	m, err := metric.Compute(run)
	require.NoError(t, err)
	require.Len(t, m.Faults, 3)
	for _, f := range m.Faults {
		assert.Equal(t, int64(3), f.Packets, "%s: once in each of three messages", f.Name)
	}
	assert.Equal(t, 6, m.Completions["success"])
	assert.Equal(t, int64(9), *m.Packets.Dropped.Fault)
}

func TestLuminaMistakes(t *testing.T) {
	good, err := os.ReadFile("testdata/lumina.yml")
	require.NoError(t, err)
	for _, c := range []struct{ old, new, want string }{
		{"qpn: 1", "qpn: 2", "l.yml:26:13: traffic.data-pkt-events.2.qpn: 2: want a whole number from 0 to 1"},
		{"psn: 9", "psn: 10", "l.yml:26:21: traffic.data-pkt-events.2.psn: 10: want a whole number from 0 to 9"},
		{"type: bit-error", "type: bits", "l.yml:26:30: traffic.data-pkt-events.2.type: bits: want one of drop, ecn, bit-error"},
		{"mtu: 1024", "mtu: 1000", "l.yml:16:8: traffic.mtu: 1000: want one of 256"},
		{"message-size: 10240", "message-sizes: 1", "l.yml:12:1: traffic.message-size: is missing"},
		{"num-repeats: 1", "switch: {port-speed: 7G}", "l.yml:3:22: switch.port-speed: 7G: want 10G"},
		{"num-qps: 2", "num-qps: 2,x", "l.yml:14:12: traffic.num-qps: 2,x: want a number of queue pairs"},
		{"rdma-verb: write", "rdma-verb: push", "l.yml:13:14: traffic.rdma-verb: push: want write, send or read"},
		{"num-msgs-per-qp: 3", "num-msgs-per-qp: 1000000", "l.yml:24:7: traffic.data-pkt-events.0: the events name 1000000 packets"},
	} {
		text := strings.Replace(string(good), c.old, c.new, 1)
		require.NotEqual(t, string(good), text)
		_, _, ok, err := FromLumina("l.yml", []byte(text))
		assert.True(t, ok)
		if assert.Error(t, err, c.new) {
			assert.True(t, strings.HasPrefix(err.Error(), c.want), "want %s\ngot  %s", c.want, err)
		}
	}
	_, _, ok, err := FromLumina("s.yaml", []byte(small))
	assert.False(t, ok)
	assert.NoError(t, err)
}

// An event marks its packet whatever its ECN field was; a responder that is told
// to answers with a CNP, and a requester that is told not to react goes on.
func TestLuminaMarks(t *testing.T) {
	const text = `
switch: {port-speed: 40G}
requester: {roce-parameters: {dcqcn-rp-enable: %s, adaptive-retrans: yes, slow-restart: True}}
responder: {roce-parameters: {dcqcn-np-enable: %s, min-time-between-cnps: 0}}
traffic: {num-msgs-per-qp: 1, message-size: 1024000, mtu: 1024, listen-port: 13579, data-pkt-events: [{qpn: 0, psn: 4, type: ecn, iter: 1}, {qpn: 0, psn: 5, type: ecn}]}
`
	fct := map[string]float64{}
	for _, c := range []struct {
		rp, np string
		cnps   int64
	}{{"True", "True", 2}, {"False", "True", 2}, {"True", "False", 0}, {"False", "False", 0}} {
		made, left, ok, err := FromLumina("l.yml", fmt.Appendf(nil, text, c.rp, c.np))
		require.NoError(t, err)
		require.True(t, ok)
		require.Len(t, left, 2)
		s := parsed(t, string(made))
		require.Equal(t, "adaptive", s.NIC.TimeoutPolicy)
		run, _ := runOn(t, s, 1)
		m, err := metric.Compute(run)
		require.NoError(t, err)
		for _, f := range m.Faults {
			assert.Equal(t, int64(1), f.Packets, "%+v: %s", c, f.Name)
		}
		assert.Equal(t, c.cnps, *m.CNP.Sent, "%+v", c)
		fct[c.rp+c.np] = *m.Flows.FCT.Max
	}
	require.Equal(t, fct["FalseFalse"], fct["TrueFalse"])
	require.InEpsilon(t, fct["FalseFalse"], fct["FalseTrue"], 0.01, "the requester does not slow down")
	require.Greater(t, fct["TrueTrue"], 1.2*fct["FalseTrue"], "it does")
}

// FuzzLumina looks for a file that brings the reader down, or makes a scenario
// that cannot be read.
func FuzzLumina(f *testing.F) {
	good, err := os.ReadFile("testdata/lumina.yml")
	require.NoError(f, err)
	f.Add(good)
	f.Add([]byte("traffic: {num-msgs-per-qp: 2, message-size: 5000, data-pkt-events: [{qpn: 0, psn: all, type: ecn}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, _, ok, err := FromLumina("l.yml", data)
		if err != nil || !ok {
			return
		}
		if _, err := Parse("l.yaml", text); err != nil {
			require.NotContains(t, err.Error(), "not YAML")
		}
	})
}

// TestLuminaLeavesNothingOutInSilence: keys of traffic that the scenario is not
// made of are named, those that nobody knows too.
func TestLuminaLeavesNothingOutInSilence(t *testing.T) {
	const text = "traffic: {num-msgs-per-qp: 1, message-size: 1024, num-qps: 1, multi-gid: true, dscp-list: [26], num-qp: 3}\n"
	_, left, ok, err := FromLumina("l.yml", []byte(text))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []string{"multi-gid: every host has one address", "dscp-list: all queue pairs have the DSCP of their NIC",
		"num-qp: not a key of Lumina that is known here"}, left)
}
