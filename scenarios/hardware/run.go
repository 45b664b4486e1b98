package hardware

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"rdmasim/fabric/netem"
	"rdmasim/scenarios"
	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
	"rdmasim/verbs/ibv"
)

// Options of a run that are not part of the scenario.
type Options struct {
	Out      string    // run directory
	Devices  []string  // HOST=DEVICE, or devices in the order of the hosts; empty = those of this machine in order
	Poll     bool      // spin on the completion queues instead of sleeping until an event
	Huge     bool      // register memory of huge pages where the host has any
	Optional bool      // switch on the optional counters of the devices
	DryRun   bool      // print what would change the host, and change and run nothing
	Version  string    // of the program
	Log      io.Writer // gets every command that changes the host; nil = nowhere
	Progress func(scenarios.Progress)
}

// Run executes the traffic of a scenario with real queue pairs of this machine
// and leaves a run directory of mode hardware. What the hardware does not tell
// is left out of it, and shows as not measured.
func Run(ctx context.Context, s *scenarios.Spec, o Options) (res *scenarios.Result, err error) {
	w, err := prepare(s, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if o.DryRun {
		w.print(o)
		return &scenarios.Result{}, nil
	}
	out, err := w.create(o)
	if err != nil {
		return nil, err
	}
	if w.kernelFaults() || slices.ContainsFunc(w.faults, func(in *injection) bool { return in.event != nil }) {
		if w.injector, err = newInjector(o.Log); err != nil {
			out.Abort()
			return nil, err
		}
	}
	if o.Optional {
		var off func() error
		if off, err = w.countAll(ctx, o.Log); err != nil {
			out.Abort()
			return nil, err
		}
		defer func() { err = errors.Join(err, off()) }()
	}
	before, err := w.counters()
	if err != nil {
		w.fail(err)
	}
	cpu := openCPUCounters()
	defer cpu.close()
	start := time.Now()
	end, stopped := w.loop(ctx, o)
	cost := cpu.read()
	w.sampler.end(w)
	if len(w.faults) > 0 {
		if err := w.stopFaults(); err != nil && !stopped {
			w.fail(err)
		}
	}
	if w.err != nil {
		out.Abort()
		return nil, w.err
	}
	res = &scenarios.Result{Dir: o.Out, Partial: stopped, End: end, Wall: time.Since(start).Seconds(), Workers: 1}
	w.unfinished(end)
	if err := w.finishDirectory(out, before, cpu.reasons(), cost, res); err != nil {
		out.Abort()
		return nil, err
	}
	return res, nil
}

// prepare plans the traffic and opens the devices. Nothing has been changed or
// written when it fails.
func prepare(s *scenarios.Spec, o Options) (w *world, err error) { return prepareAt(s, o, nil, nil) }

// prepareAt is prepare for an agent, which has the hosts of at; nil = all.
func prepareAt(s *scenarios.Spec, o Options, at map[string]string, r *remote) (w *world, err error) {
	traffic, err := scenarios.PlanTraffic(s)
	if err != nil {
		return nil, err
	}
	devices, err := netem.ReadDevices("/")
	if err != nil {
		return nil, err
	}
	w = &world{spec: s, traffic: traffic, names: trace.NewNames(), payload: make([]int64, len(traffic.Hosts)), made: make([]int, len(traffic.Hosts)),
		sent: make([]int64, len(traffic.Hosts)), arrived: make([]int64, len(traffic.Hosts)), remote: r, sends: map[int]bool{}}
	if r != nil {
		w.endOf, err = assignHere(traffic.Hosts, devices, at)
	} else {
		w.endOf, err = assign(traffic.Hosts, devices, o.Devices)
	}
	if err != nil {
		return nil, &scenarios.InputError{Err: err}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	w.ends = make([]*endpoint, len(devices))
	for _, d := range w.endOf {
		if d >= 0 && w.ends[d] == nil {
			if w.ends[d], err = openEndpoint(&devices[d], verbs.MTUOf(sim.Bytes(s.NIC.PathMTU))); err != nil {
				w.ends[d] = nil
				return w, err
			}
			w.ends[d].huge = o.Huge
		}
	}
	for _, h := range traffic.Hosts {
		w.names.ID(h)
	}
	for k, plan := range traffic.Plans {
		row := make([]*app, len(traffic.Hosts))
		for i := range traffic.Hosts {
			if w.endOf[i] < 0 {
				continue
			}
			a := &app{w: w, host: i, load: k, inst: plan[i]}
			if a.inst == nil {
				a.inst = idle{}
			}
			row[i] = a
			w.left++
		}
		w.apps = append(w.apps, row)
	}
	if err = w.inject(); err != nil {
		return w, &scenarios.InputError{Err: err}
	}
	if err = w.refuse(devices); err != nil {
		return w, &scenarios.InputError{Err: err}
	}
	w.askOptional(netem.Exec{})
	w.collect = withoutCollector()
	return w, nil
}

// print lists what the faults would do.
func (w *world) print(o Options) {
	to := o.Log
	if o.Optional {
		for _, c := range w.optionalChanges() {
			fmt.Fprintf(to, "%s\n# afterwards, whatever happens\n%s\n", c.Do, c.Undo)
		}
	}
	for _, in := range w.faults {
		fmt.Fprintf(to, "# fault %s: %s, from %v\n", in.name, in.f, in.f.Span().From)
		if in.late > 0 {
			fmt.Fprintln(to, "# this program posts receives late: nothing of the host is changed")
		}
		if in.event != nil {
			fmt.Fprintln(to, "# a rule of nftables at the receiver's ingress, once the queue pair is known")
		}
		for _, s := range in.sites {
			for _, c := range s.changes {
				fmt.Fprintf(to, "%s\n", c.Do)
			}
		}
	}
	fmt.Fprintln(to, "# afterwards, whatever happens")
	for _, in := range w.faults {
		for _, s := range in.sites {
			for _, c := range s.changes {
				if c.Undo != nil {
					fmt.Fprintf(to, "%s\n", c.Undo)
				}
			}
		}
	}
}

// idle is the instance of a host that a workload leaves alone.
type idle struct{ workload.Nop }

func (idle) Start(h workload.Host) { h.Done() }

// create begins the run directory.
func (w *world) create(o Options) (*trace.Writer, error) {
	yaml, tree, err := scenarios.Resolved(w.spec)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{"rdmasim": o.Version, "go": runtime.Version(), "kernel": kernelRelease()}
	maps.Copy(versions, w.versions)
	for i, d := range w.endOf {
		e := w.ends[d]
		versions["device of "+w.traffic.Hosts[i]] = fmt.Sprintf("%s (%s, firmware %s, %s, path MTU %d)", e.info.Name, e.info.Driver, orNone(e.info.Firmware), e.info.Netdev, e.mtu.Bytes())
	}
	out, err := trace.Create(o.Out, trace.Manifest{Name: w.spec.Name, Description: w.spec.Description, Mode: trace.ModeHardware, Seed: w.spec.Seed,
		Versions: versions, Host: trace.ThisHost(), ScenarioHash: scenarios.Hash(w.spec), Warmup: trace.Seconds(w.spec.Warmup)}, w.names)
	if err != nil {
		return nil, &scenarios.InputError{Err: fmt.Errorf("run directory %s cannot be made: %w", o.Out, err)}
	}
	for name, data := range map[string][]byte{trace.FileScenario: yaml, trace.FileResolved: tree} {
		if err := out.File(name, data); err != nil {
			out.Abort()
			return nil, err
		}
	}
	if err := out.Topology(w.traffic.Topology); err != nil {
		out.Abort()
		return nil, err
	}
	return out, nil
}

func kernelRelease() string {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown"
	}
	return string(b[:max(len(b)-1, 0)])
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// loop is the reactor: timers, completions, sleep. It ends at the scenario's
// duration, or when the traffic has ended, or with the context.
func (w *world) loop(ctx context.Context, o Options) (end sim.Time, stopped bool) {
	limit := sim.Time(w.spec.Duration)
	if w.spec.UntilDone {
		limit = sim.Time(w.spec.MaxDuration)
	}
	if w.remote == nil {
		w.clock = clock{time.Now()}
	}
	if bin := w.spec.Series.Interval; bin > 0 {
		w.sample(max(bin, minBin), limit)
	}
	w.begins(ctx, limit)
	var channels []verbs.CompletionChannel
	for _, e := range w.ends {
		if e != nil {
			channels = append(channels, e.ch)
		}
	}
	defer w.settle(o.Poll)()
	for w.err == nil {
		now := w.clock.now()
		switch {
		case now >= limit:
			return limit, false
		case w.remote != nil && w.remote.stop:
			return max(now, 0), false
		case w.remote != nil:
		case w.spec.UntilDone && w.left == 0 && w.busy == 0:
			return now, false
		}
		if ctx.Err() != nil {
			return now, true
		}
		if w.work(now) || o.Poll {
			continue
		}
		w.sleep(channels, min(w.timers.next(), limit))
	}
	return w.clock.now(), true
}

// begins starts what runs beside the reactor, faults, and the workloads.
func (w *world) begins(ctx context.Context, limit sim.Time) {
	var devices []*netem.Device
	for _, e := range w.ends {
		if e != nil {
			devices = append(devices, &e.info)
		}
	}
	if len(w.faults) > 0 {
		if err := w.startFaults(ctx, limit); err != nil {
			w.fail(err)
		}
	}
	w.sampler = startSampler(devices, w.spec.Series.Interval, w.clock)
	for k := range w.apps {
		for _, a := range w.apps[k] {
			if a == nil {
				continue
			}
			w.timers.add(0, func() { a.inst.Start(a) })
		}
	}
}

// hearEvery is how long a message of the coordinator may wait.
const hearEvery = 5 * time.Millisecond

// minBin is the shortest bin of series: a reactor that shares its core cannot
// keep a shorter one.
const minBin = sim.Millisecond

// sample writes goodput, bin after bin.
func (w *world) sample(bin sim.Duration, limit sim.Time) {
	var tick func()
	at := sim.Time(0)
	tick = func() {
		w.goodput(at, bin)
		at = at.Add(bin)
		if next := at.Add(bin); next <= limit {
			w.timers.add(next, tick)
		}
	}
	w.timers.add(at.Add(bin), tick)
}

// work does what is due and reports whether there was anything.
func (w *world) work(now sim.Time) bool {
	did := false
	for n := 0; n < 64; n++ {
		f, ok := w.timers.due(now)
		if !ok {
			break
		}
		f()
		did = true
	}
	for _, e := range w.ends {
		if e == nil {
			continue
		}
		n, err := e.cq.Poll(e.wc)
		if err != nil {
			w.fail(fmt.Errorf("%s: %w", e.info.Name, err))
			return true
		}
		at := w.clock.now()
		for i := range n {
			if c := e.conns[e.wc[i].QPN]; c != nil {
				c.completed(&e.wc[i], at)
			}
		}
		did = did || n > 0
	}
	if w.remote != nil {
		did = w.hear() || did
	}
	return w.look() || did
}

// sleep arms the completion queues and waits for an event, a timer, or a tenth
// of a second. A completion that came before the arming is found by the next
// round, which polls first.
func (w *world) sleep(channels []verbs.CompletionChannel, until sim.Time) {
	for _, e := range w.ends {
		if e == nil {
			continue
		}
		for {
			cq, ok := e.ch.Event()
			if !ok {
				break
			}
			e.ch.AckEvents(cq, 1)
		}
		if err := e.cq.RequestNotify(false); err != nil {
			w.fail(err)
			return
		}
	}
	if w.work(w.clock.now()) {
		return
	}
	d := until.Sub(w.clock.now())
	most := 100 * time.Millisecond
	if w.remote != nil {
		most = hearEvery
	}
	wait := min(time.Duration(d/sim.Nanosecond), most)
	if err := ibv.Wait(channels, wait); err != nil {
		w.fail(err)
	}
}

// unfinished writes the rows of messages that were outstanding at the end.
func (w *world) unfinished(end sim.Time) {
	for _, e := range w.ends {
		if e == nil {
			continue
		}
		for _, q := range sortedConns(e.conns) {
			for i := range q.sends.list {
				if s := &q.sends.list[i]; s.used {
					w.sink.Flow(trace.Flow{ID: s.id, Src: w.traffic.Hosts[q.app.host], Dst: w.traffic.Hosts[q.peer.app.host], QP: q.QPN(), Workload: w.traffic.Kinds[q.app.load],
						Verb: s.wr.Opcode.String(), Bytes: s.length, Start: min(s.posted, end), End: -1, Status: trace.StatusUnfinished, Tag: s.wr.Tag, Retransmits: trace.RetransmitsUnknown})
				}
			}
		}
	}
}
