package simnic

import (
	"context"
	"iter"
	"testing"

	"rdmasim/congestion"
	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"

	"github.com/stretchr/testify/require"
)

// lab is a few NICs around one wire that a test program can look into. The
// program is a function that sleeps in simulated time; all nodes share one
// queue, so it may call any NIC between two events.
type lab struct {
	t     testing.TB
	e     *sim.Engine[packet.Packet]
	nics  []*NIC
	sinks []*trace.Sink
	wire  *wire
	yield func(sim.Duration) bool
	stop  context.CancelFunc
}

// wire is a hub: it delivers every frame to the NIC of its destination, and a
// test sees, drops or changes frames there.
type wire struct {
	node  *sim.Node[packet.Packet]
	delay sim.Duration
	see   func(m *packet.Packet) bool // false = lost
	last  []sim.Time                  // arrival of the latest frame per NIC: order is kept
}

func (w *wire) OnMessage(_ int, m *packet.Packet) {
	if w.see != nil && !w.see(m) {
		return
	}
	w.send(m)
}

func (w *wire) send(m *packet.Packet) {
	if m.Dst < 0 || int(m.Dst) >= len(w.last) {
		return
	}
	at := max(w.node.Now().Add(w.delay), w.last[m.Dst])
	w.last[m.Dst] = at
	w.node.Send(int(m.Dst), at, m)
}

func (w *wire) OnTimer(sim.Kind, int, uint64) {}

// driver is the node on which the test program runs.
type driver struct {
	node *sim.Node[packet.Packet]
	l    *lab
	next func() (sim.Duration, bool)
}

func (d *driver) OnMessage(int, *packet.Packet) {}

func (d *driver) OnTimer(sim.Kind, int, uint64) {
	nap, ok := d.next()
	if !ok {
		d.l.stop()
		return
	}
	d.node.At(d.node.Now().Add(max(nap, 1)), fabric.KindTxDone, 0, 0)
}

// labConfig is what NICs of a lab have in common with those of scenarios.
func labConfig(i, count int, alg congestion.Algorithm, sink *trace.Sink, names *trace.Names, memory *Memory) Config {
	return Config{Name: string('a' + rune(i)), Node: i, Endpoints: []int32{int32(i)}, PeerIDs: []trace.ObjectID{0}, Sizes: RoCEv2(1024, "none"), Algorithm: alg,
		Ports:    []fabric.PortConfig{{Rate: 100 * sim.Gbps, RxRate: 100 * sim.Gbps, Delay: sim.Nanosecond, Overhead: 20, PFCSize: SizePFC}},
		AckEvery: 4, AckPriority: -1, AckDSCP: -1, RetryCount: 3, Timeout: 100 * sim.Microsecond, RNRTimer: 1, RNRRetry: 2, TTL: 64, Memory: memory,
		SourcePort: func(_, _ int32, n int) uint16 { return uint16(10000 + n) },
		Path: func(_, _ int32, _, _ uint16, _ uint8) Path {
			return Path{BaseRTT: 3 * sim.Microsecond, Ideal: func(sim.Bytes, verbs.Opcode) sim.Duration { return 1 }}
		},
		EndpointName: func(e int32) string { return string('a' + e) },
		Rand:         func(name string) *sim.Rand { return sim.NewRand(1, name) }, Sink: sink, Names: names}
}

// inLab runs a program among so many NICs.
func inLab(t testing.TB, count int, change func(*Config), program func(l *lab)) {
	l := &lab{t: t, e: sim.NewEngine[packet.Packet]()}
	none, err := congestion.NewNone(congestion.NoneParams{})
	require.NoError(t, err)
	names, memory := trace.NewNames(), NewMemory(count)
	l.wire = &wire{delay: sim.Microsecond, last: make([]sim.Time, count)}
	l.wire.node = l.e.AddNode(l.wire, count+1, -1)
	for i := range count {
		sink := &trace.Sink{Node: int32(i)}
		c := labConfig(i, count, none, sink, names, memory)
		if change != nil {
			change(&c)
		}
		l.sinks = append(l.sinks, sink)
		l.nics = append(l.nics, New(l.e, c, -1))
		l.e.Connect(l.nics[i].Node(), 0, l.wire.node, i, sim.Nanosecond)
		l.e.Connect(l.wire.node, i, l.nics[i].Node(), 0, sim.Nanosecond)
	}
	d := &driver{l: l}
	d.node = l.e.AddNode(d, 1, -1)
	l.e.Connect(d.node, 0, l.wire.node, count, 0)
	d.node.At(0, fabric.KindTxDone, 0, 0)
	next, end := iter.Pull(iter.Seq[sim.Duration](func(yield func(sim.Duration) bool) {
		l.yield = yield
		program(l)
	}))
	defer end()
	d.next = next
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	l.stop = stop
	l.e.Run(ctx, sim.RunOptions{Until: sim.Time(1 << 60), Workers: 1})
}

// sleep lets simulated time pass.
func (l *lab) sleep(d sim.Duration) { l.yield(d) }

// open returns a context on a NIC.
func (l *lab) open(i int) verbs.Context {
	d, err := l.nics[i].Device()
	require.NoError(l.t, err)
	c, err := d.Open()
	require.NoError(l.t, err)
	return c
}
