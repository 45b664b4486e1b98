package switchconf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rdmasim/sim"
)

// sonicTable reads the entries of one table.
type sonicTable struct {
	read func(e *entry) error
}

// entry is one key of a table with its fields.
type entry struct {
	r          *sonicReader
	table, key string
	node       *node
	from       Origin
}

func (e *entry) fail(format string, args ...any) error {
	return &Error{From: e.from, Problem: fmt.Sprintf(format, args...)}
}

// column reads one field onto a T. A column without set is not about the fabric.
type column[T any] struct {
	name, doc string
	set       func(r *sonicReader, t *T, l *leaf) error
}

// rows reads the fields of an entry by the columns of its table, onto every
// target that its key names.
func rows[T any](e *entry, columns []column[T], targets []*T) error {
	for _, k := range e.node.keys {
		l := &leaf{table: e.table, key: e.key, name: k.name, node: k.value, from: e.r.origin(k.value.line, k.value.column, e.table, e.key, k.name)}
		f := Field{Table: e.table, Key: e.key, Name: k.name, Value: shown(k.value), From: l.from, Status: Understood}
		i := slices.IndexFunc(columns, func(c column[T]) bool { return c.name == k.name })
		switch {
		case k.name == "NULL":
			f.Status, f.Doc = Unrelated, "stands for an entry without fields"
		case i < 0:
			f.Status, f.Doc = Unknown, "a field that this version does not know"
		case columns[i].set == nil:
			f.Status, f.Doc = Unrelated, columns[i].doc
		default:
			f.Doc = columns[i].doc
			if l.node.shape == shapeObject || l.node.shape == shapeList || l.node.text == "null" && l.node.shape == shapeWord {
				return l.fail("is %s: want a string", l.node.shape)
			}
			for _, t := range targets {
				if err := columns[i].set(e.r, t, l); err != nil {
					return err
				}
			}
		}
		e.r.note(f)
	}
	if len(e.node.keys) == 0 {
		e.r.note(Field{Table: e.table, Key: e.key, From: e.from, Status: Understood, Doc: "an entry without fields"})
	}
	return nil
}

// shown returns a value as text, however it is written.
func shown(n *node) string {
	switch n.shape {
	case shapeObject:
		return fmt.Sprintf("{%d keys}", len(n.keys))
	case shapeList:
		words := make([]string, len(n.items))
		for i, x := range n.items {
			words[i] = shown(x)
		}
		return strings.Join(words, ",")
	}
	return n.text
}

// put stores a value. A second value of the same file is an error unless it is
// the same; one of a later file takes the place of the first.
func put[V any](r *sonicReader, at *Value[V], v V, l *leaf) error {
	if at.From.Kind == Given {
		same := fmt.Sprint(at.V) == fmt.Sprint(v)
		if at.From.File == l.from.File && !same {
			return l.fail("%s has another value in line %d already (%s): remove one of the two", l.name, at.From.Line, at.From.Path)
		}
		if !same {
			r.override(at.From, l.from)
		}
	}
	at.V, at.From = v, l.from
	return nil
}

// override notes that a later file gives another value.
func (r *sonicReader) override(old, by Origin) {
	if i, ok := r.at[old]; ok {
		r.fields[i].Status = Overridden
		r.fields[i].Doc = "overridden by " + by.String()
	}
}

// whole reads a whole number of a range.
func whole(l *leaf, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(l.node.text), 10, 64)
	if err != nil || n < low || n > high {
		return 0, l.fail("want a whole number from %d to %d", low, high)
	}
	return n, nil
}

// maxBytes bounds sizes: no switch buffer comes near.
const maxBytes = 1 << 40

func sizeColumn[T any](name, doc string, at func(*T) *Value[sim.Bytes]) column[T] {
	return column[T]{name, doc, func(r *sonicReader, t *T, l *leaf) error {
		n, err := whole(l, 0, maxBytes)
		if err != nil {
			return l.fail("want bytes, a whole number from 0 to %d", int64(maxBytes))
		}
		return put(r, at(t), sim.Bytes(n), l)
	}}
}

func intColumn[T any](name, doc string, low, high int64, at func(*T) *Value[int]) column[T] {
	return column[T]{name, doc, func(r *sonicReader, t *T, l *leaf) error {
		n, err := whole(l, low, high)
		if err != nil {
			return err
		}
		return put(r, at(t), int(n), l)
	}}
}

// percentColumn reads per cent.
func percentColumn[T any](name, doc string, at func(*T) *Value[sim.Ratio]) column[T] {
	return column[T]{name, doc, func(r *sonicReader, t *T, l *leaf) error {
		n, err := whole(l, 0, 100)
		if err != nil {
			return l.fail("want per cent, a whole number from 0 to 100")
		}
		return put(r, at(t), sim.Ratio(n)/100, l)
	}}
}

// timeColumn reads milliseconds.
func timeColumn[T any](name, doc string, low, high int64, at func(*T) *Value[sim.Duration]) column[T] {
	return column[T]{name, doc, func(r *sonicReader, t *T, l *leaf) error {
		n, err := whole(l, low, high)
		if err != nil {
			return l.fail("want milliseconds, a whole number from %d to %d", low, high)
		}
		return put(r, at(t), sim.Duration(n)*sim.Millisecond, l)
	}}
}

func textColumn[T any](name, doc string, at func(*T) *Value[string]) column[T] {
	return column[T]{name, doc, func(r *sonicReader, t *T, l *leaf) error {
		return put(r, at(t), l.node.text, l)
	}}
}

// wordColumn reads one of some words, in any case, and keeps the form of words.
func wordColumn[T any, W ~string](name, doc string, words []W, at func(*T) *Value[W]) column[T] {
	return column[T]{name, doc, func(r *sonicReader, t *T, l *leaf) error {
		for _, w := range words {
			if strings.EqualFold(string(w), l.node.text) {
				return put(r, at(t), w, l)
			}
		}
		return l.fail("want one of %s", join(words))
	}}
}

func join[W ~string](words []W) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}

// boolColumn reads true or false, and the words that stand for them.
func boolColumn[T any](name, doc, yes, no string, at func(*T) *Value[bool]) column[T] {
	return column[T]{name, doc, func(r *sonicReader, t *T, l *leaf) error {
		switch strings.ToLower(l.node.text) {
		case yes:
			return put(r, at(t), true, l)
		case no:
			return put(r, at(t), false, l)
		}
		return l.fail("want %s or %s", yes, no)
	}}
}

// priorityColumn reads a list of priorities such as 3,4.
func priorityColumn[T any](name, doc string, at func(*T) *Value[[]int]) column[T] {
	return column[T]{name, doc, func(r *sonicReader, t *T, l *leaf) error {
		list, err := priorities(l)
		if err != nil {
			return err
		}
		return put(r, at(t), list, l)
	}}
}

func priorities(l *leaf) ([]int, error) {
	list := []int{}
	if strings.TrimSpace(l.node.text) == "" {
		return list, nil
	}
	for w := range strings.SplitSeq(l.node.text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(w))
		if err != nil || n < 0 || n > 7 {
			return nil, l.fail("want priorities from 0 to 7 separated by commas, such as 3,4")
		}
		if slices.Contains(list, n) {
			return nil, l.fail("priority %d stands there twice: want each once", n)
		}
		list = append(list, n)
	}
	slices.Sort(list)
	return list, nil
}

// refColumn reads the name of an entry of a table.
func refColumn[T any](name, doc, table string, at func(*T) *Value[string]) column[T] {
	return column[T]{name, doc, func(r *sonicReader, t *T, l *leaf) error {
		s, err := dereference(l, l.node.text, table)
		if err != nil {
			return err
		}
		r.refs = append(r.refs, reference{table: table, name: s, leaf: l})
		return put(r, at(t), s, l)
	}}
}

// refsColumn reads a list of names of entries of a table.
func refsColumn[T any](name, doc, table string, at func(*T) *Value[[]string]) column[T] {
	return column[T]{name, doc, func(r *sonicReader, t *T, l *leaf) error {
		var names []string
		for w := range strings.SplitSeq(l.node.text, ",") {
			s, err := dereference(l, strings.TrimSpace(w), table)
			if err != nil {
				return err
			}
			r.refs = append(r.refs, reference{table: table, name: s, leaf: l})
			names = append(names, s)
		}
		return put(r, at(t), names, l)
	}}
}
