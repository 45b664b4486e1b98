package scenarios

import (
	"fmt"
	"slices"

	"rdmasim/fabric"
	"rdmasim/reports/metric"
	"rdmasim/sim"
)

// full reports whether a switch says more about its buffer than one pool and
// one number for everything, or maps that are not plain.
func (w *SwitchSpec) full() bool {
	b := &w.Buffer
	return b.Cell > 1 || b.Xon > 0 || b.HeadroomPool > 0 || len(b.Pools)+len(b.Groups)+len(b.Queues)+len(w.WRED) > 0 ||
		len(w.PFC.Ports)+len(w.Maps)+len(w.ColorMap) > 0 || len(w.PCPMap)+len(w.TCToQueue)+len(w.TCToGroup)+len(w.PFCToQueue)+len(w.PFCToGroup) > 0 ||
		w.Watchdog.Name != noWatchdog().Name || len(w.Watchdogs) > 0
}

// portAt is a port as rules see it.
type portAt struct {
	number int
	rate   sim.Rate
	peer   string
}

func (w *world) portAt(node, p int) portAt {
	q := w.ports.Of(node)[p]
	return portAt{p, q.Out(w.graph).Rate, w.graph.Nodes[q.Peer].Name}
}

func (p portAt) in(m *PortMatch) bool { return m.matches(p.number, p.rate, p.peer) }

// lossless returns the priorities under PFC on a port of a switch.
func (s *PFCSpec) lossless(p portAt) (mask uint8) {
	list := s.Priorities
	for i := range s.Ports {
		if p.in(&s.Ports[i].PortMatch) {
			list = s.Ports[i].Priorities
		}
	}
	for _, k := range list {
		mask |= 1 << k
	}
	return mask
}

// addMMU gives a switch its buffer manager in full.
func (w *world) addMMU(node int, sp *SwitchSpec, c *fabric.SwitchConfig) error {
	b := &sp.Buffer
	m := &fabric.MMUConfig{Size: int64(b.Size), Cell: int64(max(b.Cell, 1))}
	for d, color := range sp.ColorMap {
		m.Color[d] = fabric.Color(slices.Index([]string{"green", "yellow", "red"}, color))
	}
	for _, p := range b.Pools {
		m.Pools = append(m.Pools, fabric.PoolConfig{Name: p.Name, Size: int64(p.Size), Headroom: int64(p.Headroom)})
	}
	if len(b.Pools) == 0 {
		m.Pools = []fabric.PoolConfig{{Name: "buffer", Headroom: int64(b.HeadroomPool)}}
	}
	maps := w.newMaps(sp)
	c.MMU = m
	for p := range c.Ports {
		at, port := w.portAt(node, p), &c.Ports[p]
		port.Maps = maps.of(at)
		port.MMU = &fabric.PortMMU{}
		if err := w.groups(node, at, sp, port); err != nil {
			return err
		}
		if err := w.queues(at, sp, port); err != nil {
			return err
		}
		for g := range uint8(8) {
			if port.Maps.Asks[g]&port.Lossless != 0 {
				c.Lossless |= 1 << g
			}
		}
		sp.curves(at, port)
	}
	if len(b.Pools) == 0 {
		m.Pools[0].Size = sharedBytes(c)
		if m.Pools[0].Size <= 0 {
			return fmt.Errorf("switch.buffer.size: %s of switch %s: headroom and reserves of its %d ports need %s: want a larger buffer, less headroom or fewer lossless priorities",
				b.Size, c.Name, len(c.Ports), metric.Format(float64(b.Size-sim.Bytes(m.Pools[0].Size)), metric.Bytes))
		}
	}
	return nil
}

// sharedBytes returns what reserves and headroom leave of a memory with one pool.
func sharedBytes(c *fabric.SwitchConfig) int64 {
	m := c.MMU
	n := m.Size - m.Pools[0].Headroom
	for i := range c.Ports {
		p := &c.Ports[i]
		for g := range p.MMU.Groups {
			group := &p.MMU.Groups[g]
			n -= group.Reserve
			if m.Pools[0].Headroom == 0 {
				n -= group.Headroom
			}
		}
	}
	return n
}

// groups resolves the priority groups of a port: first what holds for the whole
// switch, then the rules.
func (w *world) groups(node int, at portAt, sp *SwitchSpec, port *fabric.SwitchPortConfig) error {
	b := &sp.Buffer
	for g := range 8 {
		lossless := port.Maps.Asks[g]&port.Lossless != 0
		rule := GroupRule{Threshold: autoThreshold()}
		if lossless {
			rule = sp.groupRule()
		}
		given := false
		for i := range b.Groups {
			if slices.Contains(b.Groups[i].Groups, g) && at.in(&b.Groups[i].PortMatch) {
				rule, given = b.Groups[i], true
			}
		}
		c := fabric.GroupConfig{Pool: max(b.pool(rule.Pool, "ingress"), 0), Reserve: int64(rule.Reserve), Xon: int64(rule.Xon), XonOffset: int64(rule.XonOffset)}
		switch {
		case !rule.Headroom.Auto:
			c.Headroom = int64(rule.Headroom.Value)
		case lossless:
			c.Headroom = inCells(w.headroom(node, at.number, sp, port.PortConfig), port.Overhead, max(b.Cell, 1))
		}
		alpha := sim.Ratio(0)
		if lossless || given {
			alpha = b.Alpha
		}
		var err error
		if c.Threshold, err = b.threshold(rule.Threshold, c.Pool, alpha); err != nil {
			return err
		}
		port.MMU.Groups[g] = c
	}
	return nil
}

// queues resolves the egress queues of a port.
func (w *world) queues(at portAt, sp *SwitchSpec, port *fabric.SwitchPortConfig) error {
	b := &sp.Buffer
	lossless := uint8(0)
	for k := range uint8(8) {
		if port.Lossless&(1<<k) != 0 {
			lossless |= port.Maps.Stops[k]
		}
	}
	for q := range 8 {
		rule := sp.queueRule()
		for i := range b.Queues {
			if slices.Contains(b.Queues[i].Queues, q) && at.in(&b.Queues[i].PortMatch) {
				rule = b.Queues[i]
			}
		}
		c := fabric.QueueConfig{Pool: max(b.pool(rule.Pool, "egress"), 0), Reserve: int64(rule.Reserve)}
		alpha := b.EgressAlpha
		if lossless&(1<<q) != 0 {
			alpha = 0
		}
		var err error
		if c.Threshold, err = b.threshold(rule.Threshold, c.Pool, alpha); err != nil {
			return err
		}
		port.MMU.Queues[q] = c
	}
	return nil
}

// threshold builds a threshold. Where the pool decides, alpha 0 means that there
// is none.
func (b *BufferSpec) threshold(m Member, pool int, alpha sim.Ratio) (fabric.Threshold, error) {
	if m.Name == fabric.ThresholdAuto && (pool >= len(b.Pools) || b.Pools[pool].Mode == "dynamic") {
		if alpha == 0 {
			return nil, nil
		}
		m = Member{"dynamic", fabric.DynamicParams{Alpha: alpha}}
	}
	e, err := fabric.Thresholds.Lookup(m.Name)
	if err != nil {
		return nil, err
	}
	return e.Build(m.Params)
}

// inCells returns what a number of bytes on the wire may take in whole cells
// at worst, over all sizes of frames.
func inCells(n, overhead, cell sim.Bytes) int64 {
	if cell <= 1 {
		return int64(n)
	}
	const smallest = 64 // IEEE 802.3, 3.2.8
	cells := (smallest + cell - 1) / cell
	most := float64(cells*cell) / float64(smallest+overhead)
	for k := cells; k <= cells+1; k++ {
		most = max(most, float64((k+1)*cell)/float64(k*cell+1+overhead))
	}
	whole := sim.Bytes(float64(n)*max(most, 1)) + cell
	return int64((whole + cell - 1) / cell * cell)
}

// curves gives the queues of a port their WRED: that of ecn, or of the rules.
func (w *SwitchSpec) curves(at portAt, port *fabric.SwitchPortConfig) {
	for q := range port.ECN {
		port.MMU.Queues[q].WRED = port.ECN[q].WRED()
	}
	if len(w.WRED) > 0 { // ports of other rules keep what they share
		own := *port.ECN
		port.ECN = &own
	}
	for i := range w.WRED {
		r := &w.WRED[i]
		if !at.in(&r.PortMatch) {
			continue
		}
		c := &fabric.WREDConfig{Spare: r.NonECT == "pass", Marks: wredColors[r.ECN]}
		if r.MarkAt == "enqueue" {
			c.At = fabric.MarkAtEnqueue
		}
		for k, v := range []CurveSpec{r.Green, r.Yellow, r.Red} {
			c.Curves[k] = fabric.Curve{On: v.Set, Min: int64(v.Min), Max: int64(v.Max), P: float64(v.Probability), KeepP: r.Above == "probability"}
		}
		for _, q := range r.Queues {
			port.MMU.Queues[q].WRED = c
			port.ECN[q] = fabric.ECNConfig{On: c.Marks != [3]bool{}, At: c.At}
		}
	}
}

// wredColors says which of green, yellow and red a word of WREDRule.ECN names.
var wredColors = map[string][3]bool{
	"none": {}, "green": {true, false, false}, "yellow": {false, true, false}, "red": {false, false, true},
	"green_yellow": {true, true, false}, "green_red": {true, false, true}, "yellow_red": {false, true, true}, "all": {true, true, true},
}

// portMaps are the maps of a switch: its own and those of its rules.
type portMaps struct {
	own   *fabric.Maps
	rules []*fabric.Maps
	spec  *SwitchSpec
}

func (w *world) newMaps(sp *SwitchSpec) *portMaps {
	m := &portMaps{own: sp.MapSpec.maps(), spec: sp}
	for i := range sp.Maps {
		m.rules = append(m.rules, sp.Maps[i].MapSpec.maps())
	}
	return m
}

// of returns the maps of a port.
func (m *portMaps) of(at portAt) *fabric.Maps {
	found := m.own
	for i, r := range m.rules {
		if at.in(&m.spec.Maps[i].PortMatch) {
			found = r
		}
	}
	return found
}

func (s *MapSpec) maps() *fabric.Maps {
	m := fabric.PlainMaps()
	if m.TrustPCP = s.Trust == "pcp"; m.TrustPCP {
		for k, v := range s.PCPMap {
			m.Class[k] = uint8(v)
		}
	} else {
		for d := range m.Class {
			m.Class[d] = uint8(s.DSCPMap[d])
		}
	}
	for k, v := range s.TCToQueue {
		m.Queue[k] = uint8(v)
	}
	for k, v := range s.TCToGroup {
		m.Group[k] = uint8(v)
	}
	for k, v := range s.PFCToQueue {
		m.Stops[k] = 1 << v
	}
	m.Asks = [8]uint8{}
	for k := range 8 {
		g, ok := s.PFCToGroup[k]
		if !ok {
			g = k
		}
		m.Asks[g] |= 1 << k
	}
	return &m
}

// watchdog returns the watchdog of a port.
func (w *SwitchSpec) watchdog(at portAt) (fabric.WatchdogConfig, error) {
	m := w.Watchdog
	for i := range w.Watchdogs {
		if at.in(&w.Watchdogs[i].PortMatch) {
			m = w.Watchdogs[i].Watchdog
		}
	}
	e, err := fabric.Watchdogs.Lookup(m.Name)
	if err != nil {
		return fabric.WatchdogConfig{}, err
	}
	return e.Build(m.Params)
}

// schedulerOf returns the scheduler of a port, nil where it is that of the
// switch: strict queues, and weights for the others.
func (w *SwitchSpec) schedulerOf(at portAt) *fabric.SchedulerConfig {
	s, own := &w.Scheduler, len(w.Scheduler.Groups)+len(w.Scheduler.Shape)+len(w.Scheduler.Floor) > 0 || w.Scheduler.Port.Rate > 0
	for i := range w.Schedulers {
		if at.in(&w.Schedulers[i].PortMatch) {
			s, own = &w.Schedulers[i].SchedulerSpec, true
		}
	}
	if !own {
		return nil
	}
	c := &fabric.SchedulerConfig{Quantum: int64(s.Quantum), Port: fabric.Shape{Rate: s.Port.Rate, Burst: s.Port.Burst}}
	for _, q := range s.Strict {
		c.Strict |= 1 << q
	}
	for q := range c.Weights {
		c.Weights[q] = int64(max(s.Weights[q], 1))
		c.Shape[q] = fabric.Shape{Rate: s.Shape[q].Rate, Burst: s.Shape[q].Burst}
		c.Floor[q] = fabric.Shape{Rate: s.Floor[q].Rate, Burst: s.Floor[q].Burst}
	}
	rest, share := uint8(0xff)&^c.Strict, sim.Ratio(1)
	for _, g := range s.Groups {
		group := fabric.ETSGroup{Share: fixed(float64(g.Share))}
		for _, q := range g.Queues {
			group.Queues |= 1 << q
		}
		rest &^= group.Queues
		share -= g.Share
		c.Groups = append(c.Groups, group)
	}
	if len(c.Groups) > 0 && rest != 0 { // queues of no group share what is left
		c.Groups = append(c.Groups, fabric.ETSGroup{Queues: rest, Share: fixed(max(float64(share), minShare))})
	}
	return c
}
