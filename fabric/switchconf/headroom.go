package switchconf

import (
	"fmt"
	"math/big"
	"strings"

	"rdmasim/sim"
)

// HeadroomRule says by which rule of a vendor headroom is computed.
type HeadroomRule string

// The rules.
const (
	// StaticHeadroom is the rule behind the tables that switches ship with
	// (pg_profile_lookup.ini of SONiC): every packet may be a small one.
	StaticHeadroom HeadroomRule = "static"
	// DynamicHeadroom is what SONiC's dynamic buffer model computes on the
	// switch: half of the packets may be small ones.
	// Source: sonic-swss, cfgmgr/buffer_headroom_mellanox.lua.
	DynamicHeadroom HeadroomRule = "dynamic"
)

// HeadroomRules are the rules, the default first.
var HeadroomRules = []HeadroomRule{StaticHeadroom, DynamicHeadroom}

// HeadroomQuery asks how many bytes a lossless priority group of a port must
// be able to take after it has sent XOFF. Zero values stand for the defaults
// of the rule, which the result spells out.
type HeadroomQuery struct {
	ASIC  string
	Speed sim.Rate
	Cable sim.Length
	Rule  HeadroomRule // StaticHeadroom
	// MTU is the largest frame of the port: 9216 B, the frame of jumbo ports.
	MTU sim.Bytes
	// LosslessMTU is the largest frame of the lossless class: 1024 B.
	LosslessMTU sim.Bytes
	// SmallPackets is the share of packets that have 64 bytes and fill cells
	// badly: 1 by the static rule, 1/2 by the dynamic one. Nil is the default.
	SmallPackets *sim.Ratio
	// Lanes of the port: 8 at the highest speed of the ASIC.
	Lanes int
	// Gearbox is the delay of a gearbox between ASIC and port, one way.
	Gearbox sim.Duration
	// Peer is what arrives while the peer makes up its mind to obey: by ASIC
	// and speed.
	Peer sim.Bytes
	// SharedPool: headroom comes out of a pool that ports share, so that a
	// profile sets only Xon aside.
	SharedPool bool
}

// HeadroomTerm is one term of a headroom formula.
type HeadroomTerm struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"` // B, or "" of a factor
	How    string  `json:"how"`
	Source string  `json:"source"`
}

// Headroom is the answer to a HeadroomQuery. Sizes are in bytes.
type Headroom struct {
	ASIC   string
	Name   string
	Rule   HeadroomRule
	Method string // formula, published row, between rows, beyond rows
	Speed  sim.Rate
	Cable  sim.Length
	MTU    sim.Bytes
	Cell   sim.Bytes
	Terms  []HeadroomTerm
	// Exact is Xoff before it is rounded.
	Exact float64
	// Xoff is the headroom: what may arrive after XOFF.
	Xoff sim.Bytes
	// Cells are the whole cells that Xoff takes.
	Cells int64
	// Xon is where the group resumes; of NVIDIA the pipeline of the switch.
	Xon sim.Bytes
	// XonOffset: the group resumes so far below its threshold. 0: not used.
	XonOffset sim.Bytes
	// Size is what a buffer profile sets aside.
	Size sim.Bytes
	// SizeHow says what Size is made of.
	SizeHow string
	// Published is the shipped row of that speed and cable, nil when there is none.
	Published *HeadroomRow
	Notes     []string
}

// Bounds of a query.
const (
	maxHeadroomCable = 120 * sim.Kilometre // the longest link that has a published row is 80 km
	minFrame         = 64 * sim.Byte       // IEEE 802.3, section 3.2.8
	maxHeadroomMTU   = 16 * sim.KiB        // no Ethernet port takes larger frames
	maxGearbox       = 100 * sim.Microsecond
)

// ComputeHeadroom answers a query. The error names what is wrong with it and
// what would be valid.
func ComputeHeadroom(q HeadroomQuery) (*Headroom, error) {
	m, err := lookupHeadroom(q.ASIC)
	if err != nil {
		return nil, err
	}
	if q.Rule == "" {
		q.Rule = StaticHeadroom
	}
	if q.MTU == 0 {
		q.MTU = 9216
	}
	if q.LosslessMTU == 0 {
		q.LosslessMTU = min(1024, q.MTU) // LOSSLESS_TRAFFIC_PATTERN of SONiC's templates
	}
	if err := q.check(m); err != nil {
		return nil, err
	}
	h := &Headroom{ASIC: m.name, Name: m.doc, Rule: q.Rule, Speed: q.Speed, Cable: q.Cable, MTU: q.MTU, Cell: m.cell, Notes: []string{}}
	m.compute(m, q, h)
	h.Cells = int64((h.Xoff + h.Cell - 1) / h.Cell)
	if row := publishedRow(m.name, q.Speed, q.Cable); row != nil {
		h.Published = row
	}
	return h, nil
}

// check refuses what no port has.
func (q *HeadroomQuery) check(m *headroomModel) error {
	switch {
	case q.Rule != StaticHeadroom && q.Rule != DynamicHeadroom:
		return fmt.Errorf("unknown headroom rule %q: want %s or %s", q.Rule, StaticHeadroom, DynamicHeadroom)
	case q.Speed <= 0:
		return fmt.Errorf("speed %v: want one of %s", q.Speed, m.speedList())
	case !m.hasSpeed(q.Speed) && m.table:
		return fmt.Errorf("speed %v: no row of %s (%s) is published for it: want one of %s, or the ASIC generic", q.Speed, m.name, m.doc, m.speedList())
	case !m.hasSpeed(q.Speed):
		return fmt.Errorf("speed %v: %s (%s) has no such ports: want one of %s", q.Speed, m.name, m.doc, m.speedList())
	case q.Cable < 0 || q.Cable > maxHeadroomCable:
		return fmt.Errorf("cable %v: want 0m to %v", q.Cable, maxHeadroomCable)
	case q.MTU < minFrame || q.MTU > maxHeadroomMTU:
		return fmt.Errorf("mtu %d: want %d to %d bytes", q.MTU, minFrame, maxHeadroomMTU)
	case q.LosslessMTU < minFrame || q.LosslessMTU > maxHeadroomMTU:
		return fmt.Errorf("lossless mtu %d: want %d to %d bytes", q.LosslessMTU, minFrame, maxHeadroomMTU)
	case q.SmallPackets != nil && !(*q.SmallPackets >= 0 && *q.SmallPackets <= 1):
		return fmt.Errorf("share of small packets %v: want 0%% to 100%%", *q.SmallPackets)
	case q.Lanes != 0 && q.Lanes != 1 && q.Lanes != 2 && q.Lanes != 4 && q.Lanes != 8:
		return fmt.Errorf("%d lanes: want 1, 2, 4 or 8", q.Lanes)
	case q.Gearbox < 0 || q.Gearbox > maxGearbox:
		return fmt.Errorf("gearbox delay %v: want 0s to %v", q.Gearbox, maxGearbox)
	case q.Peer < 0 || q.Peer > sim.GB:
		return fmt.Errorf("response of the peer, %d bytes: want 0 to %d", q.Peer, sim.GB)
	}
	if m.table {
		return q.checkTable(m)
	}
	return nil
}

// checkTable refuses parameters that a table does not have.
func (q *HeadroomQuery) checkTable(m *headroomModel) error {
	var given []string
	add := func(is bool, name string) {
		if is {
			given = append(given, name)
		}
	}
	add(q.Rule == DynamicHeadroom, "rule dynamic")
	add(q.SmallPackets != nil, "a share of small packets")
	add(q.Lanes != 0, "lanes")
	add(q.Gearbox != 0, "a gearbox")
	add(q.Peer != 0, "a response of the peer")
	add(q.SharedPool, "a shared pool")
	add(q.MTU != 9216, "an MTU of "+q.MTU.String())
	if len(given) > 0 {
		return fmt.Errorf("%s: its vendor publishes rows of speed and cable, and no formula that %s could go into", m.name, strings.Join(given, ", "))
	}
	return nil
}

// HeadroomASICs returns the names of the ASICs that ComputeHeadroom knows, in
// order, with a sentence on each.
func HeadroomASICs() (names, docs []string) {
	for _, m := range headroomModels {
		names, docs = append(names, m.name), append(docs, m.doc+": "+m.how())
	}
	return names, docs
}

// rat returns n as an exact number.
func rat(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

// ceilTo rounds up to a multiple of unit.
func ceilTo(r *big.Rat, unit sim.Bytes) sim.Bytes {
	q := new(big.Rat).Quo(r, rat(int64(unit)))
	n := new(big.Int).Quo(q.Num(), q.Denom())
	if !q.IsInt() && q.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	return sim.Bytes(n.Int64()) * unit
}

func float(r *big.Rat) float64 { f, _ := r.Float64(); return f }
