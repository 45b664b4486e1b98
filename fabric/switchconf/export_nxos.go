package switchconf

import (
	"fmt"
	"slices"

	"rdmasim/sim"
)

var _ = registerRenderer("nxos", "Cisco NX-OS on Nexus 9000: class maps, policy maps and where they are bound", nxos{})

// nxos renders modular QoS of Nexus 9000. Source: Cisco's QoS guide of
// Nexus 9000 and published configurations of RoCE networks.
type nxos struct{}

func (nxos) Comment() string { return "!" }

// Smallest numbers of a pause buffer: those of a 93180YC-EX. Cells of 208 B:
// published values of cloud-scale switches are multiples of that.
const (
	nxosCell     = 208 * sim.Byte
	nxosMinPause = 12480 * sim.Byte // 60 cells
	nxosMinSize  = 27456 * sim.Byte // 132 cells
)

func (nxos) Render(v *View, r *Rendered) error {
	r.assume("interfaces are Ethernet1/1, Ethernet1/2, ... in the order of the ports")
	r.assume("thresholds are written in bytes: Cisco does not say whether a kbyte is 1000 or 1024 bytes")
	r.assume("pause buffers are whole cells of %d B, as all published values of cloud-scale switches", nxosCell)
	groups := v.Groups()
	for i := range groups {
		nxosClassify(&groups[i], r)
	}
	nxosNetwork(groups, r)
	for i := range groups {
		nxosQueuing(&groups[i], r)
	}
	for i := range groups {
		nxosInterfaces(&groups[i], r)
	}
	r.verify("show queuing interface ethernet 1/1", "show interface priority-flow-control detail", "show policy-map system type queuing")
	r.rollback("rollback running-config checkpoint before-rdmasim")
	r.Config = append([]Line{{"checkpoint before-rdmasim", Hitless}}, r.Config...)
	return nil
}

// nxosClassify maps DSCPs to QoS groups, which number the queues.
func nxosClassify(g *PortGroup, r *Rendered) {
	if len(g.mapped()) == 0 {
		return
	}
	for _, tc := range g.mapped() {
		r.line(Drops, "class-map type qos match-any RDMASIM%s-C%d", g.Suffix, tc)
		r.line(Drops, "  match dscp %s", ints(g.dscps(tc), ","))
	}
	r.line(Drops, "policy-map type qos RDMASIM%s-IN", g.Suffix)
	for _, tc := range g.mapped() {
		r.line(Drops, "  class RDMASIM%s-C%d", g.Suffix, tc)
		r.line(Drops, "    set qos-group %d", g.Class[tc].Queue)
	}
}

// nxosNetwork says which queues are under PFC: one policy for the system.
func nxosNetwork(groups []PortGroup, r *Rendered) {
	var queues [8]int
	for i := range queues {
		queues[i] = -1
	}
	any := false
	for _, g := range groups {
		for _, k := range g.lossless() {
			if q := g.Class[k].Queue; q >= 0 && q < 8 && queues[q] < 0 {
				queues[q], any = k, true
			} else if q >= 0 && q < 8 && queues[q] != k {
				r.lack(k, FieldPFC, "on", "queue %d pauses priority %d already: a queue has one", q, queues[q])
			}
		}
	}
	if !any {
		return
	}
	for i := range groups {
		if !slices.Equal(pausedQueues(&groups[i]), pausedQueues(&groups[0])) {
			r.lack(-1, FieldScope, "lossless classes", "the network-qos policy is that of the system: a class that is lossless on some ports is so on every port with PFC")
		}
	}
	r.line(Flaps, "policy-map type network-qos RDMASIM-NQ")
	for q, k := range queues {
		if k >= 0 {
			r.line(Flaps, "  class type network-qos c-8q-nq%s", suffixed(q))
			r.line(Flaps, "    pause pfc-cos %d", k)
		}
	}
	r.line(Flaps, "system qos")
	r.line(Flaps, "  service-policy type network-qos RDMASIM-NQ")
}

// pausedQueues are the queues of lossless classes, in order of the classes.
func pausedQueues(g *PortGroup) (list []int) {
	for _, k := range g.lossless() {
		list = append(list, k, g.Class[k].Queue)
	}
	return list
}

// suffixed numbers a class of queues: that of queue 0 is the default one.
func suffixed(q int) string {
	if q == 0 {
		return "-default"
	}
	return fmt.Sprint(q)
}

// nxosQueuing writes curves and pause buffers of a group of ports.
func nxosQueuing(g *PortGroup, r *Rendered) {
	if g.hasECN() {
		r.line(Hitless, "policy-map type queuing RDMASIM%s-OUT", g.Suffix)
	}
	done := map[int]bool{}
	g.each(func(tc int, c *ClassView) {
		r.lackSchedule(tc, c, false)
		if c.Queue != tc && len(g.dscps(tc)) == 0 && (c.ECN || c.PFC) {
			r.lack(tc, FieldQueue, fmt.Sprint(c.Queue), "no DSCP leads to this class")
		}
		if !c.ECN {
			return
		}
		if done[c.Queue] {
			return // another class of the same queue
		}
		done[c.Queue] = true
		r.line(Hitless, "  class type queuing c-out-8q-q%s", suffixed(c.Queue))
		r.line(Hitless, "    random-detect minimum-threshold %d bytes maximum-threshold %d bytes drop-probability %d weight 0 ecn", c.Kmin, c.Kmax, r.percent(tc, c.Pmax, 1))
	})
	begun := false
	g.each(func(tc int, c *ClassView) {
		if !c.PFC || !c.Buffer {
			return
		}
		if c.Queue == 0 {
			r.lackBuffers(tc, c, "there is no pause buffer of the default class", FieldHeadroom, FieldXon, FieldXonOffset, FieldReserve, FieldAlpha)
			return
		}
		if c.Headroom <= 0 {
			r.lackBuffers(tc, c, "without headroom there is no pause buffer", FieldXon, FieldXonOffset, FieldReserve, FieldAlpha)
			return
		}
		if !begun {
			begun = true
			r.line(Drops, "policy-map type queuing RDMASIM%s-PAUSE", g.Suffix)
		}
		nxosPause(tc, c, r)
	})
}

// nxosPause writes the pause buffer of a class: XOFF at pause-threshold, what
// is above it is headroom, and below it goes the offset of XON.
func nxosPause(tc int, c *ClassView, r *Rendered) {
	pause := max(roundUp(c.Reserve, nxosCell), nxosMinPause)
	headroom := max(roundUp(c.Headroom, nxosCell), nxosMinSize-nxosMinPause)
	offset := min(roundUp(c.XonOffset, nxosCell), pause-nxosMinPause)
	const why = "whole cells of 208 B, at least those of the smallest pause buffer"
	r.round(tc, FieldReserve, int64(c.Reserve), int64(pause), why+"; this is the pause-threshold")
	r.round(tc, FieldHeadroom, int64(c.Headroom), int64(headroom), why+"; this is buffer-size less pause-threshold")
	r.round(tc, FieldXonOffset, int64(c.XonOffset), int64(offset), why+"; this is pause-threshold less resume-threshold")
	r.lackBuffers(tc, c, "the switch shares its buffer by its own rule", FieldAlpha)
	r.lackBuffers(tc, c, "resume-threshold is absolute: it is made of xon_offset", FieldXon)
	r.line(Drops, "  class type queuing c-in-q%d", c.Queue)
	r.line(Drops, "    pause buffer-size %d pause-threshold %d resume-threshold %d", pause+headroom, pause, pause-offset)
}

// nxosInterfaces binds policies to ports.
func nxosInterfaces(g *PortGroup, r *Rendered) {
	in := "interface " + ranges("Ethernet1/", g.Ports, 1)
	if len(g.mapped()) > 0 {
		r.line(Drops, "%s", in)
		r.line(Drops, "  service-policy type qos input RDMASIM%s-IN", g.Suffix)
	}
	if g.hasECN() {
		r.line(Hitless, "%s", in)
		r.line(Hitless, "  service-policy type queuing output RDMASIM%s-OUT", g.Suffix)
	}
	if g.Cable > 0 {
		r.lack(-1, FieldCable, g.Cable.String(), "headroom is in the pause buffer; without one the switch provides for 100 m")
	}
	if len(g.lossless()) == 0 {
		r.lackWatchdog(g.Watchdog, "the ports have no PFC")
		return
	}
	r.line(Flaps, "%s", in)
	r.line(Flaps, "  priority-flow-control mode on")
	for _, k := range g.lossless() {
		if c := g.Class[k]; c.Buffer && c.Headroom > 0 && c.Queue > 0 {
			r.line(Drops, "  service-policy type queuing input RDMASIM%s-PAUSE", g.Suffix)
			break
		}
	}
	if g.Watchdog.Detect > 0 {
		r.line(Hitless, "  priority-flow-control watch-dog-interval on")
		r.lackWatchdog(g.Watchdog, "the watchdog is on with the timers of the switch")
	}
}

// dialect of NX-OS: "no" takes a line back, and policies hold one value of a
// kind per class.
func (nxos) dialect() dialect {
	return dialect{
		frames:   []string{"checkpoint before-rdmasim"},
		contexts: []string{"interface ", "system qos"},
		slots: begins(`random-detect `, `pause buffer-size `, `pause pfc-cos `, `set qos-group `, `priority-flow-control (mode|watch-dog-interval) `,
			`service-policy type (qos input|queuing output|queuing input|network-qos) `),
		undo:    func(line string) string { return "no " + line },
		returns: true,
	}
}
