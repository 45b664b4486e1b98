package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// crowd is a scenario in which one fault of three is to blame.
const crowd = `# Many things at once.
duration: 800us
topology: {star: {hosts: 8, rate: 100Gbps, cable: 30m}}
switch:
  buffer: {size: 8MB, alpha: 1/8}
  ecn: {3: {kmin: 100KB, kmax: 400KB, pmax: 20%}}
nic: {path_mtu: 4096, ack_every: 8}
nics:
  - {match: h7, ack_every: 4}
traffic:
  - incast: {receiver: h0, senders: [h1, h2, h3, h4], message: 50KB, repeat: forever}
  - permutation: {message: 20KB, repeat: 3}
  - incast: {receiver: h5, senders: [h6], message: 10KB, repeat: 5}
faults:
  - delay: {link: h7-sw0, delay: 1us}
  - loss: {link: h6>sw0, only: data, every: 3}
  - duplicate: {link: h2>sw0, probability: 1%}
expect:
  - flows.failed == 0
  - packets.dropped.fault == 0
`

func runShrink(t *testing.T, args ...string) (int, string) {
	var out, errs bytes.Buffer
	code := execute(t.Context(), quietApp(&out, &errs), append([]string{"shrink"}, args...))
	return code, out.String() + errs.String()
}

func TestShrink(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("crowd.yaml", []byte(crowd), 0o600))
	code, text := runShrink(t, "crowd.yaml")
	require.Equal(t, exitOK, code, text)
	assert.Contains(t, text, "packets.dropped.fault == 0 still fails in crowd-shrunk.yaml")
	small, err := os.ReadFile("crowd-shrunk.yaml")
	require.NoError(t, err)
	_, body, ok := strings.Cut(string(small), "\nduration:")
	require.True(t, ok, string(small))
	assert.Contains(t, body, "loss:")
	for _, gone := range []string{"delay: 1us", "duplicate", "nics", "ecn", "h1", "kmin"} {
		assert.NotContains(t, body, gone, body)
	}
	assert.Equal(t, 1, strings.Count(body, "\n  - "+"loss")+strings.Count(body, "duplicate"))
	same, err := os.ReadFile("crowd.yaml")
	require.NoError(t, err)
	assert.Equal(t, crowd, string(same), "the input is as it was")

	code, text = runShrink(t, "crowd.yaml")
	assert.Equal(t, exitInput, code)
	assert.Contains(t, text, "crowd-shrunk.yaml: it exists")
	code, text = runShrink(t, "crowd.yaml", "--out", "again.yaml")
	require.Equal(t, exitOK, code, text)
	again, err := os.ReadFile("again.yaml")
	require.NoError(t, err)
	assert.Equal(t, string(small), string(again), "the same scenario gives the same result")

	// What came out fails by itself, and does so for the same reason.
	var out, errs bytes.Buffer
	code = execute(t.Context(), quietApp(&out, &errs), []string{"test", "again.yaml"})
	assert.Equal(t, exitExpect, code)
	assert.Contains(t, out.String(), "packets.dropped.fault == 0: packets.dropped.fault is")
}

func TestShrinkRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("crowd.yaml", []byte(crowd), 0o600))
	for says, args := range map[string][]string{
		"nothing fails: flows.failed == 0 holds":                       {"crowd.yaml", "--expect", "0"},
		"the scenario has 2 expectations":                              {"crowd.yaml", "--expect", "7"},
		"there is no figure":                                           {"crowd.yaml", "--expect", "flows.fail == 0"},
		"--out crowd.yaml: it exists":                                  {"crowd.yaml", "--out", "crowd.yaml"},
		"there is no directory nowhere":                                {"crowd.yaml", "--out", "nowhere/x.yaml"},
		"--runs 1":                                                     {"crowd.yaml", "--runs", "1"},
		"neither a file nor a scenario of the library":                 {"crowds"},
		"the scenario expects nothing: give an expectation that fails": {"crowd.yaml", "--set", "expect=[]"},
	} {
		code, text := runShrink(t, args...)
		assert.Equal(t, exitInput, code, "%v", args)
		assert.Contains(t, text, says)
		_, err := os.Stat("crowd-shrunk.yaml")
		assert.ErrorIs(t, err, os.ErrNotExist, "nothing is written")
	}
}
