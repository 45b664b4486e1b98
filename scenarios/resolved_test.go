package scenarios

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/library"
	"rdmasim/sim"
)

// bare returns a spec without what says where it was read from.
func bare(s *Spec) Spec {
	c := *s
	c.source, c.Dir = nil, ""
	c.Traffic = append([]TrafficSpec(nil), s.Traffic...)
	for i := range c.Traffic {
		c.Traffic[i].Line = 0
	}
	return c
}

// roundTrip demands that the resolved scenario parses to the same spec.
func roundTrip(t *testing.T, s *Spec) {
	t.Helper()
	y, j, err := Resolved(s)
	require.NoError(t, err)
	again, err := Parse("again.yaml", y)
	require.NoError(t, err, "%s", y)
	require.Equal(t, bare(s), bare(again))
	y2, j2, err := Resolved(again)
	require.NoError(t, err)
	require.Equal(t, string(y), string(y2))
	require.Equal(t, string(j), string(j2))
	require.Equal(t, Hash(s), Hash(again))
	var v map[string]any
	require.NoError(t, json.Unmarshal(j, &v), "%s", j)
}

func TestResolvedScenariosParseToTheSame(t *testing.T) {
	for _, e := range library.List() {
		text, err := library.Get(e.Name)
		require.NoError(t, err)
		s, err := Parse(library.File(e.Name), text)
		require.NoError(t, err)
		roundTrip(t, s)
	}
	roundTrip(t, parsed(t, referenceExample))
	roundTrip(t, parsed(t, small+`
name: "true"
switches: [{match: "[a-s]*", ecn: {}, dscp_map: {}}]
nics: [{match: "*", frame: {}}, {match: h0, frame: {header: 48B, overhead: 0B}, drain: 1.5Gbps}]
links: [{a: h0, b: "sw*", loss: 3.3e-7, cable: 1.5m}, {a: h1, b: sw0, delay: 1234567ps}]
switch: {pfc: {priorities: []}, scheduler: {strict: [], weights: {1: 5}}, buffer: {alpha: 1/3, size: 12345678B}}
expect: ["goodput_bps.jain within 0.5..1"]
`, `traffic.0.incast.tag="null"`, `traffic.0.incast.senders=["8"]`, "traffic.0.incast.receiver='no: yes # \u00e9'"))
}

func TestResolvedJSON(t *testing.T) {
	s := parsed(t, referenceExample)
	_, j, err := Resolved(s)
	require.NoError(t, err)
	var v struct {
		Name   string
		Switch struct {
			Latency string
			Buffer  struct {
				Size, Headroom string
				Alpha          float64
			}
			ECN map[string]struct {
				Kmin, Kmax string
				Pmax       float64
			}
			PFC struct {
				Priorities []int
				Timer      bool
			}
		}
		Traffic []map[string]struct{ Message, Repeat string }
	}
	require.NoError(t, json.Unmarshal(j, &v))
	require.Equal(t, "incast", v.Name)
	require.Equal(t, "500ns", v.Switch.Latency)
	require.Equal(t, "32MiB", v.Switch.Buffer.Size)
	require.Equal(t, "auto", v.Switch.Buffer.Headroom)
	require.Equal(t, 0.125, v.Switch.Buffer.Alpha)
	require.Equal(t, "400KB", v.Switch.ECN["3"].Kmin)
	require.Equal(t, 0.2, v.Switch.ECN["3"].Pmax)
	require.Equal(t, []int{3}, v.Switch.PFC.Priorities)
	require.True(t, v.Switch.PFC.Timer)
	require.Equal(t, "1MB", v.Traffic[0]["incast"].Message)
	require.Equal(t, "forever", v.Traffic[0]["incast"].Repeat)
}

// The hash is that of what a scenario says, not of how it says it.
func TestHash(t *testing.T) {
	a := parsed(t, small+"switch: {latency: 1us, buffer: {alpha: 12.5%, size: 1MiB}}\nname: x\n")
	b := parsed(t, "# Another comment.\nname: x\ntraffic:\n  - incast: {}\nswitch:\n  buffer: {size: 1048576B, alpha: 1/8}\n  latency: 1000ns\ntopology: {star: {}}\n")
	require.Equal(t, Hash(a), Hash(b))
	require.Len(t, Hash(a), 64)
	for _, setting := range []string{"seed=2", "switch.latency=1001ns", "traffic.0.incast.senders=3", "nic.timeout=13", "duration=1ms"} {
		require.NotEqual(t, Hash(a), Hash(parsed(t, small+"switch: {latency: 1us, buffer: {alpha: 12.5%, size: 1MiB}}\nname: x\n", setting)), setting)
	}
}

// Specs that code makes are printed too, whatever is in their strings.
func TestResolvedOfOddStrings(t *testing.T) {
	for _, name := range []string{"", "a: b", "'", "\"", "- x", "null", "1e3", "a\tb", "\u2028", "\xff", "# x", "{", "é", " x "} {
		s := Defaults()
		s.Name = name
		m, err := NewMember("topology", "star", "")
		require.NoError(t, err)
		s.Topology = m
		y, _, err := Resolved(&s)
		require.NoError(t, err)
		_, err = Parse("s.yaml", append(y, "traffic: [incast]\n"...))
		require.Error(t, err, "traffic is there twice")
		again, err := Parse("s.yaml", []byte(strings.Replace(string(y), "traffic: []", "traffic: [incast]", 1)))
		if err == nil {
			require.Equal(t, strings.ToValidUTF8(name, "\uFFFD"), again.Name)
		} else {
			require.ErrorContains(t, err, "name: ")
		}
	}
	require.Equal(t, 5*sim.KB, Given(5*sim.KB).Or(1))
	require.Equal(t, sim.Byte, AutoValue[sim.Bytes]().Or(1))
}
