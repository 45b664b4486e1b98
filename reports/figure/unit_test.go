package figure

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"

	"rdmasim/sim"
)

func plain(s string) string {
	return strings.NewReplacer(noBreak, " ", "\u202f", " ").Replace(s)
}

func TestNumbersForPeople(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Seconds(0), "0 s"},
		{Seconds(12.5e-6), "12.5 µs"},
		{Seconds(999.9e-9), "1 µs"}, // not "1000 ns"
		{Seconds(0.8e-9), "0.8 ns"},
		{Seconds(3.2), "3.2 s"},
		{Size(1e6), "1 MB"},
		{Size(1536), "1.54 KB"},
		{Size(512), "512 B"},
		{Bitrate(92.43e9), "92.4 Gbit/s"},
		{Bitrate(1.6e12), "1.6 Tbit/s"},
		{Share(0), "0 %"},
		{Share(1), "100 %"},
		{Share(0.99999), "more than 99.9 %"},
		{Share(0.00001), "less than 0.01 %"},
		{Share(0.284), "28.4 %"},
		{Fraction(0.99999), "more than 0.999"},
		{Fraction(1), "1"},
		{Fraction(0.9287), "0.929"},
		{Number(0.01234), "0.0123"},
		{Whole(1234567), "1 234 567"},
		{Whole(-12345), "-12 345"},
		{Whole(1234), "1234"},
		{Count(0, "flow"), "no flows"},
		{Count(1, "refresh"), "1 refresh"},
		{Count(2, "refresh"), "2 refreshes"},
		{Count(2, "priority"), "2 priorities"},
		{Count(3, "leaf switch"), "3 leaf switches"},
		{List([]string{"a", "b", "c"}), "a, b and c"},
	} {
		require.Equal(t, c.want, plain(c.got))
	}
}

// Ticks are round, in range, in order and few, whatever the range.
func TestTicks(t *testing.T) {
	rng := sim.NewRand(1, "ticks")
	for range 2000 {
		lo := math.Pow(10, -9+18*rng.Float64())
		hi := lo * (1.2 + math.Pow(10, 6*rng.Float64()*rng.Float64()))
		s := pick(byteScales, hi)
		for kind, ticks := range map[string][]float64{"linear": values(linearTicks(0, hi, s)), "log": values(logTicks(lo, hi, s))} {
			require.LessOrEqual(t, len(ticks), 20, "%s %g %g", kind, lo, hi)
			for i, v := range ticks {
				require.LessOrEqual(t, v, hi*(1+1e-6))
				if i > 0 {
					require.Greater(t, v, ticks[i-1])
				}
			}
			require.NotEmpty(t, ticks, "%s %g %g", kind, lo, hi)
		}
	}
}

func TestTicksOfNothing(t *testing.T) {
	require.Empty(t, linearTicks(1, 1, plainScale))
	require.Empty(t, linearTicks(0, math.NaN(), plainScale))
	require.Empty(t, logTicks(0, 1, plainScale))
}

func TestElide(t *testing.T) {
	require.Equal(t, "short", elide("short", 10))
	require.Equal(t, 10, len([]rune(elide("a-very-long-name-of-a-switch", 10))))
}

func TestMarkingsOfResolvedScenario(t *testing.T) {
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(`{"switch": {"ecn": {"3": {"kmin": "400KB", "kmax": "1600KB"}, "x": {"kmin": "1KB"}},
		"ecn_by_rate": [{"rate": "400Gbps", "ecn": {"3": {"kmin": 1600000, "kmax": "6400KB"}}}, {"rate": "fast"}]}}`), &v))
	require.Equal(t, []Marking{{3, 0, 400e3, 1600e3}, {3, 400 * sim.Gbps, 1.6e6, 6.4e6}}, markings(v))
	r := &Run{Markings: []Marking{{3, 400 * sim.Gbps, 1.6e6, 6.4e6}}, PortRate: map[string]int64{"a:0": 400e9, "a:1": 100e9}}
	_, ok := r.MarkingOf("a:1/q3")
	require.False(t, ok)
	m, ok := r.MarkingOf("a:0/q3")
	require.True(t, ok)
	require.Equal(t, 1.6e6, m.Kmin)
}

func FuzzMarkings(f *testing.F) {
	f.Add([]byte(`{"switch": {"ecn": {"3": {"kmin": "400KB", "kmax": "1600KB"}}}}`))
	f.Add([]byte(`{"switch": {"ecn": [1], "ecn_by_rate": {"3": 4}}}`))
	f.Add([]byte(`{"switch": {"ecn": {"-1": {"kmin": 1e300, "kmax": null}}}}`))
	f.Fuzz(func(t *testing.T, p []byte) {
		var v map[string]any
		if json.Unmarshal(p, &v) == nil {
			r := Run{Markings: markings(v)}
			_, _ = r.MarkingOf("leaf0:1/q3")
		}
	})
}

func values(ticks []plot.Tick) []float64 {
	out := make([]float64, len(ticks))
	for i, x := range ticks {
		out[i] = x.Value
	}
	return out
}
