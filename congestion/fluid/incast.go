package fluid

import "rdmasim/sim"

var (
	_ = describe(Oracle{
		ID:       "incast",
		Title:    "finish and peak queue of N synchronous senders of S bytes into one port",
		Equation: "finish = N S (frame+20)/payload * 8/C + t_base; peak = (N-1) S frame/payload at t = S/C",
		Source:   "derivation: the port works from first to last byte; while N links fill it, it drains one",
		Limits:   "edge links at the port's rate, no congestion control; PFC changes where the queue stands, not the finish",
	})
	_ = describe(Oracle{
		ID:       "first_burst",
		Title:    "queue that N senders at line rate build before the first reaction can act",
		Equation: "(N-1) C t/8, t from the first packet's mark to the reaction's effect at the queue, and at most (N-1) S frame/payload",
		Source:   "derivation: without slow start (SIGCOMM'15, section 3) every sender begins at line rate",
		Limits:   "senders start within t",
	})
	_ = describe(Oracle{
		ID:       "base_latency",
		Title:    "one-way time of an n-packet message over an empty path",
		Equation: "store and forward: h L/C + sum prop + (n-1) L/C; cut-through: (h-1) header times take the place of (h-1) L/C",
		Source:   "derivation; Kleinrock, Communication Nets",
		Limits:   "h links of equal rate, equal packets of L bytes on the wire, no processing delay",
	})
)

// Incast is N synchronous senders into one port.
type Incast struct {
	Senders int
	Message sim.Bytes // payload of each sender
	Payload sim.Bytes // per packet
	Frame   sim.Bytes // with FCS
	Rate    sim.Rate  // of the port and of every sender
	Base    sim.Duration
}

// Finish returns the time of the last byte in seconds. Source: the oracle incast.
func (i Incast) Finish() float64 {
	wire := float64(i.Senders) * float64(i.Message) * float64(i.Frame+wireOverhead) / float64(i.Payload)
	return wire*bitsPerByte/float64(i.Rate) + i.Base.Seconds()
}

// Peak returns the longest queue in bytes of frames. Source: the oracle incast.
func (i Incast) Peak() float64 {
	return float64(i.Senders-1) * float64(i.Message) * float64(i.Frame) / float64(i.Payload)
}

// FirstBurst returns the queue in bytes when the first reaction acts, which
// takes so long. Source: the oracle first_burst.
func (i Incast) FirstBurst(reaction sim.Duration) float64 {
	return min(i.Peak(), float64(i.Senders-1)*float64(i.Rate)*reaction.Seconds()/bitsPerByte)
}

// Path is an empty path of equal links.
type Path struct {
	Links      int // h
	Rate       sim.Rate
	Prop       sim.Duration // of all links together
	CutThrough sim.Bytes    // bytes after which a switch forwards; 0 = store and forward
}

// OneWay returns the time until the last of n packets of so many bytes on the
// wire has arrived. Source: the oracle base_latency.
func (p Path) OneWay(wire sim.Bytes, n int) sim.Duration {
	each := p.Rate.TxTime(wire)
	hop := each
	if p.CutThrough > 0 {
		hop = min(each, p.Rate.TxTime(p.CutThrough))
	}
	return sim.Duration(p.Links-1)*hop + sim.Duration(n)*each + p.Prop
}
