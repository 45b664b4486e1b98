package fabric

import (
	"context"
	"testing"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// rig is one switch with a tester at each port: what a traffic generator is to
// an operator's test. Endpoint n is behind port n.
type rig struct {
	engine  *sim.Engine[packet.Packet]
	sw      *Switch
	testers []*tester
	sink    *trace.Sink
	names   *trace.Names
}

// tester sends frames and pauses at times given, and keeps what it receives.
type tester struct {
	node  *sim.Node[packet.Packet]
	plan  []packet.Packet
	got   []arrival
	pause []arrival
}

type arrival struct {
	at sim.Time
	packet.Packet
}

const (
	rigRate  = 100 * sim.Gbps
	rigDelay = 100 * sim.Nanosecond
)

func (t *tester) OnMessage(_ int, m *packet.Packet) {
	a := arrival{t.node.Now(), *m}
	if m.Kind >= packet.PFC {
		t.pause = append(t.pause, a)
	} else {
		t.got = append(t.got, a)
	}
}

func (t *tester) OnTimer(_ sim.Kind, _ int, i uint64) {
	t.node.Send(0, t.node.Now().Add(rigDelay), &t.plan[i])
}

// at lets a frame arrive at the switch at a time, which must be no earlier than
// the delay of the link.
func (t *tester) at(when sim.Time, m packet.Packet) {
	t.plan = append(t.plan, m)
	t.node.At(when.Add(-rigDelay), 100, 0, uint64(len(t.plan)-1))
}

// frame is a data frame of a DSCP.
func frame(dst int, dscp uint8, size int, ecn uint8) packet.Packet {
	return packet.Packet{Kind: packet.Data, Dst: int32(dst), DSCP: dscp, Size: uint16(size), ECN: ecn, TTL: 64}
}

// pauseFrame asks for so many quanta in the priorities of a mask.
func pauseFrame(classes uint8, quanta uint16) packet.Packet {
	return packet.Packet{Kind: packet.PFC, Classes: classes, Quanta: quanta, Size: 64, Src: -1, Dst: -1}
}

// straight is a router to the port of the endpoint's number.
type straight struct{ ports [][]uint16 }

func (r straight) Next(_, endpoint int) []uint16 { return r.ports[endpoint] }
func (straight) LAG(int, uint16) []uint16        { return nil }

// plainGroups returns a port whose groups and queues share pool 0 with
// thresholds, headroom for the lossless ones.
func plainMMU(alpha, egress Threshold, reserve, headroom, xonOffset int64, lossless uint8) *PortMMU {
	m := &PortMMU{}
	for k := range m.Groups {
		if lossless&(1<<k) != 0 {
			m.Groups[k] = GroupConfig{Reserve: reserve, Threshold: alpha, Headroom: headroom, XonOffset: xonOffset}
		} else {
			m.Queues[k].Threshold = egress
		}
	}
	return m
}

// newRig makes a switch of so many ports; set changes its configuration.
func newRig(t testing.TB, ports int, lossless uint8, set func(*SwitchConfig)) *rig {
	r := &rig{engine: sim.NewEngine[packet.Packet](), sink: &trace.Sink{}, names: trace.NewNames()}
	maps := PlainMaps()
	for d := range maps.Class {
		maps.Class[d] = uint8(d & 7)
	}
	c := SwitchConfig{Name: "sw", Lossless: lossless, Quantum: 2048, Rand: func(n string) *sim.Rand { return sim.NewRand(1, n) },
		Sink: r.sink, Names: r.names, PauseLog: true, MMU: &MMUConfig{Size: 10e6, Cell: 1, Pools: []PoolConfig{{Name: "pool", Size: 8e6}}}}
	route := straight{}
	alpha, _ := buildThreshold("dynamic", DynamicParams{Alpha: 1})
	for i := range ports {
		route.ports = append(route.ports, []uint16{uint16(i)})
		c.Ports = append(c.Ports, SwitchPortConfig{Maps: &maps, MMU: plainMMU(alpha, alpha, 0, 50_000, 0, lossless),
			PortConfig: PortConfig{Rate: rigRate, RxRate: rigRate, Delay: rigDelay, Overhead: EthernetOverhead, Timed: true, Quanta: 65535, PFCSize: 64, Lossless: lossless}})
	}
	c.Router = route
	if set != nil {
		set(&c)
	}
	r.sw = NewSwitch(r.engine, c, -1)
	for i := range ports {
		x := &tester{}
		x.node = r.engine.AddNode(x, 1, -1)
		x.node.Done()
		r.testers = append(r.testers, x)
		r.engine.Connect(x.node, 0, r.sw.Node(), i, rigDelay)
		r.engine.Connect(r.sw.Node(), i, x.node, 0, rigDelay)
	}
	return r
}

func buildThreshold[P any](name string, p P) (Threshold, error) {
	e, err := Thresholds.Lookup(name)
	if err != nil {
		return nil, err
	}
	return e.Build(p)
}

func (r *rig) run(until sim.Duration) {
	r.engine.Run(context.Background(), sim.RunOptions{Until: sim.Time(until), Workers: 1})
}

// stream lets frames of one size arrive back to back at the line rate from a
// time on, and returns when the last one has.
func (r *rig) stream(port int, from sim.Time, n int, m packet.Packet) sim.Time {
	step := rigRate.TxTime(sim.Bytes(m.Size) + EthernetOverhead)
	for i := range n {
		m.PSN = uint32(i)
		from = from.Add(step)
		r.testers[port].at(from, m)
	}
	return from
}

// events returns the events of a kind.
func (r *rig) events(kind trace.EventKind) (list []trace.Event) {
	for _, e := range r.sink.Events {
		if e.Kind == kind {
			list = append(list, e)
		}
	}
	return list
}

// counter returns a total at the end.
func (r *rig) counter(now sim.Duration, object string, prio int, name string) (v float64) {
	r.sw.Counters(sim.Time(now), func(c trace.Counter) {
		if c.Object == object && int(c.Prio) == prio && c.Name == name {
			v += c.Value
		}
	})
	return v
}
