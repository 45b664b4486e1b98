package hardware

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"rdmasim/fabric/netem"
	"rdmasim/scenarios"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Place is where a host of the scenario is.
type Place struct{ Host, Machine, Device string }

// ParsePlace reads HOST=MACHINE/DEVICE.
func ParsePlace(s string) (p Place, err error) {
	host, rest, ok1 := strings.Cut(s, "=")
	at := strings.LastIndexByte(rest, '/')
	if !ok1 || at < 1 || host == "" || rest[at+1:] == "" || strings.HasPrefix(rest, "-") || strings.ContainsAny(rest, " \t\n") {
		return p, fmt.Errorf("--host %s: want HOST=MACHINE/DEVICE, such as h0=node1/mlx5_0", s)
	}
	return Place{host, rest[:at], rest[at+1:]}, nil
}

// DefaultVia is how an agent is started on a machine.
const DefaultVia = "ssh -o BatchMode=yes {} rdmasim hw agent"

// agentEnd is an agent as the coordinator sees it.
type agentEnd struct {
	machine string
	devices map[string]string // by host
	link    *link
	cmd     *exec.Cmd
	stdin   io.Closer
	offset  Offset
	objects []string // names of the agent's objects, by number
	probe   message  // latest answer
	result  *wireResult
	sink    trace.Sink
	version string
}

// coordinator runs a scenario whose hosts are at agents.
type coordinator struct {
	spec    *scenarios.Spec
	traffic *scenarios.Traffic
	agents  []*agentEnd
	of      map[string]int // agent of a host
	started time.Time
	inbox   chan message
	calls   map[uint64]call // outstanding, by the number that they have here
	seq     uint64
}

// call is who asked, and under which number.
type call struct {
	agent int
	seq   uint64
}

func (c *coordinator) now() time.Duration { return time.Since(c.started) }

// RunRemote executes a scenario with the devices of several machines: an agent is
// started on each by the command via, in which {} stands for the machine, and
// spoken with over its standard input and output.
func RunRemote(ctx context.Context, s *scenarios.Spec, o Options, places []Place, via string) (res *scenarios.Result, err error) {
	c, err := newCoordinator(s, places)
	if err != nil {
		return nil, &scenarios.InputError{Err: err}
	}
	if o.DryRun {
		return nil, &scenarios.InputError{Err: errors.New("--dry-run shows what changes on this machine; run it on each of the others with --device")}
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.connect(ctx, via, o); err != nil {
		return nil, err
	}
	w := c.world()
	out, err := w.create(o)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	stopped, err := c.run(ctx, o)
	if err != nil {
		out.Abort()
		return nil, err
	}
	res = &scenarios.Result{Dir: o.Out, Partial: stopped, Wall: time.Since(start).Seconds(), Workers: len(c.agents)}
	if err := c.merge(w, out, res); err != nil {
		out.Abort()
		return nil, err
	}
	return res, nil
}

func newCoordinator(s *scenarios.Spec, places []Place) (*coordinator, error) {
	traffic, err := scenarios.PlanTraffic(s)
	if err != nil {
		return nil, err
	}
	c := &coordinator{spec: s, traffic: traffic, of: map[string]int{}, started: time.Now(), inbox: make(chan message, 1024), calls: map[uint64]call{}}
	for _, p := range places {
		if !slices.Contains(traffic.Hosts, p.Host) {
			return nil, fmt.Errorf("--host %s=...: the scenario has no such host; it has %s", p.Host, strings.Join(traffic.Hosts, ", "))
		}
		if _, twice := c.of[p.Host]; twice {
			return nil, fmt.Errorf("--host %s=...: given twice", p.Host)
		}
		i := slices.IndexFunc(c.agents, func(a *agentEnd) bool { return a.machine == p.Machine })
		if i < 0 {
			i = len(c.agents)
			c.agents = append(c.agents, &agentEnd{machine: p.Machine, devices: map[string]string{}})
		}
		c.agents[i].devices[p.Host] = p.Device
		c.of[p.Host] = i
	}
	for _, h := range traffic.Hosts {
		if _, ok := c.of[h]; !ok {
			return nil, fmt.Errorf("--host: host %s is nowhere", h)
		}
	}
	return c, nil
}

// connect starts the agents, estimates their clocks and hands out the scenario.
func (c *coordinator) connect(ctx context.Context, via string, o Options) error {
	yaml, _, err := scenarios.Resolved(c.spec)
	if err != nil {
		return err
	}
	for i, a := range c.agents {
		if err := c.start(ctx, i, via, o.Log); err != nil {
			return fmt.Errorf("%s: %w", a.machine, err)
		}
	}
	for i, a := range c.agents {
		m, err := c.expect(ctx, i, kindHello)
		if err != nil {
			return err
		}
		a.version = m.Version
		if m.Version != o.Version && o.Log != nil {
			fmt.Fprintf(o.Log, "rdmasim: %s has version %s, this is %s\n", a.machine, m.Version, o.Version)
		}
		if a.offset, err = c.offsetOf(ctx, i); err != nil {
			return fmt.Errorf("%s: the clock: %w", a.machine, err)
		}
		if o.Log != nil {
			fmt.Fprintf(o.Log, "rdmasim: %s: its clock is within %v\n", a.machine, a.offset.Error)
		}
	}
	for i, a := range c.agents {
		if err := a.link.send(message{Kind: kindPrepare, Scenario: string(yaml), Devices: a.devices, Poll: o.Poll}); err != nil {
			return fmt.Errorf("%s: %w", a.machine, err)
		}
		if _, err := c.expect(ctx, i, kindReady); err != nil {
			return err
		}
	}
	return nil
}

// start starts an agent.
func (c *coordinator) start(ctx context.Context, i int, via string, log io.Writer) error {
	a := c.agents[i]
	words := strings.Fields(via)
	if len(words) == 0 {
		return errors.New("--via is empty")
	}
	for k := range words {
		words[k] = strings.ReplaceAll(words[k], "{}", a.machine)
	}
	a.cmd = exec.CommandContext(context.WithoutCancel(ctx), words[0], words[1:]...)
	a.cmd.Stderr = log
	a.cmd.WaitDelay = 2 * time.Second
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt at the terminal is for the coordinator
	in, err := a.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := a.cmd.Start(); err != nil {
		a.cmd = nil
		return err
	}
	a.stdin = in
	a.link = newLink(out, in)
	go func() {
		for m := range a.link.in {
			m.from = i
			c.inbox <- m
		}
		c.inbox <- message{Kind: kindBye, from: i}
	}()
	return nil
}

// answerTime is how long an agent may take to come up and to answer.
const answerTime = 60 * time.Second

// next takes the next message that is for the coordinator, and passes on calls.
func (c *coordinator) next(ctx context.Context, wait time.Duration) (m message, ok bool, err error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return m, false, ctx.Err()
		case <-timer.C:
			return m, false, nil
		case m = <-c.inbox:
		}
		a := c.agents[m.from]
		switch m.Kind {
		case kindCall:
			err = c.pass(m)
		case kindReply:
			k, known := c.calls[m.Seq]
			if !known {
				continue
			}
			delete(c.calls, m.Seq)
			m.Seq = k.seq
			err = c.agents[k.agent].link.send(m)
		case kindFailed:
			return m, false, fmt.Errorf("%s: %s", a.machine, m.Err)
		case kindBye:
			if a.result != nil {
				continue
			}
			return m, false, fmt.Errorf("%s: the agent has ended: %w", a.machine, a.link.errGone())
		default:
			return m, true, nil
		}
		if err != nil {
			return m, false, fmt.Errorf("%s: %w", a.machine, err)
		}
	}
}

// pass hands a call to the agent of its host.
func (c *coordinator) pass(m message) error {
	to, ok := c.of[m.To]
	if !ok {
		return c.agents[m.from].link.send(message{Kind: kindReply, Seq: m.Seq, Err: "there is no host " + m.To})
	}
	c.seq++
	c.calls[c.seq] = call{m.from, m.Seq}
	m.Seq = c.seq
	return c.agents[to].link.send(m)
}

// expect waits for a message of one agent.
func (c *coordinator) expect(ctx context.Context, i int, k kind) (message, error) {
	m, ok, err := c.next(ctx, answerTime)
	switch {
	case err != nil:
		return m, err
	case !ok:
		return m, fmt.Errorf("%s: no answer within %v", c.agents[i].machine, answerTime)
	case m.from != i || m.Kind != k:
		return m, fmt.Errorf("%s: %q instead of %q of %s", c.agents[m.from].machine, m.Kind, k, c.agents[i].machine)
	}
	return m, nil
}

// exchanges is how often a clock is asked.
const exchanges = 20

func (c *coordinator) offsetOf(ctx context.Context, i int) (Offset, error) {
	var list []exchange
	for range exchanges {
		asked := c.now()
		if err := c.agents[i].link.send(message{Kind: kindPing}); err != nil {
			return Offset{}, err
		}
		m, err := c.expect(ctx, i, kindPing)
		if err != nil {
			return Offset{}, err
		}
		list = append(list, exchange{asked, time.Duration(m.Time), c.now()})
	}
	return estimate(list)
}

// lead is how long after the word the run begins: faults are put in place before.
const lead = 1500 * time.Millisecond

// run starts all agents at one instant, waits until nothing is left to do or the
// time is over, and collects what they have measured.
func (c *coordinator) run(ctx context.Context, o Options) (stopped bool, err error) {
	at := c.now() + lead
	for _, a := range c.agents {
		if err := a.link.send(message{Kind: kindStart, Time: (at + a.offset.Ahead).Nanoseconds()}); err != nil {
			return false, fmt.Errorf("%s: %w", a.machine, err)
		}
	}
	limit := c.spec.Duration
	if c.spec.UntilDone {
		limit = c.spec.MaxDuration
	}
	end := at + time.Duration(limit/sim.Nanosecond)
	for quiet := uint64(0); c.left() > 0; {
		if ctx.Err() != nil && !stopped {
			stopped = true
			end = c.now()
			if err := c.stop(); err != nil {
				return true, err
			}
		}
		over := c.now() > end+answerTime
		if over {
			return stopped, fmt.Errorf("no results within %v after the end", answerTime)
		}
		if c.spec.UntilDone && !stopped && c.now() > at && c.now() < end {
			done, work, err := c.probe(ctx)
			if err != nil && ctx.Err() == nil {
				return false, err
			}
			// Nothing to do anywhere, twice with nothing done in between.
			if done && work == quiet {
				end = c.now()
				if err := c.stop(); err != nil {
					return false, err
				}
				if err := c.results(); err != nil {
					return false, err
				}
				return stopped, nil
			}
			quiet = 0
			if done {
				quiet = work
			}
		}
		m, ok, err := c.next(context.WithoutCancel(ctx), 50*time.Millisecond)
		if err != nil {
			return stopped, err
		}
		if ok {
			c.take(m)
		}
	}
	return stopped, nil
}

// left counts the agents without results.
func (c *coordinator) left() (n int) {
	for _, a := range c.agents {
		if a.result == nil {
			n++
		}
	}
	return n
}

func (c *coordinator) stop() error {
	for _, a := range c.agents {
		if a.result != nil {
			continue
		}
		if err := a.link.send(message{Kind: kindStop}); err != nil {
			return fmt.Errorf("%s: %w", a.machine, err)
		}
	}
	return nil
}

// results waits for those of all agents.
func (c *coordinator) results() error {
	for deadline := c.now() + answerTime; c.left() > 0; {
		m, ok, err := c.next(context.Background(), time.Second)
		if err != nil {
			return err
		}
		if ok {
			c.take(m)
		}
		if c.now() > deadline {
			return fmt.Errorf("no results within %v", answerTime)
		}
	}
	return nil
}

// probe asks all agents whether they have anything to do, and how much they have
// done; rows that come meanwhile are taken.
func (c *coordinator) probe(ctx context.Context) (done bool, work uint64, err error) {
	waiting := 0
	for _, a := range c.agents {
		if a.result != nil {
			continue
		}
		waiting++
		if err := a.link.send(message{Kind: kindProbe}); err != nil {
			return false, 0, fmt.Errorf("%s: %w", a.machine, err)
		}
	}
	done = true
	for deadline := c.now() + answerTime; waiting > 0; {
		m, ok, err := c.next(ctx, time.Second)
		if err != nil {
			return false, 0, err
		}
		switch {
		case ok && m.Kind == kindProbe:
			waiting--
			done = done && m.Done
			work += m.Work
		case ok:
			c.take(m)
			if m.Kind == kindResult { // its time was over before it heard
				waiting--
			}
		}
		if c.now() > deadline {
			return false, 0, fmt.Errorf("no answer within %v", answerTime)
		}
	}
	return done, work + 1, nil
}

// take keeps results; names of objects come before the rows that use them.
func (c *coordinator) take(m message) {
	a := c.agents[m.from]
	switch m.Kind {
	case kindRows:
		if m.Rows == nil {
			return
		}
		a.objects = append(a.objects, m.Rows.Objects...)
		a.sink.Flows = append(a.sink.Flows, m.Rows.Flows...)
		a.sink.Points = append(a.sink.Points, m.Rows.Points...)
		a.sink.Events = append(a.sink.Events, m.Rows.Events...)
	case kindResult:
		a.result = m.Result
		if a.result == nil {
			a.result = &wireResult{}
		}
	}
}

// world is what reports and checks of the whole run need.
func (c *coordinator) world() *world {
	n := len(c.traffic.Hosts)
	w := &world{spec: c.spec, traffic: c.traffic, names: trace.NewNames(), sent: make([]int64, n), arrived: make([]int64, n)}
	for _, h := range c.traffic.Hosts {
		w.names.ID(h)
	}
	w.versions = map[string]string{"go": runtime.Version()}
	for _, a := range c.agents {
		w.versions["agent on "+a.machine] = fmt.Sprintf("version %s, clock within %v", a.version, a.offset.Error)
		for h, d := range a.devices {
			w.versions["device of "+h] = a.machine + "/" + d
		}
	}
	for i, f := range c.traffic.Faults {
		w.faults = append(w.faults, &injection{name: c.traffic.FaultNames[i], f: f})
		w.names.ID("fault/" + c.traffic.FaultNames[i])
	}
	return w
}

// merge writes the rows of all agents. Their times are those of one run: all
// began at the same instant, as well as their clocks are known.
func (c *coordinator) merge(w *world, out *trace.Writer, res *scenarios.Result) error {
	var list []trace.Counter
	var deltas []netem.Counters
	file := trace.DevicesFile{Missing: []trace.Missing{}}
	total := int64(0)
	for i, a := range c.agents {
		r := a.result
		c.rows(w, i)
		res.End = max(res.End, r.End)
		total += r.Payload
		prefix := a.machine + "/"
		for _, k := range r.Counters {
			k.Object = prefix + k.Object
			list = append(list, k)
		}
		for _, d := range r.Deltas {
			deltas = append(deltas, d)
		}
		for _, in := range w.faults {
			f := r.Faults[in.name]
			in.hit, in.seen, in.dropped = in.hit+f[0], in.seen+f[1], in.dropped+f[2]
		}
		for k := range min(len(w.sent), len(r.Sent), len(r.Arrived)) {
			w.sent[k], w.arrived[k] = w.sent[k]+r.Sent[k], w.arrived[k]+r.Arrived[k]
		}
		w.anyReliable = w.anyReliable || r.Reliable
		w.checks = append(w.checks, r.Checks...)
		for _, d := range r.Devices.Devices {
			d.Name = prefix + d.Name
			file.Devices = append(file.Devices, d)
		}
		for _, m := range r.Devices.Missing {
			m.What += " on " + a.machine
			file.Missing = append(file.Missing, m)
		}
	}
	if !res.Partial {
		if err := w.allActed(); err != nil {
			return err
		}
	}
	for _, a := range c.agents {
		w.checks = append(w.checks, trace.Check{Subject: "clock/" + a.machine, OK: true, Value: ptr(a.offset.Error.Seconds()),
			Text: fmt.Sprintf("the clock of %s is known within %v: times of different machines compare no better", a.machine, a.offset.Error)})
	}
	w.total = total
	return w.writeRest(out, list, deltas, file, res)
}

// rows adds the rows of an agent under the names and numbers of the run.
func (c *coordinator) rows(w *world, i int) {
	a := c.agents[i]
	name := func(id trace.ObjectID) trace.ObjectID {
		if id == 0 || int(id) > len(a.objects) {
			return 0
		}
		o := a.objects[id-1]
		if !strings.HasPrefix(o, "fault/") && !slices.Contains(c.traffic.Hosts, o) {
			o = a.machine + "/" + o
		}
		return w.names.ID(o)
	}
	for _, f := range a.sink.Flows {
		f.ID = f.ID*uint64(len(c.agents)) + uint64(i)
		w.sink.Flow(f)
	}
	for _, p := range a.sink.Points {
		if o := w.names.Name(name(p.Object)); slices.Contains(c.traffic.Hosts, o) && c.of[o] != i {
			continue // every agent has a series of every host, and values for its own
		}
		p.Object = name(p.Object)
		if p.Time >= 0 {
			w.sink.Point(p)
		}
	}
	for _, e := range a.sink.Events {
		if e.Kind == trace.EventFault && i > 0 {
			continue // all agents tell of it
		}
		e.Object, e.Peer, e.Time = name(e.Object), name(e.Peer), max(e.Time, 0)
		w.sink.Event(e)
	}
}

// close ends the agents: their standard input closes, and each undoes what it
// has changed.
func (c *coordinator) close() error {
	var errs []error
	for _, a := range c.agents {
		if a.cmd == nil {
			continue
		}
		_ = a.link.send(message{Kind: kindBye})
		_ = a.stdin.Close()
	}
	for _, a := range c.agents {
		if a.cmd == nil {
			continue
		}
		done := make(chan error, 1)
		go func() { done <- a.cmd.Wait() }()
		select {
		case err := <-done:
			if err != nil && a.result != nil {
				errs = append(errs, fmt.Errorf("%s: %w", a.machine, err))
			}
		case <-time.After(10 * time.Second):
			errs = append(errs, fmt.Errorf("%s: the agent did not end", a.machine), a.cmd.Process.Kill())
		}
	}
	return errors.Join(errs...)
}
