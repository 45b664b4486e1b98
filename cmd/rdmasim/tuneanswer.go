package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"rdmasim/reports/metric"
	"rdmasim/reports/tuning"
	"rdmasim/scenarios/tune"
)

// tuneAnswer prints what a search found, in a few lines.
func (a *app) tuneAnswer(t *tune.Tuning, r *tuning.Result, file, dir string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s on %s, %s, %s\n\n", r.Name, metric.Counted(r.Budget.RunsDone, "run"), metric.Counted(len(r.Workloads), "workload"), metric.Counted(len(r.Points), "point"), metric.Counted(usable(r), "baseline"))
	best := r.Best()
	switch {
	case r.Winner != nil:
		fmt.Fprintf(&b, "answer       %s\n", settingWords(t, best))
	case r.Partial:
		fmt.Fprintf(&b, "answer       none: the search was cut short (%s)\n", r.Reason)
	default:
		fmt.Fprintf(&b, "answer       none: %s\n", r.NoWinner)
	}
	if r.Winner == nil && len(r.Contrasts) > 0 {
		best = r.Point(r.Contrasts[0].Point)
	}
	if r.Winner == nil && best != nil {
		fmt.Fprintf(&b, "nearest      %s\n", settingWords(t, best))
	}
	fmt.Fprintf(&b, "today        %s\n", settingWords(t, r.Point(r.Today)))
	if r.BestOf != nil {
		p := r.Point(*r.BestOf)
		fmt.Fprintf(&b, "baseline     %s, the best of them: %s\n", p.Name, settingWords(t, p))
	}
	contrasts(&b, r)
	if x := r.Exclusion; x != nil && r.Winner == nil {
		name := r.Point(x.Against).Name
		if r.Point(x.Against).Kind == tuning.KindToday {
			name = "today's settings"
		}
		b.WriteString("\nwhat that proves\n")
		for _, words := range x.Words(name, func(v float64) string { return fmt.Sprintf("%.3g %%", 100*v) }, func(n int, noun string) string { k := int64(n); return counted(&k, noun) }) {
			fmt.Fprintf(&b, "  %s\n", words)
		}
	}
	if r.Winner != nil {
		fmt.Fprintf(&b, "\nuse it       rdmasim export sonic %s", t.Scenario)
		for _, s := range t.Settings(best.Values) {
			fmt.Fprintf(&b, " --set %s", s)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%ssearch       %s\n", map[bool]string{true: "", false: "\n"}[r.Winner != nil], filepath.Join(dir, tuning.FileResult))
	if r.Partial {
		fmt.Fprintf(&b, "go on        rdmasim tune %s --out %s\n", file, dir)
	}
	_, err := a.stdout.Write([]byte(b.String()))
	return err
}

// usable counts baselines that were run.
func usable(r *tuning.Result) (n int) {
	for _, b := range r.Baselines {
		if b.Point != nil {
			n++
		}
	}
	return n
}

// settingWords are the settings of a point.
func settingWords(t *tune.Tuning, p *tuning.Point) string {
	return strings.Join(t.Words(p.Values), ", ")
}

// contrasts prints the change against today and the best baseline, over all
// workloads and in each.
func contrasts(b *strings.Builder, r *tuning.Result) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, as := range []string{tuning.AgainstToday, tuning.AgainstBaseline} {
		head := false
		for _, c := range r.Contrasts {
			if c.As != as || c.Workload != "" && len(r.Workloads) == 1 || c.Metric == tuning.MetricScore || c.Metric == tuning.MetricRegret {
				continue
			}
			if !head {
				fmt.Fprintf(w, "\n%s\tchange\t95 %% interval\n", map[string]string{tuning.AgainstToday: "against today", tuning.AgainstBaseline: "against the best baseline"}[as])
				head = true
			}
			label, unit := labelOf(r, c.Metric)
			if c.Workload != "" {
				label = "  " + label + ", " + c.Workload
			}
			change, span := changeWords(c, unit)
			fmt.Fprintf(w, "%s\t%s\t%s\n", label, change, span)
		}
	}
	_ = w.Flush()
}

// labelOf names a metric of the plan.
func labelOf(r *tuning.Result, text string) (label, unit string) {
	for _, o := range r.Objectives {
		if o.Metric == text {
			return o.Label, o.Unit
		}
	}
	for _, c := range r.Constraints {
		if c.Metric == text {
			return c.Label, c.Unit
		}
	}
	return text, tuning.Count
}

// changeWords prints a contrast: in per cent, or as it is where there is
// nothing to compare with.
func changeWords(c tuning.Contrast, unit string) (change, span string) {
	v, format := c.Relative, func(x float64) string { return fmt.Sprintf("%+.1f %%", 100*x) }
	if v.Mean == nil {
		v, format = c.Delta, func(x float64) string {
			sign := "+"
			if x < 0 {
				sign = "-"
			}
			return sign + metric.Format(math.Abs(x), unit)
		}
	}
	if v.Mean == nil {
		return "not measured", ""
	}
	low, high, ok := v.Ends()
	if ok && !c.Confident && (low > 0 || high < 0) { // a share of what is 0 on most seeds: as certain as it is meaningless
		return format(*v.Mean), "not beyond chance"
	}
	if c.Relative.Mean != nil && *v.Mean >= -1 {
		low = max(low, -1) // nothing is left of what is never negative
	}
	if ok {
		span = format(low) + " to " + format(high)
	}
	if !ok || low <= 0 && high >= 0 {
		span += ", not beyond chance"
	}
	return format(*v.Mean), span
}
