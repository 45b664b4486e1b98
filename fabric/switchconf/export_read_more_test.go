package switchconf

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
)

func init() {
	readers["vrp"] = readVRP
	readers["os10"] = readOS10
	readers["mlnx"] = readMlnx
	readers["dcb"] = readDCB
}

// readVRP reads profiles, then interfaces.
func readVRP(t require.TestingT, text string, _ int) facts {
	f := facts{}
	curves, pfc := map[string][3]string{}, map[string][]string{}
	var drop, lossless string
	i, trusts := -1, map[int]bool{}
	for _, line := range commands(text, "#") {
		var m map[string]string
		var ok bool
		match := func(pattern string) bool { m, ok = scan(pattern, line); return ok }
		kib := func(s string) int { return wholeNumber(s) * 1024 }
		switch {
		case line == "commit":
		case match(`drop-profile (?P<n>rdmasim(-\d+)?-q[0-7])`):
			drop = m["n"]
		case match(` ecn buffer-size low-limit (?P<a>\d+) high-limit (?P<b>\d+) discard-percentage (?P<p>\d+)`):
			curves[drop] = [3]string{m["a"], m["b"], m["p"] + "%"}
		case match(`dcb pfc (?P<n>rdmasim(-\d+)?)`):
			lossless = m["n"]
		case match(` priority (?P<k>[0-7])`):
			pfc[lossless] = append(pfc[lossless], m["k"])
		case match(`interface \d+GE1/0/(?P<i>\d+)`):
			i = wholeNumber(m["i"]) - 1
		case line == " trust dscp":
			trusts[i] = true
		case match(` qos queue (?P<q>[0-7]) wred (?P<n>rdmasim(-\d+)?-q[0-7])`):
			q, c := wholeNumber(m["q"]), curves[m["n"]]
			f.set(i, q, FieldKmin, c[0])
			f.set(i, q, FieldKmax, c[1])
			f.set(i, q, FieldPmax, c[2])
		case match(` qos queue [0-7] ecn`):
		case match(` dcb pfc enable (?P<n>rdmasim(-\d+)?) mode manual`):
			for _, k := range pfc[m["n"]] {
				f.set(i, wholeNumber(k), FieldPFC, "on")
			}
		case match(` dcb pfc buffer (?P<k>[0-7]) xoff static (?P<x>\d+) kbytes xon offset (?P<o>\d+) kbytes`):
			f.set(i, wholeNumber(m["k"]), FieldStatic, kib(m["x"]))
			if m["o"] != "0" {
				f.set(i, wholeNumber(m["k"]), FieldXonOffset, kib(m["o"]))
			}
		case match(` dcb pfc buffer (?P<k>[0-7]) hdrm (?P<x>\d+) kbytes`):
			n := wholeNumber(m["x"])
			require.True(t, n >= 16 && n <= 30720, line)
			f.set(i, wholeNumber(m["k"]), FieldHeadroom, kib(m["x"]))
		case match(` dcb pfc buffer (?P<k>[0-7]) guaranteed (?P<x>\d+) kbytes`):
			f.set(i, wholeNumber(m["k"]), FieldReserve, kib(m["x"]))
		default:
			require.Fail(t, "unknown line", "%q", line)
		}
	}
	for i := range trusts {
		for d := range 64 { // the default domain
			f.set(i, d/8, fmt.Sprintf("dscp %d", d), d/8)
		}
	}
	return f
}

// readOS10 reads maps and policies, and follows them from interfaces.
func readOS10(t require.TestingT, text string, _ int) facts {
	f := facts{}
	dscp, curves, pfc := map[string]map[string]string{}, map[string][3]string{}, map[string]facts{}
	queueOf, outs := map[string]string{}, map[string][]string{} // class map: queue; policy: class maps
	var kind, name, class, wred string
	i := -1
	for _, line := range commands(text, "!") {
		var m map[string]string
		var ok bool
		match := func(pattern string) bool { m, ok = scan(pattern, line); return ok }
		switch {
		case line == "copy running-configuration config://before-rdmasim.xml", line == " flowcontrol receive off", line == " flowcontrol transmit off", line == " priority-flow-control mode on", line == " random-detect ecn":
		case match(`trust dscp-map (?P<n>rdmasim(-\d+)?)`):
			name = m["n"]
			dscp[name] = map[string]string{}
		case match(` qos-group (?P<q>[0-7]) dscp (?P<d>[\d,]+)`):
			for d := range strings.SplitSeq(m["d"], ",") {
				dscp[name][d] = m["q"]
			}
		case match(`wred (?P<n>rdmasim(-\d+)?-q[0-7])`):
			wred = m["n"]
		case match(` random-detect color green minimum-threshold (?P<a>\d+) maximum-threshold (?P<b>\d+) drop-probability (?P<p>\d+)`):
			curves[wred] = [3]string{fmt.Sprint(wholeNumber(m["a"]) * 1024), fmt.Sprint(wholeNumber(m["b"]) * 1024), m["p"] + "%"}
		case match(`class-map type (?P<k>queuing|network-qos) (?P<n>rdmasim(-\d+)?-[qc][0-7])`):
			class = m["n"]
		case match(` match (queue|qos-group) (?P<q>[0-7])`):
			queueOf[class] = m["q"]
		case match(`policy-map type (?P<k>queuing|network-qos) (?P<n>rdmasim(-\d+)?-(out|pfc))`):
			kind, name = m["k"], m["n"]
			pfc[name] = facts{}
		case match(` class (?P<n>rdmasim(-\d+)?-[qc][0-7])`):
			class = m["n"]
			require.NotEmpty(t, queueOf[class])
		case match(`  random-detect (?P<n>rdmasim(-\d+)?-q[0-7])`):
			require.Equal(t, "queuing", kind)
			outs[name] = append(outs[name], queueOf[class], m["n"])
		case match(`  pause( buffer-size (?P<s>\d+) pause-threshold (?P<p>\d+) resume-threshold (?P<r>\d+))?`):
			if m["s"] != "" {
				k, s, p, r := wholeNumber(class[len(class)-1:]), wholeNumber(m["s"]), wholeNumber(m["p"]), wholeNumber(m["r"])
				require.True(t, r > 0 && r <= p && p < s, line)
				pfc[name].set(0, k, FieldHeadroom, (s-p)*1024)
				pfc[name].set(0, k, FieldReserve, p*1024)
				if p > r {
					pfc[name].set(0, k, FieldXonOffset, (p-r)*1024)
				}
			}
		case match(`  pfc-cos (?P<k>[0-7])`):
			require.Equal(t, class[len(class)-1:], m["k"])
			pfc[name].set(0, wholeNumber(m["k"]), FieldPFC, "on")
			pfc[name].set(0, wholeNumber(m["k"]), "of queue", queueOf[class])
		case match(`interface ethernet1/1/(?P<i>\d+)`):
			i = wholeNumber(m["i"]) - 1
		case match(` service-policy input type network-qos (?P<n>rdmasim(-\d+)?-pfc)`):
			f.spread(pfc[m["n"]], []int{i})
		case match(` service-policy output type queuing (?P<n>rdmasim(-\d+)?-out)`):
			for k := 0; k < len(outs[m["n"]]); k += 2 {
				q, c := wholeNumber(outs[m["n"]][k]), curves[outs[m["n"]][k+1]]
				f.set(i, q, FieldKmin, c[0])
				f.set(i, q, FieldKmax, c[1])
				f.set(i, q, FieldPmax, c[2])
			}
		case match(` trust-map dscp (?P<n>rdmasim(-\d+)?)`):
			for d, q := range dscp[m["n"]] {
				f.set(i, wholeNumber(q), "queue of dscp "+d, q)
			}
		default:
			require.Fail(t, "unknown line", "%q", line)
		}
	}
	return f
}

// readMlnx reads mlnx_qos commands.
func readMlnx(t require.TestingT, text string, _ int) facts {
	f := facts{}
	for _, line := range commands(text, "#") {
		m, ok := scan(`mlnx_qos -i eth(?P<i>\d+) (?P<r>.*)`, line)
		require.True(t, ok, "unknown line %q", line)
		i := wholeNumber(m["i"])
		if c, ok := scan(`--dscp2prio set,(?P<d>\d+),(?P<c>[0-7])`, m["r"]); ok {
			f.set(i, wholeNumber(c["c"]), "dscp "+c["d"], c["c"])
		} else if c, ok := scan(`--pfc (?P<l>[01](,[01]){7})`, m["r"]); ok {
			for k, on := range strings.Split(c["l"], ",") {
				if on == "1" {
					f.set(i, k, FieldPFC, "on")
				}
			}
		} else if c, ok := scan(`--cable_len (?P<m>\d+)`, m["r"]); ok {
			f.set(i, -1, FieldCable, metresOf(c["m"]+"m"))
		} else {
			require.Equal(t, "--trust dscp", m["r"], "unknown line %q", line)
		}
	}
	return f
}

// readDCB reads dcb and tc commands.
func readDCB(t require.TestingT, text string, _ int) facts {
	f := facts{}
	pairs := func(s string) map[string]string {
		out := map[string]string{}
		for _, p := range strings.Fields(s) {
			k, v, ok := strings.Cut(p, ":")
			require.True(t, ok, s)
			out[k] = v
		}
		return out
	}
	for _, line := range commands(text, "#") {
		if m, ok := scan(`dcb app replace dev swp(?P<i>\d+) dscp-prio (?P<l>[\d: ]+)`, line); ok {
			for d, c := range pairs(m["l"]) {
				f.set(wholeNumber(m["i"])-1, wholeNumber(c), "dscp "+d, c)
			}
		} else if m, ok := scan(`dcb pfc set dev swp(?P<i>\d+) prio-pfc (?P<l>[\w: ]+)`, line); ok {
			for k, on := range pairs(m["l"]) {
				if k != "all" {
					f.set(wholeNumber(m["i"])-1, wholeNumber(k), FieldPFC, on)
				}
			}
		} else if m, ok := scan(`dcb buffer set dev swp(?P<i>\d+) prio-buffer (?P<b>[\w: ]+) buffer-size (?P<s>[\d: ]+)`, line); ok {
			sizes := pairs(m["s"])
			for k, b := range pairs(m["b"]) {
				if k != "all" {
					f.set(wholeNumber(m["i"])-1, wholeNumber(k), FieldHeadroom, sizes[b])
				}
			}
		} else if m, ok := scan(`tc qdisc replace dev swp(?P<i>\d+) parent 1:(?P<b>[1-8]) handle (?P<h>\d+): red limit (?P<l>\d+) min (?P<a>\d+) max (?P<z>\d+) avpkt 1000 probability (?P<p>[\d.e-]+) ecn nodrop`, line); ok {
			q := 8 - wholeNumber(m["b"]) // band 0 is class 7
			require.Equal(t, 100+q, wholeNumber(m["h"]))
			require.Greater(t, wholeNumber(m["l"]), wholeNumber(m["z"]))
			var p float64
			_, err := fmt.Sscan(m["p"], &p)
			require.NoError(t, err)
			f.set(wholeNumber(m["i"])-1, q, FieldKmin, m["a"])
			f.set(wholeNumber(m["i"])-1, q, FieldKmax, m["z"])
			f.set(wholeNumber(m["i"])-1, q, FieldPmax, strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.6f", p*100), "0"), ".")+"%")
		} else {
			_, ok := scan(`tc qdisc replace dev swp\d+ root handle 1: ets bands 8 strict 8 priomap 7 6 5 4 3 2 1 0`, line)
			require.True(t, ok, "unknown line %q", line)
		}
	}
	return f
}
