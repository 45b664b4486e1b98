package fabric

import (
	"fmt"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// Loss is what a link loses of the frames on their way to one of its ends.
type Loss struct {
	All   float64 // probability of every frame, pause frames included
	Data  float64 // probability of a data packet, on top
	Every int64   // every so manieth data packet that passes is lost; 0 = none
}

// lossy draws which frames a link loses.
type lossy struct {
	Loss
	rand   *sim.Rand
	passed int64 // data packets since the last one lost by Every
	tap    *arrivals
}

// Lose makes the port lose what its configuration says, by draws of the stream
// NODE/portN/loss. A port without losses draws nothing.
func (p *Port) Lose(rand func(string) *sim.Rand, node string, port int) {
	if p.Cfg.Loss != (Loss{}) {
		p.lossy = &lossy{Loss: p.Cfg.Loss, rand: rand(fmt.Sprintf("%s/port%d/loss", node, port))}
	}
}

// Loses reports whether an arriving frame was lost on the link, and counts it.
func (p *Port) Loses(m *packet.Packet) bool {
	if p.lossy == nil {
		return false
	}
	lost := p.lossy.draw(m)
	p.lossy.tap.received(m, lost)
	if !lost {
		return false
	}
	p.Stat.DropFault++
	p.Stat.DropBytes += uint64(m.Size)
	return true
}

func (l *lossy) draw(m *packet.Packet) bool {
	if l.All > 0 && l.rand.Float64() < l.All {
		return true
	}
	if m.Kind != packet.Data {
		return false
	}
	if l.Data > 0 && l.rand.Float64() < l.Data {
		return true
	}
	if l.Every == 0 {
		return false
	}
	l.passed++
	if l.passed < l.Every {
		return false
	}
	l.passed = 0
	return true
}
