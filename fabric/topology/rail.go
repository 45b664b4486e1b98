package topology

import (
	"cmp"
	"fmt"
	"strconv"

	"rdmasim/sim"
)

// RailParams describes a rail-optimised fabric: servers have several NICs
// (one per GPU, as a rule), and NIC i of every server of a unit joins rail
// switch i of that unit. Every NIC is an endpoint: port i of a host is on rail i.
// Without spines the fabric is rail-only: a rail reaches only itself.
type RailParams struct {
	Servers     int          `key:"servers" doc:"hosts h0.."`
	NICs        int          `key:"nics" doc:"NICs per server, which is rails per unit"`
	UnitServers int          `key:"unit_servers" doc:"servers that share one set of rail switches; 0 = all"`
	Spines      int          `key:"spines" doc:"spine switches spine0.. that join all rail switches rail0..; 0 = rail-only"`
	Uplinks     int          `key:"uplinks" doc:"parallel links between a rail switch and each spine"`
	Rate        sim.Rate     `key:"rate" doc:"rate of a NIC"`
	UplinkRate  sim.Rate     `key:"uplink_rate" doc:"rail switches to spines; 0bps = rate"`
	Delay       sim.Duration `key:"delay" doc:"propagation delay of every link"`
	Cable       sim.Length   `key:"cable" doc:"length of the cables instead of delay, at 5 ns/m"`
	UplinkDelay sim.Duration `key:"uplink_delay" doc:"rail switches to spines; 0s = delay"`
	UplinkCable sim.Length   `key:"uplink_cable" doc:"rail switches to spines, instead of uplink_delay"`
}

var _ = sim.Register(Topologies, "rail", "servers with several NICs, one rail switch per NIC, spines above",
	RailParams{Servers: 8, NICs: 8, Spines: 4, Uplinks: 1, Rate: 400 * sim.Gbps, Delay: DefaultDelay}, nil, rail)

func rail(p RailParams) (*Graph, error) {
	const name = "rail"
	if err := checks(check{"servers", p.Servers, 1}, check{"nics", p.NICs, 1}, check{"unit_servers", p.UnitServers, 0}, check{"spines", p.Spines, 0}, check{"uplinks", p.Uplinks, 1}); err != nil {
		return in(name, err)
	}
	uplinkRate := cmp.Or(p.UplinkRate, p.Rate)
	if err := cmp.Or(checkRate("rate", p.Rate), checkRate("uplink_rate", uplinkRate)); err != nil {
		return in(name, err)
	}
	all, err := topSpan(p.Delay, p.Cable)
	if err != nil {
		return in(name, err)
	}
	up, err := all.or("uplink_", p.UplinkDelay, p.UplinkCable)
	if err != nil {
		return in(name, err)
	}
	unit := cmp.Or(p.UnitServers, p.Servers)
	units := (p.Servers + unit - 1) / unit
	if units > 1 && p.Spines == 0 {
		return in(name, fmt.Errorf("spines: 0: want at least 1, since %d servers in units of %d need spines to reach other units", p.Servers, unit))
	}
	rails := product(units, p.NICs)
	if err := checkSize(sum(p.Servers, rails, p.Spines), sum(product(p.Servers, p.NICs), product(rails, p.Spines, p.Uplinks))); err != nil {
		return in(name, err)
	}
	b := NewBuilder(name)
	for i := range p.Servers {
		b.SetPod(b.AddHost("h"+strconv.Itoa(i)), i/unit)
	}
	for i := range rails {
		b.AddSwitch("rail"+strconv.Itoa(i), 1, i/p.NICs)
	}
	for i := range p.Spines {
		b.AddSwitch("spine"+strconv.Itoa(i), 2, -1)
	}
	for i := range p.Servers {
		for nic := range p.NICs {
			b.Connect(i, p.Servers+i/unit*p.NICs+nic, all.wire(p.Rate))
		}
	}
	for i := range rails {
		for j := range p.Spines {
			for range p.Uplinks {
				b.Connect(p.Servers+i, p.Servers+rails+j, up.wire(uplinkRate))
			}
		}
	}
	return b.Graph()
}
