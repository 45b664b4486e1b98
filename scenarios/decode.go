package scenarios

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"rdmasim/sim"
)

// decoder puts the tree of a file onto a spec that holds the defaults.
type decoder struct {
	src  *source
	spec *Spec
	sw   *SwitchSpec // the switch whose keys are being read
}

// fail returns an error about a node.
func (d *decoder) fail(n *yaml.Node, path, value, format string, args ...any) error {
	pos, _ := d.src.find(path)
	if pos.File == d.src.file && n != nil {
		pos.Line, pos.Column = n.Line, n.Column
	}
	return &Error{Pos: pos, Path: path, Value: value, Problem: fmt.Sprintf(format, args...)}
}

var (
	textType    = reflect.TypeFor[encoding.TextUnmarshaler]()
	memberType  = reflect.TypeFor[Member]()
	trafficType = reflect.TypeFor[TrafficSpec]()
	faultType   = reflect.TypeFor[FaultSpec]()
)

// isText reports whether values of the type are read from their text.
func isText(t reflect.Type) bool { return reflect.PointerTo(t).Implements(textType) }

// value decodes a node onto v, which holds the value that would be without it.
func (d *decoder) value(n *yaml.Node, path string, v reflect.Value, f *field) error {
	t := v.Type()
	switch {
	case t == memberType:
		return d.member(n, path, v.Addr().Interface().(*Member), catalogues[f.catalogue])
	case t == trafficType:
		ts := v.Addr().Interface().(*TrafficSpec)
		ts.Line = n.Line
		return d.member(n, path, &ts.Member, catalogues["workload"])
	case t == ecnType:
		_, err := d.curve(n, path, v, nil)
		return err
	case t == faultType:
		return d.member(n, path, &v.Addr().Interface().(*FaultSpec).Member, catalogues["fault"])
	case isText(t) && (n.Kind == yaml.ScalarNode || t.Kind() != reflect.Slice):
		return d.text(n, path, v, t)
	}
	switch t.Kind() {
	case reflect.Struct:
		return d.structure(n, path, v, nil)
	case reflect.Slice:
		return d.list(n, path, v)
	case reflect.Map:
		return d.mapping(n, path, v)
	}
	return d.scalar(n, path, v, t)
}

// wants says in words what a type takes.
func wants(t reflect.Type) string {
	if t.Kind() == reflect.Slice && !isText(t) {
		return "a list"
	}
	switch reflect.Zero(t).Interface().(type) {
	case sim.Duration:
		return "a duration such as 500ns or 10ms"
	case sim.Rate:
		return "a rate such as 100Gbps"
	case sim.Bytes:
		return "a size such as 400KB or 32MiB"
	case sim.Length:
		return "a length such as 40m"
	case sim.Ratio:
		return "a ratio such as 0.2, 20% or 1/5"
	case Auto[sim.Bytes]:
		return "auto, or a size such as 400KB"
	case Auto[sim.Duration]:
		return "auto, or a duration such as 10us"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Uint16, reflect.Uint8:
		if !isText(t) {
			return "a whole number without a unit"
		}
	case reflect.Float64:
		return "a number"
	case reflect.Map:
		return "keys with values, such as {3: ...}"
	case reflect.Struct:
		if !isText(t) {
			return "keys with values"
		}
	}
	return "a single value"
}

// plain returns the text of a scalar that is not empty, or an error.
func (d *decoder) plain(n *yaml.Node, path string, t reflect.Type) (string, error) {
	switch {
	case n.Kind == yaml.MappingNode:
		return "", d.fail(n, path, "", "has keys of its own: want %s", wants(t))
	case n.Kind == yaml.SequenceNode:
		return "", d.fail(n, path, "", "is a list: want %s", wants(t))
	case n.ShortTag() == "!!null":
		return "", d.fail(n, path, "", "has no value: want %s", wants(t))
	}
	return n.Value, nil
}

// text decodes what reads itself from text.
func (d *decoder) text(n *yaml.Node, path string, v reflect.Value, t reflect.Type) error {
	s, err := d.plain(n, path, t)
	if err != nil {
		return err
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)); err != nil {
		return d.fail(n, path, s, "%s", reason(err, s))
	}
	return nil
}

// reason returns the text of an error without the value that it begins with.
func reason(err error, value string) string {
	text := oneLine(err.Error())
	if rest, ok := strings.CutPrefix(text, strconv.Quote(value)); ok && rest != "" {
		text = strings.TrimLeft(rest, ": ")
	}
	return text
}

// scalar decodes bools, numbers and strings.
func (d *decoder) scalar(n *yaml.Node, path string, v reflect.Value, t reflect.Type) error {
	s, err := d.plain(n, path, t)
	if err != nil {
		return err
	}
	bad := func() error { return d.fail(n, path, s, "want %s", wants(t)) }
	switch t.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		if s != "true" && s != "false" {
			return bad()
		}
		v.SetBool(s == "true")
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		x, err := strconv.ParseInt(s, 10, t.Bits())
		if err != nil {
			return bad()
		}
		v.SetInt(x)
	case reflect.Uint, reflect.Uint64, reflect.Uint32, reflect.Uint16, reflect.Uint8:
		x, err := strconv.ParseUint(s, 10, t.Bits())
		if err != nil {
			return d.fail(n, path, s, "want a whole number from 0 to %d", ^uint64(0)>>(64-t.Bits()))
		}
		v.SetUint(x)
	case reflect.Float64:
		x, err := sim.ParseRatio(s)
		if err != nil || strings.ContainsAny(s, "%/") {
			return bad()
		}
		v.SetFloat(float64(x))
	default:
		return d.fail(n, path, s, "cannot be given in a scenario")
	}
	return nil
}

// list decodes a list, which replaces the whole of v.
func (d *decoder) list(n *yaml.Node, path string, v reflect.Value) error {
	if n.Kind != yaml.SequenceNode {
		return d.fail(n, path, scalarText(n), "want a list, such as [...]")
	}
	if len(n.Content) == 0 {
		v.SetZero()
		return nil
	}
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		e := out.Index(i)
		e.Set(d.fresh(e.Type()))
		at := join(path, strconv.Itoa(i))
		if err := d.element(item, at, e); err != nil {
			return err
		}
	}
	v.Set(out)
	return nil
}

// mapping decodes a map with numbers as keys. It replaces the whole of v, but
// the value of a key that v has already is decoded onto that.
func (d *decoder) mapping(n *yaml.Node, path string, v reflect.Value) error {
	pairs, err := d.pairs(n, path)
	if err != nil {
		return err
	}
	if len(pairs) == 0 {
		v.SetZero()
		return nil
	}
	t := v.Type()
	if t.Key().Kind() != reflect.Int {
		return d.fail(n, path, "", "cannot be given in a scenario")
	}
	out := reflect.MakeMapWithSize(t, len(pairs))
	for _, p := range pairs {
		k, err := strconv.Atoi(p.key.Value)
		at := join(path, p.key.Value)
		if err != nil || strconv.Itoa(k) != p.key.Value {
			return d.fail(p.key, path, p.key.Value, "want a whole number as key")
		}
		e := reflect.New(t.Elem()).Elem()
		old := v.MapIndex(reflect.ValueOf(k))
		if old.IsValid() {
			e.Set(old)
			err = d.value(p.value, at, e, nil)
		} else {
			e.Set(d.fresh(t.Elem()))
			err = d.element(p.value, at, e)
		}
		if err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(k), e)
	}
	v.Set(out)
	return nil
}

// element decodes an item of a list or a map that has no value to start from.
func (d *decoder) element(n *yaml.Node, path string, v reflect.Value) error {
	t := v.Type()
	if t.Kind() != reflect.Struct || isText(t) || t == memberType || t == trafficType || t == faultType {
		return d.value(n, path, v, nil)
	}
	given := map[string]bool{}
	if t == ecnType {
		if complete, err := d.curve(n, path, v, given); err != nil || complete {
			return err
		}
	} else if err := d.structure(n, path, v, given); err != nil {
		return err
	}
	for _, f := range fieldsOf(t) {
		if f.required && !given[f.key] {
			return d.fail(n, path, "", "%s is missing: %s", f.key, f.doc)
		}
	}
	return nil
}

// structure decodes keys onto the fields of v, and adds those given to given.
func (d *decoder) structure(n *yaml.Node, path string, v reflect.Value, given map[string]bool) error {
	pairs, err := d.pairs(n, path)
	if err != nil {
		return err
	}
	fields := fieldsOf(v.Type())
	byKey := make(map[string]pair, len(pairs))
	for _, p := range pairs {
		if err := d.known(p, path, fields); err != nil {
			return err
		}
		byKey[p.key.Value] = p
		if given != nil {
			given[p.key.Value] = true
		}
	}
	switch x := v.Addr().Interface().(type) {
	case *SwitchSpec:
		d.sw = x
	case *SwitchRule:
		d.sw = &x.Switch
	}
	if set := v.FieldByName("Set"); set.IsValid() && set.Kind() == reflect.Bool {
		set.SetBool(true)
	}
	if err := d.base(v, byKey, path); err != nil {
		return err
	}
	for i := range fields {
		f := &fields[i]
		p, ok := byKey[f.key]
		if !ok || f.typ == sonicType {
			continue
		}
		if err := d.value(p.value, join(path, f.key), v.FieldByIndex(f.index), f); err != nil {
			return err
		}
	}
	return nil
}

// known reports a key that is none of fields.
func (d *decoder) known(p pair, path string, fields []field) error {
	names := make([]string, len(fields))
	for i, f := range fields {
		if f.key == p.key.Value {
			return nil
		}
		names[i] = f.key
	}
	at := join(path, p.key.Value)
	if len(names) == 0 {
		return d.fail(p.key, at, "", "unknown key: there are none here")
	}
	return d.fail(p.key, at, "", "unknown key: %skeys here are %s", didYouMean(p.key.Value, names), strings.Join(names, ", "))
}

// pair is one entry of a mapping.
type pair struct{ key, value *yaml.Node }

// pairs returns the entries of a mapping; keys are scalars, each there once.
func (d *decoder) pairs(n *yaml.Node, path string) ([]pair, error) {
	if n.Kind != yaml.MappingNode {
		what := "is a list"
		if n.Kind == yaml.ScalarNode {
			what = "has no keys"
		}
		return nil, d.fail(n, path, scalarText(n), "%s: want keys with values, such as {key: value}", what)
	}
	out := make([]pair, 0, len(n.Content)/2)
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			return nil, d.fail(k, path, "", "a key is a list or has keys of its own: want a word or a number")
		}
		if line, ok := seen[k.Value]; ok {
			return nil, d.fail(k, join(path, k.Value), "", "key is there twice, first in line %d: leave one of them", line)
		}
		seen[k.Value] = k.Line
		out = append(out, pair{k, n.Content[i+1]})
	}
	return out, nil
}

// scalarText returns the text of a scalar, and nothing for other nodes.
func scalarText(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}

// fresh returns the value that an item of a list or map starts from.
func (d *decoder) fresh(t reflect.Type) reflect.Value {
	switch t {
	case reflect.TypeFor[ECNSpec]():
		return reflect.ValueOf(DefaultECN())
	case reflect.TypeFor[PoolSpec]():
		return reflect.ValueOf(defaultPool())
	case reflect.TypeFor[GroupRule]():
		return reflect.ValueOf(d.sw.groupRule())
	case reflect.TypeFor[QueueRule]():
		return reflect.ValueOf(d.sw.queueRule())
	case reflect.TypeFor[WREDRule]():
		return reflect.ValueOf(d.sw.wredRule())
	case reflect.TypeFor[MapRule]():
		return reflect.ValueOf(d.sw.mapRule())
	case reflect.TypeFor[PFCRule]():
		return reflect.ValueOf(d.sw.pfcRule())
	case reflect.TypeFor[SchedulerRule]():
		return reflect.ValueOf(d.sw.schedulerRule())
	case reflect.TypeFor[WatchdogRule]():
		return reflect.ValueOf(d.sw.watchdogRule())
	case reflect.TypeFor[SwitchRule]():
		return reflect.ValueOf(SwitchRule{Switch: d.spec.Switch})
	case reflect.TypeFor[NICRule]():
		return reflect.ValueOf(NICRule{NIC: d.spec.NIC})
	}
	return reflect.Zero(t)
}
