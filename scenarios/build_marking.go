package scenarios

import (
	"rdmasim/fabric"
	"rdmasim/sim"
)

// markingOf says which ports mark alike.
type markingOf struct {
	spec *SwitchSpec
	rate sim.Rate
}

// marking returns the curves of a switch's ports of a rate, by class.
func (w *world) marking(sp *SwitchSpec, rate sim.Rate) *[8]fabric.ECNConfig {
	if m := w.markings[markingOf{sp, rate}]; m != nil {
		return m
	}
	ecn := sp.ECN
	for _, r := range sp.ECNByRate {
		if r.Rate == rate {
			ecn = r.ECN
		}
	}
	m := new([8]fabric.ECNConfig)
	for k, e := range ecn {
		m[k] = fabric.ECNConfig{On: true, Kmin: int64(e.Kmin), Kmax: int64(e.Kmax), Pmax: float64(e.Pmax), KeepPmax: e.Above == "pmax"}
		if e.MarkAt == "enqueue" {
			m[k].At = fabric.MarkAtEnqueue
		}
	}
	w.markings[markingOf{sp, rate}] = m
	return m
}
