package topology

import (
	"strings"

	"rdmasim/sim"
)

// PTMParams says how a Graphviz file is read, as prescriptive topology managers
// use it: one edge per cable, "leaf1":"swp1" -- "spine1":"swp3", with the
// attributes rate (or speed), delay, cable (or length), loss and lag (or bond);
// nodes may have kind=host or kind=switch, or a function such as leaf or host.
// Other attributes are meant for other tools and do not count.
type PTMParams struct {
	Rate  sim.Rate     `key:"rate" doc:"rate of edges that give none; 0bps: every edge must"`
	Delay sim.Duration `key:"delay" doc:"propagation delay of edges that give neither delay nor cable"`
	Hosts string       `key:"hosts" doc:"patterns of the names of hosts, where no kind is given"`
}

var _ = sim.Register(Importers, "ptm", "Graphviz as prescriptive topology managers read it: \"leaf1\":\"swp1\" -- \"spine1\":\"swp3\"",
	PTMParams{Rate: DefaultRate, Delay: DefaultDelay, Hosts: DefaultHosts}, nil,
	func(p PTMParams) (Importer, error) { return p.read, nil })

func (p PTMParams) read(file string, data []byte) (*Graph, error) {
	w, err := newWiring(file, data, p.Hosts)
	if err != nil {
		return nil, err
	}
	d := &dotParser{params: p, w: w, lex: dotLexer{text: string(data), line: 1}}
	if err := d.graph(); err != nil {
		return nil, err
	}
	return w.graph(`give it the attribute [kind="host"] or [kind="switch"]`)
}

// maxDepth bounds nested subgraphs.
const maxDepth = 64

// edgeDefaults are the attributes that edge [...] gives to later edges.
type edgeDefaults []dotAttribute

type dotAttribute struct {
	key, value string
	line       int
}

type dotParser struct {
	params PTMParams
	w      *wiring
	lex    dotLexer
	tok    dotToken
	scopes []edgeDefaults // innermost last
}

// advance makes the next token the current one.
func (d *dotParser) advance() (err error) {
	if d.tok, err = d.lex.next(); err != nil {
		return d.w.errorf(d.lex.line, "%w", err)
	}
	return nil
}

func (d *dotParser) expected(what string) error {
	return d.w.errorf(d.tok.line, "got %v: want %s", d.tok, what)
}

// identifier returns the current identifier and passes it.
func (d *dotParser) identifier(what string) (string, error) {
	if !d.tok.id {
		return "", d.expected(what)
	}
	text := d.tok.text
	return text, d.advance()
}

// graph reads [strict] graph [name] { statements }.
func (d *dotParser) graph() error {
	if err := d.advance(); err != nil {
		return err
	}
	if d.tok.keyword("strict") {
		if err := d.advance(); err != nil {
			return err
		}
	}
	if !d.tok.keyword("graph") && !d.tok.keyword("digraph") {
		return d.expected("graph NAME {")
	}
	if err := d.advance(); err != nil {
		return err
	}
	if d.tok.id {
		if err := d.advance(); err != nil {
			return err
		}
	}
	if !d.tok.is("{") {
		return d.expected("{")
	}
	if err := d.open(); err != nil {
		return err
	}
	for len(d.scopes) > 0 {
		if err := d.statement(); err != nil {
			return err
		}
	}
	if !d.tok.is("") {
		return d.expected("nothing after the graph's }")
	}
	return nil
}

// open passes { and begins a scope of edge attributes.
func (d *dotParser) open() error {
	if len(d.scopes) == maxDepth {
		return d.w.errorf(d.tok.line, "subgraphs are nested more than %d deep", maxDepth)
	}
	var outer edgeDefaults
	if n := len(d.scopes); n > 0 {
		outer = d.scopes[n-1]
	}
	d.scopes = append(d.scopes, outer[:len(outer):len(outer)])
	return d.advance()
}

func (d *dotParser) statement() error {
	switch {
	case d.tok.is("}"):
		d.scopes = d.scopes[:len(d.scopes)-1]
		return d.advance()
	case d.tok.is(";"):
		return d.advance()
	case d.tok.is("{"):
		return d.open()
	case d.tok.keyword("subgraph"):
		if err := d.advance(); err != nil {
			return err
		}
		if d.tok.id {
			if err := d.advance(); err != nil {
				return err
			}
		}
		if !d.tok.is("{") {
			return d.expected("{")
		}
		return d.open()
	case d.tok.keyword("graph"), d.tok.keyword("node"), d.tok.keyword("edge"):
		edge := d.tok.keyword("edge")
		if err := d.advance(); err != nil {
			return err
		}
		attributes, err := d.attributes()
		if scope := &d.scopes[len(d.scopes)-1]; edge && err == nil {
			if *scope = append(*scope, attributes...); len(*scope) > maxEdgeDefaults {
				return d.w.errorf(d.tok.line, "more than %d attributes in edge [...]", maxEdgeDefaults)
			}
		}
		return err
	case !d.tok.id:
		return d.expected(`a link such as "leaf1":"swp1" -- "spine1":"swp3", or }`)
	}
	return d.nodesOrEdges()
}

// maxEdgeDefaults bounds the attributes that every edge is given.
const maxEdgeDefaults = 64

// dotEnd is one end of an edge: node and, if named, port.
type dotEnd struct {
	node int
	name string
	port string
}

// nodesOrEdges reads a statement that begins with a name: name = value, a node
// with attributes, or a chain of edges.
func (d *dotParser) nodesOrEdges() error {
	line := d.tok.line
	first, err := d.identifier("a name")
	if err != nil {
		return err
	}
	if d.tok.is("=") { // an attribute of the graph
		if err := d.advance(); err != nil {
			return err
		}
		_, err := d.identifier("a value")
		return err
	}
	end, err := d.end(line, first)
	if err != nil {
		return err
	}
	chain := []dotEnd{end}
	for d.tok.is("--") || d.tok.is("->") {
		if err := d.advance(); err != nil {
			return err
		}
		line := d.tok.line
		name, err := d.identifier("the name of a node (edges to subgraphs are not supported)")
		if err != nil {
			return err
		}
		if end, err = d.end(line, name); err != nil {
			return err
		}
		chain = append(chain, end)
	}
	attributes, err := d.attributes()
	if err != nil {
		return err
	}
	if len(chain) == 1 {
		return d.describe(end, attributes)
	}
	wire, err := d.wire(attributes)
	if err != nil {
		return err
	}
	for i := 1; i < len(chain); i++ {
		a, b := chain[i-1], chain[i]
		wire.AName, wire.BName = a.port, b.port
		if err := d.w.link(line, a.node, b.node, wire); err != nil {
			return err
		}
	}
	return nil
}

// end reads what follows a node's name: a port and perhaps a compass point.
func (d *dotParser) end(line int, name string) (e dotEnd, err error) {
	e.name = name
	for i := 0; d.tok.is(":") && i < 2; i++ {
		if err := d.advance(); err != nil {
			return e, err
		}
		port, err := d.identifier("the name of a port")
		if err != nil {
			return e, err
		}
		if i == 0 {
			e.port = port
		}
	}
	e.node, err = d.w.node(line, name)
	return e, err
}

// attributes reads any number of [key=value, ...].
func (d *dotParser) attributes() ([]dotAttribute, error) {
	var list []dotAttribute
	for d.tok.is("[") {
		if err := d.advance(); err != nil {
			return nil, err
		}
		for !d.tok.is("]") {
			a := dotAttribute{line: d.tok.line, value: "true"}
			var err error
			if a.key, err = d.identifier("an attribute or ]"); err != nil {
				return nil, err
			}
			if d.tok.is("=") {
				if err := d.advance(); err != nil {
					return nil, err
				}
				if a.value, err = d.identifier("a value"); err != nil {
					return nil, err
				}
			}
			list = append(list, a)
			if d.tok.is(",") || d.tok.is(";") {
				if err := d.advance(); err != nil {
					return nil, err
				}
			}
		}
		if err := d.advance(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// dotSynonyms are other words for the properties of a link.
var dotSynonyms = map[string]string{"speed": "rate", "length": "cable", "bond": "lag"}

func (d *dotParser) wire(own []dotAttribute) (Wire, error) {
	var w Wire
	for i, list := range [][]dotAttribute{d.scopes[len(d.scopes)-1], own} {
		if i == 1 {
			for _, a := range own { // an edge's own delay or cable replaces both of edge [...]
				if key := dotKey(a.key); key == "delay" || key == "cable" {
					w.Delay, w.Cable = 0, 0
				}
			}
		}
		for _, a := range list {
			key := dotKey(a.key)
			if _, err := setWire(&w, key, a.value); err != nil {
				return w, d.w.errorf(a.line, "%s: %w", a.key, err)
			}
		}
	}
	if w.Rate == 0 {
		w.Rate = d.params.Rate
	}
	if w.Delay == 0 && w.Cable == 0 {
		w.Delay = d.params.Delay
	}
	return w, nil
}

func dotKey(key string) string {
	key = strings.ToLower(key)
	if s, ok := dotSynonyms[key]; ok {
		return s
	}
	return key
}

// dotFunctions are what topology converters call the functions of nodes.
var dotFunctions = map[string]string{
	"host": "host", "server": "host",
	"switch": "switch", "tor": "switch", "leaf": "switch", "spine": "switch", "superspine": "switch", "agg": "switch", "core": "switch", "exit": "switch", "border": "switch",
}

// describe takes the kind of a node from its attributes.
func (d *dotParser) describe(e dotEnd, attributes []dotAttribute) error {
	for _, a := range attributes {
		kind := strings.ToLower(a.value)
		switch strings.ToLower(a.key) {
		case "kind":
		case "function":
			if kind = dotFunctions[kind]; kind == "" {
				continue
			}
		default:
			continue
		}
		if err := d.w.setKind(a.line, e.node, kind); err != nil {
			return err
		}
	}
	return nil
}
