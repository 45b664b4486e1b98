package switchconf

import (
	"fmt"
	"math/big"
	"slices"

	"rdmasim/sim"
)

// idealHeadroom is what a switch needs that has no cells, no delay of its own
// and nothing but its links, as the simulator's switch: see fabric.Headroom.
func idealHeadroom(m *headroomModel, q HeadroomQuery, h *Headroom) {
	const source = "derived: IEEE 802.1Qbb annex O without interface delays"
	const onWire = 20 // B: preamble, start delimiter, inter-frame gap: IEEE 802.3, section 4A.4.2
	h.Method = "formula"
	sum := new(big.Rat)
	add := func(name string, v *big.Rat, how string) {
		sum.Add(sum, v)
		h.term(name, v, "B", how, source)
	}
	add("crossing frame", rat(int64(q.MTU)), "the frame that crosses the threshold")
	add("own frame", rat(int64(q.MTU)+onWire), "the pause frame waits behind one own frame, with preamble and gap")
	add("pause frame", rat(64+onWire), "64 B, with preamble and gap")
	delay := 2 * q.Cable.Delay()
	add("cable", new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(int64(delay)), big.NewInt(int64(q.Speed))), big.NewInt(8*int64(sim.Second))),
		fmt.Sprintf("2 * %v * 5 ns/m * %v / 8: both ways", q.Cable, q.Speed))
	if q.Peer > 0 {
		add("peer response", rat(int64(q.Peer)), "as asked for")
	} else {
		n, how := quantaOf(q.Speed)
		add("peer response", rat(n*quantumBytes), how)
	}
	add("peer's frame", rat(int64(q.MTU)+onWire), "the frame that the peer has just begun, with preamble and gap")
	h.Exact = float(sum)
	h.term("xoff, exact", sum, "B", "sum of the above", source)
	h.Xoff = ceilTo(sum, 1)
	h.Size, h.SizeHow = h.Xoff, "xoff"
	if q.Rule == DynamicHeadroom {
		h.Notes = append(h.Notes, "an ideal switch has one rule: static and dynamic are the same")
	}
}

// tableHeadroom takes the row of a published table, or the line through two.
func tableHeadroom(m *headroomModel, q HeadroomQuery, h *Headroom) {
	rows := rowsOf(m.name, q.Speed)
	if row := publishedRow(m.name, q.Speed, q.Cable); row != nil {
		h.Method = "published row"
		h.fromRow(row)
		h.Xoff = row.Xoff
		h.Exact = float64(row.Xoff)
		h.term("xoff", rat(int64(row.Xoff)), "B", "row of "+row.Platform, row.Source)
		return
	}
	first, last := &rows[0], &rows[len(rows)-1]
	h.fromRow(first)
	if q.Cable < first.Cable || len(rows) == 1 {
		h.onlyRow(first, q)
		return
	}
	i := slices.IndexFunc(rows, func(r HeadroomRow) bool { return r.Cable > q.Cable })
	h.Method = "between rows"
	if i < 0 {
		i = len(rows) - 1
		h.Method = "beyond rows"
		h.Notes = append(h.Notes, fmt.Sprintf("the longest published cable is %v: the line through the last two rows goes on", last.Cable))
	}
	a, b := rows[i-1], rows[i]
	slope := big.NewRat(int64(b.Xoff-a.Xoff), int64(b.Cable-a.Cable))
	v := slope.Mul(slope, rat(int64(q.Cable-a.Cable)))
	v.Add(v, rat(int64(a.Xoff)))
	h.Exact = float(v)
	h.term("shorter cable", rat(int64(a.Xoff)), "B", fmt.Sprintf("row of %s, %v", a.Platform, a.Cable), a.Source)
	h.term("longer cable", rat(int64(b.Xoff)), "B", fmt.Sprintf("row of %s, %v", b.Platform, b.Cable), b.Source)
	h.term("xoff, exact", v, "B", fmt.Sprintf("line through both, at %v", q.Cable), "headroom grows with the cable in proportion")
	h.Xoff = ceilTo(v, h.Cell)
	h.Notes = append(h.Notes, "this is an estimate: the vendor publishes no row of this cable and no formula")
}

// onlyRow takes a row of a longer cable, which is enough, or says that the
// only row is of a shorter one.
func (h *Headroom) onlyRow(row *HeadroomRow, q HeadroomQuery) {
	h.Method = "longer row"
	h.Xoff, h.Exact = row.Xoff, float64(row.Xoff)
	h.term("xoff", rat(int64(row.Xoff)), "B", fmt.Sprintf("row of %s, %v", row.Platform, row.Cable), row.Source)
	if q.Cable <= row.Cable {
		h.Notes = append(h.Notes, fmt.Sprintf("the shortest published cable is %v: its row is enough for %v", row.Cable, q.Cable))
		return
	}
	h.Method = "shorter row"
	h.Notes = append(h.Notes, fmt.Sprintf("the only published cable is %v: %v needs MORE than this", row.Cable, q.Cable))
}

// fromRow fills in what does not depend on the cable.
func (h *Headroom) fromRow(row *HeadroomRow) {
	h.Xon, h.XonOffset, h.Size = row.Xon, row.XonOffset, row.Size
	h.SizeHow = "guaranteed minimum; xoff comes on top"
}
