package switchconf

import (
	"fmt"
	"strings"

	"rdmasim/sim"
)

var _ = registerRenderer("os10", "Dell SmartFabric OS10: WRED profiles, network QoS and trust maps", os10{})

// os10 renders OS10. Source: published configurations of Dell switches for
// RoCE.
type os10 struct{}

func (os10) Comment() string { return "!" }

func (os10) Render(v *View, r *Rendered) error {
	r.assume("interfaces are ethernet1/1/1, ethernet1/1/2, ... in the order of the ports")
	r.assume("OS10 takes KB and does not say of how many bytes: 1024 is taken, as Dell's own pools, 17408 and 10240 KB, are 17 and 10 MiB")
	groups := v.Groups()
	for i := range groups {
		g := &groups[i]
		os10Maps(g, r)
		os10Curves(g, r)
		os10PFC(g, r)
		os10Interfaces(g, r)
		if g.Cable > 0 {
			r.lack(-1, FieldCable, g.Cable.String(), "headroom is in the pause buffer")
		}
		r.lackWatchdog(g.Watchdog, "OS10 has no words for it that are published")
	}
	r.verify("show queuing statistics interface ethernet 1/1/1", "show interface ethernet 1/1/1 priority-flow-control details", "show qos wred-profile")
	r.rollback("copy config://before-rdmasim.xml running-configuration")
	r.Config = append([]Line{{"copy running-configuration config://before-rdmasim.xml", Hitless}}, r.Config...)
	return nil
}

// kbytes writes a size in KB of 1024 bytes.
func (r *Rendered) kbytes(tc int, field string, n, written sim.Bytes) int64 {
	r.round(tc, field, int64(n), int64(written), "whole KB of 1024 bytes")
	return int64(written / sim.KiB)
}

func os10Maps(g *PortGroup, r *Rendered) {
	if len(g.mapped()) == 0 {
		return
	}
	r.line(Drops, "trust dscp-map rdmasim%s", g.Suffix)
	for _, tc := range g.mapped() {
		r.line(Drops, " qos-group %d dscp %s", g.Class[tc].Queue, ints(g.dscps(tc), ","))
	}
}

func os10Curves(g *PortGroup, r *Rendered) {
	done := map[int]bool{}
	g.each(func(tc int, c *ClassView) {
		r.lackSchedule(tc, c, false)
		if c.Queue != tc && len(g.dscps(tc)) == 0 && (c.ECN || c.PFC) {
			r.lack(tc, FieldQueue, fmt.Sprint(c.Queue), "no DSCP leads to this class")
		}
		if !c.ECN || done[c.Queue] {
			return
		}
		done[c.Queue] = true
		r.line(Hitless, "wred rdmasim%s-q%d", g.Suffix, c.Queue)
		r.line(Hitless, " random-detect color green minimum-threshold %d maximum-threshold %d drop-probability %d",
			r.kbytes(tc, FieldKmin, c.Kmin, roundNear(c.Kmin, sim.KiB)), r.kbytes(tc, FieldKmax, c.Kmax, roundNear(c.Kmax, sim.KiB)), r.percent(tc, c.Pmax, 1))
		r.line(Hitless, " random-detect ecn")
		r.line(Hitless, "class-map type queuing rdmasim%s-q%d", g.Suffix, c.Queue)
		r.line(Hitless, " match queue %d", c.Queue)
	})
	if !g.hasECN() {
		return
	}
	r.line(Hitless, "policy-map type queuing rdmasim%s-out", g.Suffix)
	g.each(func(_ int, c *ClassView) {
		if c.ECN && done[c.Queue] {
			done[c.Queue] = false
			r.line(Hitless, " class rdmasim%s-q%d", g.Suffix, c.Queue)
			r.line(Hitless, "  random-detect rdmasim%s-q%d", g.Suffix, c.Queue)
		}
	})
}

func os10PFC(g *PortGroup, r *Rendered) {
	for _, k := range g.lossless() {
		r.line(Flaps, "class-map type network-qos rdmasim%s-c%d", g.Suffix, k)
		r.line(Flaps, " match qos-group %d", g.Class[k].Queue)
	}
	for i, k := range g.lossless() {
		if i == 0 {
			r.line(Flaps, "policy-map type network-qos rdmasim%s-pfc", g.Suffix)
		}
		c := &g.Class[k]
		r.line(Flaps, " class rdmasim%s-c%d", g.Suffix, k)
		r.line(Flaps, "  %s", os10Pause(k, c, r))
		r.line(Flaps, "  pfc-cos %d", k)
	}
}

// os10Pause returns the pause buffer of a class: XOFF at pause-threshold, and
// what is above it is headroom.
func os10Pause(tc int, c *ClassView, r *Rendered) string {
	if !c.Buffer || c.Headroom <= 0 {
		r.lackBuffers(tc, c, "without headroom there is no pause buffer", FieldXon, FieldXonOffset, FieldReserve, FieldAlpha)
		return "pause"
	}
	pause := max(roundUp(c.Reserve, sim.KiB), 2*sim.KiB)
	offset := min(roundUp(c.XonOffset, sim.KiB), pause-sim.KiB)
	threshold := r.kbytes(tc, FieldReserve, c.Reserve, pause)
	room := r.kbytes(tc, FieldHeadroom, c.Headroom, roundUp(c.Headroom, sim.KiB))
	back := r.kbytes(tc, FieldXonOffset, c.XonOffset, offset)
	r.lackBuffers(tc, c, "the switch shares its buffer by its own rule", FieldAlpha)
	r.lackBuffers(tc, c, "resume-threshold is absolute: it is made of xon_offset", FieldXon)
	return fmt.Sprintf("pause buffer-size %d pause-threshold %d resume-threshold %d", threshold+room, threshold, threshold-back)
}

func os10Interfaces(g *PortGroup, r *Rendered) {
	for _, p := range g.Ports {
		r.line(Flaps, "interface ethernet1/1/%d", p+1)
		if len(g.lossless()) > 0 {
			r.line(Flaps, " flowcontrol receive off")
			r.line(Flaps, " flowcontrol transmit off")
			r.line(Flaps, " priority-flow-control mode on")
			r.line(Flaps, " service-policy input type network-qos rdmasim%s-pfc", g.Suffix)
		}
		if g.hasECN() {
			r.line(Hitless, " service-policy output type queuing rdmasim%s-out", g.Suffix)
		}
		if len(g.mapped()) > 0 {
			r.line(Drops, " trust-map dscp rdmasim%s", g.Suffix)
		}
	}
}

// dialect of OS10: "no" takes a line back.
func (os10) dialect() dialect {
	return dialect{
		frames:   []string{"copy running-configuration config://before-rdmasim.xml"},
		contexts: []string{"interface "},
		slots: begins(`random-detect color green `, `random-detect rdmasim`, `pause buffer-size `, `pfc-cos `, `match (queue|qos-group) `, `flowcontrol (receive|transmit) `,
			`priority-flow-control mode `, `service-policy (input type network-qos|output type queuing) `, `trust-map dscp `),
		undo: func(line string) string {
			if strings.HasPrefix(line, "pause") {
				return "no pause"
			}
			return "no " + line
		},
		returns: true,
	}
}
