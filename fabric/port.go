// Package fabric is the model of Ethernet switches and links: ports that
// serialise frames and obey PFC, shared buffers, ECN marking, scheduling and
// the choice among equal-cost paths.
package fabric

import (
	"math/bits"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// Kinds of timers that nodes of a fabric set on themselves; the order is the
// order of what happens at one instant (sim.KindMessage lies between).
const (
	KindSample      sim.Kind = 1   // a bin of the time series ends
	KindPauseApply  sim.Kind = 2   // a received pause takes effect
	KindPauseExpire sim.Kind = 3   // the quanta of a pause have run out
	KindPauseAgain  sim.Kind = 4   // an XOFF that still holds is repeated
	KindTail        sim.Kind = 5   // the last bit of a frame that could not be cut through
	KindWatchdog    sim.Kind = 6   // a PFC watchdog polls
	KindShape       sim.Kind = 199 // a shaper lets a queue send again
	KindNICFirst    sim.Kind = 16  // NICs use 16..127
	KindTxDone      sim.Kind = 200 // a port is free again
)

// QuantumBits is the length of a pause quantum, IEEE 802.3 annex 31B.
const QuantumBits = 512

// EthernetOverhead is preamble, start delimiter and inter-packet gap.
const EthernetOverhead = 20

// PortConfig describes the transmitting side of one end of a link.
type PortConfig struct {
	Rate     sim.Rate
	RxRate   sim.Rate     // of the opposite direction
	Delay    sim.Duration // propagation, plus the pipeline latency of the receiving switch
	Overhead sim.Bytes    // on the wire per frame beside the frame itself
	// Truncate cuts every transmission time to whole nanoseconds.
	Truncate bool
	// Response is how long this port takes to obey a pause.
	Response sim.Duration
	// Timed pauses end after their quanta; otherwise only by XON.
	Timed bool
	// Quanta are asked for by this port when it pauses its peer, and repeated
	// every Refresh (0 = never).
	Quanta  uint16
	Refresh sim.Duration
	PFCSize sim.Bytes // frame of a pause, 64 B
	// HeaderBytes > 0: the peer is a cut-through switch that is handed a frame
	// once so many bytes have arrived.
	HeaderBytes sim.Bytes
	Loss        Loss  // of frames that arrive here
	Lossless    uint8 // classes for which pauses are sent and obeyed
	// Global pauses stop the whole link (IEEE 802.3, annex 31B) and are the only
	// ones that this port sends and obeys.
	Global bool
}

// Port is the transmitting side of one end of a link with its PFC state: which
// classes the peer has paused, and which of the peer's classes this side has.
// What every frame needs comes first, on one cache line.
type Port struct {
	FreeAt    sim.Time // when the frame being sent has left
	psPerByte int64    // 0 = not a whole number
	delay     sim.Duration
	txPackets uint64
	txBytes   uint64
	overhead  uint16
	header    uint16 // PortConfig.HeaderBytes
	pending   uint16 // classes with a pause frame waiting to be sent; forced: another one
	truncate  bool
	Paused    uint8  // classes that may not be sent
	xoff      uint8  // classes of the peer that this side has paused
	again     uint8  // pending frames that only repeat an XOFF
	lossy     *lossy // nil on a link that loses nothing
	tamper    *tampers
	tap       Tap // nil unless the port is watched

	Cfg    PortConfig
	Stat   PortStat
	pauses *pauses // nil until the first pause in either direction
}

// PortStat counts what a port lost since the counters were reset.
type PortStat struct {
	DropLossless, DropLossy uint64
	DropFault, DropWatchdog uint64
	DropBytes               uint64
	Copies                  uint64 // that faults made of frames
}

// pauses is what a port knows of pauses, by class. Most ports never see one.
type pauses struct {
	until  [8]sim.Time // when a pause of the peer runs out
	since  [8]sim.Time // when the present episode began
	quanta [8]uint16   // of the pause frame that waits to be sent
	gen    [8]uint32   // of repetitions: an XON makes those scheduled void
	life   [8]pauseLife
	global globalPause
	PauseStat
}

// PauseStat counts the pauses of a port by class since the counters were reset.
type PauseStat struct {
	XoffTx, XonTx, RefreshTx [8]uint64
	XoffRx, XonRx            [8]uint64
	Episodes                 [8]uint64
	PausedFor, Longest       [8]sim.Duration
}

// pfc returns the port's knowledge of pauses to change it.
func (p *Port) pfc() *pauses {
	if p.pauses == nil {
		p.pauses = &pauses{}
	}
	return p.pauses
}

// PauseStat returns what was counted of pauses.
func (p *Port) PauseStat() (s PauseStat) {
	if p.pauses != nil {
		s = p.pauses.PauseStat
	}
	return s
}

// NewPort returns an idle port.
func NewPort(cfg PortConfig) Port {
	p := Port{Cfg: cfg, delay: cfg.Delay, overhead: uint16(cfg.Overhead), header: uint16(cfg.HeaderBytes), truncate: cfg.Truncate}
	if cfg.Rate > 0 && int64(sim.Second)*8%int64(cfg.Rate) == 0 {
		p.psPerByte = int64(sim.Second) * 8 / int64(cfg.Rate)
	}
	return p
}

// TxTime returns how long a frame of the given size occupies the link.
func (p *Port) TxTime(size sim.Bytes) sim.Duration {
	n := size + sim.Bytes(p.overhead)
	var d sim.Duration
	if p.psPerByte > 0 {
		d = sim.Duration(int64(n) * p.psPerByte)
	} else {
		d = p.Cfg.Rate.TxTime(n)
	}
	if p.truncate {
		d -= d % sim.Nanosecond
	}
	return d
}

// Send puts a frame on the wire now and returns when the port is free again.
func (p *Port) Send(n *sim.Node[packet.Packet], port int, m *packet.Packet) {
	now := n.Now()
	d := p.TxTime(sim.Bytes(m.Size))
	p.FreeAt = now.Add(d)
	at := p.FreeAt.Add(p.delay)
	if h := p.header; h > 0 && m.Size > h && m.Kind < packet.PFC {
		at = now.Add(p.TxTime(sim.Bytes(h)) + p.delay)
	}
	p.txPackets++
	p.txBytes += uint64(m.Size) + uint64(p.overhead)
	if p.tap != nil {
		p.tap.Sent(now, port, *m)
	}
	if p.tamper != nil {
		p.tamper.send(p, n, port, at, m)
		return
	}
	n.Send(port, at, m)
}

// TxPackets returns how many frames were sent since the counters were reset.
func (p *Port) TxPackets() uint64 { return p.txPackets }

// TxBytes returns how many bytes they took on the wire.
func (p *Port) TxBytes() uint64 { return p.txBytes }

// QuantaTime returns how long so many quanta last at the port's rate.
func (p *Port) QuantaTime(quanta uint16) sim.Duration {
	return p.Cfg.Rate.TxTime(sim.Bytes(quanta) * QuantumBits / 8)
}

// OnPFC handles a pause frame that the peer sent. It returns the classes that
// may be sent again at once.
func (p *Port) OnPFC(n *sim.Node[packet.Packet], port int, m *packet.Packet) (resumed uint8) {
	if m.Kind == packet.Pause || p.Cfg.Global {
		return p.onGlobal(n, port, m)
	}
	classes := m.Classes & p.Cfg.Lossless
	for c := classes; c != 0; c &= c - 1 {
		if i := bits.TrailingZeros8(c); m.Quanta > 0 {
			p.pfc().XoffRx[i]++
			p.pfc().life[i].xoffRx++
		} else {
			p.pfc().XonRx[i]++
			p.pfc().life[i].xonRx++
		}
	}
	if classes == 0 {
		return 0
	}
	if p.Cfg.Response > 0 {
		n.At(n.Now().Add(p.Cfg.Response), KindPauseApply, port, uint64(classes)|uint64(m.Quanta)<<8)
		return 0
	}
	return p.apply(n, port, classes, m.Quanta)
}

func (p *Port) apply(n *sim.Node[packet.Packet], port int, classes uint8, quanta uint16) (resumed uint8) {
	now := n.Now()
	for c := classes; c != 0; c &= c - 1 {
		i := bits.TrailingZeros8(c)
		if quanta == 0 {
			if p.Paused&(1<<i) != 0 {
				p.resume(i, now)
				resumed |= 1 << i
			}
			continue
		}
		if p.Paused&(1<<i) == 0 {
			p.Paused |= 1 << i
			p.pfc().since[i] = now
			p.pfc().Episodes[i]++
		}
		p.pfc().until[i] = sim.Never
		if p.Cfg.Timed {
			p.pfc().until[i] = now.Add(p.QuantaTime(quanta))
			n.At(p.pfc().until[i], KindPauseExpire, port, uint64(i))
		}
	}
	return resumed
}

func (p *Port) resume(i int, now sim.Time) {
	p.Paused &^= 1 << i
	k := p.pfc()
	d := now.Sub(k.since[i])
	k.life[i].off++
	k.life[i].pausedFor += d
	k.PausedFor[i] += d
	k.Longest[i] = max(k.Longest[i], d)
}

// OnTimer handles KindPauseApply, KindPauseExpire and KindPauseAgain. It
// returns the classes that may be sent again.
func (p *Port) OnTimer(n *sim.Node[packet.Packet], kind sim.Kind, port int, arg uint64) (resumed uint8) {
	if p.Cfg.Global {
		return p.onGlobalTimer(n, kind, port, arg)
	}
	switch kind {
	case KindPauseApply:
		return p.apply(n, port, uint8(arg), uint16(arg>>8))
	case KindPauseExpire:
		i := int(arg)
		if p.Paused&(1<<i) != 0 && p.pfc().until[i] <= n.Now() {
			p.resume(i, n.Now())
			return 1 << i
		}
	case KindPauseAgain:
		i := int(arg & 7)
		if p.xoff&(1<<i) != 0 && p.pfc().gen[i] == uint32(arg>>8) {
			p.pending |= 1 << i
			p.again |= 1 << i
			p.pfc().quanta[i] = p.Cfg.Quanta
		}
	}
	return 0
}

// PausedTime returns how long class i has been paused since the counters were
// reset, an episode that still lasts included.
func (p *Port) PausedTime(i int, now sim.Time) sim.Duration {
	if p.pauses == nil {
		return 0
	}
	if p.Cfg.Global {
		sum, _ := p.pausedGlobally(now)
		return sum
	}
	d := p.pauses.PausedFor[i]
	if p.Paused&(1<<i) != 0 {
		d += now.Sub(p.pfc().since[i])
	}
	return d
}

// LongestPause returns the longest episode of class i so far.
func (p *Port) LongestPause(i int, now sim.Time) sim.Duration {
	if p.pauses == nil {
		return 0
	}
	if p.Cfg.Global {
		_, longest := p.pausedGlobally(now)
		return longest
	}
	d := p.pauses.Longest[i]
	if p.Paused&(1<<i) != 0 {
		d = max(d, now.Sub(p.pfc().since[i]))
	}
	return d
}

// PausedSince returns when the latest episode of class i began.
func (p *Port) PausedSince(i int) sim.Time {
	switch {
	case p.pauses == nil:
		return 0
	case p.Cfg.Global:
		return p.pauses.global.since
	}
	return p.pauses.since[i]
}

// Holds reports whether this side has paused class i of its peer.
func (p *Port) Holds(i int) bool { return p.xoff&(1<<i) != 0 }

// Xoff asks for a pause frame for class i.
func (p *Port) Xoff(i int) {
	p.xoff |= 1 << i
	p.pending |= 1 << i
	p.again &^= 1 << i
	p.pfc().quanta[i] = p.Cfg.Quanta
}

// Xon asks for a frame that ends the pause of class i.
func (p *Port) Xon(i int) {
	p.xoff &^= 1 << i
	if p.Cfg.Global && p.xoff != 0 { // another class still needs the pause
		p.pending &^= 1 << i
		return
	}
	p.pending |= 1 << i
	p.again &^= 1 << i
	p.pfc().quanta[i] = 0
	p.pfc().gen[i]++
}

// Pending reports whether a pause frame waits to be sent.
func (p *Port) Pending() bool { return p.pending != 0 }

// SendPFC sends the waiting pause frame of the lowest class.
func (p *Port) SendPFC(n *sim.Node[packet.Packet], port int) {
	switch {
	case p.pending&forced != 0:
		p.sendForced(n, port)
		return
	case p.Cfg.Global:
		p.sendGlobal(n, port)
		return
	}
	i := bits.TrailingZeros16(p.pending)
	b := uint8(1) << i
	m := packet.Packet{Kind: packet.PFC, Classes: b, Quanta: p.pfc().quanta[i], Size: uint16(p.Cfg.PFCSize), Prio: 7, Src: -1, Dst: -1}
	switch {
	case p.pfc().quanta[i] == 0:
		p.pfc().XonTx[i]++
	case p.again&b != 0:
		p.pfc().RefreshTx[i]++
	default:
		p.pfc().XoffTx[i]++
	}
	p.pending &^= uint16(b)
	p.again &^= b
	p.Send(n, port, &m)
	if m.Quanta > 0 && p.Cfg.Refresh > 0 {
		p.pfc().gen[i]++
		n.At(n.Now().Add(p.Cfg.Refresh), KindPauseAgain, port, uint64(i)|uint64(p.pfc().gen[i])<<8)
	}
}

// ResetStat begins a new measurement at now.
func (p *Port) ResetStat(now sim.Time) {
	p.Stat = PortStat{}
	p.txPackets, p.txBytes = 0, 0
	if p.pauses == nil {
		return
	}
	p.pauses.PauseStat = PauseStat{}
	p.pauses.global.reset(now, p.Cfg.Global && p.Paused != 0)
	for i := range p.pauses.since {
		if !p.Cfg.Global && p.Paused&(1<<i) != 0 {
			p.pauses.life[i].pausedFor += now.Sub(p.pauses.since[i])
			p.pauses.since[i] = now
			p.pauses.Episodes[i] = 1
		}
	}
}
