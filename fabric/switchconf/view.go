package switchconf

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"rdmasim/sim"
)

// The fields of a class or a port, as roundings and lacks name them.
const (
	FieldDSCP      = "dscp"
	FieldQueue     = "queue"
	FieldGroup     = "priority group"
	FieldPFC       = "pfc"
	FieldKmin      = "kmin"
	FieldKmax      = "kmax"
	FieldPmax      = "pmax"
	FieldHeadroom  = "headroom"
	FieldXon       = "xon"
	FieldXonOffset = "xon_offset"
	FieldReserve   = "reserve"
	FieldAlpha     = "alpha"
	FieldStatic    = "static threshold"
	FieldStrict    = "strict"
	FieldWeight    = "weight"
	FieldCable     = "cable"
	FieldWatchdog  = "watchdog"
)

// View is a switch as an operator thinks of it: what holds for each class of
// each port, all references followed.
type View struct {
	Name   string
	Switch *Switch
	Base   *Switch // what the switch has already, nil when that is not known
	Exact  bool    // what the base has beyond the switch is taken away
	ASIC   *ASIC   // nil when it is not known
	Poll   sim.Duration
	Ports  []PortView
	Lacks  []Lack // what a view does not have
}

// PortView is what holds for one port.
type PortView struct {
	Index    int // of Switch.Ports
	Name     string
	Speed    sim.Rate
	Cable    sim.Length
	DSCP     [64]int // traffic class, -1 where no map names the DSCP
	Class    [8]ClassView
	Watchdog WatchdogView
}

// ClassView is what holds for one traffic class of a port. Sizes are bytes.
type ClassView struct {
	Queue, Group int
	PFC          bool
	Profile      string // buffer profile of the priority group
	WRED         string // profile of the queue
	ECN          bool
	Kmin, Kmax   sim.Bytes
	Pmax         sim.Ratio
	Buffer       bool // there is a profile
	Headroom     sim.Bytes
	Xon          sim.Bytes
	XonOffset    sim.Bytes
	Reserve      sim.Bytes
	Alpha        int // exponent of 2; with Dynamic
	Dynamic      bool
	Static       sim.Bytes // without it
	Strict       bool
	Weight       int // 0: not given
}

// WatchdogView is the PFC watchdog of a port; off where Detect is 0.
type WatchdogView struct {
	Action          WatchdogAction
	Detect, Restore sim.Duration
}

// NewView follows the references of a switch. The error names one that leads
// nowhere.
func NewView(sw *Switch) (*View, error) {
	v := &View{Name: clean(sw.Hostname.Or("switch")), Switch: sw, Poll: sw.Watchdog.Poll.V}
	if sw.ASIC.IsSet() {
		v.ASIC = LookupASIC(sw.ASIC.V)
	}
	for i := range sw.Ports {
		p, err := v.port(i)
		if err != nil {
			return nil, err
		}
		v.Ports = append(v.Ports, p)
	}
	return v, nil
}

// identity is what a class is mapped to where no map says otherwise.
func identity(maps []Map, name string, tc int) int {
	if to, ok := FindMap(maps, name).Lookup(tc); ok {
		return to
	}
	return tc
}

func (v *View) port(i int) (PortView, error) {
	sw, p := v.Switch, &v.Switch.Ports[i]
	out := PortView{Index: i, Name: p.Name, Speed: p.Speed.V, Cable: p.Cable.V}
	name := p.DSCPToTC.Or(sw.GlobalDSCPToTC.V)
	for d := range out.DSCP {
		out.DSCP[d] = -1
		if to, ok := FindMap(sw.DSCPToTC, name).Lookup(d); ok {
			out.DSCP[d] = to
		}
	}
	for tc := range out.Class {
		c := &out.Class[tc]
		c.Queue, c.Group = identity(sw.TCToQueue, p.TCToQueue.V, tc), identity(sw.TCToPG, p.TCToPG.V, tc)
		c.PFC = slices.Contains(p.PFCEnable.V, tc)
		if c.Queue > 7 {
			v.lack(tc, FieldQueue, strconv.Itoa(c.Queue), "queues above 7 are multicast queues: not exported")
		}
		if err := v.queue(p, tc, c); err != nil {
			return out, err
		}
		if err := v.group(p, c); err != nil {
			return out, err
		}
	}
	if p.PCPToTC.V != "" {
		v.lack(-1, "pcp", clean(p.PCPToTC.V), "maps of VLAN priorities are not exported")
	}
	if w := p.Watchdog; w.Detection.IsSet() {
		out.Watchdog = WatchdogView{w.Action.Or(ActionDrop), w.Detection.V, w.Restoration.V}
	}
	return out, nil
}

// queue fills in what the queue of a class has.
func (v *View) queue(p *Port, tc int, c *ClassView) error {
	q := p.Queue(c.Queue)
	if q == nil || c.Queue > 7 {
		return nil
	}
	if q.WRED.V != "" {
		w := v.Switch.WREDProfile(q.WRED.V)
		if w == nil {
			return fmt.Errorf("port %s, queue %d: there is no WRED profile %q", p.Name, q.Index, q.WRED.V)
		}
		g := w.Colours[Green]
		c.WRED = w.Name
		if g.Enable.V && w.ECN.V.Marks(Green) {
			c.ECN, c.Kmin, c.Kmax, c.Pmax = true, g.Min.V, g.Max.V, g.Probability.Or(1)
		} else {
			v.lack(tc, "wred", w.Name, "the profile marks no green packets: drops are not exported")
		}
		for _, colour := range []Colour{Yellow, Red} {
			if y := w.Colours[colour]; y.Enable.V && (y.Min.V != g.Min.V || y.Max.V != g.Max.V || y.Probability.Or(1) != g.Probability.Or(1)) {
				v.lack(tc, colour.String(), fmt.Sprintf("%d..%d", y.Min.V, y.Max.V), "only the curve of green packets is exported")
			}
		}
	}
	if q.Scheduler.V != "" {
		s := v.Switch.Scheduler(q.Scheduler.V)
		if s == nil {
			return fmt.Errorf("port %s, queue %d: there is no scheduler %q", p.Name, q.Index, q.Scheduler.V)
		}
		c.Strict, c.Weight = s.Type.V == Strict, s.Weight.V
		if c.Strict {
			c.Weight = 0
		}
		if s.Max.IsSet() {
			v.lack(tc, "shaper", s.Max.V.String(), "shapers are not exported to this format")
		}
		if s.Min.IsSet() {
			v.lack(tc, "guarantee", s.Min.V.String(), "guaranteed rates are not exported to this format")
		}
	}
	return nil
}

// group fills in what the priority group of a class has.
func (v *View) group(p *Port, c *ClassView) error {
	g := p.PG(c.Group)
	if g == nil || g.Profile.V == "" {
		return nil
	}
	f := v.Switch.Profile(g.Profile.V)
	if f == nil {
		return fmt.Errorf("port %s, priority group %d: there is no buffer profile %q", p.Name, g.Index, g.Profile.V)
	}
	c.Buffer, c.Profile = true, f.Name
	c.Headroom, c.Xon, c.XonOffset, c.Reserve = f.Xoff.V, f.Xon.V, f.XonOffset.V, f.Size.V
	if v.ASIC != nil && v.ASIC.HeadroomInSize { // size holds xon and, where headroom is private, xoff
		if pool := v.Switch.Pool(f.Pool.V); pool == nil || pool.Xoff.V == 0 {
			c.Reserve = max(f.Size.V-f.Xoff.V-f.Xon.V, 0)
		} else {
			c.Reserve = max(f.Size.V-f.Xon.V, 0)
		}
	}
	c.Dynamic, c.Alpha, c.Static = f.DynamicTh.IsSet(), f.DynamicTh.V, f.StaticTh.V
	return nil
}

// warnings says which curves do not mark before PFC pauses. n ingress ports that
// feed a queue each pause at alpha B / (1 + n alpha); one alone is the worst case.
func (v *View) warnings() []string {
	list := []string{}
	for _, g := range v.Groups() {
		g.each(func(tc int, c *ClassView) {
			limit, known := v.largestQueue(c)
			text := ""
			switch {
			case !c.ECN || !c.PFC || !known:
			case c.Kmin >= limit:
				text = fmt.Sprintf("class %d: kmin %d is not below %d, where PFC pauses a single sender: the queue is never marked", tc, c.Kmin, limit)
			case c.Kmax > limit:
				text = fmt.Sprintf("class %d: kmax %d is above %d, where PFC pauses a single sender: it pauses before every packet is marked", tc, c.Kmax, limit)
			}
			if text != "" && !slices.Contains(list, text) {
				list = append(list, text)
			}
		})
	}
	return list
}

func (v *View) lack(class int, field, value, why string) {
	l := Lack{class, field, value, why}
	if !slices.Contains(v.Lacks, l) {
		v.Lacks = append(v.Lacks, l)
	}
}

// PortGroup are ports of which all is the same.
type PortGroup struct {
	PortView
	Ports  []int  // indices
	Suffix string // of names, "" where there is one group
}

// Groups returns ports of which all is the same, in order of the first.
func (v *View) Groups() []PortGroup {
	var groups []PortGroup
	for _, p := range v.Ports {
		same := p
		same.Index, same.Name = 0, ""
		i := slices.IndexFunc(groups, func(g PortGroup) bool {
			o := g.PortView
			o.Index, o.Name = 0, ""
			return reflect.DeepEqual(o, same)
		})
		if i < 0 {
			groups = append(groups, PortGroup{PortView: p})
			i = len(groups) - 1
		}
		groups[i].Ports = append(groups[i].Ports, p.Index)
	}
	if len(groups) > 1 {
		for i := range groups {
			groups[i].Suffix = fmt.Sprintf("-%d", i+1)
		}
	}
	return groups
}

// each calls f for every class that something is known about.
func (p *PortView) each(f func(tc int, c *ClassView)) {
	for tc := range p.Class {
		f(tc, &p.Class[tc])
	}
}

// dscps returns the DSCPs of a class in order.
func (p *PortView) dscps(tc int) (list []int) {
	for d, to := range p.DSCP {
		if to == tc {
			list = append(list, d)
		}
	}
	return list
}

// lossless returns the priorities under PFC.
func (p *PortView) lossless() (list []int) {
	for tc := range p.Class {
		if p.Class[tc].PFC {
			list = append(list, tc)
		}
	}
	return list
}

// ints prints whole numbers with a separator.
func ints(list []int, sep string) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, sep)
}

// ranges prints indices as ranges of interfaces, each number plus base, such as
// swp1-3,swp7.
func ranges(prefix string, list []int, base int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		text := prefix + strconv.Itoa(list[i]+base)
		if j > i {
			text += "-" + strconv.Itoa(list[j]+base)
		}
		parts = append(parts, text)
		i = j + 1
	}
	return strings.Join(parts, ",")
}
