package scenarios

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/congestion"
	"rdmasim/fabric/topology"
	"rdmasim/scenarios/workload"
	"rdmasim/sim"
)

const small = `# The smallest scenario. It says
# only what it must.
topology: star
traffic: [incast]
`

// parsed parses a scenario that must be right.
func parsed(t *testing.T, text string, settings ...string) *Spec {
	t.Helper()
	s, err := ParseSet("s.yaml", []byte(text), settings)
	require.NoError(t, err)
	return s
}

func TestWhatIsNotSaidIsAsInDefaults(t *testing.T) {
	s := parsed(t, small)
	require.Equal(t, "s", s.Name)
	require.Equal(t, ".", s.Dir)
	require.Equal(t, "The smallest scenario. It says\nonly what it must.", s.Description)
	d := Defaults()
	require.Equal(t, d.Switch, s.Switch)
	require.Equal(t, d.NIC, s.NIC)
	require.True(t, s.UntilDone)
	e, err := topology.Topologies.Lookup("star")
	require.NoError(t, err)
	require.Equal(t, Member{"star", e.Defaults}, s.Topology)
	require.Equal(t, 4, s.Traffic[0].Line)
	require.Equal(t, Position{"s.yaml", 4, 11}, s.At(0))
}

func TestWhatIsSaidHolds(t *testing.T) {
	s := parsed(t, `
name: said
seed: 18446744073709551615
duration: 2.5ms
warmup: 1ms
series: {interval: 0s, hosts: false}
topology: {fat_tree: {k: 8, oversubscription: 2, cable: 40m}}
switch:
  mode: cut_through
  buffer: {size: 16MB, alpha: 25%, headroom: 90KB}
  pfc: {priorities: [3, 4], refresh: 10us, timer: false}
  ecn: {3: {kmin: 5KB, kmax: 200KB, pmax: 1/100, mark_at: enqueue}}
  ecn_by_rate: [{rate: 400Gbps, ecn: {3: {kmin: 0B, kmax: 1MiB, pmax: 1, above_kmax: pmax}}}]
  dscp_map: {26: 3, 34: 4}
nic: {path_mtu: 4096, ack_priority: 7, frame: {payload: 1000B, overhead: 0B}, congestion: {dcqcn: {preset: sigcomm15, g: 1/16}}}
traffic:
  - poisson: {cdf: fbhdp, load: 0.4, priority: 4}
  - ping_mesh:
  - flows: {list: [{from: h0, to: h1, size: 1MB, at: 1us, sport: 65535}]}
expect: [flows.failed == 0]
`)
	require.Equal(t, "said", s.Name)
	require.Equal(t, ^uint64(0), s.Seed)
	require.Equal(t, 2500*sim.Microsecond, s.Duration)
	require.False(t, s.UntilDone)
	require.Equal(t, SeriesSpec{Interval: 0, Hosts: false, MaxQPs: 128}, s.Series)
	ft := s.Topology.Params.(topology.FatTreeParams)
	require.Equal(t, 8, ft.K)
	require.Equal(t, 40*sim.Metre, ft.Cable)
	w := s.Switch
	require.Equal(t, sim.Ratio(0.25), w.Buffer.Alpha)
	require.Equal(t, Given(90*sim.KB), w.Buffer.Headroom)
	require.Equal(t, []int{3, 4}, w.PFC.Priorities)
	require.Equal(t, Given(10*sim.Microsecond), w.PFC.Refresh)
	require.Equal(t, map[int]ECNSpec{3: {Kmin: 5 * sim.KB, Kmax: 200 * sim.KB, Pmax: 0.01, MarkAt: "enqueue", Above: "mark_all"}}, w.ECN)
	require.Equal(t, []ECNRateSpec{{400 * sim.Gbps, map[int]ECNSpec{3: {Kmax: sim.MiB, Pmax: 1, MarkAt: "dequeue", Above: "pmax"}}}}, w.ECNByRate)
	require.Equal(t, map[int]int{26: 3, 34: 4}, w.DSCPMap)
	require.True(t, s.NIC.Frame.Set)
	require.Equal(t, Given[sim.Bytes](0), s.NIC.Frame.Overhead)
	paper, err := NewMember("congestion", "dcqcn", "sigcomm15")
	require.NoError(t, err)
	want := paper.Params.(congestion.DCQCNParams)
	want.G = 1.0 / 16
	require.Equal(t, want, s.NIC.Congestion.Params)
	require.Equal(t, 4, s.Traffic[0].Params.(workload.PoissonParams).Priority.Value())
	require.Equal(t, uint16(65535), s.Traffic[2].Params.(workload.FlowsParams).List[0].SrcPort)
}

// Rules are whole switches and NICs: what a rule does not say is as in switch
// and nic, wherever those stand in the file.
func TestRulesStartFromWhatHoldsForAll(t *testing.T) {
	s := parsed(t, small+`
switches: [{match: "sw*", latency: 1us, ecn: {3: {kmin: 1KB}}}]
nics: [{match: h0, drain: 10Gbps, congestion: {dcqcn: {f: 3}}}, {match: h1, congestion: none}]
links: [{a: h0, b: "*", loss: 1e-3}]
switch: {mode: cut_through, ecn: {3: {kmin: 5KB, kmax: 200KB, pmax: 1%}, 4: {kmin: 5KB, kmax: 200KB, pmax: 1%}}}
nic: {timeout: 10, congestion: {dcqcn: {f: 2, g: 1/16}}}
`)
	require.Equal(t, "cut_through", s.Switches[0].Switch.Mode)
	require.Equal(t, sim.Microsecond, s.Switches[0].Switch.Latency)
	require.Equal(t, map[int]ECNSpec{3: {Kmin: sim.KB, Kmax: 200 * sim.KB, Pmax: 0.01, MarkAt: "dequeue", Above: "mark_all"}}, s.Switches[0].Switch.ECN)
	require.Len(t, s.Switch.ECN, 2, "a rule must not change what holds for all")
	require.Equal(t, 10, s.NICs[0].NIC.Timeout)
	require.Equal(t, 3, s.NICs[0].NIC.Congestion.Params.(congestion.DCQCNParams).F)
	require.Equal(t, sim.Ratio(1.0/16), s.NICs[0].NIC.Congestion.Params.(congestion.DCQCNParams).G)
	require.Equal(t, 2, s.NIC.Congestion.Params.(congestion.DCQCNParams).F)
	require.Equal(t, "none", s.NICs[1].NIC.Congestion.Name)
	require.Equal(t, LinkRule{A: "h0", B: "*", Loss: 1e-3}, s.Links[0])
}

// One mistake, one error: where, what, and what would be valid.
func TestMistakesInFiles(t *testing.T) {
	cases := []struct{ text, err string }{
		{"", "s.yaml: the file is empty: want at least a topology and traffic"},
		{"# nothing\n", "s.yaml: the file is empty: want at least a topology and traffic"},
		{"- a\n", "s.yaml:1:1: a scenario has keys at the top, such as topology: star"},
		{"a: [1\nb: 2", "s.yaml:1:1: not YAML: did not find expected ',' or ']'"},
		{"a: \xff", "s.yaml:1:1: not UTF-8 text"},
		{"a: 1\n---\nb: 2\n", "s.yaml: more than one document in the file: want one"},
		{"a: &x 1\nb: *x\n", "s.yaml:1:4: anchors (&) and aliases (*) are not supported: write the value out"},
		{"seed: !!int 1\n", "s.yaml:1:7: tags such as !!int are not supported: write the value alone"},
		{"? [a]\n: 1\n", "s.yaml:1:3: a key is a list or has keys of its own: want a word or a number"},
		{small + "swich: {}\n", "s.yaml:5:1: swich: unknown key: did you mean switch? keys here are name, seed, "},
		{small + "switch:\n  kmin: 1KB\n", "s.yaml:6:3: switch.kmin: unknown key: keys here are latency, mode, "},
		{small + "switch:\n  <<: {mode: cut_through}\n", "s.yaml:6:3: switch.<<: unknown key: "},
		{small + "seed: 1\nname: a\nseed: 2\n", "s.yaml:7:1: seed: key is there twice, first in line 5: leave one of them"},
		{small + "switch: {ecn: {3: {kmin: 400, kmax: 1MB, pmax: 1}}}\n", "s.yaml:5:26: switch.ecn.3.kmin: 400: has no unit: write a size as 400KB or 32MiB"},
		{small + "switch: {latency: 5 parsecs}\n", `s.yaml:5:19: switch.latency: 5 parsecs: has an unknown unit "parsecs": a duration takes one of s, ms, us, `},
		{small + "switch: {latency: -5us}\n", "s.yaml:5:19: switch.latency: -5us: a duration must not be negative"},
		{small + "switch: {latency: 0.5ps}\n", "s.yaml:5:19: switch.latency: 0.5ps: a duration finer than 1 ps cannot be represented"},
		{small + "switch: {latency: [1us]}\n", "s.yaml:5:19: switch.latency: is a list: want a duration such as 500ns or 10ms"},
		{small + "switch: {latency: }\n", "s.yaml:5:19: switch.latency: has no value: want a duration such as 500ns or 10ms"},
		{small + "switch: cut_through\n", "s.yaml:5:9: switch: cut_through: has no keys: want keys with values, such as {key: value}"},
		{small + "switch:\n  - mode: cut_through\n", "s.yaml:6:3: switch: is a list: want keys with values, such as {key: value}"},
		{small + "switch: {pfc: {timer: yes}}\n", "s.yaml:5:23: switch.pfc.timer: yes: want true or false"},
		{small + "switch: {pfc: {priorities: 3}}\n", "s.yaml:5:28: switch.pfc.priorities: 3: want a list, such as [...]"},
		{small + "switch: {pfc: {priorities: [3, lossless]}}\n", "s.yaml:5:32: switch.pfc.priorities.1: lossless: want a whole number without a unit"},
		{small + "switch: {dscp_map: {af31: 3}}\n", "s.yaml:5:21: switch.dscp_map: af31: want a whole number as key"},
		{small + "switch: {dscp_map: {3: 3, 03: 4}}\n", "s.yaml:5:27: switch.dscp_map: 03: want a whole number as key"},
		{small + "switch: {buffer: {alpha: eighth}}\n", "s.yaml:5:26: switch.buffer.alpha: eighth: is not a ratio: write 0.2, 20% or 1/5"},
		{small + "switch: {buffer: {headroom: lots}}\n", "s.yaml:5:29: switch.buffer.headroom: lots: is not a size: want a number with a unit, for example 400KB or 32MiB"},
		{small + "switch: {ecn: {3: {kmin: 1KB}}}\n", "s.yaml:5:19: switch.ecn.3: kmax is missing: queue length above which above_kmax holds"},
		{small + "switch: {ecn_by_rate: [{ecn: {}}]}\n", "s.yaml:5:24: switch.ecn_by_rate.0: rate is missing: port rate"},
		{small + "switches: [{mode: cut_through}]\n", "s.yaml:5:12: switches.0: match is missing: name, or a pattern such as tor* or *"},
		{small + "seed: -1\n", "s.yaml:5:7: seed: -1: want a whole number from 0 to 18446744073709551615"},
		{small + "seed: 99999999999999999999\n", "s.yaml:5:7: seed: 99999999999999999999: want a whole number from 0 to 18446744073709551615"},
		{small + "nic: {path_mtu: 1.5}\n", "s.yaml:5:17: nic.path_mtu: 1.5: want a whole number without a unit"},
		{small + "nic: {congestion: bbr}\n", "s.yaml:5:19: nic.congestion: bbr: unknown congestion control: want one of "},
		{small + "nic: {congestion: {dcqn: {}}}\n", "s.yaml:5:20: nic.congestion: dcqn: unknown congestion control: did you mean dcqcn? want one of "},
		{small + "nic: {congestion: {}}\n", "s.yaml:5:19: nic.congestion: is empty: want one congestion control with its parameters, such as {"},
		{small + "nic: {congestion: [dcqcn]}\n", "s.yaml:5:19: nic.congestion: is a list: want one congestion control"},
		{small + "nic: {congestion: {dcqcn: {}, none: {}}}\n", "s.yaml:5:31: nic.congestion.none: is one more than dcqcn: want one congestion control"},
		{small + "nic: {congestion: {dcqcn: {preset: paper}}}\n", "s.yaml:5:36: nic.congestion.dcqcn.preset: paper: unknown preset: want one of "},
		{small + "nic: {congestion: {none: {preset: x}}}\n", "s.yaml:5:27: nic.congestion.none.preset: unknown key: keys here are rate, ect"},
		{small + "nic: {congestion: {dcqcn: {g: 2}}}\n", "s.yaml:5:31: nic.congestion.dcqcn.g: 2: want 0 to 1"},
		{"topology: star\ntraffic:\n  - incast: {verb: write, mesage: 1MB}\n", "s.yaml:3:27: traffic.0.incast.mesage: unknown key: did you mean message? keys here are "},
		{"topology: star\ntraffic:\n  - incast: {repeat: often}\n", "s.yaml:3:22: traffic.0.incast.repeat: often: is not a number of repetitions: want 1 or more, or forever"},
		{"topology: star\ntraffic: {incast: {}}\n", "s.yaml:2:10: traffic: want a list, such as [...]"},
		{"topology: star\ntraffic:\n  -\n", "s.yaml:3:4: traffic.0: has no value: want one workload"},
		{"traffic: [incast]\n", "s.yaml: topology: is missing: want one of "},
		{"topology: star\n", "s.yaml: traffic: is missing: want a list of workloads, such as [{incast: {senders: 8}}]"},
		{small + "duration: 5\n", "s.yaml:5:11: duration: 5: has no unit: write a duration as 500ns or 10ms, or until_done"},
		{small + "duration: for ever\n", "s.yaml:5:11: duration: for ever: is not a duration: want a number with a unit, for example 500ns or 10ms, or until_done"},
		{small + "faults: {loss: {}}\n", "s.yaml:5:9: faults: want a list, such as [...]"},
		{small + "faults: [{loss: {}}]\n", "s.yaml:5:11: faults.0.loss: nowhere: give one of link, port, host and switch"},
		{small + "name: \"a\\nb\"\n", `s.yaml:5:7: name: "a\nb": want up to 200 printable characters`},
		{small + "nic: {congestion: \"" + strings.Repeat("x", 200) + "\"}\n", "s.yaml:5:19: nic.congestion: " + strings.Repeat("x", 80) + "...: unknown congestion control"},
	}
	for _, c := range cases {
		_, err := Parse("s.yaml", []byte(c.text))
		requireOneError(t, err, c.err, c.text)
	}
}

// requireOneError demands one line, an *Error, that begins so.
func requireOneError(t *testing.T, err error, begins, text string) {
	t.Helper()
	require.Error(t, err, text)
	var e *Error
	require.True(t, errors.As(err, &e), "%s: %v", text, err)
	require.Truef(t, strings.HasPrefix(err.Error(), begins), "%s\nwant %s\ngot  %s", text, begins, err)
	require.NotContains(t, err.Error(), "\n")
}

// A file cannot make the parser use much more than it is.
func TestBounds(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	many := "a: [" + strings.Repeat("1,", maxMarks) + "]"
	for name, c := range map[string]struct{ text, err string }{
		"size":    {small + "# " + strings.Repeat("x", MaxFile), "a scenario has at most 4194304"},
		"entries": {many, "more than 1048576 entries"},
		"depth":   {"a: " + deep, "nested more than 24 deep"},
		"bomb":    {"a: &a [1,1]\nb: &b [*a,*a]\nc: &c [*b,*b]\n", "anchors (&) and aliases (*)"},
		"itself":  {"a: &a [*a]\n", "anchors (&) and aliases (*)"},
	} {
		_, err := Parse("s.yaml", []byte(c.text))
		require.ErrorContains(t, err, c.err, name)
	}
}

// Every member of every catalogue can be written in a scenario, with its
// defaults and with each preset.
func TestEveryMember(t *testing.T) {
	keyOf := map[string]string{
		"topology":   "traffic: [incast]\ntopology: {%s: {%s}}\n",
		"congestion": "traffic: [incast]\ntopology: star\nnic: {congestion: {%s: {%s}}}\n",
		"workload":   "topology: star\ntraffic: [{%s: {%s}}]\n",
		"threshold":  "traffic: [incast]\ntopology: star\nswitch: {buffer: {groups: [{groups: [3], threshold: {%s: {%s}}}]}}\n",
		"watchdog":   "traffic: [incast]\ntopology: star\nswitch: {watchdog: {%s: {%s}}}\n",
		"bus":        "traffic: [incast]\ntopology: star\nnic: {host: {bus: {%s: {%s}}}}\n",
		"nic_cache":  "traffic: [incast]\ntopology: star\nnic: {host: {contexts: {%s: {%s}}}}\n",
	}
	at := map[string]func(*Spec) Member{
		"topology":   func(s *Spec) Member { return s.Topology },
		"congestion": func(s *Spec) Member { return s.NIC.Congestion },
		"workload":   func(s *Spec) Member { return s.Traffic[0].Member },
		"threshold":  func(s *Spec) Member { return s.Switch.Buffer.Groups[0].Threshold },
		"watchdog":   func(s *Spec) Member { return s.Switch.Watchdog },
		"bus":        func(s *Spec) Member { return s.NIC.Host.Bus },
		"nic_cache":  func(s *Spec) Member { return s.NIC.Host.Contexts },
	}
	for kind, c := range catalogues {
		if kind == "fault" {
			continue // a fault has a place, which has no default
		}
		for _, name := range c.names() {
			e, err := c.entry(name)
			require.NoError(t, err)
			for _, preset := range append([]string{""}, e.names...) {
				params := ""
				if preset != "" {
					params = "preset: " + preset
				}
				s := parsed(t, fmt.Sprintf(keyOf[kind], name, params))
				want := e.defaults
				if preset != "" {
					want = e.presets[preset]
				}
				if d := Defaults().NIC.Congestion; kind == "congestion" && preset == "" && name == d.Name {
					want = d.Params // under a key with a default of the name, that default holds
				}
				require.Equal(t, Member{name, want}, at[kind](s))
				roundTrip(t, s)
			}
		}
	}
}
