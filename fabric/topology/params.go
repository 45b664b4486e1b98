package topology

import (
	"fmt"
	"math/bits"

	"rdmasim/sim"
)

// Defaults of every topology: 100 Gb/s, and 100 m of cable at 5 ns/m.
const (
	DefaultRate  = 100 * sim.Gbps
	DefaultDelay = 500 * sim.Nanosecond
)

// span is how long a link is, as a user gives it: a delay or a cable.
type span struct {
	delay sim.Duration
	cable sim.Length
}

// topSpan checks the keys delay and cable of a topology. A cable replaces the
// default delay; beside any other delay it must agree with it.
func topSpan(delay sim.Duration, cable sim.Length) (span, error) {
	if cable != 0 && delay == DefaultDelay {
		delay = cable.Delay()
	}
	if cable == 0 && delay <= 0 {
		return span{}, fmt.Errorf("delay: %v: want more than 0, for example 500ns, or a cable such as 100m", delay)
	}
	return checkSpan("", span{delay, cable})
}

// or returns the span of the keys PREFIXdelay and PREFIXcable, s where neither is given.
func (s span) or(prefix string, delay sim.Duration, cable sim.Length) (span, error) {
	if delay == 0 && cable == 0 {
		return s, nil
	}
	return checkSpan(prefix, span{delay, cable})
}

func checkSpan(prefix string, s span) (span, error) {
	if s.delay < 0 || s.cable < 0 {
		return s, fmt.Errorf("%sdelay %v, %scable %v: must not be negative", prefix, s.delay, prefix, s.cable)
	}
	if s.cable != 0 && s.delay != 0 && s.delay != s.cable.Delay() {
		return s, fmt.Errorf("%sdelay: %v contradicts %scable: %v, which takes %v: give one of them", prefix, s.delay, prefix, s.cable, s.cable.Delay())
	}
	if s.delay == 0 {
		s.delay = s.cable.Delay()
	}
	return s, nil
}

// wire returns a link of that rate and span.
func (s span) wire(rate sim.Rate) Wire { return Wire{Rate: rate, Delay: s.delay, Cable: s.cable} }

// check is one demand on a parameter; checks returns the first that fails.
type check struct {
	key   string
	value int
	least int
}

func checks(list ...check) error {
	for _, c := range list {
		if c.value < c.least {
			return fmt.Errorf("%s: %d: want at least %d", c.key, c.value, c.least)
		}
		if c.value > MaxLinks {
			return fmt.Errorf("%s: %d: want at most %d", c.key, c.value, MaxLinks)
		}
	}
	return nil
}

// checkRate demands a positive rate.
func checkRate(key string, r sim.Rate) error {
	if r <= 0 {
		return fmt.Errorf("%s: %v: want more than 0, for example 100Gbps", key, r)
	}
	return nil
}

// checkSize refuses graphs beyond the limits before they are built.
func checkSize(nodes, links int) error {
	if nodes > MaxNodes {
		return fmt.Errorf("that makes %s nodes: want at most %d", count(nodes), MaxNodes)
	}
	if links > MaxLinks {
		return fmt.Errorf("that makes %s links: want at most %d", count(links), MaxLinks)
	}
	return nil
}

// tooMany is what product and sum return for counts beyond every limit.
const tooMany = 1 << 40

func count(n int) string {
	if n >= tooMany {
		return "more than 2^40"
	}
	return fmt.Sprint(n)
}

// product multiplies counts >= 0, saturating at tooMany.
func product(list ...int) int {
	p := uint64(1)
	for _, n := range list {
		if n == 0 {
			return 0
		}
		hi, lo := bits.Mul64(p, uint64(n))
		if hi != 0 || lo > tooMany {
			p = tooMany // and on: a later zero still makes zero
			continue
		}
		p = lo
	}
	return int(p)
}

// sum adds counts >= 0, saturating at tooMany.
func sum(list ...int) int {
	s := 0
	for _, n := range list {
		s = min(s+min(n, tooMany), tooMany)
	}
	return s
}

// in prefixes an error with the name of a topology.
func in(name string, err error) (*Graph, error) { return nil, fmt.Errorf("topology %s: %w", name, err) }
