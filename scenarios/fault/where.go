package fault

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"rdmasim/fabric/topology"
)

// Where is the place of a fault: directions of links. One of its keys is given.
type Where struct {
	Link   string `key:"link" doc:"both directions of the links A-B, or with A>B only what A sends to B; A and B are names or patterns, * alone is every link"`
	Port   string `key:"port" doc:"what this port sends: NODE:NUMBER, patterns allowed"`
	Host   string `key:"host" doc:"both directions of all links of these hosts"`
	Switch string `key:"switch" doc:"both directions of all links of these switches"`
}

// direction is one way over a link, by the port that sends.
type direction struct{ node, port int }

func match(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// given returns the key that is given and its value.
func (w Where) given() (key, value string, err error) {
	for _, k := range []struct{ key, value string }{{"link", w.Link}, {"port", w.Port}, {"host", w.Host}, {"switch", w.Switch}} {
		if k.value == "" {
			continue
		}
		if key != "" {
			return "", "", fmt.Errorf("%s: %s: is one place too many beside %s: give one of link, port, host and switch", k.key, k.value, key)
		}
		key, value = k.key, k.value
	}
	if key == "" {
		return "", "", fmt.Errorf("nowhere: give one of link, port, host and switch, for example link: \"*\"")
	}
	return key, value, nil
}

// check looks at a place without a fabric.
func (w Where) check() error {
	key, value, err := w.given()
	if err != nil {
		return err
	}
	return checkPattern(key, value)
}

func checkPattern(key, value string) error {
	if _, err := path.Match(value, ""); err != nil || len(value) > 400 {
		return fmt.Errorf("%s: %s: is no pattern: want names with *, ? and [a-z]", key, value)
	}
	return nil
}

// directions returns the directions of a place in the order of nodes and ports.
func (w Where) directions(c *Context) ([]direction, error) {
	key, value, err := w.given()
	if err != nil {
		return nil, err
	}
	var list []direction
	c.eachPort(func(d direction, q topology.Port) {
		own, peer := &c.Graph.Nodes[d.node], &c.Graph.Nodes[q.Peer]
		ok := false
		switch key {
		case "link":
			ok = linkMatches(value, own.Name, peer.Name)
		case "port":
			ok = match(value, own.Name+":"+strconv.Itoa(d.port))
		case "host":
			ok = own.Kind == topology.Host && match(value, own.Name) || peer.Kind == topology.Host && match(value, peer.Name)
		case "switch":
			ok = own.Kind == topology.Switch && match(value, own.Name) || peer.Kind == topology.Switch && match(value, peer.Name)
		}
		if ok {
			list = append(list, d)
		}
	})
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: %s: matches none: there are %s", key, value, c.places(key))
	}
	return list, nil
}

// eachPort calls f for every port in order.
func (c *Context) eachPort(f func(direction, topology.Port)) {
	for i := range c.Graph.Nodes {
		for p, q := range c.Ports.Of(i) {
			f(direction{i, p}, q)
		}
	}
}

// linkMatches reports whether what own sends to peer belongs to a link pattern.
// Names may hold hyphens, so every way to split the pattern is tried.
func linkMatches(pattern, own, peer string) bool {
	if pattern == "*" {
		return true
	}
	if a, b, ok := strings.Cut(pattern, ">"); ok {
		return match(strings.TrimSpace(a), own) && match(strings.TrimSpace(b), peer)
	}
	for i := range len(pattern) {
		if pattern[i] != '-' {
			continue
		}
		a, b := strings.TrimSpace(pattern[:i]), strings.TrimSpace(pattern[i+1:])
		if match(a, own) && match(b, peer) || match(b, own) && match(a, peer) {
			return true
		}
	}
	return false
}

// places lists what a key of Where could name.
func (c *Context) places(key string) string {
	var list []string
	switch key {
	case "host", "switch":
		for _, n := range c.Graph.Nodes {
			if (n.Kind == topology.Host) == (key == "host") {
				list = append(list, n.Name)
			}
		}
	case "link":
		for _, l := range c.Graph.Links {
			list = append(list, c.Graph.Nodes[l.A].Name+"-"+c.Graph.Nodes[l.B].Name)
		}
	default:
		c.eachPort(func(d direction, _ topology.Port) { list = append(list, c.portName(d)) })
	}
	return names(list)
}

// PortsAt is the place of a setting of ports: all ports of switches or hosts, one
// port, or both ends of a link.
type PortsAt struct {
	Link   string `key:"link" doc:"both ends of the links A-B, or with A>B the port of A; * alone is every link"`
	Port   string `key:"port" doc:"this port: NODE:NUMBER, patterns allowed"`
	Host   string `key:"host" doc:"the ports of these hosts"`
	Switch string `key:"switch" doc:"the ports of these switches"`
}

func (w PortsAt) check() error { return Where(w).check() }

// ports returns the ports in order.
func (w PortsAt) ports(c *Context) ([]direction, error) {
	key, value, err := Where(w).given()
	if err != nil {
		return nil, err
	}
	if key == "link" || key == "port" {
		return Where(w).directions(c)
	}
	var list []direction
	c.eachPort(func(d direction, _ topology.Port) {
		n := &c.Graph.Nodes[d.node]
		if (n.Kind == topology.Host) == (key == "host") && match(value, n.Name) {
			list = append(list, d)
		}
	})
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: %s: matches none: there are %s", key, value, c.places(key))
	}
	return list, nil
}

// switchPorts is ports without those of hosts, which a setting of switches
// leaves alone.
func (w PortsAt) switchPorts(c *Context) ([]direction, error) {
	list, err := w.ports(c)
	if err != nil {
		return nil, err
	}
	kept := list[:0]
	for _, d := range list {
		if c.Switches[d.node] != nil {
			kept = append(kept, d)
		}
	}
	if len(kept) == 0 {
		key, value, _ := Where(w).given()
		return nil, fmt.Errorf("%s: %s: matches ports of hosts alone: this is a setting of switches", key, value)
	}
	return kept, nil
}

// nodes returns the nodes of one kind that match a pattern.
func (c *Context) nodes(key, pattern string, kind topology.Kind) ([]int, error) {
	if err := checkPattern(key, pattern); err != nil {
		return nil, err
	}
	var list []int
	for i, n := range c.Graph.Nodes {
		if n.Kind == kind && match(pattern, n.Name) {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: %s: matches none: there are %s", key, pattern, c.places(kind.String()))
	}
	return list, nil
}

// required refuses an empty pattern.
func required(key, value, what string) error {
	if value == "" {
		return fmt.Errorf("%s: is missing: %s", key, what)
	}
	return checkPattern(key, value)
}
