package hardware

import (
	"fmt"
	"path"

	"rdmasim/fabric/netem"
	"rdmasim/scenarios/fault"
	"rdmasim/sim"
)

// planLate makes the applications of hosts post their receives late. It is the
// one fault that needs nothing of the kernel and acts on every device.
func (w *world) planLate(in *injection, f fault.LateReceives) error {
	for i, h := range w.traffic.Hosts {
		if ok, err := path.Match(f.Host, h); ok && err == nil {
			in.lateAt = append(in.lateAt, i)
		}
	}
	if in.lateAt == nil {
		return fmt.Errorf("%w: host: %s: is none of %v", netem.ErrNotSupported, f.Host, w.traffic.Hosts)
	}
	in.late = f.Delay
	return nil
}

// lateness returns by how much a receive that a host posts now is to be late.
func (w *world) lateness(host int) sim.Duration {
	for _, in := range w.faults {
		if in.late == 0 || !in.f.Span().Active(w.clock.now()) {
			continue
		}
		for _, h := range in.lateAt {
			if h == host {
				in.hit++
				in.seen++
				return in.late
			}
		}
	}
	return 0
}
