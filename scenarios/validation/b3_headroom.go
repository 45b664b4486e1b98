package validation

import (
	"fmt"
	"slices"

	"rdmasim/congestion/fluid"
	"rdmasim/fabric"
	"rdmasim/scenarios"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs/simnic"
)

var _ = register("B3", Row{
	Title: "PFC headroom of an ideal switch",
	Hard:  true,
	Explain: `After XOFF may still arrive: what the sender transmits while the pause frame waits for one own frame and is sent itself,
while both directions of the cable are crossed, and while the sender takes its response time; and the frame that it has just begun.
H = 2 t_prop C/8 + 2 (frame + 20) + 84 + C t_response / 8, with frame + 20 and 84 the bytes on the wire.
The product's headroom: auto adds one frame for the case that no shared buffer is left for the frame that crosses the threshold.
No drop at H for any phase of the reverse frame; drops at H - 2 frames. H counts preambles and gaps, which no buffer stores: on long
cables, with long responses and small frames they add up to frames, and the drops begin at H frame/(frame + 20) - 2 frames.
Source: IEEE 802.1Qbb annex O for a switch without interface delays; derived.`,
	Oracles:   []string{"headroom_ideal"},
	Scenarios: []string{"headroom.yaml"},
	Measure:   measureHeadroom,
})

// roomCase is one point of B3.
type roomCase struct {
	rate     sim.Rate
	cable    int // metres
	mtu      int
	write    bool // every frame has a RETH: WRITE_ONLY
	response sim.Duration
	level    Level
}

func (c roomCase) framing() fluid.Framing { return fluid.Framing{RETH: c.write} }

func (c roomCase) frame() sim.Bytes { return c.framing().Frame(sim.Bytes(c.mtu)) }

func (c roomCase) wire() sim.Bytes { return c.framing().Wire(sim.Bytes(c.mtu)) }

// delay is that of the cable.
func (c roomCase) delay() sim.Duration { return sim.Length(c.cable * 1000).Delay() }

// need is H.
func (c roomCase) need() sim.Bytes {
	return fluid.IdealHeadroom(c.rate, c.delay(), c.response, c.frame())
}

// stored is what is left of H where only frames are stored: preambles and gaps
// take time on the cable and no room in a buffer.
func (c roomCase) stored() sim.Bytes { return c.need() * c.frame() / c.wire() }

// outcome is what a sweep of the phase found.
type roomOutcome struct{ drops, used float64 }

// sweep runs every phase with a headroom.
func (c roomCase) sweep(b *Bench, headroom sim.Bytes, phases int) (r roomOutcome, err error) {
	step := c.rate.TxTime(c.wire()) / sim.Duration(phases)
	fill := c.rate.TxTime(4 * sim.MB / 64)
	set := []string{"topology.star.rate=" + c.rate.String(), fmt.Sprintf("topology.star.cable=%dm", c.cable), fmt.Sprintf("nic.path_mtu=%d", c.mtu), fmt.Sprintf("nics.0.path_mtu=%d", c.mtu),
		"switch.pfc.response=" + c.response.String(), "switch.buffer.headroom=" + headroom.String(),
		fmt.Sprintf("duration=%dps", 3*fill+20*sim.Microsecond+2*c.response+8*c.delay())}
	if c.write {
		for i := range 2 {
			set = append(set, fmt.Sprintf("traffic.%d.incast.verb=write", i), fmt.Sprintf("traffic.%d.incast.message=%dB", i, c.mtu), fmt.Sprintf("traffic.%d.incast.repeat=forever", i),
				fmt.Sprintf("traffic.%d.incast.depth=10000", i))
		}
	}
	found := make([]roomOutcome, phases)
	err = each(phases, func(k int) error {
		o, err := b.Run("headroom.yaml", append(slices.Clip(set), fmt.Sprintf("traffic.1.incast.start=%dps", sim.Duration(k)*step))...)
		if err != nil {
			return err
		}
		defer o.Discard()
		found[k] = roomOutcome{o.Of("sw0:1", trace.CountDropLossless), o.Of("sw0:1", trace.CountHeadroomMax)}
		return nil
	})
	for _, f := range found {
		r.drops += f.drops
		r.used = max(r.used, f.used)
	}
	return r, err
}

func measureHeadroom(b *Bench) error {
	points := []roomCase{
		{100 * sim.Gbps, 40, 1024, false, 0, Short}, {100 * sim.Gbps, 40, 1024, true, 0, Quick}, {100 * sim.Gbps, 40, 4096, true, 0, Quick},
		{100 * sim.Gbps, 40, 1024, false, 1 * sim.Microsecond, Short}, {40 * sim.Gbps, 100, 1024, false, scenarios.ResponseTime(40 * sim.Gbps), Quick},
		{400 * sim.Gbps, 5, 4096, false, 0, Quick}, {10 * sim.Gbps, 300, 2048, false, 0, Quick}, {25 * sim.Gbps, 2, 512, true, 500 * sim.Nanosecond, Quick},
		{200 * sim.Gbps, 3, 256, true, 0, Full}, {800 * sim.Gbps, 40, 4096, false, 0, Full}, {50 * sim.Gbps, 2000, 1024, false, 0, Full},
	}
	phases := [...]int{Short: 8, Quick: 40, Full: 160}[b.Level]
	found, want := Line{Name: "most used, simulated"}, Line{Name: "H", Oracle: true}
	for i, c := range points {
		if c.level > b.Level {
			continue
		}
		if i < 3 { // the three that are written down
			b.Exact(c.what()+"H", [...]sim.Bytes{7296, 7328, 13472}[i].String(), c.need().String(), "derived")
		}
		used, err := b.room(c, phases)
		if err != nil {
			return err
		}
		found.at(float64(c.need()), used)
		want.at(float64(c.need()), float64(c.need()))
	}
	b.Draw(Curve{Name: "headroom", Title: "Headroom that the worst phase uses", X: Axis{Label: "H (bytes)", Log: true}, Y: Axis{Label: "headroom used (bytes)", Log: true}, Lines: []Line{want, found}})
	return nil
}

func (c roomCase) what() string {
	return fmt.Sprintf("%v, %d m, %d-byte frames, response %v: ", c.rate, c.cable, c.frame(), c.response)
}

// room checks that H is enough in so many phases and that two frames less are
// not, and returns the most that was used.
func (b *Bench) room(c roomCase, phases int) (float64, error) {
	auto := fabric.Headroom(c.rate, c.rate, 2*c.delay(), c.response, c.frame(), c.wire()-c.frame(), simnic.SizePFC)
	b.Exact(c.what()+"headroom: auto", (c.need() + c.frame()).String(), auto.String(), "derived")
	enough, err := c.sweep(b, c.need(), phases)
	if err != nil {
		return 0, err
	}
	b.Exact(c.what()+fmt.Sprintf("drops at H %d, all of %d phases", c.need(), phases), 0, enough.drops, "derived")
	b.Within(c.what()+"most used", float64(c.stored()-2*c.wire()), float64(c.need()), one(enough.used), "B", "derived")
	room, what := c.need()-2*c.frame(), "drops at H - 2 frames"
	if c.need()-c.stored() > c.frame()/2 {
		room, what = c.stored()-2*c.frame(), "drops at what is stored of H - 2 frames"
	}
	short, err := c.sweep(b, room, phases)
	if err != nil {
		return 0, err
	}
	b.Within(c.what()+what, 1, inf, one(short.drops), "", "derived")
	return enough.used, nil
}
