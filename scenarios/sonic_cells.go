package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"rdmasim/fabric/switchconf"
	"rdmasim/sim"
)

// cellHint says of which chips the headrooms of the files are whole cells, ""
// where that tells nothing. Every xoff that SONiC ships for chips of Broadcom and
// Marvell is a multiple of their cell (pg_profile_lookup.ini of
// sonic-buildimage).
func (m *sonicMapper) cellHint() string {
	var xoffs []sim.Bytes
	for i := range m.sw.Profiles {
		if x := m.sw.Profiles[i].Xoff.V; x > 0 {
			xoffs = append(xoffs, x)
		}
	}
	if len(xoffs) == 0 {
		return ""
	}
	var chips []string
	cells := map[sim.Bytes]bool{}
	for _, a := range switchconf.ASICs {
		if a.Vendor != "broadcom" && a.Vendor != "marvell" {
			continue
		}
		if !slices.ContainsFunc(xoffs, func(x sim.Bytes) bool { return x%a.Cell != 0 }) {
			chips = append(chips, a.Name)
			cells[a.Cell] = true
		}
	}
	if len(cells) != 1 { // none fits, or several do
		return ""
	}
	for cell := range cells {
		return fmt.Sprintf("; all xoff are whole cells of %v, as those of %s have", cell, strings.Join(chips, ", "))
	}
	return ""
}
