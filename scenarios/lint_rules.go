package scenarios

import (
	"strconv"

	"rdmasim/fabric/switchconf"
)

// Rules about more than the configuration of a switch.

var (
	_ = switchconf.AddRule(switchconf.Rule{
		Name: "pcp-without-tag", Severity: switchconf.Warning,
		Doc:      "Switches look at the priority of the VLAN tag, and frames have none.",
		Why:      "Frames without a tag are in priority 0, whatever the NIC means: data is not lossless, and CNPs wait behind it.",
		Set:      "switch.trust: dscp, or nic.encapsulation: vlan",
		Scenario: "pcp-without-tag", Source: "IEEE 802.1Q, section 6.9.3",
	})
	_ = switchconf.AddRule(switchconf.Rule{
		Name: "spray-reorders", Severity: switchconf.Warning,
		Doc:      "Packets of a queue pair take different paths, and the receiver wants them in order.",
		Why:      "A go-back-N receiver takes what overtakes for a loss, and has everything since sent again.",
		Set:      "switch.balance.method: ecmp or flowlet",
		Scenario: "spray-reorders", Source: "InfiniBand Architecture, 9.7.5.2: out of order is NAK",
	})
	_ = switchconf.AddRule(switchconf.Rule{
		Name: "vxlan-twice", Severity: switchconf.Remark,
		Doc:      "Frames travel in VXLAN that the hosts made, and switches put them into another.",
		Why:      "Each takes 50 bytes of every frame.",
		Set:      "nic.encapsulation or switch.vtep, not both",
		Scenario: "vxlan-twice", Source: "RFC 7348, section 5",
	})
)

// scenarioRules applies them.
func (l *linter) scenarioRules() {
	add := func(rule, text string, from switchconf.Origin) {
		r, err := switchconf.LookupRule(rule)
		if err != nil {
			panic(err) // it is registered above
		}
		l.add(switchconf.Finding{Rule: r, Severity: r.Severity, From: from, Text: text, Set: r.Set})
	}
	seen := map[*SwitchSpec]bool{}
	for _, w := range l.w.swSpec {
		if w == nil || seen[w] {
			continue
		}
		seen[w] = true
		sw := l.switchPath(w)
		l.nics(func(n *NICSpec, nic string) {
			if w.Trust == "pcp" && n.Encapsulation != "vlan" {
				add("pcp-without-tag", "switches look at the priority of the VLAN tag, and frames of encapsulation "+n.Encapsulation+" have none", l.spec.origin(sw+".trust"))
			}
			if w.Balance.Method == "spray" {
				add("spray-reorders", "packets of a queue pair overtake each other, and with recovery "+n.Recovery+" whatever arrives out of order is sent again", l.spec.given(sw+".balance.method"))
			}
			if w.VTEP && n.Encapsulation == "vxlan" {
				add("vxlan-twice", "frames leave the hosts in VXLAN ("+nic+".encapsulation) and switches put them into another ("+sw+".vtep): one of the two is enough", l.spec.given(nic+".encapsulation", sw+".vtep"))
			}
		})
	}
}

// switchPath returns the key of a switch's values.
func (l *linter) switchPath(w *SwitchSpec) string {
	for k := range l.spec.Switches {
		if w == &l.spec.Switches[k].Switch {
			return "switches." + strconv.Itoa(k)
		}
	}
	return "switch"
}
