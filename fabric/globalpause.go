package fabric

import (
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// globalPause is the state of 802.3x flow control at one end of a link: one
// pause for all classes, in either direction.
type globalPause struct {
	stat  GlobalPauseStat
	until sim.Time
	since sim.Time
	gen   uint32

	quanta uint16 // of a frame that no buffer has called for
}

// GlobalPauseStat counts 802.3x pauses since the counters were reset. A port
// under PFC counts those that it receives and does not obey them.
type GlobalPauseStat struct {
	XoffTx, XonTx, RefreshTx uint64
	XoffRx, XonRx            uint64
	Episodes                 uint64
	PausedFor, Longest       sim.Duration
}

// pauseLife holds totals of a class that no reset touches, for watchdogs.
type pauseLife struct {
	xoffRx, xonRx, off uint64
	pausedFor          sim.Duration
}

// total returns the totals of class i.
func (p *Port) total(i int) pauseLife {
	if p.pauses == nil {
		return pauseLife{}
	}
	return p.pauses.life[i]
}

// lasting returns how long the pause of class i has lasted, 0 if there is none.
func (p *Port) lasting(i int, now sim.Time) sim.Duration {
	if p.Paused&(1<<i) == 0 {
		return 0
	}
	return now.Sub(p.pauses.since[i])
}

// everything is the mask of all classes.
const everything = 0xff

// onGlobal handles a pause frame at a port whose mode of flow control, or that
// of the frame, is 802.3x. A frame of the other mode is counted and ignored.
func (p *Port) onGlobal(n *sim.Node[packet.Packet], port int, m *packet.Packet) (resumed uint8) {
	if m.Kind != packet.Pause {
		return 0
	}
	if m.Quanta > 0 {
		p.pfc().global.stat.XoffRx++
	} else {
		p.pfc().global.stat.XonRx++
	}
	if !p.Cfg.Global {
		return 0
	}
	if p.Cfg.Response > 0 {
		n.At(n.Now().Add(p.Cfg.Response), KindPauseApply, port, uint64(m.Quanta))
		return 0
	}
	return p.applyGlobal(n, port, m.Quanta)
}

func (p *Port) applyGlobal(n *sim.Node[packet.Packet], port int, quanta uint16) (resumed uint8) {
	now, g := n.Now(), &p.pfc().global
	if quanta == 0 {
		return p.resumeGlobal(now)
	}
	if p.Paused == 0 {
		p.Paused = everything
		g.since = now
		g.stat.Episodes++
	}
	g.until = sim.Never
	if p.Cfg.Timed {
		g.until = now.Add(p.QuantaTime(quanta))
		n.At(g.until, KindPauseExpire, port, 0)
	}
	return 0
}

func (p *Port) resumeGlobal(now sim.Time) (resumed uint8) {
	if p.Paused == 0 {
		return 0
	}
	p.Paused = 0
	g := &p.pfc().global
	d := now.Sub(g.since)
	g.stat.PausedFor += d
	g.stat.Longest = max(g.stat.Longest, d)
	return everything
}

// onGlobalTimer is OnTimer under 802.3x.
func (p *Port) onGlobalTimer(n *sim.Node[packet.Packet], kind sim.Kind, port int, arg uint64) (resumed uint8) {
	g := &p.pfc().global
	switch kind {
	case KindPauseApply:
		return p.applyGlobal(n, port, uint16(arg))
	case KindPauseExpire:
		if g.until <= n.Now() {
			return p.resumeGlobal(n.Now())
		}
	case KindPauseAgain:
		if p.xoff != 0 && g.gen == uint32(arg) {
			p.pending |= uint16(p.xoff)
			p.again = uint8(p.pending)
		}
	}
	return 0
}

// forced is the bit of Port.pending that stands for a frame of ForceGlobal.
const forced = 1 << 8

// ForceGlobal asks for an 802.3x pause frame that no buffer has called for,
// whatever the mode of the port is. Quanta of 0 make it an XON.
func (p *Port) ForceGlobal(quanta uint16) {
	g := &p.pfc().global
	g.quanta = quanta
	p.pending |= forced
}

// sendForced sends that frame.
func (p *Port) sendForced(n *sim.Node[packet.Packet], port int) {
	g := &p.pauses.global
	p.pending &^= forced
	m := packet.Packet{Kind: packet.Pause, Quanta: g.quanta, Size: uint16(p.Cfg.PFCSize), Prio: 7, Src: -1, Dst: -1}
	if g.quanta > 0 {
		g.stat.XoffTx++
	} else {
		g.stat.XonTx++
	}
	p.Send(n, port, &m)
}

// sendGlobal sends the pause frame that waits: with the time of pausing while
// any class needs it, and without one otherwise.
func (p *Port) sendGlobal(n *sim.Node[packet.Packet], port int) {
	g := &p.pfc().global
	m := packet.Packet{Kind: packet.Pause, Size: uint16(p.Cfg.PFCSize), Prio: 7, Src: -1, Dst: -1}
	switch {
	case p.xoff == 0:
		g.stat.XonTx++
	case p.again == uint8(p.pending):
		g.stat.RefreshTx++
	default:
		g.stat.XoffTx++
	}
	if p.xoff != 0 {
		m.Quanta = p.Cfg.Quanta
	}
	p.pending, p.again = 0, 0
	g.gen++
	p.Send(n, port, &m)
	if m.Quanta > 0 && p.Cfg.Refresh > 0 {
		n.At(n.Now().Add(p.Cfg.Refresh), KindPauseAgain, port, uint64(g.gen))
	}
}

// pausedGlobally returns how long the link has been paused since the counters were
// reset, and the longest episode, one that still lasts included.
func (p *Port) pausedGlobally(now sim.Time) (sum, longest sim.Duration) {
	s := &p.pfc().global.stat
	sum, longest = s.PausedFor, s.Longest
	if p.Cfg.Global && p.Paused != 0 {
		d := now.Sub(p.pfc().global.since)
		sum, longest = sum+d, max(longest, d)
	}
	return sum, longest
}

func (g *globalPause) reset(now sim.Time, paused bool) {
	g.stat = GlobalPauseStat{}
	if paused {
		g.since = now
		g.stat.Episodes = 1
	}
}

// globalCounters reports what a port has counted of 802.3x pauses.
func (p *Port) globalCounters(name string, now sim.Time, f func(trace.Counter)) {
	some := func(n string, v float64) {
		if v != 0 {
			f(trace.Counter{Object: name, Prio: -1, Name: n, Value: v})
		}
	}
	s := &p.pfc().global.stat
	some(trace.CountPauseXoffTx, float64(s.XoffTx))
	some(trace.CountPauseXonTx, float64(s.XonTx))
	some(trace.CountPauseRefreshTx, float64(s.RefreshTx))
	some(trace.CountPauseXoffRx, float64(s.XoffRx))
	some(trace.CountPauseXonRx, float64(s.XonRx))
	some(trace.CountPauseEpisodes, float64(s.Episodes))
	sum, longest := p.pausedGlobally(now)
	some(trace.CountPausedSeconds, sum.Seconds())
	some(trace.CountPauseLongest, longest.Seconds())
}

// GlobalEvent is the beginning or the end of a pause of the whole link.
func (p *Port) GlobalEvent(id, peer trace.ObjectID, now sim.Time) trace.Event {
	e := trace.Event{Time: now, Kind: trace.EventPauseOn, Object: id, Peer: peer, Prio: -1}
	if p.Paused == 0 {
		e.Kind, e.Value = trace.EventPauseOff, now.Sub(p.pfc().global.since).Seconds()
	}
	return e
}
