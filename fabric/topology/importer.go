package topology

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"rdmasim/sim"
)

// Importer turns the bytes of a foreign file into a graph; file is its name,
// for errors, which say file, line, and what would be valid.
type Importer func(file string, data []byte) (*Graph, error)

// Importers holds every foreign format by name.
var Importers = sim.NewCatalogue[Importer]("topology format")

// Import reads a file in a format of Importers with its default parameters.
func Import(format, file string, data []byte) (*Graph, error) {
	e, err := Importers.Lookup(format)
	if err != nil {
		return nil, err
	}
	read, err := e.Build(e.Defaults)
	if err != nil {
		return nil, err
	}
	return read(file, data)
}

// maxImport bounds a foreign file, in bytes: 2 million links of 32 bytes.
const maxImport = 64 << 20

// DefaultHosts are the patterns of host names of formats that do not say what
// is a host: lower case, * and ? and [] as in file names.
const DefaultHosts = "h[0-9]*,host*,server*,srv*,node*,compute*,gpu*,dgx*,hgx*"

// wiring collects the nodes and links of a foreign file before it is known
// which nodes are hosts.
type wiring struct {
	file  string
	hosts []string // patterns of host names

	names  []string
	kinds  []string // host, switch, or "" while unknown
	degree []int
	index  map[string]int

	links []Wire
	ends  [][2]int
	used  map[portName]int // line on which a port has its link
}

type portName struct {
	node int
	name string
}

func newWiring(file string, data []byte, hosts string) (*wiring, error) {
	if err := checkImport(file, data); err != nil {
		return nil, err
	}
	w := &wiring{file: file, index: map[string]int{}, used: map[portName]int{}}
	for p := range strings.SplitSeq(hosts, ",") {
		if p = strings.ToLower(strings.TrimSpace(p)); p == "" {
			continue
		}
		if _, err := path.Match(p, ""); err != nil {
			return nil, fmt.Errorf("hosts: %q is not a pattern: want names with * ? and [a-z], separated by commas", p)
		}
		w.hosts = append(w.hosts, p)
	}
	return w, nil
}

func checkImport(file string, data []byte) error {
	if len(data) > maxImport {
		return fmt.Errorf("%s: %d bytes: want at most %d", file, len(data), maxImport)
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return fmt.Errorf("%s:%d: a zero byte: want a text file", file, 1+bytes.Count(data[:i], []byte("\n")))
	}
	return nil
}

func (w *wiring) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: "+format, append([]any{w.file, line}, args...)...)
}

// node returns the index of a node, new or known.
func (w *wiring) node(line int, name string) (int, error) {
	if i, ok := w.index[name]; ok {
		return i, nil
	}
	if err := checkName(name); err != nil {
		return 0, w.errorf(line, "node: %w", err)
	}
	if len(w.names) == MaxNodes {
		return 0, w.errorf(line, "more than %d nodes", MaxNodes)
	}
	i := len(w.names)
	w.index[name] = i
	w.names, w.kinds, w.degree = append(w.names, name), append(w.kinds, ""), append(w.degree, 0)
	return i, nil
}

// setKind notes that the file calls a node a host or a switch.
func (w *wiring) setKind(line, node int, kind string) error {
	if kind != "host" && kind != "switch" {
		return w.errorf(line, "kind of %s: %q: want host or switch", w.names[node], kind)
	}
	if old := w.kinds[node]; old != "" && old != kind {
		return w.errorf(line, "%s is a %s here and a %s above", w.names[node], kind, old)
	}
	w.kinds[node] = kind
	return nil
}

// link adds a link between two nodes of the file.
func (w *wiring) link(line, a, b int, wire Wire) error {
	label := w.names[a] + " - " + w.names[b]
	switch {
	case a == b:
		return w.errorf(line, "%s is linked with itself", w.names[a])
	case wire.Rate <= 0:
		return w.errorf(line, "link %s has no rate: want one such as 100Gbps", label)
	case wire.Delay <= 0 && wire.Cable <= 0:
		return w.errorf(line, "link %s has neither delay nor cable: want a delay such as 500ns or a cable such as 100m", label)
	case wire.Loss < 0 || wire.Loss > 1:
		return w.errorf(line, "loss of %s: %v: want a probability from 0 to 1", label, wire.Loss)
	case len(w.links) == MaxLinks:
		return w.errorf(line, "more than %d links", MaxLinks)
	}
	if wire.Delay != 0 && wire.Cable != 0 && wire.Delay != wire.Cable.Delay() {
		return w.errorf(line, "link %s: delay %v and cable %v (%v) contradict each other: give one of them", label, wire.Delay, wire.Cable, wire.Cable.Delay())
	}
	if wire.LAG != "" {
		if err := checkName(wire.LAG); err != nil {
			return w.errorf(line, "lag of %s: %w", label, err)
		}
	}
	for _, p := range []portName{{a, wire.AName}, {b, wire.BName}} {
		if p.name == "" {
			continue
		}
		if err := checkPortName(p.name); err != nil {
			return w.errorf(line, "%s: %w", w.names[p.node], err)
		}
		if old, ok := w.used[p]; ok {
			return w.errorf(line, "port %s of %s has a link on line %d already", p.name, w.names[p.node], old)
		}
		w.used[p] = line
	}
	w.degree[a]++
	w.degree[b]++
	w.links, w.ends = append(w.links, wire), append(w.ends, [2]int{a, b})
	return nil
}

// graph decides what is a host and builds the graph; explain says how the
// format names the kind of a node.
func (w *wiring) graph(explain string) (*Graph, error) {
	b := NewBuilder(graphName(w.file))
	for i, name := range w.names {
		kind := w.kinds[i]
		if kind == "" && w.isHost(name) {
			kind = "host"
		}
		if kind == "" && w.degree[i] == 1 {
			return nil, fmt.Errorf("%s: is %s, which has one link, a host? Its name matches none of %s: %s", w.file, name, strings.Join(w.hosts, ", "), explain)
		}
		if kind == "host" {
			b.AddHost(name)
		} else {
			b.AddSwitch(name, 0, -1)
		}
	}
	for i, wire := range w.links {
		b.Connect(w.ends[i][0], w.ends[i][1], wire)
	}
	g, err := b.Graph()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.file, err)
	}
	return g, nil
}

func (w *wiring) isHost(name string) bool {
	name = strings.ToLower(name)
	for _, p := range w.hosts {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}

// graphName is the file's name without folders and ending.
func graphName(file string) string {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	if name := strings.TrimSuffix(base, path.Ext(base)); name != "" && name != "." && name != "/" {
		return name
	}
	return "imported"
}

// setWire reads one property of a link as text; ok is false for keys that are
// not properties of links.
func setWire(w *Wire, key, value string) (ok bool, err error) {
	switch key {
	case "rate":
		w.Rate, err = sim.ParseRate(value)
	case "delay":
		w.Delay, err = sim.ParseDuration(value)
	case "cable":
		w.Cable, err = sim.ParseLength(value)
	case "loss":
		var r sim.Ratio
		r, err = sim.ParseRatio(value)
		w.Loss = float64(r)
	case "lag":
		w.LAG = value
	default:
		return false, nil
	}
	return true, err
}
