package validation

import "rdmasim/reports/metric"

var _ = register("S1", Row{
	Title: "switch tests of operators",
	Hard:  true,
	Explain: `What operators run on a switch before they trust it, with a host for each port of the traffic generator: marking at dequeue, RED
accuracy, ECN of two priorities, PFC under a storm, 802.3x pauses, the watchdog and bursts that it must not see, many to one,
mixed speeds, RoCEv2 one to one and N to one. What passes is written in the scenario of each test; rdmasim list switch-tests
has them, and rdmasim run NAME runs one. Each is also run at other speeds, sizes, cables and timers, and on a switch that is imported
from files of SONiC: a Tomahawk3 with the maps, buffers and schedulers of a ToR, over which each test lays a piece of config_db.json.
Hosts mark data with DSCP 3 there, as stock SONiC has no other lossless one but 4.
RED accuracy is measured at each length of the queue, from a capture at the receiver: a frame that leaves q bytes behind is marked
with probability (q - Kmin)/(Kmax - Kmin) Pmax, 0 below and 1 above; each fifth of that range is held to four standard deviations.
Source: test plans of sonic-net/sonic-mgmt (ECN accuracy, PFC pause lossless, global pause, PFC watchdog, PFCWD burst storm, many to one, mixed speed, RoCEv2).`,
	Oracles:   []string{"wire_efficiency"},
	Scenarios: switchTests,
	Measure:   measureSwitchTests,
})

// switchTests are the scenarios of S1, in the order in which they are shown.
var switchTests = []string{"switch-dequeue-ecn.yaml", "switch-red-accuracy.yaml", "switch-ecn-two-priorities.yaml", "switch-pfc-lossless.yaml", "switch-global-pause.yaml",
	"switch-watchdog.yaml", "switch-watchdog-burst.yaml", "switch-many-to-one.yaml", "switch-mixed-speed.yaml", "switch-roce-1to1.yaml", "switch-roce-nto1.yaml"}

func measureSwitchTests(b *Bench) error {
	for _, file := range switchTests {
		if err := b.switchTest(file, ""); err != nil {
			return err
		}
	}
	for _, more := range []func(*Bench) error{measureDequeue, measureRED, measureTwoPriorities, measureOtherSwitches, measureImported} {
		if err := more(b); err != nil {
			return err
		}
	}
	return nil
}

// switchTest runs a scenario and makes each of its expectations a check; where
// says what its settings change, "" for nothing.
func (b *Bench) switchTest(file, where string, settings ...string) error {
	o, err := b.Run(file, settings...)
	if err != nil {
		return err
	}
	defer o.Discard()
	m, err := metric.Compute(o.Run)
	if err != nil {
		return err
	}
	if _, err := m.Check(o.Spec.Expect); err != nil {
		return err
	}
	name := o.Spec.Name
	if where != "" {
		name += ", " + where
	}
	for _, v := range m.Expect {
		got := "holds"
		if v.Value != nil {
			got = show(*v.Value, "")
		}
		b.add(Check{What: name + ": " + v.Text, Expected: "holds", Measured: got, Source: sonicMgmt, Tolerance: "as stated", OK: v.OK})
	}
	return nil
}

// sonicMgmt is where the tests come from.
const sonicMgmt = "sonic-mgmt test plan"
