package topology

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// build makes a topology of the catalogue; edit changes its default parameters.
func build[P any](t testing.TB, name string, edit func(*P)) *Graph {
	t.Helper()
	g, err := tryBuild(t, name, edit)
	require.NoError(t, err)
	return g
}

func tryBuild[P any](t testing.TB, name string, edit func(*P)) (*Graph, error) {
	t.Helper()
	e, err := Topologies.Lookup(name)
	require.NoError(t, err)
	p := e.Defaults.(P)
	if edit != nil {
		edit(&p)
	}
	return e.Build(p)
}

func routes(t testing.TB, g *Graph) *Routes {
	t.Helper()
	r, err := ShortestPaths(g)
	require.NoError(t, err)
	return r
}

// node returns the index of a node that must exist.
func node(t testing.TB, g *Graph, name string) int {
	t.Helper()
	i, ok := g.Find(name)
	require.True(t, ok, "no node %s", name)
	return i
}

// A k-ary fat tree has k^3/4 hosts, 5k^2/4 switches, and (k/2)^2 paths between
// pods, k/2 within a pod (Al-Fares et al., SIGCOMM 2008, section 3).
func TestFatTreeCounts(t *testing.T) {
	for _, k := range []int{2, 4, 6, 8, 16} {
		g := build(t, "fat_tree", func(p *FatTreeParams) { p.K = k })
		s := g.Stats()
		require.Equal(t, k*k*k/4, s.Hosts)
		require.Equal(t, 5*k*k/4, s.Switches)
		require.Equal(t, 3*k*k*k/4, s.Links)
		require.Equal(t, 3, s.Tiers)
		r := routes(t, g)
		require.EqualValues(t, k*k/4, r.CountPaths(0, s.Hosts-1), "between pods")
		require.Equal(t, 6, r.Distance(0, s.Hosts-1))
		if k > 2 {
			require.EqualValues(t, k/2, r.CountPaths(0, k*k/4-1), "within a pod")
			require.EqualValues(t, 1, r.CountPaths(0, 1), "within a rack")
			require.Equal(t, 4, r.Distance(0, k*k/4-1))
			require.Equal(t, 2, r.Distance(0, 1))
		}
		for _, load := range g.Oversubscription()[:2] {
			require.Equal(t, 1.0, load.Ratio())
		}
	}
}

// The 320-host fabric of the HPCC paper is a preset of clos.
func TestClosHPCC320(t *testing.T) {
	e, err := Topologies.Lookup("clos")
	require.NoError(t, err)
	g, err := e.Build(e.Presets["hpcc320"])
	require.NoError(t, err)
	require.Equal(t, Stats{Hosts: 320, Switches: 56, Links: 320 + 80 + 80, Endpoints: 320, Tiers: 3}, g.Stats())
	require.Equal(t, "tor19", g.Nodes[320+19].Name)
	require.Equal(t, Node{Name: "agg4", Kind: Switch, Tier: 2, Pod: 1}, g.Nodes[320+20+4])
	require.Equal(t, Node{Name: "core15", Kind: Switch, Tier: 3, Pod: -1}, g.Nodes[320+40+15])
	for _, l := range g.Links {
		require.Equal(t, sim.Microsecond, l.AtoB.Delay)
		want := 400 * sim.Gbps
		if g.Nodes[l.A].Kind == Host {
			want = 100 * sim.Gbps
		}
		require.Equal(t, want, l.AtoB.Rate)
	}
	var cores []string
	for _, q := range g.Ports().Of(320 + 20 + 1)[4:] {
		cores = append(cores, g.Nodes[q.Peer].Name)
	}
	require.Equal(t, []string{"core4", "core5", "core6", "core7"}, cores, "agg1 of every pod joins the second group of cores")
	r := routes(t, g)
	require.EqualValues(t, 16, r.CountPaths(0, 319), "4 aggregation switches with 4 core switches each")
	require.EqualValues(t, 4, r.CountPaths(0, 16))
	require.Equal(t, []string{
		"tier 1: 20 switches, 32Tbps from below, 32Tbps up: oversubscription 1:1",
		"tier 2: 20 switches, 32Tbps from below, 32Tbps up: oversubscription 1:1",
		"tier 3: 16 switches, 32Tbps from below, no uplinks",
	}, lines(g.Oversubscription()))
}

func lines(loads []TierLoad) []string {
	var out []string
	for _, l := range loads {
		out = append(out, l.String())
	}
	return out
}
