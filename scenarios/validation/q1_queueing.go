package validation

import (
	"fmt"
	"strconv"

	"rdmasim/congestion/fluid"
	"rdmasim/sim"
	"rdmasim/sim/stat"
	"rdmasim/sim/trace"
)

var _ = register("Q1", Row{
	Title: "mean queue under Poisson arrivals",
	Hard:  true,
	Explain: `Packets waiting, without the one in service, at utilisation rho:
M/D/1 rho^2 / (2 (1 - rho)), M/M/1 rho^2 / (1 - rho); both are Pollaczek and Khinchine's
Lq = rho^2 (1 + c^2) / (2 (1 - rho)), c the coefficient of variation of the service time.
The bytes waiting are Lq times the mean size, as a packet's wait does not depend on its own size.
Source: L. Kleinrock, Queueing Systems, volume 1, sections 3.2 and 5.6.`,
	Oracles:   []string{"md1", "mm1"},
	Scenarios: []string{"poisson-port.yaml"},
	Measure:   measureQueueing,
})

// law is a distribution of packet sizes.
type law struct {
	name    string
	waiting func(rho float64) float64 // mean number of waiting packets
	mean    float64                   // frame bytes that a queue accounts per packet
	wire    float64                   // bytes per packet on the link
	payload float64                   // mean payload
	sets    []string                  // of the scenario
}

// port is what packets queue for, and who sends them.
type port struct {
	rate    sim.Rate
	senders int
}

// plainPort is that of the scenario.
var plainPort = port{100 * sim.Gbps, 32}

// link is that of each sender: sixteen times as fast as the port.
func (p port) link() sim.Rate { return 16 * p.rate }

func lawsOfService() []law {
	// Fixed: SEND packets of 1024 B in 1086-byte frames. Exponential: frames are
	// payload and one byte, without preamble and gap, so that the service time
	// is exponential but for that byte.
	return []law{
		{name: "M/D/1", waiting: fluid.MD1Waiting, mean: 1086, wire: 1106, payload: 1024},
		{name: "M/M/1", waiting: fluid.MM1Waiting, mean: 3001, wire: 3001, payload: 3000, sets: []string{"nic.frame={payload: 60000B, header: 1B, ack: 66B, overhead: 0B}",
			"traffic.0.poisson.cdf=exponential", "traffic.0.poisson.size=3000B"}},
	}
}

// settings make the port's utilisation rho, for so many packets after a
// warm-up of a tenth as long.
func (l law) settings(p port, rho float64, packets int) []string {
	perPacket := l.wire * 8 / float64(p.rate) // seconds
	span := sim.Duration(float64(packets) * perPacket / rho * float64(sim.Second))
	load := rho * l.payload / l.wire * float64(p.rate) / float64(p.senders) / float64(p.link())
	set := []string{"traffic.0.poisson.load=" + strconv.FormatFloat(load, 'g', 17, 64), fmt.Sprintf("topology.star.hosts=%d", p.senders+1), "topology.star.rate=" + p.link().String(),
		"links.0.rate=" + p.rate.String(), "warmup=" + fmt.Sprintf("%dps", span/10), "duration=" + fmt.Sprintf("%dps", span+span/10)}
	return append(set, l.sets...)
}

// queueAt runs a law at a utilisation and returns packets waiting, utilisation
// and packets per replicate.
func (b *Bench) queueAt(l law, p port, rho float64, packets int) ([]stat.Interval, error) {
	return b.Replicate("poisson-port.yaml", l.settings(p, rho, packets), func(o *Outcome) ([]float64, error) {
		if drops := o.Sum(trace.CountDropLossy) + o.Sum(trace.CountPFCXoffTx); drops != 0 {
			return nil, fmt.Errorf("%v drops and pauses in a fabric that should have none", drops)
		}
		return []float64{o.Of("sw0:0/q3", trace.CountQueueIntegral) / o.Seconds() / l.mean, o.Of("sw0:0", trace.CountTxBytes) * 8 / o.Seconds() / float64(p.rate),
			o.Of("sw0:0", trace.CountTxPackets)}, nil
	})
}

func measureQueueing(b *Bench) error {
	type point struct {
		rho   float64
		port  port
		level Level
	}
	// A million packets and more over all replicates; more where the queue is
	// long and successive packets are alike.
	packets := [...]int{Short: 25_000, Quick: 400_000, Full: 1_000_000}[b.Level]
	points := []point{{0.5, plainPort, Quick}, {0.8, plainPort, Quick}, {0.3, plainPort, Full}, {0.7, plainPort, Full}, {0.9, plainPort, Full},
		{0.6, port{25 * sim.Gbps, 64}, Full}, {0.75, port{40 * sim.Gbps, 100}, Full}}
	if b.Level == Short {
		points = []point{{0.5, plainPort, Short}} // the only one that settles within so few packets
		packets = 100_000
	}
	for _, l := range lawsOfService() {
		found := Line{Name: "simulated"}
		for _, p := range points {
			if p.level > b.Level {
				continue
			}
			n := packets
			if p.rho > 0.85 {
				n *= 4
			}
			got, err := b.waiting(l, p.port, p.rho, n)
			if err != nil {
				return err
			}
			found.at(p.rho, got.Mean)
			found.Half = append(found.Half, got.Half)
		}
		b.Draw(Curve{Name: "waiting-" + l.name[:1] + l.name[2:3], Title: "Packets waiting under Poisson arrivals, " + l.name, X: Axis{Label: "utilisation"}, Y: Axis{Label: "packets waiting", Log: true},
			Lines: []Line{oracle("Pollaczek-Khinchine", 0.2, 0.93, l.waiting), found}})
	}
	return nil
}

// waiting checks the mean number of waiting packets at a utilisation, and
// returns it.
func (b *Bench) waiting(l law, p port, rho float64, packets int) (stat.Interval, error) {
	got, err := b.queueAt(l, p, rho, packets)
	if err != nil {
		return stat.Interval{}, err
	}
	where := ""
	if p != plainPort {
		where = fmt.Sprintf(", %v, %d senders", p.rate, p.senders)
	}
	b.Near(fmt.Sprintf("%s, rho %v%s, %d packets", l.name, rho, where, got[0].N*packets), l.waiting(rho), got[0], 0.03, "packets", "Kleinrock")
	return got[0], nil
}
