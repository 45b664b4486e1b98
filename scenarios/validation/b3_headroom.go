package validation

import (
	"fmt"

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
No drop at H for any phase of the reverse frame. In the worst phase, a reverse frame begun one bit before XOFF, N frames arrive:
no drop with room for them, a drop with one byte less, and so a drop at H - 2 frames wherever N frames are more than that. They
are where the preambles and gaps that H counts, and no buffer stores, come to less than the rest of H: not on 2 km at 50 Gb/s.
Source: IEEE 802.1Qbb annex O for a switch without interface delays; derived.`,
	Oracles:   []string{"headroom_frames", "headroom_ideal"},
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

// stored is what the frames take that arrive after XOFF at worst.
func (c roomCase) stored() sim.Bytes {
	return sim.Bytes(fluid.IdealHeadroomFrames(c.rate, c.delay(), c.response, c.frame())) * c.frame()
}

// roomOutcome is what was found at a headroom.
type roomOutcome struct{ drops, used float64 }

// settings are those of a run in which the reverse frames begin at start.
func (c roomCase) settings(headroom sim.Bytes, start sim.Duration) []string {
	fill := c.rate.TxTime(4 * sim.MB / 64)
	set := []string{"topology.star.rate=" + c.rate.String(), fmt.Sprintf("topology.star.cable=%dm", c.cable), fmt.Sprintf("nic.path_mtu=%d", c.mtu), fmt.Sprintf("nics.0.path_mtu=%d", c.mtu),
		"switch.pfc.response=" + c.response.String(), "switch.buffer.headroom=" + headroom.String(),
		fmt.Sprintf("duration=%dps", 3*fill+20*sim.Microsecond+2*c.response+8*c.delay())}
	set = append(set, fmt.Sprintf("traffic.1.perftest.start=%dps", start))
	if c.write {
		for i := range 2 {
			set = append(set, fmt.Sprintf("traffic.%d.perftest.verb=write", i), fmt.Sprintf("traffic.%d.perftest.sizes=%dB", i, c.mtu), fmt.Sprintf("traffic.%d.perftest.iterations=1000000", i))
		}
	}
	return set
}

// try runs one phase with a headroom; xoff is when the ingress of h1 asked for
// a pause, obeyed when h1 stopped.
func (c roomCase) try(b *Bench, headroom sim.Bytes, start sim.Duration) (r roomOutcome, xoff, obeyed sim.Time, err error) {
	o, err := b.Run("headroom.yaml", c.settings(headroom, start)...)
	if err != nil {
		return r, 0, 0, err
	}
	defer o.Discard()
	for e, err := range o.Run.Events(trace.EventXoff, trace.EventPauseOn) {
		switch {
		case err != nil:
			return r, 0, 0, err
		case e.Kind == trace.EventXoff && e.Object == "sw0:1" && xoff == 0:
			xoff = e.Time
		case e.Kind == trace.EventPauseOn && e.Object == "h1:0" && obeyed == 0:
			obeyed = e.Time
		}
	}
	if xoff == 0 || obeyed == 0 {
		return r, 0, 0, fmt.Errorf("%sh1 was not paused", c.what())
	}
	return roomOutcome{o.Of("sw0:1", trace.CountDropLossless), o.Of("sw0:1", trace.CountHeadroomMax)}, xoff, obeyed, nil
}

// sweep runs every phase with a headroom.
func (c roomCase) sweep(b *Bench, headroom sim.Bytes, phases int) (r roomOutcome, err error) {
	step := c.rate.TxTime(c.wire()) / sim.Duration(phases)
	found := make([]roomOutcome, phases)
	err = each(phases, func(k int) (err error) {
		found[k], _, _, err = c.try(b, headroom, sim.Duration(k)*step)
		return err
	})
	for _, f := range found {
		r.drops += f.drops
		r.used = max(r.used, f.used)
	}
	return r, err
}

// worst returns when the reverse frames have to begin for one of them to be
// begun one bit before XOFF: in a run from 0 it shows how long the pause frame
// has waited, and a frame that comes later by what is missing delays it by that.
func (c roomCase) worst(b *Bench) (start sim.Duration, err error) {
	_, xoff, obeyed, err := c.try(b, c.need(), 0)
	if err != nil {
		return 0, err
	}
	own, bit := c.rate.TxTime(c.wire()), c.rate.TxTime(1)/8
	wait := obeyed.Sub(xoff) - c.rate.TxTime(simnic.SizePFC+c.wire()-c.frame()) - c.delay() - c.response
	if wait < 0 || wait > own {
		return 0, fmt.Errorf("%sthe pause frame waited %v, a frame takes %v", c.what(), wait, own)
	}
	return own - wait - bit, nil
}

func measureHeadroom(b *Bench) error {
	points := []roomCase{
		{100 * sim.Gbps, 40, 1024, false, 0, Short}, {100 * sim.Gbps, 40, 1024, true, 0, Quick}, {100 * sim.Gbps, 40, 4096, true, 0, Quick},
		{100 * sim.Gbps, 40, 1024, false, 1 * sim.Microsecond, Short}, {40 * sim.Gbps, 100, 1024, false, scenarios.ResponseTime(40 * sim.Gbps), Quick},
		{400 * sim.Gbps, 5, 4096, false, 0, Quick}, {10 * sim.Gbps, 300, 2048, false, 0, Quick}, {25 * sim.Gbps, 2, 512, true, 500 * sim.Nanosecond, Quick},
		{200 * sim.Gbps, 3, 256, true, 0, Full}, {800 * sim.Gbps, 40, 4096, false, 0, Full}, {50 * sim.Gbps, 2000, 1024, false, 0, Full},
	}
	phases := [...]int{Short: 8, Quick: 40, Full: 160}[b.Level]
	found, want, frames := Line{Name: "most used, simulated"}, Line{Name: "H", Oracle: true}, Line{Name: "N frames, derived"}
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
		frames.at(float64(c.need()), float64(c.stored()))
	}
	b.Draw(Curve{Name: "headroom", Title: "Headroom that the worst phase uses", X: Axis{Label: "H (bytes)", Log: true}, Y: Axis{Label: "headroom used (bytes)", Log: true}, Lines: []Line{want, found, frames}})
	return nil
}

func (c roomCase) what() string {
	return fmt.Sprintf("%v, %d m, %d-byte frames, response %v: ", c.rate, c.cable, c.frame(), c.response)
}

// room checks that H is enough in so many phases, that in the worst the frames
// of the oracle fit and not with a byte less, and what that says of H - 2
// frames. It returns what the worst phase used.
func (b *Bench) room(c roomCase, phases int) (float64, error) {
	auto := fabric.Headroom(c.rate, c.rate, 2*c.delay(), c.response, c.frame(), c.wire()-c.frame(), simnic.SizePFC)
	b.Exact(c.what()+"headroom: auto", (c.need() + c.frame()).String(), auto.String(), "derived")
	enough, err := c.sweep(b, c.need(), phases)
	if err != nil {
		return 0, err
	}
	b.Exact(c.what()+fmt.Sprintf("drops at H = %d B, all of %d phases", c.need(), phases), 0, enough.drops, "derived")
	start, err := c.worst(b)
	if err != nil {
		return 0, err
	}
	var fits roomOutcome
	stored, twoLess := c.stored(), c.need()-2*c.frame()
	for _, p := range []struct {
		what     string
		headroom sim.Bytes
	}{
		{fmt.Sprintf("worst phase, drops at the %d frames that arrive", stored/c.frame()), stored},
		{"worst phase, drops at one byte less", stored - 1},
		{fmt.Sprintf("worst phase, drops at H - 2 frames = %d B", twoLess), twoLess},
	} {
		if p.headroom == twoLess && twoLess >= stored {
			p.what += ", which is more than the frames take"
		}
		got, _, _, err := c.try(b, p.headroom, start)
		if err != nil {
			return 0, err
		}
		if p.headroom < stored {
			b.Within(c.what()+p.what, 1, inf, one(got.drops), "", "derived")
			continue
		}
		b.Exact(c.what()+p.what, 0, got.drops, "derived")
		if p.headroom == stored {
			fits = got
			b.Exact(c.what()+"worst phase, most used", stored.String(), sim.Bytes(fits.used).String(), "derived")
		}
	}
	return fits.used, nil
}
