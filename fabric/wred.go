package fabric

import (
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// Color is the drop precedence of a frame.
type Color uint8

// Colours, RFC 2697.
const (
	Green Color = iota
	Yellow
	Red
)

// Curve is a probability over the length of a queue: 0 up to Min, linear to P
// at Max, beyond it 1 or P.
type Curve struct {
	On       bool
	Min, Max int64
	P        float64
	KeepP    bool
}

// chooses draws whether a frame is chosen at a length.
func (c *Curve) chooses(length int64, r *sim.Rand) bool {
	switch {
	case !c.On || length <= c.Min:
		return false
	case length <= c.Max:
		return r.Float64() < c.P*(float64(length-c.Min)/float64(c.Max-c.Min))
	}
	return !c.KeepP || r.Float64() < c.P
}

// WREDConfig is weighted random early detection (Floyd and Jacobson, 1993) on
// the length of the queue at the moment, with a curve per colour. A chosen frame
// of a colour in Marks is marked CE if it is ECN-capable; every other chosen
// frame is dropped.
type WREDConfig struct {
	Curves [3]Curve
	Marks  [3]bool
	Spare  bool // frames that are not ECN-capable pass
	At     MarkAt
}

// WRED returns the curve of ECN marking as a WRED that drops nothing; nil
// where there is none.
func (e ECNConfig) WRED() *WREDConfig {
	if !e.On {
		return nil
	}
	c := Curve{On: true, Min: e.Kmin, Max: e.Kmax, P: e.Pmax, KeepP: e.KeepPmax}
	return &WREDConfig{Curves: [3]Curve{c, c, c}, Marks: [3]bool{true, true, true}, Spare: true, At: e.At}
}

// least returns the length below which nothing is ever chosen.
func (w *WREDConfig) least() int64 {
	n := int64(-1)
	for _, c := range w.Curves {
		if c.On && (n < 0 || c.Min < n) {
			n = c.Min
		}
	}
	if n < 0 {
		return 1<<62 - 1
	}
	return n
}

// red decides about a frame that joins a queue or leaves it. It marks the frame
// if it is to be marked here, and reports whether it is to be dropped.
func (s *Switch) red(o *swPort, k *class, w *WREDConfig, m *packet.Packet, length int64, at MarkAt) (drop bool) {
	color := s.full.Color[m.DSCP&63]
	marks := w.Marks[color] && m.ECN != packet.NotECT
	switch {
	case marks && at != w.At, !marks && at != MarkAtEnqueue, m.ECN == packet.NotECT && w.Spare:
		return false
	case !w.Curves[color].chooses(length, o.ecnRand):
		return false
	case marks:
		m.ECN = packet.CE
		k.Marked++
		if o.tap != nil && at == MarkAtDequeue {
			o.tap.Marked(length)
		}
		return false
	}
	k.wredDrops[color]++
	return true
}
