package scenarios

import "rdmasim/fabric"

// noWatchdog is the watchdog of a switch that has none.
func noWatchdog() Member { return Member{"none", fabric.NoWatchdogParams{}} }

// autoThreshold is the threshold of a rule that names none.
func autoThreshold() Member { return Member{fabric.ThresholdAuto, fabric.AutoParams{}} }

// everyPort matches all ports of a switch.
func everyPort() PortMatch { return PortMatch{Ports: "*", Peer: "*"} }

// The rules of a switch start from what it says for all of its ports.

func (w *SwitchSpec) groupRule() GroupRule {
	b := &w.Buffer
	return GroupRule{PortMatch: everyPort(), Reserve: b.Reserve, Threshold: autoThreshold(), Headroom: b.Headroom, Xon: b.Xon, XonOffset: b.XonOffset}
}

func (w *SwitchSpec) queueRule() QueueRule {
	return QueueRule{PortMatch: everyPort(), Threshold: autoThreshold()}
}

func (w *SwitchSpec) wredRule() WREDRule {
	return WREDRule{PortMatch: everyPort(), ECN: "none", NonECT: "drop", MarkAt: "dequeue", Above: "all"}
}

func (w *SwitchSpec) mapRule() MapRule { return MapRule{PortMatch: everyPort(), MapSpec: w.MapSpec} }

func (w *SwitchSpec) schedulerRule() SchedulerRule {
	return SchedulerRule{PortMatch: everyPort(), SchedulerSpec: w.Scheduler}
}

func (w *SwitchSpec) pfcRule() PFCRule {
	return PFCRule{PortMatch: everyPort(), Priorities: w.PFC.Priorities}
}

func (w *SwitchSpec) watchdogRule() WatchdogRule {
	return WatchdogRule{PortMatch: everyPort(), Watchdog: w.Watchdog}
}

// defaultPool is what a pool has besides its name and size.
func defaultPool() PoolSpec { return PoolSpec{Side: "ingress", Mode: "dynamic"} }
