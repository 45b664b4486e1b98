package hardware

import (
	"context"
	"fmt"
	"io"
	"strings"

	"rdmasim/fabric/netem"
	"rdmasim/sim/trace"
)

// askOptional asks which optional counters the devices have. Why there are none
// is told with the run.
func (w *world) askOptional(r netem.Runner) {
	for _, e := range w.ends {
		if e == nil {
			continue
		}
		what := "optional counters of " + e.info.Name
		o, err := netem.ReadOptional(context.Background(), r, e.info.Name, 1)
		e.info.Optional = o
		switch {
		case err != nil:
			w.missing = append(w.missing, trace.Missing{What: what, Reason: reason(err)})
		case len(o.Supported) == 0 && (o.PerQP == "" || e.info.Software):
			w.missing = append(w.missing, trace.Missing{What: what, Reason: "its driver has none"})
		}
	}
}

// countAll switches the optional counters on, and returns what switches them off
// again, whatever becomes of this process.
func (w *world) countAll(ctx context.Context, log io.Writer) (undo func() error, err error) {
	list := w.optionalChanges()
	if len(list) == 0 {
		return func() error { return nil }, nil
	}
	x, err := newInjector(log)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if err := x.journal.Apply(ctx, x.runner, c); err != nil {
			if closed := x.close(); closed != nil {
				err = fmt.Errorf("%w; %w", err, closed)
			}
			return nil, err
		}
	}
	w.askOptional(x.runner)
	return x.close, nil
}

// optionalChanges are those of all devices, but for the software ones: Soft-RoCE
// shows a mode for queue pairs and takes no other.
func (w *world) optionalChanges() (list []netem.Change) {
	for _, e := range w.ends {
		if e != nil && !e.info.Software {
			list = append(list, e.info.Optional.SwitchOn(e.info.Name, 1)...)
		}
	}
	return list
}

// stillOff says of counters that are off how they are switched on.
func (w *world) stillOff() (missing []trace.Missing) {
	for _, e := range w.ends {
		if e == nil || e.info.Software {
			continue
		}
		o := &e.info.Optional
		if n := len(o.Supported) - len(o.On); n > 0 {
			missing = append(missing, trace.Missing{What: fmt.Sprintf("%d optional counters of %s: %s", n, e.info.Name, strings.Join(without(o.Supported, o.On), ", ")),
				Reason: "they are off; hw run --optional-counters switches them on for the run"})
		}
	}
	return missing
}

func without(all, some []string) (rest []string) {
	on := map[string]bool{}
	for _, s := range some {
		on[s] = true
	}
	for _, s := range all {
		if !on[s] {
			rest = append(rest, s)
		}
	}
	return rest
}
