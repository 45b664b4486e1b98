package switchconf

import (
	"fmt"
	"strings"

	"rdmasim/sim"
)

var _ = registerRenderer("mlnx", "NVIDIA ConnectX hosts: mlnx_qos, to match the switch", mlnx{})

// mlnx renders the host side: what a NIC must be told so that it agrees with
// the switch. Source: mlnx-tools, mlnx_qos.
type mlnx struct{}

func (mlnx) Comment() string { return "#" }

func (mlnx) Render(v *View, r *Rendered) error {
	r.assume("hosts: eth0, eth1, ... stand for the NICs at the ports of the switch, in their order")
	groups := v.Groups()
	for i := range groups {
		g := &groups[i]
		for _, p := range g.Ports {
			mlnxNIC(fmt.Sprintf("mlnx_qos -i eth%d", p), g, r)
		}
		g.each(func(tc int, c *ClassView) {
			if c.ECN {
				r.lack(tc, FieldECN, fmt.Sprintf("%d..%d", c.Kmin, c.Kmax), "switches mark; a NIC reacts to marks")
			}
			r.lackSchedule(tc, c, true)
			r.lackBuffers(tc, c, "this is of the switch: the driver sizes the receive buffer of a NIC from the cable length", FieldHeadroom, FieldXon, FieldXonOffset, FieldReserve, FieldAlpha)
		})
		r.lackWatchdog(g.Watchdog, "the watchdog of a NIC is its firmware's")
	}
	r.verify("mlnx_qos -i eth0", "ethtool -S eth0 | grep prio3_pause")
	r.rollback("mlnx_qos -i eth0 --pfc 0,0,0,0,0,0,0,0", "mlnx_qos -i eth0 --trust pcp")
	return nil
}

// mlnxNIC writes what one NIC is told.
func mlnxNIC(at string, g *PortGroup, r *Rendered) {
	pfc := make([]string, 8)
	for k := range pfc {
		pfc[k] = "0"
		if g.Class[k].PFC {
			pfc[k] = "1"
		}
	}
	if len(g.mapped()) > 0 {
		r.line(Drops, "%s --trust dscp", at)
		for _, tc := range g.mapped() {
			for _, d := range g.dscps(tc) {
				r.line(Drops, "%s --dscp2prio set,%d,%d", at, d, tc)
			}
		}
	}
	r.line(Drops, "%s --pfc %s", at, strings.Join(pfc, ","))
	if g.Cable > 0 {
		metres := int64((g.Cable + sim.Metre - 1) / sim.Metre)
		if sim.Length(metres)*sim.Metre != g.Cable {
			r.rounded(-1, FieldCable, g.Cable.String(), (sim.Length(metres) * sim.Metre).String(), "whole metres")
		}
		r.line(Drops, "%s --cable_len %d", at, metres)
	}
}

// dialect of mlnx_qos: an option sets all of its kind on a port, but for one
// DSCP at a time.
func (mlnx) dialect() dialect {
	return dialect{
		slots: begins(`mlnx_qos -i \S+ --(pfc|cable_len|trust) `, `mlnx_qos -i \S+ --dscp2prio set,\d+,`),
		undo: func(line string) string {
			head, rest, _ := strings.Cut(line, " --")
			switch {
			case strings.HasPrefix(rest, "trust "):
				return head + " --trust pcp"
			case strings.HasPrefix(rest, "pfc "):
				return head + " --pfc 0,0,0,0,0,0,0,0"
			case strings.HasPrefix(rest, "dscp2prio set,"):
				return strings.Replace(line, "set,", "del,", 1)
			}
			return ""
		},
	}
}
