package scenarios

import (
	"fmt"
	"math"
	"path"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/fabric/topology"
	"rdmasim/reports/metric"
	"rdmasim/scenarios/fault"
	"rdmasim/scenarios/hpcc"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs/simnic"
)

// world is a scenario made into nodes of an engine.
type world struct {
	spec      *Spec
	graph     *topology.Graph
	routes    *topology.Routes
	ports     *topology.Ports
	engine    *sim.Engine[packet.Packet]
	names     *trace.Names
	markings  map[markingOf]*[8]fabric.ECNConfig
	sinks     []*trace.Sink
	switches  []*fabric.Switch // by node, nil for hosts
	nics      []*simnic.NIC    // by node, nil for switches
	swSpec    []*SwitchSpec    // by node
	nicSpec   []*NICSpec       // by node
	hosts     []int            // node by number of host
	hostOf    []int            // number of host by node, -1
	sizes     []simnic.FrameSizes
	maxFrame  sim.Bytes        // largest data frame of any NIC
	fct       []hpcc.FCT       // rows of fct.txt, under the rules of the HPCC model
	check     func(t sim.Time) // called between windows, by tests
	exactly   bool             // as many workers as asked for, by tests
	recorder  *recorder        // nil unless the run is captured
	hops      uint64           // before the counters were reset
	deadlocks deadlocks
	portIDs   [][]trace.ObjectID // by node and port
	faults    []*fault.Context
	epoch     uint64 // of the routes: how often they have changed
	inFull    bool   // every switch has its buffer manager in full, by tests
}

// hpcc reports whether the rules of the HPCC ns-3 model hold.
func (s *Spec) hpcc() bool { return s.Compat == CompatHPCC }

// Values of Spec.Compat.
const (
	CompatNone = "none"
	CompatHPCC = "hpcc"
)

// build makes the fabric and the NICs of a scenario.
func build(s *Spec) (*world, error) {
	g, err := s.graph()
	if err != nil {
		return nil, err
	}
	routes, err := s.routesOn(g)
	if err != nil {
		return nil, err
	}
	w := &world{spec: s, inFull: s.inFull, graph: g, routes: routes, ports: routes.Ports(), engine: sim.NewEngine[packet.Packet](),
		names: trace.NewNames(), markings: map[markingOf]*[8]fabric.ECNConfig{}}
	n := len(g.Nodes)
	w.sinks, w.switches, w.nics = make([]*trace.Sink, n), make([]*fabric.Switch, n), make([]*simnic.NIC, n)
	w.swSpec, w.nicSpec, w.sizes = make([]*SwitchSpec, n), make([]*NICSpec, n), make([]simnic.FrameSizes, n)
	w.hostOf = make([]int, n)
	for i := range g.Nodes {
		w.sinks[i] = &trace.Sink{Node: int32(i)}
		w.hostOf[i] = -1
		if err := w.resolve(i); err != nil {
			return nil, err
		}
	}
	for i, node := range g.Nodes {
		if node.Kind == topology.Switch {
			err = w.addSwitch(i)
		} else {
			err = w.addNIC(i)
		}
		if err != nil {
			return nil, s.at("", err)
		}
	}
	for _, l := range g.Links {
		a, b := w.node(l.A), w.node(l.B)
		w.engine.Connect(a, l.APort, b, l.BPort, w.delay(l.B, l.AtoB))
		w.engine.Connect(b, l.BPort, a, l.APort, w.delay(l.A, l.BtoA))
	}
	if err := w.inject(); err != nil {
		return nil, err
	}
	w.watchDeadlocks()
	w.numberPorts()
	return w, nil
}

// graph returns the topology of a scenario with its link rules applied.
func (s *Spec) graph() (*topology.Graph, error) {
	e, err := topology.Topologies.Lookup(s.Topology.Name)
	if err != nil {
		return nil, err
	}
	g, err := e.Build(s.Topology.Params)
	if err != nil {
		return nil, s.at("topology", err)
	}
	if err := ValidateOn(s, g); err != nil {
		return nil, err
	}
	for _, r := range s.Links {
		for i := range g.Links {
			l := &g.Links[i]
			a, b := g.Nodes[l.A].Name, g.Nodes[l.B].Name
			if !(matches(r.A, a) && matches(r.B, b) || matches(r.A, b) && matches(r.B, a)) {
				continue
			}
			if r.Rate > 0 {
				l.AtoB.Rate, l.BtoA.Rate = r.Rate, r.Rate
			}
			if r.Cable > 0 {
				l.Cable = r.Cable
				l.AtoB.Delay, l.BtoA.Delay = r.Cable.Delay(), r.Cable.Delay()
			}
			if r.Delay > 0 {
				l.AtoB.Delay, l.BtoA.Delay = r.Delay, r.Delay
			}
			if r.Loss > 0 {
				l.Loss = float64(r.Loss)
			}
			if r.DataLoss > 0 {
				l.DataLoss = float64(r.DataLoss)
			}
			if r.DropEvery > 0 {
				l.DropEvery = r.DropEvery
			}
		}
	}
	return g, s.at("topology", g.Validate())
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// resolve finds the values that hold for a node.
func (w *world) resolve(i int) error {
	s, node := w.spec, &w.graph.Nodes[i]
	if node.Kind == topology.Switch {
		w.swSpec[i] = &s.Switch
		for k := range s.Switches {
			if matches(s.Switches[k].Match, node.Name) {
				w.swSpec[i] = &s.Switches[k].Switch
			}
		}
		return nil
	}
	w.hostOf[i] = len(w.hosts)
	w.hosts = append(w.hosts, i)
	w.nicSpec[i] = &s.NIC
	for k := range s.NICs {
		if matches(s.NICs[k].Match, node.Name) {
			w.nicSpec[i] = &s.NICs[k].NIC
		}
	}
	nic := w.nicSpec[i]
	f := simnic.RoCEv2(nic.PathMTU, nic.Encapsulation)
	if nic.Frame.Payload > 0 {
		f.Payload = int(nic.Frame.Payload)
	}
	if nic.Frame.Header > 0 {
		f.Header, f.Plain = int(nic.Frame.Header), true
	}
	if nic.Frame.Ack > 0 {
		f.Ack = int(nic.Frame.Ack)
	}
	if nic.Frame.CNP > 0 {
		f.CNP = int(nic.Frame.CNP)
	}
	w.sizes[i] = f
	w.maxFrame = max(w.maxFrame, f.Data(f.Payload, true, 0, true))
	return nil
}

// delay is what a frame takes from the end of its transmission to its arrival
// at a node: propagation, and the pipeline of a switch.
func (w *world) delay(to int, side topology.Side) sim.Duration {
	d := side.Delay
	if sw := w.swSpec[to]; sw != nil {
		d += sw.Latency
	}
	return d
}

func (w *world) node(i int) *sim.Node[packet.Packet] {
	if s := w.switches[i]; s != nil {
		return s.Node()
	}
	return w.nics[i].Node()
}

func (w *world) rand(name string) *sim.Rand { return sim.NewRand(w.spec.Seed, name) }

// port returns the transmitting side of port p of a node.
func (w *world) port(node, p int) fabric.PortConfig {
	q := w.ports.Of(node)[p]
	out, in := q.Out(w.graph), q.In(w.graph)
	s := w.spec
	c := fabric.PortConfig{Rate: out.Rate, RxRate: in.Rate, Delay: w.delay(q.Peer, out), Overhead: fabric.EthernetOverhead,
		PFCSize: simnic.SizePFC}
	l := &w.graph.Links[q.Link]
	c.Loss = fabric.Loss{All: l.Loss, Data: l.DataLoss, Every: l.DropEvery}
	frame := s.NIC.Frame
	if frame.PFC > 0 {
		c.PFCSize = frame.PFC
	}
	if frame.Set && !frame.Overhead.Auto {
		c.Overhead = frame.Overhead.Value
	}
	c.Truncate = s.hpcc()
	if peer := w.swSpec[q.Peer]; peer != nil && peer.Mode == "cut_through" {
		c.HeaderBytes = fabric.HeaderBytes
	}
	pfc := &s.Switch.PFC
	if own := w.swSpec[node]; own != nil {
		pfc = &own.PFC
	} else if peer := w.swSpec[q.Peer]; peer != nil {
		pfc = &peer.PFC
	}
	at := w.portAt(node, p)
	if w.swSpec[node] == nil && w.swSpec[q.Peer] != nil {
		at = w.portAt(q.Peer, q.PeerPort)
	}
	c.Lossless, c.Global = pfc.lossless(at), pfc.Mode == "global"
	c.Timed = pfc.Timer
	c.Quanta = uint16(pfc.Quanta)
	c.Response = pfc.response(out.Rate)
	if pfc.Timer {
		c.Refresh = pfc.Refresh.Value
		if pfc.Refresh.Auto {
			c.Refresh = in.Rate.TxTime(sim.Bytes(pfc.Quanta)*fabric.QuantumBits/8) / 2
		}
	}
	return c
}

// peer names the port at the other end of port p of a node.
func (w *world) peer(node, p int) string {
	q := w.ports.Of(node)[p]
	return w.graph.Nodes[q.Peer].Name + ":" + fmt.Sprint(q.PeerPort)
}

// responseQuanta is how many quanta a port of a speed may take to obey a
// pause. Source: SONiC buffer_headroom_mellanox.lua and pg_profile tables.
var responseQuanta = []struct {
	rate   sim.Rate
	quanta int64
}{{10 * sim.Gbps, 67}, {25 * sim.Gbps, 80}, {40 * sim.Gbps, 118}, {50 * sim.Gbps, 147}, {100 * sim.Gbps, 394}, {200 * sim.Gbps, 453}, {400 * sim.Gbps, 905}, {800 * sim.Gbps, 905}}

// ResponseTime returns how long a port of the given rate takes to obey a pause
// frame: the quanta of the next speed of the table that is not slower, in
// proportion to the rate below the slowest and above the fastest speed.
func ResponseTime(r sim.Rate) sim.Duration {
	first, last := responseQuanta[0], responseQuanta[len(responseQuanta)-1]
	switch {
	case r <= first.rate:
		return first.rate.TxTime(sim.Bytes(first.quanta * fabric.QuantumBits / 8))
	case r > last.rate:
		return last.rate.TxTime(sim.Bytes(last.quanta * fabric.QuantumBits / 8))
	}
	for _, e := range responseQuanta {
		if r <= e.rate {
			return r.TxTime(sim.Bytes(e.quanta * fabric.QuantumBits / 8))
		}
	}
	return 0
}

func (p *PFCSpec) response(r sim.Rate) sim.Duration {
	if p.Response.Auto {
		return ResponseTime(r)
	}
	return p.Response.Value
}

func (w *world) addSwitch(i int) error {
	s, sp, node := w.spec, w.swSpec[i], &w.graph.Nodes[i]
	ports := w.ports.Of(i)
	var err error
	c := fabric.SwitchConfig{Name: node.Name, Index: i, CutThrough: sp.Mode == "cut_through",
		Buffer: fabric.BufferConfig{Size: int64(sp.Buffer.Size), Reserve: int64(sp.Buffer.Reserve), XonOffset: int64(sp.Buffer.XonOffset),
			AlphaEgress: fixed(float64(sp.Buffer.EgressAlpha))},
		Quantum: int64(sp.Scheduler.Quantum), TrustPCP: sp.Trust == "pcp", FlowletGap: sp.Balance.Gap, HashSeed: sp.Balance.Seed,
		HashHPCC: sp.Balance.Hash == "hpcc", VTEP: sp.VTEP, Router: w.routes, Rand: w.rand, Sink: w.sinks[i], Names: w.names,
		Interval: s.Series.Interval, PauseLog: true}
	if !sp.Balance.Same {
		c.HashSeed = sim.Mix64(c.HashSeed + uint64(i) + 1)
	}
	switch sp.Balance.Method {
	case "spray":
		c.Balance = fabric.BalanceSpray
	case "flowlet":
		c.Balance = fabric.BalanceFlowlet
	}
	for _, k := range sp.PFC.Priorities {
		c.Lossless |= 1 << k
	}
	for _, k := range sp.Scheduler.Strict {
		c.Strict |= 1 << k
	}
	for k := range c.Weights {
		c.Weights[k] = int64(max(sp.Scheduler.Weights[k], 1))
	}
	for d := range c.ClassOf {
		c.ClassOf[d] = uint8(sp.DSCPMap[d])
	}
	c.Queues = c.Lossless | w.dataClasses()
	if c.HashHPCC {
		for _, e := range w.routes.Endpoints() {
			n := uint32(e.Node)
			c.Addresses = append(c.Addresses, 0x0b000001+n/256<<16+n%256<<8)
		}
	}
	if s.hpcc() {
		c.Bypass = 1
		c.Buffer.OncePerPort, c.Buffer.WholeFrames = true, true
	}
	c.Ports = make([]fabric.SwitchPortConfig, len(ports))
	for p := range ports {
		port := w.switchPort(i, p)
		if port.Watchdog, err = sp.watchdog(w.portAt(i, p)); err != nil {
			return err
		}
		port.Scheduler = sp.schedulerOf(w.portAt(i, p))
		c.Ports[p] = port
	}
	if sp.full() || w.inFull {
		if err := w.addMMU(i, sp, &c); err != nil {
			return err
		}
	} else if pool := c.Pool(); pool <= 0 {
		return fmt.Errorf("switch.buffer.size: %s of switch %s: headroom and reserves of its %d ports need %s: want a larger buffer, less headroom or fewer lossless priorities",
			sp.Buffer.Size, node.Name, len(ports), metric.Format(float64(sp.Buffer.Size-sim.Bytes(pool)), metric.Bytes))
	}
	w.switches[i] = fabric.NewSwitch(w.engine, c, node.Pod)
	return nil
}

// dataClasses are the priorities that NICs send with.
func (w *world) dataClasses() (mask uint8) {
	for _, n := range w.nicSpec {
		if n != nil {
			mask |= 1<<n.Priority | 1<<n.CNPPriority
			if n.AckPriority >= 0 {
				mask |= 1 << n.AckPriority
			}
		}
	}
	return mask
}

// fixed converts a ratio to 1/65536.
func fixed(x float64) int64 { return int64(math.Round(x * fabric.AlphaOne)) }

func (w *world) switchPort(node, p int) fabric.SwitchPortConfig {
	sp := w.swSpec[node]
	q := w.ports.Of(node)[p]
	pc, peer := w.port(node, p), w.peer(node, p)
	c := fabric.SwitchPortConfig{PortConfig: pc, Alpha: fixed(float64(sp.Buffer.Alpha)), Peer: peer, PeerID: w.names.ID(peer),
		ToHost: w.graph.Nodes[q.Peer].Kind == topology.Host}
	c.ECN = w.marking(sp, pc.Rate)
	if w.spec.hpcc() {
		c.Alpha, c.Headroom = w.hpccPort(node, p)
	} else if sp.Buffer.Headroom.Auto {
		c.Headroom = int64(w.headroom(node, p, sp, pc))
	} else {
		c.Headroom = int64(sp.Buffer.Headroom.Value)
	}
	return c
}

// headroom computes what a lossless class of a port needs.
func (w *world) headroom(node, p int, sp *SwitchSpec, pc fabric.PortConfig) sim.Bytes {
	q := w.ports.Of(node)[p]
	there := w.delay(node, q.In(w.graph))
	response := sp.PFC.response(pc.RxRate)
	if peer := w.swSpec[q.Peer]; peer != nil {
		response = peer.PFC.response(pc.RxRate)
	}
	frame := w.maxFrame
	if sp.VTEP {
		frame += fabric.VXLANHeader
	}
	return fabric.Headroom(pc.RxRate, pc.Rate, there+pc.Delay, response, frame, pc.Overhead, pc.PFCSize)
}
