package switchconf

import (
	"fmt"
	"slices"

	"rdmasim/sim"
)

// FieldECN is the whole curve of a class in a Lack.
const FieldECN = "ecn"

// namer gives out names that no vendor's language misreads, each once.
type namer struct {
	r    *Rendered
	used map[string]string // by what they stand for
}

// of returns the name for s.
func (n *namer) of(s string) string {
	if n.used == nil {
		n.used = map[string]string{}
	}
	if name, ok := n.used[s]; ok {
		return name
	}
	name := nameOf(s)
	taken := func(x string) bool {
		for _, y := range n.used {
			if x == y {
				return true
			}
		}
		return false
	}
	for i := 2; taken(name); i++ {
		name = fmt.Sprintf("%s_%d", nameOf(s), i)
	}
	n.used[s] = name
	if name != s {
		n.r.rounded(-1, "name", clean(s), name, "names are letters, digits, - and _")
	}
	return name
}

// hasECN reports whether a class of a port marks.
func (p *PortView) hasECN() bool {
	return slices.ContainsFunc(p.Class[:], func(c ClassView) bool { return c.ECN })
}

// lackBuffers notes the fields of buffers that a vendor's words do not say.
func (r *Rendered) lackBuffers(tc int, c *ClassView, why string, fields ...string) {
	if !c.PFC || !c.Buffer {
		return
	}
	for _, f := range fields {
		switch {
		case f == FieldHeadroom:
			r.lackSize(tc, f, c.Headroom, why)
		case f == FieldXon:
			r.lackSize(tc, f, c.Xon, why)
		case f == FieldXonOffset:
			r.lackSize(tc, f, c.XonOffset, why)
		case f == FieldReserve:
			r.lackSize(tc, f, c.Reserve, why)
		case f == FieldAlpha && c.Dynamic:
			r.lack(tc, f, fmt.Sprintf("2^%d", c.Alpha), "%s", why)
		case f == FieldAlpha && c.Static > 0:
			r.lackSize(tc, FieldStatic, c.Static, why)
		}
	}
}

func (r *Rendered) lackSize(tc int, field string, n sim.Bytes, why string) {
	if n > 0 {
		r.lack(tc, field, fmt.Sprintf("%d B", n), "%s", why)
	}
}

// lackSchedule notes how queues are served, and that a class leaves by a queue
// or is charged to a group of another number.
func (r *Rendered) lackSchedule(tc int, c *ClassView, queues bool) {
	const why = "how queues are served is not exported to this format"
	if c.Strict {
		r.lack(tc, FieldStrict, "strict", why)
	}
	if c.Weight > 0 {
		r.lack(tc, FieldWeight, fmt.Sprint(c.Weight), why)
	}
	if queues && c.Queue != tc && (c.ECN || c.PFC) {
		r.lack(tc, FieldQueue, fmt.Sprint(c.Queue), "this format has the queue of the class: curves are written for queue %d", c.Queue)
	}
	if c.Group != tc && c.PFC {
		r.lack(tc, FieldGroup, fmt.Sprint(c.Group), "priority groups are not in this format")
	}
}

// lackWatchdog notes a watchdog that a vendor's words do not say.
func (r *Rendered) lackWatchdog(w WatchdogView, why string) {
	if w.Detect > 0 {
		r.lack(-1, FieldWatchdog, fmt.Sprintf("%s, detect %v, restore %v", w.Action, w.Detect, w.Restore), "%s", why)
	}
}

// others returns the DSCPs of a port that the map sends to a class with
// nothing else about it: they need a line too, where the vendor's default is
// not class 0.
func (p *PortView) mapped() (tcs []int) {
	for tc := range p.Class {
		if len(p.dscps(tc)) > 0 {
			tcs = append(tcs, tc)
		}
	}
	return tcs
}

// roundUp rounds up to a multiple of unit.
func roundUp(n, unit sim.Bytes) sim.Bytes {
	if unit <= 0 {
		return n
	}
	return (n + unit - 1) / unit * unit
}

// roundNear rounds to the nearest multiple of unit, but not to 0.
func roundNear(n, unit sim.Bytes) sim.Bytes {
	return max((n+unit/2)/unit, 1) * unit
}
