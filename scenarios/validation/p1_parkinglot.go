package validation

import (
	"fmt"
	"strings"

	"rdmasim/congestion/fluid"
	"rdmasim/sim"
	"rdmasim/sim/stat"
)

var _ = register("P1", Row{
	Title: "unfairness of PFC in a parking lot",
	Hard:  true,
	Explain: `H4 is alone on an ingress port of the last switch, H1 to H3 come through one other port (3+1) or two (2+1+1).
PFC pauses ports, so each of k active ingress ports gets C/k, shared evenly by those behind it:
3+1: H4 C/2, the others C/6; 2+1+1: the two that share a port C/6, the others C/3.
With DCQCN all have C/4. Rates are on the wire: goodput times (frame + 20) / MTU.
Source: Zhu et al., SIGCOMM'15, section 2.2 and figures 3 and 8; derived.`,
	Oracles:   []string{"pfc_parking_lot", "wire_efficiency"},
	Scenarios: []string{"parking-lot.yaml"},
	Measure:   measureParkingLot,
})

// lot is one arrangement of senders.
type lot struct {
	name  string
	sets  []string
	rate  sim.Rate
	mtu   int
	ports []int // senders behind each ingress port of the last switch, from h1 on
	level Level
}

// behind moves h3 to the second switch: 2+1+1.
const behind = "topology.custom.links.2.b=t2"

func lots() []lot {
	three, split := []int{3, 1}, []int{2, 1, 1}
	return []lot{
		{"3+1", nil, 40 * sim.Gbps, 1024, three, Short},
		{"2+1+1", []string{behind}, 40 * sim.Gbps, 1024, split, Short},
		{"3+1", nil, 100 * sim.Gbps, 4096, three, Quick},
		{"2+1+1", []string{behind}, 100 * sim.Gbps, 4096, split, Quick},
		{"3+1, 10 us links", []string{"topology.custom.delay=10us", "switch.buffer.size=60MB"}, 40 * sim.Gbps, 1024, three, Quick},
		{"3+1, alpha 1", []string{"switch.buffer.alpha=1"}, 25 * sim.Gbps, 1024, three, Quick},
	}
}

// shares returns the shares of C that h1 to h4 get.
func (l lot) shares() (list []float64) {
	for i, r := range fluid.ParkingLot(l.rate, l.rate, l.ports...) {
		for range l.ports[i] {
			list = append(list, r/float64(l.rate))
		}
	}
	return list
}

// wireRates returns what each host sent as a share of the rate C.
func wireRates(o *Outcome, mtu int, c sim.Rate) (map[string]float64, error) {
	list, err := o.Goodputs()
	if err != nil {
		return nil, err
	}
	m := map[string]float64{}
	for i := range list {
		m[list[i].Src] += list[i].Rate() / wireShare(mtu, "none") / float64(c)
	}
	return m, nil
}

func measureParkingLot(b *Bench) error {
	found, want := Line{Name: "simulated"}, Line{Name: "derived", Oracle: true}
	for _, l := range lots() {
		if l.level > b.Level {
			continue
		}
		sets := append([]string{"topology.custom.rate=" + l.rate.String(), fmt.Sprintf("nic.path_mtu=%d", l.mtu)}, l.sets...)
		o, err := b.Run("parking-lot.yaml", sets...)
		if err != nil {
			return err
		}
		rates, err := wireRates(o, l.mtu, l.rate)
		if err != nil {
			return err
		}
		o.Discard()
		for i, share := range l.shares() {
			h, c := fmt.Sprintf("h%d", i+1), float64(l.rate)/1e9
			b.Near(fmt.Sprintf("%s, %v, MTU %d: %s", l.name, l.rate, l.mtu, strings.ToUpper(h)), share*c, one(rates[h]*c), 0.02, "Gb/s", "SIGCOMM'15 2.2")
			found.at(share, rates[h])
			want.at(share, share)
		}
	}
	b.Draw(Curve{Name: "shares", Title: "Shares of the receiver's link under PFC alone", X: Axis{Label: "derived share"}, Y: Axis{Label: "simulated share"}, Lines: []Line{want, found}})
	if b.Level == Short {
		return nil
	}
	return b.fairParkingLot()
}

// fairParkingLot is the same with DCQCN.
func (b *Bench) fairParkingLot() error {
	for _, l := range lots()[:2] {
		sets := append([]string{"nic.congestion={dcqcn: {preset: sigcomm15}}", "switch.ecn={3: {kmin: 5KB, kmax: 200KB, pmax: 1%}}", "warmup=100ms", "duration=300ms"}, l.sets...)
		got, err := b.Replicate("parking-lot.yaml", sets, func(o *Outcome) ([]float64, error) {
			m, err := wireRates(o, l.mtu, l.rate)
			return []float64{m["h1"], m["h2"], m["h3"], m["h4"]}, err
		})
		if err != nil {
			return err
		}
		for i, r := range got {
			b.Near(fmt.Sprintf("%s, DCQCN: H%d", l.name, i+1), fluid.FairShare(l.rate, len(got))/1e9, stat.Interval{Mean: r.Mean * 40, Half: r.Half * 40, N: r.N}, 0.1, "Gb/s", "SIGCOMM'15 6.1")
		}
	}
	return nil
}
