package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// counterColumns are the columns of counters.csv. derived_from is empty for the
// counters of the run; in rows that repeat them under an operator's name it
// says how the value came about.
var counterColumns = []string{"object", "prio", "name", "value", "derived_from"}

func compareCounters(a, b Counter) int {
	if a.Object != b.Object {
		return natural(a.Object, b.Object)
	}
	return cmp.Or(cmp.Compare(a.Prio, b.Prio), strings.Compare(a.Name, b.Name))
}

// sortCounters orders counters by object, priority and name. Two of the same
// key are an error.
func sortCounters(list []Counter) error {
	for i := range list {
		list[i].Object, list[i].Name = clean(list[i].Object), clean(list[i].Name)
		list[i].Prio = max(list[i].Prio, -1)
	}
	slices.SortStableFunc(list, compareCounters)
	for i := 1; i < len(list); i++ {
		if compareCounters(list[i-1], list[i]) == 0 {
			return fmt.Errorf("counter %s of %s, priority %d, was given twice", list[i].Name, list[i].Object, list[i].Prio)
		}
	}
	return nil
}

func appendCounter(b []byte, c *Counter, from string) []byte {
	b = append(appendField(b, c.Object), ',')
	b = append(strconv.AppendInt(b, int64(c.Prio), 10), ',')
	b = append(appendField(b, c.Name), ',')
	b = append(appendFloat(b, c.Value), ',')
	b = appendField(b, from)
	return append(b, '\n')
}

// counter reads a row of counters.csv; derived is true for an operator's name.
func (r *row) counter() (c Counter, derived bool, err error) {
	prio, perr := strconv.ParseInt(r.field(1), 10, 8)
	if perr != nil || prio < -1 {
		r.fail(1, "a priority (-1 = none)")
	}
	value, verr := strconv.ParseFloat(r.field(3), 64)
	if verr != nil {
		r.fail(3, "a number")
	}
	c = Counter{Object: r.text(0), Prio: int8(prio), Name: r.text(2), Value: value}
	return c, r.field(4) != "", r.err
}
