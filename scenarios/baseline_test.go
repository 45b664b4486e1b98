package scenarios

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

const oneSwitch = "name: b\nduration: 1ms\ntopology: {star: {hosts: 4, rate: 100Gbps}}\ntraffic: [{incast: {receiver: h0}}]\n"

// mixed has ports of 400 and 100 Gb/s.
const mixed = oneSwitch + "links: [{a: h0, b: sw0, rate: 400Gbps}, {a: h1, b: sw0, rate: 400Gbps}]\n"

func curve(kmin, kmax sim.Bytes, pmax sim.Ratio) ECNSpec {
	return ECNSpec{Kmin: kmin, Kmax: kmax, Pmax: pmax, MarkAt: "dequeue", Above: "mark_all"}
}

// The resolved scenario of every baseline holds values, and parses to the same.
func TestEveryBaselineResolves(t *testing.T) {
	for _, name := range Baselines.Names() {
		b, err := LookupBaseline(name)
		require.NoError(t, err)
		require.NotEmpty(t, b.Source, name)
		require.NotEmpty(t, b.For, name)
		require.Contains(t, []BaselineLabel{ReadInSource, SecondarySource, FromMemory}, b.Label, name)
		s, err := Parse("b.yaml", []byte(oneSwitch+"switch: {ecn: {3: {baseline: "+name+"}}}\n"))
		if b.Lacks != "" {
			require.ErrorContains(t, err, "no curve")
			continue
		}
		require.NoError(t, err, name)
		e := s.Switch.ECN[3]
		require.Zero(t, e.from)
		require.Positive(t, e.Kmax)
		require.LessOrEqual(t, e.Kmin, e.Kmax)
		y, _, err := Resolved(s)
		require.NoError(t, err)
		require.NotContains(t, string(y), "baseline")
		require.Contains(t, string(y), "kmin: "+e.Kmin.String())
		roundTrip(t, s)
	}
}

func TestBaselinesByRate(t *testing.T) {
	for _, c := range []struct {
		what, scenario string
		ecn            map[int]ECNSpec
		byRate         []ECNRateSpec
	}{
		{"one curve", oneSwitch + "switch: {ecn: {3: {baseline: cisco-400g}}}", map[int]ECNSpec{3: curve(950*sim.KB, 3*sim.MB, 0.07)}, nil},
		{"of a family, one rate in the fabric", oneSwitch + "switch: {ecn: {3: {baseline: cisco}}}", map[int]ECNSpec{3: curve(150*sim.KB, 3*sim.MB, 0.07)}, nil},
		{"two rates", mixed + "switch: {ecn: {3: {baseline: cisco}}}", map[int]ECNSpec{3: curve(950*sim.KB, 3*sim.MB, 0.07)},
			[]ECNRateSpec{{100 * sim.Gbps, map[int]ECNSpec{3: curve(150*sim.KB, 3*sim.MB, 0.07)}}}},
		{"in proportion", mixed + "switch: {ecn: {3: {baseline: hpcc-dcqcn}}}", map[int]ECNSpec{3: curve(1600*sim.KB, 6400*sim.KB, 0.2)},
			[]ECNRateSpec{{100 * sim.Gbps, map[int]ECNSpec{3: curve(400*sim.KB, 1600*sim.KB, 0.2)}}}},
		{"not linear", mixed + "switch: {ecn: {3: {baseline: simai}}}", map[int]ECNSpec{3: curve(800*sim.KB, 3200*sim.KB, 0.2)},
			[]ECNRateSpec{{100 * sim.Gbps, map[int]ECNSpec{3: curve(400*sim.KB, 1600*sim.KB, 0.2)}}}},
		{"a value beside it holds at every rate", mixed + "switch: {ecn: {3: {baseline: cisco, pmax: 50%}}}", map[int]ECNSpec{3: curve(950*sim.KB, 3*sim.MB, 0.5)},
			[]ECNRateSpec{{100 * sim.Gbps, map[int]ECNSpec{3: curve(150*sim.KB, 3*sim.MB, 0.5)}}}},
		{"another priority keeps its curve", mixed + "switch: {pfc: {priorities: [3, 4]}, ecn: {3: {baseline: cisco}, 4: {kmin: 1KB, kmax: 2KB, pmax: 1}}}",
			map[int]ECNSpec{3: curve(950*sim.KB, 3*sim.MB, 0.07), 4: curve(1*sim.KB, 2*sim.KB, 1)},
			[]ECNRateSpec{{100 * sim.Gbps, map[int]ECNSpec{3: curve(150*sim.KB, 3*sim.MB, 0.07), 4: curve(1*sim.KB, 2*sim.KB, 1)}}}},
		{"a rate of its own", mixed + "switch: {ecn: {3: {baseline: cisco}}, ecn_by_rate: [{rate: 100Gbps, ecn: {3: {baseline: hpcc-dcqcn}}}]}",
			map[int]ECNSpec{3: curve(950*sim.KB, 3*sim.MB, 0.07)}, []ECNRateSpec{{100 * sim.Gbps, map[int]ECNSpec{3: curve(400*sim.KB, 1600*sim.KB, 0.2)}}}},
		// alpha 1/8 of 32 MiB: one queue holds 32 MiB / 9
		{"shares of the largest queue", oneSwitch + "switch: {ecn: {3: {baseline: juniper-jvd}}}", map[int]ECNSpec{3: curve(2050548, 3355443, 1)}, nil},
	} {
		s, err := Parse("b.yaml", []byte(c.scenario+"\n"))
		require.NoError(t, err, c.what)
		require.Equal(t, c.ecn, s.Switch.ECN, c.what)
		require.Equal(t, c.byRate, s.Switch.ECNByRate, c.what)
		roundTrip(t, s)
	}
}

// A rule starts from what the switches have, baseline included.
func TestBaselinesOfRules(t *testing.T) {
	s, err := Parse("b.yaml", []byte(mixed+"switch: {ecn: {3: {baseline: cisco}}}\nswitches: [{match: sw0, ecn: {3: {kmax: 4MB}}}]\n"))
	require.NoError(t, err)
	require.Equal(t, curve(950*sim.KB, 4*sim.MB, 0.07), s.Switches[0].Switch.ECN[3])
	require.Equal(t, curve(150*sim.KB, 4*sim.MB, 0.07), s.Switches[0].Switch.ECNByRate[0].ECN[3])
	require.Equal(t, curve(950*sim.KB, 3*sim.MB, 0.07), s.Switch.ECN[3])
	s, err = ParseSet("b.yaml", []byte(oneSwitch+"switch: {ecn: {3: {kmin: 1KB, kmax: 2KB, pmax: 1}}}\n"), []string{"switch.ecn.3={baseline: conweave}"})
	require.NoError(t, err)
	require.Equal(t, curve(100*sim.KB, 400*sim.KB, 0.2), s.Switch.ECN[3])
}

func TestBaselineErrors(t *testing.T) {
	for text, want := range map[string]string{
		"{baseline: cisco-40g}":                   `b.yaml:5:30: switch.ecn.3.baseline: cisco-40g: unknown baseline: did you mean cisco-400g? want one of arista-7388, `,
		"{baseline: meta-400g}":                   "this baseline has no curve",
		"{baseline: [cisco]}":                     "is a list",
		"{baseline: }":                            "has no value",
		"{basline: cisco}":                        "did you mean baseline?",
		"{baseline: cisco, kmim: 1KB}":            "did you mean kmin?",
		"{baseline: sonic-default, kmin: 10MB}":   "is more than kmax, 2MiB",
		"{baseline: huawei-latency, kmin: 600KB}": "is more than kmax, 500KB",
		"{kmin: 1KB, kmax: 2KB}":                  "pmax is missing",
	} {
		_, err := Parse("b.yaml", []byte(oneSwitch+"switch: {ecn: {3: "+text+"}}\n"))
		require.Error(t, err, text)
		require.Contains(t, err.Error(), want, text)
		require.False(t, strings.Contains(err.Error(), "\n"), err)
	}
	_, err := Parse("b.yaml", []byte(strings.Replace(oneSwitch, "100Gbps", "30Gbps", 1)+"switch: {ecn: {3: {baseline: cisco}}}\n"))
	require.ErrorContains(t, err, `switch.ecn.3.baseline: cisco: has no curve for ports of 30Gbps: it has 25Gbps, 40Gbps, 100Gbps, 400Gbps`)
}
