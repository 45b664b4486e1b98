package main

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"rdmasim/reports/metric"
	"rdmasim/scenarios/sweep"
	"rdmasim/sim/stat"
)

const (
	mostTablePoints  = 24 // lines of a table of points
	mostTableMetrics = 3  // metrics in it
)

// tableMetrics are shown where the plan names no metrics.
var tableMetrics = []string{"flows.slowdown.p99", "goodput_bps.total", "pfc.paused_s"}

// sweepTable writes the points with the means of some metrics over their seeds.
func (a *app) sweepTable(m *sweep.Merged) error {
	metrics := m.Plan.Metrics
	if len(metrics) == 0 {
		metrics = tableMetrics
	}
	metrics = metrics[:min(len(metrics), mostTableMetrics)]
	list := m.ByPoint(metrics, sweep.Confidence)
	count, failed := map[sweep.Status]int{}, 0
	for _, r := range m.Records {
		if r != nil {
			count[r.Status]++
			failed += min(len(r.Failed), 1)
		}
	}
	seeds := len(m.Plan.Seeds.List)
	fmt.Fprintf(a.stdout, "%s of %s with %s each: %d ok", metric.Counted(len(m.Units)-len(m.Missing), "run"), metric.Counted(len(m.Points), "point"), metric.Counted(seeds, "seed"), count[sweep.OK])
	for _, s := range []sweep.Status{sweep.Invalid, sweep.Partial} {
		if count[s] > 0 {
			fmt.Fprintf(a.stdout, ", %d %s", count[s], s)
		}
	}
	if failed > 0 {
		fmt.Fprintf(a.stdout, ", %d of them with a failed expectation", failed)
	}
	fmt.Fprintln(a.stdout)
	if seeds > 1 {
		fmt.Fprintf(a.stdout, "mean over seeds and %.0f %% interval\n", 100*sweep.Confidence)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\npoint\t%s\t%s\n", strings.Join(m.Plan.Columns(), "\t"), strings.Join(metrics, "\t"))
	for i := range list {
		if i == mostTablePoints {
			break
		}
		fmt.Fprintf(w, "%d\t%s\t%s\n", i, strings.Join(list[i].Point.Values, "\t"), pointCells(&list[i], metrics))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if n := len(list) - mostTablePoints; n > 0 {
		fmt.Fprintf(a.stdout, "... and %s more\n", metric.Counted(n, "point"))
	}
	_, err := fmt.Fprintln(a.stdout)
	return err
}

// pointCells are the cells of one point: its metrics, or why it has none.
func pointCells(p *sweep.PointSummary, metrics []string) string {
	if p.OK == 0 {
		for _, s := range []sweep.Status{sweep.Invalid, sweep.Partial} {
			if p.Other[s] > 0 {
				return string(s) + ": " + p.Problem
			}
		}
		return "missing"
	}
	cells := make([]string, len(metrics))
	for k, name := range metrics {
		cells[k] = intervalText(p.Metrics[k], metricUnit(name))
	}
	return strings.Join(cells, "\t")
}

// intervalText prints a mean and the half-width of its interval.
func intervalText(v stat.Interval, unit string) string {
	switch {
	case v.N == 0:
		return "-"
	case math.IsNaN(v.Half):
		return metric.Format(v.Mean, unit)
	}
	return metric.Format(v.Mean, unit) + " ± " + metric.Format(v.Half, unit)
}

// metricUnit is the unit of a metric or of a measure.
func metricUnit(name string) string {
	for _, p := range metric.Paths() {
		if p.Name == name {
			return p.Unit
		}
	}
	return sweep.MeasureUnit(name)
}
