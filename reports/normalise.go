package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rdmasim/reports/figure"
	"rdmasim/reports/metric"
	"rdmasim/sim/stat"
	"rdmasim/sim/trace"
)

// Options of a comparison.
type Options struct {
	// LineRate makes rates shares of each run's own line rate, and times the bytes
	// that a link of that rate carries in them, so that runs of unlike links can
	// lie on one another. Slowdowns of a run that has no ideal times are taken
	// against those that another run of the same line rate has for the same messages.
	LineRate bool
}

// Units of figures that are normalised.
const (
	unitShare     = "share of the line rate"
	unitLineBytes = "bytes at line rate"
)

// line is the line rate of a run and where it stands.
type line struct {
	rate   float64 // bit/s
	origin string
}

// lineRate returns the rate to which a run is normalised: the one that was
// calibrated, or that of the slowest link of a host.
func lineRate(r *figure.Run) (line, error) {
	c, _, err := r.Calibration()
	if err != nil {
		return line{}, err
	}
	if v, ok := c.Of(trace.CalibratedRate); ok && v.Value > 0 {
		return line{v.Value, fmt.Sprintf("calibrated, 95 %% interval %s to %s", figure.Bitrate(v.Low), figure.Bitrate(v.High))}, nil
	}
	rate := int64(0)
	for _, l := range r.Topology.Links {
		if r.Topology.Nodes[l.A].Kind != "host" && r.Topology.Nodes[l.B].Kind != "host" {
			continue
		}
		for _, v := range []int64{l.RateAB, l.RateBA} {
			if v > 0 && (rate == 0 || v < rate) {
				rate = v
			}
		}
	}
	if rate == 0 {
		return line{}, fmt.Errorf("%s: its line rate is not known: it has neither %s nor a link of a host with a rate", r.Dir, trace.FileCalibration)
	}
	return line{float64(rate), "of its hosts' links"}, nil
}

// sameRate is how near line rates are that count as one: a scenario has the
// calibrated rate in whole Mbit/s.
const sameRate = 0.01

func (l line) near(o line) bool {
	return l.rate-o.rate <= sameRate*l.rate && o.rate-l.rate <= sameRate*l.rate
}

// message is what the ideal time of a message depends on.
type message struct {
	src, dst, verb string
	bytes          int64
}

// maxIdeals bounds how many kinds of messages are remembered.
const maxIdeals = 1 << 20

// ideals returns the shortest ideal time that a run knows of every kind of message, in seconds.
func ideals(r *trace.Run) (map[message]float64, error) {
	out := map[message]float64{}
	for f, err := range r.Flows() {
		if err != nil {
			return nil, err
		}
		if f.Ideal <= 0 {
			continue
		}
		k := message{f.Src, f.Dst, f.Verb, int64(f.Bytes)}
		if v, ok := out[k]; (!ok && len(out) < maxIdeals) || f.Ideal.Seconds() < v {
			out[k] = f.Ideal.Seconds()
		}
	}
	return out, nil
}

// slowdowns divides the times of a run by the ideal times of another for the same
// messages, and returns how many completed messages there are.
func slowdowns(r *trace.Run, ideal map[message]float64) (all []float64, completed int, err error) {
	for f, err := range r.Flows() {
		if err != nil {
			return nil, 0, err
		}
		fct, ok := f.FCT()
		if !ok {
			continue
		}
		completed++
		if v := ideal[message{f.Src, f.Dst, f.Verb, int64(f.Bytes)}]; v > 0 {
			all = append(all, fct.Seconds()/v)
		}
	}
	return all, completed, nil
}

// normalise scales digests and metrics of all runs to their line rates.
func (c *Comparison) normalise(runs []*trace.Run, lines []line, digests []figure.Digest) error {
	c.Notes = append(c.Notes, "Normalised: rates are shares of the line rate of each run; times are the bytes that a link of that rate carries in them (time × rate / 8).")
	for i, l := range lines {
		c.Notes = append(c.Notes, fmt.Sprintf("The line rate of %s is %s (%s).", c.Runs[i].Label, figure.Bitrate(l.rate), l.origin))
	}
	for i := range runs {
		if len(digests[i].Slowdown) > 0 {
			continue
		}
		if err := c.borrow(i, runs, lines, digests); err != nil {
			return err
		}
	}
	for i := range digests {
		digests[i].Normalise(lines[i].rate)
	}
	for k := range c.Metrics {
		c.Metrics[k].normalise(lines)
	}
	return nil
}

// borrow gives run i the ideal times of another run of its line rate.
func (c *Comparison) borrow(i int, runs []*trace.Run, lines []line, digests []figure.Digest) error {
	from := slices.IndexFunc(digests, func(d figure.Digest) bool { return len(d.Slowdown) > 0 })
	for k := range digests {
		if len(digests[k].Slowdown) > 0 && lines[k].near(lines[i]) && runs[k].Manifest.Mode != runs[i].Manifest.Mode {
			from = k
			break
		}
	}
	if from < 0 || !lines[from].near(lines[i]) {
		return nil
	}
	ideal, err := ideals(runs[from])
	if err != nil {
		return err
	}
	all, completed, err := slowdowns(runs[i], ideal)
	if err != nil {
		return err
	}
	s, ok := stat.Summarize(all) // sorts them
	if !ok {
		return nil
	}
	digests[i].Slowdown = all
	figures := map[string]float64{"mean": s.Mean, "p50": s.P50, "p95": s.P95, "p99": s.P99, "max": s.Max}
	for k := range c.Metrics {
		name, isSlowdown := strings.CutPrefix(c.Metrics[k].Name, "flows.slowdown.")
		if v, ok := figures[name]; ok && isSlowdown {
			c.Metrics[k].Values[i] = &v
		}
	}
	c.Notes = append(c.Notes, fmt.Sprintf("%s has no ideal times: its slowdowns are its times divided by the ideal times of %s for the same messages (%d of %d).",
		c.Runs[i].Label, c.Runs[from].Label, len(all), completed))
	return nil
}

// normalise scales a row of metrics.
func (r *Row) normalise(lines []line) {
	factor := func(line) float64 { return 1 }
	switch r.Unit {
	case metric.BitsPerS:
		r.Unit, factor = unitShare, func(l line) float64 { return 1 / l.rate }
	case metric.Seconds:
		if r.Name == "pfc.storm_threshold_s" { // a setting of the report
			return
		}
		r.Unit, factor = unitLineBytes, func(l line) float64 { return l.rate / 8 }
	}
	for i, v := range r.Values {
		if v != nil {
			scaled := *v * factor(lines[i])
			r.Values[i] = &scaled
		}
	}
}

// format prints a figure, normalised or not.
func (r *Row) format(v float64) string {
	switch r.Unit {
	case unitShare:
		return metric.Format(100*v, metric.Ratio) + " %"
	case unitLineBytes:
		return metric.Format(v, metric.Bytes)
	}
	return metric.Format(v, r.Unit)
}

// describe adds to the definition of a figure what it was normalised to.
func (r *Row) describe() string {
	return r.Doc + cmp.Or(map[string]string{unitShare: ", as a share of the line rate", unitLineBytes: ", as bytes at line rate"}[r.Unit], "")
}
