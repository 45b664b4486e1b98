package fluid

import (
	"fmt"

	"rdmasim/sim"
)

var (
	_ = describe(Oracle{
		ID:       "headroom_ideal",
		Title:    "headroom that an ideal switch needs for a lossless priority",
		Equation: "H = 2 t_prop C/8 + 2 (frame+20) + 84 + C t_response/8",
		Source:   "derivation: the PAUSE (84 bytes on the wire) waits behind one own frame, both directions propagate, the peer ends the frame that it has begun and takes t_response to obey",
		Limits:   "frame with FCS, plus 20 bytes of preamble and gap; one priority sends",
	})
	_ = describe(Oracle{
		ID:       "headroom_frames",
		Title:    "frames that an ideal switch stores after XOFF at worst, and the bytes that they take",
		Equation: "N = ceil((2 t_prop + t_response + t(frame+20) + t(84)) / t(frame+20)), bytes = N frame, t(n) = 8 n/C",
		Source:   "derivation: frame k after the one that crosses the threshold is sent if it begins before the PAUSE takes effect, (k-1) t(frame+20) < 2 t_prop + t_response + wait + t(84); the PAUSE waits one own frame less a bit at worst",
		Limits:   "a sender without gaps and frames of one size. H of headroom_ideal lies above N frame, because it counts preambles and gaps, which take time and no room, and whole frames where one ends too late: H - 2 frames is too little only where N frame > H - 2 frame, which long cables, long responses and small frames end",
	})
	_ = describe(Oracle{
		ID:       "headroom_bit_times",
		Title:    "headroom in bit times by the delay model of the standard",
		Equation: "max frame + PAUSE 672 + 2 interface + 2 cable + response + max lossless frame (frames with 20 bytes of preamble and gap)",
		Source:   "IEEE 802.1Qbb annex O; interface and response delays by speed as in Cisco's data centre guide, chapter 7 (60, 80, 118, 394, 905 quanta)",
		Limits:   "10 to 100 Gb/s: no interface delay is published for other speeds",
	})
)

// Bytes around a frame and of a PAUSE on the wire.
const (
	wireOverhead = 20 * sim.Byte              // preamble, start delimiter, inter-frame gap: IEEE 802.3, section 4A.4.2
	pauseOnWire  = 64*sim.Byte + wireOverhead // IEEE 802.1Qbb, section 36.1
	bitsPerByte  = 8
	quantumBits  = 512 // IEEE 802.3, annex 31B
)

// IdealHeadroom returns the bytes that arrive after the threshold is crossed,
// at worst, a part of a byte as a whole one. prop is the one-way propagation delay, frame the largest frame
// with FCS. Source: the oracle headroom_ideal.
func IdealHeadroom(rate sim.Rate, prop, response sim.Duration, frame sim.Bytes) sim.Bytes {
	way := rate.BytesIn(2*prop + response)
	if rate.TxTime(way) < 2*prop+response {
		way++
	}
	return way + 2*(frame+wireOverhead) + pauseOnWire
}

// IdealHeadroomFrames returns how many frames of a size, with FCS, arrive at
// worst after the one that crosses the threshold; prop is the one-way
// propagation delay. Source: the oracle headroom_frames.
func IdealHeadroomFrames(rate sim.Rate, prop, response sim.Duration, frame sim.Bytes) int64 {
	own := rate.TxTime(frame + wireOverhead)
	obeyed := 2*prop + response + own + rate.TxTime(pauseOnWire)
	return int64((obeyed + own - 1) / own)
}

// delays of the bit-time model in bit times.
type linkDelays struct{ intf, response int64 }

// bitTimeDelays by speed: interface (MAC, PCS, PMA of one end) and response
// of the peer in bit times.
var bitTimeDelays = map[sim.Rate]linkDelays{
	10 * sim.Gbps:  {8192, 60 * quantumBits},
	25 * sim.Gbps:  {6144, 80 * quantumBits},
	40 * sim.Gbps:  {24576, 118 * quantumBits},
	100 * sim.Gbps: {122880, 394 * quantumBits},
}

// BitTimeHeadroom returns the headroom of the standard's delay model: largest
// frame of the link, largest frame of the lossless class, both with FCS. The
// error names the speed where none is published. Source: the oracle headroom_bit_times.
func BitTimeHeadroom(rate sim.Rate, cable sim.Length, frame, lossless sim.Bytes) (sim.Bytes, error) {
	d, ok := bitTimeDelays[rate]
	if !ok {
		return 0, fmt.Errorf("bit-time headroom at %v: want 10Gbps, 25Gbps, 40Gbps or 100Gbps", rate)
	}
	onWire := func(n sim.Bytes) int64 { return int64(n+wireOverhead) * bitsPerByte }
	bits := onWire(frame) + int64(pauseOnWire)*bitsPerByte + 2*d.intf + d.response + onWire(lossless)
	round := int64(rate.BytesIn(2 * cable.Delay()))
	return sim.Bytes((bits+bitsPerByte-1)/bitsPerByte + round), nil
}
