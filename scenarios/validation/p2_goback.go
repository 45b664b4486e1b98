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

func measureGoBack0(b *Bench) error {
	points := []struct {
		verb  string
		every int
		mtu   int
		rate  sim.Rate
		delay sim.Duration
		level Level
	}{
		{"write", 256, 1024, 40 * sim.Gbps, 500 * sim.Nanosecond, Short}, {"send", 256, 1024, 40 * sim.Gbps, 500 * sim.Nanosecond, Short},
		{"read", 256, 1024, 40 * sim.Gbps, 500 * sim.Nanosecond, Short}, {"read", 256, 4096, 100 * sim.Gbps, 500 * sim.Nanosecond, Quick},
		{"write", 256, 4096, 100 * sim.Gbps, 500 * sim.Nanosecond, Quick}, {"write", 500, 1024, 100 * sim.Gbps, 2 * sim.Microsecond, Quick},
		{"send", 128, 1024, 25 * sim.Gbps, 1 * sim.Microsecond, Quick}, {"write", 64, 512, 10 * sim.Gbps, 500 * sim.Nanosecond, Quick},
	}
	for _, p := range points {
		if p.level > b.Level {
			continue
		}
		set := []string{"traffic.0.incast.verb=" + p.verb, fmt.Sprintf("links.0.drop_every=%d", p.every), fmt.Sprintf("nic.path_mtu=%d", p.mtu),
			"topology.star.rate=" + p.rate.String(), "topology.star.delay=" + p.delay.String()}
		if p.verb == "read" {
			set = append(set, "nic.timeout=2")
		}
		o, err := b.Run("go-back-0.yaml", set...)
		if err != nil {
			return err
		}
		packet := p.rate.TxTime(plainWire(p.mtu))
		rtt := 2*packet + 2*p.rate.TxTime(ackWire()) + 4*p.delay + 2*o.Spec.Switch.Latency
		w := fluid.RecoveryWindow(rtt, p.rate, plainWire(p.mtu))
		what := fmt.Sprintf("%s, every %dth, MTU %d, %v, W %.4g", p.verb, p.every, p.mtu, p.rate, w)
		b.Near("go-back-N, "+what, fluid.GoBackNPeriodic(float64(p.every), w)*float64(p.rate)*wireShare(p.mtu, "none")/1e9, one(o.Goodput()/1e9), 0.02, "Gb/s", "derived")
		o.Discard()
		if o, err = b.Run("go-back-0.yaml", append(set, "nic.recovery=go_back_0")...); err != nil {
			return err
		}
		done := 0
		list, err := o.Messages()
		if err != nil {
			return err
		}
		for _, f := range list {
			if fluid.GoBack0Completes(p.every, int(f.Bytes)/p.mtu) {
				return fmt.Errorf("%s: a message of %v is too short to be lost for good", what, f.Bytes)
			}
			if f.End >= 0 {
				done++
			}
		}
		b.Exact("go-back-0, "+what+": messages completed", 0, done, "SIGCOMM'16 4.1")
		o.Discard()
	}
	return nil
}
