package switchconf

import "slices"

var _ = AddRule(Rule{
	Name: "dscp-not-lossless", Severity: Warning,
	Doc:      "Data arrives with a DSCP whose traffic class is not under PFC.",
	Why:      "RDMA data shares a lossy queue with everything else: what does not fit is dropped, and a go-back-N transport sends everything since again. SONiC's stock map makes DSCP 3 and 4 lossless, NICs are shipped with 26.",
	Set:      "map the NIC's DSCP to a lossless traffic class in DSCP_TO_TC_MAP (switch.dscp_map), or set the NIC's DSCP to one that is",
	Scenario: "dscp-not-lossless", Source: "SONiC qos_config.j2; NIC guides of NVIDIA and Broadcom",
	Check: func(l *Linter) {
		any := l.hasLossless()
		for _, p := range l.ports {
			if !any && !l.Context.Files {
				return // a fabric without PFC is meant to be one
			}
			for _, s := range l.Context.Senders {
				tc, from := l.class(p, s.DSCP, s.Priority)
				if l.isLossless(p, tc) || any && len(p.PFCEnable.V) == 0 {
					continue
				}
				if any && !l.assumed && tc == s.Priority && !l.isLossless(p, s.Priority) {
					continue // a NIC that means to be lossy
				}
				l.dscpNotLossless(p, s, tc, from, any)
			}
		}
		if l.Context.Files && len(l.ports) == 0 {
			l.add("", Origin{}, "", "no port is configured: nothing is lossless")
		}
	},
})

func (l *Linter) dscpNotLossless(p *Port, s Sender, tc int, from Origin, any bool) {
	who := "data of DSCP %d"
	if l.assumed {
		who = "data of DSCP %d (as NICs are shipped)"
	}
	switch {
	case !hasMaps(p):
		if l.assumed {
			from = Origin{File: p.From.File}
		}
		l.add(p.Name, from, "", who+" is in traffic class 0: the port has no DSCP map; SONiC's stock map puts it in class 1, which is lossy too", s.DSCP)
	case !any:
		l.add(p.Name, from, "", who+" is in traffic class %d, and no port has pfc_enable", s.DSCP, tc)
	default:
		l.add(p.Name, from, "", who+" is in traffic class %d, and lossless are %v", s.DSCP, tc, p.PFCEnable.V)
	}
}

var _ = AddRule(Rule{
	Name: "priority-differs", Severity: Warning,
	Doc:      "The switch puts data into another class than the priority that the NIC has for it.",
	Why:      "The NIC sends by its own priority, and obeys pauses of that. The switch pauses the priority of its class. If they differ, the NIC does not stop when it is asked to, and the headroom overflows.",
	Set:      "map the DSCP of data to the priority of the NIC, or give the NIC that priority",
	Scenario: "priority-differs", Source: "IEEE 802.1Qbb: a pause names the priority that is to stop",
	Check: func(l *Linter) {
		if l.assumed || !l.hasLossless() {
			return
		}
		for _, p := range l.ports {
			for _, s := range l.Context.Senders {
				if tc, from := l.class(p, s.DSCP, s.Priority); tc != s.Priority && hasMaps(p) {
					if s.Where["dscp"].Kind == Given {
						from = s.Where["dscp"]
					}
					l.add(p.Name, from, "", "data of DSCP %d goes to priority %d in switches, not to that of the NIC, %d", s.DSCP, tc, s.Priority)
				}
			}
		}
	},
})

var _ = AddRule(Rule{
	Name: "cnp-with-data", Severity: Warning,
	Doc:      "CNPs wait in the queue of the data.",
	Why:      "A CNP tells a sender to slow down because a queue is long. Behind that queue it comes late, and is stopped by the same pauses.",
	Set:      "give CNPs a DSCP and a queue of their own, served strictly",
	Scenario: "cnp-with-data", Source: "DCQCN, SIGCOMM'15, section 3.3: CNPs have a high priority",
	Check: func(l *Linter) {
		l.eachCNP(func(p *Port, s Sender, data, cnp int, from Origin) {
			if l.queueOf(p, cnp) == l.queueOf(p, data) && s.CNPDSCP != s.DSCP && s.NeedsMarks && (!l.assumed || l.isLossless(p, data)) {
				l.add(p.Name, from, "", "CNPs of DSCP %d wait in the queue of the data, queue %d", s.CNPDSCP, l.queueOf(p, data))
			}
		})
	},
})

var _ = AddRule(Rule{
	Name: "cnp-wrong-queue", Severity: Warning,
	Doc:      "The DSCP of CNPs leads to another queue than the one that the NIC means.",
	Why:      "CNPs that fall into a best-effort queue wait behind bulk traffic, or are dropped with it: senders slow down late.",
	Set:      "map the DSCP of CNPs to the class of their priority: \"48\": \"6\"",
	Scenario: "cnp-wrong-queue", Source: "NIC guides: CNP_DSCP 48, CNP_802P_PRIO 6; SONiC's template for Arista 7060X6 has \"48\": \"0\"",
	Check: func(l *Linter) {
		l.eachCNP(func(p *Port, s Sender, data, cnp int, from Origin) {
			alone := l.queueOf(p, cnp) != l.queueOf(p, data) || l.assumed && !l.isLossless(p, data)
			if cnp != s.CNPPriority && alone && s.NeedsMarks {
				l.add(p.Name, from, "", "CNPs of DSCP %d go to traffic class %d, queue %d; the NIC means %d", s.CNPDSCP, cnp, l.queueOf(p, cnp), s.CNPPriority)
			}
		})
	},
})

var _ = AddRule(Rule{
	Name: "cnp-not-strict", Severity: Remark,
	Doc:      "CNPs have a queue of their own, which is not served first.",
	Why:      "CNPs are few and small; served by weight they wait for a round of the others.",
	Set:      "a scheduler of type STRICT for the queue of CNPs",
	Scenario: "cnp-not-strict", Source: "vendors' RoCE guides: CNPs in a strict queue",
	Check: func(l *Linter) {
		l.eachCNP(func(p *Port, s Sender, data, cnp int, from Origin) {
			n := l.queueOf(p, cnp)
			if n == l.queueOf(p, data) || cnp != s.CNPPriority || !s.NeedsMarks {
				return
			}
			q := p.Queue(n)
			if q == nil || !q.Scheduler.IsSet() {
				return
			}
			if x := l.Switch.Scheduler(q.Scheduler.V); x != nil && x.Type.IsSet() && x.Type.V != Strict {
				l.add(p.Name, q.Scheduler.From, "", "the queue of CNPs, %d, is served by weight (%s %d)", n, x.Type.V, x.Weight.V)
			}
		})
	},
})

// eachCNP calls f with the classes of data and CNPs of each sender on each port
// that has maps.
func (l *Linter) eachCNP(f func(p *Port, s Sender, data, cnp int, from Origin)) {
	for _, p := range l.ports {
		if !hasMaps(p) {
			continue
		}
		for _, s := range l.Context.Senders {
			data, _ := l.class(p, s.DSCP, s.Priority)
			cnp, from := l.class(p, s.CNPDSCP, s.CNPPriority)
			if w := s.Where["cnp_dscp"]; w.Kind == Given {
				from = w
			}
			f(p, s, data, cnp, from)
		}
	}
}

var _ = AddRule(Rule{
	Name: "pfc-map-mismatch", Severity: Harm,
	Doc:      "A pause stops another queue than the one that fills the priority group.",
	Why:      "A priority group that is full sends a pause for its priority. The peer stops the queue that its map gives for that priority. If the traffic leaves by another queue, it goes on, and the headroom overflows: loss in a lossless class.",
	Set:      "make TC_TO_QUEUE_MAP, TC_TO_PRIORITY_GROUP_MAP and MAP_PFC_PRIORITY_TO_QUEUE agree: class, group and queue of a lossless priority have its number",
	Scenario: "pfc-map-mismatch", Source: "IEEE 802.1Qbb; SAI, QoS maps",
	Check: func(l *Linter) {
		l.eachLossless(func(c *lossless) {
			p, s := c.port, l.Switch
			if !hasMaps(p) {
				return
			}
			for tc := range 8 {
				if mapped(s.TCToPG, p.TCToPG, tc) != c.group || !l.classInUse(p, tc) {
					continue
				}
				if q := l.queueOf(p, tc); q != c.queue {
					from := p.TCToQueue.From
					if m := FindMap(s.TCToPG, p.TCToPG.V); m != nil {
						for _, e := range m.Entries {
							if e.Key == tc && e.From.Path != "" {
								from = e.From
							}
						}
					}
					l.add(p.Name, from, "", "traffic class %d fills priority group %d and leaves by queue %d, but a pause of priority %d stops queue %d", tc, c.group, q, c.priority, c.queue)
				}
			}
		})
	},
})

// classInUse reports whether any DSCP or priority leads to a traffic class.
func (l *Linter) classInUse(p *Port, tc int) bool {
	is := func(e Entry) bool { return e.To == tc }
	if m := FindMap(l.Switch.DSCPToTC, p.DSCPToTC.V); m != nil {
		return slices.ContainsFunc(m.Entries, is) || tc == 0 && len(m.Entries) < 64
	}
	return true
}
