package switchconf

import (
	"fmt"
	"slices"
	"strings"
)

// sonicChanges returns the operations that turn the tables that a switch has
// into those that it is to have, field by field, at the keys that it has. It
// leaves the lengths of cables alone: they are of the building, not of the
// configuration. It removes nothing, unless the switch is to have exactly what
// is in the tables.
func sonicChanges(base *Switch, db []sonicTableOut, exact bool, r *Rendered) (ops []patchOp, err error) {
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
	if exact {
		ops = append(ops, sonicRemovals(before, db)...)
	}
	return ops, nil
}

// sonicRemovals take away the entries and fields that a switch is not to have.
func sonicRemovals(before, db []sonicTableOut) (ops []patchOp) {
	remove := func(table, path string) {
		ops = append(ops, patchOp{table, fmt.Sprintf(`{"op":"remove","path":%s}`, quoteJSON(path))})
	}
	for i := len(before) - 1; i >= 0; i-- { // tables refer to earlier ones
		t := before[i]
		if t.table == "CABLE_LENGTH" {
			continue
		}
		now := entriesOf(db, t.table)
		for _, x := range t.entries {
			k := slices.IndexFunc(now, func(o sonicEntry) bool { return o.key == x.key })
			if k < 0 {
				remove(t.table, pointer(t.table, x.key))
				continue
			}
			for _, f := range x.fields {
				if !slices.ContainsFunc(now[k].fields, func(o sonicField) bool { return o.name == f.name }) {
					remove(t.table, pathOf(t.table, &x, f.name))
				}
			}
		}
	}
	return ops
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
// it: a 0 that is not written is a 0, except in a map.
func changeOf(table string, old *sonicEntry, f sonicField) (path, op string) {
	path = pathOf(table, old, f.name)
	i := slices.IndexFunc(old.fields, func(o sonicField) bool { return o.name == f.name })
	switch {
	case i < 0 && (f.text == "0" || f.text == "") && !strings.Contains(table, "MAP"):
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
