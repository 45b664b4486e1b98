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
	found, want := Line{Name: "simulated, 65535 quanta"}, oracleLog("65535 x 512 bit times", 10, 800, func(gbps float64) float64 {
		return fluid.PauseTime(sim.Rate(gbps*1e9), fluid.MaxQuanta).Seconds() * 1e6
	})
	for _, p := range []struct {
		rate   sim.Rate
		quanta int
		level  Level
	}{
		{40 * sim.Gbps, 65535, Short}, {100 * sim.Gbps, 65535, Short}, {10 * sim.Gbps, 65535, Short}, {25 * sim.Gbps, 65535, Short}, {400 * sim.Gbps, 65535, Short},
		{100 * sim.Gbps, 1000, Short}, {40 * sim.Gbps, 77, Short}, {50 * sim.Gbps, 40_000, Quick}, {200 * sim.Gbps, 65535, Quick}, {800 * sim.Gbps, 65535, Quick}, {800 * sim.Gbps, 12_345, Quick},
	} {
		if p.level > b.Level {
			continue
		}
		got, err := b.pauseOnce(p.rate, p.quanta)
		if err != nil {
			return err
		}
		if p.quanta == fluid.MaxQuanta {
			found.at(float64(p.rate)/1e9, got)
		}
	}
	b.Draw(Curve{Name: "pause", Title: "How long the longest pause lasts", X: Axis{Label: "link (Gb/s)", Log: true}, Y: Axis{Label: "pause (us)", Log: true}, Lines: []Line{want, found}})
	return nil
}

// pauseOnce checks how long a port is silent after one pause frame, and returns
// it in us.
func (b *Bench) pauseOnce(rate sim.Rate, quanta int) (us float64, err error) {
	want := fluid.PauseTime(rate, quanta).Seconds()
	o, err := b.Run("pause-once.yaml", "topology.star.rate="+rate.String(), fmt.Sprintf("switch.pfc.quanta=%d", quanta), fmt.Sprintf("duration=%dns", int64(want*1e9)+20_000))
	if err != nil {
		return 0, err
	}
	defer o.Discard()
	events, err := o.Happened(trace.EventPauseOff)
	if err != nil {
		return 0, err
	}
	got := -1.0
	for _, e := range events {
		if e.Object == "sw0:0" && got < 0 {
			got = e.Value
		}
	}
	frame := rate.TxTime(plainWire(1024)).Seconds()
	b.Off(fmt.Sprintf("%v, %d quanta", rate, quanta), want*1e6, one(got*1e6), frame*1e6, "us", "IEEE 802.3 31B")
	return got * 1e6, nil
}
