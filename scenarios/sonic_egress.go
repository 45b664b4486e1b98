package scenarios

import (
	"reflect"
	"slices"
	"strings"

	"rdmasim/fabric"
	"rdmasim/fabric/switchconf"
	"rdmasim/sim"
)

// wred maps WRED_PROFILE through QUEUE.
func (m *sonicMapper) wred() {
	for _, r := range rulesByPort(m, func(p *switchconf.Port, add func(int, WREDRule)) {
		for i := range p.Queues {
			q := &p.Queues[i]
			switch w := m.sw.WREDProfile(q.WRED.V); {
			case !q.WRED.IsSet():
			case w == nil:
				m.cannot(q.WRED.From, "there is no such profile in the files")
			case q.Index > 7:
				m.cannot(q.WRED.From, "a switch of a scenario has queues 0 to 7")
			default:
				m.use(q.WRED.From, "switch.wred.queues")
				add(q.Index, m.wredRule(w))
			}
		}
	}) {
		r.rule.PortMatch, r.rule.Queues = m.on(r.ports), r.indexes
		m.w.WRED = append(m.w.WRED, r.rule)
	}
}

// wredRule maps one profile.
func (m *sonicMapper) wredRule(w *switchconf.WRED) WREDRule {
	r := m.w.wredRule()
	r.ECN = strings.TrimPrefix(string(w.ECN.V), "ecn_")
	m.use(w.ECN.From, "switch.wred.ecn")
	for c, at := range []*CurveSpec{&r.Green, &r.Yellow, &r.Red} {
		k, name := w.Colours[c], "switch.wred."+switchconf.Colour(c).String()
		m.use(k.Enable.From, name)
		if !k.Enable.V {
			for _, o := range []switchconf.Origin{k.Min.From, k.Max.From, k.Probability.From} {
				m.cannot(o, "the curve is not enabled (wred_%s_enable)", switchconf.Colour(c))
			}
			continue
		}
		if !k.Max.IsSet() || !k.Min.IsSet() {
			m.cannot(k.Enable.From, "a curve without both thresholds: nothing is marked or dropped early")
			continue
		}
		*at = CurveSpec{Min: k.Min.V, Max: k.Max.V, Probability: k.Probability.V, Set: true}
		m.use(k.Min.From, name+".min")
		m.use(k.Max.From, name+".max")
		m.use(k.Probability.From, name+".probability")
	}
	return r
}

// schedulers maps SCHEDULER through QUEUE and PORT_QOS_MAP.
func (m *sonicMapper) schedulers() {
	if !slices.ContainsFunc(m.ports, func(p *switchconf.Port) bool {
		return p.Scheduler.IsSet() || slices.ContainsFunc(p.Queues, func(q switchconf.Queue) bool { return q.Scheduler.IsSet() })
	}) {
		return
	}
	for i, c := range clusters(m, m.scheduler, plainText) {
		if i == 0 {
			m.w.Scheduler = c.value
		} else {
			m.w.Schedulers = append(m.w.Schedulers, SchedulerRule{m.on(c.ports), c.value})
		}
	}
	m.assume("switch.scheduler.weights", "1", "queues that QUEUE does not name: DWRR of weight 1, the default of SAI")
}

// scheduler returns the scheduler of a port.
func (m *sonicMapper) scheduler(p *switchconf.Port) SchedulerSpec {
	c := SchedulerSpec{Strict: []int{}, Weights: map[int]int{}, Quantum: DefaultSwitch().Scheduler.Quantum}
	packets := true
	for i := range p.Queues {
		q := &p.Queues[i]
		x := m.sw.Scheduler(q.Scheduler.V)
		switch {
		case !q.Scheduler.IsSet():
			continue
		case x == nil:
			m.cannot(q.Scheduler.From, "there is no such scheduler in the files")
			continue
		case q.Index > 7:
			m.cannot(q.Scheduler.From, "a switch of a scenario has queues 0 to 7")
			continue
		}
		m.use(q.Scheduler.From, "switch.scheduler")
		m.use(x.Type.From, "switch.scheduler")
		if x.Type.V == switchconf.Strict {
			c.Strict = append(c.Strict, q.Index)
			m.cannot(x.Weight.From, "a strict queue has no weight")
		} else if x.Weight.IsSet() {
			c.Weights[q.Index] = x.Weight.V
			m.use(x.Weight.From, "switch.scheduler.weights")
			packets = packets && x.Type.V == switchconf.WRR
		}
		if shape, ok := m.shape(x, "switch.scheduler.shape"); ok {
			if c.Shape == nil {
				c.Shape = map[int]ShapeSpec{}
			}
			c.Shape[q.Index] = shape
		}
		if floor, ok := m.guarantee(x); ok {
			if c.Floor == nil {
				c.Floor = map[int]ShapeSpec{}
			}
			c.Floor[q.Index] = floor
		}
	}
	if packets && len(c.Weights) > 0 {
		c.Quantum = 0 // WRR counts packets
	}
	if x := m.sw.Scheduler(p.Scheduler.V); p.Scheduler.IsSet() && x != nil {
		m.use(p.Scheduler.From, "switch.scheduler.port")
		m.cannot(x.Type.From, "a port is shaped, not scheduled")
		m.cannot(x.Weight.From, "a port is shaped, not scheduled")
		m.cannot(x.Min.From, "a port has no guaranteed rate")
		m.cannot(x.MinBurst.From, "a port has no guaranteed rate")
		c.Port, _ = m.shape(x, "switch.scheduler.port")
	}
	return c
}

// guarantee returns the guaranteed rate of a scheduler.
func (m *sonicMapper) guarantee(x *switchconf.Scheduler) (ShapeSpec, bool) {
	switch {
	case x.MeterType.V == "packets":
		for _, o := range []switchconf.Origin{x.Min.From, x.MinBurst.From} {
			m.cannot(o, "rates in packets are not modelled")
		}
		return ShapeSpec{}, false
	case !x.Min.IsSet() || x.Min.V == 0:
		m.cannot(x.Min.From, "0 is no guarantee")
		m.cannot(x.MinBurst.From, "a burst without a rate")
		return ShapeSpec{}, false
	}
	m.use(x.MeterType.From, "switch.scheduler.guarantee")
	m.use(x.Min.From, "switch.scheduler.guarantee.rate")
	m.use(x.MinBurst.From, "switch.scheduler.guarantee.burst")
	return ShapeSpec{Rate: x.Min.V, Burst: x.MinBurst.V}, true
}

// shape returns the largest rate of a scheduler.
func (m *sonicMapper) shape(x *switchconf.Scheduler, key string) (ShapeSpec, bool) {
	if x.MeterType.V == "packets" {
		for _, o := range []switchconf.Origin{x.MeterType.From, x.Max.From, x.MaxBurst.From} {
			m.cannot(o, "shapers that count packets are not modelled")
		}
		return ShapeSpec{}, false
	}
	m.use(x.MeterType.From, key)
	if !x.Max.IsSet() || x.Max.V == 0 {
		m.cannot(x.Max.From, "0 is no bound")
		m.cannot(x.MaxBurst.From, "a burst without a rate")
		return ShapeSpec{}, false
	}
	m.use(x.Max.From, key+".rate")
	m.use(x.MaxBurst.From, key+".burst")
	return ShapeSpec{Rate: x.Max.V, Burst: x.MaxBurst.V}, true
}

// watchdogs maps PFC_WD and pfcwd_sw_enable.
func (m *sonicMapper) watchdogs() {
	flavour := m.watchdogFlavour()
	for i, c := range clusters(m, func(p *switchconf.Port) Member { return m.watchdog(p, flavour) }, plainText) {
		if i == 0 {
			m.w.Watchdog = c.value
		} else {
			m.w.Watchdogs = append(m.w.Watchdogs, WatchdogRule{m.on(c.ports), c.value})
		}
	}
}

// watchdogFlavour is the rule that SONiC has for the chip.
func (m *sonicMapper) watchdogFlavour() string {
	vendor := ""
	if a := switchconf.LookupASIC(m.sw.ASIC.V); a != nil {
		vendor = a.Vendor
	}
	switch vendor {
	case "nvidia":
		return "nvidia"
	case "cisco":
		return "cisco-8000"
	case "broadcom":
	default:
		if slices.ContainsFunc(m.ports, func(p *switchconf.Port) bool { return p.Watchdog.Detection.IsSet() }) {
			m.assume("switch.watchdog", "broadcom", "SONiC's rule for the chip is not known here: that of Broadcom")
		}
	}
	return "broadcom"
}

// watchdog returns the watchdog of a port.
func (m *sonicMapper) watchdog(p *switchconf.Port, flavour string) Member {
	d := p.Watchdog
	if m.sw.Watchdog.BigRedSwitch.V && len(p.PFCEnable.V) > 0 { // it needs no PFC_WD of the port
		for _, o := range []switchconf.Origin{p.WatchdogEnable.From, d.Action.From, d.Detection.From, d.Restoration.From, m.sw.Watchdog.Poll.From} {
			m.cannot(o, "the big red switch is on: lossless queues are dropped whatever comes in")
		}
		e, err := NewMember("watchdog", flavour, "")
		if err != nil {
			return noWatchdog()
		}
		t := reflect.ValueOf(e.Params).FieldByName("WatchdogParams").Interface().(fabric.WatchdogParams)
		return watchdogMember(flavour, t, true)
	}
	if !d.Detection.IsSet() {
		m.cannot(p.WatchdogEnable.From, "there is no PFC_WD with a detection_time for the port: the watchdog is off")
		m.cannot(d.Action.From, "there is no detection_time: the watchdog is off")
		m.cannot(d.Restoration.From, "there is no detection_time: the watchdog is off")
		m.cannot(m.sw.Watchdog.Poll.From, "the watchdog is off")
		return noWatchdog()
	}
	poll := m.sw.Watchdog.Poll.V
	w := fabric.WatchdogParams{Poll: poll, Detect: max(d.Detection.V, poll), Restore: max(d.Restoration.V, poll), Action: string(d.Action.V), Priorities: append([]int{}, p.WatchdogEnable.V...)}
	for _, v := range []struct {
		o   switchconf.Origin
		at  string
		was sim.Duration
	}{{d.Detection.From, "detect", d.Detection.V}, {d.Restoration.From, "restore", d.Restoration.V}} {
		m.use(v.o, "switch.watchdog."+v.at)
		if v.was < poll {
			m.assume("switch.watchdog."+v.at, poll.String(), "%v is less than POLL_INTERVAL: it is seen at a poll", v.was)
		}
	}
	m.use(d.Action.From, "switch.watchdog.action")
	m.use(p.WatchdogEnable.From, "switch.watchdog.priorities")
	m.use(m.sw.Watchdog.Poll.From, "switch.watchdog.poll")
	return watchdogMember(flavour, w, false)
}
