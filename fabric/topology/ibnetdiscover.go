package topology

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"rdmasim/sim"
)

// IBNetDiscoverParams says how the output of ibnetdiscover (infiniband-diags)
// is read. Switches and adapters are named by their node descriptions, with the
// GUID added where several nodes have the same; rates are data rates.
type IBNetDiscoverParams struct {
	Delay   sim.Duration `key:"delay" doc:"propagation delay of every link, which the format does not know"`
	Servers bool         `key:"servers" doc:"adapters of one server (\"NAME HCA-1\", \"NAME mlx5_0\") become one host with several ports"`
}

var _ = sim.Register(Importers, "ibnetdiscover", "output of ibnetdiscover: switches, adapters and routers of an InfiniBand subnet",
	IBNetDiscoverParams{Delay: DefaultDelay}, nil,
	func(p IBNetDiscoverParams) (Importer, error) { return p.read, nil })

// ibLane is the data rate of one lane by the name of the signalling rate: 8b/10b
// coding up to QDR, 64b/66b from FDR10 on (InfiniBand Architecture
// Specification, volume 2; FDR is 14.0625 GBd).
var ibLane = map[string]sim.Rate{
	"SDR": 2 * sim.Gbps, "DDR": 4 * sim.Gbps, "QDR": 8 * sim.Gbps,
	"FDR10": 10 * sim.Gbps, "FDR": 14_062_500_000 * 64 / 66, "EDR": 25 * sim.Gbps,
	"HDR": 50 * sim.Gbps, "NDR": 100 * sim.Gbps, "XDR": 200 * sim.Gbps,
}

const ibSpeeds = "4xSDR, 4xDDR, 4xQDR, 4xFDR10, 4xFDR, 4xEDR, 4xHDR, 4xNDR or 4xXDR (width 1x, 2x, 4x, 8x or 12x)"

// ibRate returns the data rate of a link such as 4xNDR.
func ibRate(text string) (sim.Rate, bool) {
	width, speed, ok := strings.Cut(text, "x")
	lane, known := ibLane[speed]
	if !ok || !known {
		return 0, false
	}
	switch width {
	case "1", "2", "4", "8", "12":
		n, _ := strconv.Atoi(width)
		return sim.Rate(n) * lane, true
	}
	return 0, false
}

// ibNode is one block of the file.
type ibNode struct {
	id          string // S-guid, H-guid or R-guid
	description string
	kind        Kind
	line        int
	name        string // in the graph
	grouped     bool   // with the other adapters of its server
	index       int
}

// ibPort is one line of a block: what is at the other end of a port.
type ibPort struct {
	node     int
	port     int
	peerID   string
	peerPort int
	rate     sim.Rate
	line     int
}

// ibFile is the file as read.
type ibFile struct {
	file  string
	nodes []ibNode
	byID  map[string]int
	ports []ibPort
	at    map[[2]int]int // node and port -> index in ports
}

func (p IBNetDiscoverParams) read(file string, data []byte) (*Graph, error) {
	if err := checkImport(file, data); err != nil {
		return nil, err
	}
	if p.Delay <= 0 {
		return nil, fmt.Errorf("delay: %v: want more than 0, for example 500ns", p.Delay)
	}
	f := &ibFile{file: file, byID: map[string]int{}, at: map[[2]int]int{}}
	line := 0
	for text := range strings.SplitSeq(string(data), "\n") {
		line++
		if err := f.line(line, strings.TrimRight(text, "\r \t")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, line, err)
		}
	}
	if len(f.nodes) == 0 {
		return nil, fmt.Errorf("%s: neither Switch nor Ca in the file: want the output of ibnetdiscover", file)
	}
	return f.graph(p)
}

// line reads one line of the file.
func (f *ibFile) line(line int, text string) error {
	word, rest, _ := strings.Cut(text, "\t")
	switch {
	case text == "" || text[0] == '#':
		return nil
	case text[0] == '[':
		return f.port(line, text)
	case word == "Switch" || word == "Ca" || word == "Rt":
		return f.node(line, word, rest)
	case strings.HasPrefix(text, "Chassis "):
		return nil
	}
	for _, key := range []string{"vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid="} {
		if strings.HasPrefix(text, key) {
			return nil
		}
	}
	return fmt.Errorf("%.60q is no line of ibnetdiscover: want Switch, Ca, Rt, a port such as [1], vendid=, devid=, sysimgguid= or ...guid=", text)
}

// node reads `65 "S-guid"   # "description" ...` after Switch, Ca or Rt.
func (f *ibFile) node(line int, word, rest string) error {
	id, comment, ok := cutQuoted(rest)
	if !ok || id == "" {
		return fmt.Errorf("%s without a name: want for example %s 36 \"S-0002c90000000001\" # \"leaf1\"", word, word)
	}
	if old, ok := f.byID[id]; ok {
		return fmt.Errorf("node %.60q has a block on line %d already", id, f.nodes[old].line)
	}
	if len(f.nodes) == MaxNodes {
		return fmt.Errorf("more than %d nodes", MaxNodes)
	}
	n := ibNode{id: id, line: line, kind: Switch}
	if word == "Ca" {
		n.kind = Host
	}
	n.description, _ = betweenQuotes(comment)
	f.byID[id] = len(f.nodes)
	f.nodes = append(f.nodes, n)
	return nil
}

// port reads `[1](guid) "H-guid"[1](guid)  # ... 4xNDR`.
func (f *ibFile) port(line int, text string) error {
	const want = `want for example [1] "S-0002c90000000001"[7] # "leaf1" lid 3 4xEDR`
	if len(f.nodes) == 0 {
		return fmt.Errorf("a port before the first Switch or Ca")
	}
	number, rest, ok := cutPort(text)
	if !ok {
		return fmt.Errorf("%.60q has no port number from 1 to 254: %s", text, want)
	}
	peer, rest, ok := cutQuoted(rest)
	if !ok {
		return fmt.Errorf("port %d names no neighbour: %s", number, want)
	}
	peerPort, rest, ok := cutPort(rest)
	if !ok {
		return fmt.Errorf("port %d: no port number from 1 to 254 after %.60q: %s", number, peer, want)
	}
	p := ibPort{node: len(f.nodes) - 1, port: number, peerID: peer, peerPort: peerPort, line: line}
	speeds := rest[strings.LastIndexByte(rest, '"')+1:]
	for word := range strings.FieldsSeq(speeds) {
		if r, ok := ibRate(word); ok {
			p.rate = r
		}
	}
	if p.rate == 0 {
		return fmt.Errorf("port %d has no known rate in %.60q: want one of %s", number, strings.TrimSpace(speeds), ibSpeeds)
	}
	key := [2]int{p.node, number}
	if old, ok := f.at[key]; ok {
		return fmt.Errorf("port %d is on line %d already", number, f.ports[old].line)
	}
	if len(f.ports) == 2*MaxLinks {
		return fmt.Errorf("more than %d links", MaxLinks)
	}
	f.at[key] = len(f.ports)
	f.ports = append(f.ports, p)
	return nil
}

// cutPort reads [n] and what may follow it: [ext n] and (guid).
func cutPort(s string) (port int, rest string, ok bool) {
	const maxPort = 254 // IBTA volume 1: PortInfo.LocalPortNum has 8 bits, 255 is reserved
	s = strings.TrimLeft(s, " \t")
	if !strings.HasPrefix(s, "[") {
		return 0, s, false
	}
	text, rest, ok := strings.Cut(s[1:], "]")
	port, err := strconv.Atoi(text)
	if !ok || err != nil || port < 1 || port > maxPort {
		return 0, s, false
	}
	for {
		rest = strings.TrimLeft(rest, " \t")
		end := ""
		switch {
		case strings.HasPrefix(rest, "[ext"):
			end = "]"
		case strings.HasPrefix(rest, "("):
			end = ")"
		default:
			return port, rest, true
		}
		if _, rest, ok = strings.Cut(rest, end); !ok {
			return 0, s, false
		}
	}
}

// cutQuoted returns what stands between the first two quotes of s, and the rest.
func cutQuoted(s string) (text, rest string, ok bool) {
	_, s, ok = strings.Cut(s, `"`)
	if !ok {
		return "", "", false
	}
	return strings.Cut(s, `"`)
}

// betweenQuotes returns what stands between the first and the last quote of s.
func betweenQuotes(s string) (string, bool) {
	i, j := strings.IndexByte(s, '"'), strings.LastIndexByte(s, '"')
	if i == j {
		return "", false
	}
	return s[i+1 : j], true
}

// graph checks that both ends of every link agree and builds the graph.
func (f *ibFile) graph(p IBNetDiscoverParams) (*Graph, error) {
	f.nameNodes(p.Servers)
	b := NewBuilder(graphName(f.file))
	for i := range f.nodes {
		n := &f.nodes[i]
		if n.kind == Switch {
			n.index = b.AddSwitch(n.name, 0, -1)
			continue
		}
		if old, ok := b.Node(n.name); ok && n.grouped && b.g.Nodes[old].Kind == Host {
			n.index = old
			continue
		}
		n.index = b.AddHost(n.name)
		// The in-network reduction units of switches sit on spines too, and
		// do not make them leaves.
		b.quiet[n.index] = strings.Contains(n.description, "Aggregation Node")
	}
	for i, e := range f.ports {
		peer, ok := f.byID[e.peerID]
		if !ok {
			return nil, fmt.Errorf("%s:%d: %s leads to %.60q, which has no block: is the file cut short?", f.file, e.line, f.nodes[e.node].name, e.peerID)
		}
		j, ok := f.at[[2]int{peer, e.peerPort}]
		if !ok {
			return nil, fmt.Errorf("%s:%d: %s leads to port %d of %s, which is not in the block of that node on line %d: is the file cut short?", f.file, e.line, f.nodes[e.node].name, e.peerPort, f.nodes[peer].name, f.nodes[peer].line)
		}
		if o := f.ports[j]; o.peerID != f.nodes[e.node].id || o.peerPort != e.port || o.rate != e.rate {
			return nil, fmt.Errorf("%s:%d: the other end of this link, on line %d, says otherwise: port %d of %s to port %d of %.60q at %v", f.file, e.line, o.line, o.port, f.nodes[peer].name, o.peerPort, o.peerID, o.rate)
		}
		if i <= j {
			b.Connect(f.nodes[e.node].index, f.nodes[peer].index, Wire{
				Rate: e.rate, Delay: p.Delay,
				AName: f.portLabel(e.node, e.port), BName: f.portLabel(peer, e.peerPort),
			})
		}
	}
	g, err := b.Graph()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.file, err)
	}
	return g, nil
}

// portLabel names a port: by number, and by adapter where a host has several.
func (f *ibFile) portLabel(node, port int) string {
	label := strconv.Itoa(port)
	if n := f.nodes[node]; n.grouped {
		_, device, _ := ibServer(n.description)
		label = device + "/" + label
	}
	return label
}

// nameNodes gives every node a unique name that Validate accepts.
func (f *ibFile) nameNodes(servers bool) {
	described := map[string]int{}
	for _, n := range f.nodes {
		described[n.description]++
	}
	count := map[string]int{}
	for i := range f.nodes {
		n := &f.nodes[i]
		n.name = ibName(n.description)
		if server, _, ok := ibServer(n.description); ok && servers && n.kind == Host && described[n.description] == 1 {
			n.name, n.grouped = ibName(server), true
			continue
		}
		count[n.name]++
	}
	for i := range f.nodes {
		if n := &f.nodes[i]; !n.grouped && (count[n.name] > 1 || n.name == "") {
			guid := ibName(n.id[max(0, len(n.id)-guidDigits):])
			n.name = strings.TrimLeft(n.name+"-"+guid, "-")
		}
	}
}

// guidDigits is the length of a GUID in hexadecimal.
const guidDigits = 16

// ibServer splits a description such as "node7 HCA-2" or "node7 mlx5_0".
func ibServer(description string) (server, device string, ok bool) {
	server, device, ok = strings.Cut(description, " ")
	if !ok || server == "" || strings.ContainsRune(device, ' ') {
		return "", "", false
	}
	for _, prefix := range []string{"HCA-", "mlx", "ibp", "bnxt", "irdma"} {
		if strings.HasPrefix(device, prefix) && checkPortName(device) == nil {
			return server, device, true
		}
	}
	return "", "", false
}

// ibName makes a name of a description: of "MF0;NAME:MODEL/U1", which managed
// switches write, the NAME; every character that names cannot have becomes _.
func ibName(description string) string {
	if _, rest, ok := strings.Cut(description, ";"); ok {
		if name, _, ok := strings.Cut(rest, ":"); ok && name != "" {
			description = name
		}
	}
	const most = 64 // bytes of a NodeDescription (IBTA volume 1)
	name := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '-') {
			return r
		}
		return '_'
	}, strings.TrimSpace(description[:min(len(description), most)]))
	return strings.Trim(name, "_")
}
