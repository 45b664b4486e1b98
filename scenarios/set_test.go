package scenarios

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/congestion"
	"rdmasim/fabric/topology"
	"rdmasim/scenarios/workload"
	"rdmasim/sim"
)

func TestSettings(t *testing.T) {
	s := parsed(t, small+"switch: {ecn: {3: {kmin: 5KB, kmax: 200KB, pmax: 1%}}}\n",
		"switch.ecn.3.kmin=20KB",
		"switch.pfc.priorities=[3, 4]",
		"topology.star.hosts=5", // star was written as a bare name
		"traffic.0.incast.senders=2",
		"nic.congestion.dcqcn.g=1/16", // nic was not written at all
		"nic.timeout=1", "nic.timeout=2",
		"name=a b",
		"duration=until_done",
		"expect=[flows.failed == 0]",
		"expect.0=flows.failed < 1",
	)
	require.Equal(t, 20*sim.KB, s.Switch.ECN[3].Kmin)
	require.Equal(t, 200*sim.KB, s.Switch.ECN[3].Kmax)
	require.Equal(t, []int{3, 4}, s.Switch.PFC.Priorities)
	require.Equal(t, 5, s.Topology.Params.(topology.StarParams).Hosts)
	require.Equal(t, workload.HostSet{"2"}, s.Traffic[0].Params.(workload.IncastParams).Senders)
	want := DefaultNIC().Congestion.Params.(congestion.DCQCNParams)
	want.G = 1.0 / 16
	require.Equal(t, want, s.NIC.Congestion.Params, "one parameter set must not change the preset of the others")
	require.Equal(t, 2, s.NIC.Timeout, "the last of two settings holds")
	require.Equal(t, "a b", s.Name)
	require.Equal(t, []string{"flows.failed < 1"}, s.Expect)

	require.Equal(t, "none", parsed(t, small, "nic.congestion=none").NIC.Congestion.Name)
	require.Equal(t, "ring", parsed(t, small, "topology=ring").Topology.Name)
	require.Equal(t, 3, parsed(t, small, "topology={ring: {}}", "topology.ring.switches=3").Topology.Params.(topology.RingParams).Switches)
	require.Equal(t, "", parsed(t, small, "traffic.0.incast.receiver=").Traffic[0].Params.(workload.IncastParams).Receiver)
}

func TestMistakesInSettings(t *testing.T) {
	text := small + "switch: {ecn: {3: {kmin: 5KB, kmax: 200KB, pmax: 1%}}}\n"
	for setting, want := range map[string]string{
		"":                         "--set : want path=value, such as switch.ecn.3.kmin=200KB",
		"nic":                      "--set nic: want path=value",
		"=1":                       "--set =1: want path=value",
		"nic.=1":                   "--set nic.=1: nic.: a key is empty: want keys joined by single dots",
		"a..b=1":                   "--set a..b=1: a..b: a key is empty",
		"nic.timeout=[1":           "--set nic.timeout=[1: the value is not YAML: ",
		"nic.timeout=&a 1":         "--set nic.timeout=&a 1: anchors (&) and aliases (*) are not supported",
		"nic.timeout=32":           "--set nic.timeout=32: nic.timeout: 32: want 0..31",
		"nic.time_out=3":           "--set nic.time_out=3: nic.time_out: unknown key: did you mean timeout? ",
		"switch.ecn.3.kmin=1":      "--set switch.ecn.3.kmin=1: switch.ecn.3.kmin: 1: has no unit: write a size as 400KB or 32MiB",
		"switch.ecn.3.kmin=1MB":    "--set switch.ecn.3.kmin=1MB: switch.ecn.3.kmin: 1MB: is more than kmax, 200KB: want kmin <= kmax",
		"switch.ecn.3.kmax=1KB":    "s.yaml:5:26: switch.ecn.3.kmin: 5KB: is more than kmax, 1KB: want kmin <= kmax",
		"switch.ecn.3.kmin.x=1":    `--set switch.ecn.3.kmin.x=1: switch.ecn.3.kmin.x: the value here is "5KB", which has no keys`,
		"switch.ecn.8={}":          "--set switch.ecn.8={}: switch.ecn.8: kmin is missing",
		"traffic.1=incast":         "--set traffic.1=incast: traffic.1: the list has 1 items, numbered from 0",
		"traffic.x=incast":         "--set traffic.x=incast: traffic.x: the list has 1 items, numbered from 0",
		"traffic.0.poisson.load=1": `--set traffic.0.poisson.load=1: traffic.0.poisson: the value here is "incast", which has no keys`,
		"nic.timeout=" + strings.Repeat("1", 100000): "--set nic.timeout=" + strings.Repeat("1", 68) + "...: 100000 bytes: want at most 65536",
		"nic.timeout=\x00":                           `--set "nic.timeout=\x00": the value is not YAML: `,
	} {
		_, err := ParseSet("s.yaml", []byte(text), []string{setting})
		requireOneError(t, err, want, setting)
	}
}
