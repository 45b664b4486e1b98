// Package hpcc reads the files of the HPCC ns-3 model (config.txt,
// topology.txt, flow.txt, trace.txt, fct.txt) and writes its fct.txt. It turns
// them into plain values and says of every key whether it is honoured, dead or
// unsupported; it builds and runs nothing.
package hpcc

import (
	"fmt"
	"path/filepath"
	"slices"

	"rdmasim/sim"
)

// Case is a config.txt with the files that it names.
type Case struct {
	Config   *Config
	Topology *Topology
	Flows    []Flow // sorted by start
	Trace    []int  // nodes whose packets that model would dump
	Notes    []Note // every key of the configuration, and what is odd in the files
}

// Read reads a configuration and the files that it names, which are relative
// to its directory or, as those who run that model from one level higher write
// them, to the directory above. open reads a whole file. Errors name file and
// line.
func Read(file string, open func(name string) ([]byte, error)) (*Case, error) {
	text, err := open(file)
	if err != nil {
		return nil, err
	}
	c := &Case{}
	var notes []Note
	if c.Config, c.Notes, err = ParseConfig(file, text); err != nil {
		return nil, err
	}
	near := func(key, name string) (string, []byte, error) {
		at, text, err := c.find(file, name, open)
		if err != nil {
			return "", nil, c.Config.errorf(key, "%v", err)
		}
		return at, text, nil
	}
	at, text, err := near("TOPOLOGY_FILE", c.Config.TopologyFile)
	if err != nil {
		return nil, err
	}
	if c.Topology, notes, err = ParseTopology(at, text); err != nil {
		return nil, err
	}
	if err := c.Topology.complete(at); err != nil {
		return nil, err
	}
	c.Notes = append(c.Notes, notes...)
	if at, text, err = near("FLOW_FILE", c.Config.FlowFile); err != nil {
		return nil, err
	}
	if c.Flows, notes, err = ParseFlows(at, text, c.Topology); err != nil {
		return nil, err
	}
	c.Notes = append(c.Notes, notes...)
	flowFile := at
	if c.Config.TraceFile != "" {
		if at, text, err = near("TRACE_FILE", c.Config.TraceFile); err != nil {
			return nil, err
		}
		if c.Trace, err = ParseTrace(at, text, c.Topology); err != nil {
			return nil, err
		}
	}
	c.late(flowFile)
	return c, c.check(flowFile)
}

// complete says which node the header counts and no link joins, or nil.
func (t *Topology) complete(file string) error {
	joined := make([]bool, t.Nodes)
	for _, l := range t.Links {
		joined[l.A], joined[l.B] = true, true
	}
	if i := slices.Index(joined, false); i >= 0 {
		return fmt.Errorf("%s:1: the first line says %d nodes, and no link joins node %d", file, t.Nodes, i)
	}
	return nil
}

// late notes flows that begin when the run is over.
func (c *Case) late(file string) {
	n, line := 0, 0
	for _, f := range c.Flows {
		if f.ModelTime < c.Config.StopTime {
			continue
		}
		if n++; line == 0 || f.Line < line {
			line = f.Line
		}
	}
	if n > 0 {
		c.Notes = append(c.Notes, Note{File: file, Line: line, Status: Dead,
			Reason: fmt.Sprintf("%d of %d flows begin at SIMULATOR_STOP_TIME or after it and are not sent; the first stands here", n, len(c.Flows))})
	}
}

// find reads a file that the configuration names.
func (c *Case) find(config, name string, open func(string) ([]byte, error)) (string, []byte, error) {
	if filepath.IsAbs(name) {
		text, err := open(name)
		return name, text, err
	}
	dir := filepath.Dir(config)
	at := filepath.Join(dir, name)
	text, err := open(at)
	if err == nil {
		return at, text, nil
	}
	above := filepath.Join(dir, "..", name)
	if text, err2 := open(above); err2 == nil {
		c.Notes = append(c.Notes, Note{File: above, Status: Honoured, Reason: "found from the directory above that of the configuration"})
		return above, text, nil
	}
	return "", nil, err
}

// check compares the files with each other.
func (c *Case) check(flowFile string) error {
	if c.Config.EnableQCN {
		known := map[sim.Rate]bool{}
		for _, l := range c.Topology.Links {
			if known[l.Rate] || !c.Topology.isSwitch[l.A] && !c.Topology.isSwitch[l.B] {
				continue
			}
			if _, err := c.Config.Marking(l.Rate); err != nil {
				return err
			}
			known[l.Rate] = true
		}
	}
	if d := c.Config.LinkDown; d.At > 0 && !c.Topology.adjacent(d.A, d.B) {
		return c.Config.errorf("LINK_DOWN", "no link between nodes %d and %d", d.A, d.B)
	}
	reach := c.Topology.reachability()
	for _, f := range c.Flows {
		if !reach.connected(f.Src, f.Dst) {
			return fmt.Errorf("%s:%d: no path from host %d to host %d (hosts do not forward)", flowFile, f.Line, f.Src, f.Dst)
		}
	}
	return nil
}

func (t *Topology) adjacent(a, b int) bool {
	for _, l := range t.Links {
		if l.A == a && l.B == b || l.A == b && l.B == a {
			return true
		}
	}
	return false
}

// reach knows which hosts reach each other: over one island of switches that
// both have a link to, or over a link between them.
type reach struct {
	islands [][]int // of every host, the islands it is linked to
	direct  map[[2]int]bool
}

func (t *Topology) reachability() *reach {
	parent := make([]int, t.Nodes)
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, l := range t.Links {
		if t.isSwitch[l.A] && t.isSwitch[l.B] {
			parent[root(l.A)] = root(l.B)
		}
	}
	r := &reach{islands: make([][]int, t.Nodes), direct: map[[2]int]bool{}}
	for _, l := range t.Links {
		switch {
		case t.isSwitch[l.A] && !t.isSwitch[l.B]:
			r.islands[l.B] = append(r.islands[l.B], root(l.A))
		case t.isSwitch[l.B] && !t.isSwitch[l.A]:
			r.islands[l.A] = append(r.islands[l.A], root(l.B))
		case !t.isSwitch[l.A] && !t.isSwitch[l.B]:
			r.direct[[2]int{l.A, l.B}], r.direct[[2]int{l.B, l.A}] = true, true
		}
	}
	for i := range r.islands {
		slices.Sort(r.islands[i])
		r.islands[i] = slices.Compact(r.islands[i])
	}
	return r
}

func (r *reach) connected(a, b int) bool {
	for _, x := range r.islands[a] {
		for _, y := range r.islands[b] {
			if x == y {
				return true
			}
		}
	}
	return r.direct[[2]int{a, b}]
}
