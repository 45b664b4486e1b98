package simnic

import (
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// pauseWatchdog keeps a NIC whose receive side has stalled from pausing its
// link for ever. A pause of the NIC's own that has not been broken for most of
// the time is a warning. After all of it the NIC sends XON, asks for no pause
// any more, and drops what it has no room for, until its host has caught up.
// Source: Linux, mlx5, ethtool tunable pfc-prevention-tout (80 to 8000 ms; auto
// = 100 ms) and the stall watermarks of register PFCC; Guo et al., SIGCOMM'16,
// section 4.3, where 100 ms are given.
type pauseWatchdog struct {
	limit    sim.Duration
	holds    uint8 // classes that the NIC pauses at present
	given    uint8 // classes for which it has given up
	gen      [8]uint64
	until    [8]sim.Time // of pauses that no buffer has called for
	warnings uint64
	errors   uint64
}

// pauseWarning is the share of the time after which there is a warning: the
// minor watermark of mlx5, 85 %.
const pauseWarning = 85

// gaveUp reports whether the NIC has given up pausing a class.
func (w *pauseWatchdog) gaveUp(c uint8) bool { return w != nil && w.given&(1<<c) != 0 }

// watchPause is told that the NIC begins to pause a class, or ends it.
func (n *NIC) watchPause(port int, c uint8, on bool) {
	w := n.dog
	if w == nil || (w.holds&(1<<c) != 0) == on {
		return
	}
	w.gen[c]++
	if !on {
		w.holds &^= 1 << c
		return
	}
	w.holds |= 1 << c
	for _, share := range []uint64{pauseWarning, 100} {
		at := n.node.Now().Add(w.limit * sim.Duration(share) / 100)
		n.node.At(at, kindPauseWatchdog, port, uint64(c)|share<<8|w.gen[c]<<16)
	}
}

// watchStorm is told of a pause frame that no buffer has called for. It reports
// whether the frame may be sent.
func (n *NIC) watchStorm(port int, c uint8, lasts sim.Duration) bool {
	w := n.dog
	if w == nil || lasts == 0 {
		return true
	}
	now := n.node.Now()
	if now > w.until[c] { // it was quiet
		w.given &^= 1 << c
		n.watchPause(port, c, false)
	}
	w.until[c] = now.Add(lasts)
	if w.gaveUp(c) {
		return false
	}
	n.watchPause(port, c, true)
	return true
}

// pauseTooLong is the timer of a pause.
func (n *NIC) pauseTooLong(port int, arg uint64) {
	c, share, gen := uint8(arg&7), arg>>8&0xff, arg>>16
	w := n.dog
	if w.gen[c]&(1<<48-1) != gen || w.holds&(1<<c) == 0 {
		return
	}
	if now := n.node.Now(); w.until[c] > 0 && w.until[c] < now && !n.ports[port].Holds(int(c)) {
		return // a storm that has ended meanwhile
	}
	if share < 100 {
		w.warnings++
		n.tellPause(port, c, "NIC pause watchdog: warning")
		return
	}
	w.errors++
	w.given |= 1 << c
	n.tellPause(port, c, "NIC pause watchdog: gave up pausing")
	for i := range n.ports {
		p := &n.ports[i]
		if p.Cfg.Lossless&(1<<c) != 0 {
			p.Xon(int(c))
			n.transmit(i)
		}
	}
	n.watchPause(port, c, false)
}

// caughtUp lets a NIC pause again whose host has caught up.
func (n *NIC) caughtUp(port int, c uint8) {
	if n.dog.gaveUp(c) {
		n.dog.given &^= 1 << c
		n.tellPause(port, c, "NIC pause watchdog: restored")
	}
}

func (n *NIC) tellPause(port int, c uint8, what string) {
	n.cfg.Sink.Event(trace.Event{Time: n.node.Now(), Kind: trace.EventWatchdog, Object: n.ports[port].id, Peer: n.cfg.PeerIDs[port], Prio: int8(c), Value: float64(n.rx.bytes), Cause: what})
}

// reset begins a new measurement.
func (w *pauseWatchdog) reset() {
	if w != nil {
		w.warnings, w.errors = 0, 0
	}
}
