package switchconf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

func init() {
	readers["nvue"] = readNVUE
	readers["nxos"] = readNXOS
	readers["eos"] = readEOS
	readers["junos"] = readJunos
}

// interfaces expands a list such as swp1-3,swp7 into numbers from 0.
func interfaces(t require.TestingT, prefix, list string) (ports []int) {
	for part := range strings.SplitSeq(list, ",") {
		rest, ok := strings.CutPrefix(part, prefix)
		require.True(t, ok, list)
		a, b, ranged := strings.Cut(rest, "-")
		if !ranged {
			b = a
		}
		for n := wholeNumber(a); n <= wholeNumber(b); n++ {
			ports = append(ports, n-1)
		}
	}
	return ports
}

func all(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// readNVUE reads nv set commands: profiles first, then where they are bound;
// the default profile holds for every port that no other is bound to.
func readNVUE(t require.TestingT, text string, ports int) facts {
	f := facts{}
	curves, pfc := map[string]facts{}, map[string]facts{}
	bound := map[string][]int{}
	var watchdog []int
	poll, robust := 0, 0
	at := func(m map[string]facts, name string) facts {
		if m[name] == nil {
			m[name] = facts{}
		}
		return m[name]
	}
	for _, line := range commands(text, "#") {
		if line == "nv config apply" || line == "nv set qos mapping default-global trust l3" {
			continue
		}
		if m, ok := scan(`nv set qos mapping default-global dscp (?P<d>\d+) switch-priority (?P<c>[0-7])`, line); ok {
			for i := range ports {
				f.set(i, wholeNumber(m["c"]), "dscp "+m["d"], m["c"])
			}
		} else if m, ok := scan(`nv set qos congestion-control (?P<n>[a-z0-9-]+) traffic-class (?P<q>[0-7]) (?P<k>ecn|min-threshold|max-threshold|probability) (?P<v>\d+|enable)`, line); ok {
			field := map[string]string{"min-threshold": FieldKmin, "max-threshold": FieldKmax, "probability": FieldPmax}[m["k"]]
			if field == FieldPmax {
				m["v"] += "%"
			}
			if field != "" {
				at(curves, m["n"]).set(0, wholeNumber(m["q"]), field, m["v"])
			}
		} else if m, ok := scan(`nv set qos pfc (?P<n>[a-z0-9-]+) switch-priority (?P<k>[0-7])`, line); ok {
			at(pfc, m["n"]).set(0, wholeNumber(m["k"]), FieldPFC, "on")
		} else if m, ok := scan(`nv set qos pfc (?P<n>[a-z0-9-]+) cable-length (?P<m>\d+)`, line); ok {
			at(pfc, m["n"]).set(0, -1, FieldCable, metresOf(m["m"]))
		} else if m, ok := scan(`nv set interface (?P<i>[a-z0-9,-]+) qos (?P<k>congestion-control|pfc) profile (?P<n>[a-z0-9-]+)`, line); ok {
			bound[m["k"]+" "+m["n"]] = interfaces(t, "swp", m["i"])
		} else if m, ok := scan(`nv set interface (?P<i>[a-z0-9,-]+) qos pfc-watchdog`, line); ok {
			watchdog = append(watchdog, interfaces(t, "swp", m["i"])...)
		} else if m, ok := scan(`nv set qos pfc-watchdog polling-interval (?P<n>\d+)`, line); ok {
			poll = wholeNumber(m["n"])
		} else if m, ok := scan(`nv set qos pfc-watchdog robustness (?P<n>\d+)`, line); ok {
			robust = wholeNumber(m["n"])
			for _, i := range watchdog {
				f.set(i, -1, FieldWatchdog, milliseconds(strconv.Itoa(poll*robust)))
			}
			watchdog = nil
		} else {
			_, ok := scan(`nv set qos pfc [a-z0-9-]+ (rx|tx) enable`, line)
			require.True(t, ok, "unknown line %q", line)
		}
	}
	for kind, profiles := range map[string]map[string]facts{"congestion-control": curves, "pfc": pfc} {
		for name, facts := range profiles {
			where := bound[kind+" "+name]
			if name == "default-global" {
				where = all(ports)
			}
			f.spread(facts, where)
		}
	}
	return f
}

// spread copies the facts of port 0 to ports.
func (f facts) spread(of facts, ports []int) {
	for key, v := range of {
		_, rest, _ := strings.Cut(key, "/")
		for _, i := range ports {
			f[fmt.Sprintf("%d/%s", i, rest)] = v
		}
	}
}

// readNXOS reads class maps and policy maps, and follows them from interfaces.
func readNXOS(t require.TestingT, text string, _ int) facts {
	f := facts{}
	dscp := map[string][]string{}   // of class maps
	groups := map[string][]string{} // class map, queue by input policy
	curves := map[string]facts{}    // by output policy, class = queue
	pauses := map[string]facts{}    // by pause policy, class = queue
	pfcOf := map[int]int{}          // priority by queue
	var policy, class string
	var where []int
	const name = `[A-Z0-9-]+(IN|OUT|PAUSE|NQ|C[0-7])`
	queueOf := func(s string) int {
		if s == "-default" {
			return 0
		}
		return wholeNumber(s)
	}
	binds := map[int]*binding{}
	for _, line := range commands(text, "!") {
		var m map[string]string
		var ok bool
		match := func(pattern string) bool { m, ok = scan(pattern, line); return ok }
		switch {
		case line == "checkpoint before-rdmasim", line == "system qos", line == "  service-policy type network-qos RDMASIM-NQ":
		case match(`class-map type qos match-any (?P<n>` + name + `)`):
			class = m["n"]
		case match(`  match dscp (?P<d>[\d,]+)`):
			dscp[class] = strings.Split(m["d"], ",")
		case match(`policy-map type (qos|network-qos|queuing) (?P<n>` + name + `)`):
			policy = m["n"]
		case match(`  class (?P<n>` + name + `)`):
			class = m["n"]
		case match(`    set qos-group (?P<q>[0-7])`):
			groups[policy] = append(groups[policy], class, m["q"])
		case match(`  class type network-qos c-8q-nq(?P<q>-default|[1-7])`), match(`  class type queuing c-out-8q-q(?P<q>-default|[1-7])`), match(`  class type queuing c-in-q(?P<q>[1-7])`):
			class = m["q"]
		case match(`    pause pfc-cos (?P<k>[0-7])`):
			pfcOf[queueOf(class)] = wholeNumber(m["k"])
		case match(`    random-detect minimum-threshold (?P<a>\d+) bytes maximum-threshold (?P<b>\d+) bytes drop-probability (?P<p>\d+) weight 0 ecn`):
			if curves[policy] == nil {
				curves[policy] = facts{}
			}
			curves[policy].set(0, queueOf(class), FieldKmin, m["a"])
			curves[policy].set(0, queueOf(class), FieldKmax, m["b"])
			curves[policy].set(0, queueOf(class), FieldPmax, m["p"]+"%")
		case match(`    pause buffer-size (?P<s>\d+) pause-threshold (?P<p>\d+) resume-threshold (?P<r>\d+)`):
			if pauses[policy] == nil {
				pauses[policy] = facts{}
			}
			s, p, r := wholeNumber(m["s"]), wholeNumber(m["p"]), wholeNumber(m["r"])
			require.Zero(t, s%208+p%208+r%208, line)
			require.True(t, s >= 27456 && p >= 12480 && r >= 12480 && r <= p && p < s, line)
			pauses[policy].set(0, queueOf(class), FieldHeadroom, s-p)
			pauses[policy].set(0, queueOf(class), FieldReserve, p)
			if p > r {
				pauses[policy].set(0, queueOf(class), FieldXonOffset, p-r)
			}
		case match(`interface (?P<i>[A-Za-z0-9/,-]+)`):
			where = interfaces(t, "Ethernet1/", m["i"])
		case match(`  service-policy type (?P<k>qos input|queuing output|queuing input) (?P<n>` + name + `)`), match(`  priority-flow-control (?P<k>mode) on`), match(`  priority-flow-control (?P<k>watch-dog-interval) on`):
			for _, i := range where {
				if binds[i] == nil {
					binds[i] = &binding{}
				}
				switch m["k"] {
				case "qos input":
					binds[i].in = m["n"]
				case "queuing output":
					binds[i].out = m["n"]
				case "queuing input":
					binds[i].pause = m["n"]
				case "mode":
					binds[i].pfc = true
				}
			}
		default:
			require.Fail(t, "unknown line", "%q", line)
		}
	}
	nxosFacts(f, binds, groups, dscp, curves, pauses, pfcOf)
	return f
}

// binding is what one interface of NX-OS is bound to.
type binding struct {
	in, out, pause string
	pfc            bool
}

// nxosFacts follows policies to interfaces: a class map ends in its class, and
// its QoS group is the queue.
func nxosFacts(f facts, binds map[int]*binding, groups, dscp map[string][]string, curves, pauses map[string]facts, pfcOf map[int]int) {
	for i, b := range binds {
		g := groups[b.in]
		for k := 0; k+1 < len(g); k += 2 {
			class := g[k][len(g[k])-1:]
			for _, d := range dscp[g[k]] {
				f.set(i, wholeNumber(class), "dscp "+d, class)
			}
			_, lossless := pfcOf[wholeNumber(g[k+1])]
			_, marks := curves[b.out]["0/"+g[k+1]+"/"+FieldPmax]
			if g[k+1] != class && (marks || lossless && b.pfc) {
				f.set(i, wholeNumber(class), FieldQueue, g[k+1])
			}
		}
		f.spread(curves[b.out], []int{i})
		f.spread(pauses[b.pause], []int{i})
		if b.pfc {
			for q := range pfcOf {
				f.set(i, q, FieldPFC, "on")
			}
		}
	}
}

// readEOS reads maps and QoS profiles.
func readEOS(t require.TestingT, text string, ports int) facts {
	f := facts{}
	profiles := map[string]facts{}
	profile, queue := "", 0
	var port int
	for _, line := range commands(text, "!") {
		var m map[string]string
		var ok bool
		match := func(pattern string) bool { m, ok = scan(pattern, line); return ok }
		switch {
		case line == "configure checkpoint save before-rdmasim", line == "   qos trust dscp", line == "   priority-flow-control on", line == "priority-flow-control pause watchdog action drop":
		case match(`qos map dscp (?P<d>[\d ]+) to traffic-class (?P<c>[0-7])`):
			for _, d := range strings.Fields(m["d"]) {
				for i := range ports {
					f.set(i, wholeNumber(m["c"]), "dscp "+d, m["c"])
				}
			}
		case match(`qos profile (?P<n>RDMASIM[0-9-]*)`):
			profile = m["n"]
			profiles[profile] = facts{}
		case match(`   priority-flow-control priority (?P<k>[0-7]) no-drop`):
			profiles[profile].set(0, wholeNumber(m["k"]), FieldPFC, "on")
		case match(`   (uc-)?tx-queue (?P<q>[0-7])`):
			queue = wholeNumber(m["q"])
		case match(`      random-detect ecn minimum-threshold (?P<a>\d+) bytes maximum-threshold (?P<b>\d+) bytes max-mark-probability (?P<p>\d+) weight 0`):
			profiles[profile].set(0, queue, FieldKmin, m["a"])
			profiles[profile].set(0, queue, FieldKmax, m["b"])
			profiles[profile].set(0, queue, FieldPmax, m["p"]+"%")
		case match(`interface Ethernet(?P<i>\d+)/1`):
			port = wholeNumber(m["i"]) - 1
		case match(`   service-profile (?P<n>RDMASIM[0-9-]*)`):
			f.spread(profiles[m["n"]], []int{port})
		case match(`priority-flow-control pause watchdog default timeout (?P<s>\d+\.\d{3})`):
			s, err := strconv.ParseFloat(m["s"], 64)
			require.NoError(t, err)
			for i := range ports {
				f.set(i, -1, FieldWatchdog, milliseconds(strconv.Itoa(int(s*1000+0.5))))
			}
		case match(`priority-flow-control pause watchdog default (recovery-time|polling-interval) \d+\.\d{3}`):
		default:
			require.Fail(t, "unknown line", "%q", line)
		}
	}
	return f
}

// readJunos reads set commands.
func readJunos(t require.TestingT, text string, _ int) facts {
	f := facts{}
	const name = `RDMASIM(-\d+)?`
	byName := map[string]facts{} // of a group of ports
	at := func(n string) facts {
		if byName[n] == nil {
			byName[n] = facts{}
		}
		return byName[n]
	}
	queues := map[string]string{}
	code := func(s string) string {
		n, err := strconv.ParseInt(s, 2, 64)
		require.NoError(t, err)
		return fmt.Sprint(n)
	}
	classOf := map[string]string{} // by group and DSCP
	bound := map[string][]int{}
	for _, full := range commands(text, "#") {
		if full == "commit confirmed 10" {
			continue
		}
		line, ok := strings.CutPrefix(full, "set class-of-service ")
		require.True(t, ok, full)
		var m map[string]string
		match := func(pattern string) bool { m, ok = scan(pattern, line); return ok }
		switch {
		case match(`forwarding-classes class (?P<n>` + name + `)-FC(?P<c>[0-7]) queue-num (?P<q>[0-7])(?P<l> no-loss)?`):
			queues[m["n"]+m["c"]] = m["q"]
		case match(`forwarding-classes class (?P<n>` + name + `)-FC(?P<c>[0-7]) pfc-priority (?P<k>[0-7])`):
			require.Equal(t, m["c"], m["k"])
		case match(`classifiers dscp (?P<n>` + name + `) forwarding-class ` + name + `-FC(?P<c>[0-7]) loss-priority low code-points (?P<b>[01]{6})`):
			at(m["n"]).set(0, wholeNumber(m["c"]), "dscp "+code(m["b"]), m["c"])
			classOf[m["n"]+" "+code(m["b"])] = m["c"]
		case match(`drop-profiles (?P<n>` + name + `)-DP(?P<c>[0-7]) interpolate fill-level \[ (?P<a>\d+) (?P<b>\d+) \] drop-probability \[ 0 (?P<p>\d+) \]`):
			at(m["n"]).set(0, wholeNumber(m["c"]), "fill kmin", m["a"])
			at(m["n"]).set(0, wholeNumber(m["c"]), "fill kmax", m["b"])
			at(m["n"]).set(0, wholeNumber(m["c"]), FieldPmax, m["p"]+"%")
		case match(`schedulers ` + name + `-S[0-7] (explicit-congestion-notification|drop-profile-map loss-priority any protocol any drop-profile ` + name + `-DP[0-7])`):
		case match(`scheduler-maps ` + name + ` forwarding-class ` + name + `-FC[0-7] scheduler ` + name + `-S[0-7]`):
		case match(`congestion-notification-profile (?P<n>` + name + `) input dscp code-point (?P<b>[01]{6}) pfc`):
			class := classOf[m["n"]+" "+code(m["b"])]
			require.NotEmpty(t, class)
			at("pfc"+m["n"]).set(0, wholeNumber(class), FieldPFC, "on")
		case match(`congestion-notification-profile (?P<n>` + name + `) input cable-length (?P<m>\d+)`):
			at("pfc"+m["n"]).set(0, -1, FieldCable, metresOf(m["m"]))
		case match(`interfaces et-0/0/(?P<i>\d+) (?P<k>congestion-notification-profile|scheduler-map|unit 0 classifiers dscp) (?P<n>` + name + `)`):
			n := m["n"]
			if m["k"] == "congestion-notification-profile" {
				n = "pfc" + n
			}
			for _, n := range []string{n, m["n"]} {
				if i := wholeNumber(m["i"]); !slices.Contains(bound[n], i) {
					bound[n] = append(bound[n], i)
				}
			}
		default:
			require.Fail(t, "unknown line", "%q", line)
		}
	}
	for key, q := range queues {
		n, class := key[:len(key)-1], key[len(key)-1:]
		if q != class {
			at(n).set(0, wholeNumber(class), FieldQueue, q)
		}
	}
	for n, facts := range byName {
		f.spread(facts, bound[n])
	}
	return f
}
