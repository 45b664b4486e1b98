package switchconf

import "rdmasim/sim"

var _ = AddRule(Rule{
	Name: "pfc-without-profile", Severity: Harm,
	Doc:      "A priority is under PFC, and its priority group has no lossless profile.",
	Why:      "Without a profile with headroom the group is lossy: it never asks for a pause in time, or never at all, and frames are dropped that everyone believes to be safe.",
	Set:      "bind the group to a lossless profile in BUFFER_PG (switch.buffer.groups), or take the priority out of pfc_enable",
	Scenario: "pfc-without-profile", Source: "sonic-swss, buffermgr.cpp: SONiC binds groups of pfc_enable by itself only in the traditional model",
	Check: func(l *Linter) {
		if len(l.Switch.Profiles) == 0 {
			return // the buffers are not in the files
		}
		l.eachLossless(func(c *lossless) {
			switch {
			case c.pg == nil && l.Switch.BufferModel.V == Dynamic:
				l.add(c.port.Name, c.port.PFCEnable.From, "", "priority %d is under PFC, and no BUFFER_PG binds priority group %d", c.priority, c.group)
			case c.pg != nil && c.profile != nil && !c.profile.Xoff.IsSet() && !c.profile.IsLossless():
				l.add(c.port.Name, c.pg.Profile.From, "", "priority %d is under PFC, and profile %s of its priority group is lossy", c.priority, c.profile.Name)
			}
		})
	},
})

var _ = AddRule(Rule{
	Name: "pfc-without-headroom", Severity: Harm,
	Doc:      "A priority is under PFC, and its priority group has no headroom.",
	Why:      "After XOFF is sent, frames go on arriving for a round trip and the time that the peer takes to obey. Without headroom they are dropped.",
	Set:      "headroom for rate, cable and MTU: rdmasim headroom computes it",
	Scenario: "pfc-without-headroom", Source: "IEEE 802.1Qbb, annex O",
	Check: func(l *Linter) {
		l.eachLossless(func(c *lossless) {
			if c.profile == nil || !c.profile.Xoff.IsSet() || c.profile.Xoff.V > 0 || c.profile.HeadroomType.V == "dynamic" {
				return
			}
			l.add(c.port.Name, c.profile.Xoff.From, "", "priority %d is under PFC with a headroom of 0B", c.priority)
		})
	},
})

var _ = AddRule(Rule{
	Name: "headroom-short", Severity: Harm,
	Doc:      "Headroom is less than what can arrive after XOFF.",
	Why:      "The cable holds rate times round trip, the peer finishes a frame and takes its time: what exceeds the headroom is dropped in a lossless class.",
	Set:      "the headroom that rdmasim headroom computes for rate, cable and MTU",
	Scenario: "headroom-short", Source: "IEEE 802.1Qbb, annex O; NVIDIA's formula (sonic-swss, buffer_headroom_mellanox.lua)",
	Check: func(l *Linter) {
		l.eachLossless(func(c *lossless) {
			f, p := c.profile, c.port
			if f == nil || f.Xoff.V == 0 || f.HeadroomType.V == "dynamic" || !p.Speed.IsSet() || !p.Cable.IsSet() {
				return
			}
			need, how := l.neededHeadroom(p)
			if need == 0 || f.Xoff.V >= need {
				return
			}
			l.add(p.Name, f.Xoff.From, "at least "+size(need), "headroom of %s on a port of %v with %v of cable: %s", size(f.Xoff.V), p.Speed.V, p.Cable.V, how)
		})
	},
})

// neededHeadroom returns the least headroom that a port can do with: full frames of
// the senders on an ideal switch.
func (l *Linter) neededHeadroom(p *Port) (sim.Bytes, string) {
	if l.Context.Needed != nil {
		return l.Context.Needed(p)
	}
	frame := sim.Bytes(0)
	for _, s := range l.Context.Senders {
		frame = max(frame, s.Frame)
	}
	h, err := ComputeHeadroom(HeadroomQuery{ASIC: "generic", Speed: p.Speed.V, Cable: p.Cable.V, MTU: frame, LosslessMTU: frame})
	if err != nil {
		return 0, ""
	}
	return h.Xoff, "full frames of " + size(frame) + " need " + size(h.Xoff)
}

var _ = AddRule(Rule{
	Name: "headroom-oversubscribed", Severity: Remark,
	Doc:      "All headrooms together are more than the shared headroom pool.",
	Why:      "Ports that pause at the same time share a pool: it holds a few of them. That is how shared headroom saves memory, and it loses frames when more pause at once.",
	Set:      "a larger xoff of the pool, or know the ratio that you bet on",
	Scenario: "headroom-oversubscribed", Source: "SONiC: shared headroom pool, over_subscribe_ratio",
	Check: func(l *Linter) {
		sum := map[string]sim.Bytes{}
		largest := map[string]sim.Bytes{}
		groups := map[string]int{}
		l.eachLossless(func(c *lossless) {
			if c.profile != nil && c.pool != nil && c.pool.Xoff.V > 0 {
				n := c.pool.Name
				sum[n] += c.profile.Xoff.V
				largest[n] = max(largest[n], c.profile.Xoff.V)
				groups[n]++
			}
		})
		for i := range l.Switch.Pools {
			p := &l.Switch.Pools[i]
			switch n := p.Name; {
			case largest[n] > p.Xoff.V:
				l.addAs(Harm, "", p.Xoff.From, "", "the headroom pool of %s has %s, less than the headroom of one priority group, %s", n, size(p.Xoff.V), size(largest[n]))
			case sum[n] > p.Xoff.V:
				l.add("", p.Xoff.From, "", "%d lossless priority groups share a headroom pool of %s and may take %s: over-subscribed %.1f times", groups[n], size(p.Xoff.V), size(sum[n]), float64(sum[n])/float64(p.Xoff.V))
			}
		}
	},
})

var _ = AddRule(Rule{
	Name: "xon-ping-pong", Severity: Warning,
	Doc:      "A priority group resumes at the level at which it pauses.",
	Why:      "Without a distance between XOFF and XON each frame that leaves ends the pause and the next one begins it: pause frames by the thousand.",
	Set:      "xon_offset of two frames or more",
	Scenario: "xon-ping-pong", Source: "SONiC YANG: resume at max(xon, threshold - xon_offset)",
	Check: func(l *Linter) {
		l.eachLossless(func(c *lossless) {
			f := c.profile
			if f == nil || f.HeadroomType.V == "dynamic" || f.Xoff.V == 0 || f.XonOffset.V > 0 || f.Xon.V > 0 {
				return
			}
			from := f.From
			if f.XonOffset.IsSet() {
				from = f.XonOffset.From
			}
			l.add(c.port.Name, from, "", "priority %d resumes at its threshold: it has neither xon nor xon_offset", c.priority)
		})
	},
})

var _ = AddRule(Rule{
	Name: "many-lossless", Severity: Warning,
	Doc:      "More than two priorities are lossless, and their headroom takes much of the buffer.",
	Why:      "Headroom is set aside per port and priority. With many of them little is left to share, so that pauses come early.",
	Set:      "one or two lossless priorities",
	Scenario: "many-lossless", Source: "Guo et al., SIGCOMM'16, section 2: two lossless classes fit a shallow buffer",
	Check: func(l *Linter) {
		set := map[string]sim.Bytes{}
		l.eachLossless(func(c *lossless) {
			if c.profile != nil && c.pool != nil {
				a := l.Switch.SetAside(c.profile)
				if set[c.pool.Name] += a.Reserved; !a.Shared {
					set[c.pool.Name] += a.Headroom
				}
			}
		})
		l.eachLossless(func(c *lossless) {
			if len(c.port.PFCEnable.V) > 2 && c.pool != nil && c.pool.Size.V > 0 && set[c.pool.Name] > c.pool.Size.V {
				l.add(c.port.Name, c.port.PFCEnable.From, "", "%d lossless priorities %v: reserves and headroom of the switch take %s, more than the %s that are shared", len(c.port.PFCEnable.V), c.port.PFCEnable.V, size(set[c.pool.Name]), size(c.pool.Size.V))
			}
		})
	},
})

var _ = AddRule(Rule{
	Name: "alpha-too-large", Severity: Remark,
	Doc:      "One congested priority group can take nearly the whole pool.",
	Why:      "With alpha 8 a group alone takes 8/9 of what is shared: while it is congested, others are paused at a ninth.",
	Set:      "alpha of 1/8 to 2 (dynamic_th -3 to 1)",
	Scenario: "alpha-too-large", Source: "Choudhury and Hahne, IEEE/ACM ToN 1998: a lone user has alpha / (1 + alpha)",
	Check: func(l *Linter) {
		l.eachLossless(func(c *lossless) {
			if f := c.profile; f != nil && f.Alpha() >= 8 {
				from := f.DynamicTh.From
				if f.Factor.IsSet() {
					from = f.Factor.From
				}
				l.add(c.port.Name, from, "", "alpha %v of priority %d: one congested group takes %.0f %% of the pool", f.Alpha(), c.priority, 100*float64(f.Alpha())/(1+float64(f.Alpha())))
			}
		})
	},
})

var _ = AddRule(Rule{
	Name: "small-packets", Severity: Warning,
	Doc:      "Headroom is computed for half of small packets, and messages are small.",
	Why:      "A 64-byte frame takes a whole cell, or two or three: as bytes on the cable it fills much more headroom than large frames do.",
	Set:      "small_packet_percentage 100 in LOSSLESS_TRAFFIC_PATTERN",
	Scenario: "small-packets", Source: "sonic-swss, buffer_headroom_mellanox.lua",
	Check: func(l *Linter) {
		const small = 256 // bytes: below, cells are badly filled
		x := l.Switch.Lossless.SmallPackets
		if x.IsSet() && x.V < 1 && l.Context.Message > 0 && l.Context.Message <= small && l.Switch.BufferModel.V == Dynamic {
			l.add("", x.From, "", "headroom is computed for %.0f %% of 64-byte packets, and messages of %s are sent", 100*float64(x.V), size(l.Context.Message))
		}
	},
})

var _ = AddRule(Rule{
	Name: "egress-drops-lossless", Severity: Harm,
	Doc:      "A lossless queue is bounded on egress.",
	Why:      "PFC works on ingress. A queue that reaches a bound of its own before the ingress side pauses drops what arrives, in a lossless class.",
	Set:      "static_th of the egress lossless profile at the size of its pool, or dynamic_th 7",
	Scenario: "egress-drops-lossless", Source: "SONiC templates: egress_lossless_profile has static_th of the pool",
	Check: func(l *Linter) {
		l.eachLossless(func(c *lossless) {
			q := c.port.Queue(c.queue)
			if q == nil {
				return
			}
			f := l.Switch.Profile(q.Profile.V)
			if f == nil {
				return
			}
			pool := l.Switch.Pool(f.Pool.V)
			switch {
			case f.StaticTh.IsSet() && pool != nil && pool.Size.IsSet() && f.StaticTh.V < pool.Size.V:
				l.add(c.port.Name, f.StaticTh.From, "static_th "+size(pool.Size.V), "queue %d of lossless priority %d drops beyond %s; its pool has %s", c.queue, c.priority, size(f.StaticTh.V), size(pool.Size.V))
			case !f.StaticTh.IsSet() && f.Alpha() > 0 && f.Alpha() <= 8:
				from := f.DynamicTh.From
				if f.Factor.IsSet() {
					from = f.Factor.From
				}
				l.add(c.port.Name, from, "", "queue %d of lossless priority %d drops beyond %v times what is free on egress", c.queue, c.priority, f.Alpha())
			}
		})
	},
})

var _ = AddRule(Rule{
	Name: "watchdog-off", Severity: Remark,
	Doc:      "PFC is on, and no watchdog looks for storms.",
	Why:      "One NIC that pauses for ever stops its switch port, then the switch, then the fabric. A watchdog gives up the one queue instead.",
	Set:      "pfcwd start --action drop all 400 --restoration-time 400",
	Scenario: "watchdog-off", Source: "Guo et al., SIGCOMM'16, section 4.3",
	Check: func(l *Linter) {
		if !l.Context.Files {
			return // a scenario says what it has
		}
		l.eachLossless(func(c *lossless) {
			if !c.port.Watchdog.Detection.IsSet() {
				l.add(c.port.Name, c.port.PFCEnable.From, "", "PFC is on, and PFC_WD has no detection_time for the port")
			}
		})
	},
})

var _ = AddRule(Rule{
	Name: "watchdog-below-poll", Severity: Warning,
	Doc:      "The watchdog is to detect or restore in less time than it polls.",
	Why:      "Counters are read once per poll: a storm is found at the first poll after detection_time, up to one poll later. A shorter time promises what does not happen.",
	Set:      "detection_time and restoration_time of at least POLL_INTERVAL",
	Scenario: "watchdog-below-poll", Source: "sonic-utilities, pfcwd; SONiC YANG: both at least POLL_INTERVAL",
	Check: func(l *Linter) {
		poll := l.Switch.Watchdog.Poll
		for _, p := range l.ports {
			w := p.Watchdog
			if w.Detection.IsSet() && w.Detection.V < poll.V {
				l.add(p.Name, w.Detection.From, "", "detection_time %v is less than POLL_INTERVAL, %v", w.Detection.V, poll.V)
			}
			if w.Restoration.IsSet() && w.Restoration.V < poll.V {
				l.add(p.Name, w.Restoration.From, "", "restoration_time %v is less than POLL_INTERVAL, %v", w.Restoration.V, poll.V)
			}
		}
	},
})
