package scenarios

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

func TestImpossibleValues(t *testing.T) {
	ecn := "switch.ecn={3: {kmin: 5KB, kmax: 200KB, pmax: 1%}}"
	cases := []struct{ setting, err string }{
		{"duration=0s", "duration: 0s: want more than 0s, or until_done"},
		{"duration=25h", "duration: 25h: has an unknown unit"},
		{"duration=1e6s", "duration: 1e6s: want at most 86400s"},
		{"max_duration=0s", "max_duration: 0s: want more than 0s"},
		{"warmup=10s", "warmup: 10s: nothing would be left to measure: want less than max_duration, 10s"},
		{"{duration: 1ms, warmup: 1ms}", "warmup: 1ms: nothing would be left to measure: want less than duration, 1ms"},
		{"{duration: 1s, series: {interval: 1ps}}", "series.interval: 1ps: makes 1000000000000 bins in a duration of 1s: want at most 10000000, that is an interval of at least 100ns"},
		{"name=../up", "name: ../up: want up to 200 printable characters"},
		{"name=..", "name: ..: want up to 200"},
		{"name=", `name: "": want up to 200`},
		{"switch.buffer.size=0B", "switch.buffer.size: 0B: want more than 0B"},
		{"switch.buffer.size=2TiB", "switch.buffer.size: 2TiB: want at most 1TiB"},
		{"switch.buffer.alpha=0", "switch.buffer.alpha: 0: want more than 0, from 1/65536 to 1024, for example 1/8"},
		{"switch.buffer.alpha=-1", "switch.buffer.alpha: -1: want a ratio of 0 or more"},
		{"switch.buffer.egress_alpha=1e9", "switch.buffer.egress_alpha: 1e9: want more than 0"},
		{"switch.buffer.headroom=32MiB", "switch.buffer.headroom: 32MiB: is not less than the whole buffer, 32MiB"},
		{"{switch: {buffer: {headroom: 20MiB}, pfc: {priorities: [3, 4]}}}", "switch.buffer.headroom: 20MiB: with a reserve of 4KiB for each of 2 lossless priorities, one port takes the whole buffer, 32MiB"},
		{"switch.buffer.reserve=1GiB", "switch.buffer.reserve: 1GiB: is not less than the whole buffer, 32MiB"},
		{"switch.buffer.xon_offset=1GiB", "switch.buffer.xon_offset: 1GiB: is not less than the whole buffer"},
		{"switch.pfc.priorities=[8]", "switch.pfc.priorities.0: 8: want 0..7"},
		{"switch.pfc.priorities=[3, 4, 3]", "switch.pfc.priorities.2: 3: is there twice"},
		{"switch.pfc.quanta=0", "switch.pfc.quanta: 0: want 1..65535"},
		{"switch.pfc.quanta=65536", "switch.pfc.quanta: 65536: want 1..65535"},
		{"switch.pfc.refresh=0s", "switch.pfc.refresh: 0s: want auto, or more than 0s"},
		{"switch.ecn={3: {kmin: 300KB, kmax: 200KB, pmax: 1%}}", "switch.ecn.3.kmin: 300KB: is more than kmax, 200KB: want kmin <= kmax"},
		{"switch.ecn={3: {kmin: 1KB, kmax: 200KB, pmax: 0}}", "switch.ecn.3.pmax: 0: want a probability above 0 and up to 1, such as 20%"},
		{"switch.ecn={3: {kmin: 1KB, kmax: 200KB, pmax: 20}}", "switch.ecn.3.pmax: 20: want a probability above 0 and up to 1"},
		{"switch.ecn={8: {kmin: 1KB, kmax: 200KB, pmax: 1}}", "switch.ecn.8: key 8: want 0..7"},
		{"switch.ecn_by_rate=[{rate: 1Gbps, ecn: {}}, {rate: 1000Mbps, ecn: {}}]", "switch.ecn_by_rate.1.rate: 1000Mbps: is there twice: give each rate once"},
		{"switch.ecn_by_rate=[{rate: 0bps, ecn: {}}]", "switch.ecn_by_rate.0.rate: 0bps: want more than 0bps"},
		{"switch.ecn_by_rate=[{rate: 1Gbps, ecn: {3: {kmin: 2B, kmax: 1B, pmax: 1}}}]", "switch.ecn_by_rate.0.ecn.3.kmin: 2B: is more than kmax"},
		{"switch.scheduler.strict=[7, 7]", "switch.scheduler.strict.1: 7: is there twice"},
		{"switch.scheduler.weights={6: 2}", "switch.scheduler.weights.6: priority 6 is served strictly and takes no weight"},
		{"switch.scheduler.weights={1: 0}", "switch.scheduler.weights.1: 0: want 1..127"},
		{"switch.scheduler.weights={9: 1}", "switch.scheduler.weights.9: key 9: want 0..7"},
		{"switch.dscp_map={64: 1}", "switch.dscp_map.64: key 64: want 0..63"},
		{"switch.dscp_map={1: 8}", "switch.dscp_map.1: 8: want 0..7"},
		{"switch.balance={method: flowlet, gap: 0s}", "switch.balance.gap: 0s: want more than 0s for flowlets"},
		{"switch.balance.method=ecpm", "switch.balance.method: ecpm: did you mean ecmp? want one of ecmp, spray, flowlet"},
		{"switch.mode=", `switch.mode: "": want one of store_and_forward, cut_through`},
		{"switches=[{match: 'tor[', mode: cut_through}]", "switches.0.match: tor[: want a name, or a pattern such as tor* or *[02468]"},
		{"switches=[{match: sw0, pfc: {quanta: 0}}]", "switches.0.pfc.quanta: 0: want 1..65535"},
		{"switches=[{match: sw0, buffer: {size: 1KB}}]", "switches.0.buffer.reserve: 4KiB: is not less than the whole buffer, 1KB"},
		{"nic.path_mtu=1500", "nic.path_mtu: 1500: want one of 256, 512, 1024, 2048, 4096"},
		{"nic.priority=8", "nic.priority: 8: want 0..7"},
		{"nic.dscp=64", "nic.dscp: 64: want 0..63"},
		{"nic.ack_priority=-2", "nic.ack_priority: -2: want -1..7"},
		{"nic.ack_every=0", "nic.ack_every: 0: want 1..65536"},
		{"nic.timeout=32", "nic.timeout: 32: want 0..31"},
		{"nic.retry_count=8", "nic.retry_count: 8: want 0..7"},
		{"nic.rnr_retry=8", "nic.rnr_retry: 8: want 0..7"},
		{"nic.encapsulation=gre", "nic.encapsulation: gre: want one of none, vlan, ipv6, vxlan"},
		{"nic={drain: 1Gbps, rx_buffer: 0B}", "nic.rx_buffer: 0B: want more than 0B where drain, bus or caches make packets wait"},
		{"nic.rx_xoff=2MiB", "nic.rx_xoff: 2MiB: is more than rx_buffer, 1MiB"},
		{"nic.window=1KB", "nic.window: 1KB: is less than a packet of 1KiB: nothing could be sent"},
		{"nic.window=4KiB", "nic.window: 4KiB: is less than ack_every, 16 packets of 1KiB"},
		{"nic.frame.header=1MB", "nic.frame.header: 1MB: want at most 65.535KB"},
		{"nics=[{match: h0, timeout: 99}]", "nics.0.timeout: 99: want 0..31"},
		{"links=[{a: h0, b: sw0}]", "links.0: changes nothing: want rate, delay, cable, loss, data_loss or drop_every"},
		{"links=[{a: h0, b: sw0, loss: 2}]", "links.0.loss: 2: want a probability from 0 to 1"},
		{"links=[{a: h0, b: sw0, delay: 1us, cable: 1m}]", "links.0.cable: 1m: takes 5ns, and delay is 1us: give one of them"},
		{"links=[{a: '', b: sw0, delay: 1us}]", `links.0.a: "": want a name, or a pattern`},
		{"traffic=[]", "traffic: is missing"},
		{"expect=['drops == 0']", `expect.0: drops == 0: there is no figure "drops"`},
		{"expect=['']", `expect.0: "": want a figure, an operator and a value`},
		{"compat=ns3", "compat: ns3: want one of none, hpcc"},
	}
	for _, c := range cases {
		settings, begins := []string{ecn, c.setting}, "--set "+printable(c.setting)+": "
		text := small
		if c.setting[0] == '{' { // several keys at once: from a file
			text, settings, begins = c.setting[:len(c.setting)-1]+", topology: star, traffic: [incast]}", nil, ""
		}
		_, err := ParseSet("s.yaml", []byte(text), settings)
		if begins == "" {
			require.ErrorContains(t, err, c.err, c.setting)
			continue
		}
		requireOneError(t, err, begins+c.err, c.setting)
	}
}

// Specs that code makes are checked too; their errors have no place.
func TestValidateWithoutAFile(t *testing.T) {
	make := func() Spec {
		s := Defaults()
		star, err := NewMember("topology", "star", "")
		require.NoError(t, err)
		incast, err := NewMember("workload", "incast", "")
		require.NoError(t, err)
		s.Topology, s.Traffic = star, []TrafficSpec{{Member: incast}}
		return s
	}
	s := make()
	require.NoError(t, Validate(&s))
	s.Switch.Latency = -1
	require.EqualError(t, Validate(&s), "switch.latency: -1ps: must not be negative")
	s = make()
	s.Switch.ECN = map[int]ECNSpec{9: {}}
	require.EqualError(t, Validate(&s), "switch.ecn.9: key 9: want 0..7")
	s = make()
	s.Switch.PFC.Refresh = Given[sim.Duration](-5)
	require.EqualError(t, Validate(&s), "switch.pfc.refresh: -5ps: must not be negative")
	s = make()
	s.Topology.Name = "moebius"
	require.ErrorContains(t, Validate(&s), `topology: unknown topology "moebius": want one of`)
	s = make()
	s.Traffic[0].Params = 3
	require.ErrorContains(t, Validate(&s), "traffic.0.incast: workload incast takes parameters of type")
}

func TestErrorsOfWhatIsBuiltHaveTheirPlace(t *testing.T) {
	s := parsed(t, `topology: {custom: {nodes: [{name: h0, kind: host}, {name: sw0, kind: switch}], links: [{a: h0, b: sw0}, {a: h9, b: sw0}]}}
nic:
  congestion: {dcqcn: {g: 1/16}}
traffic:
  - incast: {receiver: h9}
  - ping_mesh
`)
	_, err := buildGraph(s)
	require.EqualError(t, s.Locate("topology", err), `s.yaml:1:110: topology.custom.links.1.a: no node is called "h9": want one of h0, sw0`)
	for _, c := range []struct{ path, err, want string }{
		{"traffic.0", `incast: receiver: unknown host "h9": there are h0`, `s.yaml:5:24: traffic.0.incast.receiver: unknown host "h9": there are h0`},
		{"traffic.0", "incast: senders: 9 hosts: want 1..1", "s.yaml:5:5: traffic.0.incast.senders: 9 hosts: want 1..1"},
		{"traffic.1", "ping_mesh: needs at least 2 hosts, and the fabric has 1", "s.yaml:6:5: traffic.1.ping_mesh: needs at least 2 hosts, and the fabric has 1"},
		{"nic.congestion", "congestion dcqcn: g 7: want 0 to 1", "s.yaml:3:27: nic.congestion.dcqcn.g: 1/16: want 0 to 1"},
		{"nic.congestion", "congestion dcqcn: f 7: want 0 to 1", "s.yaml:3:16: nic.congestion.dcqcn.f: 7: want 0 to 1"},
		{"topology", "the graph\nis odd", "s.yaml:1:1: topology: the graph is odd"},
		{"", "switch.buffer.size: 1KB: too small", "s.yaml: switch.buffer.size: 1KB: too small"},
		{"", "nic.congestion: odd", "s.yaml:3:3: nic.congestion: odd"},
		{"", "file not found: x", "s.yaml: file not found: x"},
	} {
		require.EqualError(t, s.Locate(c.path, errors.New(c.err)), c.want)
	}
	require.NoError(t, s.Locate("topology", nil))
	located := s.Locate("traffic.0", errors.New("x"))
	require.Equal(t, located, s.Locate("topology", located))
	code := Defaults()
	require.EqualError(t, code.Locate("traffic.0", errors.New("incast: x")), "traffic.0: incast: x")
}

// buildGraph builds the topology alone.
func buildGraph(s *Spec) (*topology.Graph, error) {
	e, err := topology.Topologies.Lookup(s.Topology.Name)
	if err != nil {
		return nil, err
	}
	return e.Build(s.Topology.Params)
}

func TestValidateOnAFabric(t *testing.T) {
	base := "topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}}\ntraffic: [incast]\n"
	for _, c := range []struct{ text, err string }{
		{"", ""},
		{"switches: [{match: 'leaf*'}, {match: spine1}]\nnics: [{match: h3}]\nlinks: [{a: leaf0, b: 'h?', loss: 1%}]\n", ""},
		{"switches: [{match: tor0}]\n", "s.yaml:3:20: switches.0.match: tor0: matches no switch: there are leaf0, leaf1, spine0, spine1"},
		{"switches: [{match: leaf2}]\n", "s.yaml:3:20: switches.0.match: leaf2: matches no switch: did you mean leaf"},
		{"switches: [{match: h0}]\n", "s.yaml:3:20: switches.0.match: h0: matches no switch: there are"},
		{"nics: [{match: leaf0}]\n", "s.yaml:3:16: nics.0.match: leaf0: matches no host: there are h0, h1, h2, h3"},
		{"links: [{a: h0, b: h1, loss: 1%}]\n", "s.yaml:3:9: links.0: h0 - h1: matches no link: there are "},
		{"switch: {buffer: {size: 1MB, headroom: 300KB}}\n", "s.yaml:3:40: switch.buffer.headroom: reserve and headroom of the 4 ports of leaf0 take 1216.384KB of a buffer of 1MB"},
		{"switch: {buffer: {size: 10KB}}\n", "s.yaml:3:25: switch.buffer.size: reserve and headroom of the 4 ports of leaf0 take 16KiB of a buffer of 10KB"},
		{"switches: [{match: leaf1, buffer: {size: 10KB}}]\n", "s.yaml:3:42: switches.0.buffer.size: reserve and headroom of the 4 ports of leaf1"},
		{"duration: 10s\nseries: {interval: 1us}\n", ""},
		{"duration: 10000s\nseries: {interval: 1ms}\n", ""},
	} {
		s := parsed(t, base+c.text)
		g, err := buildGraph(s)
		require.NoError(t, err)
		err = ValidateOn(s, g)
		if c.err == "" {
			require.NoError(t, err, c.text)
			continue
		}
		requireOneError(t, err, c.err, c.text)
	}
	s := parsed(t, "topology: {fat_tree: {k: 16}}\ntraffic: [incast]\nduration: 10s\nseries: {interval: 1us}\n")
	g, err := buildGraph(s)
	require.NoError(t, err)
	require.EqualError(t, ValidateOn(s, g), "s.yaml:4:20: series.interval: 1us: makes 10000001 bins for each of 6144 ports: want at most 2000000000 in all, that is an interval of at least 100us, or 0s for no series")
}

func TestLint(t *testing.T) {
	ecn := "ecn: {3: {kmin: 400KB, kmax: 1600KB, pmax: 20%}}"
	for _, c := range []struct {
		text string
		want []string // rules with the places that they name
	}{
		{"switch: {" + ecn + "}", nil},
		{"nic: {congestion: none}", nil},
		{"", []string{"nobody-marks s.yaml: switch.ecn"}},
		{"switch: {" + ecn + ", dscp_map: {3: 3, 48: 6}}", []string{"dscp-not-lossless s.yaml:5:60: switch.dscp_map", "nobody-marks s.yaml:5:10: switch.ecn", "priority-differs s.yaml:5:60: switch.dscp_map"}},
		{"switch: {" + ecn + ", dscp_map: {26: 3, 48: 3}}", []string{"cnp-with-data s.yaml:5:82: switch.dscp_map.48"}},
		{"switch: {" + ecn + ", trust: pcp}", []string{"pcp-without-tag s.yaml:5:67: switch.trust"}},
		{"switch: {" + ecn + ", balance: {method: spray}}", []string{"spray-reorders s.yaml:5:78: switch.balance.method"}},
		{"switch: {" + ecn + ", vtep: true}", nil},
		{"switch: {" + ecn + ", vtep: true}\nnic: {encapsulation: vxlan}", []string{"vxlan-twice s.yaml:6:22: nic.encapsulation"}},
		{"switch: {buffer: {size: 3MB}, " + ecn + "}", []string{"ecn-after-pfc s.yaml:5:47: switch.ecn.3.kmin"}},
		{"switch: {" + ecn + "}\nswitches: [{match: sw0, ecn: {}}]", []string{"nobody-marks s.yaml:6:25: switches.0.ecn"}},
		{"switch: {" + ecn + "}\nnics: [{match: h0, dscp: 10}]", []string{"dscp-not-lossless s.yaml:5:1: switch.dscp_map", "nobody-marks s.yaml:5:10: switch.ecn", "priority-differs s.yaml:6:26: nics.0.dscp"}},
	} {
		var got []string
		for _, f := range Lint(parsed(t, small+c.text+"\n")) {
			got = append(got, f.Rule.Name+" "+f.From.String())
			require.NotEmpty(t, f.Text)
			require.NotEmpty(t, f.Set)
		}
		require.Equal(t, c.want, got, c.text)
	}
}

func TestNearestWord(t *testing.T) {
	for word, want := range map[string]string{"swich": "switch", "Buffer": "buffer", "zzz": "", "": "", "nics": "nic", "kmni": "kmin"} {
		require.Equal(t, want, nearest(word, []string{"switch", "nic", "buffer", "kmin"}), word)
	}
	require.Equal(t, fmt.Sprint([]int{3, 1, 0, 9}), fmt.Sprint([]int{wordDistance("kitten", "sitting", 9), wordDistance("a", "b", 9), wordDistance("x", "x", 9), wordDistance("", "123456789", 9)}))
}
