package hardware

import (
	"cmp"
	"maps"
	"slices"
	"syscall"

	"rdmasim/fabric/netem"
	"rdmasim/scenarios"
	"rdmasim/sim/trace"
)

func sortedConns(m map[uint32]*conn) []*conn {
	list := slices.Collect(maps.Values(m))
	slices.SortFunc(list, func(a, b *conn) int { return cmp.Compare(a.QPN(), b.QPN()) })
	return list
}

// counters reads the counters of all devices in use.
func (w *world) counters() ([]reading, error) {
	all := make([]reading, len(w.ends))
	for i, e := range w.ends {
		if e == nil {
			continue
		}
		all[i] = readCounters(&e.info)
		if all[i].noDevice != nil {
			return nil, all[i].noDevice
		}
	}
	return all, nil
}

// known translates counters of drivers into those of a run: Soft-RoCE's names,
// then those of mlx5, bnxt_re and irdma. What is not here keeps its own name.
var known = map[string]string{
	"sent_pkts": trace.CountTxPackets, "out_of_seq_request": trace.CountOutOfSequence, "retry_exceeded_err": "retry_exceeded",
	"out_of_sequence": trace.CountOutOfSequence, "np_cnp_sent": trace.CountCNPSent, "rp_cnp_handled": trace.CountCNPHandled,
	"np_ecn_marked_roce_packets": trace.CountCEReceived, "local_ack_timeout_err": trace.CountTimeouts,
	"oos_drop_count": trace.CountOutOfSequence, "tx_cnp_pkts": trace.CountCNPSent, "rx_cnp_pkts": trace.CountCNPHandled,
	"rx_ecn_marked_pkts": trace.CountCEReceived, "to_retransmits": trace.CountTimeouts, "max_retry_exceeded": "retry_exceeded",
	"cnpSent": trace.CountCNPSent, "cnpHandled": trace.CountCNPHandled, "RxECNMrkd": trace.CountCEReceived,
}

// finishDirectory writes rows, counters and what the run cost.
func (w *world) finishDirectory(out *trace.Writer, before []reading, missing []trace.Missing, list []trace.Counter, res *scenarios.Result) error {
	after, err := w.counters()
	if err != nil {
		return err
	}
	deltas := make([]netem.Counters, len(w.ends))
	for i, e := range w.ends {
		if e == nil {
			continue
		}
		d := after[i].since(&before[i])
		deltas[i] = d.device
		list = append(list, d.counters(&e.info)...)
	}
	return w.writeRest(out, list, deltas, w.deviceStates(before, missing), res)
}

// writeRest writes what is known at the end: rows, counters with those of the
// program itself, the state of the devices, and the checks.
func (w *world) writeRest(out *trace.Writer, list []trace.Counter, deltas []netem.Counters, devices trace.DevicesFile, res *scenarios.Result) (err error) {
	if err := out.Drain([]*trace.Sink{&w.sink}); err != nil {
		return err
	}
	for _, in := range w.faults {
		if w.reason != "" && in.hit == 0 { // the machine that counted it may be the one that is lost
			continue
		}
		list = append(list, trace.Counter{Object: "fault/" + in.name, Prio: -1, Name: trace.CountFaultPackets, Value: float64(in.hit)})
	}
	list = append(list, trace.Counter{Object: "fabric", Prio: -1, Name: trace.CountPayloadDelivered, Value: float64(w.total)})
	for i, h := range w.traffic.Hosts {
		if w.sent[i] > 0 {
			list = append(list, trace.Counter{Object: h, Prio: -1, Name: "unreliable_messages_sent", Value: float64(w.sent[i])},
				trace.Counter{Object: h, Prio: -1, Name: "unreliable_messages_arrived", Value: float64(w.arrived[i])})
		}
	}
	out.Counters(list)
	if w.reason == "" { // what a machine has counted is missing otherwise
		w.reconcile(deltas)
	}
	if err := out.JSON(trace.FileDevices, devices); err != nil {
		return err
	}
	if err := out.JSON(trace.FileChecks, w.checks); err != nil {
		return err
	}
	for _, c := range w.checks {
		res.Notes = append(res.Notes, verdict(c)+": "+c.Text)
	}
	perf := trace.Perf{Wall: res.Wall, Workers: 1, Host: trace.ThisHost()}
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
		perf.CPU = float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
		perf.PeakRSS = u.Maxrss * 1024
	}
	if err := out.JSON(trace.FilePerf, perf); err != nil {
		return err
	}
	end := trace.ManifestEnd{Simulated: res.End, Partial: res.Partial}
	if res.Partial {
		end.Reason = cmp.Or(w.reason, "interrupted")
	}
	res.Fingerprint, err = out.Finish(end)
	return err
}
