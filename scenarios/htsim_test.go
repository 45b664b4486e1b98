package scenarios

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/packet"
	"rdmasim/fabric/topology"
	"rdmasim/reports/metric"
	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs/simnic"
)

// measure runs a scenario and returns its metrics.
func measure(t testing.TB, s *Spec) *metric.Metrics {
	dir := filepath.Join(t.TempDir(), "run")
	_, err := Run(context.Background(), s, Options{Out: dir})
	require.NoError(t, err)
	run, err := trace.Open(dir)
	require.NoError(t, err)
	m, err := metric.Compute(run)
	require.NoError(t, err)
	return m
}

// load reads a scenario of testdata.
func load(t testing.TB, name string, settings ...string) *Spec {
	s, err := Load(filepath.Join("testdata", name+".yaml"), settings)
	require.NoError(t, err)
	return s
}

// One flow alone takes what can be counted by hand, to the picosecond.
func TestHtsimFlow(t *testing.T) {
	m := measure(t, load(t, "htsim-flow"))
	assert.InDelta(t, 845.69472e-6, *m.Flows.FCT.Max, 1e-12)
	assert.InDelta(t, 1, *m.Flows.Slowdown.Max, 1e-12)
}

// An incast of N ends when the receiver's link has carried everything: its last
// FCT is N*83.2 + 8.36352 us. The published range is 8.36 to 8.40 us.
func TestHtsimIncast(t *testing.T) {
	for _, n := range []int{2, 4, 16, 64, 127} {
		senders := []string{"h1"} // the neighbour, and the rest from other pods
		for i := 1; i < n; i++ {
			senders = append(senders, fmt.Sprintf("h%d", 15+i))
		}
		if n == 127 {
			senders = []string{"all"}
		}
		m := measure(t, load(t, "htsim-incast", "traffic.0.incast.senders=["+strings.Join(senders, ", ")+"]"))
		assert.Equal(t, n, m.Flows.Completed)
		assert.InDelta(t, float64(n)*83.2+8.36352, *m.Flows.FCT.Max*1e6, 1e-6, "%d senders", n)
		assert.Zero(t, *m.Packets.Dropped.Lossless)
	}
}

// htsimDir holds a run of htsim, where it is at hand: beside the repository.
const htsimDir = "../../shared/reference/data/htsim"

// htsimTree is the fat tree of htsim: aggregation switches of even number are
// joined to even core switches, those of odd number to odd ones.
func htsimTree(t testing.TB) Member {
	m, err := NewMember("topology", "custom", "")
	require.NoError(t, err)
	p := m.Params.(topology.CustomParams)
	p.Nodes, p.Links = nil, nil
	p.Rate, p.Delay = 100*sim.Gbps, sim.Microsecond
	node := func(kind, name string, n int) {
		for i := range n {
			p.Nodes = append(p.Nodes, topology.CustomNode{Name: fmt.Sprint(name, i), Kind: kind})
		}
	}
	node("host", "h", 16)
	node("switch", "LS", 8)
	node("switch", "US", 8)
	node("switch", "CS", 4)
	link := func(a string, i int, b string, j int) {
		p.Links = append(p.Links, topology.CustomLink{A: fmt.Sprint(a, i), B: fmt.Sprint(b, j)})
	}
	for i := range 16 {
		link("h", i, "LS", i/2)
	}
	for i := range 8 {
		link("LS", i, "US", i&^1)
		link("LS", i, "US", i|1)
	}
	for i := range 8 {
		link("US", i, "CS", i%2)
		link("US", i, "CS", i%2+2)
	}
	m.Params = p
	return m
}

// way returns the names of the switches on the way of a packet.
func way(w *world, m packet.Packet) (list []string) {
	at := w.routes.Endpoints()[m.Src]
	node, port := at.Node, at.Port
	for range 16 {
		q := w.ports.Of(node)[port]
		sw := w.switches[q.Peer]
		if sw == nil {
			return list
		}
		list = append(list, w.graph.Nodes[q.Peer].Name)
		node, port = q.Peer, sw.Peek(&m)
	}
	return list
}

// htsimPaths reads the paths of a run: the switches by kind (data, ack) and flow.
func htsimPaths(t testing.TB) map[string][]string {
	text, err := os.ReadFile(filepath.Join(htsimDir, "paths.txt"))
	if err != nil {
		t.Skip("reference data absent")
	}
	paths := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		for _, hop := range words[2 : len(words)-1] {
			_, to, _ := strings.Cut(hop, "->")
			to, _, _ = strings.Cut(to, "(")
			paths[words[0]+" "+words[1]] = append(paths[words[0]+" "+words[1]], to)
		}
	}
	return paths
}

// A permutation of 16 hosts on the paths that htsim drew, which source ports are
// found for. Its switches pause early; with 1 MiB of buffer those here do as
// well. Every flow then takes as long within 5 %, all together within 1 %.
func TestHtsimPermutation16(t *testing.T) {
	paths := htsimPaths(t)
	s := load(t, "htsim-permutation", "switch.buffer.size=1MiB")
	s.Topology = htsimTree(t)
	w, err := build(s)
	require.NoError(t, err)
	m, err := NewMember("workload", "flows", "")
	require.NoError(t, err)
	flows := m.Params.(workload.FlowsParams)
	matrix, err := os.ReadFile(filepath.Join(htsimDir, "perm_16.cm"))
	require.NoError(t, err)
	for line := range strings.Lines(string(matrix)) {
		var src, dst, id, start, size int
		if n, _ := fmt.Sscanf(line, "%d->%d id %d start %d size %d", &src, &dst, &id, &start, &size); n != 5 {
			continue
		}
		port := portFor(w, int32(src), int32(dst), paths[fmt.Sprint("data flow=", id)], paths[fmt.Sprint("ack flow=", id)])
		require.NotZero(t, port, "no source port leads flow %d along its paths", id)
		flows.List = append(flows.List, workload.Flow{From: fmt.Sprint("h", src), To: fmt.Sprint("h", dst), Size: sim.Bytes(size), SrcPort: port, Tag: fmt.Sprint(src, ",", dst)})
	}
	require.Len(t, flows.List, 16)
	m.Params = flows
	s.Traffic = []TrafficSpec{{Member: m}}

	dir := filepath.Join(t.TempDir(), "run")
	_, err = Run(context.Background(), s, Options{Out: dir})
	require.NoError(t, err)
	run, err := trace.Open(dir)
	require.NoError(t, err)
	ours := map[string]float64{}
	for f, err := range run.Flows() {
		require.NoError(t, err)
		ours[f.Tag] = f.End.Sub(f.Start).Seconds() * 1e6
	}
	text, err := os.ReadFile(filepath.Join(htsimDir, "fct.csv"))
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(t, err)
	sum, theirs := 0.0, 0.0
	for _, r := range rows[1:] {
		want, err := strconv.ParseFloat(r[2], 64)
		require.NoError(t, err)
		got := ours[r[0]+","+r[1]]
		assert.InEpsilon(t, want, got, 0.05, "flow %s -> %s", r[0], r[1])
		sum, theirs = sum+got, theirs+want
		t.Logf("%s -> %s: htsim %.2f us, here %.2f us, ratio %.4f", r[0], r[1], want, got, got/want)
	}
	assert.InEpsilon(t, theirs, sum, 0.01)
}

// portFor returns the UDP source port by which data and ACKs of a flow take the
// paths given, 0 if there is none.
func portFor(w *world, src, dst int32, data, ack []string) uint16 {
	for p := uint16(1); p != 0; p++ {
		there := packet.Packet{Src: src, Dst: dst, SrcPort: p, DstPort: simnic.RoCEv2Port}
		back := packet.Packet{Src: dst, Dst: src, SrcPort: p, DstPort: simnic.RoCEv2Port}
		if slices.Equal(way(w, there), data) && slices.Equal(way(w, back), ack) {
			return p
		}
	}
	return 0
}
