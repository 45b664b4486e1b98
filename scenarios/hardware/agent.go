package hardware

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"rdmasim/scenarios"
	"rdmasim/sim/trace"
)

// remote is how a world that has only some of the hosts reaches the others.
type remote struct {
	link    *link
	lease   time.Duration
	started time.Time // of the agent's clock
	seq     uint64
	stop    bool
	work    uint64 // completions and calls so far
}

func (r *remote) now() int64 { return time.Since(r.started).Nanoseconds() }

// Told is an error that the coordinator was told of.
type Told struct{ error }

// Unwrap returns the error itself.
func (t Told) Unwrap() error { return t.error }

// Agent runs the hosts of a scenario that are devices of this machine, as the
// coordinator at the other end says. log gets every command that changes the host.
// It ends, and undoes what it has changed, when the coordinator closes or is
// silent for longer than the time of a lease.
func Agent(ctx context.Context, in io.Reader, out io.Writer, log io.Writer, version string) error {
	return agent(ctx, in, out, log, version, leaseTime)
}

func agent(ctx context.Context, in io.Reader, out io.Writer, log io.Writer, version string, lease time.Duration) error {
	r := &remote{started: time.Now(), lease: lease}
	r.link = newLink(in, out, r.answerAlive)
	if err := r.link.send(message{Kind: kindHello, Version: version}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go r.watch(ctx, cancel)
	ended := make(chan error, 1)
	go func() {
		err := r.serve(ctx, log, version)
		if err != nil {
			if r.link.send(message{Kind: kindFailed, Err: err.Error()}) == nil {
				err = Told{err}
			}
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if !errors.Is(context.Cause(ctx), errLapsed) { // interrupted: what was measured is still sent
		return <-ended
	}
	// To write to a connection that is lost may take for ever. What was changed
	// has been undone by then, or is by the guard.
	select {
	case err := <-ended:
		return err
	case <-time.After(lease):
		return context.Cause(ctx)
	}
}

// serve answers until there is a scenario, and runs it.
func (r *remote) serve(ctx context.Context, log io.Writer, version string) error {
	var w *world
	var o Options
	var x examined
	defer func() { _ = x.close() }() // nothing of the host was changed
	for {
		var m message
		ok := false
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), w.closeIf())
		case m, ok = <-r.link.in:
		}
		if !ok {
			return errors.Join(fmt.Errorf("the coordinator is gone: %w", r.link.errGone()), w.closeIf())
		}
		switch m.Kind {
		case kindPing:
			if err := r.link.send(message{Kind: kindPing, Seq: m.Seq, Time: r.now()}); err != nil {
				return err
			}
		case kindPrepare:
			spec, err := scenarios.Parse("scenario", []byte(m.Scenario))
			if err != nil {
				return err
			}
			o = Options{Poll: m.Poll, Version: version, Log: log}
			if w, err = prepareAt(spec, o, m.Devices, r); err != nil {
				return err
			}
			if err := r.link.send(message{Kind: kindReady}); err != nil {
				return errors.Join(err, w.close())
			}
		case kindDoctor, kindReach:
			if err := x.answer(ctx, r.link, m); err != nil {
				return err
			}
		case kindStart:
			if w == nil {
				return errors.New("start without a scenario")
			}
			w.clock = clock{r.started.Add(time.Duration(m.Time))}
			return errors.Join(w.runAgent(ctx, o), w.close())
		case kindBye, kindStop:
			return w.closeIf()
		default:
			return errors.Join(fmt.Errorf("a message %q before the start", m.Kind), w.closeIf())
		}
	}
}

func (w *world) closeIf() error {
	if w == nil {
		return nil
	}
	return w.close()
}

// runAgent runs the agent's part and sends what it has measured.
func (w *world) runAgent(ctx context.Context, o Options) error {
	r := w.remote
	if w.kernelFaults() {
		var err error
		if w.injector, err = newInjector(o.Log); err != nil {
			return err
		}
	}
	before, err := w.counters()
	if err != nil {
		w.fail(err)
	}
	cpu := openCPUCounters()
	defer cpu.close()
	end, stopped := w.loop(ctx, o)
	list := cpu.read()
	w.sampler.end(w)
	if len(w.faults) > 0 {
		if err := w.stopFaults(); err != nil && !stopped {
			w.fail(err)
		}
	}
	if cause := context.Cause(ctx); errors.Is(cause, errLapsed) {
		w.fail(cause)
	}
	if w.err != nil {
		return w.err
	}
	w.unfinished(end)
	after, err := w.counters()
	if err != nil {
		return err
	}
	res := &wireResult{End: end, Checks: w.checks, Faults: map[string][3]int64{}, Sent: w.sent, Arrived: w.arrived, Payload: w.total,
		Reliable: w.reliable(), Devices: w.deviceStates(before, cpu.reasons())}
	for i, e := range w.ends {
		if e != nil {
			d := after[i].since(&before[i])
			res.Deltas = append(res.Deltas, d.device)
			list = append(list, d.counters(&e.info)...)
		}
	}
	res.Counters = list
	if ctx.Err() != nil {
		res.Stopped = "it was interrupted there"
	}
	for _, in := range w.faults {
		res.Faults[in.name] = [3]int64{in.hit, in.seen, in.dropped}
	}
	if err := w.sendRows(); err != nil {
		return err
	}
	return r.link.send(message{Kind: kindResult, Result: res})
}

// rowsPerMessage keeps lines short.
const rowsPerMessage = 2000

// sendRows sends the rows in portions.
func (w *world) sendRows() error {
	s := &w.sink
	var objects []string
	for i := trace.ObjectID(1); w.names.Name(i) != ""; i++ {
		objects = append(objects, w.names.Name(i))
	}
	if err := w.remote.link.send(message{Kind: kindRows, Rows: &wireRows{Objects: objects}}); err != nil {
		return err
	}
	for len(s.Flows)+len(s.Points)+len(s.Events) > 0 {
		m := &wireRows{}
		m.Flows, s.Flows = cut(s.Flows)
		m.Points, s.Points = cut(s.Points)
		m.Events, s.Events = cut(s.Events)
		if err := w.remote.link.send(message{Kind: kindRows, Rows: m}); err != nil {
			return err
		}
	}
	return nil
}

func cut[T any](list []T) (head, tail []T) {
	n := min(len(list), rowsPerMessage)
	return list[:n], list[n:]
}

// hear handles what has come from the coordinator, without waiting.
func (w *world) hear() (did bool) {
	for {
		select {
		case m, ok := <-w.remote.link.in:
			if !ok {
				w.fail(fmt.Errorf("the coordinator is gone: %w", w.remote.link.errGone()))
				return true
			}
			w.handle(m)
			did = true
		default:
			return did
		}
	}
}

// handle does what one message asks for.
func (w *world) handle(m message) {
	r := w.remote
	reply := message{Kind: kindReply, Seq: m.Seq}
	switch m.Kind {
	case kindStop:
		r.stop = true
		return
	case kindReply: // of a call that was given up
		return
	case kindBye:
		w.fail(errors.New("the coordinator has given up"))
		return
	case kindProbe:
		reply = message{Kind: kindProbe, Seq: m.Seq, Done: w.left == 0 && w.busy == 0, Work: r.work}
	case kindPing:
		reply = message{Kind: kindPing, Seq: m.Seq, Time: r.now()}
	case kindCall:
		r.work++
		c, err := w.answer(m)
		if err != nil {
			reply.Err = err.Error()
		}
		reply.Conn = c
	default:
		w.fail(fmt.Errorf("a message %q during the run", m.Kind))
		return
	}
	if err := r.link.send(reply); err != nil {
		w.fail(err)
	}
}

// kernelFaults reports whether a fault changes this machine.
func (w *world) kernelFaults() bool {
	for _, in := range w.faults {
		if in.late == 0 && len(in.sites) > 0 {
			return true
		}
	}
	return false
}

// machine names this machine in versions.
func machine() string {
	name, err := os.Hostname()
	if err != nil {
		return runtime.GOOS
	}
	return name
}
