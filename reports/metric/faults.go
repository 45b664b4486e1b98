package metric

import (
	"fmt"
	"strings"

	"rdmasim/sim/trace"
)

// Fault is an injected fault and what it has touched.
type Fault struct {
	Name    string `json:"name"`    // of the fault in the scenario: its kind, with a number from the second on
	Packets int64  `json:"packets"` // frames that it acted on: lost, changed, sent or met by a changed setting
}

// faults lists the faults of a run in the order of the scenario.
func faults(counters []trace.Counter) (list []Fault) {
	for i := range counters {
		if c := &counters[i]; c.Name == trace.CountFaultPackets {
			list = append(list, Fault{strings.TrimPrefix(c.Object, "fault/"), int64(c.Value)})
		}
	}
	return list
}

// Verdict is the expectation that every fault carries with it: a fault that
// touched no packet has tested nothing, whatever else holds.
func (f Fault) Verdict() Verdict {
	n := float64(f.Packets)
	v := Verdict{Text: "fault " + f.Name + " acts", OK: f.Packets > 0, Value: &n}
	if !v.OK {
		v.Why = fmt.Sprintf("fault %s touched no packet", f.Name)
	}
	return v
}
