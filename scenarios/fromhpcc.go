package scenarios

import (
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"rdmasim/congestion"
	"rdmasim/fabric/topology"
	"rdmasim/scenarios/hpcc"
	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Sizes of frames in the HPCC ns-3 model: a data frame is 14 + 20 + 8 + 6 bytes
// around its payload, an ACK is padded to 60, a pause frame has 43.
const (
	hpccHeader = 48
	hpccAck    = 60
	hpccPFC    = 43
)

// FromHPCC turns a case of the HPCC ns-3 model into a scenario. With compat
// hpcc the run follows that model's rules; otherwise the same fabric, traffic,
// thresholds and parameters run on the true model: RoCEv2 frames, picoseconds,
// CNP packets, timed pauses, computed headroom. file is the path of config.txt.
func FromHPCC(c *hpcc.Case, file, compat string) (*Spec, error) {
	if err := c.Config.Require(hpcc.NoCC, hpcc.DCQCN); err != nil {
		return nil, err
	}
	s := Defaults()
	s.Name = hpccName(file)
	s.Description = "read from the HPCC ns-3 configuration " + filepath.Base(file)
	s.Compat = compat
	s.UntilDone, s.Duration, s.MaxDuration = true, 0, c.Config.StopTime
	s.Topology = Member{"custom", hpccTopology(c)}
	if compat == CompatHPCC {
		s.Switch = hpccSwitch(s.Switch, c)
		s.NIC = hpccNIC(s.NIC, c)
	} else {
		trueSwitch(&s.Switch, c)
		s.NIC.Frame.Payload, s.NIC.Frame.Set, s.NIC.Frame.Overhead = c.Config.Payload, true, AutoValue[sim.Bytes]()
		s.NIC.DSCP = s.NIC.Priority
	}
	if err := hpccCongestion(&s.NIC, c.Config, compat); err != nil {
		return nil, err
	}
	if c.Config.HasWindow {
		hpccWindow(&s, c)
	}
	e, err := workload.Workloads.Lookup("flows")
	if err != nil {
		return nil, err
	}
	flows := e.Defaults.(workload.FlowsParams)
	for i, f := range c.Flows {
		flows.List = append(flows.List, workload.Flow{From: c.Topology.Name(f.Src), To: c.Topology.Name(f.Dst), Size: f.Size, At: f.ModelTime,
			Priority: workload.PriorityOf(f.PG), SrcPort: f.SrcPort, DstPort: f.DstPort, Tag: strconv.Itoa(i)})
	}
	s.Traffic = []TrafficSpec{{Member: Member{"flows", flows}}}
	s.Warmup = hpccIdle(c)
	s.hpccCase = c
	return &s, nil
}

// hpccIdle is the time before the first flow, by convention of that model's
// examples two seconds: with them in, every mean over time would be one of
// silence.
func hpccIdle(c *hpcc.Case) sim.Duration {
	first := c.Config.StopTime
	for _, f := range c.Flows {
		first = min(first, f.ModelTime)
	}
	if first >= c.Config.StopTime {
		return 0 // nothing is sent before the end
	}
	return first
}

// hpccName names a run after the directory of its configuration.
func hpccName(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if dir := filepath.Base(filepath.Dir(file)); name == "config" && len(dir) > 1 {
		return dir
	}
	return name
}

func hpccTopology(c *hpcc.Case) topology.CustomParams {
	e, _ := topology.Topologies.Lookup("custom")
	p := e.Defaults.(topology.CustomParams)
	p.Name, p.Nodes, p.Links = "hpcc", nil, nil
	for i := range c.Topology.Nodes {
		kind := "host"
		if c.Topology.IsSwitch(i) {
			kind = "switch"
		}
		p.Nodes = append(p.Nodes, topology.CustomNode{Name: c.Topology.Name(i), Kind: kind})
	}
	for _, l := range c.Topology.Links {
		loss := l.Loss
		if loss == 0 {
			loss = c.Config.ErrorRate
		}
		p.Links = append(p.Links, topology.CustomLink{A: c.Topology.Name(l.A), B: c.Topology.Name(l.B), Rate: l.Rate, Delay: l.Delay, Loss: sim.Ratio(loss)})
	}
	return p
}

// hpccSwitch sets the rules of that model's switch: classes 1 to 7 are
// lossless and share ports packet by packet, class 0 goes first.
func hpccSwitch(sw SwitchSpec, c *hpcc.Case) SwitchSpec {
	sw.Latency, sw.Mode = 0, "store_and_forward"
	sw.Buffer = BufferSpec{Size: c.Config.Buffer, Alpha: 1.0 / 8, Reserve: HPCCReserve, XonOffset: HPCCXonOffset, EgressAlpha: 1, Headroom: Auto[sim.Bytes]{Auto: true}}
	sw.PFC = PFCSpec{Mode: "pfc", Priorities: []int{1, 2, 3, 4, 5, 6, 7}, Quanta: 65535}
	sw.Scheduler = SchedulerSpec{Strict: []int{0}}
	sw.Balance = BalanceSpec{Method: "ecmp", Hash: "hpcc", Same: true}
	sw.Trust, sw.DSCPMap = "dscp", map[int]int{}
	for k := range 8 {
		sw.DSCPMap[k] = k
	}
	hpccMarking(&sw, c)
	return sw
}

// hpccMarking gives every class the marking curve of its port's rate.
func hpccMarking(sw *SwitchSpec, c *hpcc.Case) {
	sw.ECN, sw.ECNByRate = nil, nil
	if !c.Config.EnableQCN {
		return
	}
	for _, e := range c.Config.ECN {
		curve := ECNSpec{Kmin: e.Kmin, Kmax: e.Kmax, Pmax: sim.Ratio(e.Pmax), MarkAt: "dequeue", Above: "mark_all"}
		if e.Pmax == 0 { // nothing is marked up to Kmax, and everything beyond
			curve.Kmin, curve.Pmax = e.Kmax, 1
		}
		m := map[int]ECNSpec{}
		for k := 1; k < 8; k++ {
			m[k] = curve
		}
		sw.ECNByRate = append(sw.ECNByRate, ECNRateSpec{Rate: e.Rate, ECN: m})
	}
}

// trueSwitch keeps the defaults of a switch and takes buffer, thresholds and
// the classes in use from the configuration. That model has no pipeline latency.
func trueSwitch(sw *SwitchSpec, c *hpcc.Case) {
	sw.Latency = 0
	sw.Buffer.Size = c.Config.Buffer
	sw.PFC.Priorities = nil
	sw.DSCPMap = map[int]int{48: 6}
	for _, f := range c.Flows {
		if !slices.Contains(sw.PFC.Priorities, f.PG) {
			sw.PFC.Priorities = append(sw.PFC.Priorities, f.PG)
		}
	}
	slices.Sort(sw.PFC.Priorities)
	for k := range 8 {
		sw.DSCPMap[k] = k
	}
	hpccMarking(sw, c)
}

func hpccNIC(n NICSpec, c *hpcc.Case) NICSpec {
	n.Frame = FrameSpec{Payload: c.Config.Payload, Header: hpccHeader, Ack: hpccAck, CNP: hpccAck, PFC: hpccPFC, Overhead: Auto[sim.Bytes]{}, Set: true}
	n.Priority, n.DSCP, n.AckPriority, n.AckDSCP = 3, 3, -1, -1
	if c.Config.AckHighPriority {
		n.AckPriority = 0
	}
	n.AckEvery, n.Timeout, n.NackInterval = 1, 0, 500*sim.Microsecond
	n.Recovery = "go_back_n"
	if c.Config.BackToZero {
		n.Recovery = "go_back_0"
	}
	n.Window, n.Drain = 0, 0
	n.CNPPriority, n.CNPDSCP = 0, 0
	n.SourcePorts, n.Encapsulation = "sequential", "none"
	return n
}

// hpccCongestion sets the algorithm; on the true model marks come back as CNPs,
// at most one per RATE_DECREASE_INTERVAL.
func hpccCongestion(n *NICSpec, c *hpcc.Config, compat string) error {
	name := "dcqcn"
	if c.CCMode == hpcc.NoCC {
		name = "none"
	}
	e, err := congestion.Algorithms.Lookup(name)
	if err != nil {
		return err
	}
	n.Congestion = Member{name, e.Defaults}
	if c.CCMode == hpcc.NoCC {
		return nil
	}
	p := e.Presets["hpcc"].(congestion.DCQCNParams)
	p.AlphaTimer, p.CutInterval, p.RateTimer = c.AlphaResumeInterval, c.RateDecreaseInterval, c.RPTimer
	p.G, p.F, p.RAI, p.RHAI, p.MinRate, p.Clamp = sim.Ratio(c.EWMAGain), c.FastRecoveryTimes, c.RateAI, c.RateHAI, c.MinRate, c.ClampTargetRate
	if compat != CompatHPCC {
		p.Feedback, p.CNPInterval, p.IntegerRates = congestion.FeedbackCNP, c.RateDecreaseInterval, false
	}
	n.Congestion.Params = p
	return nil
}

// hpccWindow bounds what is unacknowledged by the bandwidth-delay product, the
// largest of all pairs where GLOBAL_T is set.
func hpccWindow(s *Spec, c *hpcc.Case) {
	_, bdp := hpcc.NewPaths(c.Topology, c.Config.Payload).Largest()
	s.NIC.Window = bdp
	if p, ok := s.NIC.Congestion.Params.(congestion.DCQCNParams); ok && c.Config.VarWindow {
		p.VariableWindow = bdp
		s.NIC.Window = 0
		s.NIC.Congestion.Params = p
	}
}

// fctRows collects what the FCT file of that model holds.
func (w *world) fctRows(f *trace.Flow) {
	i, err := strconv.Atoi(f.Tag)
	c := w.spec.hpccCase
	if err != nil || f.End < 0 || i < 0 || i >= len(c.Flows) {
		return
	}
	l := &c.Flows[i]
	ns := sim.Time(sim.Nanosecond)
	w.fct = append(w.fct, hpcc.FCT{SrcIP: hpcc.IP(l.Src), DstIP: hpcc.IP(l.Dst), SrcPort: l.SrcPort, DstPort: l.DstPort, Size: l.Size,
		Start: f.Start / ns * ns, FCT: (f.End - f.Start).Sub(0) / sim.Nanosecond * sim.Nanosecond})
}

// fctFile writes fct.txt in the order of completion.
func (w *world) fctFile(out *trace.Writer) error {
	c := w.spec.hpccCase
	sort.SliceStable(w.fct, func(i, j int) bool { return w.fct[i].Start.Add(w.fct[i].FCT) < w.fct[j].Start.Add(w.fct[j].FCT) })
	hpcc.NewPaths(c.Topology, c.Config.Payload).FillStandalone(w.fct)
	var b strings.Builder
	if err := hpcc.WriteFCT(&b, w.fct); err != nil {
		return err
	}
	return out.File("fct.txt", []byte(b.String()))
}
