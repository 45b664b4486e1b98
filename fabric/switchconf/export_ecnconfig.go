package switchconf

import (
	"fmt"
	"slices"
	"strings"

	"rdmasim/sim"
)

var _ = registerRenderer("ecnconfig", "SONiC: the commands ecnconfig, config, mmuconfig and pfcwd", ecnconfig{})

// ecnconfig renders SONiC's commands, which reach less than its database.
type ecnconfig struct{}

func (ecnconfig) Comment() string { return "#" }

// hardWired is the profile that ecnconfig -q binds, whatever else there is.
// Source: sonic-utilities, scripts/ecnconfig.
const hardWired = "AZURE_LOSSLESS"

func (ecnconfig) Render(v *View, r *Rendered) error {
	if err := v.checkAlpha(); err != nil {
		return err
	}
	names := &namer{r: r}
	r.assume("sizes are bytes, probabilities per cent, times milliseconds: no kbytes anywhere")
	ecnconfigCurves(v, r, names)
	ecnconfigBuffers(v, r, names)
	for i := range v.Ports {
		p := &v.Ports[i]
		for _, k := range p.lossless() {
			r.line(Drops, "sudo config interface pfc priority %s %d on", names.of(p.Name), k)
		}
		if p.Cable > 0 {
			metres := (p.Cable + sim.Metre - 1) / sim.Metre
			if metres*sim.Metre != p.Cable {
				r.rounded(-1, FieldCable, p.Cable.String(), (metres * sim.Metre).String(), "SONiC takes whole metres")
			}
			r.line(Drops, "sudo config interface cable_length %s %dm", names.of(p.Name), metres)
		}
		p.each(func(tc int, c *ClassView) {
			r.lackSchedule(tc, c, false)
			if c.Queue != tc && (c.ECN || c.PFC) {
				r.lack(tc, FieldQueue, fmt.Sprint(c.Queue), "maps have no command: use sonic-patch")
			}
		})
		if len(p.mapped()) > 0 {
			r.lack(-1, FieldDSCP, "map", "maps have no command: use sonic-patch")
		}
	}
	ecnconfigWatchdog(v, r, names)
	r.verify("ecnconfig -l", "show ecn", "show pfc counters", "show pfcwd stats", "show queue wredcounters", "show priority-group watermark headroom", "mmuconfig -l")
	r.rollback("sudo config rollback before-rdmasim", "sudo config delete-checkpoint before-rdmasim")
	r.Config = slices.Insert(r.Config, 0, Line{"sudo config checkpoint before-rdmasim", Hitless})
	return nil
}

// ecnconfigCurves writes WRED profiles and the queues of the hard-wired one.
func ecnconfigCurves(v *View, r *Rendered, names *namer) {
	written := map[string]bool{}
	var on []int
	for _, p := range v.Ports {
		p.each(func(tc int, c *ClassView) {
			if !c.ECN {
				return
			}
			if !written[c.WRED] {
				written[c.WRED] = true
				r.line(Hitless, "sudo ecnconfig -p %s -gmin %d -gmax %d -gdrop %d", names.of(c.WRED), c.Kmin, c.Kmax, r.percent(tc, c.Pmax, 0))
			} else {
				r.percent(tc, c.Pmax, 0)
			}
			if c.WRED != hardWired {
				r.lack(tc, FieldECN, clean(c.WRED), "ecnconfig -q binds %s and no other profile: use sonic-patch", hardWired)
			} else if !slices.Contains(on, c.Queue) {
				on = append(on, c.Queue)
			}
		})
	}
	for _, q := range on { // ecnconfig -q is for all ports
		for _, p := range v.Ports {
			if !slices.ContainsFunc(p.Class[:], func(c ClassView) bool { return c.Queue == q && c.ECN && c.WRED == hardWired }) {
				r.lack(-1, FieldScope, fmt.Sprintf("queue %d", q), "ecnconfig -q turns it on for every port: some should not mark, or otherwise")
			}
		}
	}
	if len(on) > 0 {
		slices.Sort(on)
		r.line(Hitless, "sudo ecnconfig -q %s on", ints(on, ","))
	}
}

// ecnconfigBuffers writes thresholds of profiles; headroom in the dynamic model.
func ecnconfigBuffers(v *View, r *Rendered, names *namer) {
	written := map[string]bool{}
	dynamic := v.Switch.BufferModel.V == Dynamic
	for _, p := range v.Ports {
		p.each(func(tc int, c *ClassView) {
			if !c.Buffer || !c.PFC {
				return
			}
			name := names.of(c.Profile)
			first := !written[c.Profile]
			written[c.Profile] = true
			switch {
			case dynamic && first && c.Dynamic:
				r.line(Drops, "sudo config buffer profile add %s --xon %d --xoff %d -dynamic_th %d", name, c.Xon, c.Headroom, c.Alpha)
			case c.Dynamic && first:
				r.line(Drops, "sudo mmuconfig -p %s -a %d", name, c.Alpha)
			}
			const why = "this has no command in the traditional buffer model: use sonic-patch"
			if dynamic {
				r.lackBuffers(tc, c, "this has no command: use sonic-patch", FieldXonOffset, FieldReserve)
				return
			}
			r.lackBuffers(tc, c, why, FieldHeadroom, FieldXon, FieldXonOffset, FieldReserve)
			if !c.Dynamic {
				r.lackBuffers(tc, c, why, FieldAlpha)
			}
		})
	}
}

// ecnconfigWatchdog writes the watchdog of each port.
func ecnconfigWatchdog(v *View, r *Rendered, names *namer) {
	ms := func(t sim.Duration, low, high int64) int64 {
		n := min(max(int64(t+sim.Millisecond/2)/int64(sim.Millisecond), low), high)
		if sim.Duration(n)*sim.Millisecond != t {
			r.rounded(-1, FieldWatchdog, t.String(), (sim.Duration(n) * sim.Millisecond).String(), fmt.Sprintf("SONiC takes %d to %d whole milliseconds", low, high))
		}
		return n
	}
	any := false
	for _, p := range v.Ports {
		if w := p.Watchdog; w.Detect > 0 {
			any = true
			r.line(Hitless, "sudo pfcwd start --action %s %s %d --restoration-time %d", w.Action, names.of(p.Name), ms(w.Detect, 100, 5000), ms(w.Restore, 100, 60000))
		}
	}
	if any && v.Poll > 0 {
		r.line(Hitless, "sudo pfcwd interval %d", ms(v.Poll, 100, 1000))
	}
}

// dialect of SONiC's commands: each has its own way back, and some none.
func (ecnconfig) dialect() dialect {
	return dialect{
		frames: []string{"sudo config checkpoint before-rdmasim"},
		slots: begins(`sudo ecnconfig -p \S+ `, `sudo mmuconfig -p \S+ `, `sudo config buffer profile add \S+ `, `sudo config interface cable_length \S+ `,
			`sudo config interface pfc priority \S+ \d `, `sudo pfcwd start --action \S+ \S+ `, `sudo pfcwd interval `),
		undo: func(line string) string {
			words := strings.Fields(line)
			switch {
			case strings.HasPrefix(line, "sudo ecnconfig -q "), strings.HasPrefix(line, "sudo config interface pfc priority "):
				return strings.TrimSuffix(line, " on") + " off"
			case strings.HasPrefix(line, "sudo config buffer profile add "):
				return "sudo config buffer profile remove " + words[5]
			case strings.HasPrefix(line, "sudo pfcwd start "):
				return "sudo pfcwd stop " + words[5]
			}
			return ""
		},
		again:   func(line string) string { return strings.Replace(line, " profile add ", " profile set ", 1) },
		returns: true,
	}
}
