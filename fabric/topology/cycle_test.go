package topology

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func everySwitch(int) bool { return true }

// route makes what goes to host dst leave a switch towards a neighbour.
func route(t testing.TB, r *Routes, at, dst, via string) Override {
	node := func(name string) int {
		for i, n := range r.graph.Nodes {
			if n.Name == name {
				return i
			}
		}
		t.Fatalf("no node %s", name)
		return -1
	}
	first, end := r.Of(node(dst))
	o := Override{Node: node(at), Hops: r.HopsTo(node(at), node(via))}
	for e := first; e < end; e++ {
		o.Endpoints = append(o.Endpoints, e)
	}
	return o
}

// checkCycle asserts that each link of a cycle leads to the next, and that the
// routes take the traffic that is named over both.
func checkCycle(t testing.TB, r *Routes, cycle []Dependency) {
	for i, d := range cycle {
		next := cycle[(i+1)%len(cycle)]
		require.Equal(t, d.Peer, next.Hop.Node, "link %d ends where the next begins", i)
		require.Contains(t, r.Next(d.Hop.Node, d.Endpoint), r.HopOf(d.Hop.Node, d.Hop.Port))
		require.Contains(t, r.Next(next.Hop.Node, d.Endpoint), r.HopOf(next.Hop.Node, next.Hop.Port))
	}
}

func shortest(t testing.TB, g *Graph, err error) *Routes {
	require.NoError(t, err)
	r, err := ShortestPaths(g)
	require.NoError(t, err)
	return r
}

func TestUpDownRoutesHaveNoCycle(t *testing.T) {
	for _, name := range []string{"fat_tree", "leaf_spine", "star", "dumbbell", "clos", "parking_lot", "rail_optimized"} {
		e, err := Topologies.Lookup(name)
		if err != nil {
			continue
		}
		g, err := e.Build(e.Defaults)
		require.NoError(t, err)
		require.Empty(t, shortest(t, g, nil).BufferCycle(everySwitch), name)
	}
}

func TestRingHasACycle(t *testing.T) {
	for _, n := range []int{3, 4, 5, 8} {
		g, err := ring(RingParams{Switches: n, HostsPerSwitch: 1, Rate: DefaultRate, Delay: DefaultDelay})
		r := shortest(t, g, err)
		cycle := r.BufferCycle(everySwitch)
		if n == 3 { // every host is one link away: no frame crosses two
			require.Empty(t, cycle)
			continue
		}
		require.Len(t, cycle, n)
		checkCycle(t, r, cycle)
		// Where one switch does not pause, the ring is open.
		require.Empty(t, r.BufferCycle(func(node int) bool { return node != cycle[0].Peer }))
	}
}

// A loop between a core and a pod is found, and nothing else is.
func TestOneBadRouteInAFatTree(t *testing.T) {
	g, err := fatTree(FatTreeParams{K: 4, Oversubscription: 1, Rate: DefaultRate, Delay: DefaultDelay})
	r := shortest(t, g, err)
	require.NoError(t, r.Override([]Override{route(t, r, "agg0", "h0", "core0")}))
	cycle := r.BufferCycle(everySwitch)
	require.Len(t, cycle, 2)
	checkCycle(t, r, cycle)
	require.Equal(t, "h0", g.Nodes[r.Endpoints()[cycle[0].Endpoint].Node].Name)
	// The same route by the other side of the pod is a detour, down and up
	// again, that no other route closes.
	require.NoError(t, r.Override([]Override{route(t, r, "tor1", "h0", "agg0"), route(t, r, "agg0", "h0", "tor1")}))
	require.NotEmpty(t, r.BufferCycle(everySwitch))
}

// Of random graphs and random static routes, the search finds a cycle exactly
// where the full graph of dependencies has one.
func TestBufferCycleAgainstTheFullGraph(t *testing.T) {
	found, clean := 0, 0
	for seed := uint64(0); seed < 300; seed++ {
		r := randomRoutes(t, seed)
		cycle := r.BufferCycle(everySwitch)
		if cycle != nil {
			found++
			checkCycle(t, r, cycle)
		} else {
			clean++
		}
		require.Equal(t, slowHasCycle(r), cycle != nil, "seed %d", seed)
	}
	require.Greater(t, found, 50)
	require.Greater(t, clean, 50)
}

// randomRoutes builds a small tree or mesh with a few bad routes.
func randomRoutes(t testing.TB, seed uint64) *Routes {
	x := rand.New(rand.NewPCG(seed, 1))
	b := NewBuilder("random")
	n := 3 + x.IntN(6)
	var sw []int
	for i := range n {
		sw = append(sw, b.AddSwitch(string(rune('a'+i)), 1+x.IntN(3), -1))
	}
	w := Wire{Rate: DefaultRate, Delay: DefaultDelay}
	for i := 1; i < n; i++ {
		b.Connect(sw[i], sw[x.IntN(i)], w)
	}
	for range x.IntN(4) {
		if i, j := x.IntN(n), x.IntN(n); i != j {
			b.Connect(sw[i], sw[j], w)
		}
	}
	for i := range 2 + x.IntN(5) {
		b.Connect(b.AddHost("h"+string(rune('0'+i))), sw[x.IntN(n)], w)
	}
	g, err := b.Graph()
	r := shortest(t, g, err)
	var list []Override
	for range x.IntN(3) {
		o := Override{Node: sw[x.IntN(n)], Endpoints: []int{x.IntN(len(r.Endpoints()))}}
		p := r.Ports().Of(o.Node)[x.IntN(len(r.Ports().Of(o.Node)))]
		if g.Nodes[p.Peer].Kind == Switch {
			o.Hops = r.HopsTo(o.Node, p.Peer)
		}
		list = append(list, o)
	}
	require.NoError(t, r.Override(list))
	return r
}

// slowHasCycle follows every packet of every pair of hosts over every path and
// looks for a cycle among all pairs of links that one packet crosses in turn.
func slowHasCycle(r *Routes) bool {
	type hop struct{ node, port int }
	edges := map[hop]map[hop]bool{}
	for e := range r.Endpoints() {
		type state struct {
			at   int
			from hop
		}
		seen := map[state]bool{}
		var queue []state
		for n, node := range r.graph.Nodes {
			if node.Kind == Host && n != r.Endpoints()[e].Node {
				for _, h := range r.Next(n, e) {
					queue = append(queue, state{r.Peer(n, h), hop{-1, 0}})
				}
			}
		}
		for i := 0; i < len(queue); i++ {
			s := queue[i]
			if seen[s] || r.graph.Nodes[s.at].Kind == Host {
				continue
			}
			seen[s] = true
			for _, h := range r.Next(s.at, e) {
				on := hop{s.at, int(h)}
				if r.graph.Nodes[r.Peer(s.at, h)].Kind == Switch && s.from.node >= 0 {
					if edges[s.from] == nil {
						edges[s.from] = map[hop]bool{}
					}
					edges[s.from][on] = true
				}
				queue = append(queue, state{r.Peer(s.at, h), on})
			}
		}
	}
	reach := func(from, to hop) bool {
		seen, queue := map[hop]bool{}, []hop{from}
		for i := 0; i < len(queue); i++ {
			for n := range edges[queue[i]] {
				if n == to {
					return true
				}
				if !seen[n] {
					seen[n] = true
					queue = append(queue, n)
				}
			}
		}
		return false
	}
	for a := range edges {
		if reach(a, a) {
			return true
		}
	}
	return false
}

// The static check of a fat tree of 90-port switches, 10 125 of them, with one bad
// route: with a host at each ToR, and with all 182 250 hosts.
func TestBufferCycleOfTenThousandSwitches(t *testing.T) {
	for _, hosts := range []int{1, 45} {
		if hosts > 1 && testing.Short() {
			continue // the graph alone takes a second
		}
		start := time.Now()
		g, err := fatTree(FatTreeParams{K: 90, HostsPerToR: hosts, Oversubscription: 1, Rate: DefaultRate, Delay: DefaultDelay})
		require.NoError(t, err)
		built := time.Now()
		r := shortest(t, g, err)
		require.Equal(t, 10125, g.Stats().Switches)
		routed := time.Now()
		require.Empty(t, r.BufferCycle(everySwitch))
		clean := time.Now()
		require.NoError(t, r.Override([]Override{route(t, r, "agg0", "h0", "core0")}))
		cycle := r.BufferCycle(everySwitch)
		require.Len(t, cycle, 2)
		checkCycle(t, r, cycle)
		t.Logf("%v: graph %v, routes %v, check %v, check with a bad route %v", g.Stats(),
			built.Sub(start), routed.Sub(built), clean.Sub(routed), time.Since(clean))
		require.Less(t, time.Since(built), 10*time.Second)
	}
}
