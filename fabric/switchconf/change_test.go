package switchconf

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// applier enters lines on a device that has others, and returns what the device
// has then: a model of the vendor's language that shares nothing with the writer.
type applier func(t require.TestingT, has, enter []string) []string

var appliers = map[string]applier{
	"nxos":      nested("no ", `match dscp`, `class`, `policy-map`),
	"eos":       nested("no ", `qos map dscp`, `priority-flow-control priority`, `qos profile`, `uc-tx-queue`),
	"os10":      nested("no ", `qos-group`, `class`, `policy-map`, `wred`, `trust dscp-map`, `random-detect ecn`),
	"vrp":       nested("undo ", `priority`, `drop-profile`, `dcb pfc rdmasim`),
	"nvue":      flat("nv unset ", "nv set ", `qos pfc \S+ switch-priority`),
	"junos":     flat("delete ", "set ", `code-points`, `dscp code-point`),
	"ecnconfig": applySONiCCommands,
	"dcb":       applyDCB,
	"mlnx":      applyMlnx,
}

// block is a line of a device with those below it.
type block struct {
	text  string
	below []*block
}

func (n *block) lines(depth int, indents []string) (out []string) {
	for _, c := range n.below {
		out = append(append(out, indents[depth]+c.text), c.lines(depth+1, indents)...)
	}
	return out
}

// shapeOf is a line without its numbers and names: lines of one shape set the same.
func shapeOf(line string) string { return numbers.ReplaceAllString(line, "#") }

var numbers = regexp.MustCompile(`(RDMASIM|rdmasim)[A-Za-z0-9-]*|\d+(\.\d+)?`)

// nested is a language of blocks; lines of shapes that begin as adds stand
// beside each other.
func nested(no string, adds ...string) applier {
	return func(t require.TestingT, has, enter []string) []string {
		root, indents := &block{}, []string{"", "", "", "", ""}
		stack, depths := []*block{root}, []int{-1}
		for i, line := range append(slices.Clone(has), enter...) {
			text := strings.TrimLeft(line, " ")
			depth := len(line) - len(text)
			for depths[len(depths)-1] >= depth {
				stack, depths = stack[:len(stack)-1], depths[:len(depths)-1]
			}
			in := stack[len(stack)-1]
			indents[len(stack)-1] = line[:depth]
			if rest, ok := strings.CutPrefix(text, no); ok {
				n := len(in.below)
				in.below = slices.DeleteFunc(in.below, func(c *block) bool {
					return c.text == rest || strings.HasPrefix(c.text, rest+" ")
				})
				require.Less(t, len(in.below), n, "line %d takes back what is not there: %q", i-len(has), line)
				continue
			}
			k := slices.IndexFunc(in.below, func(c *block) bool { return c.text == text })
			single := !slices.ContainsFunc(adds, func(a string) bool { return strings.HasPrefix(text, a) })
			if k < 0 && single && !strings.HasPrefix(text, "interface") {
				same := func(c *block) bool { return shapeOf(c.text) == shapeOf(text) }
				for prefix, n := range map[string]int{"qos queue ": 4, "dcb pfc buffer ": 5} { // of one queue
					if strings.HasPrefix(text, prefix) {
						same = func(c *block) bool { return firstWords(c.text, n) == firstWords(text, n) }
					}
				}
				in.below = slices.DeleteFunc(in.below, func(c *block) bool { return len(c.below) == 0 && same(c) })
			}
			if k = slices.IndexFunc(in.below, func(c *block) bool { return c.text == text }); k < 0 {
				k = len(in.below)
				in.below = append(in.below, &block{text: text})
			}
			stack, depths = append(stack, in.below[k]), append(depths, depth)
		}
		slices.SortStableFunc(root.below, func(a, b *block) int { // readers want what is referred to first
			late := func(c *block) int {
				return strings.Count(c.text, "policy-map") + 2*strings.Count(c.text, "interface")
			}
			return late(a) - late(b)
		})
		return root.lines(0, indents)
	}
}

// firstWords returns the first n words of a line.
func firstWords(line string, n int) string {
	w := strings.Fields(line)
	return strings.Join(w[:min(n, len(w))], " ")
}

// flat is a language of paths; those that match adds hold several values.
func flat(no, set string, adds ...string) applier {
	many := regexp.MustCompile(strings.Join(adds, "|"))
	return func(t require.TestingT, has, enter []string) (out []string) {
		out = slices.Clone(has)
		for _, line := range enter {
			if rest, ok := strings.CutPrefix(line, no); ok {
				n := len(out)
				out = slices.DeleteFunc(out, func(l string) bool { return l == set+rest || strings.HasPrefix(l, set+rest+" ") })
				require.Less(t, len(out), n, "takes back what is not there: %q", line)
				continue
			}
			key := line[:strings.LastIndexByte(line, ' ')]
			if !many.MatchString(line) {
				out = slices.DeleteFunc(out, func(l string) bool { return l[:strings.LastIndexByte(l, ' ')] == key })
			}
			if i := strings.Index(line, " interpolate"); i > 0 { // lists of points only grow
				require.False(t, slices.ContainsFunc(out, func(l string) bool { return strings.HasPrefix(l, line[:i]+" ") }), line)
			}
			if !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
		slices.SortStableFunc(out, func(a, b string) int { // readers want what is referred to first
			late := func(l string) int {
				return strings.Count(l, "congestion-notification-profile") + strings.Count(l, "polling-interval") + 2*strings.Count(l, "robustness")
			}
			return late(a) - late(b)
		})
		return out
	}
}

func applySONiCCommands(t require.TestingT, has, enter []string) []string {
	out := slices.Clone(has)
	for _, line := range enter {
		words := strings.Fields(line)
		var gone func(l string) bool
		switch {
		case strings.HasSuffix(line, " off"):
			gone = func(l string) bool { return l == strings.TrimSuffix(line, " off")+" on" }
		case strings.HasPrefix(line, "sudo pfcwd stop "):
			gone = func(l string) bool {
				return strings.HasPrefix(l, "sudo pfcwd start ") && strings.Contains(l, " "+words[3]+" ")
			}
		case strings.HasPrefix(line, "sudo config buffer profile remove "):
			gone = func(l string) bool { return strings.HasPrefix(l, "sudo config buffer profile add "+words[5]+" ") }
		default:
			line = strings.Replace(line, " profile set ", " profile add ", 1)
			key := regexp.MustCompile(`^(sudo (ecnconfig|mmuconfig) -p \S+ |sudo config buffer profile add \S+ |sudo config interface cable_length \S+ |sudo pfcwd interval )`).FindString(line)
			if k := slices.IndexFunc(out, func(l string) bool { return key != "" && strings.HasPrefix(l, key) }); k >= 0 {
				out[k] = line
			} else if strings.HasPrefix(key, "sudo ecnconfig") { // what -q binds is what the profile is then
				out = slices.Insert(out, 0, line)
			} else {
				out = append(out, line)
			}
			continue
		}
		n := len(out)
		out = slices.DeleteFunc(out, gone)
		require.Less(t, len(out), n, line)
	}
	return out
}

func applyDCB(t require.TestingT, has, enter []string) []string {
	out := slices.Clone(has)
	for _, line := range enter {
		n := len(out)
		words := strings.Fields(line)
		head := func(k int) string { return strings.Join(words[:k], " ") + " " }
		switch {
		case strings.HasPrefix(line, "dcb app del "):
			out = slices.DeleteFunc(out, func(l string) bool { return l == strings.Replace(line, "app del", "app replace", 1) })
			require.Less(t, len(out), n, line)
		case strings.HasPrefix(line, "tc qdisc del "):
			out = slices.DeleteFunc(out, func(l string) bool { return strings.HasPrefix(l, strings.Replace(line, " del ", " replace ", 1)) })
			require.Less(t, len(out), n, line)
		case strings.HasPrefix(line, "dcb app"):
			out = append(out, line)
		default: // all of its kind
			k := map[string]int{"pfc": 5, "buffer": 5, "qdisc": 7}[words[1]]
			if words[1] == "qdisc" && words[5] == "root" {
				k = 6
			}
			out = slices.DeleteFunc(out, func(l string) bool { return strings.HasPrefix(l, head(k)) })
			if !strings.HasSuffix(line, "prio-pfc all:off") && !strings.HasSuffix(line, "buffer-size all:0") {
				out = append(out, line)
			}
		}
	}
	return out
}

func applyMlnx(t require.TestingT, has, enter []string) []string {
	out := slices.Clone(has)
	for _, line := range enter {
		n := len(out)
		if strings.Contains(line, "del,") {
			out = slices.DeleteFunc(out, func(l string) bool { return l == strings.Replace(line, "del,", "set,", 1) })
			require.Less(t, len(out), n, line)
			continue
		}
		key := strings.Join(strings.Fields(line)[:4], " ")
		if strings.Contains(line, "dscp2prio") {
			key = line[:strings.LastIndexByte(line, ',')+1]
		}
		out = slices.DeleteFunc(out, func(l string) bool { return strings.HasPrefix(l, key) })
		if !strings.HasSuffix(line, "--trust pcp") && !strings.HasSuffix(line, "--pfc 0,0,0,0,0,0,0,0") {
			out = append(out, line)
		}
	}
	return out
}

func textOf(lines []Line) (list []string) {
	for _, l := range lines {
		list = append(list, l.Text)
	}
	return list
}

// twoSwitches makes up a switch and another one that it may become: the same
// ports and interfaces.
func twoSwitches(seed uint64) (a, b []wantPort) {
	r := rand.New(rand.NewPCG(seed, 21))
	a = randomPorts(r)
	for i := range a {
		p := a[i]
		if other := randomPort(r); r.IntN(3) > 0 { // some things differ
			p.dscp, p.class[r.IntN(8)], p.class[r.IntN(8)] = other.dscp, other.class[r.IntN(8)], other.class[r.IntN(8)]
			p.detect, p.restore, p.action = other.detect, other.restore, other.action
		} else if r.IntN(2) == 0 { // thresholds alone
			for k := range p.class {
				p.class[k].kmin, p.class[k].kmax, p.class[k].pmax = other.class[k].kmin, other.class[k].kmax, other.class[k].pmax
			}
		}
		for k := range p.class { // queues and groups each once
			p.class[k].queue, p.class[k].group = a[i].class[k].queue, a[i].class[k].group
		}
		b = append(b, p)
	}
	return a, b
}

// Whatever two switches: what a change prints turns one into the other, its
// rollback turns it back, and where nothing differs it is empty.
func TestChangeLeadsFromOneToTheOther(t *testing.T) {
	n := uint64(60)
	if testing.Short() {
		n = 20
	}
	for _, format := range Renderers.Names() {
		apply := appliers[format]
		if format == "sonic-patch" {
			continue // below
		}
		require.NotNil(t, apply, "a format without an applier: %s", format)
		t.Run(format, func(t *testing.T) {
			e, err := Renderers.Lookup(format)
			require.NoError(t, err)
			r, err := e.Build(struct{}{})
			require.NoError(t, err)
			frames := r.(changer).dialect().frames
			plain := func(lines []Line) []string {
				return slices.DeleteFunc(textOf(lines), func(l string) bool { return slices.Contains(frames, l) })
			}
			for seed := range n {
				pa, pb := twoSwitches(seed)
				a, b := switchOf("a", pa), switchOf("b", pb)
				from, err := Render(format, a)
				require.NoError(t, err)
				to, err := Render(format, b)
				require.NoError(t, err)
				read := func(lines []string) facts { return readers[format](t, strings.Join(lines, "\n"), len(pa)) }
				for _, x := range []struct {
					was, will   *Switch
					has, wanted []Line
				}{{a, b, from.Config, to.Config}, {b, a, to.Config, from.Config}} {
					change, err := RenderChange(format, x.was, x.will)
					require.NoError(t, err)
					got := apply(t, plain(x.has), plain(change.Config))
					want, found := read(plain(x.wanted)), read(got)
					for key, v := range found { // what the format cannot take back is said
						if _, ok := want[key]; !ok && slices.ContainsFunc(change.NotExpressed, func(l Lack) bool { return l.Field == "line" }) {
							delete(found, key)
							_ = v
						}
					}
					if !assert.Equal(t, want, found, "seed %d", seed) {
						t.Fatalf("has\n%s\nchange\n%s\nwanted\n%s", strings.Join(plain(x.has), "\n"), change.Text(), strings.Join(plain(x.wanted), "\n"))
					}
				}
				same, err := RenderChange(format, a, switchOf("a", pa))
				require.NoError(t, err)
				require.Empty(t, same.Config)
				require.Empty(t, same.Rollback)
			}
		})
	}
}

// A SONiC change is a patch that turns one database into the other.
func TestSONiCChangeIsAPatch(t *testing.T) {
	type database = map[string]map[string]map[string]string
	read := func(sw *Switch) (db database) {
		text, _, err := SONiCConfig(sw)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &db))
		return db
	}
	for seed := range uint64(40) {
		pa, pb := twoSwitches(seed)
		a, b := switchOf("a", pa), switchOf("b", pb)
		r, err := RenderChange("sonic-patch", a, b)
		require.NoError(t, err)
		db, want := read(a), read(b)
		lines := textOf(r.Config)
		for i, l := range lines {
			if !strings.HasPrefix(l, "cat > ") {
				continue
			}
			end := i + slices.Index(lines[i:], "END_OF_PATCH")
			var ops []struct {
				Op, Path string
				Value    json.RawMessage
			}
			require.NoError(t, json.Unmarshal([]byte(strings.Join(lines[i+1:end], "\n")), &ops))
			for _, op := range ops {
				path := strings.Split(op.Path, "/")[1:]
				for k := range path {
					path[k] = strings.ReplaceAll(strings.ReplaceAll(path[k], "~1", "/"), "~0", "~")
				}
				switch {
				case op.Op == "remove" && len(path) == 2:
					require.Contains(t, db[path[0]], path[1])
					delete(db[path[0]], path[1])
				case op.Op == "remove":
					require.Contains(t, db[path[0]][path[1]], path[2])
					delete(db[path[0]][path[1]], path[2])
				case len(path) == 2:
					var fields map[string]string
					require.NoError(t, json.Unmarshal(op.Value, &fields))
					if db[path[0]] == nil {
						db[path[0]] = map[string]map[string]string{}
					}
					require.NotContains(t, db[path[0]], path[1])
					db[path[0]][path[1]] = fields
				default:
					var v string
					require.NoError(t, json.Unmarshal(op.Value, &v))
					_, there := db[path[0]][path[1]][path[2]]
					require.Equal(t, op.Op == "replace", there, op.Path)
					db[path[0]][path[1]][path[2]] = v
				}
			}
		}
		for _, x := range []database{db, want} {
			delete(x, "CABLE_LENGTH")
			for table, entries := range x {
				for _, fields := range entries {
					for f, v := range fields { // a 0 that is not written is a 0
						if v == "0" && table == "BUFFER_PROFILE" {
							delete(fields, f)
						}
					}
				}
				if len(entries) == 0 {
					delete(x, table)
				}
			}
		}
		require.Equal(t, want, db, "seed %d", seed)
	}
}
