package metric

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// busy is the incast with series: the queue of leaf0:1 holds 100 KB from 1 ms,
// 400 KB from 2 ms and nothing from 6 ms on; that of leaf0:2 holds 50 KB from 4 ms on.
func busy() story {
	s := incast()
	bin := func(at int64, object trace.ObjectID, v float64) trace.Point {
		return trace.Point{Time: sim.Time(at) * ms, Object: object, Metric: trace.SeriesQueueBytes, Mean: v, Min: v / 2, Max: v * 2}
	}
	s.points = []trace.Point{bin(1, 3, 100e3), bin(2, 3, 400e3), bin(6, 3, 0), bin(4, 4, 50e3)}
	s.flows[0].Tag, s.flows[2].Tag = "victim", "victim"
	s.events = append(s.events, trace.Event{Time: 3 * ms, Seq: 2, Kind: trace.EventDrop, Object: 1, Peer: 2, Prio: 3, Value: 1000, Cause: "loss"},
		trace.Event{Time: 5 * ms, Seq: 3, Kind: trace.EventDrop, Object: 2, Prio: 4, Value: 3000, Cause: "headroom exhausted"})
	return s
}

// Every function, worked by hand.
func TestFunctionsOfARun(t *testing.T) {
	m := busy().metrics(t)
	for text, want := range map[string]float64{
		"max(queue_bytes)":                                         800e3, // the top of the bin, not its mean
		"max(queue_bytes, priority=4)":                             100e3,
		"max(queue_bytes, port=leaf0:1, from=1ms, to=2ms)":         200e3,
		"min(queue_bytes, port=leaf0:1)":                           0,
		"min(queue_bytes, port=leaf0:1, from=2ms, to=6ms)":         200e3,
		"mean(queue_bytes, port=leaf0:1)":                          (100e3*1 + 400e3*4) / 10,
		"mean(queue_bytes, object=leaf0:1/q3, from=2ms, to=4ms)":   400e3,
		"mean(queue_bytes)":                                        (100e3 + 400e3*4 + 50e3*6) / 20, // of both queues
		"sum(queue_bytes)":                                         (100e3 + 400e3*4 + 50e3*6) / 10,
		"p50(queue_bytes, port=leaf0:1)":                           100e3, // 0 for 5 ms of 10
		"p40(queue_bytes, port=leaf0:1)":                           0,
		"p99(queue_bytes, link=leaf0>h1)":                          400e3,
		"max(queue_bytes, link=h2-leaf0)":                          100e3,
		"max(queue_bytes, switch=leaf*, to=1ms)":                   0,
		"max(queue_bytes, host=h1)":                                0,
		"first(queue_bytes)":                                       1e-3,
		"first(queue_bytes, above=300KB)":                          2e-3,
		"last(queue_bytes, above=60KB)":                            6e-3,
		"time(queue_bytes, above=90KB)":                            5e-3,
		"time(queue_bytes, port=leaf0:1, below=1B)":                5e-3,
		"count(events)":                                            4,
		"count(events, kind=drop)":                                 2,
		"count(events, kind=drop, cause=loss)":                     1,
		"count(events, kind=pause_*)":                              2,
		"count(events, kind=drop, priority=4)":                     1,
		"count(events, kind=drop, peer=leaf0:2)":                   1,
		"count(events, kind=drop, link=leaf0>h2)":                  1,
		"count(events, kind=drop, from=4ms)":                       1,
		"count(events, kind=drop, cause='headroom exhausted')":     1,
		"first(events, kind=drop)":                                 3e-3,
		"last(events, kind=drop)":                                  5e-3,
		"max(events, kind=drop)":                                   3000,
		"sum(events, kind=drop)":                                   4000,
		"count(events, kind=watchdog)":                             0,
		"count(flows)":                                             5,
		"count(flows, tag=victim)":                                 2,
		"count(flows, status=success)":                             3,
		"count(flows, src=h1, status=retry_exceeded)":              1,
		"max(flows.fct_s, src=h1)":                                 2e-3,
		"max(flows.slowdown)":                                      8,
		"sum(flows.delivered_bytes, src=h2)":                       1.25e6,
		"first(flows)":                                             2e-3,
		"last(flows, src=h2)":                                      5e-3,
		"goodput(flows, src=h2)":                                   1.25e6 * 8 / 9e-3,
		"goodput(flows, tag=victim)":                               2e6 * 8 / 5e-3,
		"min(flows.goodput_bps, src=h1)":                           2e6 * 8 / 9e-3,
		"sum(counters.pfc_xoff_tx)":                                11,
		"max(counters.pfc_xoff_tx, port=leaf0:1)":                  5,
		"count(counters.pfc_xoff_tx)":                              2,
		"sum(counters.drops_lossy)":                                0,
		"max(counters.paused_seconds, priority=4)":                 1e-3,
		"first(events, kind=drop) - 1ms":                           2e-3,
		"2 * (pfc.xoff + 1)":                                       24,
		"goodput(flows, src=h1) / goodput_bps.total":               (2e6 * 8 / 9e-3) / 2.6e9,
		"(first(events, kind=drop) + last(events, kind=drop)) / 2": 4e-3,
		"max(queue_bytes) - 2 * min(queue_bytes, from=9ms)":        800e3,
	} {
		e, err := ParseExpectation(text + " == 0")
		require.NoError(t, err, text)
		v, why := e.left.eval(m)
		assert.Empty(t, why, text)
		assert.InEpsilon(t, 1+want, 1+v, 1e-9, "%s is %v, want %v", text, v, want)
	}
}

func TestComparisonsOfARun(t *testing.T) {
	m := busy().metrics(t)
	for text, why := range map[string]string{
		"first(events, kind=drop) within 2ms..4ms":                   "",
		"first(events, kind=drop) within 4ms..5ms":                   "first(events, kind=drop) is 3 ms",
		"first(events, kind=pause_on) < first(events, kind=drop)":    "",
		"first(events, kind=drop) < first(events, kind=pause_on)":    "first(events, kind=drop) is 3 ms, first(events, kind=pause_on) is 1 ms",
		"first(events, kind=watchdog) < 1s":                          "nothing matches: first(events, kind=watchdog) has no value",
		"first(queue_bytes, above=1MB) < 1s":                         "queue_bytes never was so: first(queue_bytes, above=1MB) has no value",
		"max(queue_bytes, switch=leaf9) < 1MB":                       "switch=leaf9: there is none in this fabric",
		"max(queue_bytes, link=h1-h2) < 1MB":                         "link=h1-h2: there is none in this fabric",
		"count(events, host=leaf0) == 0":                             "host=leaf0: there is none in this fabric",
		"goodput(flows, dst=h9) > 1Gbps":                             "dst=h9: there is none in this fabric",
		"max(counters.nonsense) == 0":                                "counters.nonsense: no counter of this run has that name",
		"pfc.xoff / packets.dropped.lossless < 1":                    "packets.dropped.lossless is 0, so that pfc.xoff / packets.dropped.lossless has no value",
		"mean(tx_bps, port=leaf0:1) >= 0":                            "",
		"sum(counters.pfc_xoff_tx) == pfc.xoff":                      "",
		"goodput(flows, src=h1) > 50% * goodput(flows, src=h2)":      "",
		"max(queue_bytes, to=1ms) + 3KB within 1KB + 1KB .. 2 * 2KB": "",
		"pfc.xoff within pfc.xon .. pfc.xon + 6":                     "",
		"flows.fct_s.max < 2 * flows.fct_s.p50":                      "flows.fct_s.max is 4 ms, 2 * flows.fct_s.p50 is 4 ms",
	} {
		e, err := ParseExpectation(text)
		require.NoError(t, err, text)
		assert.Equal(t, why, e.Check(m).Why, text)
	}
	quiet := incast().metrics(t)
	e, err := ParseExpectation("max(queue_bytes) == 0")
	require.NoError(t, err)
	assert.Equal(t, "queue_bytes was not measured: the run has no series", e.Check(quiet).Why, "no series is not an empty queue")
	read := &Metrics{}
	assert.Contains(t, e.Check(read).Why, "its run directory is not at hand")
}

func TestMistakesInFunctions(t *testing.T) {
	for text, want := range map[string]struct {
		at   int
		says string
	}{
		"maximum(queue_bytes) < 1MB":                {0, `there is no function "maximum"`},
		"max(queue_byte) < 1MB":                     {4, "did you mean queue_bytes?"},
		"max(queue_bytes, colour=red) < 1MB":        {17, `"colour" is no filter of queue_bytes: want one of object, port, link`},
		"max(queue_bytes, link) < 1MB":              {21, "want = after link"},
		"max(queue_bytes, link=a":                   {23, "a bracket is open"},
		"max(queue_bytes, from=3) < 1MB":            {22, `from: "3" is not a time`},
		"max(queue_bytes, from=3ms, to=2ms) < 1MB":  {30, "from must be before to"},
		"first(queue_bytes, above=3ms) < 1s":        {25, `above: "3ms" is not a size`},
		"max(queue_bytes) < 3ms":                    {19, `"3ms" is not a size: max(queue_bytes) is in bytes`},
		"first(queue_bytes) < 3KB":                  {21, `"3KB" is not a time`},
		"count(queue_bytes) < 3":                    {6, "count is not defined for queue_bytes"},
		"max(flows) < 3":                            {4, "want a column of them, such as flows.fct_s"},
		"count(events, kind=watchdogs) == 1":        {19, "did you mean watchdog?"},
		"count(events, priority=9) == 1":            {23, `priority: "9" is no priority`},
		"count(events, object=[) == 1":              {21, "is no pattern"},
		"first(events) + pfc.xoff < 1s":             {14, "do not go together: first(events) is a time, pfc.xoff is a pure number"},
		"goodput_bps.total * goodput_bps.total < 1": {18, "do not go together"},
		"3 < 4":                                    {0, "want a figure"},
		"(pfc.xoff < 4":                            {10, "a bracket is open"},
		"pfc.xoff < 4 + ":                          {11, `"4 +" is not a number`},
		"pfc.xoff + 3 parsecs < 4":                 {11, `"3 parsecs" has no unit that is known`},
		"pfc.xoff < max(queue_bytes, colour=1)":    {28, `"colour" is no filter`},
		strings.Repeat("(", 80) + "pfc.xoff) < 1":  {50, "more than 50 signs and brackets"},
		"pfc.xoff == " + strings.Repeat("1", 3000): {0, "want at most 2000"},
	} {
		_, err := ParseExpectation(text)
		var bad *ExpectError
		if assert.ErrorAs(t, err, &bad, text) {
			assert.Contains(t, bad.Problem, want.says, text)
			assert.Equal(t, want.at, bad.Offset, "%s: %s", text, bad.Problem)
		}
	}
}

// Whatever is parsed can be checked against a run without harm.
func FuzzExpectationOfARun(f *testing.F) {
	for _, s := range []string{"max(queue_bytes, link=leaf0>h1, from=1ms) < 2MB", "p99.9(flows.fct_s, tag=v*) within 1ms..2ms",
		"(first(events, kind=drop) - 1us) / 2 < 3s", "goodput(flows, src=h1) > 50% * goodput_bps.total", "count(counters.x, object=a/b) == -1e3"} {
		f.Add(s)
	}
	m := busy().metrics(f)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseExpectation(text)
		if err != nil {
			return
		}
		v := e.Check(m)
		require.False(t, v.Value != nil && !finite(*v.Value))
		require.Equal(t, v.OK, v.Why == "")
	})
}
