package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/switchconf"
	"rdmasim/scenarios"
)

// real runs one command line on the real product in the working directory.
func real(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = execute(context.Background(), quietApp(&out, &err), args)
	return code, out.String(), err.String()
}

// configDB is a copy of a switch of the tests of switchconf.
func configDB(t *testing.T) {
	t.Helper()
	data, err := os.ReadFile("../../fabric/switchconf/testdata/config_db.json")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("config_db.json", data, 0o666))
}

func TestImportSonic(t *testing.T) {
	configDB(t)
	code, out, errs := real("import", "sonic", "config_db.json")
	require.Zero(t, code, errs)
	assert.Contains(t, out, "# Fields: ")
	assert.Contains(t, out, "hostname = tor1")

	// What is printed is a scenario's switch, comments and all.
	rest := "\ntopology: {star: {hosts: 2, rate: 100Gbps}}\ntraffic: [incast: {senders: 1, receiver: h0, message: 1KB}]\n"
	spec, err := scenarios.Parse("s.yaml", []byte(out+rest))
	require.NoError(t, err)
	assert.Equal(t, []int{3, 4}, spec.Switch.PFC.Priorities)

	// With --out the explanation is what is printed, and the file has the rest.
	code, said, _ := real("import", "sonic", "config_db.json", "--out", "switch.yaml")
	require.Zero(t, code)
	assert.True(t, strings.HasPrefix(said, "Ports, in the order"), said)
	text, err := os.ReadFile("switch.yaml")
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(out, string(text)))
}

func TestImportSonicJSON(t *testing.T) {
	configDB(t)
	code, out, errs := real("import", "sonic", "config_db.json", "--json", "--platform", "spc1")
	require.Zero(t, code, errs)
	var v struct {
		Switch map[string]any
		Ports  []string
		Fields []scenarios.SonicField
	}
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	assert.Contains(t, v.Switch["watchdog"], "nvidia", "--platform decides the flavour")
	assert.Len(t, v.Ports, 4)
	lines := 0
	for _, f := range v.Fields {
		if f.Line > 0 {
			lines++
		}
	}
	assert.Greater(t, lines, 100)
}

func TestImportSonicErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("bad.json", []byte("{\"PORT\": {}\n"), 0o666))
	require.NoError(t, os.WriteFile("bad.ini", []byte("100000 40m 1\n"), 0o666))
	require.NoError(t, os.WriteFile("empty.json", []byte("{}"), 0o666))
	for _, c := range []struct{ line, want string }{
		{"import sonic", "import sonic: FILE is missing"},
		{"import sonic none.json", "none.json: no such file"},
		{"import sonic .", "directory"},
		{"import sonic bad.json", "bad.json:2:1: the file ends where a comma or a closing brace should stand"},
		{"import sonic empty.json bad.ini", "bad.ini:1:1: \"100000 40m 1\": 3 words"},
		{"import sonic bad.ini", "bad.ini:1:1"},
		{"import sonic empty.json --platform pdp11", "platform: \"pdp11\": no ASIC is known for it"},
		{"import sonic empty.json --out no/such/dir", "no/such/dir"},
		{"check bad.json", "bad.json:2:1"},
		{"check", "SCENARIO is missing"},
		{"check a.yaml b.yaml", "one argument too many"},
	} {
		code, _, errs := real(strings.Fields(c.line)...)
		assert.Equal(t, 2, code, c.line)
		assert.Contains(t, errs, c.want, c.line)
		assert.Equal(t, 1, strings.Count(errs, "\n"), "%s: %s", c.line, errs)
	}
}

func TestCheckLints(t *testing.T) {
	configDB(t)
	scenario := "topology: {star: {hosts: 3, rate: 100Gbps}}\nswitch: {buffer: {headroom: 0B}}\nnic: {congestion: none}\ntraffic: [incast: {senders: 2, receiver: h0, message: 1KB}]\n"
	require.NoError(t, os.WriteFile("s.yaml", []byte(scenario), 0o666))

	code, out, _ := real("check", "s.yaml", "--static")
	assert.Zero(t, code, "a finding is no bad input")
	assert.Contains(t, out, "error pfc-without-headroom\n  where  s.yaml:2:29: switch.buffer.headroom (sw0:0, sw0:1, sw0:2)\n")
	code, _, errs := real("check", "s.yaml", "--static", "--strict")
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "lint: 1 error")

	var v checkJSON
	code, out, _ = real("check", "s.yaml", "--json")
	require.Zero(t, code)
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	require.NotEmpty(t, v.Findings)
	f := v.Findings[0]
	assert.Equal(t, "pfc-without-headroom error s.yaml 2", strings.Join([]string{f.Rule, f.Severity, f.File, "2"}, " "))
	assert.NotEmpty(t, f.Why+f.Set+f.Scenario)
	assert.Equal(t, 3, v.Hosts)

	code, out, _ = real("check", "config_db.json", "--strict")
	assert.Equal(t, 0, code, "the switch of the tests has remarks alone: %s", out)
	code, out, _ = real("check", "config_db.json", "--json")
	require.Zero(t, code)
	v = checkJSON{}
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	assert.Equal(t, []string{"config_db.json"}, v.Files)

	code, out, _ = real("check", "--rules", "--json")
	require.Zero(t, code)
	var rules []ruleJSON
	require.NoError(t, json.Unmarshal([]byte(out), &rules))
	assert.Len(t, rules, len(switchconf.AllRules()))
}
