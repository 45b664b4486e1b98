package scenarios_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/switchconf"
	"rdmasim/scenarios"
	"rdmasim/sim"
)

const sonicDir = "../fabric/switchconf/testdata"

func sonicFile(t testing.TB, name string) switchconf.File {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return switchconf.File{Name: filepath.Base(name), Data: data}
}

// around is a small scenario around a switch.
const around = `
topology: {star: {hosts: 4, rate: 100Gbps}}
traffic: [incast: {senders: 3, receiver: h0, message: 64KB}]
series: {interval: 0s}
`

// imported returns an import, and the scenario that its YAML makes.
func imported(t *testing.T, files ...switchconf.File) (*scenarios.SonicImport, *scenarios.Spec) {
	t.Helper()
	im, err := scenarios.ImportSonic(files, switchconf.Options{})
	require.NoError(t, err)
	text, err := im.YAML()
	require.NoError(t, err)
	spec, err := scenarios.Parse("imported.yaml", append(text, around...))
	require.NoError(t, err, "%s", text)
	return im, spec
}

// same compares two switches by what is spelt out of them.
func same(t *testing.T, want, got scenarios.SwitchSpec) {
	t.Helper()
	spell := func(w scenarios.SwitchSpec) string {
		s := scenarios.Defaults()
		s.Switch = w
		s.Switch.Sonic = scenarios.SonicSpec{}
		s.Topology, _ = scenarios.NewMember("topology", "star", "")
		text, _, err := scenarios.Resolved(&s)
		require.NoError(t, err)
		return string(text)
	}
	assert.Equal(t, spell(want), spell(got))
}

func TestSonicYAMLIsTheSwitch(t *testing.T) {
	names, err := filepath.Glob(sonicDir + "/*.json")
	require.NoError(t, err)
	reference, _ := filepath.Glob("../../shared/reference/data/sonic/*.json") // beside some checkouts
	require.NotEmpty(t, names)
	for _, n := range append(names, reference...) {
		t.Run(filepath.Base(n), func(t *testing.T) {
			im, spec := imported(t, sonicFile(t, n))
			same(t, im.Switch, spec.Switch)
			for _, f := range im.Fields {
				assert.NotEmpty(t, f.Text, f.Path)
				assert.Contains(t, []string{"used", "defaulted", "not expressed", "overridden", "unrelated"}, f.Status, "%s: %s", f.Path, f.Text)
			}
		})
	}
}

func TestSonicMapping(t *testing.T) {
	im, _ := imported(t, sonicFile(t, sonicDir+"/config_db.json"))
	w := im.Switch
	assert.Equal(t, []string{"Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"}, im.Ports)
	assert.Equal(t, 208*sim.Byte, w.Buffer.Cell)
	assert.Equal(t, []int{3, 4}, w.PFC.Priorities)
	assert.Equal(t, 3, w.DSCPMap[26])
	assert.Equal(t, map[int]int{1: 0, 2: 0, 5: 0, 6: 0}, w.TCToGroup, "only what does not keep its number")
	assert.Equal(t, []int{6}, w.Scheduler.Strict)
	require.Len(t, w.Buffer.Groups, 3)
	g := w.Buffer.Groups[1]
	assert.Equal(t, "0-2", g.Ports)
	assert.Equal(t, []int{3, 4}, g.Groups)
	assert.Equal(t, sim.Bytes(1248), g.Reserve, "Tomahawk: size is a guaranteed minimum")
	assert.Equal(t, sim.Bytes(177632), g.Headroom.Value)
	assert.Equal(t, "broadcom", w.Watchdog.Name)
	require.Len(t, w.WRED, 1)
	assert.Equal(t, "all", w.WRED[0].ECN)
}

// NVIDIA: size holds xon and xoff, unless headroom is shared.
func TestSonicSizeByVendor(t *testing.T) {
	config := func(hwsku, pool, size string) switchconf.File {
		return switchconf.File{Name: "x.json", Data: fmt.Appendf(nil, `{"DEVICE_METADATA": {"localhost": {"hwsku": "%s"}},
			"BUFFER_POOL": {"p": {"type": "both", "mode": "dynamic", "size": "10000000"%s}},
			"BUFFER_PROFILE": {"f": {"pool": "p", "size": "%s", "xon": "19456", "xoff": "30720", "dynamic_th": "0"}},
			"BUFFER_PG": {"Ethernet0|3": {"profile": "f"}}}`, hwsku, pool, size)}
	}
	for _, c := range []struct {
		hwsku, pool, size string
		reserve           sim.Bytes
	}{
		{"ACS-MSN2700", "", "50176", 19456},
		{"ACS-MSN2700", `, "xoff": "1000000"`, "19456", 19456},
		{"Arista-7060CX-32S", "", "1248", 1248},
		{"Arista-7060CX-32S", "", "50176", 50176},
		{"unknown", "", "50176", 19456},
	} {
		im, _ := imported(t, config(c.hwsku, c.pool, c.size))
		g := im.Switch.Buffer.Groups[0]
		assert.Equal(t, c.reserve, g.Reserve, "%v", c)
		assert.Equal(t, sim.Bytes(30720), g.Headroom.Value, "%v", c)
	}
}

func TestSonicKeyOfAScenario(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(sonicDir + "/config_db.json")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config_db.json"), data, 0o666))
	parse := func(sw string) (*scenarios.Spec, error) {
		return scenarios.Parse(filepath.Join(dir, "s.yaml"), []byte("switch: "+sw+around))
	}
	spec, err := parse(`{latency: 1us, sonic: {files: [config_db.json]}, pfc: {priorities: [3]}}`)
	require.NoError(t, err)
	assert.Equal(t, []int{3}, spec.Switch.PFC.Priorities, "keys beside it override the files")
	assert.Equal(t, 208*sim.Byte, spec.Switch.Buffer.Cell)
	assert.Equal(t, sim.Microsecond, spec.Switch.Latency)
	assert.Len(t, spec.Switch.Sonic.SHA256, 64)

	// What is resolved needs the files no more.
	text, _, err := scenarios.Resolved(spec)
	require.NoError(t, err)
	assert.Contains(t, string(text), spec.Switch.Sonic.SHA256)
	again, err := scenarios.Parse(filepath.Join(t.TempDir(), "scenario.yaml"), text)
	require.NoError(t, err)
	assert.Equal(t, scenarios.Hash(spec), scenarios.Hash(again))

	// Another content, another hash, though the switch is the same.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config_db.json"), append(data, '\n'), 0o666))
	other, err := parse(`{latency: 1us, sonic: {files: [config_db.json]}, pfc: {priorities: [3]}}`)
	require.NoError(t, err)
	assert.NotEqual(t, scenarios.Hash(spec), scenarios.Hash(other))

	for _, c := range []struct{ sw, want string }{
		{`{sonic: {}}`, "switch.sonic: want files: a list of 1 to 32 names"},
		{`{sonic: {files: [none.json]}}`, "s.yaml:1:26: switch.sonic.files.0: none.json: "},
		{`{sonic: {files: [.]}}`, "is a directory: want a regular file"},
		{`{sonic: {files: [config_db.json], platform: pdp11}}`, `switch.sonic.platform: pdp11: no ASIC is known for it`},
		{`{sonic: {files: [config_db.json], sha256: abc}}`, `switch.sonic.sha256: abc: want 64 hexadecimal digits`},
		{`{sonic: {files: [s.json]}}`, `s.json:1:11: the file ends where a name in quotes should stand`},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "s.json"), []byte(`{"PORT": {`), 0o666))
		_, err := parse(c.sw)
		require.Error(t, err, c.sw)
		assert.Contains(t, err.Error(), c.want)
		assert.NotContains(t, err.Error(), "\n")
	}
}

// The switch of a SONiC file carries traffic.
func TestSonicSwitchRuns(t *testing.T) {
	for _, name := range []string{"config_db.json", "nvidia.json", "appldb.json"} {
		_, spec := imported(t, sonicFile(t, filepath.Join(sonicDir, name)))
		dir := filepath.Join(t.TempDir(), strings.TrimSuffix(name, ".json"))
		_, err := scenarios.Run(context.Background(), spec, scenarios.Options{Out: dir})
		require.NoError(t, err, name)
	}
}

// Whatever a file of SONiC holds, importing it ends with a switch whose YAML
// is read or refused with one error, and lint finds something to say or not.
func FuzzSonic(f *testing.F) {
	names, _ := filepath.Glob(sonicDir + "/*.json")
	for _, n := range names {
		f.Add(sonicFile(f, n).Data, "")
	}
	f.Add([]byte(`{"QUEUE": {"a|19": {"scheduler": "x", "wred_profile": "y"}}, "BUFFER_POOL": {"p": {"type": "both", "mode": "static", "size": "1099511627776", "xoff": "9"}}}`), "spc4")
	f.Fuzz(func(t *testing.T, data []byte, platform string) {
		im, err := scenarios.ImportSonic([]switchconf.File{{Name: "x.json", Data: data}}, switchconf.Options{Platform: platform})
		if err != nil {
			return
		}
		text, err := im.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if spec, err := scenarios.Parse("imported.yaml", append(text, around...)); err == nil {
			scenarios.Lint(spec)
		}
		switchconf.Lint(im.Config, switchconf.LintContext{Files: true})
		for _, x := range im.Fields {
			if x.Text == "" || x.Status == "" || x.Status == "understood" {
				t.Fatalf("%q is not explained: %q", x.Path, x.Status)
			}
		}
	})
}

// ports: says which ports of the files the ports of the switch are, and export
// goes back to the same ones.
func TestSonicPorts(t *testing.T) {
	dir := t.TempDir()
	config := `{"DEVICE_METADATA": {"localhost": {"hwsku": "Arista-7060CX-32S"}},
 "PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": "100000"}, "Ethernet8": {"speed": "100000"}, "Ethernet12": {"speed": "100000"}},
 "CABLE_LENGTH": {"AZURE": {"Ethernet8": "40m", "Ethernet12": "300m"}},
 "BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "10875072", "xoff": "4194112"}},
 "WRED_PROFILE": {"A": {"wred_green_enable": "true", "ecn": "ecn_all", "green_min_threshold": "100000", "green_max_threshold": "200000", "green_drop_probability": "5"}},
 "QUEUE": {"Ethernet8|3": {"wred_profile": "A"}},
 "PORT_QOS_MAP": {"Ethernet8": {"pfc_enable": "3"}, "Ethernet12": {"pfc_enable": "3"}}}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config_db.json"), []byte(config), 0o666))
	parse := func(ports string) (*scenarios.Spec, error) {
		return scenarios.ParseSet(filepath.Join(dir, "s.yaml"), []byte("topology: {star: {hosts: 2, rate: 100Gbps, cable: 40m}}\ntraffic: [{incast: {receiver: h0}}]\nswitch: {sonic: {files: [config_db.json], "+ports+"}}\n"), nil)
	}
	headroom := func(s *scenarios.Spec) (list []string) {
		for _, g := range s.Switch.Buffer.Groups {
			list = append(list, g.Ports+" "+g.Headroom.Value.String())
		}
		return list
	}
	plain, err := parse("")
	require.NoError(t, err)
	assert.Equal(t, []string{"0 177.632KB", "1 268.736KB"}, headroom(plain))
	s, err := parse("ports: [Ethernet12, Ethernet8]")
	require.NoError(t, err)
	assert.Equal(t, []string{"0 268.736KB", "1 177.632KB"}, headroom(s))
	require.Len(t, s.Switch.WRED, 1)
	assert.Equal(t, "1", s.Switch.WRED[0].Ports)
	sw, _, err := scenarios.ExportSwitch(s, "", "")
	require.NoError(t, err)
	require.Len(t, sw.Ports, 2)
	assert.Equal(t, "Ethernet12", sw.Ports[0].Name)
	sw, _, err = scenarios.ExportSwitch(plain, "", "")
	require.NoError(t, err)
	assert.Equal(t, "Ethernet8", sw.Ports[0].Name, "ports that the files do not configure are no ports of the switch")
	for list, want := range map[string]string{"[Ethernet9]": "no such port", "[Ethernet8, Ethernet8]": "twice"} {
		_, err = parse("ports: " + list)
		require.ErrorContains(t, err, want)
	}
}

// Guaranteed and largest rates and WRR of SONiC are keys of the switch, and come
// back from export as they were.
func TestSonicSchedulers(t *testing.T) {
	text := `{"DEVICE_METADATA": {"localhost": {"hwsku": "Arista-7060CX-32S"}},
 "SCHEDULER": {"s.0": {"type": "WRR", "weight": "14"}, "s.1": {"type": "WRR", "weight": "15", "cir": "1250000000", "cbs": "8192", "pir": "6250000000", "pbs": "16384"},
   "s.2": {"type": "STRICT", "cir": "125000000", "meter_type": "bytes"}},
 "QUEUE": {"Ethernet0,Ethernet4|0": {"scheduler": "s.0"}, "Ethernet0,Ethernet4|3": {"scheduler": "s.1"}, "Ethernet0,Ethernet4|6": {"scheduler": "s.2"}}}`
	im, err := scenarios.ImportSonic([]switchconf.File{{Name: "x.json", Data: []byte(text)}}, switchconf.Options{})
	require.NoError(t, err)
	c := im.Switch.Scheduler
	assert.Equal(t, map[int]scenarios.ShapeSpec{3: {Rate: 10 * sim.Gbps, Burst: 8192}, 6: {Rate: sim.Gbps}}, c.Floor)
	assert.Equal(t, map[int]scenarios.ShapeSpec{3: {Rate: 50 * sim.Gbps, Burst: 16384}}, c.Shape)
	assert.Zero(t, c.Quantum)
	assert.Equal(t, map[int]int{0: 14, 3: 15}, c.Weights)
	for _, f := range im.Fields {
		if f.Table == "SCHEDULER" {
			assert.Equal(t, "used", f.Status, "%s %s", f.Key, f.Field)
		}
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.json"), []byte(text), 0o666))
	spec, err := scenarios.ParseSet(filepath.Join(dir, "s.yaml"), []byte("topology: {star: {hosts: 2, rate: 100Gbps}}\ntraffic: [{incast: {receiver: h0}}]\nswitch: {sonic: {files: [x.json]}}\n"), nil)
	require.NoError(t, err)
	sw, _, err := scenarios.ExportSwitch(spec, "", "")
	require.NoError(t, err)
	s := sw.Scheduler(sw.Ports[0].Queue(3).Scheduler.V)
	require.NotNil(t, s)
	assert.Equal(t, switchconf.WRR, s.Type.V)
	assert.Equal(t, []any{15, 10 * sim.Gbps, sim.Bytes(8192), 50 * sim.Gbps, sim.Bytes(16384)}, []any{s.Weight.V, s.Min.V, s.MinBurst.V, s.Max.V, s.MaxBurst.V})
}

// Each number of pg_profile_lookup.ini is accounted for: used where a priority
// group is bound to its row, not expressed elsewhere; alone, the table is read
// and says nothing about a switch.
func TestSonicLookupIsAccountedFor(t *testing.T) {
	ini := switchconf.File{Name: "pg_profile_lookup.ini", Data: []byte("# speed cable size xon xoff threshold xon_offset\n100000 40m 1248 2288 177632 -3 2288\n100000 300m 1248 2288 268736 -3 2288\n40000 5m 1248 2288 66560 -3\n")}
	json := switchconf.File{Name: "config_db.json", Data: []byte(`{"PORT": {"Ethernet0": {"speed": "100000"}}, "CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}},
 "BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "10875072"}}, "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3"}}}`)}
	status := func(files ...switchconf.File) map[string]int {
		im, err := scenarios.ImportSonic(files, switchconf.Options{})
		require.NoError(t, err)
		out := map[string]int{}
		for _, f := range im.Fields {
			if f.File == ini.Name {
				out[f.Key+" "+f.Status]++
				assert.NotEmpty(t, f.Text)
				assert.Positive(t, f.Line)
			}
		}
		return out
	}
	assert.Equal(t, map[string]int{"100000 40m used": 5, "100000 300m not expressed": 5, "40000 5m not expressed": 4}, status(ini, json))
	assert.Equal(t, map[string]int{"100000 40m not expressed": 5, "100000 300m not expressed": 5, "40000 5m not expressed": 4}, status(ini))
	other := switchconf.File{Name: "other.ini", Data: []byte("100000 40m 0 0 90000 0 0\n")}
	assert.Equal(t, map[string]int{"100000 40m overridden": 5, "100000 300m overridden": 5, "40000 5m overridden": 4}, status(ini, other, json))
}

// Where the chip is not known, headrooms that are whole cells of one kind say
// which it may be.
func TestSonicCellHint(t *testing.T) {
	hint := func(xoff ...string) string {
		var profiles []string
		for i, x := range xoff {
			profiles = append(profiles, fmt.Sprintf(`"p%d": {"pool": "ingress_lossless_pool", "size": "0", "xoff": %q, "dynamic_th": "0"}`, i, x))
		}
		im, err := scenarios.ImportSonic([]switchconf.File{{Name: "x.json", Data: []byte(`{"BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "10875072"}}, "BUFFER_PROFILE": {` + strings.Join(profiles, ", ") + `}}`)}}, switchconf.Options{})
		require.NoError(t, err)
		for _, f := range im.Fields {
			if len(f.Keys) > 0 && f.Keys[0] == "switch.buffer.cell" {
				_, after, _ := strings.Cut(f.Text, "give --platform")
				return after
			}
		}
		return "?"
	}
	assert.Equal(t, "; all xoff are whole cells of 208B, as those of td2, th, th2 have", hint("177632", "71552"))
	assert.Equal(t, "; all xoff are whole cells of 254B, as those of th3, th5, th6 have", hint("74422", "201930"))
	assert.Empty(t, hint("177632", "74422"), "of no chip")
	assert.Empty(t, hint("0"))
	assert.Empty(t, hint("6656"), "208 x 32 and 256 x 26: of several")
}
