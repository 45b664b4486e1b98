package metric

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// table is where the rows of a function come from.
type table uint8

const (
	tableSeries table = iota
	tableEvents
	tableFlows
	tableCounters
)

// source is what a function is of: a series, the events, a column of the
// messages, or a counter.
type source struct {
	table  table
	name   string // as written
	column string // of flows, or the name of the counter
	unit   string
}

// seriesUnits are the series that models write, with their units.
var seriesUnits = map[string]string{
	trace.SeriesQueueBytes: Bytes, trace.SeriesIngressBytes: Bytes, trace.SeriesHeadroom: Bytes, trace.SeriesThreshold: Bytes,
	trace.SeriesThroughput: BitsPerS, trace.SeriesPaused: Ratio, trace.SeriesMarked: Count, trace.SeriesGoodput: BitsPerS, trace.SeriesReadGoodput: BitsPerS,
	trace.SeriesRate: BitsPerS, trace.SeriesAlpha: Ratio, trace.SeriesCNP: Count,
}

// flowUnits are the columns of messages.
var flowUnits = map[string]string{"": Count, "fct_s": Seconds, "slowdown": Ratio, "bytes": Bytes, "delivered_bytes": Bytes,
	"retransmits": Count, "start_s": Seconds, "end_s": Seconds, "goodput_bps": BitsPerS}

// findSource returns the source of a name.
func findSource(name string) (source, bool) {
	if u, ok := seriesUnits[name]; ok {
		return source{tableSeries, name, "", u}, true
	}
	head, column, _ := strings.Cut(name, ".")
	switch head {
	case "events":
		if column == "" {
			return source{tableEvents, name, "", ""}, true
		}
	case "flows":
		if u, ok := flowUnits[column]; ok {
			return source{tableFlows, name, column, u}, true
		}
	case "counters":
		if column != "" {
			return source{tableCounters, name, column, counterUnit(column)}, true
		}
	}
	return source{}, false
}

// counterUnit tells the unit of a counter from its name.
func counterUnit(name string) string {
	switch {
	case strings.Contains(name, "seconds") && !strings.Contains(name, "byte"), name == trace.CountPauseLongest:
		return Seconds
	case strings.Contains(name, "bytes"):
		return Bytes
	case strings.Contains(name, "fraction"):
		return Ratio
	}
	return Count
}

// unknownSource says what there is.
func unknownSource(name string) string {
	all := append(slices.Sorted(maps.Keys(seriesUnits)), "events", "flows")
	for _, c := range slices.Sorted(maps.Keys(flowUnits)) {
		if c != "" {
			all = append(all, "flows."+c)
		}
	}
	nearest, best := "", 1+len(name)/3
	for _, s := range all {
		if d := sim.EditDistance(name, s); d < best {
			nearest, best = s, d
		}
	}
	s := fmt.Sprintf("there is nothing called %q", name)
	if nearest != "" {
		s += fmt.Sprintf(" (did you mean %s?)", nearest)
	}
	return s + ": want one of " + strings.Join(all, ", ") + ", counters.NAME"
}

// functions by name, with the tables that they work on. Quantiles are p50, p99.9.
var functions = map[string][]table{
	"count":   {tableEvents, tableFlows, tableCounters},
	"min":     {tableSeries, tableEvents, tableFlows, tableCounters},
	"max":     {tableSeries, tableEvents, tableFlows, tableCounters},
	"mean":    {tableSeries, tableEvents, tableFlows, tableCounters},
	"sum":     {tableSeries, tableEvents, tableFlows, tableCounters},
	"first":   {tableSeries, tableEvents, tableFlows},
	"last":    {tableSeries, tableEvents, tableFlows},
	"time":    {tableSeries},
	"goodput": {tableFlows},
}

// quantileOf reads p99 or p99.9.
func quantileOf(name string) (q float64, ok bool) {
	rest, ok := strings.CutPrefix(name, "p")
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseFloat(rest, 64)
	return v / 100, err == nil && v > 0 && v < 100
}

// call is a function of the rows of a source.
type call struct {
	name     string
	quantile float64 // of pNN
	src      source
	filter   filter
	s        string
}

func (c *call) text() string { return c.s }

func (c *call) unit() string {
	switch c.name {
	case "count":
		return Count
	case "first", "last", "time":
		return Seconds
	case "goodput":
		return BitsPerS
	}
	return c.src.unit
}

// function reads what is in the brackets of a function.
func (p *parser) function(at int, name string) (node, error) {
	c := &call{name: name, filter: filter{text: map[string]string{}, prio: -1, to: sim.Never}}
	tables, ok := functions[name]
	if q, isQ := quantileOf(name); isQ {
		c.name, c.quantile, ok = "quantile", q, true
		tables = []table{tableSeries, tableEvents, tableFlows, tableCounters}
	}
	if !ok {
		return nil, p.fail(at, "there is no function %q: want one of %s, pNN", name, strings.Join(slices.Sorted(maps.Keys(functions)), ", "))
	}
	p.space()
	from := p.pos
	word := p.word()
	if c.src, ok = findSource(word); !ok {
		return nil, p.fail(from, "%s", unknownSource(word))
	}
	if !slices.Contains(tables, c.src.table) {
		return nil, p.fail(from, "%s is not defined for %s", name, word)
	}
	if c.src.table == tableFlows && c.src.column == "" && !slices.Contains([]string{"count", "first", "last", "goodput"}, name) {
		return nil, p.fail(from, "%s of flows: want a column of them, such as flows.fct_s", name)
	}
	for p.take(",") {
		if err := p.filterOf(c); err != nil {
			return nil, err
		}
	}
	if !p.take(")") {
		return nil, p.fail(p.pos, "%q: want a comma and a filter, such as from=1ms, or )", p.rest())
	}
	c.s = strings.TrimSpace(p.text[at:p.pos])
	return c, nil
}

// filterOf reads key=value.
func (p *parser) filterOf(c *call) error {
	p.space()
	at := p.pos
	key := p.word()
	if !slices.Contains(c.src.keys(), key) {
		return p.fail(at, "%q is no filter of %s: want one of %s", key, c.src.name, strings.Join(c.src.keys(), ", "))
	}
	if !p.take("=") {
		return p.fail(p.pos, "want = after %s", key)
	}
	p.space()
	at = p.pos
	end := strings.IndexAny(p.rest(), ",)")
	if strings.HasPrefix(p.rest(), "'") {
		if end = strings.Index(p.rest()[1:], "'") + 2; end < 2 {
			return p.fail(at, "a quote is open")
		}
	}
	if end < 0 {
		return p.fail(len(p.text), "a bracket is open: want )")
	}
	value := strings.Trim(strings.TrimSpace(p.rest()[:end]), "'")
	p.pos += end
	if err := c.filter.set(key, value, c.src); err != nil {
		return p.fail(at, "%s: %v", key, err)
	}
	return nil
}
