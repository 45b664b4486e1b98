package switchconf

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

func init() {
	readers["sonic-patch"] = readPatch
	readers["ecnconfig"] = readEcnconfig
}

// commands returns the lines that are no comments.
func commands(text, comment string) (list []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if t := strings.TrimSpace(line); t != "" && !strings.HasPrefix(t, comment) {
			list = append(list, line)
		}
	}
	return list
}

var patterns = map[string]*regexp.Regexp{} // compiled once

// scan matches a line against a pattern with named parts.
func scan(pattern, line string) (map[string]string, bool) {
	re := patterns[pattern]
	if re == nil {
		re = regexp.MustCompile("^" + pattern + "$")
		patterns[pattern] = re
	}
	m := re.FindStringSubmatch(line)
	if m == nil {
		return nil, false
	}
	out := map[string]string{}
	for i, n := range re.SubexpNames() {
		if n != "" {
			out[n] = m[i]
		}
	}
	return out, true
}

// whole reads a number that a pattern has matched.
func wholeNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// database applies the patches of a script, as apply-patch would, to an empty
// database.
func database(t require.TestingT, text string) map[string]map[string]map[string]string {
	db := map[string]map[string]map[string]string{}
	lines := commands(text, "#")
	for i := 0; i < len(lines); i++ {
		switch {
		case lines[i] == "sudo config checkpoint before-rdmasim":
		case regexp.MustCompile(`^sudo config apply-patch rdmasim-\d\.json$`).MatchString(lines[i]):
		default:
			_, ok := scan(`cat > rdmasim-\d\.json <<'END_OF_PATCH'`, lines[i])
			require.True(t, ok, "%q", lines[i])
			end := slices.Index(lines[i:], "END_OF_PATCH")
			require.Positive(t, end)
			var ops []struct {
				Op, Path string
				Value    map[string]string
			}
			require.NoError(t, json.Unmarshal([]byte(strings.Join(lines[i+1:i+end], "\n")), &ops))
			for _, op := range ops {
				require.Equal(t, "add", op.Op)
				path := strings.Split(op.Path, "/")
				require.Len(t, path, 3)
				key := strings.ReplaceAll(strings.ReplaceAll(path[2], "~1", "/"), "~0", "~")
				if db[path[1]] == nil {
					db[path[1]] = map[string]map[string]string{}
				}
				db[path[1]][key] = op.Value
			}
			i += end
		}
	}
	return db
}

// portsOf returns the ports of a database in order of their numbers.
func portsOf(db map[string]map[string]map[string]string) []string {
	seen := map[string]bool{}
	for p := range db["PORT_QOS_MAP"] {
		seen[p] = true
	}
	list := slices.Collect(maps.Keys(seen))
	number := func(s string) int { n, _ := strconv.Atoi(strings.TrimPrefix(s, "Ethernet")); return n }
	sort.Slice(list, func(i, j int) bool { return number(list[i]) < number(list[j]) })
	return list
}

// readPatch finds facts in a database.
func readPatch(t require.TestingT, text string, _ int) facts {
	f, db := facts{}, database(t, text)
	for i, port := range portsOf(db) {
		m := db["PORT_QOS_MAP"][port]
		for d, c := range db["DSCP_TO_TC_MAP"][m["dscp_to_tc_map"]] {
			f.set(i, wholeNumber(c), "dscp "+d, c)
		}
		if cable := db["CABLE_LENGTH"]["AZURE"][port]; cable != "0m" && cable != "" {
			f.set(i, -1, FieldCable, metresOf(cable))
		}
		if w := db["PFC_WD"][port]; w["detection_time"] != "" {
			f.set(i, -1, FieldWatchdog, milliseconds(w["detection_time"]))
		}
		pfc := strings.Split(m["pfc_enable"], ",")
		for k := range 8 {
			readPatchClass(f, db, i, k, port, slices.Contains(pfc, strconv.Itoa(k)))
		}
	}
	return f
}

func readPatchClass(f facts, db map[string]map[string]map[string]string, i, k int, port string, pfc bool) {
	m, class := db["PORT_QOS_MAP"][port], strconv.Itoa(k)
	queue, group := db["TC_TO_QUEUE_MAP"][m["tc_to_queue_map"]][class], db["TC_TO_PRIORITY_GROUP_MAP"][m["tc_to_pg_map"]][class]
	q := db["QUEUE"][port+"|"+queue]
	w := db["WRED_PROFILE"][q["wred_profile"]]
	if w["wred_green_enable"] == "true" {
		f.set(i, k, FieldKmin, w["green_min_threshold"])
		f.set(i, k, FieldKmax, w["green_max_threshold"])
		f.set(i, k, FieldPmax, w["green_drop_probability"]+"%")
	}
	switch s := db["SCHEDULER"][q["scheduler"]]; s["type"] {
	case "STRICT":
		f.set(i, k, FieldStrict, "strict")
	case "DWRR":
		f.set(i, k, FieldWeight, s["weight"])
	}
	if queue != class && (pfc || w != nil) {
		f.set(i, k, FieldQueue, queue)
	}
	if !pfc {
		return
	}
	f.set(i, k, FieldPFC, "on")
	if group != class {
		f.set(i, k, FieldGroup, group)
	}
	p := db["BUFFER_PROFILE"][db["BUFFER_PG"][port+"|"+group]["profile"]]
	for field, key := range map[string]string{FieldHeadroom: "xoff", FieldXon: "xon", FieldXonOffset: "xon_offset", FieldReserve: "size", FieldStatic: "static_th"} {
		if v := p[key]; v != "" && v != "0" {
			f.set(i, k, field, v)
		}
	}
	if v := p["dynamic_th"]; v != "" {
		f.set(i, k, FieldAlpha, "2^"+v)
	}
}

// metresOf prints 1000m as lengths are printed, 1km.
func metresOf(s string) string {
	n := wholeNumber(strings.TrimSuffix(s, "m"))
	if n >= 1000 {
		return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", float64(n)/1000), "0"), ".") + "km"
	}
	return strconv.Itoa(n) + "m"
}

// milliseconds prints 1500 as durations are printed, 1.5s.
func milliseconds(s string) string {
	n := wholeNumber(s)
	if n >= 1000 {
		return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", float64(n)/1000), "0"), ".") + "s"
	}
	return strconv.Itoa(n) + "ms"
}

// readEcnconfig reads SONiC's commands. Queues of the hard-wired profile are
// those of every port.
func readEcnconfig(t require.TestingT, text string, ports int) facts {
	const name = `[A-Za-z_][A-Za-z0-9_-]*`
	f := facts{}
	number := map[string]int{}
	curves := map[string][3]string{}
	port := func(p string) int {
		if _, ok := number[p]; !ok {
			number[p] = len(number)
			if n, err := strconv.Atoi(strings.TrimPrefix(p, "Ethernet")); err == nil {
				number[p] = n / 4
			}
		}
		return number[p]
	}
	for _, line := range commands(text, "#") {
		var m map[string]string
		_, ok := scan(`sudo config checkpoint before-rdmasim`, line)
		if ok {
			continue
		}
		if m, ok = scan(`sudo ecnconfig -p (?P<p>`+name+`) -gmin (?P<a>\d+) -gmax (?P<b>\d+) -gdrop (?P<d>\d+)`, line); ok {
			require.LessOrEqual(t, wholeNumber(m["d"]), 100)
			curves[m["p"]] = [3]string{m["a"], m["b"], m["d"] + "%"}
		} else if m, ok = scan(`sudo ecnconfig -q (?P<q>[\d,]+) on`, line); ok {
			c := curves["AZURE_LOSSLESS"]
			for q := range strings.SplitSeq(m["q"], ",") {
				for i := range ports {
					f.set(i, wholeNumber(q), FieldKmin, c[0])
					f.set(i, wholeNumber(q), FieldKmax, c[1])
					f.set(i, wholeNumber(q), FieldPmax, c[2])
				}
			}
		} else if m, ok = scan(`sudo mmuconfig -p (?P<p>`+name+`) -a (?P<a>-?\d)`, line); ok {
			f["profile "+m["p"]] = m["a"]
		} else if m, ok = scan(`sudo config interface pfc priority (?P<p>`+name+`) (?P<k>[0-7]) on`, line); ok {
			f.set(port(m["p"]), wholeNumber(m["k"]), FieldPFC, "on")
		} else if m, ok = scan(`sudo config interface cable_length (?P<p>`+name+`) (?P<m>\d+m)`, line); ok {
			f.set(port(m["p"]), -1, FieldCable, metresOf(m["m"]))
		} else if m, ok = scan(`sudo pfcwd start --action (drop|forward|alert) (?P<p>`+name+`) (?P<d>\d+) --restoration-time \d+`, line); ok {
			f.set(port(m["p"]), -1, FieldWatchdog, milliseconds(m["d"]))
		} else if _, ok = scan(`sudo pfcwd interval \d+`, line); !ok {
			require.Fail(t, "unknown line", "%q", line)
		}
	}
	return f
}
