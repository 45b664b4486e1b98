package validation

import (
	"fmt"

	"rdmasim/congestion/fluid"
	"rdmasim/sim"
)

var _ = register("P2", Row{
	Title: "livelock of go-back-0",
	Hard:  true,
	Explain: `Every kth data packet that passes the switch is lost. Messages of more than k packets never complete if each loss
begins the message again (go-back-0): goodput exactly 0. Go-back-N wastes the W packets that pass from the lost one on
until the sender has gone back: goodput (1 - W/k) of the lossless one, W = 1 + RTT C / (8 L), L on the wire.
A READ loses its responses; its requester asks again, and waits for the answer as the sender of a WRITE waits for a NAK.
A READ request is a packet too: one that is lost while the responder is behind it is found by the local ACK timeout alone,
so that READ has a short one of 16 us.
Source: Guo et al., SIGCOMM'16, section 4.1 (every 256th by the last byte of the IP identification); derived.`,
	Oracles:   []string{"go_back_0", "go_back_n_periodic", "go_back_n_random", "wire_efficiency"},
	Scenarios: []string{"go-back-0.yaml"},
	Measure:   measureGoBack0,
})

// everyKth is one point of P2.
type everyKth struct {
	verb  string
	every int
	mtu   int
	rate  sim.Rate
	delay sim.Duration
	level Level
}

func measureGoBack0(b *Bench) error {
	const us, ns = sim.Microsecond, sim.Nanosecond
	points := []everyKth{
		{"write", 256, 1024, 40 * sim.Gbps, 500 * ns, Short}, {"send", 256, 1024, 40 * sim.Gbps, 500 * ns, Short},
		{"read", 256, 1024, 40 * sim.Gbps, 500 * ns, Short}, {"read", 256, 4096, 100 * sim.Gbps, 500 * ns, Quick},
		{"write", 256, 4096, 100 * sim.Gbps, 500 * ns, Quick}, {"write", 500, 1024, 100 * sim.Gbps, 2 * us, Quick},
		{"send", 128, 1024, 25 * sim.Gbps, 1 * us, Quick}, {"write", 64, 512, 10 * sim.Gbps, 500 * ns, Quick},
		{"read", 200, 2048, 50 * sim.Gbps, 1 * us, Quick}, {"send", 777, 256, 200 * sim.Gbps, 500 * ns, Quick},
	}
	line := oracle("go-back-N, derived: 1 - W/k", 0, 0.5, func(x float64) float64 { return 1 - x })
	found, dead := Line{Name: "go-back-N, simulated"}, Line{Name: "go-back-0, simulated"}
	for _, p := range points {
		if p.level > b.Level {
			continue
		}
		w, share, done, err := b.loseEvery(p)
		if err != nil {
			return err
		}
		found.at(w/float64(p.every), share)
		dead.at(w/float64(p.every), done)
	}
	b.Draw(Curve{Name: "goodput", Title: "Goodput when every kth packet is lost", X: Axis{Label: "W/k"}, Y: Axis{Label: "share of the lossless goodput"}, Lines: []Line{line, found, dead}})
	return nil
}

// settings are those of the scenario.
func (p everyKth) settings() []string {
	set := []string{"traffic.0.incast.verb=" + p.verb, fmt.Sprintf("links.0.drop_every=%d", p.every), fmt.Sprintf("nic.path_mtu=%d", p.mtu),
		"topology.star.rate=" + p.rate.String(), "topology.star.delay=" + p.delay.String()}
	if p.verb == "read" {
		set = append(set, "nic.timeout=2")
	}
	return set
}

// loseEvery checks the goodput of go-back-N and that of go-back-0, and returns W
// and the share of the lossless goodput that each has.
func (b *Bench) loseEvery(p everyKth) (w, share, dead float64, err error) {
	o, err := b.Run("go-back-0.yaml", p.settings()...)
	if err != nil {
		return 0, 0, 0, err
	}
	defer o.Discard()
	packet := p.rate.TxTime(plainWire(p.mtu))
	rtt := 2*packet + 2*p.rate.TxTime(ackWire()) + 4*p.delay + 2*o.Spec.Switch.Latency
	w = fluid.RecoveryWindow(rtt, p.rate, plainWire(p.mtu))
	lossless := float64(p.rate) * wireShare(p.mtu, "none")
	what := fmt.Sprintf("%s, every %dth, MTU %d, %v, W %.4g", p.verb, p.every, p.mtu, p.rate, w)
	b.Near("go-back-N, "+what, fluid.GoBackNPeriodic(float64(p.every), w)*lossless/1e9, one(o.Goodput()/1e9), 0.02, "Gb/s", "derived")
	share = o.Goodput() / lossless
	zero, err := b.Run("go-back-0.yaml", append(p.settings(), "nic.recovery=go_back_0")...)
	if err != nil {
		return 0, 0, 0, err
	}
	defer zero.Discard()
	done, size := 0, 0
	list, err := zero.Messages()
	if err != nil {
		return 0, 0, 0, err
	}
	for _, f := range list {
		if fluid.GoBack0Completes(p.every, int(f.Bytes)/p.mtu) {
			return 0, 0, 0, fmt.Errorf("%s: a message of %v is too short to be lost for good", what, f.Bytes)
		}
		if f.End >= 0 {
			done++
			size += int(f.Bytes)
		}
	}
	b.Exact("go-back-0, "+what+": messages completed", 0, done, "SIGCOMM'16 4.1")
	return w, share, float64(size) * 8 / zero.Seconds() / lossless, nil
}
