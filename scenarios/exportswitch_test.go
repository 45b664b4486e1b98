package scenarios

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/fabric/switchconf"
	"rdmasim/sim"
)

const exported = `name: x
duration: 1ms
topology: {star: {hosts: 4, rate: 100Gbps, cable: 40m}}
traffic: [{incast: {receiver: h0}}]
links: [{a: h3, b: sw0, rate: 400Gbps, cable: 5m}]
switch:
  buffer: {size: 32MiB, alpha: 1/4, headroom: 90000B, reserve: 20KiB, xon_offset: 6KiB, egress_alpha: 2}
  pfc: {priorities: [3, 4]}
  ecn: {3: {baseline: cisco}, 4: {kmin: 100KB, kmax: 100KB, pmax: 100%}}
  scheduler: {strict: [6, 7], weights: {3: 15}}
  dscp_map: {26: 3, 48: 6, 10: 4}
  watchdog: {broadcom: {poll: 200ms, detect: 400ms, restore: 600ms, action: forward}}
`

func exportedView(t *testing.T, s *Spec, asic string) *switchconf.View {
	sw, _, err := ExportSwitch(s, "", asic)
	require.NoError(t, err)
	v, err := switchconf.NewView(sw)
	require.NoError(t, err)
	return v
}

// What stands in the scenario stands in the exported switch.
func TestExportSwitch(t *testing.T) {
	s, err := Parse("x.yaml", []byte(exported))
	require.NoError(t, err)
	v := exportedView(t, s, "")
	require.Len(t, v.Ports, 4)
	p := v.Ports[0]
	require.Equal(t, 100*sim.Gbps, p.Speed)
	require.Equal(t, 40*sim.Metre, p.Cable)
	require.Equal(t, [4]int{3, 6, 4, -1}, [4]int{p.DSCP[26], p.DSCP[48], p.DSCP[10], p.DSCP[0]})
	require.Equal(t, switchconf.WatchdogView{Action: switchconf.ActionForward, Detect: 400 * sim.Millisecond, Restore: 600 * sim.Millisecond}, p.Watchdog)
	require.Equal(t, 200*sim.Millisecond, v.Poll)
	c := p.Class[3]
	require.Equal(t, switchconf.ClassView{Queue: 3, Group: 3, PFC: true, Profile: "pg_lossless_100000_40m_profile", WRED: "AZURE_LOSSLESS", ECN: true, Kmin: 150 * sim.KB, Kmax: 3 * sim.MB, Pmax: 0.07,
		Buffer: true, Headroom: 90000, XonOffset: 6 * sim.KiB, Reserve: 20 * sim.KiB, Alpha: -2, Dynamic: true, Weight: 15}, c)
	fast := v.Ports[3]
	require.Equal(t, 400*sim.Gbps, fast.Speed)
	require.Equal(t, 950*sim.KB, fast.Class[3].Kmin)
	require.Equal(t, 100*sim.KB, fast.Class[4].Kmax)
	require.True(t, fast.Class[6].Strict)
	require.False(t, fast.Class[0].PFC)
	pool := v.Switch.Pool("ingress_lossless_pool")
	require.Equal(t, 32*sim.MiB-8*(90000+20*sim.KiB), pool.Size.V, "what headroom and reserves take is not shared")
}

// Rules for single ports reach the switch.
func TestExportSwitchWithRules(t *testing.T) {
	s, err := Parse("x.yaml", []byte(exported+`  maps: [{ports: "1", tc_to_queue: {3: 5}, tc_to_group: {3: 2}}]
  schedulers: [{ports: "2", strict: [5]}]
switches: [{match: nothing-yet, latency: 1us}]
`))
	if err == nil { // the rule for switches matches nothing: that is found with the fabric
		_, _, err = ExportSwitch(s, "", "")
	}
	require.ErrorContains(t, err, "matches no switch")
	s, err = Parse("x.yaml", []byte(exported+"  maps: [{ports: \"1\", tc_to_queue: {3: 5}, tc_to_group: {3: 2}}]\n  schedulers: [{ports: \"2\", strict: [5]}]\n"))
	require.NoError(t, err)
	v := exportedView(t, s, "")
	require.Equal(t, [2]int{5, 2}, [2]int{v.Ports[1].Class[3].Queue, v.Ports[1].Class[3].Group})
	require.Equal(t, sim.Bytes(90000), v.Ports[1].Class[3].Headroom)
	require.True(t, v.Ports[2].Class[5].Strict)
	require.False(t, v.Ports[2].Class[6].Strict)
}

// Export, import and export again: the switch is the same.
func TestExportImportsAgain(t *testing.T) {
	for _, asic := range []string{"", "th5", "spc4"} {
		s, err := Parse("x.yaml", []byte(exported))
		require.NoError(t, err)
		sw, _, err := ExportSwitch(s, "", asic)
		require.NoError(t, err)
		text, rounded, err := switchconf.SONiCConfig(sw)
		require.NoError(t, err)
		require.Empty(t, rounded)
		im, err := ImportSonic([]switchconf.File{{Name: "config_db.json", Data: text}}, switchconf.Options{Platform: asic})
		require.NoError(t, err, "%s", text)
		again := *s
		again.Switch = im.Switch
		before, after := exportedView(t, s, asic), exportedView(t, &again, asic)
		for i := range before.Ports {
			for k := range 8 {
				a, b := before.Ports[i].Class[k], after.Ports[i].Class[k]
				a.WRED, b.WRED, a.Profile, b.Profile = "", "", "", "" // names are made up
				require.Equal(t, a, b, "%s, port %d, class %d", asic, i, k)
			}
			require.Equal(t, before.Ports[i].DSCP[26], after.Ports[i].DSCP[26])
			require.Equal(t, before.Ports[i].Watchdog, after.Ports[i].Watchdog)
		}
	}
}

func TestExportSwitchErrors(t *testing.T) {
	parse := func(more string, set ...string) *Spec {
		s, err := ParseSet("x.yaml", []byte(exported+more), set)
		require.NoError(t, err)
		return s
	}
	for _, c := range []struct {
		s          *Spec
		node, asic string
		want       string
	}{
		{parse(""), "sw1", "", `unknown switch "sw1": did you mean sw0? there are sw0`},
		{parse(""), "", "th55", `unknown ASIC "th55": did you mean th5? want one of `},
		{parse("", "switch.buffer.alpha=0.3"), "", "", "switch.buffer.alpha: 0.3: ASICs have powers of two, from 2^-8 to 2^8: the nearest are 2^-2 = 0.25 and 2^-1 = 0.5"},
		{parse("", "switch.buffer.alpha=1024"), "", "", "the nearest are 2^7 = 128 and 2^8 = 256"},
		{parse("", "switch.buffer.egress_alpha=3"), "", "", "switch.buffer.egress_alpha: 3: ASICs have powers of two"},
	} {
		_, _, err := ExportSwitch(c.s, c.node, c.asic)
		require.ErrorContains(t, err, c.want)
	}
	two, err := Parse("x.yaml", []byte("name: x\nduration: 1ms\ntopology: {dumbbell: {}}\ntraffic: [{incast: {receiver: h0}}]\nswitches: [{match: \"*0\", buffer: {alpha: 1}}]\n"))
	require.NoError(t, err)
	_, _, err = ExportSwitch(two, "", "")
	require.ErrorContains(t, err, "switches are configured differently: name one of ")
}

// Where the scenario names the files of the switch, the patch is what differs:
// nothing at first, and then the values that were tuned, at the keys that the
// switch has.
func TestExportOverFilesOfSonic(t *testing.T) {
	const sonic = `name: x
duration: 1ms
topology: {star: {hosts: 4, rate: 100Gbps}}
traffic: [{incast: {receiver: h0}}]
switch:
  sonic: {files: [../fabric/switchconf/testdata/config_db.json]}
`
	patch := func(more string) []string {
		s, err := Parse("x.yaml", []byte(sonic+more))
		require.NoError(t, err)
		r, err := Export(s, "sonic-patch", "", "")
		require.NoError(t, err)
		var ops []string
		for _, l := range r.Config {
			if strings.Contains(l.Text, `"op"`) {
				ops = append(ops, strings.Trim(l.Text, " [],"))
			}
		}
		return ops
	}
	require.Empty(t, patch(""))
	require.Equal(t, []string{
		`{"op":"replace","path":"/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold","value":"400000"}`,
		`{"op":"replace","path":"/WRED_PROFILE/AZURE_LOSSLESS/green_max_threshold","value":"1600000"}`,
		`{"op":"replace","path":"/WRED_PROFILE/AZURE_LOSSLESS/green_drop_probability","value":"20"}`,
	}, patch("  wred: [{queues: [3, 4], ecn: all, green: {min: 400KB, max: 1600KB, probability: 20%}}]\n"))
	require.Equal(t, []string{`{"op":"replace","path":"/SCHEDULER/scheduler.1/weight","value":"40"}`},
		patch("  scheduler: {strict: [6], weights: {0: 14, 3: 40, 4: 40}}\n"))
}
