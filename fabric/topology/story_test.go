package topology

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// A spine link fails: traffic between the two leaves loses one of its four
// paths, other leaves keep all, and repair brings the fourth back.
func TestFailedSpineLinkIsRoutedAround(t *testing.T) {
	g := build[LeafSpineParams](t, "leaf_spine", nil) // 4 leaves, 4 spines, 4 hosts per leaf
	leaf0, spine1 := node(t, g, "leaf0"), node(t, g, "spine1")
	broken := -1
	for i, l := range g.Links {
		if l.A == leaf0 && l.B == spine1 {
			broken = i
		}
	}
	cut, err := ShortestPathsWithout(g, func(l int) bool { return l == broken })
	require.NoError(t, err)
	require.Equal(t, []uint16{4, 6, 7}, cut.Next(leaf0, 15), "port 5 leads to spine1")
	require.EqualValues(t, 3, cut.CountPaths(0, 15), "out of leaf0")
	require.EqualValues(t, 3, cut.CountPaths(15, 0), "into leaf0: spine1 is no longer on a shortest path")
	require.EqualValues(t, 4, cut.CountPaths(4, 15), "between other leaves")
	require.Len(t, cut.Next(spine1, 0), 3, "spine1 itself goes round by the other leaves")
	require.EqualValues(t, 4, routes(t, g).CountPaths(0, 15))
}

// The only cable of a host is pulled: nobody reaches it, it reaches nobody, and
// the rest does not notice.
func TestUnpluggedHost(t *testing.T) {
	g := build(t, "star", func(p *StarParams) { p.Hosts = 3 })
	cut, err := ShortestPathsWithout(g, func(l int) bool { return l == 1 }) // h1 - sw0
	require.NoError(t, err)
	require.Empty(t, cut.Next(3, 1))
	require.Empty(t, cut.Next(0, 1))
	require.Empty(t, cut.Next(1, 0))
	require.Equal(t, -1, cut.Distance(0, 1))
	require.Nil(t, cut.Path(0, 1, nil))
	require.Zero(t, cut.CountPaths(1, 0))
	require.Empty(t, cut.HostPorts(1))
	require.Equal(t, []uint16{2}, cut.Next(3, 2))
	require.Equal(t, 2, cut.Distance(0, 2))
}

// A bonded server has one address over two cables; when one is pulled the
// bond goes on with the other.
func TestBondedHost(t *testing.T) {
	b := NewBuilder("bond")
	h0, h1, sw := b.AddHost("h0"), b.AddHost("h1"), b.AddSwitch("sw0", 1, -1)
	for range 2 {
		b.Connect(h0, sw, Wire{Rate: 25 * sim.Gbps, Cable: 3 * sim.Metre, LAG: "bond0"})
	}
	b.Connect(h1, sw, Wire{Rate: 100 * sim.Gbps, Cable: 3 * sim.Metre})
	g, err := b.Graph()
	require.NoError(t, err)
	require.Equal(t, []Endpoint{{h0, 0}, {h1, 0}}, g.Endpoints())
	require.Equal(t, []string{"h0", "h1"}, g.EndpointNames())

	r := routes(t, g)
	require.Equal(t, []uint16{LAGHop}, r.Next(sw, 0))
	require.Equal(t, []uint16{0, 1}, r.LAG(sw, r.Next(sw, 0)[0]))
	require.Equal(t, []uint16{LAGHop}, r.Next(h0, 1))
	require.Equal(t, []uint16{0, 1}, r.HostPorts(0))
	require.EqualValues(t, 1, r.CountPaths(0, 1))
	e, ok := r.EndpointAt(h0, 1)
	require.True(t, ok)
	require.Equal(t, 0, e, "the second port serves the same endpoint")

	cut, err := ShortestPathsWithout(g, func(l int) bool { return l == 0 })
	require.NoError(t, err)
	require.Equal(t, []uint16{LAGHop}, cut.Next(sw, 0))
	require.Equal(t, []uint16{1}, cut.LAG(sw, 0))
	require.Equal(t, []uint16{1}, cut.HostPorts(0))
}

// A server bonded to two leaves keeps one address: each leaf delivers by its
// own cable, and a spine may use either leaf.
func TestHostBondedToTwoLeaves(t *testing.T) {
	b := NewBuilder("mlag")
	h0, h1 := b.AddHost("h0"), b.AddHost("h1")
	leaf0, leaf1, leaf2, spine := b.AddSwitch("leaf0", 1, -1), b.AddSwitch("leaf1", 1, -1), b.AddSwitch("leaf2", 1, -1), b.AddSwitch("spine0", 2, -1)
	w := Wire{Rate: DefaultRate, Delay: DefaultDelay}
	bond := w
	bond.LAG = "bond0"
	b.Connect(h0, leaf0, bond)
	b.Connect(h0, leaf1, bond)
	b.Connect(h1, leaf2, w)
	for _, leaf := range []int{leaf0, leaf1, leaf2} {
		b.Connect(leaf, spine, w)
	}
	g, err := b.Graph()
	require.NoError(t, err)
	require.Len(t, g.Endpoints(), 2)
	r := routes(t, g)
	require.Equal(t, []uint16{0, 1}, r.Next(spine, 0))
	require.EqualValues(t, 2, r.CountPaths(1, 0))
	require.EqualValues(t, 2, r.CountPaths(0, 1))
	require.Len(t, r.Next(leaf0, 0), 1)
	require.Equal(t, leaf0, g.Ports().Of(h0)[0].Peer)
}

// On rails every NIC has an address; NICs of one rail are two links apart, those
// of different rails go over a spine, and without spines do not reach each other.
func TestRails(t *testing.T) {
	g := build(t, "rail", func(p *RailParams) { p.Servers, p.NICs, p.Spines, p.UnitServers = 4, 2, 3, 2 })
	require.Equal(t, Stats{Hosts: 4, Switches: 4 + 3, Links: 8 + 12, Endpoints: 8, Tiers: 2}, g.Stats())
	require.Equal(t, []string{"h0:0", "h0:1", "h1:0", "h1:1", "h2:0", "h2:1", "h3:0", "h3:1"}, g.EndpointNames())
	require.Equal(t, 1, g.Nodes[node(t, g, "rail2")].Pod, "unit 1 has rail2 and rail3")
	r := routes(t, g)
	require.Equal(t, 2, r.Distance(0, 2), "h0:0 to h1:0, one rail")
	require.Equal(t, 4, r.Distance(0, 3), "h0:0 to h1:1, over a spine")
	require.Equal(t, 4, r.Distance(0, 4), "h0:0 to h2:0, another unit")
	require.EqualValues(t, 3, r.CountPaths(0, 4))
	require.Equal(t, []uint16{1}, r.Next(0, 3), "a host leaves by the port nearest to the endpoint")
	require.Equal(t, []uint16{0, 1}, r.Next(0, 4), "both ports are as near to another unit")
	require.Empty(t, r.Next(0, 1), "the other NIC of the same host")
	first, end := r.Of(1)
	require.Equal(t, []int{2, 4}, []int{first, end})

	alone := routes(t, build(t, "rail", func(p *RailParams) { p.Servers, p.NICs, p.Spines = 2, 2, 0 }))
	require.Equal(t, 2, alone.Distance(0, 2))
	require.Equal(t, -1, alone.Distance(0, 3), "rail-only")
}

// Two machines joined back to back need no switch.
func TestBackToBack(t *testing.T) {
	g, err := custom(CustomParams{
		Nodes: []CustomNode{{Name: "left", Kind: "host"}, {Name: "right", Kind: "host"}},
		Links: []CustomLink{{A: "left", B: "right", Cable: 2 * sim.Metre}},
		Rate:  DefaultRate, Delay: DefaultDelay,
	})
	require.NoError(t, err)
	require.Equal(t, 10*sim.Nanosecond, g.Links[0].AtoB.Delay)
	r := routes(t, g)
	require.Equal(t, []uint16{0}, r.Next(0, 1))
	require.Equal(t, 1, r.Distance(1, 0))
}

// One 400 Gb/s port of a switch is split in four of 100 Gb/s for servers; the
// uplink stays whole, so that the fabric has two speeds.
func TestBreakout(t *testing.T) {
	g, err := custom(CustomParams{
		Name: "breakout",
		Nodes: []CustomNode{
			{Name: "h0", Kind: "host"}, {Name: "h1", Kind: "host"}, {Name: "h2", Kind: "host"}, {Name: "store", Kind: "host"},
			{Name: "leaf0", Kind: "switch"}, {Name: "spine0", Kind: "switch"},
		},
		Links:     []CustomLink{{A: "leaf0", APort: "swp2", B: "spine0"}, {A: "store", B: "spine0", Rate: 200 * sim.Gbps}},
		Breakouts: []CustomBreakout{{Node: "leaf0", Port: "swp1", To: []string{"h0", "h1", "h2", "h2"}, Cable: 3 * sim.Metre}},
		Rate:      400 * sim.Gbps, Delay: DefaultDelay,
	})
	require.NoError(t, err)
	require.Equal(t, `leaf0:swp2 - spine0: 400Gbps 500ns
store: - spine0: 200Gbps 500ns
leaf0:swp1s0 - h0: 100Gbps 15ns
leaf0:swp1s1 - h1: 100Gbps 15ns
leaf0:swp1s2 - h2: 100Gbps 15ns
leaf0:swp1s3 - h2: 100Gbps 15ns
`, cables(g))
	require.Equal(t, []string{"h0", "h1", "h2:0", "h2:1", "store"}, g.EndpointNames())
	require.Equal(t, 1, g.Nodes[5].Tier, "spine0 has a host too")
}

// Three hosts behind one port of sw1 and one on another: the parking lot of the
// DCQCN paper, whose last host is the receiver.
func TestParkingLot(t *testing.T) {
	g := build[ParkingLotParams](t, "parking_lot", nil)
	require.Equal(t, `h0: - sw0: 40Gbps 500ns
h1: - sw0: 40Gbps 500ns
h2: - sw0: 40Gbps 500ns
h3: - sw1: 40Gbps 500ns
h4: - sw1: 40Gbps 500ns
sw0: - sw1: 40Gbps 500ns
`, cables(g))
	r := routes(t, g)
	require.Equal(t, 3, r.Distance(0, 4))
	require.Equal(t, 2, r.Distance(3, 4))
}

// In an even ring opposite switches are reached both ways round, neighbours one way.
func TestRing(t *testing.T) {
	g := build(t, "ring", func(p *RingParams) { p.Switches, p.HostsPerSwitch = 4, 1 })
	r := routes(t, g)
	require.EqualValues(t, 1, r.CountPaths(0, 1))
	require.EqualValues(t, 2, r.CountPaths(0, 2))
	require.Equal(t, []string{"tier 1: 4 switches, 400Gbps from below, no uplinks"}, lines(g.Oversubscription()))
}

// Parallel uplinks are next hops of their own, or one, where they form a LAG.
func TestParallelUplinks(t *testing.T) {
	for _, c := range []struct {
		lag  bool
		next []uint16
	}{{false, []uint16{2, 3, 4, 5}}, {true, []uint16{LAGHop, LAGHop | 1}}} {
		g := build(t, "leaf_spine", func(p *LeafSpineParams) {
			p.Leaves, p.Spines, p.HostsPerLeaf, p.Uplinks, p.LAG = 2, 2, 2, 2, c.lag
		})
		r := routes(t, g)
		require.Equal(t, c.next, r.Next(node(t, g, "leaf0"), 3))
		require.EqualValues(t, len(c.next)*len(c.next)/2, r.CountPaths(0, 3))
		require.Equal(t, "tier 1: 2 switches, 400Gbps from below, 800Gbps up: oversubscription 0.5:1", g.Oversubscription()[0].String())
	}
}

// Next hops come in the order of the neighbour's node number, not of ports.
func TestNextHopsAreInOrderOfNeighbours(t *testing.T) {
	b := NewBuilder("order")
	h0, h1 := b.AddHost("h0"), b.AddHost("h1")
	leaf0, leaf1, s0, s1, s2 := b.AddSwitch("leaf0", 1, -1), b.AddSwitch("leaf1", 1, -1), b.AddSwitch("s0", 2, -1), b.AddSwitch("s1", 2, -1), b.AddSwitch("s2", 2, -1)
	w := Wire{Rate: DefaultRate, Delay: DefaultDelay}
	for _, s := range []int{s2, s0, s1} {
		b.Connect(leaf0, s, w)
		b.Connect(leaf1, s, w)
	}
	b.Connect(h0, leaf0, w)
	b.Connect(h1, leaf1, w)
	g, err := b.Graph()
	require.NoError(t, err)
	require.Equal(t, []uint16{1, 2, 0}, routes(t, g).Next(leaf0, 1))
}

// Speeds differ by tier, and the tiers say how far they are oversubscribed.
func TestOversubscription(t *testing.T) {
	g := build(t, "fat_tree", func(p *FatTreeParams) {
		p.K, p.Oversubscription, p.CoreRate, p.HostCable = 4, 3, 400*sim.Gbps, 3*sim.Metre
	})
	require.Equal(t, 48, g.Stats().Hosts)
	require.Equal(t, []string{
		"tier 1: 8 switches, 4.8Tbps from below, 1.6Tbps up: oversubscription 3:1",
		"tier 2: 8 switches, 1.6Tbps from below, 6.4Tbps up: oversubscription 0.25:1",
		"tier 3: 4 switches, 6.4Tbps from below, no uplinks",
	}, lines(g.Oversubscription()))
	require.Equal(t, 15*sim.Nanosecond, g.Links[0].AtoB.Delay)
	require.Equal(t, DefaultDelay, g.Links[len(g.Links)-1].AtoB.Delay)

	uneven, err := custom(CustomParams{
		Nodes: []CustomNode{{Name: "h0", Kind: "host"}, {Name: "h1", Kind: "host"}, {Name: "a", Kind: "switch"}, {Name: "b", Kind: "switch"}, {Name: "top", Kind: "switch"}},
		Links: []CustomLink{{A: "h0", B: "a"}, {A: "h1", B: "b"}, {A: "a", B: "top", Rate: 25 * sim.Gbps}, {A: "b", B: "top"}},
		Rate:  DefaultRate, Delay: DefaultDelay,
	})
	require.NoError(t, err)
	require.Equal(t, "tier 1: 2 switches, 200Gbps from below, 125Gbps up: oversubscription 1.6:1 (worst 4:1 at a)", uneven.Oversubscription()[0].String())
}

// A link of two directions that differ keeps both.
func TestAsymmetricLink(t *testing.T) {
	g, err := custom(CustomParams{
		Nodes: []CustomNode{{Name: "h0", Kind: "host"}, {Name: "h1", Kind: "host"}, {Name: "sw", Kind: "switch"}},
		Links: []CustomLink{{A: "h0", B: "sw", BackRate: sim.Gbps, BackDelay: sim.Microsecond}, {A: "h1", B: "sw"}},
		Rate:  DefaultRate, Delay: DefaultDelay,
	})
	require.NoError(t, err)
	up, down := g.Ports().Of(0)[0], g.Ports().Of(2)[0]
	require.Equal(t, Side{Rate: DefaultRate, Delay: DefaultDelay}, up.Out(g))
	require.Equal(t, Side{Rate: sim.Gbps, Delay: sim.Microsecond}, up.In(g))
	require.Equal(t, up.In(g), down.Out(g))
	require.True(t, strings.HasPrefix(g.LinkName(0), "link 0 (h0 - sw)"))
}

// A cable replaces the default delay, at 5 ns/m, in every topology.
func TestCableInsteadOfDelay(t *testing.T) {
	for name, g := range map[string]*Graph{
		"star":     build(t, "star", func(p *StarParams) { p.Cable = 3 * sim.Metre }),
		"ring":     build(t, "ring", func(p *RingParams) { p.Cable = 3 * sim.Metre }),
		"fat_tree": build(t, "fat_tree", func(p *FatTreeParams) { p.Cable = 3 * sim.Metre }),
		"rail":     build(t, "rail", func(p *RailParams) { p.Cable = 3 * sim.Metre }),
		"clos":     build(t, "clos", func(p *ClosParams) { p.Cable = 3 * sim.Metre }),
	} {
		for _, l := range g.Links {
			require.Equal(t, 15*sim.Nanosecond, l.AtoB.Delay, name)
			require.Equal(t, 3*sim.Metre, l.Cable, name)
		}
	}
}
