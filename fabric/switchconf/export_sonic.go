package switchconf

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rdmasim/sim"
)

var _ = registerRenderer("sonic-patch", "SONiC: RFC 6902 patches for config apply-patch, between a checkpoint and its rollback", sonicPatch{})

// sonicPatch renders CONFIG_DB entries as JSON patches, one for each effect.
type sonicPatch struct{}

func (sonicPatch) Comment() string { return "#" }

// alphas are the exponents of the dynamic threshold that chips of a vendor
// have. Source: SONiC's YANG model, -8..7; Broadcom XGS chips have eleven
// steps from 1/128 to 8 (general knowledge), NVIDIA's begin at 1/128.
func alphas(a *ASIC) (low, high int, of string) {
	switch {
	case a == nil:
	case a.Vendor == "broadcom":
		return -7, 3, a.Doc
	case a.Vendor == "nvidia":
		return -7, 7, a.Doc
	}
	return -8, 7, "SONiC"
}

// checkAlpha refuses a dynamic threshold that the chip does not have.
func (v *View) checkAlpha() error {
	low, high, of := alphas(v.ASIC)
	for _, p := range v.Ports {
		for tc, c := range p.Class {
			if c.PFC && c.Dynamic && (c.Alpha < low || c.Alpha > high) {
				return fmt.Errorf("port %s, class %d: alpha 2^%d: %s has 2^%d to 2^%d", clean(p.Name), tc, c.Alpha, of, low, high)
			}
		}
	}
	return nil
}

// effectOfTable is what writing to a table does.
func effectOfTable(table string) Effect {
	switch table {
	case "WRED_PROFILE", "QUEUE", "SCHEDULER", "PFC_WD", "LOSSLESS_TRAFFIC_PATTERN":
		return Hitless
	}
	return Drops
}

func (sonicPatch) Render(v *View, r *Rendered) error {
	if err := v.checkAlpha(); err != nil {
		return err
	}
	db, err := sonicDB(v.Switch, r, false)
	if err != nil {
		return err
	}
	ops := sonicOps(db)
	if v.Base != nil {
		if ops, err = sonicChanges(v.Base, db, v.Exact, r); err != nil {
			return err
		}
	}
	r.assume("sizes are bytes and probabilities per cent, as SONiC's YANG models have them: no kbytes anywhere")
	if v.Base == nil {
		r.assume("each table is there already: of one that is empty, add the whole table instead")
		r.assume("keys are of single queues and groups: a range that the switch has, such as Ethernet0|3-4, must go")
	} else {
		r.assume("only what differs from what the switch has is here: %d changes", len(ops))
	}
	const checkpoint = "before-rdmasim"
	r.line(Hitless, "sudo config checkpoint %s", checkpoint)
	n := 0
	for _, e := range Effects {
		var lines []string
		for _, op := range ops {
			if effectOfTable(op.table) == e {
				lines = append(lines, op.text)
			}
		}
		if len(lines) == 0 {
			continue
		}
		n++
		file := fmt.Sprintf("rdmasim-%d.json", n)
		r.line(e, "cat > %s <<'END_OF_PATCH'", file)
		for i, op := range lines {
			begin, end := " ", ","
			if i == 0 {
				begin = "["
			}
			if i == len(lines)-1 {
				end = "]"
			}
			r.line(e, "%s", begin+op+end)
		}
		r.line(e, "END_OF_PATCH")
		r.line(e, "sudo config apply-patch %s", file)
	}
	r.verify("show ecn", "show pfc counters", "show pfcwd stats", "show queue wredcounters", "show priority-group watermark headroom", "show queue watermark unicast", "mmuconfig -l")
	r.rollback("sudo config rollback "+checkpoint, "sudo config delete-checkpoint "+checkpoint)
	return nil
}

// patchOp is one operation of a patch.
type patchOp struct{ table, text string }

// sonicOps adds every entry as a whole.
func sonicOps(db []sonicTableOut) (ops []patchOp) {
	for _, t := range db {
		for _, x := range t.entries {
			ops = append(ops, patchOp{t.table, sonicOp(t.table, x)})
		}
	}
	return ops
}

// sonicOp is one operation of a patch. Its text is JSON in one line.
func sonicOp(table string, x sonicEntry) string {
	value := make([]string, len(x.fields))
	for i, f := range x.fields {
		value[i] = quoteJSON(f.name) + ":" + quoteJSON(f.text)
	}
	return fmt.Sprintf(`{"op":"add","path":%s,"value":{%s}}`, quoteJSON(pointer(table, x.key)), strings.Join(value, ","))
}

func quoteJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // no string does that
		return `""`
	}
	return string(b)
}

// SONiCConfig returns a switch as tables of CONFIG_DB: a piece of
// config_db.json. Reading it gives the switch again, except what the roundings
// say.
func SONiCConfig(sw *Switch) ([]byte, []Rounding, error) {
	r := &Rendered{}
	db, err := sonicDB(sw, r, false)
	if err != nil {
		return nil, nil, err
	}
	var b strings.Builder
	b.WriteString("{")
	for i, t := range db {
		fmt.Fprintf(&b, "%s\n  %s: {", comma(i), quoteJSON(t.table))
		for k, x := range t.entries {
			fmt.Fprintf(&b, "%s\n    %s: {", comma(k), quoteJSON(x.key))
			for j, f := range x.fields {
				fmt.Fprintf(&b, "%s%s: %s", []string{"", ", "}[min(j, 1)], quoteJSON(f.name), quoteJSON(f.text))
			}
			b.WriteString("}")
		}
		b.WriteString("\n  }")
	}
	b.WriteString("\n}\n")
	return []byte(b.String()), r.Rounded, nil
}

func comma(i int) string { return []string{"", ","}[min(i, 1)] }

// sonicTableOut is a table of CONFIG_DB that is written.
type sonicTableOut struct {
	table   string
	entries []sonicEntry
}

type sonicEntry struct {
	key    string
	fields []sonicField
	all    bool // what was not given too
}

// sonicField is a field with its text, and the pointer to where it stands in
// the file that it was read from.
type sonicField struct{ name, text, path string }

// given adds a field that is given.
func given[T any](x *sonicEntry, name string, v Value[T], text func(T) string) {
	if v.IsGiven() || x.all && v.IsSet() {
		x.fields = append(x.fields, sonicField{name, text(v.V), v.From.Path})
	}
}

func bytesText(n sim.Bytes) string { return strconv.FormatInt(int64(n), 10) }
func word[T ~string](s T) string   { return string(s) }
func listText(list []int) string   { return ints(list, ",") }

// checkSONiCName refuses names that a key of CONFIG_DB cannot have.
func checkSONiCName(kind, name string) error {
	if name == "" || len(name) > 256 || strings.ContainsAny(name, "|,[]") || clean(name) != name || strings.TrimSpace(name) != name {
		return fmt.Errorf("%s %q: a key of CONFIG_DB takes no | , [ ], no control characters and no spaces at its ends", kind, name)
	}
	return nil
}

// sonicDB turns a switch into tables, each in the order in which it is to be
// written: what is referred to comes first. all: with what stands in for values
// that nobody gave, and what the switch makes by itself.
func sonicDB(sw *Switch, r *Rendered, all bool) ([]sonicTableOut, error) {
	d := &sonicWriter{sw: sw, r: r, all: all}
	for _, f := range []func() error{d.pools, d.profiles, d.wred, d.maps, d.schedulers, d.device, d.ports, d.rest} {
		if err := f(); err != nil {
			return nil, err
		}
	}
	return d.db, nil
}

type sonicWriter struct {
	sw  *Switch
	r   *Rendered
	db  []sonicTableOut
	all bool
}

func (d *sonicWriter) entry(key string) sonicEntry { return sonicEntry{key: key, all: d.all} }

// add puts an entry into a table; one without fields only where empty says so.
func (d *sonicWriter) add(table string, x sonicEntry, empty bool) {
	if len(x.fields) == 0 && !empty {
		return
	}
	i := slices.IndexFunc(d.db, func(t sonicTableOut) bool { return t.table == table })
	if i < 0 {
		d.db = append(d.db, sonicTableOut{table: table})
		i = len(d.db) - 1
	}
	d.db[i].entries = append(d.db[i].entries, x)
}

// percentText writes whole per cent, and says so where it rounds.
func (d *sonicWriter) percentText(class int) func(sim.Ratio) string {
	return func(p sim.Ratio) string { return strconv.Itoa(d.r.percent(class, p, 0)) }
}

// msText writes milliseconds within what SONiC's YANG model allows.
func (d *sonicWriter) msText(low, high int64) func(sim.Duration) string {
	return func(t sim.Duration) string {
		n := int64(t+sim.Millisecond/2) / int64(sim.Millisecond)
		n = min(max(n, low), high)
		if sim.Duration(n)*sim.Millisecond != t {
			d.r.rounded(-1, FieldWatchdog, t.String(), (sim.Duration(n) * sim.Millisecond).String(), fmt.Sprintf("SONiC takes %d to %d whole milliseconds", low, high))
		}
		return strconv.FormatInt(n, 10)
	}
}
