package switchconf

import (
	"fmt"
	"slices"
	"strings"
)

// sonicChanges returns the operations that turn the tables that a switch has
// into those that it is to have, field by field, at the keys that it has. It
// removes nothing, and leaves the lengths of cables alone: they are of the
// building, not of the configuration.
func sonicChanges(base *Switch, db []sonicTableOut, r *Rendered) (ops []patchOp, err error) {
	before, err := sonicDB(base, &Rendered{}, true)
	if err != nil {
		return nil, err
	}
	written := map[string]string{} // by path: a key such as Ethernet0|3-4 stands for several
	for _, t := range db {
		if t.table == "CABLE_LENGTH" {
			continue
		}
		old := entriesOf(before, t.table)
		for _, x := range t.entries {
			i := slices.IndexFunc(old, func(o sonicEntry) bool { return o.key == x.key })
			if i < 0 {
				ops = append(ops, patchOp{t.table, sonicOp(t.table, x)})
				continue
			}
			for _, f := range x.fields {
				path, op := changeOf(t.table, &old[i], f)
				if op == "" {
					path, op = pathOf(t.table, &old[i], f.name), "" // as it is
				}
				if text, ok := written[path]; ok && text != f.text {
					r.lack(-1, path, f.text, "the switch has one key for several queues, ports or groups, and they are to differ: split the key first")
					continue
				} else if ok {
					continue
				}
				written[path] = f.text
				if op != "" {
					ops = append(ops, patchOp{t.table, fmt.Sprintf(`{"op":%s,"path":%s,"value":%s}`, quoteJSON(op), quoteJSON(path), quoteJSON(f.text))})
				}
			}
		}
	}
	return ops, nil
}

func entriesOf(db []sonicTableOut, table string) []sonicEntry {
	for _, t := range db {
		if t.table == table {
			return t.entries
		}
	}
	return nil
}

// changeOf returns the operation that gives an entry a field, "" where it has
// it: a 0 that is not written is a 0.
func changeOf(table string, old *sonicEntry, f sonicField) (path, op string) {
	path = pathOf(table, old, f.name)
	i := slices.IndexFunc(old.fields, func(o sonicField) bool { return o.name == f.name })
	switch {
	case i < 0 && (f.text == "0" || f.text == ""):
		return path, ""
	case i < 0:
		return path, "add"
	case old.fields[i].text == f.text:
		return path, ""
	}
	return path, "replace"
}

// pathOf is where a field of an entry stands, in the file that it was read
// from: at its own place, or beside its siblings.
func pathOf(table string, old *sonicEntry, name string) string {
	for _, o := range old.fields {
		if i := strings.LastIndexByte(o.path, '/'); i > 0 {
			return o.path[:i] + pointer(name)
		}
	}
	return pointer(table, old.key, name)
}
