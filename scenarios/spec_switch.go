package scenarios

import "rdmasim/sim"

// PortMatch chooses ports of a switch. All three keys must match.
type PortMatch struct {
	Ports string   `key:"ports" doc:"numbers and ranges, such as 0-15,18; * = every port"`
	Rate  sim.Rate `key:"rate" doc:"only ports of this rate; 0bps = of any"`
	Peer  string   `key:"peer" doc:"only ports whose other end has this name, or matches a pattern such as h*"`
}

// MapSpec says what a header field of an arriving frame selects: its traffic
// class, and from that the queue by which it leaves, the priority group that it
// is charged to, and the priorities of pauses.
type MapSpec struct {
	Trust      string      `key:"trust" oneof:"dscp,pcp" doc:"which field selects the priority, that is the traffic class"`
	DSCPMap    map[int]int `key:"dscp_map" keys:"0..63" range:"0..7" doc:"DSCP to priority; DSCPs not named go to priority 0"`
	PCPMap     map[int]int `key:"pcp_map" keys:"0..7" range:"0..7" doc:"priority of the VLAN tag to priority, for trust: pcp; those not named stay as they are"`
	TCToQueue  map[int]int `key:"tc_to_queue" keys:"0..7" range:"0..7" doc:"priority to egress queue; those not named keep their number"`
	TCToGroup  map[int]int `key:"tc_to_group" keys:"0..7" range:"0..7" doc:"priority to ingress priority group; those not named keep their number"`
	PFCToQueue map[int]int `key:"pfc_to_queue" keys:"0..7" range:"0..7" doc:"priority of a received pause to the egress queue that it stops; those not named keep their number"`
	PFCToGroup map[int]int `key:"pfc_to_group" keys:"0..7" range:"0..7" doc:"priority of a sent pause to the priority group that asks for it; those not named keep their number"`
}

// MapRule replaces maps on ports that match.
type MapRule struct {
	PortMatch
	MapSpec
}

// PFCRule gives ports lossless priorities of their own.
type PFCRule struct {
	PortMatch
	Priorities []int `key:"priorities" range:"0..7" doc:"priorities under PFC there"`
}

// PoolSpec is a part of the packet buffer that priority groups, queues or both
// share.
type PoolSpec struct {
	Name     string    `key:"name" required:"true" doc:"by which groups and queues refer to it"`
	Side     string    `key:"side" oneof:"ingress,egress,both" doc:"whose use it accounts: that of priority groups, of queues, or of either"`
	Mode     string    `key:"mode" oneof:"dynamic,static" doc:"what threshold: auto means here: an alpha, or the whole pool"`
	Size     sim.Bytes `key:"size" required:"true" doc:"shared bytes; reserves and headroom come on top"`
	Headroom sim.Bytes `key:"headroom" doc:"headroom pool that the groups of this pool share; 0B: each group has its own"`
}

// GroupRule configures priority groups (the ingress side) of ports that match.
type GroupRule struct {
	PortMatch
	Groups    []int           `key:"groups" required:"true" range:"0..7" doc:"priority groups"`
	Pool      string          `key:"pool" doc:"name of the pool; without it, the first one on the ingress side, or the buffer as a whole"`
	Reserve   sim.Bytes       `key:"reserve" doc:"guaranteed"`
	Threshold Member          `key:"threshold" catalogue:"threshold" doc:"how much of the pool a group may use: XOFF there, or drop in a lossy group"`
	Headroom  Auto[sim.Bytes] `key:"headroom" doc:"auto, or bytes for what arrives after XOFF: its own, or at most as much of the headroom pool"`
	Xon       sim.Bytes       `key:"xon" doc:"resume at this shared use, or xon_offset below the threshold, whichever is more"`
	XonOffset sim.Bytes       `key:"xon_offset" doc:"resume when shared use is so far below the threshold; 0B with xon given: xon alone counts"`
}

// QueueRule configures egress queues of ports that match.
type QueueRule struct {
	PortMatch
	Queues    []int     `key:"queues" required:"true" range:"0..7" doc:"egress queues"`
	Pool      string    `key:"pool" doc:"name of the pool; without it, the first one on the egress side, or the buffer as a whole"`
	Reserve   sim.Bytes `key:"reserve" doc:"guaranteed"`
	Threshold Member    `key:"threshold" catalogue:"threshold" doc:"how much of the pool a queue may use; what goes beyond is dropped, lossless or not"`
}

// WREDRule gives queues drop and mark curves per colour.
type WREDRule struct {
	PortMatch
	Queues []int     `key:"queues" required:"true" range:"0..7" doc:"egress queues"`
	ECN    string    `key:"ecn" oneof:"none,green,yellow,red,green_yellow,green_red,yellow_red,all" doc:"colours of which ECT frames are marked instead of dropped"`
	NonECT string    `key:"non_ect" oneof:"drop,pass" doc:"what the curve does to frames that cannot be marked"`
	Green  CurveSpec `key:"green" doc:"curve of green frames; without it they are never chosen"`
	Yellow CurveSpec `key:"yellow" doc:"curve of yellow frames"`
	Red    CurveSpec `key:"red" doc:"curve of red frames"`
	MarkAt string    `key:"mark_at" oneof:"dequeue,enqueue" doc:"when a frame is marked; drops are always decided when it joins the queue"`
	Above  string    `key:"above_max" oneof:"all,probability" doc:"beyond max every frame is chosen, or probability of them"`
}

// CurveSpec is 0 up to Min, linear to Probability at Max, and 1 above.
type CurveSpec struct {
	Min         sim.Bytes `key:"min" doc:"queue length at which the curve begins"`
	Max         sim.Bytes `key:"max" doc:"queue length at which it reaches probability"`
	Probability sim.Ratio `key:"probability" doc:"chance at max"`
	Set         bool      `key:"-"`
}

// ShapeSpec bounds the rate of a queue or a port by a token bucket.
type ShapeSpec struct {
	Rate  sim.Rate  `key:"rate" required:"true" doc:"bits on the wire, preamble and gap included"`
	Burst sim.Bytes `key:"burst" doc:"what may leave at the line rate after a rest; at least a frame always may"`
}

// ETSGroupSpec is a group of queues that share a part of the link, IEEE
// 802.1Qaz enhanced transmission selection.
type ETSGroupSpec struct {
	Queues []int     `key:"queues" required:"true" range:"0..7" doc:"queues of the group; among them, weights hold"`
	Share  sim.Ratio `key:"share" required:"true" doc:"of what strict queues leave; shares of idle groups go to the others"`
}

// SchedulerRule replaces the scheduler on ports that match.
type SchedulerRule struct {
	PortMatch
	SchedulerSpec
}

// WatchdogRule replaces the PFC watchdog on ports that match.
type WatchdogRule struct {
	PortMatch
	Watchdog Member `key:"watchdog" catalogue:"watchdog" doc:"one flavour of the catalogue with its parameters"`
}
