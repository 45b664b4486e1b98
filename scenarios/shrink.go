package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"rdmasim/scenarios/library"
	"rdmasim/sim"
)

// Shrink makes a scenario smaller while something about it stays as it is: it
// leaves out traffic, faults, rules and settings, makes the fabric smaller and
// the run shorter, and keeps what still shows it (delta debugging: Zeller and
// Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE
// Transactions on Software Engineering 28, 2002). The same scenario and budget
// give the same result.
type Shrink struct {
	Keep   func(s *Spec) bool // reports whether a candidate still shows it; it is called for valid scenarios
	Budget int                // calls of Keep

	Runs    int      // calls made
	Removed []string // what was left out or made smaller, in words

	src  *source
	file string
}

// Source returns the YAML of a scenario by file or by name in the library.
func Source(name string) (file string, data []byte, err error) {
	if _, err := os.Stat(name); err == nil {
		data, err := readRegular(name, MaxFile)
		return name, data, err
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	text, err := library.Get(name)
	if err != nil {
		_, err = Load(name, nil) // says what there is
		return "", nil, err
	}
	return library.File(name), text, nil
}

// Run shrinks a scenario and returns the YAML of the smallest one found,
// without comments of its own at the top. Settings are applied first.
func (k *Shrink) Run(file string, data []byte, settings []string) ([]byte, error) {
	src, err := readTree(file, data)
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		if err := src.set(s); err != nil {
			return nil, err
		}
	}
	k.src, k.file = src, file
	if s, err := k.parse(src.root); err != nil {
		return nil, err
	} else if k.Runs++; !k.Keep(s) {
		return nil, errors.New("the scenario does not show it")
	}
	for again := true; again && k.Runs < k.Budget; {
		before := len(k.Removed)
		k.lists()
		k.nodes()
		k.numbers()
		k.duration()
		k.keys()
		again = len(k.Removed) > before
	}
	k.merge()
	return encode(k.src.root)
}

// parse reads a tree as a scenario.
func (k *Shrink) parse(root *yaml.Node) (*Spec, error) {
	text, err := encode(root)
	if err != nil {
		return nil, err
	}
	return Parse(k.file, text)
}

func encode(root *yaml.Node) ([]byte, error) {
	bare := *root
	bare.HeadComment, bare.FootComment = "", ""
	if len(bare.Content) > 0 {
		first := *bare.Content[0]
		first.HeadComment = ""
		bare.Content = append([]*yaml.Node{&first}, bare.Content[1:]...)
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(&bare)
	return b.Bytes(), err
}

// try changes a copy of the tree and keeps it if it still shows it.
func (k *Shrink) try(what string, change func(root *yaml.Node) bool) bool {
	if k.Runs >= k.Budget {
		return false
	}
	root := cloneNode(k.src.root)
	if !change(root) {
		return false
	}
	s, err := k.parse(root)
	if err != nil {
		return false
	}
	if _, err := s.prepare(); err != nil {
		return false
	}
	k.Runs++
	if !k.Keep(s) {
		return false
	}
	k.src.root = root
	k.Removed = append(k.Removed, what)
	return true
}

func cloneNode(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, x := range n.Content {
		c.Content[i] = cloneNode(x)
	}
	return &c
}

// at walks to a path, nil where there is none.
func at(root *yaml.Node, path string) *yaml.Node {
	n := root
	for _, seg := range split(path) {
		if _, n = child(n, seg); n == nil {
			return nil
		}
	}
	return n
}

// each calls f for every node below path with its own path, outer ones first.
func each(n *yaml.Node, path string, f func(path string, n *yaml.Node)) {
	f(path, n)
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			each(n.Content[i+1], join(path, n.Content[i].Value), f)
		}
	case yaml.SequenceNode:
		for i, x := range n.Content {
			each(x, join(path, strconv.Itoa(i)), f)
		}
	}
}

// paths lists the paths of the tree for which keep is true.
func (k *Shrink) paths(keep func(path string, n *yaml.Node) bool) (list []string) {
	each(k.src.root, "", func(path string, n *yaml.Node) {
		if path != "" && keep(path, n) {
			list = append(list, path)
		}
	})
	return list
}

// lists leaves out items of lists: first all, then halves, then single ones.
func (k *Shrink) lists() {
	for _, path := range k.paths(func(path string, n *yaml.Node) bool {
		head, _, _ := strings.Cut(path, ".")
		return n.Kind == yaml.SequenceNode && len(n.Content) > 0 && head != "topology" && head != "expect" && head != "without"
	}) {
		n := at(k.src.root, path)
		if n == nil || n.Kind != yaml.SequenceNode {
			continue // gone with what it was in
		}
		for chunk := len(n.Content); chunk > 0; chunk /= 2 {
			for start := 0; start < len(at(k.src.root, path).Content); {
				list := at(k.src.root, path).Content
				end := min(start+chunk, len(list))
				what := fmt.Sprintf("%s: %s", path, describe(list[start:end]))
				if !k.try(what, func(root *yaml.Node) bool {
					m := at(root, path)
					m.Content = slices.Delete(m.Content, start, end)
					return true
				}) {
					start = end
				}
			}
		}
	}
}

// describe names items by their first word.
func describe(items []*yaml.Node) string {
	var names []string
	for _, n := range items {
		switch {
		case n.Kind == yaml.ScalarNode:
			names = append(names, n.Value)
		case n.Kind == yaml.MappingNode && len(n.Content) == 2:
			names = append(names, n.Content[0].Value)
		case n.Kind == yaml.MappingNode && len(n.Content) > 0:
			names = append(names, n.Content[0].Value+" "+scalarText(n.Content[1]))
		default:
			names = append(names, "an item")
		}
	}
	return some(names)
}

// nodes leaves nodes of a custom topology out, with their links.
func (k *Shrink) nodes() {
	const path = "topology.custom"
	for i := 0; ; {
		list := at(k.src.root, path+".nodes")
		if list == nil || i >= len(list.Content) {
			return
		}
		_, name := child(list.Content[i], "name")
		if name == nil || !k.try("node "+name.Value, func(root *yaml.Node) bool {
			nodes, links := at(root, path+".nodes"), at(root, path+".links")
			nodes.Content = slices.Delete(nodes.Content, i, i+1)
			if links != nil {
				links.Content = slices.DeleteFunc(links.Content, func(l *yaml.Node) bool {
					_, a := child(l, "a")
					_, b := child(l, "b")
					return a != nil && a.Value == name.Value || b != nil && b.Value == name.Value
				})
			}
			return true
		}) {
			i++
		}
	}
}

// fixed are numbers that are names or places, not amounts.
var fixedNumbers = []string{"seed", "priority", "dscp", "sport", "dport", "shift", "qp", "psn", "nth", "path_mtu"}

// numbers makes whole numbers of the topology and the traffic smaller, by
// bisection.
func (k *Shrink) numbers() {
	for _, path := range k.paths(func(path string, n *yaml.Node) bool {
		head, _, _ := strings.Cut(path, ".")
		last := path[strings.LastIndexByte(path, '.')+1:]
		v, err := strconv.Atoi(n.Value)
		return (head == "topology" || head == "traffic") && n.Kind == yaml.ScalarNode && err == nil && v > 1 && !slices.Contains(fixedNumbers, last)
	}) {
		n := at(k.src.root, path)
		if n == nil {
			continue
		}
		high, _ := strconv.Atoi(n.Value)
		set := func(v int) bool {
			return k.try(fmt.Sprintf("%s: %d instead of %d", path, v, high), func(root *yaml.Node) bool {
				at(root, path).Value = strconv.Itoa(v)
				return true
			})
		}
		step := 1
		if strings.HasSuffix(path, ".k") { // of a fat tree, even
			step = 2
		}
		low := step
		if set(low) {
			continue
		}
		for high-low > step {
			mid := low + (high-low)/2/step*step
			if mid == low {
				mid += step
			}
			if set(mid) {
				high = mid
			} else {
				low = mid
			}
		}
	}
}

// duration halves the run.
func (k *Shrink) duration() {
	for range 20 {
		n := at(k.src.root, "duration")
		if n == nil {
			return
		}
		d, err := sim.ParseDuration(n.Value)
		if err != nil || d < 2*sim.Microsecond {
			return
		}
		half := (d / 2).String()
		if !k.try(fmt.Sprintf("duration: %s instead of %s", half, n.Value), func(root *yaml.Node) bool {
			at(root, "duration").Value = half
			return true
		}) {
			return
		}
	}
}

// keys leaves settings out, so that their defaults hold.
func (k *Shrink) keys() {
	for _, path := range k.paths(func(path string, _ *yaml.Node) bool {
		head, rest, _ := strings.Cut(path, ".")
		switch head {
		case "topology", "traffic", "faults", "routes":
			return false
		case "name", "duration", "expect", "seed":
			return false
		}
		last := path[strings.LastIndexByte(path, '.')+1:]
		_, err := strconv.Atoi(rest)
		return last != "match" && last != "a" && last != "b" && err != nil
	}) {
		at0, key := "", path
		if i := strings.LastIndexByte(path, '.'); i >= 0 {
			at0, key = path[:i], path[i+1:]
		}
		k.try(path, func(root *yaml.Node) bool {
			n := at(root, at0)
			if n == nil || n.Kind != yaml.MappingNode {
				return false
			}
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == key {
					n.Content = slices.Delete(n.Content, i, i+2)
					return true
				}
			}
			return false
		})
	}
}

// merge keeps of several steps for one number or the duration the whole way.
func (k *Shrink) merge() {
	var out []string
	for _, s := range k.Removed {
		key, rest, ok := strings.Cut(s, ": ")
		if i := slices.IndexFunc(out, func(o string) bool { return strings.HasPrefix(o, key+": ") && strings.Contains(o, " instead of ") }); ok && i >= 0 && strings.Contains(rest, " instead of ") {
			now, _, _ := strings.Cut(rest, " instead of ")
			_, old, _ := strings.Cut(out[i], " instead of ")
			out[i] = fmt.Sprintf("%s: %s instead of %s", key, now, old)
			continue
		}
		out = append(out, s)
	}
	k.Removed = out
}
