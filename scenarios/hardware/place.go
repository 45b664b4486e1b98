package hardware

import (
	"fmt"
	"os"
	"runtime"

	"rdmasim/fabric/netem"
	"rdmasim/sim/trace"
)

// settle locks the calling goroutine to its thread, and the thread to the
// processors of a device's NUMA node: to one of them if it spins. What cannot be
// had is noted, and no reason to fail. The returned function undoes it.
func settle(d *netem.Device, spins bool) (p trace.Poller, undo func()) {
	runtime.LockOSThread()
	n := netem.ReadNear("/", d)
	p = trace.Poller{Device: d.Name, Node: n.Node, Spins: spins}
	cpus := netem.PollerCPUs(&n, spins, os.Getpid())
	switch {
	case n.Node >= 0 && len(n.Usable()) == 0:
		p.Note = fmt.Sprintf("this process may not run on the processors of NUMA node %d: %s", n.Node, netem.ListCPUs(n.CPUs))
	case n.Node < 0:
		p.Note = "the kernel names no NUMA node"
	}
	if len(cpus) == 0 {
		return p, runtime.UnlockOSThread
	}
	restore, err := netem.PinThread(cpus)
	if err != nil {
		p.Note = err.Error()
		return p, runtime.UnlockOSThread
	}
	p.CPUs = netem.ListCPUs(cpus)
	return p, func() { restore(); runtime.UnlockOSThread() }
}

// settle places the reactor near the first device in use.
func (w *world) settle(spins bool) (undo func()) {
	for _, e := range w.ends {
		if e != nil {
			p, undo := settle(&e.info, spins)
			w.poller = []trace.Poller{p}
			return undo
		}
	}
	return func() {}
}
