package hardware

import (
	"errors"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// app is an instance of a workload on a host.
type app struct {
	w    *world
	host int
	load int // number of the workload
	inst workload.Instance
	done bool
}

var _ workload.Host = (*app)(nil)

func (a *app) Index() int                 { return a.host }
func (a *app) Hosts() int                 { return len(a.w.traffic.Hosts) }
func (a *app) Now() sim.Time              { return a.w.clock.now() }
func (a *app) LineRate() sim.Rate         { return a.w.ends[a.w.endOf[a.host]].port.Rate }
func (a *app) Rand(name string) *sim.Rand { return a.w.traffic.Rand(a.host, a.load, name) }
func (a *app) After(d sim.Duration, t uint64) {
	a.w.timers.add(a.Now().Add(d), func() { a.inst.OnTimer(a, t) })
}

func (a *app) Done() {
	if !a.done {
		a.done = true
		a.w.left--
	}
}

// Connect makes both queue pairs and brings them to RTS. The peer is told
// before anything can arrive.
func (a *app) Connect(p workload.ConnParams) verbs.Connection {
	here, there, err := a.w.connect(a, p)
	if err != nil {
		a.w.fail(err)
		return deadConn{}
	}
	if there == nil { // the agent of the peer has told it
		return here
	}
	peer := a.w.apps[a.load][p.Peer]
	peer.inst.OnAccept(peer, there, a.host, p.Private)
	return here
}

// fail ends the run with an error; the first one counts. That another machine is
// lost only ends it.
func (w *world) fail(err error) {
	if w.remote != nil && errors.Is(err, errPeerLost) {
		w.remote.stop = true
		return
	}
	if w.err == nil {
		w.err = err
	}
}

// deadConn stands for a connection that could not be made.
type deadConn struct{}

func (deadConn) QPN() uint32                      { return 0 }
func (deadConn) PostSend(verbs.WorkRequest) error { return verbs.ErrInvalid }
func (deadConn) PostRecv(uint64, sim.Bytes) error { return verbs.ErrInvalid }
func (deadConn) State() verbs.State               { return verbs.StateError }
func (deadConn) Close()                           {}
