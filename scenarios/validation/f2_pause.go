package validation

import (
	"fmt"

	"rdmasim/congestion/fluid"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

var _ = register("F2", Row{
	Title: "how long a pause lasts",
	Hard:  true,
	Explain: `A pause quantum is 512 bit times, and a frame can ask for 65535 of them: 335.54 us at 100 Gb/s, 838.85 us at 40 Gb/s.
A host that has stopped sends one pause frame and does not repeat it: the first episode of the port ends with its quanta.
Source: IEEE 802.3 annex 31B.2; IEEE 802.1Qbb.`,
	Oracles:   []string{"pause_time"},
	Scenarios: []string{"pause-once.yaml"},
	Measure:   measurePause,
})

func measurePause(b *Bench) error {
	for _, p := range []struct {
		rate   sim.Rate
		quanta int
		level  Level
	}{{40 * sim.Gbps, 65535, Short}, {100 * sim.Gbps, 65535, Short}, {10 * sim.Gbps, 65535, Short}, {25 * sim.Gbps, 65535, Short}, {400 * sim.Gbps, 65535, Short}, {100 * sim.Gbps, 1000, Short}, {40 * sim.Gbps, 77, Short}} {
		want := fluid.PauseTime(p.rate, p.quanta).Seconds()
		o, err := b.Run("pause-once.yaml", "topology.star.rate="+p.rate.String(), fmt.Sprintf("switch.pfc.quanta=%d", p.quanta), fmt.Sprintf("duration=%dns", int64(want*1e9)+20_000))
		if err != nil {
			return err
		}
		events, err := o.Happened(trace.EventPauseOff)
		if err != nil {
			return err
		}
		o.Discard()
		got := -1.0
		for _, e := range events {
			if e.Object == "sw0:0" && got < 0 {
				got = e.Value
			}
		}
		frame := p.rate.TxTime(plainWire(1024)).Seconds()
		b.Off(fmt.Sprintf("%v, %d quanta", p.rate, p.quanta), want*1e6, one(got*1e6), frame*1e6, "us", "IEEE 802.3 31B")
	}
	return nil
}
