package scenarios

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"rdmasim/fabric"
	"rdmasim/fabric/switchconf"
	"rdmasim/fabric/topology"
	"rdmasim/sim"
	"rdmasim/verbs/simnic"
)

// ExportSwitch returns the configuration of one switch of a scenario, in the
// vendor-neutral form, with what it does not have. name is the name of the
// switch; "" is the first one, if all are configured alike. asic is the short
// name of a chip, "" where it is not known.
func ExportSwitch(s *Spec, name, asic string) (*switchconf.Switch, []switchconf.Lack, error) {
	x, err := exportSwitch(s, name, asic)
	if err != nil {
		return nil, nil, err
	}
	return x.sw, x.lacks, nil
}

// Export writes one switch of a scenario in a format. Where the scenario names
// the files that the switch is configured by, it writes what differs from them,
// if the format can.
func Export(s *Spec, format, name, asic string) (*switchconf.Rendered, error) {
	x, err := exportSwitch(s, name, asic)
	if err != nil {
		return nil, err
	}
	return switchconf.RenderOver(format, x.base, x.sw, x.lacks...)
}

// ExportChange writes, in a format, what turns the switch of one scenario into
// that of another, with the way back. The switches are of the same name; with
// name "", each is the first of its scenario.
func ExportChange(from, to *Spec, format, name, asic string) (*switchconf.Rendered, error) {
	a, err := exportSwitch(from, name, asic)
	if err != nil {
		return nil, fmt.Errorf("the switch as it is: %w", err)
	}
	b, err := exportSwitch(to, name, asic)
	if err != nil {
		return nil, err
	}
	if len(a.sw.Ports) != len(b.sw.Ports) {
		return nil, fmt.Errorf("the switch as it is has %d ports, and %d in the other scenario: want two scenarios of one switch", len(a.sw.Ports), len(b.sw.Ports))
	}
	if a.base != nil { // files of SONiC that are all of the switch have keys of their own
		if r, err := switchconf.RenderOver(format, a.base, a.sw); err == nil && r.Unchanged() {
			return switchconf.RenderOver(format, a.base, b.sw, b.lacks...)
		}
	}
	a.sw.Hostname = switchconf.Of(from.Name)
	return switchconf.RenderChange(format, a.sw, b.sw, b.lacks...)
}

func exportSwitch(s *Spec, name, asic string) (*exporter, error) {
	g, err := s.graph()
	if err != nil {
		return nil, err
	}
	n := len(g.Nodes)
	w := &world{spec: s, graph: g, ports: g.Ports(), swSpec: make([]*SwitchSpec, n), nicSpec: make([]*NICSpec, n), sizes: make([]simnic.FrameSizes, n), hostOf: make([]int, n)}
	for i := range g.Nodes {
		if err := w.resolve(i); err != nil {
			return nil, err
		}
	}
	node, err := w.exported(name)
	if err != nil {
		return nil, err
	}
	x := &exporter{w: w, node: node, sp: w.swSpec[node], at: "switch", sw: &switchconf.Switch{Hostname: switchconf.Of(g.Nodes[node].Name)}}
	for k := range s.Switches {
		if x.sp == &s.Switches[k].Switch {
			x.at = "switches." + strconv.Itoa(k)
		}
	}
	if read := x.sp.Sonic.read; read != nil { // files of SONiC say what ports are called
		x.base = read.Switch
		if x.basePorts, err = sonicPorts(read.Switch, x.sp.Sonic.Ports); err != nil {
			return nil, err
		}
		if asic == "" {
			asic = read.Switch.ASIC.V
		}
	}
	if asic != "" {
		a := switchconf.LookupASIC(asic)
		if a == nil {
			return nil, unknownASIC(asic)
		}
		x.asic, x.sw.ASIC, x.sw.Cell = a, switchconf.Of(a.Name), switchconf.Of(a.Cell)
	}
	if err := x.all(); err != nil {
		return nil, err
	}
	return x, nil
}

func unknownASIC(name string) error {
	var names []string
	for _, a := range switchconf.ASICs {
		names = append(names, a.Name)
	}
	return fmt.Errorf("unknown ASIC %q: %swant one of %s", name, didYouMean(name, names), strings.Join(names, ", "))
}

// exported finds the switch of that name.
func (w *world) exported(name string) (int, error) {
	first, alike := -1, true
	var names []string
	for i, node := range w.graph.Nodes {
		if node.Kind != topology.Switch {
			continue
		}
		if node.Name == name {
			return i, nil
		}
		names = append(names, node.Name)
		if first < 0 {
			first = i
		}
		alike = alike && w.swSpec[i] == w.swSpec[first]
	}
	switch {
	case first < 0:
		return 0, fmt.Errorf("the fabric has no switch")
	case name != "":
		return 0, fmt.Errorf("unknown switch %q: %sthere are %s", name, didYouMean(name, names), some(names))
	case !alike:
		return 0, fmt.Errorf("switches are configured differently: name one of %s", some(names))
	}
	return first, nil
}

// exporter turns one switch into a switchconf.Switch.
type exporter struct {
	w     *world
	node  int
	sp    *SwitchSpec
	at    string // key of the block
	asic  *switchconf.ASIC
	sw    *switchconf.Switch
	lacks []switchconf.Lack
	rooms sim.Bytes // headroom and reserves of all ports
	// base is the switch of the files of SONiC that the scenario names, nil
	// without them.
	base      *switchconf.Switch
	basePorts []*switchconf.Port // by number of the port here
}

// exportPort is a port that is being exported, with the rules that hold there.
type exportPort struct {
	index    int
	rate     sim.Rate
	peer     string
	cable    sim.Length
	config   fabric.PortConfig
	lossless []int
	maps     MapSpec
	schedule SchedulerSpec
	watchdog Member
	base     *switchconf.Port // the port of the files; one without anything where there are none
}

// basePort is the port of that number in the files of SONiC.
func (x *exporter) basePort(i int) *switchconf.Port {
	if i < len(x.basePorts) {
		return x.basePorts[i]
	}
	return &switchconf.Port{}
}

// last returns the last rule that matches a port, nil when none does.
func last[R any](rules []R, match func(*R) *PortMatch, p *exportPort) *R {
	for i := len(rules) - 1; i >= 0; i-- {
		if match(&rules[i]).matches(p.index, p.rate, p.peer) {
			return &rules[i]
		}
	}
	return nil
}

func (x *exporter) lack(class int, field, value, why string) {
	l := switchconf.Lack{Class: class, Field: field, Value: value, Why: why}
	if !slices.Contains(x.lacks, l) {
		x.lacks = append(x.lacks, l)
	}
}

// all fills in the switch.
func (x *exporter) all() error {
	sp := x.sp
	if sp.PFC.Mode == "global" {
		x.lack(-1, switchconf.FieldPFC, "global", "802.3x pauses are not exported: the priorities are written as PFC")
	}
	if sp.PFC.Quanta != 65535 {
		x.lack(-1, "quanta", strconv.Itoa(sp.PFC.Quanta), "switches do not let it be set")
	}
	for i, q := range x.w.ports.Of(x.node) {
		if err := x.port(i, q); err != nil {
			return err
		}
	}
	x.pools()
	return nil
}

// port exports one port.
func (x *exporter) port(i int, q topology.Port) error {
	sp := x.sp
	p := &exportPort{index: i, config: x.w.port(x.node, i), peer: x.w.graph.Nodes[q.Peer].Name, lossless: sp.PFC.Priorities, maps: sp.MapSpec, schedule: sp.Scheduler, watchdog: sp.Watchdog}
	p.rate = p.config.Rate
	l := &x.w.graph.Links[q.Link]
	if p.cable = l.Cable; p.cable == 0 {
		p.cable = sim.Length(int64(q.In(x.w.graph).Delay) * int64(sim.Metre) / int64(sim.PropagationPerMetre))
	}
	if r := last(sp.PFC.Ports, func(r *PFCRule) *PortMatch { return &r.PortMatch }, p); r != nil {
		p.lossless = r.Priorities
	}
	if r := last(sp.Maps, func(r *MapRule) *PortMatch { return &r.PortMatch }, p); r != nil {
		p.maps = r.MapSpec
	}
	if r := last(sp.Schedulers, func(r *SchedulerRule) *PortMatch { return &r.PortMatch }, p); r != nil {
		p.schedule = r.SchedulerSpec
	}
	if r := last(sp.Watchdogs, func(r *WatchdogRule) *PortMatch { return &r.PortMatch }, p); r != nil {
		p.watchdog = r.Watchdog
	}
	name := fmt.Sprintf("Ethernet%d", 4*i)
	p.base = x.basePort(i)
	if i < len(x.basePorts) {
		name = p.base.Name
	}
	out := switchconf.Port{Name: name, Speed: switchconf.Of(p.rate), Cable: switchconf.Of(p.cable)}
	if len(p.lossless) > 0 {
		lossless := slices.Clone(p.lossless)
		slices.Sort(lossless)
		out.PFCEnable = switchconf.Of(slices.Compact(lossless))
	}
	x.maps(p, &out)
	if err := x.groups(p, &out); err != nil {
		return err
	}
	if err := x.queues(p, &out); err != nil {
		return err
	}
	if err := x.portWatchdog(p, &out); err != nil {
		return err
	}
	x.sw.Ports = append(x.sw.Ports, out)
	return nil
}

// exponent returns n of alpha = 2^n.
func (x *exporter) exponent(path string, alpha sim.Ratio) (int, error) {
	f, n := math.Frexp(float64(alpha))
	if f == 0.5 && n-1 >= -8 && n-1 <= 8 {
		return n - 1, nil
	}
	low := min(max(int(math.Floor(math.Log2(max(float64(alpha), 1e-9)))), -8), 7)
	return 0, x.w.spec.errorAt(path, alpha.String(), "ASICs have powers of two, from 2^-8 to 2^8: the nearest are 2^%d = %v and 2^%d = %v", low, math.Pow(2, float64(low)), low+1, math.Pow(2, float64(low+1)))
}

// portWatchdog exports the PFC watchdog of a port.
func (x *exporter) portWatchdog(p *exportPort, out *switchconf.Port) error {
	e, err := fabric.Watchdogs.Lookup(p.watchdog.Name)
	if err != nil {
		return err
	}
	c, err := e.Build(p.watchdog.Params)
	if err != nil {
		return x.w.spec.errorAt(x.at+".watchdog", p.watchdog.Name, "%v", err)
	}
	if c.Watchdog == nil || c.Detect <= 0 {
		return nil
	}
	if c.BigRedSwitch {
		x.sw.Watchdog.BigRedSwitch = switchconf.Of(true)
		return nil
	}
	if !slices.Contains([]string{"broadcom", "nvidia", "cisco-8000", "nephos"}, p.watchdog.Name) {
		x.lack(-1, switchconf.FieldWatchdog, p.watchdog.Name, "timers and action are exported; how a storm is found is the rule of the switch")
	}
	if c.Action == fabric.WatchdogErrdisable {
		x.lack(-1, switchconf.FieldWatchdog, "errdisable", "exported as drop: the port stays up")
		c.Action = fabric.WatchdogDrop
	}
	action := map[fabric.WatchdogAction]switchconf.WatchdogAction{fabric.WatchdogDrop: switchconf.ActionDrop, fabric.WatchdogForward: switchconf.ActionForward, fabric.WatchdogAlert: switchconf.ActionAlert}[c.Action]
	out.Watchdog = switchconf.PortWatchdog{Action: switchconf.Of(action), Detection: switchconf.Of(c.Detect), Restoration: switchconf.Of(c.Restore)}
	x.sw.Watchdog.Poll = switchconf.Of(c.Poll)
	if c.Priorities != 0 {
		var list []int
		for k := range 8 {
			if c.Priorities&(1<<k) != 0 {
				list = append(list, k)
			}
		}
		out.WatchdogEnable = switchconf.Of(list)
	}
	return nil
}
