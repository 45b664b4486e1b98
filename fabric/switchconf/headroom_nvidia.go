package switchconf

import (
	"fmt"
	"math/big"

	"rdmasim/sim"
)

// Constants of NVIDIA's formula. Source: sonic-swss,
// cfgmgr/buffer_headroom_mellanox.lua, unless another is given.
const (
	nvidiaSource   = "SONiC: sonic-swss, cfgmgr/buffer_headroom_mellanox.lua"
	tableSource    = "fits every row of the shipped pg_profile_lookup.ini"
	lightInCable   = 198_000_000 // m/s
	quantumBytes   = 64          // 512 bit times: IEEE 802.3, annex 31B
	tileBytes      = 15          // per Gb/s, Spectrum-4 and -5
	mtuOfSONiCPort = 9100        // B: what SONiC sets on ports where nobody gives another
)

var (
	macPHY    = big.NewRat(8*1024, 10)  // 0.8 KiB
	fixedPeer = big.NewRat(38*1024, 10) // 3.8 KiB: constant of ASIC_TABLE, and of the shipped tables up to Spectrum-3
)

// pauseQuanta are the quanta within which a peer must obey, by speed.
// Source: buffer_headroom_mellanox.lua, after IEEE 802.3, annex 31B.3.7.
var pauseQuanta = map[sim.Rate]int64{1 * gig: 2, 10 * gig: 67, 25 * gig: 80, 40 * gig: 118, 50 * gig: 147, 100 * gig: 394,
	200 * gig: 453, 400 * gig: 905, 800 * gig: 905}

// nvidiaHeadroom fills in the result by NVIDIA's formula.
func nvidiaHeadroom(m *headroomModel, q HeadroomQuery, h *Headroom) {
	static := q.Rule == StaticHeadroom
	h.Method = "formula"
	share := sim.Ratio(0.5)
	if static {
		share = 1
	}
	if q.SmallPackets != nil {
		share = *q.SmallPackets
	}
	prop := h.propagation(m, q, static)
	worst := h.worstCase(m, static)
	occupancy := h.occupancy(q, share, worst)
	exact := new(big.Rat).Mul(prop, occupancy)
	exact.Add(exact, rat(int64(q.LosslessMTU)))
	h.term("lossless MTU", rat(int64(q.LosslessMTU)), "B", "the frame that crosses the threshold", nvidiaSource+", LOSSLESS_TRAFFIC_PATTERN.mtu")
	h.Exact = float(exact)
	h.term("xoff, exact", exact, "B", "lossless MTU + propagation * occupancy", nvidiaSource)
	h.Xoff = ceilTo(exact, sim.KiB) + m.extra
	if m.extra > 0 {
		h.term("extra", rat(int64(m.extra)), "B", "constant of this ASIC", nvidiaSource)
	}
	h.compensate(q, static, share, prop, worst)
	h.setAside(m, q, static, exact)
	if static && m.noTable != "" {
		h.Notes = append(h.Notes, m.noTable)
	}
}

// term appends a term.
func (h *Headroom) term(name string, v *big.Rat, unit, how, source string) {
	h.Terms = append(h.Terms, HeadroomTerm{Name: name, Value: float(v), Unit: unit, How: how, Source: source})
}

// propagation returns the bytes that arrive from the decision to pause until
// the peer has obeyed.
func (h *Headroom) propagation(m *headroomModel, q HeadroomQuery, static bool) *big.Rat {
	sum := new(big.Rat)
	add := func(name string, v *big.Rat, how, source string) {
		sum.Add(sum, v)
		h.term(name, v, "B", how, source)
	}
	add("port MTU", rat(int64(q.MTU)), "the frame that the peer has just begun", nvidiaSource)
	// 2 L C / 8 v, with L in millimetres and C in bit/s.
	cable := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(2*int64(q.Cable)), big.NewInt(int64(q.Speed))), big.NewInt(8*lightInCable*1000))
	add("cable", cable, fmt.Sprintf("2 * %v * %v / (8 * 198e6 m/s): both ways", q.Cable, q.Speed), nvidiaSource)
	if q.Gearbox > 0 {
		g := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(2*int64(q.Gearbox)), big.NewInt(int64(q.Speed))), big.NewInt(8*int64(sim.Second)))
		add("gearbox", g, fmt.Sprintf("2 * %v * %v / 8", q.Gearbox, q.Speed), nvidiaSource)
	}
	add("MAC and PHY", macPHY, "0.8 KiB", nvidiaSource+", ASIC_TABLE.mac_phy_delay")
	switch {
	case q.Peer > 0:
		add("peer response", rat(int64(q.Peer)), "as asked for", "--peer")
	case static && m.fixedPeer:
		add("peer response", fixedPeer, "3.8 KiB at every speed", tableSource+" up to Spectrum-3")
	default:
		n, how := quantaOf(q.Speed)
		add("peer response", rat(n*quantumBytes), how, nvidiaSource+", IEEE 802.3 annex 31B.3.7")
	}
	if m.tile {
		add("tile", new(big.Rat).SetFrac(big.NewInt(int64(q.Speed)*tileBytes), big.NewInt(int64(gig))), fmt.Sprintf("%v * %d B per Gb/s", q.Speed, tileBytes), nvidiaSource+", Spectrum-4 and -5")
	}
	h.term("propagation", sum, "B", "sum of the above", nvidiaSource)
	return sum
}

// quantaOf returns the quanta within which a peer of a speed must obey; above
// the fastest speed of the table they grow with the rate.
func quantaOf(r sim.Rate) (n int64, how string) {
	if n, ok := pauseQuanta[r]; ok {
		return n, fmt.Sprintf("%d quanta of 64 B", n)
	}
	n = pauseQuanta[800*gig] * int64(r) / int64(800*gig)
	return n, fmt.Sprintf("%d quanta of 64 B: 905 at 800Gbps, in proportion", n)
}

// worstCase returns how many times its size a stream of 64-byte packets takes
// in cells.
func (h *Headroom) worstCase(m *headroomModel, static bool) *big.Rat {
	w, how := big.NewRat(2*int64(m.cell), 1+int64(m.cell)), fmt.Sprintf("2 * %d / (1 + %d): packets one byte larger than a cell", m.cell, m.cell)
	if m.cell > 2*minFrame {
		w, how = big.NewRat(int64(m.cell), int64(minFrame)), fmt.Sprintf("%d / 64: each packet of 64 B takes a cell", m.cell)
	}
	source := nvidiaSource
	if !static || m.roundCells {
		w = rat(int64(ceilTo(w, 1)))
		how += ", rounded up"
	} else {
		source = tableSource + " up to Spectrum-3"
	}
	h.term("worst case", w, "", how, source)
	return w
}

// occupancy returns the bytes of cells per byte of packets. Source: the
// formula as it is coded, without the factor p in the numerator: with p = 1 the
// share s is 1.
func (h *Headroom) occupancy(q HeadroomQuery, share sim.Ratio, worst *big.Rat) *big.Rat {
	p := new(big.Rat)
	p.SetFloat64(float64(share))
	mean := new(big.Rat).Mul(p, rat(int64(minFrame)))
	rest := new(big.Rat).Sub(rat(1), p)
	mean.Add(mean, rest.Mul(rest, rat(int64(q.LosslessMTU))))
	s := new(big.Rat).Quo(rat(int64(minFrame)), mean)
	h.term("small share", s, "", fmt.Sprintf("s = 64 / (p*64 + (1-p)*%d), p = %v of the packets", q.LosslessMTU, share), nvidiaSource+", LOSSLESS_TRAFFIC_PATTERN.small_packet_percentage")
	occ := new(big.Rat).Sub(worst, rat(1))
	occ.Mul(occ, s).Add(occ, rat(1))
	h.term("occupancy", occ, "", "1 - s + s * worst case", nvidiaSource)
	return occ
}

// compensate adds 2 KiB where not all packets are small and the result is
// still that far from the worst case.
func (h *Headroom) compensate(q HeadroomQuery, static bool, share sim.Ratio, prop, worst *big.Rat) {
	if static || share == 1 || q.SharedPool {
		return
	}
	most := new(big.Rat).Mul(prop, worst)
	if ceilTo(most.Add(most, rat(int64(q.LosslessMTU))), sim.KiB)-h.Xoff < 2*sim.KiB {
		return
	}
	h.Xoff += 2 * sim.KiB
	h.term("compensation", rat(int64(2*sim.KiB)), "B", "headroom is private and below that of small packets alone", nvidiaSource)
}

// setAside fills in xon and the size of a profile.
func (h *Headroom) setAside(m *headroomModel, q HeadroomQuery, static bool, exact *big.Rat) {
	h.Xon = m.xon
	eight := m.lanes(q) == 8
	if eight {
		h.Xon = 2 * m.xon
		if static {
			h.Xon = m.xon8
		}
		h.Notes = append(h.Notes, "a port of eight lanes: xon is that of two pipelines, and a private size has one frame more")
	}
	switch {
	case q.SharedPool:
		h.Size, h.SizeHow = h.Xon, "xon: xoff comes out of the shared headroom pool"
	case eight && static:
		// The shipped sizes add 9100 B before they round: 6 of 6 rows.
		more := min(q.MTU, mtuOfSONiCPort)
		h.Size = ceilTo(new(big.Rat).Add(exact, rat(int64(h.Xon+m.extra+more))), sim.KiB)
		h.SizeHow = fmt.Sprintf("xon + exact xoff + %d of a port of eight lanes, rounded up to 1024", more)
	case eight:
		h.Size = ceilTo(rat(int64(h.Xon+h.Xoff+q.MTU)), sim.KiB)
		h.SizeHow = fmt.Sprintf("xon + xoff + %d of a port of eight lanes, rounded up to 1024", q.MTU)
	default:
		h.Size, h.SizeHow = h.Xon+h.Xoff, "xon + xoff"
	}
}
