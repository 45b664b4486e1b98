package scenarios

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// baselineKey chooses, in a marking curve, the baseline that it starts from.
const baselineKey = "baseline"

// baselineUse is a curve that starts from a baseline and is not yet resolved:
// what it is depends on the rates of ports, or on the buffer.
type baselineUse struct {
	name             string
	kmin, kmax, pmax bool // given beside it
}

var ecnType = reflect.TypeFor[ECNSpec]()

// curve decodes a marking curve: with the key baseline it starts from that one.
// It reports whether there was one.
func (d *decoder) curve(n *yaml.Node, path string, v reflect.Value, given map[string]bool) (bool, error) {
	e := v.Addr().Interface().(*ECNSpec)
	rest := n
	if n.Kind == yaml.MappingNode {
		pairs, err := d.pairs(n, path)
		if err != nil {
			return false, err
		}
		clone := *n
		clone.Content = nil
		for _, p := range pairs {
			if p.key.Value != baselineKey {
				if nearest(p.key.Value, append(keysOf(ecnType), baselineKey)) == baselineKey {
					return false, d.fail(p.key, join(path, p.key.Value), "", "unknown key: did you mean %s?", baselineKey)
				}
				clone.Content = append(clone.Content, p.key, p.value)
				continue
			}
			if err := d.baseline(p.value, join(path, baselineKey), e); err != nil {
				return false, err
			}
		}
		rest = &clone
	}
	if given == nil {
		given = map[string]bool{}
	}
	if err := d.structure(rest, path, v, given); err != nil {
		return false, err
	}
	if e.from.name == "" {
		return false, nil
	}
	e.from.kmin, e.from.kmax, e.from.pmax = e.from.kmin || given["kmin"], e.from.kmax || given["kmax"], e.from.pmax || given["pmax"]
	return true, nil
}

func keysOf(t reflect.Type) (keys []string) {
	for _, f := range fieldsOf(t) {
		keys = append(keys, f.key)
	}
	return keys
}

// baseline starts a curve from the baseline that a node names.
func (d *decoder) baseline(n *yaml.Node, path string, e *ECNSpec) error {
	name, err := d.plain(n, path, reflect.TypeFor[string]())
	if err != nil {
		return err
	}
	b, err := LookupBaseline(name)
	if err != nil {
		return d.fail(n, path, name, "unknown baseline: %swant one of %s", didYouMean(name, Baselines.Names()), strings.Join(Baselines.Names(), ", "))
	}
	if b.Lacks != "" {
		return d.fail(n, path, name, "this baseline has no curve: %s", b.Lacks)
	}
	e.from = baselineUse{name: name}
	e.take(b.Curves[0], 1) // any of them, until the rates are known
	return nil
}

// take puts the values of a baseline into a curve, except those that were
// given beside it. limit is what a queue can hold at most.
func (e *ECNSpec) take(c BaselineCurve, limit sim.Bytes) {
	kmin, kmax := c.Kmin, c.Kmax
	if c.MaxFill > 0 {
		kmin, kmax = sim.Bytes(float64(c.MinFill)*float64(limit)), sim.Bytes(float64(c.MaxFill)*float64(limit))
	}
	if !e.from.kmin {
		e.Kmin = kmin
	}
	if !e.from.kmax {
		e.Kmax = kmax
	}
	if !e.from.pmax {
		e.Pmax = c.Pmax
	}
}

// largestQueue is what one queue can hold that alone fills the buffer: the
// dynamic threshold alpha B / (1 + alpha). Source: Choudhury and Hahne, 1998.
func (b *BufferSpec) largestQueue() sim.Bytes {
	a := float64(b.Alpha)
	return sim.Bytes(a * float64(b.Size) / (1 + a))
}

// resolveBaselines replaces baselines by their values: those of families by
// the values for the rates of the ports that the fabric has.
func (s *Spec) resolveBaselines() error {
	specs := []*SwitchSpec{&s.Switch}
	paths, patterns := []string{"switch"}, []string{"*"}
	for i := range s.Switches {
		specs, patterns = append(specs, &s.Switches[i].Switch), append(patterns, s.Switches[i].Match)
		paths = append(paths, "switches."+strconv.Itoa(i))
	}
	used, family := false, false
	for _, w := range specs {
		u, f := w.usesBaselines()
		used, family = used || u, family || f
	}
	if !used {
		return nil
	}
	var g *topology.Graph
	if family {
		var err error
		if g, err = s.graph(); err != nil {
			return err
		}
	}
	for i, w := range specs {
		if err := s.resolveSwitch(w, paths[i], portRates(g, patterns[i])); err != nil {
			return err
		}
	}
	return Validate(s)
}

// usesBaselines reports whether a curve starts from a baseline, and whether
// from one that depends on the rate.
func (w *SwitchSpec) usesBaselines() (used, family bool) {
	look := func(m map[int]ECNSpec, byRate bool) {
		for _, e := range m {
			if e.from.name != "" {
				b, err := LookupBaseline(e.from.name)
				used, family = true, family || err == nil && b.IsFamily() && byRate
			}
		}
	}
	look(w.ECN, true)
	for _, r := range w.ECNByRate {
		look(r.ECN, false)
	}
	return used, family
}

// portRates returns the rates at which the switches that match send, the
// fastest first.
func portRates(g *topology.Graph, pattern string) (rates []sim.Rate) {
	if g == nil {
		return nil
	}
	add := func(node int, r sim.Rate) {
		if g.Nodes[node].Kind == topology.Switch && (pattern == "*" || matches(pattern, g.Nodes[node].Name)) && !slices.Contains(rates, r) {
			rates = append(rates, r)
		}
	}
	for i := range g.Links {
		l := &g.Links[i]
		add(l.A, l.AtoB.Rate)
		add(l.B, l.BtoA.Rate)
	}
	slices.Sort(rates)
	slices.Reverse(rates)
	return rates
}

// resolveSwitch resolves the curves of one switch block. The curves of the
// fastest ports become ecn, those of the others ecn_by_rate.
func (s *Spec) resolveSwitch(w *SwitchSpec, path string, rates []sim.Rate) error {
	if u, _ := w.usesBaselines(); !u {
		return nil
	}
	byRate := slices.Clone(w.ECNByRate)
	for i, r := range byRate {
		m, err := s.curvesAt(w, r.ECN, r.Rate, path+".ecn_by_rate."+strconv.Itoa(i)+".ecn")
		if err != nil {
			return err
		}
		byRate[i].ECN = m
	}
	_, family := w.usesBaselines()
	if !family || len(rates) == 0 {
		rates = []sim.Rate{0}
	}
	var base map[int]ECNSpec
	for i, rate := range rates {
		if slices.ContainsFunc(byRate, func(r ECNRateSpec) bool { return r.Rate == rate }) && len(rates) > 1 {
			continue // given for this rate
		}
		m, err := s.curvesAt(w, w.ECN, rate, path+".ecn")
		switch {
		case err != nil:
			return err
		case base == nil:
			base = m
		case i > 0:
			byRate = append(byRate, ECNRateSpec{Rate: rate, ECN: m})
		}
	}
	if base == nil { // every rate was given on its own
		base = map[int]ECNSpec{}
		for k, e := range w.ECN {
			e.from = baselineUse{}
			base[k] = e
		}
	}
	w.ECN, w.ECNByRate = base, byRate
	return nil
}

// curvesAt returns curves with baselines replaced by their values at a rate; 0
// where none depends on it.
func (s *Spec) curvesAt(w *SwitchSpec, curves map[int]ECNSpec, rate sim.Rate, path string) (map[int]ECNSpec, error) {
	if curves == nil {
		return nil, nil
	}
	out := make(map[int]ECNSpec, len(curves))
	for _, k := range slices.Sorted(maps.Keys(curves)) {
		e := curves[k]
		if e.from.name != "" {
			b, err := LookupBaseline(e.from.name)
			if err != nil {
				return nil, err
			}
			c, ok := b.At(rate)
			if !ok && rate > 0 {
				return nil, s.errorAt(join(join(path, strconv.Itoa(k)), baselineKey), e.from.name, "has no curve for ports of %v: it has %s", rate, b.rates())
			}
			if ok {
				e.take(c, w.Buffer.largestQueue())
			}
		}
		e.from = baselineUse{}
		out[k] = e
	}
	return out, nil
}
