package hpcc

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"rdmasim/sim"
)

// FCT is one line of an fct.txt: a flow that has ended.
type FCT struct {
	SrcIP, DstIP     uint32
	SrcPort, DstPort uint16
	Size             sim.Bytes
	Start            sim.Time
	FCT              sim.Duration // until the last ACK reached the sender
	Standalone       sim.Duration // what that model takes it to need alone: see Pair.Standalone
}

// Slowdown returns FCT / Standalone; it may be below 1, as in that model. It is
// NaN without a Standalone.
func (f FCT) Slowdown() float64 {
	if f.Standalone <= 0 {
		return math.NaN()
	}
	return float64(f.FCT) / float64(f.Standalone)
}

// IP returns the address of a node: 11.(i/256).(i%256).1.
func IP(node int) uint32 { return 0x0b000001 + uint32(node/256)<<16 + uint32(node%256)<<8 }

// NodeOf returns the node of an address.
func NodeOf(ip uint32) int { return int(ip >> 8 & 0xffff) }

// WriteFCT writes rows as that model does: addresses in hexadecimal, ports,
// bytes, and start, FCT and standalone FCT in whole nanoseconds.
func WriteFCT(w io.Writer, rows []FCT) error {
	b := bufio.NewWriter(w)
	for _, r := range rows {
		_, err := fmt.Fprintf(b, "%08x %08x %d %d %d %d %d %d\n", r.SrcIP, r.DstIP, r.SrcPort, r.DstPort, int64(r.Size),
			int64(r.Start)/int64(sim.Nanosecond), int64(r.FCT/sim.Nanosecond), int64(r.Standalone/sim.Nanosecond))
		if err != nil {
			return err
		}
	}
	return b.Flush()
}

// ParseFCT reads an fct.txt. Errors name file and line.
func ParseFCT(file string, text []byte) ([]FCT, error) {
	var rows []FCT
	for _, words := range lines(text) {
		row, err := parseFCT(words)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, words[0].line, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func parseFCT(words []token) (r FCT, err error) {
	const names = "sip dip sport dport size start_ns fct_ns standalone_ns"
	if len(words) != 8 {
		return r, fmt.Errorf("%d values: want %s", len(words), names)
	}
	var ip [2]uint64
	for i := range ip {
		if ip[i], err = strconv.ParseUint(words[i].text, 16, 32); err != nil {
			return r, fmt.Errorf("%q is not an address in hexadecimal such as 0b000001", clip(words[i].text))
		}
	}
	high := [6]int64{math.MaxUint16, math.MaxUint16, maxFlowSize, math.MaxInt64 / 1000, math.MaxInt64 / 1000, math.MaxInt64 / 1000}
	var v [6]int64
	for i := range v {
		if v[i], err = parseInt(words[i+2].text, 0, high[i]); err != nil {
			return r, fmt.Errorf("value %d (of %s): %w", i+3, names, err)
		}
	}
	ns := int64(sim.Nanosecond)
	return FCT{uint32(ip[0]), uint32(ip[1]), uint16(v[0]), uint16(v[1]), sim.Bytes(v[2]), sim.Time(v[3] * ns), sim.Duration(v[4] * ns), sim.Duration(v[5] * ns)}, nil
}

// Summary condenses an fct.txt. Quantile p is sorted[floor(p n)].
type Summary struct {
	Flows    int
	Bytes    sim.Bytes
	FCT      Quantiles // seconds
	Slowdown Quantiles // of the flows that have a standalone FCT
}

// Quantiles of a figure; NaN when there is nothing to summarise.
type Quantiles struct{ Mean, P50, P95, P99, Max float64 }

// Summarise condenses rows.
func Summarise(rows []FCT) Summary {
	s := Summary{Flows: len(rows)}
	var fct, slow []float64
	for _, r := range rows {
		s.Bytes += r.Size
		fct = append(fct, r.FCT.Seconds())
		if x := r.Slowdown(); !math.IsNaN(x) {
			slow = append(slow, x)
		}
	}
	s.FCT, s.Slowdown = quantiles(fct), quantiles(slow)
	return s
}

func quantiles(v []float64) Quantiles {
	if len(v) == 0 {
		nan := math.NaN()
		return Quantiles{nan, nan, nan, nan, nan}
	}
	slices.Sort(v)
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	at := func(p float64) float64 { return v[min(len(v)-1, int(p*float64(len(v))))] }
	return Quantiles{sum / float64(len(v)), at(0.5), at(0.95), at(0.99), v[len(v)-1]}
}
