package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHeadroomCommand(t *testing.T) {
	code, out, _ := realCommand("headroom", "--asic", "SPC1", "--speed", "100G", "--cable", "5m")
	assert.Equal(t, exitOK, code)
	for _, want := range []string{"xoff        30720 B", "xon         19456 B", "size        50176 B", "peer response  3891.2 B", "shipped table of NVIDIA SN2700"} {
		assert.Contains(t, out, want)
	}
	code, out, _ = realCommand("headroom", "--asic", "spc3", "--speed", "400Gbps", "--cable", "40m", "--json")
	assert.Equal(t, exitOK, code)
	var j headroomJSON
	require.NoError(t, json.Unmarshal([]byte(out), &j))
	assert.Equal(t, [3]int64{77824, 37888, 124928}, [3]int64{j.Xoff, j.Xon, j.Size})
	assert.Equal(t, 40.0, j.Cable)
}

func TestHeadroomCommandRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"":                                          "--asic is missing: want one of generic, j2",
		"--asic spc4":                               "--speed is missing: want for example --speed 400G",
		"--asic spc4 --speed 400G":                  "--cable is missing",
		"--asic nope --speed 1G --cable 1m":         `unknown ASIC "nope": want one of`,
		"--asic spc4 --speed 1 --cable 1m":          "has no unit",
		"--asic spc4 --speed 1G --cable -1m":        "must not be negative",
		"--asic spc4 --speed 1G --cable 9999km":     "cable 9999km: want 0m to 120km",
		"--asic spc4 --speed 7G --cable 1m":         "no such ports",
		"--asic spc4 --speed 1G --cable 1m --mtu 0": `--mtu: "0": want a size above 0`,
		"--asic spc4 --speed 1G --cable 1m --mtu 99999999999999999999": "--mtu",
		"--asic spc4 --speed 1G --cable 1m --small-packets 101%":       "want 0% to 100%",
		"--asic spc4 --speed 1G --cable 1m --rule best":                `unknown headroom rule "best"`,
		"--asic spc4 --speed 1G --cable 1m more":                       "more",
	} {
		code, out, errs := realCommand(append([]string{"headroom"}, strings.Fields(line)...)...)
		assert.Equal(t, exitInput, code, line)
		assert.Empty(t, out, line)
		assert.Contains(t, errs, want, line)
		assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
	}
}
