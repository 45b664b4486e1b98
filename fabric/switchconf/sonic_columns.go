package switchconf

import (
	"strconv"
	"strings"

	"rdmasim/sim"
)

var metadataColumns = []column[Switch]{
	textColumn("hostname", "name of the switch", func(s *Switch) *Value[string] { return &s.Hostname }),
	textColumn("platform", "tells the ASIC: cells, and what xoff and size mean", func(s *Switch) *Value[string] { return &s.Platform }),
	textColumn("hwsku", "tells the ASIC: cells, and what xoff and size mean", func(s *Switch) *Value[string] { return &s.HWSKU }),
	wordColumn("buffer_model", "who computes headroom: a table, or a formula", []BufferModel{Traditional, Dynamic}, func(s *Switch) *Value[BufferModel] { return &s.BufferModel }),
}

var portColumns = append([]column[Port]{
	{"lanes", "lanes of the port; eight take twice the pipeline latency", setLanes},
	{"speed", "rate of the port", setSpeed},
	{"mtu", "largest frame, for headroom", setMTU},
	boolColumn("pfc_asym", "PFC frames are obeyed on all priorities", "on", "off", func(p *Port) *Value[bool] { return &p.PFCAsymmetric }),
}, strangers[Port]("not about the fabric",
	"alias", "index", "admin_status", "fec", "description", "autoneg", "adv_speeds", "adv_interface_types", "interface_type",
	"tpid", "dhcp_rate_limit", "role", "coreId", "corePortId", "numVoq", "core_id", "core_port_id", "num_voq", "mux_cable",
	"subport", "laser_freq", "tx_power", "link_training", "unreliable_los", "asic_port_name", "parent_port", "override_unreliable_los",
	"preemphasis", "idriver", "ipredriver", "pre1", "pre2", "pre3", "main", "post1", "post2", "post3", "attn", "mode", "macsec",
	"pt_interface_id", "pt_timestamp_template", "dom_polling", "fallback_pause", "learn_mode", "custom_serdes_attrs", "speed_max", "media_type")...)

// strangers are fields that are not about the fabric.
func strangers[T any](doc string, names ...string) []column[T] {
	out := make([]column[T], len(names))
	for i, n := range names {
		out[i] = column[T]{name: n, doc: doc}
	}
	return out
}

// setLanes reads lanes: how many there are matters.
func setLanes(r *sonicReader, p *Port, l *leaf) error {
	var lanes []int
	for w := range strings.SplitSeq(l.node.text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(w))
		if err != nil || n < 0 || n > 1<<20 {
			return l.fail("want numbers of lanes separated by commas, such as 65,66,67,68")
		}
		if len(lanes) == 64 {
			return l.fail("more than 64 lanes")
		}
		lanes = append(lanes, n)
	}
	return put(r, &p.Lanes, lanes, l)
}

// setSpeed reads Mb/s.
func setSpeed(r *sonicReader, p *Port, l *leaf) error {
	n, err := whole(l, 1, 3_200_000)
	if err != nil {
		return l.fail("want Mb/s, a whole number from 1 to 3200000, such as 100000")
	}
	return put(r, &p.Speed, sim.Rate(n)*1_000_000, l)
}

// setMTU reads bytes of an Ethernet payload.
func setMTU(r *sonicReader, p *Port, l *leaf) error {
	n, err := whole(l, 68, 9216)
	if err != nil {
		return l.fail("want bytes, a whole number from 68 to 9216")
	}
	return put(r, &p.MTU, sim.Bytes(n), l)
}

var breakoutColumns = []column[Port]{
	textColumn("brkout_mode", "how the port is split; the speeds of PORT hold", func(p *Port) *Value[string] { return &p.Breakout }),
}

var poolColumns = []column[Pool]{
	wordColumn("type", "side of the switch on which it counts", []Direction{Ingress, Egress, Both}, func(p *Pool) *Value[Direction] { return &p.Type }),
	wordColumn("mode", "thresholds in bytes, or as a factor of what is free", []PoolMode{StaticPool, DynamicPool}, func(p *Pool) *Value[PoolMode] { return &p.Mode }),
	sizeColumn("size", "bytes that are shared", func(p *Pool) *Value[sim.Bytes] { return &p.Size }),
	sizeColumn("xoff", "shared headroom pool, on top of size", func(p *Pool) *Value[sim.Bytes] { return &p.Xoff }),
	percentColumn("percentage", "share of the memory, instead of size", func(p *Pool) *Value[sim.Ratio] { return &p.Percentage }),
}

var profileColumns = append([]column[Profile]{
	refColumn("pool", "pool that it takes from", "BUFFER_POOL", func(p *Profile) *Value[string] { return &p.Pool }),
	sizeColumn("size", "bytes set aside", func(p *Profile) *Value[sim.Bytes] { return &p.Size }),
	sizeColumn("xon", "resume below this use", func(p *Profile) *Value[sim.Bytes] { return &p.Xon }),
	sizeColumn("xon_offset", "resume so far below the threshold", func(p *Profile) *Value[sim.Bytes] { return &p.XonOffset }),
	sizeColumn("xoff", "headroom: bytes that may arrive after XOFF", func(p *Profile) *Value[sim.Bytes] { return &p.Xoff }),
	intColumn("dynamic_th", "threshold: 2^n times what is free", -8, 8, func(p *Profile) *Value[int] { return &p.DynamicTh }),
	sizeColumn("static_th", "threshold in bytes", func(p *Profile) *Value[sim.Bytes] { return &p.StaticTh }),
	wordColumn("headroom_type", "dynamic: xon, xoff and size are computed", []string{"static", "dynamic"}, func(p *Profile) *Value[string] { return &p.HeadroomType }),
	wordColumn("packet_discard_action", "what happens to packets beyond the threshold", []string{"drop", "trim"}, func(p *Profile) *Value[string] { return &p.Discard }),
}, strangers[Profile]("read by no version of SONiC's orchagent: the mode of the pool holds", "mode")...)

var pgColumns = []column[PG]{
	{"profile", "buffer of the priority group", func(r *sonicReader, g *PG, l *leaf) error {
		name, err := dereference(l, l.node.text, "BUFFER_PROFILE")
		if err != nil {
			return err
		}
		g.Auto = name == "NULL" || name == ""
		if g.Auto {
			name = ""
		}
		r.refs = append(r.refs, reference{table: "BUFFER_PROFILE", name: name, leaf: l})
		return put(r, &g.Profile, name, l)
	}},
}

var bufferQueueColumns = []column[Queue]{
	refColumn("profile", "buffer of the queue", "BUFFER_PROFILE", func(q *Queue) *Value[string] { return &q.Profile }),
}

var queueColumns = []column[Queue]{
	refColumn("scheduler", "how the queue is served", "SCHEDULER", func(q *Queue) *Value[string] { return &q.Scheduler }),
	refColumn("wred_profile", "marking and early drops", "WRED_PROFILE", func(q *Queue) *Value[string] { return &q.WRED }),
}

var ingressListColumns = []column[Port]{
	refsColumn("profile_list", "bounds of the port as a whole, on ingress", "BUFFER_PROFILE", func(p *Port) *Value[[]string] { return &p.IngressProfiles }),
}

var egressListColumns = []column[Port]{
	refsColumn("profile_list", "bounds of the port as a whole, on egress", "BUFFER_PROFILE", func(p *Port) *Value[[]string] { return &p.EgressProfiles }),
}

var losslessColumns = []column[Lossless]{
	intColumn("default_dynamic_th", "threshold of computed profiles: 2^n times what is free", -8, 8, func(x *Lossless) *Value[int] { return &x.DefaultDynamicTh }),
	intColumn("over_subscribe_ratio", "headroom of all ports over the shared headroom pool; 0: headroom is private", 0, 1024, func(x *Lossless) *Value[int] { return &x.OverSubscribe }),
}

var patternColumns = []column[Lossless]{
	{"mtu", "largest packet of lossless traffic, for headroom", func(r *sonicReader, x *Lossless, l *leaf) error {
		n, err := whole(l, 1, 9216)
		if err != nil {
			return err
		}
		return put(r, &x.MTU, sim.Bytes(n), l)
	}},
	percentColumn("small_packet_percentage", "share of 64-byte packets, for headroom", func(x *Lossless) *Value[sim.Ratio] { return &x.SmallPackets }),
}

// wredColumns returns the fields of the three colours.
func wredColumns() []column[WRED] {
	columns := []column[WRED]{
		wordColumn("ecn", "colours that are marked", []ECNMode{ECNNone, ECNGreen, ECNYellow, ECNRed, ECNGreenYellow, ECNGreenRed, ECNYellowRed, ECNAll}, func(w *WRED) *Value[ECNMode] { return &w.ECN }),
	}
	for c := Green; c <= Red; c++ {
		n := c.String()
		columns = append(columns,
			boolColumn("wred_"+n+"_enable", "whether the curve of "+n+" packets holds", "true", "false", func(w *WRED) *Value[bool] { return &w.Colours[c].Enable }),
			sizeColumn(n+"_min_threshold", "Kmin of "+n+" packets", func(w *WRED) *Value[sim.Bytes] { return &w.Colours[c].Min }),
			sizeColumn(n+"_max_threshold", "Kmax of "+n+" packets", func(w *WRED) *Value[sim.Bytes] { return &w.Colours[c].Max }),
			percentColumn(n+"_drop_probability", "Pmax of "+n+" packets", func(w *WRED) *Value[sim.Ratio] { return &w.Colours[c].Probability }),
		)
	}
	return columns
}

var schedulerColumns = append([]column[Scheduler]{
	wordColumn("type", "DWRR, WRR or STRICT", []SchedulerType{DWRR, WRR, Strict}, func(s *Scheduler) *Value[SchedulerType] { return &s.Type }),
	intColumn("weight", "share of the queue", 1, 100, func(s *Scheduler) *Value[int] { return &s.Weight }),
	rateColumn("cir", "guaranteed rate", func(s *Scheduler) *Value[sim.Rate] { return &s.Min }),
	rateColumn("pir", "shaper", func(s *Scheduler) *Value[sim.Rate] { return &s.Max }),
	sizeColumn("cbs", "burst of the guaranteed rate", func(s *Scheduler) *Value[sim.Bytes] { return &s.MinBurst }),
	sizeColumn("pbs", "burst of the shaper", func(s *Scheduler) *Value[sim.Bytes] { return &s.MaxBurst }),
	wordColumn("meter_type", "what rates count", []string{"bytes", "packets"}, func(s *Scheduler) *Value[string] { return &s.MeterType }),
}, strangers[Scheduler]("read by no version of SONiC's orchagent", "priority")...)

// rateColumn reads bytes per second.
func rateColumn[T any](name, doc string, at func(*T) *Value[sim.Rate]) column[T] {
	return column[T]{name, doc, func(r *sonicReader, t *T, l *leaf) error {
		const most = 400_000_000_000 // bytes per second: 3.2 Tb/s
		n, err := whole(l, 0, most)
		if err != nil {
			return l.fail("want bytes per second, a whole number from 0 to %d", int64(most))
		}
		return put(r, at(t), sim.Rate(n)*8, l)
	}}
}

var globalQoSColumns = []column[Switch]{
	refColumn("dscp_to_tc_map", "map of ports that name none", "DSCP_TO_TC_MAP", func(s *Switch) *Value[string] { return &s.GlobalDSCPToTC }),
}

var portQoSColumns = append([]column[Port]{
	priorityColumn("pfc_enable", "lossless priorities", func(p *Port) *Value[[]int] { return &p.PFCEnable }),
	priorityColumn("pfcwd_sw_enable", "priorities that the watchdog looks at", func(p *Port) *Value[[]int] { return &p.WatchdogEnable }),
	refColumn("dscp_to_tc_map", "traffic class by DSCP", "DSCP_TO_TC_MAP", func(p *Port) *Value[string] { return &p.DSCPToTC }),
	refColumn("dot1p_to_tc_map", "traffic class by VLAN priority", "DOT1P_TO_TC_MAP", func(p *Port) *Value[string] { return &p.PCPToTC }),
	refColumn("tc_to_queue_map", "queue by traffic class", "TC_TO_QUEUE_MAP", func(p *Port) *Value[string] { return &p.TCToQueue }),
	refColumn("tc_to_pg_map", "priority group by traffic class", "TC_TO_PRIORITY_GROUP_MAP", func(p *Port) *Value[string] { return &p.TCToPG }),
	refColumn("pfc_to_queue_map", "queue that a PFC frame stops", "MAP_PFC_PRIORITY_TO_QUEUE", func(p *Port) *Value[string] { return &p.PFCToQueue }),
	refColumn("pfc_to_pg_map", "priority group that sends a PFC frame", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", func(p *Port) *Value[string] { return &p.PFCToPG }),
	refColumn("tc_to_dscp_map", "DSCP that a tunnel writes", "TC_TO_DSCP_MAP", func(p *Port) *Value[string] { return &p.TCToDSCP }),
	refColumn("scheduler", "shaper of the port", "SCHEDULER", func(p *Port) *Value[string] { return &p.Scheduler }),
}, strangers[Port]("MPLS, forwarding classes and rewriting are not modelled", "tc_to_dot1p_map", "dscp_to_fc_map", "exp_to_fc_map", "mpls_tc_to_tc_map")...)

// The YANG model allows POLL_INTERVAL up to 1000 ms; pfcwd start_default sets 200
// ms for each 32 ports, without that bound.
var watchdogColumns = []column[Watchdog]{
	timeColumn("POLL_INTERVAL", "time between looks at the counters", 100, 10000, func(w *Watchdog) *Value[sim.Duration] { return &w.Poll }),
	boolColumn("BIG_RED_SWITCH", "drop all lossless queues, now", "enable", "disable", func(w *Watchdog) *Value[bool] { return &w.BigRedSwitch }),
}

var portWatchdogColumns = []column[Port]{
	wordColumn("action", "what happens to a queue in a storm", []WatchdogAction{ActionDrop, ActionForward, ActionAlert}, func(p *Port) *Value[WatchdogAction] { return &p.Watchdog.Action }),
	timeColumn("detection_time", "storm, before the action", 100, 10000, func(p *Port) *Value[sim.Duration] { return &p.Watchdog.Detection }),
	timeColumn("restoration_time", "quiet, before the queue is as it was", 100, 60000, func(p *Port) *Value[sim.Duration] { return &p.Watchdog.Restoration }),
	boolColumn("pfc_stat_history", "pauses are logged", "enable", "disable", func(p *Port) *Value[bool] { return &p.Watchdog.History }),
}
