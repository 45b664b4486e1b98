package switchconf

import (
	"cmp"
	"slices"

	"rdmasim/sim"
)

// HeadroomRow is one row of a published table of lossless profiles. Sizes are
// in bytes as published.
type HeadroomRow struct {
	ASIC      string
	Platform  string
	Speed     sim.Rate
	Cable     sim.Length
	Size      sim.Bytes
	Xon       sim.Bytes
	XonOffset sim.Bytes
	Xoff      sim.Bytes
	DynamicTh int // alpha = 2^n
	// The table was made for these, where they are not the defaults of the
	// static rule.
	MTU, LosslessMTU sim.Bytes
	SmallPackets     *sim.Ratio
	Gearbox          sim.Duration
	SharedPool       bool
	Dynamic          bool
	Source           string
}

// Query returns the question to which the row is the published answer.
func (r *HeadroomRow) Query() HeadroomQuery {
	q := HeadroomQuery{ASIC: r.ASIC, Speed: r.Speed, Cable: r.Cable, MTU: r.MTU, LosslessMTU: r.LosslessMTU, SmallPackets: r.SmallPackets,
		Gearbox: r.Gearbox, SharedPool: r.SharedPool}
	if r.Dynamic {
		q.Rule = DynamicHeadroom
	}
	return q
}

// PublishedHeadroom are the rows of tables that switches ship with, in order of
// ASIC, platform, cable and speed.
var PublishedHeadroom = func() (all []HeadroomRow) {
	for _, t := range headroomTables {
		all = append(all, t.rows()...)
	}
	return all
}()

// rowsOf returns the rows of an ASIC and a speed that were made by the static
// rule without a gearbox, of the platform that has most of them, in order of
// the cable.
func rowsOf(asic string, speed sim.Rate) []HeadroomRow {
	var platform string
	var rows []HeadroomRow
	for _, r := range PublishedHeadroom {
		if r.ASIC != asic || r.Speed != speed || r.Dynamic || r.Gearbox > 0 {
			continue
		}
		if platform == "" {
			platform = r.Platform
		}
		if r.Platform == platform {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b HeadroomRow) int { return cmp.Compare(a.Cable, b.Cable) })
	return rows
}

// publishedRow returns the row of exactly that speed and cable, nil when there
// is none.
func publishedRow(asic string, speed sim.Rate, cable sim.Length) *HeadroomRow {
	return find(rowsOf(asic, speed), func(r *HeadroomRow) bool { return r.Cable == cable })
}

// headroomTable is a table in compact form: Xoff of each cable by speed.
type headroomTable struct {
	HeadroomRow              // what all rows share
	xon8        sim.Bytes    // xon of the highest speed, 0: as the others
	cables      []sim.Length // metres
	speeds      []int        // Gb/s, as columns of xoff
	xoff        [][]sim.Bytes
	sizes       map[[2]int]sim.Bytes // by Gb/s and metres: sizes that are not Size, or Xon + Xoff where Size is 0
}

// rows spells the table out. A 0 in xoff is a row that the table does not have.
func (t *headroomTable) rows() (all []HeadroomRow) {
	for i, cable := range t.cables {
		for k, speed := range t.speeds {
			r := t.HeadroomRow
			r.Speed, r.Cable, r.Xoff = sim.Rate(speed)*gig, cable*sim.Metre, t.xoff[i][k]
			if r.Xoff == 0 {
				continue
			}
			if t.xon8 > 0 && k == len(t.speeds)-1 {
				r.Xon = t.xon8
			}
			switch size, ok := t.sizes[[2]int{speed, int(cable)}]; {
			case ok:
				r.Size = size
			case t.SharedPool:
				r.Size = r.Xon
			case t.Size == 0:
				r.Size = r.Xon + r.Xoff
			}
			all = append(all, r)
		}
	}
	return all
}
