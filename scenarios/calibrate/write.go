package calibrate

import (
	"context"
	"fmt"
	"math"
	"strings"

	"rdmasim/sim/trace"
)

// Prediction is a figure of another run beside what the fitted values say of it.
type Prediction struct {
	Observation
	Predicted float64
}

// Predict simulates the scenario of another run with the fitted values.
func Predict(ctx context.Context, run *trace.Run, r *Result, version string) ([]Prediction, error) {
	obs, err := Observe(run)
	if err != nil {
		return nil, err
	}
	if len(obs) == 0 {
		return nil, fmt.Errorf("%s: %w", run.Dir, ErrNothing)
	}
	t, err := newTwin(ctx, run, "", version)
	if err != nil {
		return nil, err
	}
	var params []*Param
	var x []float64
	for _, p := range r.Params {
		params, x = append(params, p.Param), append(x, p.Value)
	}
	got, err := t.simulate(ctx, params, x, obs)
	if err != nil {
		return nil, err
	}
	out := make([]Prediction, len(obs))
	for i, o := range obs {
		out[i] = Prediction{o, got[i]}
	}
	return out, nil
}

// YAML returns what the run says as a part of a scenario, with the intervals as
// comments; what it does not determine is named, and left out.
func (r *Result) YAML() string {
	var b strings.Builder
	var link, host, nic []string
	for i := range r.Params {
		p := &r.Params[i]
		if !p.Known {
			fmt.Fprintf(&b, "# %s: not determined by this run (%s)\n", p.Param.Name, p.Param.Doc)
			continue
		}
		fmt.Fprintf(&b, "# %s: %s, 95 %% interval %s to %s\n", p.Param.Name, p.Param.Print(p.Value), p.Param.Print(p.Low), p.Param.Print(p.High))
		entry := p.Param.Name + ": " + p.Param.Print(p.Value)
		switch p.Param.Name {
		case "rate", "delay":
			link = append(link, entry)
		case cnpParam:
			nic = append(nic, "congestion: {dcqcn: {"+entry+"}}")
		default:
			host = append(host, entry)
		}
	}
	if t := r.Timeouts; t != nil {
		fmt.Fprintf(&b, "# timeout: %d stalls, %.0f %% of them explained\n", t.Stalls, 100*t.Explained)
		if t.Exponent > 0 {
			nic = append(nic, fmt.Sprintf("timeout: %d", t.Exponent))
		}
		nic = append(nic, "timeout_policy: "+t.Policy)
	} else {
		b.WriteString("# timeout: not measured (fewer than five stalls, or no timer that explains four of five)\n")
	}
	if len(link) > 0 {
		fmt.Fprintf(&b, "links:\n  - {a: \"*\", b: \"*\", %s}\n", strings.Join(link, ", "))
	}
	if len(host) > 0 {
		nic = append([]string{"host: {" + strings.Join(host, ", ") + "}"}, nic...)
	}
	if len(nic) > 0 {
		fmt.Fprintf(&b, "nic:\n  %s\n", strings.Join(nic, "\n  "))
	}
	return b.String()
}

// Off returns by what share a prediction is too high.
func (p *Prediction) Off() float64 { return p.Predicted/p.Value - 1 }

// Print writes a figure with its unit.
func (o *Observation) Print(v float64) string {
	if o.Kind == Latency { // the others are rates
		return printDuration(v)
	}
	switch {
	case math.IsInf(v, 0) || v != v:
		return "not measured"
	case v >= 1e6:
		return fmt.Sprintf("%.3f M/s", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.3f k/s", v/1e3)
	}
	return fmt.Sprintf("%.3f /s", v)
}
