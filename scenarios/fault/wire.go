package fault

import (
	"fmt"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// Wire is a fault of frames on their way over links: where, which and when.
type Wire struct {
	Where
	Frames
	When
}

// anyWire is the default of Wire.
func anyWire() Wire { return Wire{Frames: anyFrames()} }

func (w Wire) check() error {
	if err := w.Where.check(); err != nil {
		return err
	}
	return w.Frames.check()
}

// at says where, for texts.
func (w Wire) at() string {
	key, value, err := w.given()
	if err != nil {
		return "nowhere"
	}
	return fmt.Sprintf("%s %s", key, value)
}

// effect does something to a frame, and reports whether it did.
type effect func(now sim.Time, m *packet.Packet, v *fabric.Verdict) bool

// hook is a fault in one direction of a link.
type hook struct {
	when  When
	match matcher
	act   effect
	n     *uint64
}

// Frame lets the fault act on the frames that it is about.
func (h *hook) Frame(now sim.Time, m *packet.Packet, v *fabric.Verdict) {
	if v.Drop == "" && h.match.matches(m) && h.when.Active(now) && h.act(now, m, v) {
		*h.n++
	}
}

// inject puts a fault into every direction of its place. make returns what it
// does in one of them, with a random stream of its own.
func (w Wire) inject(c *Context, f Fault, otherwise uint16, make func(d direction, r *sim.Rand) effect) error {
	list, err := w.directions(c)
	if err != nil {
		return err
	}
	for _, d := range list {
		m, err := w.compile(c, otherwise)
		if err != nil {
			return err
		}
		c.tamper(d, &hook{when: w.When, match: m, act: make(d, c.rand(c.portName(d))), n: c.counter()})
	}
	c.tell(list[0].node, f)
	return nil
}

// probability refuses what is none.
func probability(key string, p sim.Ratio) error {
	if !(p >= 0 && p <= 1) {
		return fmt.Errorf("%s: %v: want a probability from 0 to 1", key, p)
	}
	return nil
}

// chance is a sequence of choices with a share of yes and a correlation of each
// with the one before.
type chance struct {
	share, correlation float64
	last               bool
	rand               *sim.Rand
}

// draw returns the next choice: a two-state Markov chain whose stationary share
// is p and whose autocorrelation at lag 1 is c has the transition probabilities
// p + c(1-p) after a yes and p(1-c) after a no.
func (k *chance) draw() bool {
	p := k.share
	if k.correlation > 0 {
		if p *= 1 - k.correlation; k.last {
			p += k.correlation
		}
	}
	k.last = p > 0 && k.rand.Float64() < p
	return k.last
}

// percent prints a share.
func percent(p sim.Ratio) string { return fmt.Sprintf("%.6g%%", float64(p)*100) }
