package validation

import (
	"fmt"
	"math"
	"strconv"

	"rdmasim/congestion/fluid"
	"rdmasim/scenarios"
	"rdmasim/sim"
	"rdmasim/sim/stat"
)

var _ = register("R1", Row{
	Title: "go-back-N under random loss",
	Hard:  true,
	Explain: `Each data packet is lost with probability p. A loss wastes the W packets that are sent from the lost one on until
the NAK is there, so that the goodput is (1-p) / (1-p+pW) of the lossless one, W = 1 + RTT C / (8 L):
L bytes of a packet on the wire, RTT from the start of a packet to the arrival of its answer.
A retransmission that is lost again is not answered by a second NAK (InfiniBand Architecture, 9.7.5.2.8), so that one
loss in 1/p waits for the local ACK timeout T: p T C / (8 L) more packets. The scenario has the small T of 65.5 us.
Source: renewal argument; derived.`,
	Oracles:   []string{"go_back_n_random", "wire_efficiency"},
	Scenarios: []string{"go-back-n.yaml"},
	Measure:   measureGoBackN,
})

// lossCase is one point of R1.
type lossCase struct {
	p       float64
	rate    sim.Rate
	mtu     int
	delay   sim.Duration
	timeout int // code of the local ACK timeout
	level   Level
}

// window is W of a cable, and what the second loss of a packet adds to it.
func (c lossCase) window() (w, again float64) {
	packet := c.rate.TxTime(plainWire(c.mtu))
	rtt := packet + c.rate.TxTime(ackWire()) + 2*c.delay
	return fluid.RecoveryWindow(rtt, c.rate, plainWire(c.mtu)), c.p * scenarios.AckTimeout(c.timeout).Seconds() / packet.Seconds()
}

func measureGoBackN(b *Bench) error {
	const us = sim.Microsecond
	points := []lossCase{
		{1e-3, 100 * sim.Gbps, 1024, 2 * us, 4, Short}, // W about 48
		{1e-3, 100 * sim.Gbps, 1024, 4350 * sim.Nanosecond, 5, Quick},
		{1e-4, 100 * sim.Gbps, 1024, 2 * us, 5, Quick}, {1e-2, 100 * sim.Gbps, 1024, 1 * us, 3, Quick},
		{1e-3, 400 * sim.Gbps, 4096, 2 * us, 4, Full}, {3e-3, 25 * sim.Gbps, 256, 5 * us, 5, Quick},
		{5e-4, 200 * sim.Gbps, 2048, 3 * us, 5, Full}, {2e-2, 50 * sim.Gbps, 512, 500 * sim.Nanosecond, 3, Full},
	}
	found := Line{Name: "simulated"}
	for _, c := range points {
		if c.level > b.Level {
			continue
		}
		got, err := b.lose(c)
		if err != nil {
			return err
		}
		w, again := c.window()
		x := c.p * (w + again)
		found.at(x, got.Mean)
		found.Half = append(found.Half, got.Half)
	}
	line := oracleLog("1/(1+pW)", 0.003, 1, func(x float64) float64 { return 1 / (1 + x) })
	b.Draw(Curve{Name: "goodput", Title: "Goodput of go-back-N under random loss", X: Axis{Label: "p W, with the timeouts of second losses", Log: true}, Y: Axis{Label: "share of the lossless goodput"},
		Lines: []Line{line, found}})
	return nil
}

// lose checks the goodput under random loss, and returns it as a share of the
// lossless one.
func (b *Bench) lose(c lossCase) (got stat.Interval, err error) {
	w, again := c.window()
	// So many packets that there are 20 000 losses; fewer, and no more than ten
	// million packets, where it is to be quick.
	losses := [...]float64{Short: 2000, Quick: min(3000, 1e7*c.p), Full: 20_000}[b.Level]
	packet := c.rate.TxTime(plainWire(c.mtu))
	span := sim.Duration(losses / c.p * (1 + c.p*w) * float64(packet))
	list, err := b.Replicate("go-back-n.yaml", []string{"links.0.data_loss=" + strconv.FormatFloat(c.p, 'g', -1, 64), "topology.custom.rate=" + c.rate.String(),
		fmt.Sprintf("topology.custom.delay=%dps", c.delay), fmt.Sprintf("nic.path_mtu=%d", c.mtu), fmt.Sprintf("nic.timeout=%d", c.timeout),
		fmt.Sprintf("duration=%dps", span+sim.Millisecond)}, func(o *Outcome) ([]float64, error) {
		return []float64{o.Goodput() / (float64(c.rate) * wireShare(c.mtu, "none"))}, nil
	})
	if err != nil {
		return got, err
	}
	b.Near(fmt.Sprintf("p %g, W %.4g, %v, MTU %d, timeout %d", c.p, w, c.rate, c.mtu, c.timeout), fluid.GoBackN(c.p, w+again), list[0], 0.02, "of lossless", "derived")
	return list[0], nil
}

// oracleLog is oracle with points spread over decades.
func oracleLog(name string, from, to float64, f func(float64) float64) Line {
	l := oracle(name, math.Log(from), math.Log(to), func(x float64) float64 { return f(math.Exp(x)) })
	for i := range l.X {
		l.X[i] = math.Exp(l.X[i])
	}
	return l
}
