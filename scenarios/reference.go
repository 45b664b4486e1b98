package scenarios

import (
	"fmt"
	"reflect"
	"strings"

	"rdmasim/sim"
)

// Reference returns the reference of all keys of a scenario as Markdown, from
// the structs, their defaults and the catalogues.
func Reference() string {
	r := &reference{}
	r.print("%s", referenceHead)
	d := Defaults()
	r.section("Top level", "", "", reflect.ValueOf(d))
	for _, name := range []string{"topology", "congestion", "workload", "threshold", "watchdog", "bus", "nic_cache", "fault"} {
		r.catalogue(catalogues[name])
	}
	return r.b.String()
}

const referenceHead = `# Keys of a scenario

**What can a scenario say, and what holds where it says nothing?**

This page is made from the program (` + "`go test ./scenarios -run TestReference -update`" + `).

A scenario is a YAML file. A key that is not on this page is an error, and so is
a quantity without a unit. Anchors, aliases and tags are not supported.

| quantity | written as |
|---|---|
| duration | ` + "`500ns`, `1.5us`, `10ms`, `2s`" + ` |
| rate | ` + "`100Gbps`, `40Mbps`" + ` |
| size | ` + "`400KB` (1000 bytes each), `32MiB` (1024 * 1024), `64B`" + ` |
| length | ` + "`40m`, `2km`" + `; a metre of cable delays by 5 ns |
| ratio | ` + "`0.2`, `20%`, `1/5`" + ` |
| count, priority, DSCP, MTU | a whole number without a unit |

A topology, an algorithm or a workload is written as its name with parameters,
` + "`{star: {hosts: 9}}`, or as its name alone, `star`" + `. Parameters that are not given
have the defaults of the tables; ` + "`preset: NAME`" + ` among them starts from another set.
Where the key has a default of the same name, they are as there:
` + "`nic: {congestion: {dcqcn: {g: 1/16}}}`" + ` is the default of ` + "`nic.congestion`" + ` with another g.

` + "```yaml\n" + referenceExample + "```" + `

On the command line, ` + "`--set switch.ecn.3.kmin=200KB`" + ` changes one value; items of lists
are numbered from 0, as in ` + "`--set traffic.0.incast.senders=4`" + `. The value is YAML:
` + "`--set 'switch.pfc.priorities=[3, 4]'`" + `.
`

// referenceExample is the scenario that the reference begins with.
const referenceExample = `# Eight senders, one receiver: ECN should hold the queue before PFC has to.
name: incast
duration: 5ms
topology: {star: {hosts: 9, rate: 100Gbps, cable: 100m}}
switch:
  buffer: {size: 32MiB, alpha: 1/8, headroom: auto}
  ecn: {3: {kmin: 400KB, kmax: 1600KB, pmax: 20%}}
switches:
  - {match: sw0, latency: 600ns}
nic: {path_mtu: 4096, congestion: {dcqcn: {preset: sigcomm15, g: 1/16}}}
traffic:
  - incast: {senders: 8, receiver: h0, message: 1MB, repeat: forever}
expect:
  - packets.dropped.lossless == 0
`

type reference struct{ b strings.Builder }

func (r *reference) print(format string, args ...any) { fmt.Fprintf(&r.b, format, args...) }

// section prints the table of a struct, and after it those of the structs in it.
func (r *reference) section(title, path, note string, v reflect.Value) {
	r.print("\n## %s\n\n", title)
	if note != "" {
		r.print("%s\n\n", note)
	}
	r.print("| key | takes | default | meaning |\n|---|---|---|---|\n")
	type inner struct {
		f field
		v reflect.Value
	}
	var list []inner
	for _, f := range fieldsOf(v.Type()) {
		x := v.FieldByIndex(f.index)
		what, def := takes(f), defaultText(f, x)
		if isSection(f.typ) {
			list = append(list, inner{f, x})
			what, def = "[keys]("+anchor(join(path, f.key))+")", ""
		}
		r.print("| `%s` | %s | %s | %s |\n", f.key, what, def, cell(f.doc))
	}
	for _, in := range list {
		r.inner(in.f, join(path, in.f.key), in.v)
	}
}

// inner prints the section of a struct, or of the elements of a list or map.
func (r *reference) inner(f field, path string, v reflect.Value) {
	switch t := f.typ; t {
	case reflect.TypeFor[[]SwitchRule]():
		r.rule(path, "switch")
	case reflect.TypeFor[[]NICRule]():
		r.rule(path, "nic")
	case reflect.TypeFor[map[int]ECNSpec]():
		r.section("`"+path+".PRIORITY`", path, "A curve per priority, as in `{3: {kmin: 400KB, kmax: 1600KB, pmax: 20%}}`. The key `baseline` takes a published curve instead, as in `{3: {baseline: sonic-default}}`; keys beside it replace values of it. Names: see [baselines](baselines.md).", reflect.ValueOf(DefaultECN()))
	default:
		switch t.Kind() {
		case reflect.Slice:
			r.section("`"+path+"`", path, "A list, each item with these keys.", freshly(t.Elem()))
			return
		case reflect.Map:
			r.section("`"+path+".QUEUE`", path, "Values per queue.", freshly(t.Elem()))
			return
		}
		r.section("`"+path+"`", path, "", v)
	}
}

// freshly returns what an item of a list starts from in a scenario that says
// nothing else.
func freshly(t reflect.Type) reflect.Value {
	d := Defaults()
	return (&decoder{spec: &d, sw: &d.Switch}).fresh(t)
}

func (r *reference) rule(path, base string) {
	r.print("\n## `%s`\n\nA list. Each item has the key `match`, a name or a pattern (`tor*`, `*[02468]`), and any\n"+
		"keys of [%s](%s); the others are as they are there. Of several rules that match, the last holds.\n", path, base, anchor(base))
}

// isSection reports whether values of the type have keys described elsewhere.
func isSection(t reflect.Type) bool {
	if t == memberType || t == reflect.TypeFor[[]TrafficSpec]() || t == reflect.TypeFor[[]FaultSpec]() || isText(t) {
		return false
	}
	switch t.Kind() {
	case reflect.Struct:
		return true
	case reflect.Slice, reflect.Map:
		return t.Elem().Kind() == reflect.Struct && !isText(t.Elem())
	}
	return false
}

// anchor returns the link to a section, as GitHub makes it from the heading.
func anchor(path string) string {
	switch {
	case strings.HasSuffix(path, ".ecn"):
		path += ".priority"
	case strings.HasSuffix(path, ".shape"):
		path += ".queue"
	}
	return "#" + strings.ReplaceAll(strings.ToLower(path), ".", "")
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// takes says in a word or two what a field takes.
func takes(f field) string {
	if f.oneOf != nil {
		return "`" + strings.Join(f.oneOf, "`, `") + "`"
	}
	if f.key == "duration" && f.typ == reflect.TypeFor[sim.Duration]() && strings.Contains(f.doc, untilDone) {
		return "duration, or `" + untilDone + "`"
	}
	word := typeWord(f.typ)
	if f.values != nil && f.typ.Kind() != reflect.Map {
		word += " " + f.values.String()
	}
	if f.typ.Kind() == reflect.Map && f.keys != nil {
		word = fmt.Sprintf("map from %v", f.keys)
		if f.values != nil {
			word += fmt.Sprintf(" to %v", f.values)
		}
	}
	return word
}

func typeWord(t reflect.Type) string {
	switch reflect.Zero(t).Interface().(type) {
	case sim.Duration:
		return "duration"
	case sim.Rate:
		return "rate"
	case sim.Bytes:
		return "size"
	case sim.Length:
		return "length"
	case sim.Ratio:
		return "ratio"
	case Auto[sim.Bytes]:
		return "`auto`, or size"
	case Auto[sim.Duration]:
		return "`auto`, or duration"
	case Member:
		return "name with parameters"
	case []TrafficSpec:
		return "list of [workloads](#workloads)"
	case []FaultSpec:
		return "list of [faults](#faults)"
	}
	if isText(t) && t.Kind() == reflect.Slice {
		return "text, or list of text"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "`true`, `false`"
	case reflect.Slice:
		return "list of " + typeWord(t.Elem())
	case reflect.Map:
		return "map"
	case reflect.Struct:
		if !isText(t) {
			return "keys"
		}
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Uint16, reflect.Uint8, reflect.Int32:
		if !isText(t) {
			return "number"
		}
	}
	return "text"
}

// defaultText prints the default of a field.
func defaultText(f field, v reflect.Value) string {
	switch {
	case f.required || f.key == "topology" || f.typ == reflect.TypeFor[[]TrafficSpec]():
		return "must be given"
	case f.key == "name" && v.String() == Defaults().Name:
		return "that of the file"
	case f.typ == memberType:
		m := v.Interface().(Member)
		if preset := presetOf(m, f.catalogue); preset != "" {
			return fmt.Sprintf("`{%s: {%s: %s}}`", m.Name, presetKey, preset)
		}
		return "`" + m.Name + "`"
	case f.key == "duration" && v.Int() == 0 && strings.Contains(f.doc, untilDone):
		return "`" + untilDone + "`"
	}
	text := treeOf(v).flow()
	if text == "" || text == "[]" || text == "{}" {
		return "none"
	}
	return "`" + text + "`"
}

// presetOf names the preset that a member's parameters are.
func presetOf(m Member, kind string) string {
	e, err := catalogues[kind].entry(m.Name)
	if err != nil {
		return ""
	}
	for _, name := range e.names {
		if reflect.DeepEqual(e.presets[name], m.Params) {
			return name
		}
	}
	return ""
}

// flow prints a tree in one line.
func (t *tree) flow() string {
	parts := make([]string, len(t.items))
	for i, item := range t.items {
		parts[i] = item.flow()
		if t.shape == object {
			parts[i] = t.keys[i] + ": " + parts[i]
		}
	}
	switch t.shape {
	case list:
		return "[" + strings.Join(parts, ", ") + "]"
	case object:
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return t.text
}

// catalogue prints the members of one kind.
func (r *reference) catalogue(c catalogue) {
	r.print("\n## %s\n", c.title)
	for _, name := range c.names() {
		e, err := c.entry(name)
		if err != nil {
			continue
		}
		r.print("\n### `%s`\n\n%s\n", name, sentence(e.doc))
		v := reflect.ValueOf(e.defaults)
		if v.Kind() != reflect.Struct || len(fieldsOf(v.Type())) == 0 {
			continue
		}
		r.print("\n| key | takes | default | meaning |\n|---|---|---|---|\n")
		r.params(v, "")
		r.presets(e)
	}
}

// params prints the rows of a parameter struct; those of lists of structs follow
// theirs.
func (r *reference) params(v reflect.Value, prefix string) {
	for _, f := range fieldsOf(v.Type()) {
		x := v.FieldByIndex(f.index)
		def := defaultText(f, x)
		nested := isSection(f.typ)
		if nested && x.Kind() == reflect.Slice && x.Len() > 0 {
			def = fmt.Sprintf("%d items", x.Len())
		}
		r.print("| `%s%s` | %s | %s | %s |\n", prefix, f.key, takes(f), def, cell(f.doc))
		if nested && f.typ.Kind() == reflect.Slice {
			r.params(reflect.Zero(f.typ.Elem()), prefix+f.key+"[].")
		}
	}
}

// presets prints a table of the values in which presets differ from the
// defaults or from each other.
func (r *reference) presets(e *entry) {
	if len(e.names) == 0 {
		return
	}
	sets := []reflect.Value{reflect.ValueOf(e.defaults)}
	r.print("\n| preset | (none) |")
	for _, name := range e.names {
		r.print(" `%s` |", name)
		sets = append(sets, reflect.ValueOf(e.presets[name]))
	}
	r.print("\n|---|%s\n", strings.Repeat("---|", len(sets)))
	for _, f := range fieldsOf(sets[0].Type()) {
		values := make([]string, len(sets))
		differ := false
		for i, set := range sets {
			values[i] = presetText(f, set.FieldByIndex(f.index))
			differ = differ || values[i] != values[0]
		}
		if differ {
			r.print("| `%s` | %s |\n", f.key, strings.Join(values, " | "))
		}
	}
}

// presetText prints a value of a preset; long lists as their length.
func presetText(f field, v reflect.Value) string {
	if isSection(f.typ) && v.Kind() == reflect.Slice {
		return fmt.Sprintf("%d items", v.Len())
	}
	return treeOf(v).flow()
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
