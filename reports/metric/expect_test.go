package metric

import (
	"encoding/xml"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim/simtest"
)

func TestExpectations(t *testing.T) {
	m := incast().metrics(t) // total 2.6 Gb/s, queue 400 KB, slowdown 8, FCT 4 ms
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{"packets.dropped.lossless == 0", true},
		{"packets.dropped.fault == 0", false},
		{"packets.dropped.fault != 0", true},
		{"packets.dropped.fault==7", true},
		{"goodput_bps.total > 2.5Gbps", true},
		{"goodput_bps.total > 2.6e9", false},
		{"goodput_bps.total >= 2600 Mbps", true},
		{"flows.slowdown.p99 < 10", true},
		{"flows.slowdown.p99 < 800%", false},
		{"flows.fct_s.max <= 4ms", true},
		{"flows.fct_s.max <= 3999us", false},
		{"flows.fct_s.max <= 0.004", true},
		{"queue_bytes.max < 2MB", true},
		{"queue_bytes.max < 400KB", false},
		{"queue_bytes.max < 400KiB", true},
		{"pfc.xoff > 1e1", true},
		{"pfc.max_paused_fraction < 1/2", true},
		{"pfc.max_paused_fraction < 40%", false},
		{"goodput_bps.total within 2.6Gbps..3Gbps", true},
		{"goodput_bps.total within 2.7Gbps..3Gbps", false},
		{"flows.slowdown.p99 within 1..8", true},
		{"  completions.retry_exceeded <= 1 ", true},
		{"completions.rnr_retry_exceeded == 0", true},
		{"run.partial == 0", true},
		{"pfc.xoff > -1", true},
	} {
		e, err := ParseExpectation(c.text)
		require.NoError(t, err, c.text)
		v := e.Check(m)
		assert.Equal(t, c.ok, v.OK, c.text)
		assert.Equal(t, c.ok, v.Why == "", c.text)
	}
}

func TestExpectationErrorsSayWhatIsValid(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "want a figure, an operator and a value, as in: packets.dropped.lossless == 0",
		"== 0":                             "want a figure",
		"packets.droped.lossless == 0":     `there is no figure "packets.droped.lossless" (did you mean packets.dropped.lossless?): want one of run.simulated_s, run.warmup_s`,
		"colour == 0":                      "flows.slowdown.p99",
		"goodput_bps > 1Gbps":              "goodput_bps is a group of figures: want one of goodput_bps.total, goodput_bps.min, goodput_bps.max, goodput_bps.jain",
		"run.name == 0":                    `there is no figure "run.name"`,
		"completions.retry_exceded == 0":   "did you mean completions.retry_exceeded?",
		"pfc.xoff":                         `"" does not begin with an operator: want one of == != <= >= < >, or within a..b`,
		"pfc.xoff = 0":                     `"= 0" does not begin with an operator`,
		"pfc.xoff =! 0":                    "does not begin with an operator",
		"pfc.xoff == ":                     `"" is not a number: pfc.xoff is a count without a unit`,
		"pfc.xoff == 3KB":                  `"3KB" is not a number: pfc.xoff is a count`,
		"pfc.xoff == NaN":                  "is not a number",
		"pfc.xoff < Inf":                   "is not a number",
		"flows.fct_s.max < 12KB":           `"12KB" is not a time: flows.fct_s.max is in seconds, write 12ms or 0.012`,
		"goodput_bps.total > 85ms":         `"85ms" is not a rate: goodput_bps.total is in bits per second, write 85Gbps or 85e9`,
		"queue_bytes.max < 2Gbps":          `"2Gbps" is not a size: queue_bytes.max is in bytes, write 2MB or 2e6`,
		"flows.slowdown.p99 < 3s":          `"3s" is not a ratio: flows.slowdown.p99 has no unit`,
		"flows.slowdown.p99 within 3":      "want a range after within, as in: within 1..10",
		"flows.slowdown.p99 within 3..":    `"" is not a ratio`,
		"flows.slowdown.p99 within 10..1":  "the range is empty: 10 is more than 1",
		"flows.slowdown.p99 within":        "does not begin with an operator",
		"packets.dropped.lossless == 0, 1": `"0, 1" is not a number`,
	} {
		_, err := ParseExpectation(text)
		if assert.Error(t, err, text) {
			assert.ErrorContains(t, err, want, text)
			assert.True(t, strings.HasPrefix(err.Error(), "expectation "), text)
		}
	}
	m := &Metrics{}
	_, err := m.Check([]string{"pfc.xoff == 0", "nonsense"})
	require.Error(t, err)
}

func TestJUnit(t *testing.T) {
	m := incast().metrics(t)
	ok, err := m.Check([]string{"packets.dropped.lossless == 0", "goodput_bps.total > 85Gbps", "flows.fct_s.max <= 3ms", "icrc.invalid == 0"})
	require.NoError(t, err)
	require.False(t, ok)
	p, err := m.JUnit()
	require.NoError(t, err)
	simtest.Golden(t, "expect.xml", p)
	var back junitSuite
	require.NoError(t, xml.Unmarshal(p, &back))
	require.Equal(t, []int{4, 3, 4}, []int{back.Tests, back.Failures, len(back.Cases)})
	require.Equal(t, "goodput_bps.total is 2.6 Gbit/s", back.Cases[1].Failure.Message)
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{93.1234e9, BitsPerS, "93.12 Gbit/s"}, {0, BitsPerS, "0 bit/s"}, {999.96e6, BitsPerS, "1 Gbit/s"}, {2.5e15, BitsPerS, "2500 Tbit/s"},
		{12.5e-6, Seconds, "12.5 us"}, {0, Seconds, "0 s"}, {1.5, Seconds, "1.5 s"}, {1e-12, Seconds, "1 ps"}, {86400, Seconds, "86400 s"},
		{1.6e6, Bytes, "1.6 MB"}, {412, Bytes, "412 B"}, {-1500, Bytes, "-1.5 KB"}, {0.12345, Ratio, "0.1235"}, {123456, Count, "123456"}, {0.5, Count, "0.5"},
	} {
		assert.Equal(t, c.want, Format(c.v, c.unit))
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64} {
		for _, u := range []string{Seconds, BitsPerS, Bytes, Ratio, Count} {
			assert.NotEmpty(t, Format(v, u))
		}
	}
}

// Whatever is parsed is either an error or a condition that exactly one of a
// value and its negation fulfils.
func FuzzParseExpectation(f *testing.F) {
	for _, s := range []string{"packets.dropped.lossless == 0", "goodput_bps.total > 85Gbps", "flows.fct_s.max within 1ms..2ms", "queue_bytes.max < 1e999", "a.b ~ 3", "pfc.xoff<=\x00"} {
		f.Add(s)
	}
	m := &Metrics{}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseExpectation(text)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		v := e.Check(m)
		require.Equal(t, strings.TrimSpace(text), v.Text)
		again, err := ParseExpectation(e.Text)
		require.NoError(t, err)
		require.Equal(t, e, again)
		require.False(t, v.Value != nil && !finite(*v.Value))
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"run":{"mode":"simulated","seed":1},"flows":{"total":3},"expect":[{"text":"x","ok":true,"value":null}]}`))
	f.Add([]byte(`{"run":{"mode":"x"},"completions":null}`))
	f.Fuzz(func(t *testing.T, p []byte) {
		m, err := decode(p)
		if err != nil {
			return
		}
		for _, path := range paths {
			m.Lookup(path.Name)
		}
		_, err = m.JUnit()
		require.NoError(t, err)
	})
}
