package validation

import (
	"fmt"
	"testing"

	"rdmasim/congestion/fluid"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs/simnic"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The scenario of D1 is the fluid model at the parameters of the paper: what the
// tests of the fluid model say about its fixed point is said about this one.
func TestLongFlowsAreThePaper(t *testing.T) {
	for _, l := range []longFlows{{n: 2, rate: 40 * sim.Gbps, packet: 1000}, {n: 10, rate: 100 * sim.Gbps, packet: 1500}} {
		b := &Bench{}
		s, err := b.Spec("dcqcn-long.yaml", l.settings()...)
		require.NoError(t, err)
		paper := fluid.SIGCOMM15(l.rate, l.n)
		paper.Packet, paper.Delay = sim.Bytes(l.packet), 0 // a fixed point has no delay
		assert.Equal(t, paper, l.fluid(s))
	}
}

// The model of packets starts at rest at the right place: without marks it
// sends at line rate, and with marks it is near the fluid.
func TestPacketModel(t *testing.T) {
	m := packetModel{n: 2, line: 40e9, packet: 1000, link: 1e-6, kmin: 1e12, kmax: 2e12, pmax: 0.01, g: 1. / 256, cnp: 50e-6, k: 55e-6, t: 55e-6, counter: 10e6, rai: 40e6, f: 5, warmup: 0.1e-3, end: 0.5e-3}
	r := m.run(1)
	assert.InDelta(t, 1, r.utilisation, 0.01)
	assert.Zero(t, r.cnp)
	// Two line rates into one: the queue grows at one line rate, and its mean
	// over the span is its value in the middle, 0.3 ms.
	assert.InEpsilon(t, 40e9/8*0.3e-3, r.queue, 0.02)
}

// All rates ten times as high and all delays a tenth: the same in a tenth of
// the time.
func TestIncastScales(t *testing.T) {
	finish := func(rate sim.Rate, cable, latency sim.Duration) float64 {
		b := newBench(t.Context(), "Q2", Row{}, t.TempDir(), Options{})
		o, err := b.Run("incast-once.yaml", "topology.star.rate="+rate.String(), "topology.star.cable=0m", "topology.star.delay="+cable.String(), "switch.latency="+latency.String(), "switch.pfc.response=0s")
		require.NoError(t, err)
		list, err := o.Messages()
		require.NoError(t, err)
		var last sim.Time
		for _, f := range list {
			last = max(last, f.End)
		}
		return last.Seconds()
	}
	slow := finish(40*sim.Gbps, 1000*sim.Nanosecond, 500*sim.Nanosecond)
	fast := finish(400*sim.Gbps, 100*sim.Nanosecond, 50*sim.Nanosecond)
	assert.InEpsilon(t, slow, 10*fast, 1e-9)
}

// Other names and another order of hosts permute the results and change none.
func TestNamesDoNotMatter(t *testing.T) {
	shares := func(names [3]string) map[string]float64 {
		b := newBench(t.Context(), "P1", Row{}, t.TempDir(), Options{})
		nodes, senders := "", ""
		for _, n := range names {
			nodes += fmt.Sprintf("{name: %s, kind: host}, ", n)
			senders += n + ", "
		}
		nodes += "{name: h4, kind: host}, {name: r, kind: host}, {name: t1, kind: switch}, {name: t2, kind: switch}, {name: t4, kind: switch}"
		o, err := b.Run("parking-lot.yaml", "topology.custom.nodes=["+nodes+"]", fmt.Sprintf("topology.custom.links.0.a=%s", names[0]), fmt.Sprintf("topology.custom.links.1.a=%s", names[1]),
			fmt.Sprintf("topology.custom.links.2.a=%s", names[2]), "traffic.0.incast.senders=["+senders+"h4]", "duration=15ms", "warmup=5ms")
		require.NoError(t, err)
		m, err := wireRates(o, 1024, 40*sim.Gbps)
		require.NoError(t, err)
		return m
	}
	a, b := shares([3]string{"h1", "h2", "h3"}), shares([3]string{"zeta", "alpha", "mid"})
	for i, n := range []string{"zeta", "alpha", "mid"} {
		assert.InEpsilon(t, a[fmt.Sprintf("h%d", i+1)], b[n], 0.01, n)
	}
	assert.InEpsilon(t, a["h4"], b["h4"], 1e-3)
}

// Other headers change how many bytes there are, and nothing else: the finish of
// an incast scales with the frame.
func TestIncastWithOtherHeaders(t *testing.T) {
	for encap, extra := range map[string]float64{"vlan": 4, "ipv6": 20} {
		b := newBench(t.Context(), "Q2", Row{}, t.TempDir(), Options{})
		o, err := b.Run("incast-once.yaml", "nic.encapsulation="+encap, "traffic.0.incast.message=1MB")
		require.NoError(t, err)
		frame := float64(plainFrame(1024)) + extra
		assert.InEpsilon(t, 7*1e6*frame/1024, o.Of("sw0:0/q3", trace.CountQueueMax), 0.005, encap)
	}
}

// What a row calls a case is that case of the oracle.
func TestCases(t *testing.T) {
	assert.Equal(t, fluid.Framing{}.Efficiency(1024), wireShare(1024, "none"))
	assert.Equal(t, fluid.Framing{VLAN: true}.Efficiency(256), wireShare(256, "vlan"))
	assert.Equal(t, fluid.Framing{IPv6: true}.Efficiency(4096), wireShare(4096, "ipv6"))
	assert.EqualValues(t, simnic.RoCEv2(1024, "none").Ack+20, ackWire())
	assert.InDeltaSlice(t, []float64{1. / 6, 1. / 6, 1. / 6, 1. / 2}, lots()[0].shares(), 1e-12)
	assert.InDeltaSlice(t, []float64{1. / 6, 1. / 6, 1. / 3, 1. / 3}, lots()[1].shares(), 1e-12)
	// 8 x 64 KB at 100 Gb/s take 44.24 us; a frame, two ACKs, four cables and
	// two passes of the switch come on top.
	c := incastCase{senders: 8, message: 64 * sim.KB, mtu: 1024, rate: 100 * sim.Gbps}
	base := c.rate.TxTime(1106) + 2*c.rate.TxTime(86) + 4*10*sim.Nanosecond + 2*300*sim.Nanosecond
	assert.InDelta(t, 44.24e-6+base.Seconds(), c.oracle(10*sim.Nanosecond, 300*sim.Nanosecond).Finish(), 5e-9)
}
