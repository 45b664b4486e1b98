package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testing runs `rdmasim test` with the product itself.
func runTest(t *testing.T, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = execute(t.Context(), quietApp(&out, &errs), append([]string{"test"}, args...))
	return code, out.String(), errs.String()
}

// Every scenario of the library passes, and where what it is about is taken
// away an expectation fails. A short test takes a few of them.
func TestLibraryTellsThePhenomenon(t *testing.T) {
	args := []string{"--without"}
	if testing.Short() {
		args = append(args, "--short", "--filter", "alpha|cnp|mtu|pause|rnr|wrong")
	}
	code, out, errs := runTest(t, args...)
	assert.Equal(t, exitOK, code, out+errs)
	assert.Contains(t, out, "expectation fails, as it should")
}

const (
	passing = "topology: {star: {hosts: 2}}\ntraffic: [{incast: {receiver: h0, senders: [h1], message: 10KB}}]\n"
	slow    = "topology: {star: {hosts: 9}}\nduration: 10s\nseries: {interval: 0s}\ntraffic: [{incast: {senders: 8, repeat: forever}}]\nexpect: [pfc.xoff == 0]\n"
)

func TestVerdicts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("a/good.yaml", passing+"expect: [flows.completed == 1]\n")
	write("a/bad.yml", passing+"expect: [flows.completed == 2, pfc.xoff == 0, flows.bytes < 1KB]\n")
	write("a/idle.yaml", passing+"expect: [flows.completed == 1]\nfaults: [{mtu: {link: \"*\", mtu: 9000B}}]\n")
	write("a/vain.yaml", passing+"expect: [flows.completed == 1]\nfaults: [{delay: {link: \"*\", delay: 1us}}]\n")
	write("a/none.yaml", passing)
	write("a/long.yaml", passing+"expect: [flows.completed == 1]\nlong: true\n")
	write("a/notes.txt", "no scenario")
	junit := filepath.Join(dir, "j.xml")
	code, out, errs := runTest(t, filepath.Join(dir, "a"), "--short", "--without", "--junit", junit, "--keep", filepath.Join(dir, "runs"))
	assert.Equal(t, exitExpect, code, errs)
	assert.Equal(t, `FAIL  bad             flows.completed == 2: flows.completed is 1
                      flows.bytes < 1KB: flows.bytes is 10 KB
PASS  good            1 expectation holds
FAIL  idle            fault mtu touched no packet
FAIL  idle (without)  all expectations hold with faults=[] too: they do not tell the phenomenon from its absence
SKIP  long            takes long
SKIP  none            expects nothing
PASS  vain            2 expectations hold
FAIL  vain (without)  all expectations hold with faults=[] too: they do not tell the phenomenon from its absence
2 passed, 4 failed, 2 left out
`, out)
	text, err := os.ReadFile(junit)
	require.NoError(t, err)
	var suites struct {
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	require.NoError(t, xml.Unmarshal(text, &suites))
	assert.Equal(t, 5, suites.Failures)
	assert.Equal(t, 2, suites.Skipped)
	kept, err := filepath.Glob(filepath.Join(dir, "runs", "*", "metrics.json"))
	require.NoError(t, err)
	assert.Len(t, kept, 6, "of every run")

	code, out, _ = runTest(t, filepath.Join(dir, "a", "good.yaml"), "--json")
	assert.Equal(t, exitOK, code)
	var list []tested
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Len(t, list, 1)
	assert.Equal(t, verdictPass, list[0].Verdict)
	assert.True(t, list[0].Expect[0].OK)
}

func TestTestRefusesAndGivesUp(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte(passing+"expect: [flows.complete == 1]\n"), 0o600))
	long := filepath.Join(dir, "slow.yaml")
	require.NoError(t, os.WriteFile(long, []byte(slow), 0o600))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{bad, "incast-8to1"}, exitInput, "bad.yaml:3:10: expect.0: flows.complete == 1: there is no figure"},
		{[]string{"nothing"}, exitInput, "neither a file nor a scenario of the library"},
		{[]string{"--filter", "("}, exitInput, "--filter ("},
		{[]string{"--filter", "no such thing"}, exitInput, "there is no scenario to test"},
		{[]string{"--jobs", "-1"}, exitInput, "--jobs -1"},
		{[]string{"--timeout", "0s", bad}, exitInput, "--timeout 0s"},
		{[]string{long, "--timeout", "50ms"}, exitExpect, "takes longer than 50ms"},
		{[]string{t.TempDir()}, exitInput, "no *.yaml or *.yml is in it"},
	} {
		code, out, errs := runTest(t, c.args...)
		assert.Equal(t, c.code, code, "%v", c.args)
		assert.Contains(t, out+errs, c.says, "%v", c.args)
	}
}
