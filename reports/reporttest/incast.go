// Package reporttest makes run directories for tests of reports: not results
// of a simulation, but rows of the same shape, so that reports are tested
// without a model. It is used by tests only.
package reporttest

import (
	"fmt"
	"math"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// bin is the length of a bin of all series made here.
const bin = 10 * sim.Microsecond

// run gathers the rows of a run directory.
type run struct {
	names    *trace.Names
	points   []trace.Point
	events   []trace.Event
	flows    []trace.Flow
	counters []trace.Counter
	topo     trace.TopologyFile
	last     map[string]float64
	seq      uint64
}

func newRun() *run { return &run{names: trace.NewNames(), last: map[string]float64{}} }

// point adds a bin unless it repeats the one before it.
func (r *run) point(t sim.Time, object, metric string, mean, lo, hi float64) {
	key := object + " " + metric
	if v, ok := r.last[key]; ok && v == mean && lo == hi || !ok && mean == 0 && hi == 0 {
		return
	}
	r.last[key] = mean
	r.points = append(r.points, trace.Point{Time: t, Object: r.names.ID(object), Metric: metric, Mean: mean, Min: lo, Max: hi})
}

func (r *run) event(e trace.Event) {
	e.Seq = r.seq
	r.seq++
	r.events = append(r.events, e)
}

func (r *run) count(object string, prio int8, name string, v float64) {
	r.counters = append(r.counters, trace.Counter{Object: object, Prio: prio, Name: name, Value: v})
}

// write makes the run directory.
func (r *run) write(dir string, m trace.Manifest, end trace.ManifestEnd, resolved any, extra map[string]any) error {
	if m.Mode == "" {
		m.Mode = trace.ModeSimulated
	}
	m.Versions = map[string]string{"rdmasim": "0.1.0", "go": "go1.26"}
	w, err := trace.Create(dir, m, r.names)
	if err != nil {
		return err
	}
	if err := w.Topology(r.topo); err != nil {
		return err
	}
	if err := w.Write(r.points, r.events, r.flows); err != nil {
		return err
	}
	w.Counters(r.counters)
	if err := w.JSON(trace.FileResolved, resolved); err != nil {
		return err
	}
	if err := w.File(trace.FileScenario, []byte("# Eight senders, one receiver.\nname: "+m.Name+"\nseed: 1\n")); err != nil {
		return err
	}
	for name, v := range extra {
		if err := w.JSON(name, v); err != nil {
			return err
		}
	}
	_, err = w.Finish(end)
	return err
}

// resolved is resolved.json of the runs made here.
func resolved(kmin, kmax string) map[string]any {
	return map[string]any{
		"series": map[string]any{"interval": bin.String()},
		"switch": map[string]any{
			"buffer": map[string]any{"size": "32MiB", "alpha": 0.125},
			"pfc":    map[string]any{"priorities": []int{3}},
			"ecn":    map[string]any{"3": map[string]any{"kmin": kmin, "kmax": kmax, "pmax": 0.2}},
		},
		"nic": map[string]any{"path_mtu": 4096, "congestion": map[string]any{"dcqcn": map[string]any{"preset": "connectx"}}},
	}
}

// leafSpine appends a two-tier fabric; hosts hang on port 0 and up of a leaf.
func (r *run) leafSpine(leaves, hosts, spines int, rate int64) {
	t := &r.topo
	t.Name = "leaf_spine"
	for h := range leaves * hosts {
		t.Nodes = append(t.Nodes, trace.TopologyNode{Name: fmt.Sprintf("h%d", h), Kind: "host", Pod: -1})
	}
	for l := range leaves {
		t.Nodes = append(t.Nodes, trace.TopologyNode{Name: fmt.Sprintf("leaf%d", l), Kind: "switch", Tier: 1, Pod: -1})
	}
	for s := range spines {
		t.Nodes = append(t.Nodes, trace.TopologyNode{Name: fmt.Sprintf("spine%d", s), Kind: "switch", Tier: 2, Pod: -1})
	}
	link := func(a, ap, b, bp int) {
		t.Links = append(t.Links, trace.TopologyLink{A: a, APort: ap, B: b, BPort: bp, RateAB: rate, RateBA: rate, DelayABs: 1e-6, DelayBAs: 1e-6})
	}
	for l := range leaves {
		for h := range hosts {
			link(l*hosts+h, 0, leaves*hosts+l, h)
		}
		for s := range spines {
			link(leaves*hosts+l, hosts+s, leaves*hosts+leaves+s, l)
		}
	}
}

// Options vary the incast.
type Options struct {
	Name       string
	Kmin, Kmax sim.Bytes // marking thresholds; 0 = 100 KB and 400 KB
	Partial    bool
	Mode       string // "" = simulated
	Ping       bool   // also ping_mesh messages
	Fault      bool   // a lossy link for a while
}

// sender is one reaction point of the incast.
type sender struct {
	host             string
	leaf, port       int
	rate, target, al float64
	left             float64
	start            sim.Time
	paused           bool
	since            sim.Time
}

// Incast writes a run of eight senders to one receiver for 3 ms: a queue that
// swings around its marking thresholds, marks, CNPs, and pauses at the start.
func Incast(dir string, o Options) error {
	if o.Name == "" {
		o.Name = "incast-8to1"
	}
	if o.Kmin == 0 {
		o.Kmin, o.Kmax = 100*sim.KB, 400*sim.KB
	}
	r := newRun()
	r.leafSpine(4, 4, 2, 100e9)
	m := incast{run: r, o: o, rng: sim.NewRand(1, o.Name), end: sim.Time(3 * sim.Millisecond)}
	for i := range 8 {
		h := 4 + i
		m.senders = append(m.senders, &sender{host: fmt.Sprintf("h%d", h), leaf: h / 4, port: h % 4, rate: 100e9, target: 100e9, al: 1, left: 1e6})
	}
	for t := sim.Time(0); t < m.end; t = t.Add(bin) {
		m.step(t)
	}
	m.totals()
	end := trace.ManifestEnd{Simulated: m.end}
	if o.Partial {
		end.Partial, end.Reason = true, "interrupted at 60 % of 5 ms"
	}
	return r.write(dir, trace.Manifest{Name: o.Name, Mode: o.Mode, Seed: 1, ScenarioHash: "0a1b2c", Description: "Eight senders, one receiver: ECN should hold the queue before PFC has to."},
		end, resolved(o.Kmin.String(), o.Kmax.String()), nil)
}

// incast is a fluid caricature of DCQCN around one bottleneck.
type incast struct {
	*run
	o       Options
	rng     *sim.Rand
	end     sim.Time
	senders []*sender
	queue   float64
	ids     uint64

	marked, sent, cnps         float64
	queueMax, closest, ingress float64
	area                       float64
	paused                     map[string]float64
	episodes                   map[string]int
	longest                    map[string]float64
	tx                         map[string]float64
}

const (
	lineRate = 100e9
	xoffSize = 180e3
	payload  = 4096
)

func (m *incast) step(t sim.Time) {
	if m.tx == nil {
		m.tx, m.paused, m.episodes, m.longest = map[string]float64{}, map[string]float64{}, map[string]int{}, map[string]float64{}
	}
	dt := bin.Seconds()
	in := 0.0
	for _, s := range m.senders {
		if !s.paused {
			in += s.rate * (0.97 + 0.06*m.rng.Float64())
		}
	}
	before := m.queue
	m.queue = max(0, m.queue+(in-lineRate)*dt/8)
	out := min(lineRate, in+before*8/dt)
	p := min(1, max(0, (m.queue-float64(m.o.Kmin))/float64(m.o.Kmax-m.o.Kmin)*0.2))
	if m.queue > float64(m.o.Kmax) {
		p = 1
	}
	q := "leaf0:0/q3"
	m.point(t, q, trace.SeriesQueueBytes, (before+m.queue)/2, min(before, m.queue)*0.9, max(before, m.queue)*1.05)
	m.point(t, "leaf0:4/q3", trace.SeriesQueueBytes, m.queue/20, 0, m.queue/10)
	m.queueMax = max(m.queueMax, m.queue*1.05)
	m.area += m.queue * dt
	pps := out / 8 / payload
	m.point(t, q, trace.SeriesMarked, math.Round(pps*p), math.Round(pps*p), math.Round(pps*p))
	m.marked += pps * p * dt
	m.sent += pps * dt
	m.port(t, "leaf0:0", out)
	m.ingressSide(t, in)
	cnp := 0.0
	for _, s := range m.senders {
		cnp += m.sender(t, s, p, out/max(in, 1))
	}
	m.point(t, "h0", trace.SeriesCNP, cnp/dt, cnp/dt, cnp/dt)
	m.cnps += cnp
	m.pings(t)
}

// port notes what a port transmitted during a bin.
func (m *incast) port(t sim.Time, port string, bps float64) {
	v := math.Round(min(bps, lineRate))
	m.point(t, port, trace.SeriesThroughput, v, v, v)
	m.tx[port] += v * bin.Seconds() / 8
}

// ingressSide moves the occupancy of the two uplinks of leaf0 and pauses them.
func (m *incast) ingressSide(t sim.Time, in float64) {
	for k, port := range []string{"leaf0:4", "leaf0:5"} {
		use := m.queue * (0.55 - 0.1*float64(k))
		xoff := max(xoffSize, 620e3-m.queue*0.8)
		m.point(t, port+"/pg3", trace.SeriesIngressBytes, use, use*0.9, use*1.05)
		m.point(t, port+"/pg3", trace.SeriesThreshold, xoff, xoff, xoff)
		m.closest = max(m.closest, use*1.05/xoff)
		m.ingress = max(m.ingress, use*1.05)
		for _, s := range m.senders {
			if s.leaf%2 == k {
				m.pause(t, s, use > xoff)
			}
		}
		m.port(t, fmt.Sprintf("spine%d:0", k), in/2)
	}
}

func (m *incast) pause(t sim.Time, s *sender, on bool) {
	port, peer := s.host+":0", fmt.Sprintf("leaf%d:%d", s.leaf, s.port)
	at := t.Add(sim.Duration(m.rng.IntN(int(bin))))
	switch {
	case on && !s.paused:
		m.event(trace.Event{Time: at, Kind: trace.EventPauseOn, Object: m.names.ID(port), Peer: m.names.ID(peer), Prio: 3})
		s.since = at
		m.episodes[port]++
	case !on && s.paused:
		d := at.Sub(s.since).Seconds()
		m.event(trace.Event{Time: at, Kind: trace.EventPauseOff, Object: m.names.ID(port), Peer: m.names.ID(peer), Prio: 3, Value: d})
		m.paused[port] += d
		m.longest[port] = max(m.longest[port], d)
	}
	s.paused = on
}

// sender moves one reaction point and its messages; it returns its CNPs.
func (m *incast) sender(t sim.Time, s *sender, p, served float64) (cnps float64) {
	qp := s.host + "/qp1"
	if m.rng.Float64() < min(1, p*6) {
		s.target, s.rate = s.rate, max(1e9, s.rate*(1-s.al/2))
		s.al, cnps = s.al*0.94+0.06, 1
	} else {
		s.al *= 0.985
		s.target = min(lineRate, s.target+9e8)
		s.rate = (s.rate + s.target) / 2
	}
	m.point(t, qp, trace.SeriesRate, math.Round(s.rate), math.Round(s.rate), math.Round(s.rate))
	m.point(t, qp, trace.SeriesAlpha, s.al, s.al, s.al)
	got := s.rate * min(served, 1)
	if s.paused {
		got = 0
	}
	m.point(t, qp, trace.SeriesGoodput, math.Round(got*0.96), math.Round(got*0.96), math.Round(got*0.96))
	m.port(t, s.host+":0", got)
	m.port(t, fmt.Sprintf("leaf%d:%d", s.leaf, 4+s.port%2), got*2)
	s.left -= got * bin.Seconds() / 8
	for s.left <= 0 {
		m.message(s, t.Add(bin), trace.StatusSuccess)
	}
	if t.Add(bin) >= m.end {
		m.message(s, -1, trace.StatusUnfinished)
	}
	return cnps
}

func (m *incast) message(s *sender, end sim.Time, status string) {
	m.ids++
	const size = 1e6
	f := trace.Flow{ID: m.ids, Src: s.host, Dst: "h0", QP: 1, Workload: "incast", Verb: "WRITE", Bytes: size, Start: s.start, End: end,
		Ideal: sim.Rate(lineRate).TxTime(1_060_000) + 9*sim.Microsecond, Delivered: size, Status: status}
	if end < 0 {
		f.Delivered = sim.Bytes(max(0, size-s.left))
	}
	m.flows = append(m.flows, f)
	s.start, s.left = end, s.left+size
}

func (m *incast) pings(t sim.Time) {
	if !m.o.Ping {
		return
	}
	for k := range 4 {
		m.ids++
		d := 12*sim.Microsecond + sim.Duration(m.queue*80*(0.4+0.6*m.rng.Float64()))
		if t.Add(d) >= m.end {
			continue
		}
		m.flows = append(m.flows, trace.Flow{ID: m.ids, Src: fmt.Sprintf("h%d", 12+k), Dst: "h0", QP: 9, Workload: "ping_mesh", Verb: "SEND",
			Bytes: 64, Start: t, End: t.Add(d), Ideal: 11 * sim.Microsecond, Delivered: 64, Status: trace.StatusSuccess})
	}
}

func (m *incast) totals() {
	for _, n := range m.topo.Nodes {
		if n.Kind == "switch" {
			m.count(n.Name, -1, trace.CountBufferMax, m.queueMax/float64(1+n.Tier))
			m.count(n.Name, -1, trace.CountBufferSize, 32<<20)
		}
	}
	for _, l := range m.topo.Links {
		for _, port := range []string{fmt.Sprintf("%s:%d", m.topo.Nodes[l.A].Name, l.APort), fmt.Sprintf("%s:%d", m.topo.Nodes[l.B].Name, l.BPort)} {
			m.portTotals(port)
		}
	}
	m.count("fabric", -1, trace.CountPacketHops, math.Round(m.sent*4))
	m.count("h0", -1, trace.CountDataDelivered, math.Round(m.sent))
	m.count("h0", -1, trace.CountCNPSent, math.Round(m.cnps/8)*8)
	m.count("h0", -1, trace.CountPayloadDelivered, math.Round(m.sent)*payload)
	for _, s := range m.senders {
		m.count(s.host, -1, trace.CountDataSent, math.Round(m.sent/8))
		m.count(s.host, -1, trace.CountRetransmitted, 0)
		m.count(s.host, -1, trace.CountCNPHandled, math.Round(m.cnps/8))
	}
	m.count("leaf0:0/q3", -1, trace.CountECNEligible, math.Round(m.sent))
	m.count("leaf0:0/q3", -1, trace.CountECNMarked, math.Round(m.marked))
	if m.o.Fault {
		m.count("leaf0:4", 3, trace.CountDropFault, 3)
		m.event(trace.Event{Time: sim.Time(sim.Millisecond), Kind: trace.EventFault, Object: m.names.ID("leaf0:4"), Prio: -1, Cause: "loss on"})
		m.event(trace.Event{Time: sim.Time(2 * sim.Millisecond), Kind: trace.EventFault, Object: m.names.ID("leaf0:4"), Prio: -1, Cause: "loss off"})
		for k := range 3 {
			m.event(trace.Event{Time: sim.Time(sim.Millisecond).Add(sim.Duration(k+1) * 200 * sim.Microsecond), Kind: trace.EventDrop, Object: m.names.ID("leaf0:4"), Prio: 3, Value: 4170, Cause: "fault"})
		}
	}
}

func (m *incast) portTotals(port string) {
	m.count(port, -1, trace.CountTxBytes, math.Round(m.tx[port]))
	m.count(port, -1, trace.CountTxPackets, math.Round(m.tx[port]/4170))
	m.count(port, 3, trace.CountDropLossless, 0)
	m.count(port, 3, trace.CountPauseEpisodes, float64(m.episodes[port]))
	m.count(port, 3, trace.CountPausedSeconds, m.paused[port])
	m.count(port, 3, trace.CountPauseLongest, m.longest[port])
	if port[0] == 'h' {
		return
	}
	share := 0.02
	switch port {
	case "leaf0:4":
		share = 1
	case "leaf0:5":
		share = 0.82
	}
	m.count(port, 3, trace.CountIngressMax, math.Round(m.ingress*share))
	m.count(port, 3, trace.CountClosestToXoff, m.closest*share)
	m.count(port, 3, trace.CountXoffMinimum, xoffSize)
	m.count(port, 3, trace.CountHeadroomMax, math.Round(41e3*share))
	m.count(port, 3, trace.CountHeadroomSize, 96e3)
	if port == "leaf0:0" {
		m.count("leaf0:0/q3", -1, trace.CountQueueMax, math.Round(m.queueMax))
		m.count("leaf0:0/q3", -1, trace.CountQueueP99, math.Round(m.queueMax*0.8))
		m.count("leaf0:0/q3", -1, trace.CountQueueIntegral, m.area)
	}
	if share > 0.5 {
		m.count(port, 3, trace.CountPFCXoffTx, 7)
		m.count(port, 3, trace.CountPFCXonTx, 7)
		m.count(port, 3, trace.CountPFCRefreshTx, 2)
	}
}
