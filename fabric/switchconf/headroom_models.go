package switchconf

import (
	"fmt"
	"slices"
	"strings"

	"rdmasim/sim"
)

// headroomModel is how the vendor of an ASIC finds headroom.
type headroomModel struct {
	name, doc string
	cell      sim.Bytes
	speeds    []sim.Rate
	table     bool // rows only, no formula
	compute   func(m *headroomModel, q HeadroomQuery, h *Headroom)

	// Of NVIDIA's formula.
	fixedPeer  bool      // static rule: the peer's response is 3.8 KiB at every speed
	roundCells bool      // static rule: cells per small packet are whole ones
	tile       bool      // bytes on a tile, by speed
	xon        sim.Bytes // latency of the pipeline
	xon8       sim.Bytes // of ports with eight lanes, static rule
	extra      sim.Bytes // added to xoff
	noTable    string    // why the static rule is a guess, "" where rows confirm it
}

const gig = sim.Gbps

var (
	upTo100 = []sim.Rate{sim.Gbps, 10 * gig, 25 * gig, 40 * gig, 50 * gig, 100 * gig}
	upTo200 = append(slices.Clone(upTo100), 200*gig)
	upTo400 = append(slices.Clone(upTo200), 400*gig)
	upTo800 = append(slices.Clone(upTo400), 800*gig)
	upTo1T6 = append(slices.Clone(upTo800), 1600*gig)
)

// headroomModels are the models in the order of their names. Latencies of
// pipelines: xon of the shipped tables and ASIC_TABLE of SONiC's templates.
var headroomModels = []*headroomModel{
	{name: "generic", doc: "an ideal switch", cell: 1, speeds: upTo1T6, compute: idealHeadroom},
	tableModel("j2"),
	nvidiaModel("spc1", headroomModel{speeds: upTo100, fixedPeer: true, xon: 19 * sim.KiB, xon8: 38 * sim.KiB}),
	nvidiaModel("spc2", headroomModel{speeds: upTo200, fixedPeer: true, xon: 19 * sim.KiB, xon8: 38 * sim.KiB}),
	// 37 KiB is that of the SN4700 table; the formula of today has twice 19 KiB.
	nvidiaModel("spc3", headroomModel{speeds: upTo400, fixedPeer: true, xon: 19 * sim.KiB, xon8: 37 * sim.KiB}),
	nvidiaModel("spc4", headroomModel{speeds: upTo800, roundCells: true, tile: true, xon: 19 * sim.KiB, xon8: 38 * sim.KiB}),
	nvidiaModel("spc5", headroomModel{speeds: upTo800, roundCells: true, tile: true, xon: 19 * sim.KiB, xon8: 38 * sim.KiB,
		noTable: "Spectrum-5 has no published table with private headroom: the static rule is that of Spectrum-4"}),
	nvidiaModel("spc6", headroomModel{speeds: upTo1T6, roundCells: true, xon: 42 * sim.KiB, xon8: 84 * sim.KiB, extra: 18 * sim.KiB,
		noTable: "Spectrum-6 has no published table: the static rule is that of Spectrum-4, with the constants of Spectrum-6"}),
	tableModel("td2"),
	tableModel("td3"),
	tableModel("th"),
	tableModel("th2"),
	tableModel("th3"),
	tableModel("th5"),
	tableModel("tl10"),
}

// nvidiaModel completes the model of a chip with NVIDIA's formula.
func nvidiaModel(name string, m headroomModel) *headroomModel {
	m.name, m.doc, m.cell, m.compute = name, LookupASIC(name).Doc, LookupASIC(name).Cell, nvidiaHeadroom
	return &m
}

// tableModel is a chip of which only rows are published.
func tableModel(name string) *headroomModel {
	a := LookupASIC(name)
	m := &headroomModel{name: name, doc: a.Doc, cell: a.Cell, table: true, compute: tableHeadroom}
	for _, r := range PublishedHeadroom {
		if r.ASIC == name && !slices.Contains(m.speeds, r.Speed) {
			m.speeds = append(m.speeds, r.Speed)
		}
	}
	slices.Sort(m.speeds)
	return m
}

// lookupHeadroom returns the model of that name, whatever its case.
func lookupHeadroom(name string) (*headroomModel, error) {
	names := make([]string, len(headroomModels))
	for i, m := range headroomModels {
		if m.name == strings.ToLower(name) {
			return m, nil
		}
		names[i] = m.name
	}
	if a := LookupASIC(name); a != nil {
		return nil, fmt.Errorf("ASIC %s (%s): its vendor publishes neither a table of headroom nor a formula: want generic, or one of %s", a.Name, a.Doc, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("unknown ASIC %q: %swant one of %s", name, nearName(name, names), strings.Join(names, ", "))
}

// nearName returns "did you mean x? " where a name is like one of names, or nothing.
func nearName(name string, names []string) string {
	best, least := "", len(name)/3+2
	if len(name) > 64 {
		return ""
	}
	for _, n := range names {
		if d := sim.EditDistance(strings.ToLower(name), strings.ToLower(n)); d < least {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + "? "
}

func (m *headroomModel) hasSpeed(r sim.Rate) bool { return slices.Contains(m.speeds, r) }

func (m *headroomModel) speedList() string {
	var list []string
	for _, s := range m.speeds {
		list = append(list, s.String())
	}
	return strings.Join(list, ", ")
}

// how says in words where the numbers of a model come from.
func (m *headroomModel) how() string {
	switch {
	case m.table:
		return "rows of shipped tables"
	case m.name == "generic":
		return "what the simulator's switch needs"
	}
	return "formula of the vendor, and the rows of its shipped tables where there are some"
}

// lanes of a port where the query does not say: the highest speed of an ASIC
// takes eight.
func (m *headroomModel) lanes(q HeadroomQuery) int {
	switch {
	case q.Lanes != 0:
		return q.Lanes
	case q.Speed >= 400*gig && q.Speed == m.speeds[len(m.speeds)-1]:
		return 8
	}
	return 4
}
