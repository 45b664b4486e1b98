package switchconf

import (
	"fmt"
	"strings"

	"rdmasim/sim"
)

var _ = registerRenderer("nvue", "NVIDIA Cumulus Linux: nv set commands", nvue{})

// nvue renders NVUE commands. Source: Cumulus Linux user guide, quality of
// service.
type nvue struct{}

func (nvue) Comment() string { return "#" }

func (nvue) Render(v *View, r *Rendered) error {
	if err := v.checkAlpha(); err != nil {
		return err
	}
	r.assume("interfaces are swp1, swp2, ... in the order of the ports")
	r.assume("thresholds are bytes; the switch shows them in KB of 1024 (150000 as 146.48 KB: Cumulus Linux user guide), and may round them in hardware")
	if v.ASIC != nil && v.ASIC.Vendor != "nvidia" {
		return fmt.Errorf("the ASIC is %s: Cumulus Linux with NVUE runs on NVIDIA Spectrum", v.ASIC.Doc)
	}
	groups := v.Groups()
	if len(groups) > 0 {
		nvueMap(&groups[0], r)
	}
	for i := range groups {
		if groups[i].DSCP != groups[0].DSCP {
			r.lack(-1, FieldDSCP, "maps of ports"+groups[i].Suffix, "one map for all ports is exported: that of the first")
		}
		nvuePorts(&groups[i], r)
	}
	nvueWatchdog(v, groups, r)
	r.line(Drops, "nv config apply")
	r.verify("nv show qos congestion-control default-global", "nv show interface swp1 qos roce status", "nv show interface swp1 qos roce counters", "nv show interface swp1 counters qos pfc-stats")
	r.rollback("nv config history", "nv config apply <the revision before>")
	return nil
}

func nvueMap(g *PortGroup, r *Rendered) {
	if len(g.mapped()) == 0 {
		return
	}
	r.line(Drops, "nv set qos mapping default-global trust l3")
	for _, tc := range g.mapped() {
		for _, d := range g.dscps(tc) {
			r.line(Drops, "nv set qos mapping default-global dscp %d switch-priority %d", d, tc)
		}
	}
}

// nvuePorts writes curves and PFC of one group of ports; where there is only
// one, into the profile of all ports.
func nvuePorts(g *PortGroup, r *Rendered) {
	profile, ports := "default-global", ranges("swp", g.Ports, 1)
	if g.Suffix != "" {
		profile = "rdmasim" + g.Suffix
	}
	g.each(func(tc int, c *ClassView) {
		if c.ECN {
			at := fmt.Sprintf("nv set qos congestion-control %s traffic-class %d", profile, c.Queue)
			r.line(Hitless, "%s ecn enable", at)
			r.line(Hitless, "%s min-threshold %d", at, c.Kmin)
			r.line(Hitless, "%s max-threshold %d", at, c.Kmax)
			r.line(Hitless, "%s probability %d", at, r.percent(tc, c.Pmax, 0))
		}
		r.lackSchedule(tc, c, true)
		r.lackBuffers(tc, c, "the switch computes it from the cable length; NVIDIA says to leave it so", FieldHeadroom, FieldXon, FieldXonOffset, FieldReserve)
		r.lackBuffers(tc, c, "the traffic pool decides: nv set qos traffic-pool default-lossless memory-percent", FieldAlpha)
	})
	if g.hasECN() && g.Suffix != "" {
		r.line(Hitless, "nv set interface %s qos congestion-control profile %s", ports, profile)
	}
	if lossless := g.lossless(); len(lossless) > 0 {
		at := "nv set qos pfc " + profile
		for _, k := range lossless {
			r.line(Drops, "%s switch-priority %d", at, k)
		}
		r.line(Drops, "%s rx enable", at)
		r.line(Drops, "%s tx enable", at)
		if g.Cable > 0 {
			metres := int64((g.Cable + sim.Metre - 1) / sim.Metre)
			if sim.Length(metres)*sim.Metre != g.Cable {
				r.rounded(-1, FieldCable, g.Cable.String(), (sim.Length(metres) * sim.Metre).String(), "NVUE takes whole metres")
			}
			r.line(Drops, "%s cable-length %d", at, metres)
		}
		if g.Suffix != "" {
			r.line(Drops, "nv set interface %s qos pfc profile %s", ports, profile)
		}
	} else if g.Cable > 0 {
		r.lack(-1, FieldCable, g.Cable.String(), "it belongs to PFC, which these ports have not")
	}
}

// nvueWatchdog: a storm is as many polls in a row as robustness says, and both
// are those of the switch.
func nvueWatchdog(v *View, groups []PortGroup, r *Rendered) {
	poll := v.Poll
	if poll <= 0 {
		poll = 100 * sim.Millisecond // default: Cumulus Linux user guide
	}
	ms := min(max(int64((poll+sim.Millisecond/2)/sim.Millisecond), 1), 5000)
	var detect sim.Duration
	for _, g := range groups {
		w := g.Watchdog
		if w.Detect <= 0 {
			continue
		}
		r.line(Hitless, "nv set interface %s qos pfc-watchdog", ranges("swp", g.Ports, 1))
		if detect == 0 {
			detect = w.Detect
		} else if w.Detect != detect {
			r.lackWatchdog(w, "NVUE has one time of detection for all ports")
		}
		if w.Restore != w.Detect || w.Action != ActionDrop {
			r.lack(-1, FieldWatchdog, fmt.Sprintf("%s, restore %v", w.Action, w.Restore), "NVUE has neither an action nor a time of restoration")
		}
	}
	if detect == 0 {
		return
	}
	unit := sim.Duration(ms) * sim.Millisecond
	robust := max(int64((detect+unit-1)/unit), 1)
	r.line(Hitless, "nv set qos pfc-watchdog polling-interval %d", ms)
	r.line(Hitless, "nv set qos pfc-watchdog robustness %d", robust)
	if got := sim.Duration(robust) * unit; got != detect {
		r.rounded(-1, FieldWatchdog, detect.String(), got.String(), "a storm is a whole number of polls")
	}
}

// dialect of NVUE: "nv unset" takes a path back, and a path has one value.
func (nvue) dialect() dialect {
	d := dialect{
		frames: []string{"nv config apply"},
		slots: begins(`nv set qos mapping default-global dscp \d+ `, `nv set qos mapping default-global trust `,
			`nv set .* (ecn|min-threshold|max-threshold|probability|cable-length|polling-interval|robustness|rx|tx|profile) `),
		returns: true,
	}
	d.undo = func(line string) string {
		if slot := match(d.slots, line); slot != "" {
			line = strings.TrimSpace(slot)
		}
		return "nv unset " + strings.TrimPrefix(line, "nv set ")
	}
	return d
}
