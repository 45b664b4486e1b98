package validation

import (
	"fmt"
	"slices"
	"strings"

	"rdmasim/congestion/fluid"
	"rdmasim/sim"
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

// fabric returns the settings of a tree with a switch before each ingress port
// of the last one that has several senders.
func (l lot) fabric() []string {
	nodes, links, senders, h := "{name: r, kind: host}, {name: last, kind: switch}", "{a: r, b: last}", "", 0
	for i, n := range l.ports {
		behind := "last"
		if n > 1 {
			behind = fmt.Sprintf("t%d", i+1)
			nodes += fmt.Sprintf(", {name: %s, kind: switch}", behind)
			links += fmt.Sprintf(", {a: %s, b: last}", behind)
		}
		for range n {
			h++
			nodes += fmt.Sprintf(", {name: h%d, kind: host}", h)
			links += fmt.Sprintf(", {a: h%d, b: %s}", h, behind)
			senders += fmt.Sprintf("h%d, ", h)
		}
	}
	return []string{"topology.custom.nodes=[" + nodes + "]", "topology.custom.links=[" + links + "]", "traffic.0.incast.senders=[" + strings.TrimSuffix(senders, ", ") + "]"}
}

// settings are those of the scenario.
func (l lot) settings() []string {
	set := []string{"topology.custom.rate=" + l.rate.String(), fmt.Sprintf("nic.path_mtu=%d", l.mtu)}
	if !slices.Equal(l.ports, []int{3, 1}) { // that of the file
		set = append(set, l.fabric()...)
	}
	return append(set, l.sets...)
}

func lots() []lot {
	three, split := []int{3, 1}, []int{2, 1, 1}
	return []lot{
		{"3+1", nil, 40 * sim.Gbps, 1024, three, Short},
		{"2+1+1", nil, 40 * sim.Gbps, 1024, split, Short},
		{"3+1", nil, 100 * sim.Gbps, 4096, three, Quick},
		{"2+1+1", nil, 100 * sim.Gbps, 4096, split, Quick},
		{"3+1, 10 us links", []string{"topology.custom.delay=10us", "switch.buffer.size=60MB"}, 40 * sim.Gbps, 1024, three, Quick},
		{"3+1, alpha 1", []string{"switch.buffer.alpha=1"}, 25 * sim.Gbps, 1024, three, Quick},
		{"5+1", nil, 50 * sim.Gbps, 2048, []int{5, 1}, Full},
		{"3+2+1", nil, 200 * sim.Gbps, 4096, []int{3, 2, 1}, Full},
		{"7+2", nil, 25 * sim.Gbps, 512, []int{7, 2}, Full},
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
		rates, err := b.park(l)
		if err != nil {
			return err
		}
		for i, share := range l.shares() {
			found.at(share, rates[i])
			want.at(share, share)
		}
	}
	b.Draw(Curve{Name: "shares", Title: "Shares of the receiver's link under PFC alone", X: Axis{Label: "derived share"}, Y: Axis{Label: "simulated share"}, Lines: []Line{want, found}})
	if b.Level == Short {
		return nil
	}
	return b.fairParkingLot()
}

// park checks what each sender gets under PFC alone, and returns the shares.
func (b *Bench) park(l lot) ([]float64, error) {
	o, err := b.Run("parking-lot.yaml", l.settings()...)
	if err != nil {
		return nil, err
	}
	defer o.Discard()
	rates, err := wireRates(o, l.mtu, l.rate)
	if err != nil {
		return nil, err
	}
	var list []float64
	for i, share := range l.shares() {
		got, c := rates[fmt.Sprintf("h%d", i+1)], float64(l.rate)/1e9
		b.Near(fmt.Sprintf("%s, %v, MTU %d: H%d", l.name, l.rate, l.mtu, i+1), share*c, one(got*c), 0.02, "Gb/s", "SIGCOMM'15 2.2")
		list = append(list, got)
	}
	return list, nil
}

// fairParkingLot is the same with DCQCN.
func (b *Bench) fairParkingLot() error {
	points := []lot{lots()[0], lots()[1], {"3+1", nil, 100 * sim.Gbps, 1024, []int{3, 1}, Full}, {"3+2+1", nil, 40 * sim.Gbps, 1024, []int{3, 2, 1}, Full}, {"5+1", nil, 50 * sim.Gbps, 2048, []int{5, 1}, Full}}
	for _, l := range points {
		if l.level > b.Level {
			continue
		}
		n := len(l.shares())
		sets := append(l.settings(), "nic.congestion={dcqcn: {preset: sigcomm15}}", "switch.ecn={3: {kmin: 5KB, kmax: 200KB, pmax: 1%}}", "warmup=100ms", "duration=300ms")
		got, err := b.Replicate("parking-lot.yaml", sets, func(o *Outcome) (list []float64, err error) {
			m, err := wireRates(o, l.mtu, l.rate)
			for i := range n {
				list = append(list, m[fmt.Sprintf("h%d", i+1)])
			}
			return list, err
		})
		if err != nil {
			return err
		}
		for i, r := range got {
			b.Near(fmt.Sprintf("%s, %v, MTU %d, DCQCN: H%d", l.name, l.rate, l.mtu, i+1), fluid.FairShare(l.rate, n)/1e9, scaled(r, float64(l.rate)/1e9), 0.1, "Gb/s", "SIGCOMM'15 6.1")
		}
	}
	return nil
}
