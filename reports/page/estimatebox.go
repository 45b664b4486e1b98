package page

import (
	"fmt"
	"strings"

	"rdmasim/reports/figure"
	"rdmasim/reports/metric"
	"rdmasim/reports/tuning"
)

// estimateView is the closed forms beside what was simulated.
type estimateView struct {
	Where string
	Rows  []estimateRow
	Notes []string
}

type estimateRow struct {
	Name, Value, Simulated, Metric, Text string
	Valid                                bool
	Formula, Source, Limit, Inputs       string
}

// newEstimateView returns the table of a first look; nil without one. Figures
// of the run stand beside the values where there are any.
func newEstimateView(e *tuning.Estimates, m *metric.Metrics) *estimateView {
	if e == nil {
		return nil
	}
	v := &estimateView{Notes: e.Notes}
	if e.Where != "" {
		v.Where = fmt.Sprintf("%s at %s, %s each.", figure.Capital(figure.Count(e.Flows, "flow")), e.Where, figure.Bitrate(e.Share))
	}
	for i := range e.Items {
		x := &e.Items[i]
		row := estimateRow{Name: x.Name, Value: "not valid: " + x.Why, Text: x.Text, Valid: x.Valid, Formula: x.Formula, Source: x.Source, Limit: x.Limit, Simulated: "–", Metric: x.Metric}
		if x.Value != nil {
			row.Value = figure.Quantity(*x.Value, x.Unit)
			if x.Bound != "" {
				row.Value = x.Bound + " " + row.Value
			}
		}
		if x.Metric != "" && m != nil {
			row.Simulated = notMeasured
			if w, ok := m.Lookup(x.Metric); ok {
				row.Simulated = figure.Quantity(w, x.Unit)
			}
		}
		var list []string
		for _, in := range x.Inputs {
			text := in.Name + " = " + figure.Quantity(in.Value, in.Unit)
			if in.From != "" {
				text += " (" + in.From + ")"
			}
			list = append(list, text)
		}
		row.Inputs = strings.Join(list, ", ")
		v.Rows = append(v.Rows, row)
	}
	return v
}

// gateView is today's counters beside the simulated ones.
type gateView struct {
	Credible bool
	Text     string
	Table    figure.Table
	Missing  []string
}

func newGateView(c *tuning.Credibility) *gateView {
	if c == nil {
		return nil
	}
	v := &gateView{Credible: c.Credible, Missing: c.Missing, Table: figure.Table{Head: []string{"counter", "of the device", "real", "simulated", "ratio", "verdict"}}}
	v.Text = fmt.Sprintf("Read from %s", figure.List(c.Files))
	if c.Interval > 0 {
		v.Text += ", over " + figure.Seconds(c.Interval)
	}
	v.Text += fmt.Sprintf("; means over ports. A ratio beyond %s refutes the model.", figure.Number(tuning.CredibleFactor))
	for i := range c.Rows {
		r := &c.Rows[i]
		show := func(p *float64, ports int) string {
			if p == nil {
				return notMeasured
			}
			return figure.Number(*p) + " " + r.Unit + " (" + figure.Count(ports, "port") + ")"
		}
		ratio, verdict := "–", r.Verdict
		if r.Factor != nil {
			ratio = figure.Number(*r.Factor)
		}
		if r.Why != "" {
			verdict += ": " + r.Why
		}
		v.Table.Rows = append(v.Table.Rows, []string{r.Name, r.Counter, show(r.Real, r.Ports), show(r.Simulated, r.SimPorts), ratio, verdict})
	}
	return v
}
