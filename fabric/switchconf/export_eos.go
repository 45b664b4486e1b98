package switchconf

import (
	"fmt"
	"slices"
	"strings"

	"rdmasim/sim"
)

var _ = registerRenderer("eos", "Arista EOS: QoS maps and profiles", eos{})

// eos renders EOS. Source: Arista's AVD schema and EOS user manual.
type eos struct{}

func (eos) Comment() string { return "!" }

// Bounds of EOS: AVD schema.
const (
	eosMaxThreshold = 256_000_000
	eosMinTimeout   = 10 * sim.Millisecond
	eosMaxTimeout   = 60 * sim.Second
)

func (eos) Render(v *View, r *Rendered) error {
	r.assume("interfaces are Ethernet1/1, Ethernet2/1, ... in the order of the ports")
	r.assume("thresholds are written in bytes: EOS also takes segments (cells of the ASIC) and kbytes, of which Arista does not say whether they are 1000 or 1024 bytes")
	groups := v.Groups()
	if len(groups) > 0 {
		g := &groups[0]
		if n := len(g.mapped()); n > 0 {
			r.lack(-1, FieldOtherDSCPs, "not mapped", "EOS has a default class for every DSCP that is not named: show qos maps")
		}
		for _, tc := range g.mapped() {
			r.line(Drops, "qos map dscp %s to traffic-class %d", ints(g.dscps(tc), " "), tc)
		}
	}
	for i := range groups {
		if groups[i].DSCP != groups[0].DSCP {
			r.lack(-1, FieldDSCP, "maps of ports"+groups[i].Suffix, "the map of EOS is that of the switch: that of the first ports is exported")
		}
		if err := eosProfile(v, &groups[i], r); err != nil {
			return err
		}
	}
	eosWatchdog(v, groups, r)
	r.verify("show qos interfaces Ethernet1/1 ecn counters queue", "show priority-flow-control counters", "show priority-flow-control counters watchdog")
	r.rollback("configure session rdmasim", "rollback clean-config", "copy checkpoint:before-rdmasim session-config", "commit")
	r.Config = append([]Line{{"configure checkpoint save before-rdmasim", Hitless}}, r.Config...)
	return nil
}

// eosProfile writes the QoS profile of a group of ports.
func eosProfile(v *View, g *PortGroup, r *Rendered) error {
	tx := "uc-tx-queue"
	if v.ASIC != nil && v.ASIC.Name == "j2" {
		tx = "tx-queue" // Jericho platforms
	}
	r.line(Drops, "qos profile RDMASIM%s", g.Suffix)
	r.line(Drops, "   qos trust dscp")
	if lossless := g.lossless(); len(lossless) > 0 {
		r.line(Drops, "   priority-flow-control on")
		for _, k := range lossless {
			r.line(Drops, "   priority-flow-control priority %d no-drop", k)
		}
	}
	var err error
	g.each(func(tc int, c *ClassView) {
		r.lackSchedule(tc, c, true)
		r.lackBuffers(tc, c, "EOS has no words for it that are published", FieldHeadroom, FieldXon, FieldXonOffset, FieldReserve, FieldAlpha)
		if !c.ECN {
			return
		}
		if c.Kmax > eosMaxThreshold {
			err = fmt.Errorf("class %d: kmax %d: EOS takes at most %d bytes", tc, c.Kmax, int64(eosMaxThreshold))
			return
		}
		low := max(c.Kmin, 1)
		r.round(tc, FieldKmin, int64(c.Kmin), int64(low), "EOS takes 1 to 256000000")
		high := max(c.Kmax, 1)
		r.round(tc, FieldKmax, int64(c.Kmax), int64(high), "EOS takes 1 to 256000000")
		r.line(Hitless, "   %s %d", tx, c.Queue)
		r.line(Hitless, "      random-detect ecn minimum-threshold %d bytes maximum-threshold %d bytes max-mark-probability %d weight 0", low, high, r.percent(tc, c.Pmax, 1))
	})
	if err != nil {
		return err
	}
	if g.Cable > 0 {
		r.lack(-1, FieldCable, g.Cable.String(), "EOS has no words for it that are published")
	}
	for _, p := range g.Ports {
		r.line(Drops, "interface Ethernet%d/1", p+1)
		r.line(Drops, "   service-profile RDMASIM%s", g.Suffix)
	}
	return nil
}

// eosWatchdog writes the watchdog, which is that of the switch.
func eosWatchdog(v *View, groups []PortGroup, r *Rendered) {
	var w WatchdogView
	off := slices.ContainsFunc(groups, func(g PortGroup) bool { return g.Watchdog.Detect <= 0 })
	for _, g := range groups {
		switch {
		case g.Watchdog.Detect <= 0 || g.Watchdog == w:
		case w.Detect > 0:
			r.lackWatchdog(g.Watchdog, "EOS has one watchdog for all ports")
		default:
			w = g.Watchdog
		}
	}
	if w.Detect <= 0 {
		return
	}
	if off {
		r.lack(-1, FieldWatchdog, "off", "some ports have none, and EOS has one watchdog for all ports")
	}
	if w.Action != ActionDrop {
		r.lack(-1, FieldWatchdog, string(w.Action), "of the actions of EOS only drop means the same: the watchdog is left out")
		r.lackWatchdog(w, "of the actions of EOS only drop means the same: the watchdog is left out")
		return
	}
	seconds := func(t, low, high, step sim.Duration) string {
		n := min(max((t+step/2)/step*step, low), high)
		if n != t {
			r.rounded(-1, FieldWatchdog, t.String(), n.String(), fmt.Sprintf("EOS takes %v to %v in steps of %v", low, high, step))
		}
		return fmt.Sprintf("%.3f", n.Seconds())
	}
	r.line(Hitless, "priority-flow-control pause watchdog default timeout %s", seconds(w.Detect, eosMinTimeout, eosMaxTimeout, 10*sim.Millisecond))
	r.line(Hitless, "priority-flow-control pause watchdog default recovery-time %s", seconds(w.Restore, eosMinTimeout, eosMaxTimeout, 10*sim.Millisecond))
	if v.Poll > 0 {
		most := max(min(w.Detect, w.Restore)/2/(5*sim.Millisecond)*(5*sim.Millisecond), 5*sim.Millisecond) // EOS: at most half of either
		r.line(Hitless, "priority-flow-control pause watchdog default polling-interval %s", seconds(min(v.Poll, most), 5*sim.Millisecond, 30*sim.Second, 5*sim.Millisecond))
		if v.Poll > most {
			r.rounded(-1, FieldWatchdog, v.Poll.String(), most.String(), "EOS polls at least twice in either time")
		}
	}
	r.line(Hitless, "priority-flow-control pause watchdog action drop")
}

// dialect of EOS: "no" takes a line back by what it sets, without the values.
func (eos) dialect() dialect {
	d := dialect{
		frames:   []string{"configure checkpoint save before-rdmasim"},
		contexts: []string{"interface ", "uc-tx-queue ", "tx-queue "},
		slots:    begins(`random-detect ecn `, `service-profile `, `priority-flow-control pause watchdog (default \S+|action) `),
		returns:  true,
	}
	d.undo = func(line string) string {
		if slot := match(d.slots, line); slot != "" {
			return "no " + strings.TrimSpace(slot)
		}
		line, _, _ = strings.Cut(line, " to traffic-class ")
		return "no " + strings.TrimSuffix(line, " no-drop")
	}
	return d
}
