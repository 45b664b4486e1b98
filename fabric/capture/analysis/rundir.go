package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"rdmasim/fabric/capture"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// FileSummary is the summary in the run directory of a capture.
const FileSummary = "capture.json"

// drainEvery is how many rows wait in memory before they are written.
const drainEvery = 1 << 13

// RunConfig says how a capture becomes a run directory.
type RunConfig struct {
	Options
	Dir      string
	Name     string
	Files    []string
	Versions map[string]string
	Keep     *Replay // collects the messages for a scenario; nil = not wanted
	// Progress is called from time to time with how many frames were read.
	Progress func(frames uint64)
}

// Run reads captures and leaves a run directory. A context that ends stops it
// early; the directory then says that it is partial. The directory that was
// written is returned, since another run may have taken its name.
func Run(ctx context.Context, m *capture.Merged, c RunConfig) (*Summary, string, error) {
	sink, names := &trace.Sink{}, trace.NewNames()
	c.Sink, c.Names = sink, names
	out, err := trace.Create(c.Dir, trace.Manifest{Name: c.Name, Description: "what a capture tells", Mode: trace.ModeCapture,
		Versions: c.Versions, Host: trace.ThisHost()}, names)
	if err != nil {
		return nil, "", fmt.Errorf("run directory %s cannot be made: %w", c.Dir, err)
	}
	a := New(c.Options)
	if c.Keep != nil {
		a.keep = c.Keep.keep
	}
	sum, err := a.read(ctx, m, out, &c)
	if err == nil {
		err = a.write(out, sum, ctx.Err() != nil, m)
	}
	if err != nil {
		out.Abort()
		return nil, "", err
	}
	return sum, out.Dir(), nil
}

// read follows every record.
func (a *Analyzer) read(ctx context.Context, m *capture.Merged, out *trace.Writer, c *RunConfig) (*Summary, error) {
	var rec capture.Record
	sinks := []*trace.Sink{a.opt.Sink}
	last := a.now
	for {
		err := m.Next(&rec)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		a.Add(&rec, m.Interfaces)
		if a.now > last && a.opt.Sink.Len() >= drainEvery { // rows of one instant stay together
			if err := a.drain(out, sinks, last); err != nil {
				return nil, err
			}
		}
		last = a.now
		if a.total.Packets%4096 == 0 {
			if c.Progress != nil {
				c.Progress(a.total.Packets)
			}
			if ctx.Err() != nil {
				break
			}
		}
	}
	a.settle()
	if a.total.Packets == 0 {
		return nil, errors.New("the capture holds no packet")
	}
	if ctx.Err() == nil {
		a.ended(m.Ended())
	}
	sum := a.Finish()
	sum.Files, sum.Application = c.Files, m.Application()
	for _, name := range m.Cut {
		sum.Notes = append(sum.Notes, name+" ends within a record: it was cut off, and what came before was read")
	}
	for _, text := range m.Broken {
		sum.Notes = append(sum.Notes, text+": what came before was read")
	}
	return sum, out.Drain(sinks)
}

// drain writes the rows up to a time and keeps those of the present instant.
func (a *Analyzer) drain(out *trace.Writer, sinks []*trace.Sink, to sim.Time) error {
	s := a.opt.Sink
	e := slices.IndexFunc(s.Events, func(x trace.Event) bool { return x.Time > to })
	f := slices.IndexFunc(s.Flows, func(x trace.Flow) bool { return x.End > to })
	var events []trace.Event
	var flows []trace.Flow
	if e >= 0 {
		events = slices.Clone(s.Events[e:])
		s.Events = s.Events[:e]
	}
	if f >= 0 {
		flows = slices.Clone(s.Flows[f:])
		s.Flows = s.Flows[:f]
	}
	err := out.Drain(sinks)
	s.Events = append(s.Events, events...)
	s.Flows = append(s.Flows, flows...)
	return err
}

// write completes the run directory.
func (a *Analyzer) write(out *trace.Writer, sum *Summary, partial bool, m *capture.Merged) error {
	var t trace.TopologyFile
	t.Name = "capture"
	for _, h := range a.hostList {
		if !h.seen {
			continue
		}
		t.Nodes = append(t.Nodes, trace.TopologyNode{Name: h.name, Kind: "host", Pod: -1})
	}
	if err := out.Topology(t); err != nil {
		return err
	}
	if err := out.JSON(FileSummary, sum); err != nil {
		return err
	}
	if err := out.JSON(trace.FileResolved, map[string]any{"name": "capture", "series": map[string]any{"interval": a.series.width.String()}}); err != nil {
		return err
	}
	if err := out.Write(a.points(), nil, nil); err != nil {
		return err
	}
	out.Counters(a.counters(sum))
	end := trace.ManifestEnd{Simulated: a.now, Partial: partial || len(m.Cut)+len(m.Broken) > 0}
	switch {
	case partial:
		end.Reason = "interrupted"
	case len(m.Cut)+len(m.Broken) > 0:
		end.Reason = "the capture could not be read to its end"
	}
	_, err := out.Finish(end)
	return err
}

// points are the series: what hosts sent, their CNPs, and the goodput of queue
// pairs.
func (a *Analyzer) points() (list []trace.Point) {
	for _, h := range a.hostList {
		list = a.series.points(list, &h.sent, h.id, trace.SeriesThroughput)
		list = a.series.points(list, &h.cnps, h.id, trace.SeriesCNP)
	}
	for _, s := range a.streams {
		list = a.series.points(list, &s.goodput, s.object, trace.SeriesGoodput)
	}
	slices.SortStableFunc(list, func(x, y trace.Point) int { return cmp.Compare(x.Time, y.Time) })
	return list
}

// points appends a sum over time as a rate, where it changes.
func (c *binClock) points(list []trace.Point, b *bins, id trace.ObjectID, metric string) []trace.Point {
	b.align(c)
	last := 0.0
	for i := 0; i <= len(b.sums); i++ {
		v := 0.0
		if i < len(b.sums) {
			v = b.sums[i] / c.width.Seconds()
		}
		if v != last {
			list = append(list, trace.Point{Time: sim.Time(int64(i) * int64(c.width)), Object: id, Metric: metric, Mean: v, Min: v, Max: v})
		}
		last = v
	}
	return list
}
