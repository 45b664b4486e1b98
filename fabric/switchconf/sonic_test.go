package switchconf_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/switchconf"
	"rdmasim/sim"
)

func file(t testing.TB, name string) switchconf.File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return switchconf.File{Name: name, Data: data}
}

func text(s string) switchconf.File { return switchconf.File{Name: "x.json", Data: []byte(s)} }

func read(t testing.TB, files ...switchconf.File) *switchconf.Import {
	t.Helper()
	im, err := switchconf.ReadSONiC(files, switchconf.Options{})
	require.NoError(t, err)
	return im
}

func TestReadConfigDB(t *testing.T) {
	s := read(t, file(t, "config_db.json")).Switch
	assert.Equal(t, "th", s.ASIC.V)
	assert.Equal(t, sim.Bytes(208), s.Cell.V)
	assert.Equal(t, switchconf.Traditional, s.BufferModel.V)

	var names []string
	for _, p := range s.Ports {
		names = append(names, p.Name)
	}
	assert.Equal(t, []string{"Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"}, names, "in order of numbers, not of letters")

	p := s.Port("Ethernet4")
	assert.Equal(t, 100*sim.Gbps, p.Speed.V)
	assert.Equal(t, 40*sim.Metre, p.Cable.V)
	assert.Equal(t, []int{69, 70, 71, 72}, p.Lanes.V)
	assert.Equal(t, []int{3, 4}, p.PFCEnable.V)
	assert.Equal(t, "AZURE", p.DSCPToTC.V, "by the key global")
	assert.Equal(t, switchconf.Computed, p.DSCPToTC.From.Kind)
	assert.Equal(t, "pg_lossless_100000_40m_profile", p.PG(4).Profile.V, "a comma list and a range")
	assert.Equal(t, "AZURE_LOSSLESS", p.Queue(4).WRED.V)
	assert.Equal(t, "egress_lossless_profile", p.Queue(4).Profile.V)
	assert.Equal(t, "ingress_lossy_profile", s.Port("Ethernet0").PG(0).Profile.V, "an old reference in square brackets")
	assert.Equal(t, 200*sim.Millisecond, p.Watchdog.Detection.V)

	profile := s.Profile("pg_lossless_100000_40m_profile")
	assert.Equal(t, sim.Bytes(177632), profile.Xoff.V)
	assert.Equal(t, sim.Ratio(0.125), profile.Alpha())
	assert.True(t, profile.IsLossless())
	assert.Equal(t, "config_db.json", profile.Xoff.From.File)
	assert.Equal(t, 21, profile.Xoff.From.Line)
	assert.Equal(t, "/BUFFER_PROFILE/pg_lossless_100000_40m_profile/xoff", profile.Xoff.From.Path)

	tc, ok := switchconf.FindMap(s.DSCPToTC, "AZURE").Lookup(26)
	assert.True(t, ok)
	assert.Equal(t, 3, tc)

	// Ethernet12 has no BUFFER_PG: its profile follows from speed and cable.
	auto := s.Port("Ethernet12").PG(3)
	require.NotNil(t, auto)
	assert.True(t, auto.Auto)
	assert.Equal(t, "pg_lossless_40000_5m_profile", auto.Profile.V)
	assert.Equal(t, sim.Bytes(66560), s.Profile(auto.Profile.V).Xoff.V, "of the table shipped for Tomahawk")
	assert.Equal(t, sim.Bytes(9100), s.Port("Ethernet12").MTU.V)
	assert.Equal(t, switchconf.Defaulted, s.Port("Ethernet12").MTU.From.Kind)
}

// Each field of each file is in the explanation once, with a word about it.
func TestExplanationIsComplete(t *testing.T) {
	for _, name := range []string{"config_db.json", "nvidia.json", "appldb.json"} {
		im := read(t, file(t, name))
		complete(t, im, file(t, name).Data)
	}
}

func TestUnknownIsNamed(t *testing.T) {
	im := read(t, text(`{"VLAN": {"Vlan1": {}}, "WRED_THING": {"a": {}}, "BUFFER_POOL": {"p": {"type": "both", "mode": "static", "colour": "red"}}, "PORT": {"Ethernet0": {"alias": "e1"}}}`))
	status := map[string]switchconf.Status{}
	for _, f := range im.Fields {
		status[f.From.Path] = f.Status
	}
	assert.Equal(t, switchconf.Unrelated, status["/VLAN"])
	assert.Equal(t, switchconf.Unknown, status["/WRED_THING"], "a table about queues that is not known")
	assert.Equal(t, switchconf.Unknown, status["/BUFFER_POOL/p/colour"])
	assert.Equal(t, switchconf.Unrelated, status["/PORT/Ethernet0/alias"])
}

func TestDynamicModel(t *testing.T) {
	s := read(t, file(t, "nvidia.json")).Switch
	assert.Equal(t, "spc1", s.ASIC.V)
	assert.True(t, s.Port("Ethernet0").PG(3).Auto)
	assert.False(t, s.Port("Ethernet4").PG(3).Auto)
	assert.Equal(t, 2, s.Lossless.OverSubscribe.V)
	assert.Equal(t, sim.Ratio(1), s.Lossless.SmallPackets.V)
	assert.Equal(t, 100*sim.Gbps, s.Port("Ethernet0").Speed.V, "a number that is not a string")
}

func TestApplDBForm(t *testing.T) {
	s := read(t, file(t, "appldb.json")).Switch
	assert.Equal(t, "pg_lossless_100000_300m_profile", s.Port("Ethernet4").PG(4).Profile.V)
	assert.Equal(t, "ingress_lossless_pool", s.Profile("pg_lossless_100000_300m_profile").Pool.V)
	assert.Equal(t, []int{3, 4}, s.Port("Ethernet0").PFCEnable.V)
}

func TestLaterFilesOverride(t *testing.T) {
	im := read(t, text(`{"SCHEDULER": {"s": {"type": "DWRR", "weight": "15"}}}`),
		switchconf.File{Name: "y.json", Data: []byte(`{"SCHEDULER": {"s": {"weight": "20"}}}`)})
	assert.Equal(t, 20, im.Switch.Scheduler("s").Weight.V)
	assert.Equal(t, switchconf.DWRR, im.Switch.Scheduler("s").Type.V)
	assert.Equal(t, switchconf.Overridden, im.Fields[1].Status)
	assert.Contains(t, im.Fields[1].Doc, "y.json:1:32")
}

func TestAutoProfileOfLookup(t *testing.T) {
	ini := switchconf.File{Name: "pg_profile_lookup.ini", Data: []byte("# speed cable size xon xoff threshold xon_offset\n100000 40m 1248 2288 177632 -2 2288\n")}
	s := read(t, text(`{"PORT": {"Ethernet0": {"speed": "100000"}}, "CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}}, "BUFFER_PG": {"Ethernet0|3": {"profile": "pg_lossless_100000_40m_profile"}}}`), ini).Switch
	p := s.Profile("pg_lossless_100000_40m_profile")
	require.NotNil(t, p)
	assert.Equal(t, sim.Bytes(177632), p.Xoff.V)
	assert.Equal(t, -2, p.DynamicTh.V)
	assert.Equal(t, "pg_profile_lookup.ini", p.Xoff.From.File)
	assert.Equal(t, 2, p.Xoff.From.Line)
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, json, want string }{
		{"empty", "", "x.json:1:1: the file is empty: want an object of tables"},
		{"cut", `{"PORT": {"Ethernet0": {"speed": "1`, `x.json:1:34: a string that does not end: a closing quote is missing`},
		{"comma", "{\"PORT\": {}\n \"VLAN\": {}}", `x.json:2:2: '"' where a comma or a closing brace should stand`},
		{"trailing comma", "{\"PORT\": {},\n}", `x.json:2:1: '}' after a comma`},
		{"end", `{"PORT": {`, `x.json:1:11: the file ends where a name in quotes should stand`},
		{"after", `{} {}`, `x.json:1:4: text after the end of the JSON`},
		{"word", `{"PORT": nul}`, `x.json:1:10: 'n' where a value should stand`},
		{"number", `{"PORT": {"Ethernet0": {"speed": 01}}}`, `"01" is not a number of JSON`},
		{"template", "{\n{%- set x = 1 %}\n}", "x.json:2:1: this is a jinja2 template ({%): render it first"},
		{"top", `"x"`, `x.json:1:4: the file ends where a colon should stand`},
		{"list of words", `["a"]`, `x.json:1:2: is a string: want an object such as`},
		{"number at top", `3`, `x.json:1:1: is a number: want an object of tables`},
		{"table", `{"PORT": 3}`, `x.json:1:10: /PORT: is a number: want an object with a key for each entry`},
		{"row", `{"PORT": {"Ethernet0": "100000"}}`, `x.json:1:24: /PORT/Ethernet0: "100000": is a string: want an object of fields`},
		{"field", `{"PORT": {"Ethernet0": {"speed": {"a": 1}}}}`, `/PORT/Ethernet0/speed: is an object: want a string`},
		{"null", `{"PORT": {"Ethernet0": {"speed": null}}}`, `/PORT/Ethernet0/speed: "null": is true, false or null: want a string`},
		{"duplicate table", "{\"PORT\": {},\n\"PORT\": {}}", `x.json:2:1: "PORT" stands here a second time: it is in line 1 already`},
		{"duplicate by range", `{"QUEUE": {"Ethernet0|3-4": {"scheduler": "a"}, "Ethernet0|4": {"scheduler": "b"}}, "SCHEDULER": {"a": {}, "b": {}}}`, `scheduler has another value in line 1 already (/QUEUE/Ethernet0|3-4/scheduler)`},
		{"speed", `{"PORT": {"Ethernet0": {"speed": "100G"}}}`, `x.json:1:34: /PORT/Ethernet0/speed: "100G": want Mb/s, a whole number from 1 to 3200000`},
		{"mtu", `{"PORT": {"Ethernet0": {"mtu": "9217"}}}`, `"9217": want bytes, a whole number from 68 to 9216`},
		{"lanes", `{"PORT": {"Ethernet0": {"lanes": "1,x"}}}`, `want numbers of lanes`},
		{"cable", `{"CABLE_LENGTH": {"AZURE": {"Ethernet0": "40"}}}`, `/CABLE_LENGTH/AZURE/Ethernet0: "40": want metres, such as 40m`},
		{"mode", `{"BUFFER_POOL": {"p": {"mode": "dynamically"}}}`, `"dynamically": want one of static, dynamic`},
		{"size", `{"BUFFER_POOL": {"p": {"size": "-1"}}}`, `"-1": want bytes, a whole number from 0`},
		{"pool without type", `{"BUFFER_POOL": {"p": {"mode": "static"}}}`, `/BUFFER_POOL/p: a pool needs type`},
		{"dynamic_th", `{"BUFFER_PROFILE": {"p": {"dynamic_th": "9"}}}`, `want a whole number from -8 to 8`},
		{"no pool", `{"BUFFER_PROFILE": {"p": {"size": "0"}}}`, `a profile needs a pool`},
		{"dangling pool", `{"BUFFER_POOL": {"a": {"type": "ingress", "mode": "static"}}, "BUFFER_PROFILE": {"p": {"pool": "b"}}}`, `/BUFFER_PROFILE/p/pool: "b": there is no "b" in BUFFER_POOL: want one of a`},
		{"dangling map", `{"DSCP_TO_TC_MAP": {"AZURE": {}}, "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "AZUR"}}}`, `there is no "AZUR" in DSCP_TO_TC_MAP: want one of AZURE`},
		{"dangling port", `{"PORT": {"Ethernet0": {}}, "BUFFER_PG": {"Ethernet1|3": {}}}`, `there is no port "Ethernet1" in PORT`},
		{"wrong table", `{"BUFFER_PROFILE": {"p": {"pool": "[BUFFER_PROFILE|x]"}}}`, `refers to table BUFFER_PROFILE: want one of BUFFER_POOL`},
		{"half a bracket", `{"BUFFER_PROFILE": {"p": {"pool": "[BUFFER_POOL|x"}}}`, `want a name of BUFFER_POOL, or a reference such as [BUFFER_POOL|name]`},
		{"key", `{"BUFFER_PG": {"Ethernet0": {}}}`, `/BUFFER_PG/Ethernet0: want a key of ports and indexes, such as Ethernet0|3-4`},
		{"range", `{"BUFFER_PG": {"Ethernet0|4-3": {}}}`, `"4-3": want an index or a range of them from 0 to 7`},
		{"range end", `{"BUFFER_PG": {"Ethernet0|3-8": {}}}`, `"3-8": want an index`},
		{"port list", `{"BUFFER_PG": {"Ethernet0,|3": {}}}`, `a port without a name`},
		{"port twice", `{"BUFFER_PG": {"Ethernet0,Ethernet0|3": {}}}`, `port Ethernet0 stands in the key twice`},
		{"pfc", `{"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,8"}}}`, `want priorities from 0 to 7`},
		{"pfc twice", `{"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,3"}}}`, `priority 3 stands there twice`},
		{"dscp", `{"DSCP_TO_TC_MAP": {"AZURE": {"64": "0"}}}`, `x.json:1:31: /DSCP_TO_TC_MAP/AZURE/64: "64": want a whole number from 0 to 63`},
		{"tc", `{"TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "8"}}}`, `"8": want a whole number from 0 to 7`},
		{"probability", `{"WRED_PROFILE": {"w": {"green_drop_probability": "101"}}}`, `want per cent, a whole number from 0 to 100`},
		{"min above max", `{"WRED_PROFILE": {"w": {"green_min_threshold": "2", "green_max_threshold": "1"}}}`, `/WRED_PROFILE/w/green_min_threshold: "2": is above green_max_threshold, 1`},
		{"ecn", `{"WRED_PROFILE": {"w": {"ecn": "on"}}}`, `want one of ecn_none, ecn_green`},
		{"bool", `{"WRED_PROFILE": {"w": {"wred_green_enable": "yes"}}}`, `want true or false`},
		{"detection", `{"PFC_WD": {"Ethernet0": {"detection_time": "50"}}}`, `want milliseconds, a whole number from 100 to 10000`},
		{"several ASICs", `{"localhost": {"PORT": {"Ethernet0": {}}}}`, `/localhost/PORT: a table one level too deep`},
		{"deep", strings.Repeat(`{"a":`, 40), `nested more than 32 deep`},
		{"op", `[{"PORT_TABLE:Ethernet0": {}, "OP": "DEL"}]`, `"DEL": want SET`},
		{"not UTF-8", "{\"\xff\": {}}", `not UTF-8 text`},
		{"escape", `{"\x": {}}`, `is not an escape of JSON`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := switchconf.ReadSONiC([]switchconf.File{text(c.json)}, switchconf.Options{})
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
			assert.NotContains(t, err.Error(), "\n")
			var e *switchconf.Error
			require.ErrorAs(t, err, &e)
		})
	}
	_, err := switchconf.ReadSONiC([]switchconf.File{text(`{}`)}, switchconf.Options{Platform: "pdp11"})
	assert.ErrorContains(t, err, `platform: "pdp11": no ASIC is known for it`)
	_, err = switchconf.ReadSONiC(nil, switchconf.Options{})
	assert.ErrorContains(t, err, "no file: want config_db.json")
}

func TestPieces(t *testing.T) {
	for _, s := range []string{
		"\ufeff{\"PORT\": {\"Ethernet0\": {}}}",
		`"PORT": {"Ethernet0": {}}`,
		"\"PORT\": {\"Ethernet0\": {}},\n",
	} {
		assert.NotNil(t, read(t, text(s)).Switch.Port("Ethernet0"), s)
	}
}

func TestLookupErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"# nothing\n", "x.ini: no rows"},
		{"100000 40m 1 2 3\n", `x.ini:1:1: "100000 40m 1 2 3": 5 words: want one for each of speed, cable`},
		{"100000 40 1 2 3 0\n", `x.ini:1:1: cable: "40": want metres, such as 40m`},
		{"100000 40m 1 2 x 0\n", `x.ini:1:1: xoff: "x": want a whole number from 0`},
		{"100000 40m 1 2 3 -9\n", `threshold: "-9": want a whole number from -8`},
		{"100000 40m 1 2 3 0\n100000 40m 1 2 3 0\n", `x.ini:2:1: "100000 40m": line 1 is about this speed and cable already`},
		{"# speed cable size\n", `column xon is missing`},
		{"# speed cable size xon xoff threshold colour\n", `"colour": not a column`},
		{"# speed cable size xon xoff threshold size\n", `"size": a column that stands there twice`},
		{"\xff\n", "not UTF-8 text"},
	} {
		_, err := switchconf.ReadLookup(switchconf.File{Name: "x.ini", Data: []byte(c.text)})
		require.Error(t, err, c.text)
		assert.Contains(t, err.Error(), c.want, c.text)
	}
}

func TestFindLookupTakesTheNextLongerCable(t *testing.T) {
	rows, err := switchconf.ReadLookup(file(t, "pg_profile_lookup.ini"))
	require.NoError(t, err)
	assert.Len(t, rows, 4)
	assert.Equal(t, sim.Bytes(165568), switchconf.FindLookup(rows, 100*sim.Gbps, 3*sim.Metre).Xoff)
	assert.Equal(t, sim.Bytes(177632), switchconf.FindLookup(rows, 100*sim.Gbps, 6*sim.Metre).Xoff)
	assert.Nil(t, switchconf.FindLookup(rows, 100*sim.Gbps, 41*sim.Metre))
}

// complete checks that each field of the JSON is in the explanation exactly
// once; encoding/json is the judge of what is there.
func complete(t *testing.T, im *switchconf.Import, data []byte) {
	t.Helper()
	count := map[string]int{}
	for _, f := range im.Fields {
		assert.NotEmpty(t, f.Doc, f.From.Path)
		assert.NotEmpty(t, f.Status, f.From.Path)
		if f.Status != switchconf.StandsIn {
			count[f.From.Path]++
			assert.Positive(t, f.From.Line, f.From.Path)
		}
	}
	for _, p := range leaves(t, data) {
		n := count[p]
		if n == 0 { // a table that is not read stands there as a whole
			n = count["/"+strings.Split(p, "/")[1]]
		}
		assert.Equal(t, 1, n, "%s is in the explanation %d times", p, n)
	}
}
