package validation

import (
	"fmt"
	"testing"

	"rdmasim/sim"
	"rdmasim/sim/trace"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// paper is DCQCN of SIGCOMM'15 at a fair share, in packets of 1000 bytes.
func paper(t *testing.T, c longFlows) dcqcnFluid {
	b := &Bench{}
	s, err := b.Spec("dcqcn-long.yaml", c.settings()...)
	require.NoError(t, err)
	return c.fluid(s)
}

// The fixed points that the literature's own equations have.
func TestFixedPointTable(t *testing.T) {
	for _, c := range []struct {
		rate           sim.Rate
		n              int
		p, printed     float64
		alpha, cnp, kb float64
	}{
		{40 * sim.Gbps, 2, 7.770e-4, 9.247e-4, 0.1014, 1852, 20.15},
		{100 * sim.Gbps, 10, 1.888e-3, 2.320e-3, 0.1218, 2228, 41.81},
	} {
		l := longFlows{n: c.n, rate: c.rate, packet: 1000}
		d := paper(t, l)
		f := d.fixed()
		assert.InEpsilon(t, c.p, f.p, 5e-4)
		assert.InEpsilon(t, c.alpha, f.alpha, 5e-4)
		assert.InEpsilon(t, c.cnp, f.cnp, 5e-4)
		assert.InEpsilon(t, c.printed, d.approximate(float64(c.rate)/8000, float64(c.n)), 5e-4)
		b := &Bench{}
		s, err := b.Spec("dcqcn-long.yaml")
		require.NoError(t, err)
		assert.InEpsilon(t, c.kb*1e3, queueAtMark(s, f.p), 5e-4)
	}
}

// The fixed point depends on rate and number of flows by their quotient alone,
// and the published approximation is always above it.
func TestFixedPointDependsOnFairShare(t *testing.T) {
	for n := 1; n <= 14; n++ {
		one := paper(t, longFlows{n: n, rate: 40 * sim.Gbps, packet: 1000})
		ten := paper(t, longFlows{n: 10 * n, rate: 400 * sim.Gbps, packet: 1000})
		assert.InEpsilon(t, one.fixed().p, ten.fixed().p, 1e-9)
		ratio := one.approximate(one.rc, 1) / one.fixed().p
		assert.True(t, ratio > 1.02 && ratio < 1.6, "N %d: the approximation is %v of the root", n, ratio)
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

// The closed forms at points that have names.
func TestClosedForms(t *testing.T) {
	assert.InEpsilon(t, 1.6, waiting(0.8, 0), 1e-12)
	assert.InEpsilon(t, 3.2, waiting(0.8, 1), 1e-12)
	assert.InEpsilon(t, 9.025, waiting(0.95, 0), 1e-12)
	assert.InEpsilon(t, 0.95233, goBackN(1e-3, 50), 1e-4)
	assert.InEpsilon(t, 0.8361, goBackN(1./256, 50), 1e-3)
	assert.InEpsilon(t, 0.92585, wireShare(1024, "none"), 1e-4)
	assert.InEpsilon(t, 0.97570, wireShare(4096, "ipv6"), 1e-4)
	assert.EqualValues(t, 7296, roomCase{rate: 100 * sim.Gbps, cable: 40, mtu: 1024}.need())
	c := incastCase{senders: 8, message: 64 * sim.KB, mtu: 1024, rate: 100 * sim.Gbps}
	assert.InEpsilon(t, 44.24e-6, c.finish(0, 0)-c.rate.TxTime(1106).Seconds()-2*c.rate.TxTime(86).Seconds(), 1e-3)
}
