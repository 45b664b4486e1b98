package scenarios

import (
	"strconv"
	"strings"

	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// maxSamples bounds what a time series could hold: ports times bins.
const maxSamples = 2_000_000_000

// ValidateOn checks what a scenario says about a fabric against the fabric: a
// rule that matches nothing, buffers too small for the ports, series that
// would fill a disk.
func ValidateOn(s *Spec, g *topology.Graph) error {
	for i, r := range s.Switches {
		if err := s.matchesNode(g, topology.Switch, r.Match, "switches."+strconv.Itoa(i)+".match"); err != nil {
			return err
		}
	}
	for i, r := range s.NICs {
		if err := s.matchesNode(g, topology.Host, r.Match, "nics."+strconv.Itoa(i)+".match"); err != nil {
			return err
		}
	}
	for i := range s.Links {
		if err := s.matchesLink(g, i); err != nil {
			return err
		}
	}
	if err := s.checkPools(g); err != nil {
		return err
	}
	return s.checkSamples(g)
}

func (s *Spec) matchesNode(g *topology.Graph, kind topology.Kind, pattern, at string) error {
	var names []string
	for i := range g.Nodes {
		if g.Nodes[i].Kind != kind {
			continue
		}
		if matches(pattern, g.Nodes[i].Name) {
			return nil
		}
		names = append(names, g.Nodes[i].Name)
	}
	return s.errorAt(at, pattern, "matches no %v: %sthere are %s", kind, didYouMean(pattern, names), some(names))
}

func (s *Spec) matchesLink(g *topology.Graph, i int) error {
	r, at := &s.Links[i], "links."+strconv.Itoa(i)
	var names []string
	for j := range g.Links {
		l := &g.Links[j]
		a, b := g.Nodes[l.A].Name, g.Nodes[l.B].Name
		if matches(r.A, a) && matches(r.B, b) || matches(r.A, b) && matches(r.B, a) {
			return nil
		}
		names = append(names, a+" - "+b)
	}
	return s.errorAt(at, r.A+" - "+r.B, "matches no link: there are %s", some(names))
}

// some lists names, the middle of a long list left out.
func some(names []string) string {
	const most = 10
	switch {
	case len(names) == 0:
		return "none"
	case len(names) <= most:
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most-1], ", ") + ", ... " + names[len(names)-1] + " (" + strconv.Itoa(len(names)) + ")"
}

// checkPools refuses a buffer of which reserves and given headroom leave
// nothing to share. Headroom that is computed is known only to the builder.
func (s *Spec) checkPools(g *topology.Graph) error {
	ports := g.Ports()
	for i := range g.Nodes {
		if g.Nodes[i].Kind != topology.Switch {
			continue
		}
		w, at := &s.Switch, "switch"
		for k := range s.Switches {
			if matches(s.Switches[k].Match, g.Nodes[i].Name) {
				w, at = &s.Switches[k].Switch, "switches."+strconv.Itoa(k)
			}
		}
		n := sim.Bytes(len(ports.Of(i)))
		need := n * sim.Bytes(len(w.PFC.Priorities)) * (w.Buffer.Reserve + w.Buffer.Headroom.Value)
		if need >= w.Buffer.Size {
			key := at + ".buffer.headroom"
			if _, ok := s.source.find(key); w.Buffer.Headroom.Auto || !ok {
				key = at + ".buffer.size"
			}
			return s.errorAt(key, "", "reserve and headroom of the %d ports of %s take %v of a buffer of %v: want a larger buffer, less headroom or fewer lossless priorities",
				n, g.Nodes[i].Name, need, w.Buffer.Size)
		}
	}
	return nil
}

func (s *Spec) checkSamples(g *topology.Graph) error {
	iv := s.Series.Interval
	if iv <= 0 || s.UntilDone {
		return nil
	}
	bins, ports := int64(s.Duration/iv)+1, int64(2*len(g.Links))
	if ports > 0 && bins > maxSamples/ports {
		return s.errorAt("series.interval", iv.String(), "makes %d bins for each of %d ports: want at most %d in all, that is an interval of at least %v, or 0s for no series",
			bins, ports, int64(maxSamples), roundUp(s.Duration/sim.Duration(max(maxSamples/ports, 1))))
	}
	return nil
}
