package scenarios

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"rdmasim/fabric/topology"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Options of a run that are not part of the scenario.
type Options struct {
	Out      string // the run directory
	Workers  int    // goroutines; 0 = 1
	Progress func(Progress)
	Version  string          // of the program
	Capture  *CaptureOptions // nil = none
	NoSeries bool            // leave series.parquet without rows; everything else, and the fingerprint, is the same
	Lean     bool            // one of many runs in this process, of which only the figures are wanted: no notes, no scenario.yaml, and memory is the collector's affair
}

// Progress is how far a run is.
type Progress struct {
	SimTime, End sim.Time // End is sim.Never when the run ends by itself
	Events, Hops uint64
	Wall         float64 // seconds since the run began
}

// Result is what a run says of itself when it has ended.
type Result struct {
	Dir         string
	Partial     bool
	Fingerprint string
	Notes       []string
	End         sim.Time
	PacketHops  uint64
	Events      uint64
	Workers     int
	Wall, CPU   float64 // seconds, of the simulation alone
}

// drainAt is how many rows may wait in memory before they are written.
const drainAt = 1 << 14

// InputError is an error of a scenario that shows when it is built, or of the
// place of its run directory: nothing has been run and nothing was written.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *InputError) Unwrap() error { return e.Err }

// ErrInterrupted says that a run was given up while its fabric was being built:
// nothing was simulated and nothing is left behind.
var ErrInterrupted = errors.New("interrupted while the fabric was being built: nothing was simulated")

// buildGrace is how long a build may take yet after an interrupt; a run of a
// small fabric leaves a directory, though nothing happened in it.
const buildGrace = 200 * time.Millisecond

// prepareUnless builds the scenario unless the context ends: a fabric of a
// million ports takes its time.
func (s *Spec) prepareUnless(ctx context.Context) (*world, error) {
	type result struct {
		w   *world
		err error
	}
	done := make(chan result, 1)
	go func() {
		w, err := s.prepare()
		done <- result{w, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		select {
		case r = <-done:
		case <-time.After(buildGrace):
			return nil, ErrInterrupted
		}
	}
	if r.err != nil {
		return nil, &InputError{r.err}
	}
	return r.w, nil
}

// Run builds a scenario, runs it and leaves its run directory. A context that
// is cancelled ends the run early; the directory then says so. What is wrong
// with the scenario is an *InputError.
func Run(ctx context.Context, s *Spec, o Options) (*Result, error) {
	w, err := s.prepareUnless(ctx)
	if err != nil {
		return nil, err
	}
	out, err := w.create(o)
	if err != nil {
		return nil, err
	}
	if err := w.openCapture(out, o); err != nil {
		out.Abort()
		return nil, err
	}
	for _, k := range w.sinks {
		k.NoPoints = o.NoSeries
	}
	res, err := w.simulate(ctx, out, o)
	if err != nil {
		out.Abort()
		return nil, err
	}
	res.Dir = o.Out
	if dir, err := filepath.Abs(o.Out); err == nil {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if at := out.Dir(); at != dir {
			res.Dir = at
			res.Notes = append(res.Notes, fmt.Sprintf("another run has written %s meanwhile: this one is at %s", o.Out, at))
		}
	}
	if !o.Lean {
		res.Notes = append(res.Notes, s.notes()...)
	}
	return res, nil
}

// create begins the run directory.
func (w *world) create(o Options) (*trace.Writer, error) {
	s := w.spec
	files, err := scenarioFiles(s, o.Lean)
	if err != nil {
		return nil, err
	}
	out, err := trace.Create(o.Out, trace.Manifest{Name: s.Name, Description: s.Description, Mode: trace.ModeSimulated, Compat: s.Compat, Seed: s.Seed,
		Versions: map[string]string{"rdmasim": o.Version, "go": runtime.Version()}, Host: trace.ThisHost(), ScenarioHash: Hash(s), Warmup: trace.Seconds(s.Warmup)}, w.names)
	if err != nil {
		return nil, &InputError{fmt.Errorf("run directory %s cannot be made: %w", o.Out, err)}
	}
	for name, data := range files {
		if err := out.File(name, data); err != nil {
			out.Abort()
			return nil, err
		}
	}
	if err := out.Topology(w.topologyFile()); err != nil {
		out.Abort()
		return nil, err
	}
	return out, nil
}

// scenarioFiles are the files of a run directory that say what was run: for
// people and machines, or where it is lean, for machines.
func scenarioFiles(s *Spec, lean bool) (map[string][]byte, error) {
	if lean {
		return map[string][]byte{trace.FileResolved: resolvedJSON(s)}, nil
	}
	yaml, tree, err := Resolved(s)
	return map[string][]byte{trace.FileScenario: yaml, trace.FileResolved: tree}, err
}

func (w *world) topologyFile() trace.TopologyFile {
	t := trace.TopologyFile{Name: w.graph.Name}
	for _, n := range w.graph.Nodes {
		kind := "switch"
		if n.Kind == topology.Host {
			kind = "host"
		}
		t.Nodes = append(t.Nodes, trace.TopologyNode{Name: n.Name, Kind: kind, Tier: n.Tier, Pod: n.Pod})
	}
	for _, l := range w.graph.Links {
		t.Links = append(t.Links, trace.TopologyLink{A: l.A, APort: l.APort, AName: w.operatorPort(l.A, l.APort, l.AName), B: l.B, BPort: l.BPort, BName: w.operatorPort(l.B, l.BPort, l.BName), RateAB: int64(l.AtoB.Rate), RateBA: int64(l.BtoA.Rate),
			DelayABs: l.AtoB.Delay.Seconds(), DelayBAs: l.BtoA.Delay.Seconds()})
	}
	return t
}

// simulate runs the engine and finishes the run directory.
func (w *world) simulate(ctx context.Context, out *trace.Writer, o Options) (*Result, error) {
	s := w.spec
	if s.Warmup > 0 {
		w.engine.AtGlobal(sim.Time(s.Warmup), w.resetStat)
	}
	opt := sim.RunOptions{Until: sim.Time(s.Duration), UntilDone: s.UntilDone, Workers: max(o.Workers, 1), Exactly: w.exactly}
	if s.UntilDone {
		opt.Until = sim.Time(s.MaxDuration)
	}
	start, cpu := time.Now(), cpuSeconds()
	var failed error
	cancelled, cancel := context.WithCancel(ctx)
	defer cancel()
	far := &progress{start: start, end: opt.Until}
	if s.UntilDone {
		far.end = sim.Never
	}
	opt.Between = func(t sim.Time) {
		far.note(w, t)
		if w.check != nil {
			w.check(t)
		}
		w.lookForDeadlocks(t)
		rows := 0
		for _, k := range w.sinks {
			rows += k.Len()
		}
		if failed == nil {
			if failed = w.recorder.keep(); failed != nil {
				cancel()
			}
		}
		if rows >= drainAt && failed == nil {
			if failed = w.drain(out); failed != nil {
				cancel()
			}
		}
	}
	stop := far.report(o.Progress)
	r := w.engine.Run(cancelled, opt)
	stop()
	if failed != nil {
		return nil, failed
	}
	res := &Result{Partial: r.Stopped, End: r.End, Events: r.Events, Workers: r.Workers, Wall: time.Since(start).Seconds(), CPU: cpuSeconds() - cpu}
	return res, w.finish(out, res, o)
}

// drain writes the rows that wait in the sinks.
func (w *world) drain(out *trace.Writer) error {
	if w.spec.hpccCase != nil {
		for _, k := range w.sinks {
			for i := range k.Flows {
				w.fctRows(&k.Flows[i])
			}
		}
	}
	return out.Drain(w.sinks)
}

// finish writes what is known only at the end.
func (w *world) finish(out *trace.Writer, res *Result, o Options) error {
	if !o.Lean {
		debug.FreeOSMemory() // what the run left must not lie beside what comes now
	}
	w.reportDeadlocks(res.End)
	for _, n := range w.nics {
		if n != nil {
			n.Unfinished()
		}
	}
	if err := w.drain(out); err != nil {
		return err
	}
	notes, err := w.recorder.end(res.End)
	if err != nil {
		return err
	}
	res.Notes = append(res.Notes, notes...)
	if w.spec.hpccCase != nil {
		if err := w.fctFile(out); err != nil {
			return err
		}
	}
	measured := w.totals(out, res.End, o.Lean)
	hops := w.hops + measured
	res.PacketHops = hops
	perf := trace.Perf{Wall: res.Wall, CPU: res.CPU, Events: res.Events, PacketHops: hops, PeakRSS: peakRSS(), Workers: res.Workers, Host: trace.ThisHost()}
	if hops > 0 {
		perf.NsPerHop = res.CPU * 1e9 / float64(hops)
	}
	if err := out.JSON(trace.FilePerf, perf); err != nil {
		return err
	}
	end := trace.ManifestEnd{Simulated: res.End, Partial: res.Partial}
	if res.Partial {
		end.Reason = "interrupted"
	}
	f, err := out.Finish(end)
	if err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	res.Fingerprint = f
	return nil
}

// totals hands the counters over and returns the packet-hops among them. Each
// node is let go once it has been asked: from here on there is only the run
// directory, and the largest part of the memory is free for it.
func (w *world) totals(out *trace.Writer, end sim.Time, lean bool) uint64 {
	measured := w.countHops() - w.hops
	w.engine, w.sinks = nil, nil
	if !lean {
		debug.FreeOSMemory()
	}
	var list []trace.Counter
	add := func(c trace.Counter) { list = append(list, c) }
	out.ExpectCounters(w.expectCounters())
	for i := range w.graph.Nodes {
		if sw := w.switches[i]; sw != nil {
			sw.Counters(end, add)
		} else {
			w.nics[i].Counters(end, add)
		}
		w.switches[i], w.nics[i] = nil, nil
		out.Counters(list)
		list = list[:0]
	}
	w.faultCounters(add)
	out.Counters(list)
	out.Counters([]trace.Counter{{Object: "fabric", Prio: -1, Name: trace.CountPacketHops, Value: float64(measured)}})
	return measured
}

// expectCounters is about how many counters there will be: a dozen for every
// port and node.
func (w *world) expectCounters() int { return 12 * (len(w.graph.Nodes) + 2*len(w.graph.Links)) }

// resetStat begins the measured interval after the warm-up.
func (w *world) resetStat(t sim.Time) {
	w.hops = w.countHops()
	for i := range w.graph.Nodes {
		if sw := w.switches[i]; sw != nil {
			sw.ResetStat(t)
		} else {
			w.nics[i].ResetStat(t)
		}
	}
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

func peakRSS() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Maxrss * 1024
}
