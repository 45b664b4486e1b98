package switchconf

import (
	"slices"
	"strconv"
	"strings"
)

// reference is a name that an entry of a table must have.
type reference struct {
	table, name string
	leaf        *leaf
}

// dereference returns the name in a reference: as it is, or in the form of
// images before 2021, [TABLE|name]; of APPL_DB, [TABLE_TABLE:name].
func dereference(l *leaf, s, table string) (string, error) {
	inner, ok := strings.CutPrefix(s, "[")
	if !ok {
		return s, nil
	}
	inner, ok = strings.CutSuffix(inner, "]")
	i := strings.IndexAny(inner, "|:")
	if !ok || i < 0 {
		return "", l.fail("want a name of %s, or a reference such as [%s|name]", table, table)
	}
	of := strings.TrimSuffix(inner[:i], "_TABLE")
	if to, ok := sonicAliases[of]; ok {
		of = to
	}
	if of != table {
		return "", l.fail("refers to table %s: want one of %s", inner[:i], table)
	}
	return inner[i+1:], nil
}

// resolve checks that what is referred to exists. Where the files lack the
// table as a whole, the name is kept and the explanation says so.
func (r *sonicReader) resolve() error {
	known := map[[2]string]bool{}
	for _, ref := range r.refs {
		id := [2]string{ref.table, ref.name}
		if ref.name == "NULL" || ref.name == "" || known[id] {
			continue
		}
		if r.has(ref.table, ref.name) {
			known[id] = true
			continue
		}
		if ref.table == "BUFFER_PROFILE" {
			if ok, err := r.autoProfile(ref); ok || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		if !r.tables[ref.table] {
			r.mark(ref.leaf.from, "names "+ref.name+" of table "+ref.table+", which is in none of the files")
			continue
		}
		return ref.leaf.fail("there is no %s in %s: want one of %s", printable(ref.name), ref.table, strings.Join(r.names(ref.table), ", "))
	}
	return r.resolvePorts()
}

// mark adds to the explanation of a field.
func (r *sonicReader) mark(at Origin, doc string) {
	if i, ok := r.at[at]; ok && r.fields[i].Status == Understood && !strings.Contains(r.fields[i].Doc, doc) {
		r.fields[i].Doc += "; " + doc
	}
}

func (r *sonicReader) has(table, name string) bool {
	return slices.Contains(r.names(table), name)
}

// names returns the names of the entries of a table.
func (r *sonicReader) names(table string) []string {
	switch table {
	case "BUFFER_POOL":
		return namesOf(r.sw.Pools, func(p *Pool) string { return p.Name })
	case "BUFFER_PROFILE":
		return namesOf(r.sw.Profiles, func(p *Profile) string { return p.Name })
	case "WRED_PROFILE":
		return namesOf(r.sw.WRED, func(w *WRED) string { return w.Name })
	case "SCHEDULER":
		return namesOf(r.sw.Schedulers, func(s *Scheduler) string { return s.Name })
	}
	if at := mapsOf(table); at != nil {
		return namesOf(*at(r.sw), func(m *Map) string { return m.Name })
	}
	return nil
}

func namesOf[T any](list []T, name func(*T) string) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = name(&list[i])
	}
	return out
}

// resolvePorts checks that ports exist where there is a table of them.
func (r *sonicReader) resolvePorts() error {
	if !r.tables["PORT"] {
		return nil
	}
	kept := r.sw.Ports[:0]
	for _, p := range r.sw.Ports {
		_, table, _ := strings.Cut(p.From.Path, "/")
		table, _, _ = strings.Cut(table, "/")
		switch {
		case table == "PORT", strings.Contains(p.Name, "|"):
			kept = append(kept, p)
		case table == "CABLE_LENGTH" && len(p.PGs)+len(p.Queues) == 0:
			r.mark(p.Cable.From, "there is no such port in PORT")
		default:
			return &Error{From: p.From, Problem: "there is no port " + printable(p.Name) + " in PORT"}
		}
	}
	r.sw.Ports = kept
	return nil
}

// sort puts ports in the order of their numbers and bindings in that of their
// indexes.
func (r *sonicReader) sort() {
	slices.SortStableFunc(r.sw.Ports, func(a, b Port) int { return natural(a.Name, b.Name) })
	for i := range r.sw.Ports {
		p := &r.sw.Ports[i]
		sortPGs(p)
		slices.SortStableFunc(p.Queues, func(a, b Queue) int { return a.Index - b.Index })
	}
}

// natural compares names with the numbers in them by value: Ethernet8 comes
// before Ethernet10.
func natural(a, b string) int {
	for a != "" && b != "" {
		na, ra := leadingNumber(a)
		nb, rb := leadingNumber(b)
		if na >= 0 && nb >= 0 {
			if na != nb {
				return na - nb
			}
			a, b = ra, rb
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

// leadingNumber returns the number that s begins with, or -1, and the rest.
func leadingNumber(s string) (int, string) {
	i := 0
	for i < len(s) && i < 9 && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	n, err := strconv.Atoi(s[:i])
	if err != nil {
		return -1, s
	}
	return n, s[i:]
}

// portNames splits the first part of a key: names separated by commas.
func portNames(e *entry, list string) ([]string, error) {
	var names []string
	for n := range strings.SplitSeq(list, ",") {
		if n = strings.TrimSpace(n); n == "" {
			return nil, e.fail("a port without a name: want keys such as Ethernet0, or Ethernet0,Ethernet4")
		}
		if slices.Contains(names, n) {
			return nil, e.fail("port %s stands in the key twice", n)
		}
		if from, to, ok := portSpan(n); ok {
			return nil, e.fail("%s: a range of ports: want each port of it, such as %s,%s", printable(n), from, to)
		}
		names = append(names, n)
	}
	return names, nil
}

// portSpan reports whether a name is a range of ports, such as
// Ethernet0-Ethernet8, which no table of SONiC has.
func portSpan(name string) (from, to string, ok bool) {
	from, to, ok = strings.Cut(name, "-")
	kind := strings.TrimRight(from, "0123456789")
	number, same := strings.CutPrefix(to, kind)
	_, err := strconv.Atoi(number)
	return from, to, ok && same && err == nil && kind != "" && kind != from
}

// portRange splits a key such as Ethernet0,Ethernet4|3-4 into ports and an
// index range; names of ports in a chassis have bars of their own.
func portRange(e *entry, most int) (ports []string, low, high int, err error) {
	i := strings.LastIndexByte(e.key, '|')
	if i < 0 {
		return nil, 0, 0, e.fail("want a key of ports and indexes, such as Ethernet0|3-4")
	}
	if ports, err = portNames(e, e.key[:i]); err != nil {
		return nil, 0, 0, err
	}
	a, b, ranged := strings.Cut(e.key[i+1:], "-")
	low, err1 := strconv.Atoi(a)
	high = low
	var err2 error
	if ranged {
		high, err2 = strconv.Atoi(b)
	}
	if err1 != nil || err2 != nil || low < 0 || high < low || high > most {
		return nil, 0, 0, e.fail("%s: want an index or a range of them from 0 to %d, such as 3-4", printable(e.key[i+1:]), most)
	}
	return ports, low, high, nil
}

func sortPGs(p *Port) {
	slices.SortStableFunc(p.PGs, func(a, b PG) int { return a.Index - b.Index })
}
