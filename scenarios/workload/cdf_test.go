package workload

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// Means of the published distributions are those of the HPCC traffic
// generator's own formula. The sampler agrees: exactly, when the uniform numbers
// are evenly spaced, and by chance within 3 % or, where the tail is heavier than
// that, four standard errors.
func TestBuiltinMeans(t *testing.T) {
	want := map[string]float64{"websearch": 1_711_250, "fbhdp": 120_421, "alistorage2019": 40_870, "googlerpc2008": 2_892}
	require.Len(t, CDFNames(), len(want))
	for _, name := range CDFNames() {
		c, err := BuiltinCDF(name)
		require.NoError(t, err)
		require.InDelta(t, want[name], c.Mean(), 0.6, name)
		square := 0.0
		for i := 1; i < len(c.size); i++ {
			a, b := c.size[i-1], c.size[i]
			square += (a*a + a*b + b*b) / 3 * (c.percent[i] - c.percent[i-1]) / 100
		}
		r := sim.NewRand(1, name)
		drawn, spaced, n := 0.0, 0.0, 200_000
		for i := range n {
			size := c.Draw(r)
			if size < 1 || size > c.Max() {
				t.Fatalf("%s: drew %d", name, size)
			}
			drawn += float64(size)
			spaced += float64(c.at((float64(i) + 0.5) / float64(n) * 100))
		}
		sigma := math.Sqrt((square - c.Mean()*c.Mean()) / float64(n))
		require.InDelta(t, c.Mean(), drawn/float64(n), max(0.03*c.Mean(), 4*sigma), name)
		require.InDelta(t, c.Mean(), spaced/float64(n), 1+1e-3*c.Mean(), name)
	}
}

// Sampled shares of sizes are those of the curve, at every point of it.
func TestDrawFollowsCurve(t *testing.T) {
	c, err := BuiltinCDF("websearch")
	require.NoError(t, err)
	r := sim.NewRand(3, "")
	const n = 100_000
	below := make([]float64, len(c.size))
	for range n {
		size := float64(c.Draw(r))
		for i, s := range c.size {
			if size < s {
				below[i]++
			}
		}
	}
	for i := range c.size {
		p := c.percent[i] / 100
		require.InDelta(t, p, below[i]/n, 5*math.Sqrt(p*(1-p)/n)+1e-9)
	}
}

func TestCDFInterpolates(t *testing.T) {
	c, err := ParseCDF("x", []byte("0 0\n100 50 # half\n\n100 60\n300 100\n"))
	require.NoError(t, err)
	for percent, want := range map[float64]sim.Bytes{0: 1, 25: 50, 49.999: 99, 50: 100, 55: 100, 60: 100, 80: 200, 99.9999: 299} {
		require.Equal(t, want, c.at(percent), percent)
	}
	require.InDelta(t, 0.5*50+0.1*100+0.4*200, c.Mean(), 1e-9)

	step, err := ParseCDF("x", []byte("64 40\n1000 100")) // 40 % are exactly 64 bytes
	require.NoError(t, err)
	require.Equal(t, sim.Bytes(64), step.at(0))
	require.Equal(t, sim.Bytes(64), step.at(39))
	require.Equal(t, sim.Bytes(532), step.at(70))
}

func TestCDFErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "f: no points: want lines of bytes and cumulative percent",
		"0 0\n10 99":        "f: the distribution ends at 99 %: the last point must be at 100",
		"0 0\n10 0.5\n20 1": "f: the distribution ends at 1 %: the last point must be at 100",
		"0 0\n10":           "f:2: 1 fields: want bytes and cumulative percent",
		"0 0\nx 100":        `f:2: "x 100": want bytes (0..1TiB) and cumulative percent (0..100)`,
		"0 0\n-1 100":       `f:2: "-1 100": want bytes (0..1TiB) and cumulative percent (0..100)`,
		"0 0\nNaN 100":      `f:2: "NaN 100": want bytes (0..1TiB) and cumulative percent (0..100)`,
		"0 0\n10 101":       `f:2: "10 101": want bytes (0..1TiB) and cumulative percent (0..100)`,
		"0 0\n10 50\n9 100": "f:3: size 9 after 10: sizes must not decrease",
		"0 0\n10 50\n11 40": "f:3: 40 % after 50 %: a cumulative distribution must not decrease",
		"0 0\n0 100":        "f: every size is below one byte",
	} {
		_, err := ParseCDF("f", []byte(text))
		require.EqualError(t, err, want)
	}
	_, err := BuiltinCDF("../cdf")
	require.EqualError(t, err, `cdf: unknown distribution "../cdf": want one of alistorage2019, fbhdp, googlerpc2008, websearch, fixed or exponential with size, or cdf_file`)
}

func TestExponentialSizes(t *testing.T) {
	e, r := exponentialSize(1000), sim.NewRand(5, "")
	sum, above := 0.0, 0
	const n = 200_000
	for range n {
		size := e.Draw(r)
		require.GreaterOrEqual(t, size, sim.Bytes(1))
		require.LessOrEqual(t, size, e.Max())
		sum += float64(size)
		if size > 1000 {
			above++
		}
	}
	require.InEpsilon(t, 1000, sum/n, 0.01)
	require.InDelta(t, math.Exp(-1), float64(above)/n, 0.005)
}

// What is embedded is what was published.
func TestBuiltinsAreThePublishedFigures(t *testing.T) {
	for name, file := range map[string]string{"websearch": "WebSearch", "fbhdp": "FbHdp", "alistorage2019": "AliStorage2019", "googlerpc2008": "GoogleRPC2008"} {
		text, err := os.ReadFile(fmt.Sprintf("../../../shared/reference/data/flowsize/%s.txt", file))
		if err != nil {
			t.Skip("reference data absent")
		}
		want, err := ParseCDF(file, text)
		require.NoError(t, err)
		got, err := BuiltinCDF(name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func FuzzParseCDF(f *testing.F) {
	for _, s := range []string{"0 0\n10 100", "64 40\n1000 100", "# c\n0 0\n1 1\n1 100", "1e30 100", "0 0\n0 50\n5 100\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCDF("f", []byte(text))
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "f:"), err.Error())
			return
		}
		require.False(t, math.IsNaN(c.Mean()))
		last := sim.Bytes(0)
		for p := 0.0; p < 100; p += 0.37 {
			n := c.at(p)
			require.GreaterOrEqual(t, n, max(last, 1))
			require.LessOrEqual(t, n, c.Max())
			last = n
		}
	})
}
