package scenarios

import (
	"fmt"

	"rdmasim/congestion"
	"rdmasim/fabric"
	"rdmasim/sim"
	"rdmasim/verbs"
	"rdmasim/verbs/simnic"
)

//nolint:funlen // steps in their order
func (w *world) addNIC(i int) error {
	s, sp, node := w.spec, w.nicSpec[i], &w.graph.Nodes[i]
	e, err := congestion.Algorithms.Lookup(sp.Congestion.Name)
	if err != nil {
		return err
	}
	alg, err := e.Build(sp.Congestion.Params)
	if err != nil {
		return err
	}
	ports := w.ports.Of(i)
	c := simnic.Config{Name: node.Name, Node: i, Sizes: w.sizes[i], Algorithm: alg,
		Priority: uint8(sp.Priority), DSCP: uint8(sp.DSCP), AckPriority: sp.AckPriority, AckDSCP: sp.AckDSCP,
		CNPPriority: uint8(sp.CNPPriority), CNPDSCP: uint8(sp.CNPDSCP),
		AckEvery: max(sp.AckEvery, 1), GoBack0: sp.Recovery == "go_back_0", NoDupAck: s.hpcc(), NackInterval: sp.NackInterval,
		Timeout: AckTimeout(sp.Timeout), RetryCount: sp.RetryCount, RNRTimer: uint8(sp.RNRTimer), RNRRetry: sp.RNRRetry, Window: sp.Window, PauseWatchdog: sp.PauseWatchdog,
		Drain: sp.Drain, RxBuffer: int64(sp.RxBuffer), SourcePort: w.sourcePorts(sp.SourcePorts), Path: w.pathFinder(),
		EndpointName: func(e int32) string { return w.graph.Nodes[w.routes.Endpoints()[e].Node].Name },
		Rand:         w.rand, Sink: w.sinks[i], Names: w.names, Interval: s.Series.Interval, PauseLog: true}
	c.TTL, c.Account = uint8(sp.TTL), s.Diagnosis
	c.MaxRDAtomic, c.NoReadFeedback = sp.MaxRDAtomic, sp.ReadFeedback == "none"
	if c.Host, err = sp.Host.costs(); err != nil {
		return err
	}
	c.Setup = sp.Setup.build()
	switch sp.TimeoutPolicy {
	case "jitter":
		c.TimeoutPolicy = simnic.TimeoutJitter
	case "adaptive":
		c.TimeoutPolicy = simnic.TimeoutAdaptive
	}
	if sp.Recovery == "selective_repeat" {
		c.IRN = &simnic.IRN{BDP: sp.IRN.BDP.Value, RTOLow: sp.IRN.RTOLow, RTOHigh: sp.IRN.RTOHigh, Few: sp.IRN.Few}
	}
	if s.hpcc() {
		c.RetryCount = 7
	}
	if s.Series.Hosts {
		c.SeriesQPs = s.Series.MaxQPs / max(len(w.hosts), 1)
		if c.SeriesQPs == 0 && w.hostOf[i] < s.Series.MaxQPs {
			c.SeriesQPs = 1
		}
	}
	c.PriorityDSCP = w.priorityDSCP(sp)
	for p := range ports {
		pc, peer := w.port(i, p), w.peer(i, p)
		c.Ports = append(c.Ports, pc)
		c.PeerIDs = append(c.PeerIDs, w.names.ID(peer))
		e, ok := w.routes.EndpointAt(i, p)
		if !ok {
			return fmt.Errorf("host %s: port %d has no address", node.Name, p)
		}
		c.Endpoints = append(c.Endpoints, int32(e))
	}
	c.RxXoff = int64(sp.RxXoff.Value)
	if sp.RxXoff.Auto {
		need := int64(0)
		for p, pc := range c.Ports {
			q := ports[p]
			there := w.delay(i, q.In(w.graph))
			response := s.Switch.PFC.response(pc.RxRate)
			if peer := w.swSpec[q.Peer]; peer != nil {
				response = peer.PFC.response(pc.RxRate)
			}
			need += int64(fabric.Headroom(pc.RxRate, pc.Rate, there+pc.Delay, response, w.maxFrame, pc.Overhead, pc.PFCSize))
		}
		c.RxXoff = c.RxBuffer - need
	}
	if (sp.Drain > 0 || sp.Host.slows()) && c.RxXoff <= 0 {
		return fmt.Errorf("nic.rx_buffer: %s of host %s: the headroom of its link leaves nothing: want a larger buffer", sp.RxBuffer, node.Name)
	}
	w.nics[i] = simnic.New(w.engine, c, node.Pod)
	return nil
}

// priorityDSCP inverts the switches' map: data of another priority than the
// NIC's own is sent with the lowest DSCP that leads there.
func (w *world) priorityDSCP(sp *NICSpec) (m [8]uint8) {
	for k := range m {
		m[k] = uint8(sp.DSCP)
		for d := 63; d >= 0; d-- {
			if v, ok := w.spec.Switch.DSCPMap[d]; ok && v == k {
				m[k] = uint8(d)
			}
		}
	}
	if w.spec.hpcc() {
		for k := range m {
			m[k] = uint8(k)
		}
	}
	return m
}

// AckTimeout returns the local ACK timeout of a code, never for 0.
func AckTimeout(n int) sim.Duration { return verbs.AckTimeout(uint8(max(n, 0))) }

// RNRDelay returns how long a requester waits after an RNR NAK of a timer code.
func RNRDelay(code int) sim.Duration { return verbs.RNRTimer(uint8(code)) }

// sourcePorts returns the rule by which NICs choose UDP source ports.
func (w *world) sourcePorts(rule string) func(src, dst int32, n int) uint16 {
	switch rule {
	case "sequential":
		return func(_, _ int32, n int) uint16 { return uint16(10000 + n) }
	case "fixed":
		return func(int32, int32, int) uint16 { return 0xc000 }
	}
	return func(src, dst int32, n int) uint16 {
		h := sim.Mix64(sim.Mix64(w.spec.Seed^uint64(uint32(src))<<32^uint64(uint32(dst))) + uint64(n))
		return 0xc000 | uint16(h&0x3fff)
	}
}
