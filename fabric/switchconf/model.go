// Package switchconf holds the configuration of a switch as its operator knows
// it: ports, buffer pools and profiles, marking, maps, schedulers, watchdog. It
// reads it from SONiC's files, and lint rules judge it. The model is neutral:
// quantities are in bytes, bit/s and picoseconds, whatever a vendor counts in,
// and every value knows where it was written.
package switchconf

import "rdmasim/sim"

// Switch is the configuration of one switch. Lists are in the order of the
// source, ports in that of their numbers. References between parts are by name.
type Switch struct {
	Hostname    Value[string]
	Platform    Value[string] // of SONiC, such as x86_64-arista_7060_cx32s
	HWSKU       Value[string] // such as Arista-7060CX-32S
	ASIC        Value[string] // a name of ASICs
	Cell        Value[sim.Bytes]
	BufferModel Value[BufferModel]

	Ports    []Port
	Pools    []Pool
	Profiles []Profile
	WRED     []WRED

	DSCPToTC   []Map // DSCP 0..63 to traffic class
	PCPToTC    []Map // priority of the VLAN tag 0..7 to traffic class (SONiC: DOT1P_TO_TC_MAP)
	TCToQueue  []Map // traffic class to egress queue
	TCToPG     []Map // traffic class to ingress priority group
	PFCToQueue []Map // priority of a PFC frame that arrives to the queue that it stops
	PFCToPG    []Map // priority of a PFC frame that is sent to the priority group that asks for it
	TCToDSCP   []Map // DSCP that tunnels write

	// GlobalDSCPToTC names the map of ports that name none.
	GlobalDSCPToTC Value[string]

	Schedulers []Scheduler
	Watchdog   Watchdog
	Lossless   Lossless
}

// BufferModel says who computes headroom.
type BufferModel string

// The buffer models of SONiC.
const (
	Traditional BufferModel = "traditional" // from a table of speed and cable length
	Dynamic     BufferModel = "dynamic"     // from a formula
)

// Port is a port with what is bound to it.
type Port struct {
	Name     string // such as Ethernet0, or host|asic0|Ethernet0 of a chassis
	Lanes    Value[[]int]
	Speed    Value[sim.Rate]
	Cable    Value[sim.Length]
	MTU      Value[sim.Bytes] // payload of the Ethernet frame
	Breakout Value[string]    // such as 4x25G[10G]

	PGs    []PG    // in order of their index
	Queues []Queue // in order of their index

	// IngressProfiles and EgressProfiles bound the use of the whole port.
	IngressProfiles Value[[]string]
	EgressProfiles  Value[[]string]

	PFCEnable      Value[[]int] // lossless priorities
	PFCAsymmetric  Value[bool]  // PFC frames are obeyed on all priorities, sent on the lossless ones
	WatchdogEnable Value[[]int] // priorities that the watchdog looks at
	DSCPToTC       Value[string]
	PCPToTC        Value[string]
	TCToQueue      Value[string]
	TCToPG         Value[string]
	PFCToQueue     Value[string]
	PFCToPG        Value[string]
	TCToDSCP       Value[string]
	Scheduler      Value[string] // shaper of the whole port

	Watchdog PortWatchdog
	From     Origin
}

// PG binds an ingress priority group to a profile.
type PG struct {
	Index   int
	Profile Value[string] // "" with Auto
	Auto    bool          // the profile follows from speed and cable length
	From    Origin
}

// Queue binds an egress queue to profiles.
type Queue struct {
	Index     int
	Profile   Value[string] // of its buffer
	WRED      Value[string]
	Scheduler Value[string]
	From      Origin
}

// Direction says on which side of the switch a pool counts.
type Direction string

// The directions.
const (
	Ingress Direction = "ingress"
	Egress  Direction = "egress"
	Both    Direction = "both"
)

// PoolMode says what the thresholds of a pool's profiles depend on.
type PoolMode string

// The modes.
const (
	StaticPool  PoolMode = "static"  // thresholds are bytes
	DynamicPool PoolMode = "dynamic" // thresholds are a factor times the free space
)

// Pool is a part of the packet buffer that is shared.
type Pool struct {
	Name       string
	Type       Value[Direction]
	Mode       Value[PoolMode]
	Size       Value[sim.Bytes] // not set: the switch computes it
	Xoff       Value[sim.Bytes] // shared headroom pool on top of Size; 0: headroom is private
	Percentage Value[sim.Ratio] // of what is there, instead of Size
	From       Origin
}

// Profile says how much of a pool a priority group or queue may use. Xoff is
// the headroom, whatever its name says: bytes that may arrive after XOFF. Size
// is what is set aside: of vendors that count headroom in it (ReservesHeadroom)
// it holds Xon and Xoff.
type Profile struct {
	Name         string
	Pool         Value[string]
	Size         Value[sim.Bytes]
	Xon          Value[sim.Bytes] // resume when use falls below Xon, or ...
	XonOffset    Value[sim.Bytes] // ... below the threshold less XonOffset, whichever is higher
	Xoff         Value[sim.Bytes]
	DynamicTh    Value[int]       // n of alpha = 2^n, -8..8
	Factor       Value[sim.Ratio] // alpha, where it is no power of two; instead of DynamicTh
	StaticTh     Value[sim.Bytes] // instead of DynamicTh
	HeadroomType Value[string]    // static, or dynamic: Size, Xon and Xoff are computed
	Discard      Value[string]    // packet_discard_action: drop or trim
	From         Origin
}

// IsLossless reports whether the profile has headroom, or computes it.
func (p *Profile) IsLossless() bool {
	return p.Xoff.IsSet() && p.Xoff.V > 0 || p.HeadroomType.V == "dynamic"
}

// Alpha returns the factor of the dynamic threshold, 0 with a static one.
func (p *Profile) Alpha() sim.Ratio {
	switch {
	case p.Factor.IsSet():
		return p.Factor.V
	case !p.DynamicTh.IsSet():
		return 0
	}
	if n := p.DynamicTh.V; n >= 0 {
		return sim.Ratio(int64(1) << min(n, 62))
	}
	return 1 / sim.Ratio(int64(1)<<min(-p.DynamicTh.V, 62))
}

// Colour is the colour of a packet as a meter gave it.
type Colour int

// The colours. Without meters every packet is green.
const (
	Green Colour = iota
	Yellow
	Red
)

// String returns the word for the colour.
func (c Colour) String() string { return [...]string{"green", "yellow", "red"}[c] }

// WRED is a profile of early drops, which are marks for packets that can carry them.
type WRED struct {
	Name    string
	Colours [3]WREDCurve // by Colour
	ECN     Value[ECNMode]
	Weight  Value[int] // mean of the queue over 2^Weight packets; 0: as it is
	// PassNonECT: packets that cannot be marked are let through, not dropped.
	PassNonECT Value[bool]
	From       Origin
}

// WREDCurve is 0 up to Min, linear to Probability at Max, 1 above.
type WREDCurve struct {
	Enable      Value[bool]
	Min, Max    Value[sim.Bytes]
	Probability Value[sim.Ratio]
}

// ECNMode names the colours that are marked instead of dropped.
type ECNMode string

// The modes, in SONiC's words.
const (
	ECNNone        ECNMode = "ecn_none"
	ECNGreen       ECNMode = "ecn_green"
	ECNYellow      ECNMode = "ecn_yellow"
	ECNRed         ECNMode = "ecn_red"
	ECNGreenYellow ECNMode = "ecn_green_yellow"
	ECNGreenRed    ECNMode = "ecn_green_red"
	ECNYellowRed   ECNMode = "ecn_yellow_red"
	ECNAll         ECNMode = "ecn_all"
)

// Marks reports whether packets of that colour are marked.
func (m ECNMode) Marks(c Colour) bool {
	switch m {
	case ECNAll:
		return true
	case ECNGreen:
		return c == Green
	case ECNYellow:
		return c == Yellow
	case ECNRed:
		return c == Red
	case ECNGreenYellow:
		return c != Red
	case ECNGreenRed:
		return c != Yellow
	case ECNYellowRed:
		return c != Green
	}
	return false
}

// Map takes one small number to another.
type Map struct {
	Name    string
	Entries []Entry // in order of Key
	From    Origin
}

// Entry is one line of a map.
type Entry struct {
	Key, To int
	From    Origin
}

// Lookup returns what key is mapped to, and whether the map names it.
func (m *Map) Lookup(key int) (int, bool) {
	if m != nil {
		for _, e := range m.Entries {
			if e.Key == key {
				return e.To, true
			}
		}
	}
	return 0, false
}

// Scheduler says how a queue is served.
type Scheduler struct {
	Name   string
	Type   Value[SchedulerType]
	Weight Value[int]      // 1..100
	Min    Value[sim.Rate] // guaranteed rate (SONiC: cir)
	Max    Value[sim.Rate] // shaper (SONiC: pir)
	// MinBurst and MaxBurst are the sizes of the token buckets (SONiC: cbs, pbs).
	MinBurst, MaxBurst Value[sim.Bytes]
	MeterType          Value[string] // bytes or packets: what Min and Max count
	From               Origin
}

// SchedulerType is the way of serving.
type SchedulerType string

// The ways.
const (
	DWRR   SchedulerType = "DWRR"
	WRR    SchedulerType = "WRR"
	Strict SchedulerType = "STRICT"
)

// Watchdog is the part of the PFC watchdog that all ports share.
type Watchdog struct {
	Poll         Value[sim.Duration]
	BigRedSwitch Value[bool] // all lossless queues are dropped, now
}

// PortWatchdog is the PFC watchdog of a port. It is on when Detection is set.
type PortWatchdog struct {
	Action      Value[WatchdogAction]
	Detection   Value[sim.Duration] // of a storm, before Action
	Restoration Value[sim.Duration] // of quiet, before the queue is as it was
	History     Value[bool]         // pfc_stat_history: pauses are logged
}

// WatchdogAction is what happens to a queue in a storm.
type WatchdogAction string

// The actions.
const (
	ActionDrop    WatchdogAction = "drop"
	ActionForward WatchdogAction = "forward"
	ActionAlert   WatchdogAction = "alert"
)

// Lossless is what the dynamic buffer model computes headroom from.
type Lossless struct {
	MTU                  Value[sim.Bytes]
	SmallPackets         Value[sim.Ratio] // share of packets of 64 bytes
	DefaultDynamicTh     Value[int]
	OverSubscribe        Value[int] // ports' headroom over the shared headroom pool; 0: none shared
	MaxHeadroomPerPortKB Value[int]
}

// Configured returns the ports that more than PORT and CABLE_LENGTH names:
// SONiC's templates configure those that have a neighbour. Without any, it
// returns all ports.
func (s *Switch) Configured() []*Port {
	var some, all []*Port
	for i := range s.Ports {
		p := &s.Ports[i]
		all = append(all, p)
		if len(p.PGs)+len(p.Queues) > 0 || p.PFCEnable.IsSet() || p.TCToQueue.IsSet() || p.DSCPToTC.IsGiven() || p.Watchdog.Detection.IsSet() {
			some = append(some, p)
		}
	}
	if len(some) > 0 {
		return some
	}
	return all
}

// Port returns the port of that name, nil when there is none.
func (s *Switch) Port(name string) *Port {
	return find(s.Ports, func(p *Port) bool { return p.Name == name })
}

// Pool returns the pool of that name, nil when there is none.
func (s *Switch) Pool(name string) *Pool {
	return find(s.Pools, func(p *Pool) bool { return p.Name == name })
}

// Profile returns the buffer profile of that name, nil when there is none.
func (s *Switch) Profile(name string) *Profile {
	return find(s.Profiles, func(p *Profile) bool { return p.Name == name })
}

// WREDProfile returns the WRED profile of that name, nil when there is none.
func (s *Switch) WREDProfile(name string) *WRED {
	return find(s.WRED, func(w *WRED) bool { return w.Name == name })
}

// Scheduler returns the scheduler of that name, nil when there is none.
func (s *Switch) Scheduler(name string) *Scheduler {
	return find(s.Schedulers, func(x *Scheduler) bool { return x.Name == name })
}

// FindMap returns the map of that name in one of the lists of maps, nil when
// there is none.
func FindMap(maps []Map, name string) *Map {
	return find(maps, func(m *Map) bool { return m.Name == name })
}

// PG returns the binding of a priority group, nil when there is none.
func (p *Port) PG(index int) *PG {
	return find(p.PGs, func(g *PG) bool { return g.Index == index })
}

// Queue returns the binding of a queue, nil when there is none.
func (p *Port) Queue(index int) *Queue {
	return find(p.Queues, func(q *Queue) bool { return q.Index == index })
}

func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}
