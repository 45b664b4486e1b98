package analysis

import (
	"fmt"

	"rdmasim/fabric/capture"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// pauserKey names who asks for a pause, at one place and in one direction.
type pauserKey struct {
	mac   [6]byte
	iface int
	dir   capture.Direction
}

// pauser is a source of pause frames as one interface sees it.
type pauser struct {
	key     pauserKey
	object  string // the port that sends them (seen outbound), or obeys them
	id      trace.ObjectID
	rate    sim.Rate       // of the link, 0 = not known
	classes [9]pausedClass // eight priorities, and 802.3x
}

// pausedClass is one priority under pauses.
type pausedClass struct {
	xoff, xon, refresh uint64
	episodes           uint64
	on                 bool
	since, until       sim.Time // until: when its quanta run out, Never where the rate is not known
	total, longest     sim.Duration
	unknown            uint64 // episodes of which the end was not seen
	asked              bool   // XOFF was the last word; where the rate is known, its quanta may have run out
}

// quantumBits is the length of a pause quantum, IEEE 802.3 annex 31B.
const quantumBits = 512

// global is the place of 802.3x among the classes.
const global = 8

// pause follows a pause frame.
func (a *Analyzer) pause(f *capture.Frame, iface int, dir capture.Direction) {
	p := a.pauserOf(pauserKey{f.SrcMAC, iface, dir})
	if p == nil {
		a.total.PauseNotFollowed++
		return
	}
	if !f.Pause.Priority {
		a.total.Pause8023++
		a.pauseClass(p, global, f.Pause.Quanta[0])
		return
	}
	a.total.PFC++
	for i, q := range f.Pause.Quanta {
		if f.Pause.Classes&(1<<i) != 0 {
			a.pauseClass(p, i, q)
		}
	}
}

func (a *Analyzer) pauserOf(k pauserKey) *pauser {
	if p := a.pausers[k]; p != nil {
		return p
	}
	if len(a.pausers) >= maxPausers {
		return nil
	}
	name := a.ifaceName(k.iface)
	p := &pauser{key: k, object: name, rate: a.rateOf(k.iface)}
	if k.dir == capture.DirUnknown {
		// Whose port it is that pauses, the frame says; which one obeys, nobody does.
		p.object = fmt.Sprintf("peer-of-%x", k.mac[:])
	}
	p.id = a.names.ID(p.object)
	a.pausers[k] = p
	a.pauserList = append(a.pauserList, p)
	return p
}

func (a *Analyzer) pauseClass(p *pauser, i int, quanta uint16) {
	c := &p.classes[i]
	prio := int8(i)
	if i == global {
		prio = -1
	}
	a.expire(p, c, prio, a.now)
	obeys := p.key.dir != capture.DirOut
	if quanta == 0 {
		c.xon++
		c.asked = false
		if c.on {
			a.endPause(p, c, prio, a.now)
		}
		return
	}
	if c.asked && (c.on || p.rate == 0) {
		c.refresh++
	} else {
		c.xoff++
	}
	c.asked = true
	if !c.on {
		c.on, c.since = true, a.now
		c.episodes++
		if obeys {
			a.eventOn(trace.EventPauseOn, p.id, prio, 0, "")
		}
	}
	c.until = sim.Never
	if p.rate > 0 {
		c.until = a.now.Add(p.rate.TxTime(sim.Bytes(quanta) * quantumBits / 8))
	}
}

// expire ends a pause of which the quanta have run out.
func (a *Analyzer) expire(p *pauser, c *pausedClass, prio int8, now sim.Time) {
	if c.on && c.until <= now && !a.opt.PauseUntilXon {
		a.endPause(p, c, prio, c.until)
	}
}

func (a *Analyzer) endPause(p *pauser, c *pausedClass, prio int8, at sim.Time) {
	c.on = false
	d := at.Sub(c.since)
	c.total += d
	c.longest = max(c.longest, d)
	if p.key.dir != capture.DirOut {
		// The row has the time of the frame that tells: rows are in order.
		a.eventOn(trace.EventPauseOff, p.id, prio, d.Seconds(), "")
	}
}

// endPauses ends what still holds at the end of the capture.
func (a *Analyzer) endPauses() {
	for _, p := range a.pauserList {
		for i := range p.classes {
			c := &p.classes[i]
			prio := int8(i)
			if i == global {
				prio = -1
			}
			a.expire(p, c, prio, a.now)
			if c.on {
				d := a.now.Sub(c.since)
				c.total += d
				c.longest = max(c.longest, d)
				c.unknown++
			}
		}
	}
}
