package switchconf

import (
	"cmp"
	"slices"

	"rdmasim/sim"
)

var _ = AddRule(Rule{
	Name: "ecn-never-marks", Severity: Warning,
	Doc:      "Marking begins at a length that the queue cannot reach.",
	Why:      "Nothing is ever marked: congestion control does not act, and pauses or drops are all there is.",
	Set:      "Kmin well below the longest queue",
	Scenario: "ecn-after-pfc", Source: "alpha / (1 + alpha) of the pool, Choudhury and Hahne 1998",
	Check: func(l *Linter) {
		l.eachCurve(func(c *curve) {
			if n, ok := l.longestQueue(c.port, c.queue); ok && c.marks() && c.green.Min.V >= n {
				l.add(c.port.Name, c.green.Min.From, "Kmin well below "+size(n), "queue %d marks from %s on, and holds at most %s", c.queue.Index, size(c.green.Min.V), size(n))
			}
		})
	},
})

var _ = AddRule(Rule{
	Name: "kmax-unreachable", Severity: Warning,
	Doc:      "The queue cannot reach Kmax.",
	Why:      "The upper part of the marking curve is never used: the largest share of marks stays below Pmax, and senders slow down too little.",
	Set:      "Kmax below the longest queue",
	Scenario: "kmax-unreachable", Source: "alpha / (1 + alpha) of the pool, Choudhury and Hahne 1998",
	Check: func(l *Linter) {
		l.eachCurve(func(c *curve) {
			if n, ok := l.longestQueue(c.port, c.queue); ok && c.marks() && c.green.Max.V > n && c.green.Min.V < n {
				l.add(c.port.Name, c.green.Max.From, "Kmax below "+size(n), "queue %d has Kmax %s, and holds at most %s", c.queue.Index, size(c.green.Max.V), size(n))
			}
		})
	},
})

var _ = AddRule(Rule{
	Name: "ecn-after-pfc", Severity: Warning,
	Doc:      "PFC pauses a port before ECN marks enough.",
	Why:      "Marks are to slow senders down before pauses have to. One sender alone is paused at alpha / (1 + alpha) of the pool; where marking begins later, or is weak until then, PFC does the work of congestion control, with its victims.",
	Set:      "Kmax below alpha B / (1 + alpha)",
	Scenario: "ecn-after-pfc", Source: "DCQCN, SIGCOMM'15, section 4: ECN before PFC",
	Check: func(l *Linter) {
		l.eachCurve(func(c *curve) {
			x := l.losslessQueue(c.port, c.queue.Index)
			if x == nil || !c.marks() {
				return
			}
			switch n, ok := x.onset(1); {
			case !ok:
			case c.green.Min.V >= n:
				l.add(c.port.Name, c.green.Min.From, "Kmax below "+size(n)+", alpha B / (1 + alpha)", "PFC pauses a port at %s or less, before marking of queue %d begins at %s", size(n), c.queue.Index, size(c.green.Min.V))
			case c.green.Max.V > n:
				l.addAs(Remark, c.port.Name, c.green.Max.From, "Kmax below "+size(n)+", alpha B / (1 + alpha)", "PFC pauses a lone port at %s, before queue %d reaches Kmax at %s", size(n), c.queue.Index, size(c.green.Max.V))
			}
		})
	},
})

var _ = AddRule(Rule{
	Name: "kmin-tiny", Severity: Warning,
	Doc:      "Marking begins below two packets.",
	Why:      "Two packets wait whenever two senders meet. Marks then say nothing about congestion, and links stay idle.",
	Set:      "Kmin of several packets; of the order of rate times round trip",
	Scenario: "kmin-tiny", Source: "DCTCP, SIGCOMM'10, section 3.4",
	Check: func(l *Linter) {
		l.eachCurve(func(c *curve) {
			var frame sim.Bytes
			for _, s := range l.Context.Senders {
				frame = max(frame, s.Frame)
			}
			if c.marks() && c.green.Min.V < 2*frame {
				l.add(c.port.Name, c.green.Min.From, "", "queue %d marks from %s on: less than two packets of %s", c.queue.Index, size(c.green.Min.V), size(frame))
			}
		})
	},
})

var _ = AddRule(Rule{
	Name: "ecn-oscillates", Severity: Remark,
	Doc:      "Every packet is marked at a queue that is short for the round trip.",
	Why:      "All senders are told at once, all slow down at once, and the queue runs empty before they are back: throughput is lost in waves.",
	Set:      "Pmax of 1 to 20 %, or Kmin above rate times round trip / 7",
	Scenario: "ecn-oscillates", Source: "DCTCP, SIGCOMM'10, section 3.4: K > C RTT / 7",
	Check: func(l *Linter) {
		rtt := cmp.Or(l.Context.RTT, 20*sim.Microsecond) // of a Clos, in vendors' guides
		l.eachCurve(func(c *curve) {
			if !c.port.Speed.IsSet() || !c.marks() || c.green.Probability.V < 0.99 {
				return
			}
			need := c.port.Speed.V.BytesIn(rtt) / 7
			if c.green.Max.V < need {
				l.add(c.port.Name, c.green.Max.From, "", "queue %d of a port of %v marks everything from %s on; rate times round trip (%v) / 7 is %s", c.queue.Index, c.port.Speed.V, size(c.green.Max.V), rtt, size(need))
			}
		})
	},
})

var _ = AddRule(Rule{
	Name: "ecn-not-enabled", Severity: Warning,
	Doc:      "A profile has thresholds, and no flag that makes them hold.",
	Why:      "Without wred_green_enable the switch ignores the thresholds; with ecn_none it drops instead of marking. Who reads the thresholds believes that ECN is on.",
	Set:      "wred_green_enable true and ecn ecn_all",
	Scenario: "ecn-not-enabled", Source: "SONiC YANG: wred_<colour>_enable is false by default, ecn is ecn_none",
	Check: func(l *Linter) {
		l.eachCurve(func(c *curve) {
			switch {
			case !c.green.Enable.V && (c.green.Min.IsSet() || c.green.Max.IsSet()):
				l.add(c.port.Name, c.wred.From, "", "profile %s has thresholds for green packets and no wred_green_enable: queue %d marks nothing", c.wred.Name, c.queue.Index)
			case c.green.Enable.V && !c.green.Max.IsSet():
				l.add(c.port.Name, c.wred.From, "", "profile %s has wred_green_enable and no thresholds", c.wred.Name)
			}
		})
	},
})

var _ = AddRule(Rule{
	Name: "wred-drops-lossless", Severity: Harm,
	Doc:      "A lossless queue drops early what cannot be marked.",
	Why:      "WRED drops packets that are not ECN-capable, or whose colour it does not mark, whether PFC protects the queue or not: loss in a lossless class.",
	Set:      "ecn ecn_all, and NICs that send ECT; or no WRED on that queue",
	Scenario: "wred-drops-lossless", Source: "RFC 3168, section 7; SAI: SAI_WRED_ATTR_ECN_MARK_MODE",
	Check: func(l *Linter) {
		l.eachCurve(func(c *curve) {
			x := l.losslessQueue(c.port, c.queue.Index)
			if x == nil || !c.green.Enable.V || !c.green.Max.IsSet() || c.wred.PassNonECT.V {
				return
			}
			if !c.wred.ECN.V.Marks(Green) {
				l.add(c.port.Name, c.wred.ECN.From, "", "queue %d is lossless, and profile %s drops green packets from %s on: its ecn is %s", c.queue.Index, c.wred.Name, size(c.green.Min.V), c.wred.ECN.V)
				return
			}
			for _, s := range l.Context.Senders {
				tc, _ := l.class(c.port, s.DSCP, s.Priority)
				if !s.ECT && hasMaps(c.port) && l.queueOf(c.port, tc) == c.queue.Index {
					l.add(c.port.Name, c.wred.From, "", "queue %d is lossless, and its WRED drops data that is not ECN-capable from %s on", c.queue.Index, size(c.green.Min.V))
				}
			}
		})
	},
})

var _ = AddRule(Rule{
	Name: "nobody-marks", Severity: Warning,
	Doc:      "Congestion control needs marks, and the queue of the data marks nothing.",
	Why:      "DCQCN and DCTCP slow down by marks alone. Without them every sender goes on at line rate, and PFC or loss is the only control.",
	Set:      "a WRED profile with ECN on the queue of the data (switch.ecn)",
	Scenario: "nobody-marks", Source: "DCQCN, SIGCOMM'15",
	Check: func(l *Linter) {
		if len(l.Switch.WRED) == 0 && l.assumed {
			return // the files do not say how queues mark
		}
		for _, p := range l.ports {
			for _, s := range l.Context.Senders {
				if !s.NeedsMarks || !hasMaps(p) {
					continue
				}
				tc, _ := l.class(p, s.DSCP, s.Priority)
				if l.assumed && !l.isLossless(p, tc) {
					continue // dscp-not-lossless says it
				}
				q := l.queueOf(p, tc)
				marks, from := false, s.Where["congestion"]
				if x := p.Queue(q); x != nil {
					if x.From.Kind != Missing {
						from = x.From
					}
					w := l.Switch.WREDProfile(x.WRED.V)
					marks = w != nil && (&curve{wred: w, green: &w.Colours[Green]}).marks()
				}
				if !marks {
					l.add(p.Name, from, "", "congestion control needs marks, and switches mark nothing in queue %d, that of the data", q)
				}
			}
		}
	},
})

var _ = AddRule(Rule{
	Name: "ecn-not-by-speed", Severity: Warning,
	Doc:      "Ports of very different speeds have the same thresholds, or the faster ones smaller thresholds.",
	Why:      "A queue of 400 KB is 32 us at 100 Gb/s and 128 us at 25. Thresholds in bytes are right for one speed: the others get delay, or idle links.",
	Set:      "thresholds in proportion to the speed, with a profile per speed",
	Scenario: "ecn-not-by-speed", Source: "HPCC ns-3 model: Kmin 4 KB and Kmax 16 KB per Gb/s",
	Check: func(l *Linter) {
		type use struct {
			speed sim.Rate
			c     curve
		}
		var uses []use
		l.eachCurve(func(c *curve) {
			if c.port.Speed.IsSet() && c.marks() && !slices.ContainsFunc(uses, func(u use) bool {
				return u.speed == c.port.Speed.V && u.c.wred == c.wred && u.c.queue.Index == c.queue.Index
			}) {
				uses = append(uses, use{c.port.Speed.V, *c})
			}
		})
		for _, slow := range uses {
			for _, fast := range uses {
				const most = 4 // from 100G to 400G; one generation, 100G to 200G, is bearable
				if fast.c.queue.Index == slow.c.queue.Index && fast.speed >= most*slow.speed && fast.c.green.Max.V <= slow.c.green.Max.V {
					l.add("", fast.c.green.Max.From, "", "queue %d has Kmax %s on ports of %v and %s on ports of %v", slow.c.queue.Index, size(slow.c.green.Max.V), slow.speed, size(fast.c.green.Max.V), fast.speed)
				}
			}
		}
	},
})

var _ = AddRule(Rule{
	Name: "timeout-below-rtt", Severity: Harm,
	Doc:      "The transport sends again before an answer can be back.",
	Why:      "Each timeout sends everything again that is under way already: the load doubles, and after a few rounds the queue pair fails.",
	Set:      "a timeout well above round trip and queues; 14 (67 ms) is usual",
	Scenario: "timeout-below-rtt", Source: "InfiniBand Architecture, 9.7.6.1.3: 4.096 us times 2^n",
	Check: func(l *Linter) {
		if l.Context.RTT == 0 {
			return
		}
		for _, s := range l.Context.Senders {
			if s.Timeout == 0 {
				continue
			}
			if s.Timeout <= l.Context.RTT {
				l.add("", s.Where["timeout"], "", "a timeout of %v, and the round trip through the idle fabric takes %v", s.Timeout, l.Context.RTT)
				continue
			}
			l.eachCurve(func(c *curve) {
				if c.marks() && c.port.Speed.V > 0 && s.Timeout < l.Context.RTT+c.port.Speed.V.TxTime(c.green.Max.V) {
					l.addAs(Warning, "", s.Where["timeout"], "", "a timeout of %v, and the round trip with one queue at Kmax takes %v", s.Timeout, l.Context.RTT+c.port.Speed.V.TxTime(c.green.Max.V))
				}
			})
		}
	},
})
