package topology

import (
	"cmp"
	"strconv"

	"rdmasim/sim"
)

// chain is a row of switches sw0, sw1, ... with hosts on each; a ring when
// closed.
type chain struct {
	hosts    []int    // per switch
	keys     []string // names of hosts[i] in errors
	least    int      // hosts demanded on each switch
	closed   bool
	rate     sim.Rate
	delay    sim.Duration
	cable    sim.Length
	trunkKey string // prefix of the keys of the links between switches
	trunk    sim.Rate
	trunkLen span
}

func buildChain(name string, c chain) (*Graph, error) {
	total := 0
	for i, n := range c.hosts {
		if err := checks(check{c.keys[i], n, max(c.least, 0)}); err != nil {
			return in(name, err)
		}
		total = sum(total, n)
	}
	if total == 0 {
		return in(name, checks(check{c.keys[0], total, 1}))
	}
	if err := checkSize(sum(total, len(c.hosts)), sum(total, len(c.hosts))); err != nil {
		return in(name, err)
	}
	if err := checkRate("rate", c.rate); err != nil {
		return in(name, err)
	}
	all, err := topSpan(c.delay, c.cable)
	if err != nil {
		return in(name, err)
	}
	trunk, err := all.or(c.trunkKey, c.trunkLen.delay, c.trunkLen.cable)
	if err != nil {
		return in(name, err)
	}
	trunkRate := cmp.Or(c.trunk, c.rate)
	if err := checkRate(c.trunkKey+"rate", trunkRate); err != nil {
		return in(name, err)
	}
	b := NewBuilder(name)
	for i := range total {
		b.AddHost("h" + strconv.Itoa(i))
	}
	host := 0
	for i, n := range c.hosts {
		sw := b.AddSwitch("sw"+strconv.Itoa(i), 1, -1)
		for range n {
			b.Connect(host, sw, all.wire(c.rate))
			host++
		}
	}
	for i := 1; i < len(c.hosts); i++ {
		b.Connect(total+i-1, total+i, trunk.wire(trunkRate))
	}
	if c.closed {
		b.Connect(total+len(c.hosts)-1, total, trunk.wire(trunkRate))
	}
	return b.Graph()
}
