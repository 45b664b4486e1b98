package hardware

import (
	"context"
	"errors"
	"fmt"
	"io"

	"rdmasim/fabric/netem"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// injector makes and undoes the changes of faults. Commands take milliseconds,
// so that they run beside the reactor, in order.
type injector struct {
	runner  netem.Runner
	journal *netem.Journal
	guard   io.Closer
	jobs    chan func(ctx context.Context) error
	done    chan error
	cancel  context.CancelFunc
}

// logged prints every command before it runs.
type logged struct {
	netem.Runner
	to io.Writer
}

func (l logged) Run(ctx context.Context, c netem.Command) (string, error) {
	if l.to != nil && changes(c) {
		fmt.Fprintf(l.to, "+ %s\n", c)
	}
	return l.Runner.Run(ctx, c)
}

// changes reports whether a command changes the host; the others only look.
func changes(c netem.Command) bool {
	for _, a := range c {
		if a == "show" || a == "list" {
			return false
		}
	}
	return true
}

// newInjector opens the journal and starts the guard that undoes what stands
// in it if this process is killed.
func newInjector(log io.Writer) (*injector, error) {
	// What a run has left that was killed together with its guard is in the way.
	if _, err := netem.Clean(context.Background(), netem.DefaultJournals, logged{netem.Exec{}, log}); err != nil {
		return nil, err
	}
	j, err := netem.OpenJournal(netem.DefaultJournals)
	if err != nil {
		return nil, err
	}
	guard, err := startGuard(guardCommand)
	if err != nil {
		return nil, errors.Join(err, j.Undo(context.Background(), netem.Exec{}))
	}
	ctx, cancel := context.WithCancel(context.Background())
	x := &injector{runner: logged{netem.Exec{}, log}, journal: j, guard: guard, jobs: make(chan func(context.Context) error, 1024), done: make(chan error, 1), cancel: cancel}
	go func() {
		var first error
		for job := range x.jobs {
			if first == nil {
				first = job(ctx)
			}
		}
		x.done <- first
	}()
	return x, nil
}

// close waits for what is being done, undoes everything and lets the guard go.
func (x *injector) close() error {
	close(x.jobs)
	err := <-x.done
	x.cancel()
	err = errors.Join(err, x.journal.Undo(context.Background(), x.runner))
	return errors.Join(err, x.guard.Close())
}

// begin puts a fault in place at every site.
func (w *world) begin(ctx context.Context, in *injection) error {
	for _, s := range in.sites {
		for _, c := range s.changes {
			if err := w.injector.journal.Apply(ctx, w.injector.runner, c); err != nil {
				return fmt.Errorf("fault %s: %w", in.name, err)
			}
		}
		s.active = true
	}
	return nil
}

// end reads what a fault has done and takes it away.
func (w *world) end(ctx context.Context, in *injection) error {
	for _, s := range in.sites {
		if !s.active {
			continue
		}
		if err := w.read(ctx, in, s); err != nil {
			return fmt.Errorf("fault %s: %w", in.name, err)
		}
		s.active = false
		if err := w.injector.journal.Revert(ctx, w.injector.runner, s.changes); err != nil {
			return fmt.Errorf("fault %s: %w", in.name, err)
		}
	}
	return nil
}

// read adds what a site has counted.
func (w *world) read(ctx context.Context, in *injection, s *site) error {
	if s.table != "" {
		n, err := netem.RuleHits(ctx, w.injector.runner, s.table)
		in.hit += n
		in.seen += n
		if s.drops {
			in.dropped += n
		}
		return err
	}
	if s.risky { // a link that is down counts nothing: that it was down is all
		in.hit++
		return nil
	}
	q, err := netem.Qdiscs(ctx, w.injector.runner, s.dev)
	if err != nil {
		return err
	}
	passed, dropped, ok := netem.Injected(q)
	if !ok {
		return fmt.Errorf("the queue of %s is gone: something else has changed it meanwhile", s.dev)
	}
	in.seen += passed
	in.hit += dropped
	in.dropped += dropped
	if s.marks {
		in.hit += passed - dropped
	}
	return nil
}

// startFaults puts what begins with the run in place, and sets timers for the
// rest. Faults of exact packets wait for their connection.
func (w *world) startFaults(ctx context.Context, limit sim.Time) error {
	for _, in := range w.faults {
		if in.event != nil {
			continue
		}
		when := in.f.Span()
		if when.From == 0 {
			if err := w.begin(ctx, in); err != nil {
				return err
			}
			w.tell(in, 0, true)
			w.edge(in, when.Next(0), limit)
			continue
		}
		w.edge(in, sim.Time(when.From), limit)
	}
	return nil
}

// edge sets the timer of the next begin or end of a fault.
func (w *world) edge(in *injection, at, limit sim.Time) {
	if at >= limit {
		return
	}
	w.timers.add(at, func() {
		when := in.f.Span()
		on := when.Active(at)
		job := w.end
		if on {
			job = w.begin
		}
		if in.late == 0 && w.injector != nil {
			w.injector.jobs <- func(ctx context.Context) error { return job(ctx, in) }
		}
		w.tell(in, w.clock.now(), on)
		w.edge(in, when.Next(at), limit)
	})
}

func (w *world) tell(in *injection, at sim.Time, on bool) {
	e := trace.Event{Time: at, Kind: trace.EventFault, Object: w.names.Lookup("fault/" + in.name), Prio: -1, Cause: in.f.String()}
	if on {
		e.Value = 1
	}
	w.sink.Event(e)
}

// stopFaults ends all faults, and fails if one of them acted on nothing.
func (w *world) stopFaults() error {
	if w.injector != nil {
		w.injector.jobs <- func(ctx context.Context) error {
			for _, in := range w.faults {
				if err := w.end(ctx, in); err != nil {
					return err
				}
			}
			return nil
		}
		if err := w.injector.close(); err != nil {
			return err
		}
	}
	if w.remote != nil { // the coordinator knows what the others have seen
		return nil
	}
	return w.allActed()
}

// allActed fails if a fault acted on nothing.
func (w *world) allActed() error {
	for _, in := range w.faults {
		if in.hit == 0 {
			return fmt.Errorf("fault %s: %s: nothing was injected: it has acted on none of the %d packets that passed it", in.name, in.f, in.seen)
		}
	}
	return nil
}

// onConnect installs the faults of exact packets of a new connection, before
// anything can be sent on it.
func (w *world) onConnect(c *conn) error {
	for i, in := range w.faults {
		f := in.event
		if f == nil || f.Host != w.traffic.Hosts[c.app.host] || f.QP != c.number {
			continue
		}
		action := map[string]netem.Action{"drop": netem.Drop, "ce": netem.MarkCE, "corrupt": netem.Corrupt}[f.Do]
		var rules []netem.Rule
		for _, psn := range f.PSN {
			rules = append(rules, netem.Rule{Action: action, QPN: c.peer.qp.QPN(), PSN: (int64(c.psn()) + psn) & 0xffffff, Nth: uint32(f.Nth)})
		}
		s, err := ruleSite(c.peer.end.info.Netdev, fmt.Sprintf("f%d", i), rules)
		if err != nil {
			return err
		}
		in.sites = append(in.sites, s)
		if err := w.begin(context.Background(), in); err != nil {
			return err
		}
		w.tell(in, w.clock.now(), true)
	}
	return nil
}
