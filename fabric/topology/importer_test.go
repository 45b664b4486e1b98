package topology

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// importFile reads a file of testdata with the default parameters of a format.
func importFile(t testing.TB, format, file string) *Graph {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	g, err := Import(format, file, data)
	require.NoError(t, err)
	return g
}

// cables prints every link of a graph: what the imports mean.
func cables(g *Graph) string {
	var b strings.Builder
	for _, l := range g.Links {
		fmt.Fprintf(&b, "%s:%s - %s:%s %v %v", g.Nodes[l.A].Name, l.AName, g.Nodes[l.B].Name, l.BName, l.AtoB.Rate, l.AtoB.Delay)
		if l.Loss > 0 {
			fmt.Fprintf(&b, " loss %v", l.Loss)
		}
		if l.LAG != "" {
			fmt.Fprintf(&b, " lag %s", l.LAG)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// roles prints kind and tier of every node.
func roles(g *Graph) string {
	var b strings.Builder
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "%s %v %d\n", n.Name, n.Kind, n.Tier)
	}
	return b.String()
}

func TestImportCSV(t *testing.T) {
	g := importFile(t, "csv", "leafspine.csv")
	require.Equal(t, "leafspine", g.Name)
	require.Equal(t, `h0:eth0 - leaf0:Ethernet0 100Gbps 15ns
h1:eth0 - leaf0:Ethernet4 100Gbps 15ns
tape-robot:eth0 - leaf1:Ethernet0 25Gbps 25ns
leaf0:Ethernet48 - spine0:Ethernet0 400Gbps 200ns lag po1
leaf0:Ethernet52 - spine0:Ethernet4 400Gbps 200ns lag po1
leaf1:Ethernet48 - spine0:Ethernet8 400Gbps 1us loss 1e-06
`, cables(g))
	require.Equal(t, "h0 host 0\nleaf0 switch 1\nh1 host 0\ntape-robot host 0\nleaf1 switch 1\nspine0 switch 2\n", roles(g))
	r := routes(t, g)
	require.Equal(t, []uint16{LAGHop}, r.Next(node(t, g, "leaf0"), 2), "the bonded pair is one next hop")
	require.Equal(t, []uint16{2, 3}, r.LAG(node(t, g, "leaf0"), LAGHop))
}

func TestImportPTM(t *testing.T) {
	g := importFile(t, "ptm", "clos.dot")
	require.Equal(t, `leaf1:swp1 - server01:eth1 25Gbps 15ns
leaf1:swp2 - server02:eth1 25Gbps 20ns
leaf2:swp1 - storage:eth0 100Gbps 200ns
leaf1:swp51 - spine1:swp1 100Gbps 200ns
leaf1:swp52 - spine2:swp1 100Gbps 200ns
leaf2:swp51 - spine1:swp2 100Gbps 200ns loss 1e-05
leaf2:swp52 - spine2:swp2 100Gbps 200ns
`, cables(g))
	require.Equal(t, "storage host 0\nleaf1 switch 1\nleaf2 switch 1\nserver01 host 0\nserver02 host 0\nspine1 switch 2\nspine2 switch 2\n", roles(g))
}

func TestImportIBNetDiscover(t *testing.T) {
	g := importFile(t, "ibnetdiscover", "subnet.ibnet")
	require.Equal(t, `leaf-1:1 - node1_mlx5_0:1 100Gbps 500ns
leaf-1:2 - node1_mlx5_1:1 54545454.544Kbps 500ns
leaf-1:3 - odd__name__HCA:2 2Gbps 500ns
leaf-1:35 - spine_1:1 200Gbps 500ns
leaf-1:36 - spine_1:2 200Gbps 500ns
spine_1:41 - Mellanox_Technologies_Aggregation_Node:1 200Gbps 500ns
`, cables(g))
	require.Equal(t, 2, g.Nodes[node(t, g, "spine_1")].Tier, "an aggregation node makes no leaf of a spine")

	data, err := os.ReadFile(filepath.Join("testdata", "subnet.ibnet"))
	require.NoError(t, err)
	g, err = IBNetDiscoverParams{Delay: sim.Microsecond, Servers: true}.read("subnet.ibnet", data)
	require.NoError(t, err)
	require.Contains(t, cables(g), "leaf-1:1 - node1:mlx5_0/1 100Gbps 1us\nleaf-1:2 - node1:mlx5_1/1 ")
	require.Len(t, g.Endpoints(), 4, "both adapters of node1 keep an address each")
	require.Equal(t, 3, g.Stats().Hosts)
}

// A real cluster of 40 switches and 582 adapters, and a small fat tree.
func TestImportRealSubnets(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "reference", "data", "ibnetdiscover")
	for _, c := range []struct {
		file  string
		stats Stats
	}{
		{"cluster-40sw-582ca.txt", Stats{Hosts: 582, Switches: 40, Links: 1114, Endpoints: 582, Tiers: 2}},
		{"fattree-ibsim.txt", Stats{Hosts: 16, Switches: 6, Links: 24, Endpoints: 16, Tiers: 2}},
	} {
		t.Run(c.file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, c.file))
			if err != nil {
				t.Skip("no reference data beside this checkout")
			}
			g, err := Import("ibnetdiscover", c.file, data)
			require.NoError(t, err)
			require.Equal(t, c.stats, g.Stats())
			routes(t, g)
			t.Log(strings.Join(lines(g.Oversubscription()), "\n"))
			again, err := custom(WriteCustom(g))
			require.NoError(t, err)
			require.Equal(t, g, again)
		})
	}
}

// Every format says file, line, what is wrong and what would be valid.
func TestImportErrors(t *testing.T) {
	read := func(file string) string {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		require.NoError(t, err)
		return string(data)
	}
	subnet := read("subnet.ibnet")
	for _, c := range []struct{ format, text, want string }{
		{"csv", "", `f:1: the file is empty: want a header such as node_a,port_a,node_b,port_b,rate,delay`},
		{"csv", "node_a,colour\n", `f:1: unknown column "colour": the first line names the columns, of node_a, port_a, node_b`},
		{"csv", "node_a,rate\n", `f:1: column "node_b" is missing: want at least node_a and node_b`},
		{"csv", "node_a,node_b,node_a\n", `f:1: column "node_a" appears twice`},
		{"csv", "node_a,node_b,rate\nh0,sw0\n", `f:2: the line has more or fewer cells than the header`},
		{"csv", "node_a,node_b,rate\n\nh0,sw0,100\n", `f:3: rate: "100" has no unit: write a rate as 100Gbps`},
		{"csv", "node_a,node_b,rate\nh0,sw0,\n", `f:2: link h0 - sw0 has no rate: want one such as 100Gbps`},
		{"csv", "node_a,node_b,rate,delay,cable\nh0,sw0,1Gbps,1us,3m\n", `f:2: link h0 - sw0: delay 1us and cable 3m (15ns) contradict each other: give one of them`},
		{"csv", "node_a,node_b,rate,loss\nh0,sw0,1Gbps,2\n", `f:2: loss of h0 - sw0: 2: want a probability from 0 to 1`},
		{"csv", "node_a,node_b,rate\nh0,rack switch,1Gbps\n", `f:2: node: the name "rack switch" contains ' ': want letters, digits, '.', '_' and '-'`},
		{"csv", "node_a,node_b,rate\nh0,sw0,1Gbps\nh1,sw0,1Gbps\nedge,sw0,1Gbps\n", `f: is edge, which has one link, a host? Its name matches none of h[0-9]*, host*, `},
		{"csv", "node_a,node_b,rate,kind_b\nh0,sw0,1Gbps,router\n", `f:2: kind of sw0: "router": want host or switch`},
		{"csv", "node_a,port_a,node_b,rate\nh0,e0,sw0,1Gbps\nh0,e0,sw1,1Gbps\n", `f:3: port e0 of h0 has a link on line 2 already`},
		{"csv", "node_a,node_b,rate\nh0,sw0,1Gbps\nh1,sw0,1Gbps\nh2,sw1,1Gbps\nh3,sw1,1Gbps\n", `f: topology f: not connected: no switches lead from host h0 to host h2 (hosts do not forward)`},
		{"csv", "node_a,node_b,rate\nh0,h0,1Gbps\n", `f:2: h0 is linked with itself`},
		{"csv", "node_a,node_b\nh0,\"sw0\n", `f:2: column 9: extraneous or missing `},
		{"csv", "a\x00b", `f:1: a zero byte: want a text file`},

		{"ptm", "", `f:1: got the end of the file: want graph NAME {`},
		{"ptm", "graph g {", `f:1: got the end of the file: want a link such as "leaf1":"swp1" -- "spine1":"swp3", or }`},
		{"ptm", "graph g {\n h0 -- \n}", `f:3: got "}": want the name of a node (edges to subgraphs are not supported)`},
		{"ptm", "graph g {\n h0 -- sw0 [speed=fast]\n}", `f:2: speed: "fast" is not a rate: want a number with a unit, for example 100Gbps`},
		{"ptm", "graph g {\n h0 -- sw0 [speed=\n}", `f:3: got "}": want a value`},
		{"ptm", "graph g {\n \"h0 -- sw0\n}", `f:2: the quote that begins here has no end`},
		{"ptm", "graph g {\n h0 [label=<b>]\n}", `f:2: HTML text is not supported: write names in double quotes`},
		{"ptm", "graph g {\n h0 [kind=router]\n}", `f:2: kind of h0: "router": want host or switch`},
		{"ptm", "graph g { h0 -- sw0 } h1", `f:1: got "h1": want nothing after the graph's }`},
		{"ptm", "graph g { h0 -- sw0; h1 -- sw0; sw0 -- x }", `f: is x, which has one link, a host?`},
		{"ptm", "graph g { h0 -- sw0 ! }", `f:1: unexpected '!': want a name, an attribute, -- or ;`},
		{"ptm", "graph g {\n/* h0", `f:2: the comment that begins here has no end`},

		{"ibnetdiscover", "", `f: neither Switch nor Ca in the file: want the output of ibnetdiscover`},
		{"ibnetdiscover", "hello\n", `f:1: "hello" is no line of ibnetdiscover: want Switch, Ca, Rt, a port such as [1]`},
		{"ibnetdiscover", "[1]\t\"S-1\"[1] # 4xEDR\n", `f:1: a port before the first Switch or Ca`},
		{"ibnetdiscover", "Switch\t36\n", `f:1: Switch without a name`},
		{"ibnetdiscover", subnet[:strings.Index(subnet, "caguid=0x130")], `f:24: spine_1 leads to "H-0000000000000130", which has no block: is the file cut short?`},
		{"ibnetdiscover", subnet[:strings.LastIndex(subnet, "[1]")], `f:24: spine_1 leads to port 1 of Mellanox_Technologies_Aggregation_Node, which is not in the block of that node on line 42: is the file cut short?`},
		{"ibnetdiscover", strings.Replace(subnet, "4xEDR", "4xWARP", 1), `f:11: port 1 has no known rate in "lid 4 4xWARP": want one of 4xSDR`},
		{"ibnetdiscover", strings.Replace(subnet, "4xEDR", "4xHDR", 1), `f:11: the other end of this link, on line 31, says otherwise: port 1 of node1_mlx5_0 to port 1 of "S-0000000000000020" at 100Gbps`},
		{"ibnetdiscover", strings.Replace(subnet, "[2]\t\"H", "[1]\t\"H", 1), `f:12: port 1 is on line 11 already`},
		{"ibnetdiscover", strings.Replace(subnet, "Ca\t1 \"H-0000000000000110\"", "Ca\t1 \"H-0000000000000100\"", 1), `f:34: node "H-0000000000000100" has a block on line 30 already`},
		{"ibnetdiscover", strings.Replace(strings.Replace(subnet, "\"[35]", "\"[0]", 1), "\"[36]", "\"[35]", 1), `f:22: port 1: no port number from 1 to 254 after "S-0000000000000020"`},
		{"ibnetdiscover", strings.NewReplacer("20\"[35]", "20\"[36]", "20\"[36]", "20\"[35]").Replace(subnet), `f:14: the other end of this link, on line 22, says otherwise: port 1 of spine_1 to port 36 of "S-0000000000000020" at 200Gbps`},
		{"ibnetdiscover", strings.Replace(subnet, "[41]\t", "[999]\t", 1), `f:24: "[999]`},
		{"dot", "", `unknown topology format "dot": want one of csv, ibnetdiscover, ptm`},
	} {
		g, err := Import(c.format, "f", []byte(c.text))
		if err == nil {
			t.Errorf("%s %q: no error, want %s", c.format, c.text, c.want)
		} else if !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s %.80q:\n got %s\nwant %s", c.format, c.text, err, c.want)
		}
		require.Nil(t, g)
	}
}

// fuzzImport feeds anything to a format: it fails with one error, or gives a
// graph that validates, routes, and is built again from its written form.
func fuzzImport(f *testing.F, format string) {
	files, err := os.ReadDir("testdata")
	require.NoError(f, err)
	for _, file := range files {
		if data, err := os.ReadFile(filepath.Join("testdata", file.Name())); err == nil {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := Import(format, "fuzz", data)
		if err != nil {
			return
		}
		require.NoError(t, g.Validate())
		routes(t, g)
		again, err := custom(WriteCustom(g))
		require.NoError(t, err)
		require.Equal(t, g, again)
	})
}

func FuzzImportCSV(f *testing.F)           { fuzzImport(f, "csv") }
func FuzzImportPTM(f *testing.F)           { fuzzImport(f, "ptm") }
func FuzzImportIBNetDiscover(f *testing.F) { fuzzImport(f, "ibnetdiscover") }
