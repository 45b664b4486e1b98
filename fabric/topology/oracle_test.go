package topology

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// slowRoutes is the obvious twin of Routes: one search per node and endpoint.
type slowRoutes struct {
	g       *Graph
	ports   *Ports
	ends    []Endpoint
	members [][]uint16
	down    func(int) bool
}

func newSlow(g *Graph, down func(int) bool) *slowRoutes {
	s := &slowRoutes{g: g, ports: g.Ports(), down: down}
	s.ends, s.members = g.endpoints(s.ports)
	return s
}

// arrives says whether a port's link ends at a port of the endpoint.
func (s *slowRoutes) arrives(q Port, e int) bool {
	return q.Peer == s.ends[e].Node && slices.Contains(s.members[e], uint16(q.PeerPort))
}

// distance searches forward from a node, through switches only.
func (s *slowRoutes) distance(from, e int) int {
	dist := map[int]int{from: 0}
	queue := []int{from}
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		for _, q := range s.ports.Of(u) {
			if s.down(q.Link) {
				continue
			}
			if s.arrives(q, e) {
				return dist[u] + 1
			}
			if _, seen := dist[q.Peer]; !seen && s.g.Nodes[q.Peer].Kind == Switch {
				dist[q.Peer] = dist[u] + 1
				queue = append(queue, q.Peer)
			}
		}
	}
	return -1
}

// next returns the ports that begin a shortest path, by neighbour, then port.
func (s *slowRoutes) next(node, e int) []int {
	if s.ends[e].Node == node {
		return nil
	}
	best, ports := -1, []int(nil)
	for p, q := range s.ports.Of(node) {
		d := s.after(q, e)
		if d < 0 || best >= 0 && d > best {
			continue
		}
		if d < best {
			ports = nil
		}
		best, ports = d, append(ports, p)
	}
	list := s.ports.Of(node)
	slices.SortStableFunc(ports, func(x, y int) int { return cmp.Compare(list[x].Peer, list[y].Peer) })
	return ports
}

// after returns how many links follow a port on the way to an endpoint.
func (s *slowRoutes) after(q Port, e int) int {
	switch {
	case s.down(q.Link):
		return -1
	case s.arrives(q, e):
		return 0
	case s.g.Nodes[q.Peer].Kind == Host:
		return -1
	}
	return s.distance(q.Peer, e)
}

// paths counts paths by walking every one of them; a LAG counts as one link.
func (s *slowRoutes) paths(from []int, node, e int) uint64 {
	var n uint64
	type link struct {
		peer int
		lag  string
		port int
	}
	seen := map[link]bool{}
	for _, p := range from {
		q := s.ports.Of(node)[p]
		k := link{q.Peer, s.g.Links[q.Link].LAG, -1}
		if k.lag == "" {
			k.port = p
		}
		if seen[k] {
			continue
		}
		seen[k] = true
		if s.arrives(q, e) {
			n++
		} else {
			n += s.paths(s.next(q.Peer, e), q.Peer, e)
		}
	}
	return n
}

// starts returns the ports of endpoint src that begin a shortest path to dst.
func (s *slowRoutes) starts(src, dst int) (ports []int, links int) {
	links = -1
	for _, p := range s.members[src] {
		d := s.after(s.ports.Of(s.ends[src].Node)[p], dst)
		if d < 0 || links >= 0 && d+1 > links {
			continue
		}
		if d+1 < links {
			ports = nil
		}
		links, ports = d+1, append(ports, int(p))
	}
	return ports, links
}

// randomGraph draws a connected fabric with everything that routes must bear:
// parallel links, LAGs, hosts with several ports, hosts joined directly.
func randomGraph(r *sim.Rand) *Graph {
	for {
		b := NewBuilder("random")
		nodes := 2 + r.IntN(9)
		for i := range nodes {
			if i < 2 || r.IntN(3) == 0 {
				b.AddHost(fmt.Sprintf("h%d", i))
			} else {
				b.AddSwitch(fmt.Sprintf("sw%d", i), 0, -1)
			}
		}
		for range nodes + r.IntN(2*nodes) {
			x, y := r.IntN(nodes), r.IntN(nodes)
			w := Wire{Rate: DefaultRate, Delay: DefaultDelay}
			if r.IntN(3) == 0 {
				w.LAG = []string{"bond0", "bond1"}[r.IntN(2)]
			}
			b.Connect(x, y, w)
			if r.IntN(3) == 0 {
				b.Connect(x, y, w)
			}
		}
		if g, err := b.Graph(); err == nil {
			return g
		}
	}
}

// Routes by structure agree with one search per pair, on random fabrics with
// and without failed links: next hops and their order, LAGs, path counts.
func TestRoutesAgreeWithTwin(t *testing.T) {
	r := sim.NewRand(1, "topology/oracle")
	lags, several, direct, unreachable := 0, 0, 0, 0
	for i := range 400 {
		g := randomGraph(r)
		failed := make([]bool, len(g.Links))
		for l := range failed {
			failed[l] = i%2 == 1 && r.IntN(5) == 0
		}
		down := func(l int) bool { return failed[l] }
		fast, err := ShortestPathsWithout(g, down)
		require.NoError(t, err)
		slow := newSlow(g, down)
		for e := range slow.ends {
			for n := range g.Nodes {
				want := slow.next(n, e)
				var got []int
				bundled := false
				for _, hop := range fast.Next(n, e) {
					if hop&LAGHop == 0 {
						got = append(got, int(hop))
						continue
					}
					lags++
					bundled = true
					for _, p := range fast.LAG(n, hop) {
						got = append(got, int(p))
					}
				}
				if bundled {
					sortByPeer(g, n, got)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("graph %d: from %s to endpoint %v: got ports %v, want %v\n%+v failed %v", i, g.Nodes[n].Name, slow.ends[e], got, want, g.Links, failed)
				}
				if len(want) > 1 {
					several++
				}
			}
			for src := range slow.ends {
				if slow.ends[src].Node == slow.ends[e].Node {
					continue
				}
				ports, links := slow.starts(src, e)
				require.Equal(t, links, fast.Distance(src, e))
				require.Equal(t, slow.paths(ports, slow.ends[src].Node, e), fast.CountPaths(src, e))
				path := fast.Path(src, e, func(_, n int) int { return r.IntN(n) })
				require.Len(t, path, max(links, 0))
				if links == 1 {
					direct++
				}
				if links < 0 {
					unreachable++
				}
			}
		}
	}
	for what, n := range map[string]int{"LAGs": lags, "equal-cost hops": several, "direct links": direct, "unreachable endpoints": unreachable} {
		require.Greater(t, n, 100, "the random fabrics have too few %s to prove anything", what)
	}
}

// sortByPeer puts the members of LAGs, which Next gives as one, in the order of
// single ports.
func sortByPeer(g *Graph, node int, ports []int) {
	list := g.Ports().Of(node)
	slices.SortFunc(ports, func(x, y int) int {
		return cmp.Or(cmp.Compare(list[x].Peer, list[y].Peer), cmp.Compare(x, y))
	})
}

// Groups are searched from in batches of one word: a mesh of more groups than
// that, with hosts at two switches and failed links, agrees with the slow twin.
func TestBatchesOfGroups(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		x := rand.New(rand.NewPCG(seed, 7))
		b := NewBuilder("mesh")
		w := Wire{Rate: DefaultRate, Delay: DefaultDelay}
		var sw []int
		for i := range 150 {
			sw = append(sw, b.AddSwitch(fmt.Sprint("s", i), 1+i%3, -1))
			if i > 0 {
				b.Connect(sw[i], sw[x.IntN(i)], w)
			}
			b.Connect(b.AddHost(fmt.Sprint("h", i)), sw[i], w)
		}
		for range 100 {
			if i, j := x.IntN(150), x.IntN(150); i != j {
				b.Connect(sw[i], sw[j], w)
			}
		}
		for i := range 20 {
			h := b.AddHost(fmt.Sprint("two", i))
			b.Connect(h, sw[x.IntN(150)], w)
			b.Connect(h, sw[x.IntN(150)], w)
		}
		g, err := b.Graph()
		require.NoError(t, err)
		failed := map[int]bool{}
		for range 25 {
			failed[x.IntN(len(g.Links))] = true
		}
		down := func(link int) bool { return failed[link] }
		r, err := ShortestPathsWithout(g, down)
		require.NoError(t, err)
		require.Greater(t, r.groups, 2*batch)
		slow := newSlow(g, down)
		for range 3000 {
			n, e := x.IntN(len(g.Nodes)), x.IntN(len(r.Endpoints()))
			var got []int
			for _, hop := range r.Next(n, e) {
				got = append(got, int(hop))
			}
			require.Equal(t, slow.next(n, e), got, "seed %d, from %s to %s", seed, g.Nodes[n].Name, g.Nodes[r.Endpoints()[e].Node].Name)
		}
	}
}
