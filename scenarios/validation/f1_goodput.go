package validation

import (
	"fmt"

	"rdmasim/congestion/fluid"
	"rdmasim/sim"
	"rdmasim/verbs/simnic"
)

var _ = register("F1", Row{
	Title: "goodput of one RC WRITE stream",
	Hard:  true,
	Explain: `goodput = C * MTU / (MTU + 14 Ethernet + 20 IPv4 + 8 UDP + 12 BTH + 4 ICRC + 4 FCS + 20 preamble and gap),
with 4 more for a VLAN tag and 20 more for IPv6; middle packets carry no RETH.
Sources: IEEE 802.3 clauses 3 and 4; RFC 791, 768, 8200; InfiniBand Architecture volume 1, 9.2, and annex A17.`,
	Oracles:   []string{"wire_efficiency"},
	Scenarios: []string{"one-stream.yaml"},
	Measure:   measureGoodput,
})

// wireShare is the payload's share of what full packets take on the wire.
func wireShare(mtu int, encapsulation string) float64 {
	return fluid.Framing{VLAN: encapsulation == "vlan", IPv6: encapsulation == "ipv6"}.Efficiency(sim.Bytes(mtu))
}

// plainFrame is a full frame without RETH, plainWire what it takes on the wire.
func plainFrame(mtu int) sim.Bytes { return fluid.Framing{}.Frame(sim.Bytes(mtu)) }

func plainWire(mtu int) sim.Bytes { return fluid.Framing{}.Wire(sim.Bytes(mtu)) }

// ackWire is what an ACK takes on the wire: a frame without payload, and an AETH.
func ackWire() sim.Bytes { return plainWire(simnic.SizeAETH) }

func measureGoodput(b *Bench) error {
	type point struct {
		rate  sim.Rate
		mtu   int
		encap string
		level Level
	}
	points := []point{
		{100 * sim.Gbps, 1024, "none", Short}, {100 * sim.Gbps, 4096, "none", Short},
		{100 * sim.Gbps, 256, "none", Quick}, {100 * sim.Gbps, 512, "none", Quick}, {100 * sim.Gbps, 2048, "none", Quick},
		{100 * sim.Gbps, 1024, "vlan", Short}, {100 * sim.Gbps, 1024, "ipv6", Short}, {100 * sim.Gbps, 4096, "ipv6", Quick}, {100 * sim.Gbps, 256, "vlan", Quick},
		{10 * sim.Gbps, 1024, "none", Short}, {25 * sim.Gbps, 4096, "none", Quick}, {400 * sim.Gbps, 4096, "none", Quick}, {800 * sim.Gbps, 1024, "none", Full},
		{50 * sim.Gbps, 512, "ipv6", Quick}, {200 * sim.Gbps, 2048, "vlan", Quick},
	}
	found := Line{Name: "simulated, 100 Gb/s, IPv4"}
	for _, p := range points {
		if p.level > b.Level {
			continue
		}
		got, err := b.stream(p.rate, p.mtu, p.encap)
		if err != nil {
			return err
		}
		if p.encap == "none" && p.rate == 100*sim.Gbps {
			found.at(float64(p.mtu), got/1e9)
		}
	}
	b.Draw(Curve{Name: "goodput", Title: "Goodput of one WRITE stream at 100 Gb/s", X: Axis{Label: "path MTU (bytes)", Log: true}, Y: Axis{Label: "goodput (Gb/s)"},
		Lines: []Line{oracle("MTU / (MTU + 82)", 256, 4096, func(x float64) float64 { return 100 * wireShare(int(x), "none") }), found}})
	return nil
}

// stream checks the goodput of one stream, and returns it in bit/s.
func (b *Bench) stream(rate sim.Rate, mtu int, encap string, more ...string) (float64, error) {
	o, err := b.Run("one-stream.yaml", append([]string{"topology.star.rate=" + rate.String(), fmt.Sprintf("nic.path_mtu=%d", mtu), "nic.encapsulation=" + encap}, more...)...)
	if err != nil {
		return 0, err
	}
	defer o.Discard()
	got := o.Goodput()
	b.Near(fmt.Sprintf("%v, MTU %d, headers %s", rate, mtu, encap), float64(rate)*wireShare(mtu, encap)/1e9, one(got/1e9), 0.001, "Gb/s", "derived")
	return got, nil
}
