package tune

import (
	"fmt"
	"math"
	"rdmasim/scenarios/sweep"
	"slices"
	"strings"
)

// parameters turns the parameters into dimensions.
func (p *parsed) parameters() error {
	if len(p.Parameters) == 0 {
		return p.doc.Errorf("parameters", "", "want at least one")
	}
	if err := p.names("parameters", len(p.Parameters), mostParameters, func(i int) string { return p.Parameters[i].Name }); err != nil {
		return err
	}
	seen, roles := map[string]string{}, map[string]string{}
	for i := range p.Parameters {
		x, at := &p.Parameters[i], fmt.Sprintf("parameters.%d", i)
		for _, path := range append([]string{x.Path}, x.Also...) {
			if other, ok := seen[path]; ok {
				return p.doc.Errorf(at+".path", path, "parameter %s sets it already", other)
			}
			if path == "" || strings.ContainsAny(path, "= \t\n") {
				return p.doc.Errorf(at+".path", fmt.Sprintf("%q", path), "want the path of a value, such as switch.ecn.3.kmin")
			}
			seen[path] = x.Name
		}
		if other, ok := roles[x.Role]; ok && x.Role != "" {
			return p.doc.Errorf(at+".role", x.Role, "parameter %s has it already", other)
		}
		roles[x.Role] = x.Name
		d, err := p.dimension(x, at)
		if err != nil {
			return err
		}
		p.space = append(p.space, d)
	}
	return nil
}

// dimension reads one parameter.
func (p *parsed) dimension(x *Parameter, at string) (dimension, error) {
	d := dimension{name: x.Name, paths: append([]string{x.Path}, x.Also...), role: x.Role, over: -1, scale: x.Scale}
	if len(x.Values) > 0 {
		err := p.choice(x, at, &d)
		return d, err
	}
	for _, end := range []struct{ key, text string }{{"from", x.From}, {"to", x.To}} {
		if end.text == "" {
			return d, p.doc.Errorf(at, "", "%s is missing: want from and to, or values", end.key)
		}
	}
	kinds := []sweep.Kind{sweep.Bytes, sweep.Duration, sweep.Rate, sweep.Length, sweep.Count, sweep.Ratio}
	if x.Over != "" {
		if d.over = slices.IndexFunc(p.space, func(o dimension) bool { return o.name == x.Over }); d.over < 0 {
			return d, p.doc.Errorf(at+".over", x.Over, "no parameter above has this name")
		}
		if o := &p.space[d.over]; o.values != nil || o.scale == scalePower {
			return d, p.doc.Errorf(at+".over", x.Over, "only factors of a size, duration, rate or number can be taken")
		}
		d.kind, kinds = p.space[d.over].kind, []sweep.Kind{sweep.Ratio}
	}
	if err := p.span(x, at, &d, kinds); err != nil {
		return d, err
	}
	err := p.grain(x, at, &d)
	return d, err
}

// span reads the ends of a range.
func (p *parsed) span(x *Parameter, at string, d *dimension, kinds []sweep.Kind) error {
	low, k, ok := parseValue(x.From, kinds...)
	if !ok {
		return p.doc.Errorf(at+".from", x.From, "want a value with its unit, such as 10KB, 5us, 1Gbps, 1%% or 3")
	}
	high, k2, ok := parseValue(x.To, kinds...)
	if ok && k2 != k && max(k, k2) <= sweep.Ratio { // 1 .. 1.5
		k, k2 = sweep.Ratio, sweep.Ratio
	}
	switch {
	case !ok || k != k2:
		return p.doc.Errorf(at+".to", x.To, "want %s, as from is", "a "+k.String())
	case !(low < high):
		return p.doc.Errorf(at+".to", x.To, "want more than from, which is %s", x.From)
	case d.over >= 0 && low < 1:
		return p.doc.Errorf(at+".from", x.From, "want a factor of at least 1")
	case high > 1e18:
		return p.doc.Errorf(at+".to", x.To, "is too large")
	}
	if d.low, d.high = low, high; d.over < 0 {
		d.kind = k
	}
	if d.scale == "" {
		if d.scale = scaleLinear; low > 0 {
			d.scale = scaleLog
		}
	}
	if d.scale != scaleLinear && low <= 0 {
		return p.doc.Errorf(at+".from", x.From, "want more than 0 for scale %s", d.scale)
	}
	return nil
}

// grain reads what the device rounds to.
func (p *parsed) grain(x *Parameter, at string, d *dimension) error {
	if d.scale == scalePower {
		low, high := math.Ceil(math.Log2(d.low)-1e-9), math.Floor(math.Log2(d.high)+1e-9)
		switch {
		case d.over >= 0 || d.kind == sweep.Duration:
			return p.doc.Errorf(at+".scale", d.scale, "only sizes, rates, counts and ratios come in powers of two")
		case x.Step != "":
			return p.doc.Errorf(at+".step", x.Step, "powers of two have no step")
		case !(low < high):
			return p.doc.Errorf(at+".to", x.To, "there are fewer than two powers of two from %s", x.From)
		}
		d.low, d.high = math.Exp2(low), math.Exp2(high)
		return nil
	}
	if x.Step == "" {
		return nil
	}
	step, _, ok := parseValue(x.Step, d.kind)
	if !ok || !(step > 0) {
		return p.doc.Errorf(at+".step", x.Step, "want %s above 0", "a "+d.kind.String())
	}
	if low, high := p.envelope(d); step > high || math.Floor(high/step+1e-9) < math.Ceil(low/step-1e-9) {
		return p.doc.Errorf(at+".step", x.Step, "no multiple of it lies within the range")
	}
	d.step = step
	return nil
}

// envelope is space.envelope of a dimension that is not part of it yet.
func (p *parsed) envelope(d *dimension) (low, high float64) {
	s := append(slices.Clone(p.space), *d)
	return s.envelope(len(s) - 1)
}

// choice reads a parameter that has a list of values.
func (p *parsed) choice(x *Parameter, at string, d *dimension) error {
	if x.From != "" || x.To != "" || x.Over != "" || x.Step != "" || x.Scale != "" || x.Role != "" {
		return p.doc.Errorf(at, "", "want values alone, or a range")
	}
	if len(x.Values) < 2 || len(x.Values) > 1000 {
		return p.doc.Errorf(at+".values", "", "want 2 to 1000 of them")
	}
	for i, v := range x.Values {
		if v == "" || strings.ContainsAny(v, "\n\r") || slices.Contains(x.Values[:i], v) {
			return p.doc.Errorf(fmt.Sprintf("%s.values.%d", at, i), fmt.Sprintf("%q", v), "want values that are different and not empty")
		}
	}
	d.kind, d.values, d.scale, d.step = sweep.Count, x.Values, scaleLinear, 1
	d.high = float64(len(x.Values) - 1)
	return nil
}
