package topology

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// wrong expects the error of a topology whose defaults are edited.
func wrong[P any](t *testing.T, name, want string, edit func(*P)) {
	t.Helper()
	g, err := tryBuild(t, name, edit)
	require.Nil(t, g)
	require.EqualError(t, err, "topology "+name+": "+want)
}

// Every impossible parameter gets one error that names the key, the value and
// what would be valid.
func TestParameterErrors(t *testing.T) {
	wrong(t, "fat_tree", "k: 5: want an even number of at least 2", func(p *FatTreeParams) { p.K = 5 })
	wrong(t, "fat_tree", "k: 0: want an even number of at least 2", func(p *FatTreeParams) { p.K = 0 })
	wrong(t, "fat_tree", "that makes 1160000 nodes: want at most 200000", func(p *FatTreeParams) { p.K, p.HostsPerToR = 400, 12 })
	wrong(t, "fat_tree", "that makes more than 2^40 nodes: want at most 200000", func(p *FatTreeParams) { p.K = 30000 })
	wrong(t, "fat_tree", "host_rate: 0bps: want more than 0, for example 100Gbps", func(p *FatTreeParams) { p.Rate = 0 })
	wrong(t, "fat_tree", "oversubscription: 1.25: k/2 = 2 times it is 2.5 hosts per ToR: want a whole number of at least 1", func(p *FatTreeParams) { p.Oversubscription = 1.25 })
	wrong(t, "fat_tree", "oversubscription: 0: want more than 0 and at most 32768 hosts per ToR, for example 1 or 2", func(p *FatTreeParams) { p.Oversubscription = 0 })
	wrong(t, "fat_tree", "hosts_per_tor: 3 contradicts oversubscription: 2, which gives 4: give one of them", func(p *FatTreeParams) { p.Oversubscription, p.HostsPerToR = 2, 3 })
	wrong(t, "fat_tree", "delay: 1us contradicts cable: 3m, which takes 15ns: give one of them", func(p *FatTreeParams) { p.Delay, p.Cable = sim.Microsecond, 3*sim.Metre })
	wrong(t, "fat_tree", "core_delay: 1us contradicts core_cable: 3m, which takes 15ns: give one of them", func(p *FatTreeParams) { p.CoreDelay, p.CoreCable = sim.Microsecond, 3*sim.Metre })
	wrong(t, "leaf_spine", "spines: 0: want at least 1", func(p *LeafSpineParams) { p.Spines = 0 })
	wrong(t, "leaf_spine", "that makes 4000000 links: want at most 2000000", func(p *LeafSpineParams) { p.Leaves, p.Spines, p.HostsPerLeaf, p.Uplinks = 100, 100, 10000/100, 399 })
	wrong(t, "star", "hosts: 0: want at least 1", func(p *StarParams) { p.Hosts = 0 })
	wrong(t, "star", "delay: 0ps: want more than 0, for example 500ns, or a cable such as 100m", func(p *StarParams) { p.Delay = 0 })
	wrong(t, "star", "that makes 200001 nodes: want at most 200000", func(p *StarParams) { p.Hosts = 200000 })
	wrong(t, "star", "switch sw0 has 40000 ports: want at most 32768", func(p *StarParams) { p.Hosts = 40000 })
	wrong(t, "dumbbell", "right: -1: want at least 1", func(p *DumbbellParams) { p.Right = -1 })
	wrong(t, "dumbbell", "bottleneck_rate: -1bps: want more than 0, for example 100Gbps", func(p *DumbbellParams) { p.Bottleneck = -1 })
	wrong(t, "parking_lot", "hosts[1]: -2: want at least 0", func(p *ParkingLotParams) { p.Hosts = []int{1, -2} })
	wrong(t, "parking_lot", "hosts: 0 switches: want at least 1 and at most 100000, for example [3, 2]", func(p *ParkingLotParams) { p.Hosts = nil })
	wrong(t, "ring", "switches: 2: want at least 3", func(p *RingParams) { p.Switches = 2 })
	wrong(t, "rail", "spines: 0: want at least 1, since 8 servers in units of 4 need spines to reach other units", func(p *RailParams) { p.Spines, p.UnitServers = 0, 4 })
	wrong(t, "clos", "tiers[1].up: 0: want at least 1", func(p *ClosParams) { p.Tiers = []ClosTier{{Down: 2, Up: 1}, {Down: 2}} })
	wrong(t, "clos", "tiers: 0 tiers of switches: want 1 to 8", func(p *ClosParams) { p.Tiers = nil })
	wrong(t, "custom", `nodes[0] (h0): kind: "router": want host or switch`, func(p *CustomParams) { p.Nodes = []CustomNode{{Name: "h0", Kind: "router"}} })
	wrong(t, "custom", `links[0] (h0 - sw9): b: no node is called "sw9": want one of h0, h1, sw0`, func(p *CustomParams) { p.Links = []CustomLink{{A: "h0", B: "sw9"}} })
	wrong(t, "custom", `breakouts[0] (sw0 p1): to: 3 nodes: a port is split in 2, 4 or 8`, func(p *CustomParams) {
		p.Breakouts = []CustomBreakout{{Node: "sw0", Port: "p1", To: []string{"h0", "h0", "h1"}}}
	})
	wrong(t, "custom", `links[0] (h0 - sw0): delay: 1us contradicts cable: 3m, which takes 15ns: give one of them`, func(p *CustomParams) {
		p.Links = []CustomLink{{A: "h0", B: "sw0", Delay: sim.Microsecond, Cable: 3 * sim.Metre}}
	})
}

// Validate says what is wrong with a graph, and where.
func TestValidate(t *testing.T) {
	for _, c := range []struct {
		want  string
		spoil func(g *Graph)
	}{
		{"nodes 0 and 1 have the same name \"h0\": names must be unique", func(g *Graph) { g.Nodes[1].Name = "h0" }},
		{"node 1: the name is empty", func(g *Graph) { g.Nodes[1].Name = "" }},
		{`node 1: the name "a:b" contains ':': want letters, digits, '.', '_' and '-'`, func(g *Graph) { g.Nodes[1].Name = "a:b" }},
		{"host h1 has tier 2: hosts are tier 0", func(g *Graph) { g.Nodes[1].Tier = 2 }},
		{"node h1 has pod -2: want -1 (none), 0, 1 ...", func(g *Graph) { g.Nodes[1].Pod = -2 }},
		{"link 1 (h1 - sw0): the rate from h1 to sw0 is 0 bit/s: want more than 0, for example 100Gbps", func(g *Graph) { g.Links[1].AtoB.Rate = 0 }},
		{"link 1 (h1 - sw0): the delay from sw0 to h1 is -1 ps: want more than 0, for example 500ns, or a cable such as 100m", func(g *Graph) { g.Links[1].BtoA.Delay = -1 }},
		{"link 1 (h1 - sw0): loss NaN: want a probability from 0 to 1", func(g *Graph) { g.Links[1].Loss = math.NaN() }},
		{"link 1 (h1 - sw0): data loss 1.5: want a probability from 0 to 1", func(g *Graph) { g.Links[1].DataLoss = 1.5 }},
		{"link 1 (h1 - sw0): every -3th data packet is lost: want 0 (none) or more", func(g *Graph) { g.Links[1].DropEvery = -3 }},
		{"link 1 (h1 - sw0) uses ports 0 and 5: the next ports in order are 0 and 1", func(g *Graph) { g.Links[1].BPort = 5 }},
		{"link 1 joins nodes 1 and 77: want 0 to 5", func(g *Graph) { g.Links[1].B = 77 }},
		{"link 1 joins h1 with itself", func(g *Graph) { g.Links[1].B = 1 }},
		{"host extra has no link", func(g *Graph) { g.Nodes = append(g.Nodes, Node{Name: "extra", Pod: -1}) }},
		{"no hosts among 0 nodes: want at least one", func(g *Graph) { g.Nodes, g.Links = nil, nil }},
		{"not connected: no switches lead from host h0 to host h2 (hosts do not forward)", func(g *Graph) { g.Links = g.Links[:4] }},
		{"not connected: no host reaches switch x", func(g *Graph) {
			g.Nodes = append(g.Nodes, Node{Name: "x", Kind: Switch, Tier: 1, Pod: -1}, Node{Name: "y", Kind: Switch, Tier: 1, Pod: -1})
			side := Side{Rate: 1, Delay: 1}
			g.Links = append(g.Links, Link{A: 6, B: 7, AtoB: side, BtoA: side})
		}},
		{`link 5 (sw0 - sw1) and link 4 share LAG "po" but differ in rate: the links of a LAG have one rate`, func(g *Graph) {
			g.Links[4].LAG = "po"
			l := g.Links[4]
			l.APort, l.BPort, l.AtoB.Rate = 3, 3, 1
			g.Links = append(g.Links, l)
		}},
	} {
		g := build(t, "dumbbell", func(p *DumbbellParams) { p.Left, p.Right = 2, 2 }) // h0 to h3, sw0, sw1
		g.Links = slices.Clone(g.Links)
		c.spoil(g)
		require.EqualError(t, g.Validate(), "topology dumbbell: "+c.want)
		_, err := ShortestPaths(g)
		require.Error(t, err, "routes refuse what is not valid")
	}
}

// The builder keeps the first mistake, whatever follows it.
func TestBuilderKeepsFirstMistake(t *testing.T) {
	b := NewBuilder("twice")
	h := b.AddHost("h0")
	again := b.AddSwitch("h0", 1, 0)
	b.Connect(h, again, Wire{})
	b.SetPod(again, 3)
	_, err := b.Graph()
	require.EqualError(t, err, `topology twice: two nodes have the name "h0" (a host and a switch): names must be unique`)

	b = NewBuilder("bad")
	b.Connect(0, 1, Wire{})
	_, err = b.Graph()
	require.EqualError(t, err, "topology bad: link 0 joins nodes 0 and 1 of 0")
}

// Too many switches with hosts of their own would need a table of their product.
func TestRoutesRefuseTooLargeTables(t *testing.T) {
	g := build(t, "parking_lot", func(p *ParkingLotParams) {
		p.Hosts = make([]int, 12000)
		for i := range p.Hosts {
			p.Hosts[i] = 1
		}
	})
	_, err := ShortestPaths(g)
	require.EqualError(t, err, "topology parking_lot: the routes need 12000 tables of 12000 entries: want at most 134217728 in all")
}

// A fabric of many leaves and spines would need a search over all links from
// every leaf.
func TestRoutesRefuseEndlessSearches(t *testing.T) {
	g := build(t, "leaf_spine", func(p *LeafSpineParams) { p.Leaves, p.Spines, p.HostsPerLeaf = 11000, 18, 1 })
	_, err := ShortestPaths(g)
	require.EqualError(t, err, "topology leaf_spine: the routes need a search over 396000 ends of links from each of 11000 places: want a product of at most 4294967296")
}

// Pods in text are none, or a number from 0.
func TestPodText(t *testing.T) {
	for _, text := range []string{"none", "0", "17"} {
		var p Pod
		require.NoError(t, p.UnmarshalText([]byte(text)))
		out, err := p.MarshalText()
		require.NoError(t, err)
		require.Equal(t, text, string(out))
	}
	var p Pod
	for _, text := range []string{"", "-1", "x", strings.Repeat("9", 30)} {
		require.ErrorContains(t, p.UnmarshalText([]byte(text)), "is not a pod: want none, or a number from 0")
	}
}
