package switchconf

import (
	"fmt"
	"strings"

	"rdmasim/sim"
)

var _ = registerRenderer("vrp", "Huawei VRP on CloudEngine: drop profiles and DCB", vrp{})

// vrp renders CloudEngine switches. Source: Huawei's configuration guides and
// EDOC1100155250.
type vrp struct{}

func (vrp) Comment() string { return "#" }

// Bounds of VRP. Kilobytes are 1024 bytes: the largest headroom, 30720 KB, is
// 30 MiB.
const (
	vrpMinHeadroom = 16 * sim.KiB
	vrpMaxHeadroom = 30720 * sim.KiB
)

// vrpLimits are how many different values of each kind a device has.
var vrpLimits = map[string]int{FieldHeadroom: 31, FieldReserve: 30, FieldStatic: 28}

// vrpValues are the values that have been written, by field.
type vrpValues map[string]map[string]bool

func (v vrpValues) add(field, value string) {
	if v[field] == nil {
		v[field] = map[string]bool{}
	}
	v[field][value] = true
}

func (vrp) Render(v *View, r *Rendered) error {
	r.assume("interfaces are 100GE1/0/1, 100GE1/0/2, ... by speed, in the order of the ports; all are of one slot")
	r.assume("ECN limits are bytes, the unit where none is written; kbytes of PFC buffers are taken as 1024 bytes: the largest headroom, 30720 KB, is 30 MiB")
	groups := v.Groups()
	values := vrpValues{}
	for i := range groups {
		vrpProfiles(&groups[i], r)
	}
	for i := range groups {
		if err := vrpPorts(&groups[i], values, r); err != nil {
			return err
		}
	}
	for _, field := range []string{FieldHeadroom, FieldReserve, FieldStatic} {
		if n := len(values[field]); n > vrpLimits[field] {
			return fmt.Errorf("%s: %d different values: the device has %d profiles for them; give ports the same", field, n, vrpLimits[field])
		}
	}
	r.line(Drops, "commit")
	r.verify("display drop-profile", "display dcb pfc", "display dcb pfc buffer", "display qos buffer ingress-usage interface", "display qos buffer egress-usage interface")
	r.rollback("rollback configuration last 1")
	return nil
}

// vrpProfiles writes the curves and the PFC profile of a group of ports.
func vrpProfiles(g *PortGroup, r *Rendered) {
	g.each(func(tc int, c *ClassView) {
		if c.ECN {
			r.line(Hitless, "drop-profile rdmasim%s-q%d", g.Suffix, c.Queue)
			r.line(Hitless, " ecn buffer-size low-limit %d high-limit %d discard-percentage %d", c.Kmin, c.Kmax, r.percent(tc, c.Pmax, 1))
		}
	})
	if lossless := g.lossless(); len(lossless) > 0 {
		r.line(Drops, "dcb pfc rdmasim%s", g.Suffix)
		for _, k := range lossless {
			r.line(Drops, " priority %d", k)
		}
	}
}

// vrpPorts writes what is bound to ports.
func vrpPorts(g *PortGroup, values vrpValues, r *Rendered) error {
	for tc := range g.Class {
		for _, d := range g.dscps(tc) {
			if d>>3 != tc {
				r.lack(tc, FieldDSCP, fmt.Sprint(d), "trust dscp takes the default domain, which maps this DSCP to %d: write a diffserv domain by hand", d>>3)
			}
		}
	}
	if len(g.mapped()) > 0 {
		r.lack(-1, FieldOtherDSCPs, "not mapped", "trust dscp sends every DSCP to a class of its own, the DSCP divided by eight")
	}
	for _, p := range g.Ports {
		r.line(Drops, "interface %dGE1/0/%d", max(int64(g.Speed/sim.Gbps), 1), p+1)
		if len(g.mapped()) > 0 {
			r.line(Drops, " trust dscp")
		}
		for tc := range g.Class {
			c := &g.Class[tc]
			if c.ECN {
				r.line(Hitless, " qos queue %d wred rdmasim%s-q%d", c.Queue, g.Suffix, c.Queue)
				r.line(Hitless, " qos queue %d ecn", c.Queue)
			}
		}
		if len(g.lossless()) > 0 {
			r.line(Drops, " dcb pfc enable rdmasim%s mode manual", g.Suffix)
		}
		for tc := range g.Class {
			if c := &g.Class[tc]; c.PFC && c.Buffer {
				if err := vrpBuffer(tc, c, values, r); err != nil {
					return err
				}
			}
		}
	}
	g.each(func(tc int, c *ClassView) { r.lackSchedule(tc, c, true) })
	if g.Cable > 0 {
		r.lack(-1, FieldCable, g.Cable.String(), "headroom is written as such")
	}
	r.lackWatchdog(g.Watchdog, "the unit of deadlock-detect time is not published: set dcb pfc priority deadlock-detect by hand")
	return nil
}

// vrpBuffer writes the buffer of a lossless class.
func vrpBuffer(tc int, c *ClassView, values vrpValues, r *Rendered) error {
	const whole = "whole kbytes of 1024 bytes"
	kib := func(field string, n, low sim.Bytes) int64 {
		k := max(roundUp(n, sim.KiB), low)
		r.round(tc, field, int64(n), int64(k), whole)
		return int64(k / sim.KiB)
	}
	if c.Headroom > vrpMaxHeadroom {
		return fmt.Errorf("class %d: headroom %d: the device takes at most %d bytes (30720 KB)", tc, c.Headroom, int64(vrpMaxHeadroom))
	}
	switch {
	case c.Dynamic:
		r.lackBuffers(tc, c, "xoff dynamic takes an index of which no table of alphas is published: set dcb pfc buffer xoff dynamic by hand", FieldAlpha)
		r.lackBuffers(tc, c, "the offset goes with a static threshold", FieldXonOffset)
	case c.Static > 0:
		xoff, offset := kib(FieldStatic, c.Static, sim.KiB), kib(FieldXonOffset, c.XonOffset, 0)
		values.add(FieldStatic, fmt.Sprint(xoff, offset))
		r.line(Drops, " dcb pfc buffer %d xoff static %d kbytes xon offset %d kbytes", tc, xoff, offset)
	default:
		r.lackBuffers(tc, c, "the offset goes with a static threshold", FieldXonOffset)
	}
	if c.Headroom > 0 {
		n := kib(FieldHeadroom, c.Headroom, vrpMinHeadroom)
		values.add(FieldHeadroom, fmt.Sprint(n))
		r.line(Drops, " dcb pfc buffer %d hdrm %d kbytes", tc, n)
	}
	if c.Reserve > 0 {
		n := kib(FieldReserve, c.Reserve, 0)
		values.add(FieldReserve, fmt.Sprint(n))
		r.line(Drops, " dcb pfc buffer %d guaranteed %d kbytes", tc, n)
	}
	r.lackBuffers(tc, c, "xon is an offset here", FieldXon)
	return nil
}

// dialect of VRP: "undo" takes a line back by what it sets, without the values.
func (vrp) dialect() dialect {
	d := dialect{
		frames:   []string{"commit"},
		contexts: []string{"interface "},
		slots:    begins(`ecn buffer-size `, `qos queue \d wred `, `dcb pfc enable `, `dcb pfc buffer \d (xoff|hdrm|guaranteed) `),
		returns:  true,
	}
	d.undo = func(line string) string {
		if slot := match(d.slots, line); slot != "" {
			line = strings.TrimSpace(slot)
		}
		return "undo " + strings.TrimSuffix(line, " dscp")
	}
	return d
}
