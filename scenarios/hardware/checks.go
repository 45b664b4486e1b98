package hardware

import (
	"fmt"
	"math"
	"time"

	"rdmasim/fabric/netem"
	"rdmasim/scenarios/fault"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

func verdict(c trace.Check) string {
	if c.OK {
		return "agrees"
	}
	return "DOES NOT AGREE"
}

// errorsSeen is what the devices counted of losses. Sources: the kernel's
// drivers/infiniband/sw/rxe/rxe_hw_counters.c, and NVIDIA, "Understanding mlx5
// Linux counters and status parameters".
type errorsSeen struct {
	gaps     int64 // packets ahead of the expected one: out_of_seq_request, out_of_sequence
	naks     int64 // sequence errors that senders were told of: rcvd_seq_err, packet_seq_err
	retries  int64 // rounds of sending again, for a NAK or a timeout: completer_retry_err
	timeouts int64 // local_ack_timeout_err
	twice    int64 // duplicate_request
	rnr      int64 // receiver-not-ready NAKs: send_rnr_err, or the rnr_nak_retry_err of the sender
	gaveUp   int64 // retry_exceeded_err
	any      bool
}

func seen(all []netem.Counters) (s errorsSeen) {
	for _, c := range all {
		for _, k := range []struct {
			to    *int64
			names []string
		}{{&s.gaps, []string{"out_of_seq_request", "out_of_sequence", "oos_drop_count"}}, {&s.naks, []string{"rcvd_seq_err", "packet_seq_err", "seq_err_naks_rcvd"}},
			{&s.retries, []string{"completer_retry_err"}}, {&s.timeouts, []string{"local_ack_timeout_err", "to_retransmits"}}, {&s.twice, []string{"duplicate_request"}},
			{&s.rnr, []string{"send_rnr_err", "rnr_nak_retry_err", "rnr_naks_rcvd"}}, {&s.gaveUp, []string{"retry_exceeded_err", "max_retry_exceeded"}}} {
			for _, n := range k.names {
				if v, ok := c[n]; ok {
					*k.to += v
					s.any = true
				}
			}
		}
	}
	return s
}

// reconcile compares what queues and rules have dropped with what the devices
// saw of it. All figures are those of the whole run.
func (w *world) reconcile(deltas []netem.Counters) {
	s := seen(deltas)
	dropped, onlyLoss := int64(0), true
	for _, in := range w.faults {
		dropped += in.dropped
		switch f := in.f.(type) {
		case fault.Loss:
			if f.Correlation == 0 {
				w.lossRate(in, float64(f.Probability))
			}
		case fault.GilbertElliott, fault.Blocked, fault.MTU, fault.Corrupt, fault.Delay, fault.Rate:
		case fault.LateReceives:
			w.checks = append(w.checks, trace.Check{Subject: "fault/" + in.name, OK: s.rnr > 0 || !s.any,
				Text: fmt.Sprintf("%d receives were posted late, and the devices counted %d receiver-not-ready NAKs", in.hit, s.rnr)})
		default:
			onlyLoss = false
		}
	}
	w.datagramLosses(dropped, onlyLoss)
	reliable := w.reliable()
	if dropped == 0 || !reliable {
		return
	}
	c := trace.Check{Subject: "losses", Value: ptr(float64(s.gaps)), Low: ptr(0), High: ptr(float64(dropped))}
	c.Text = fmt.Sprintf("queues and rules dropped %d packets; the devices counted %d gaps in sequence numbers, %d sequence NAKs received, %d rounds of sending again, %d acknowledgement timeouts, %d duplicates, %d retries exceeded",
		dropped, s.gaps, s.naks, s.retries, s.timeouts, s.twice, s.gaveUp)
	switch {
	case !s.any:
		c.OK, c.Text = true, c.Text+": these devices do not tell"
	case onlyLoss && s.gaps > dropped:
		c.Text += ": there are more gaps than packets dropped, so that something else lost or reordered packets"
	case s.gaps+s.naks+s.retries+s.timeouts+s.gaveUp == 0:
		// Lost acknowledgements alone are covered by later ones.
		c.OK = dropped < 10
		c.Text += ": no device has noticed"
	case onlyLoss:
		c.OK, c.Text = true, c.Text+": every gap has its lost packet"
	default:
		c.OK = true
	}
	w.checks = append(w.checks, c)
}

// reliable reports whether any connection recovers from losses.
func (w *world) reliable() bool {
	if w.anyReliable {
		return true
	}
	for _, e := range w.ends {
		if e == nil {
			continue
		}
		for _, c := range e.conns {
			if c.service == verbs.RC {
				return true
			}
		}
	}
	return false
}

// lossRate compares the share of packets that a queue dropped with the
// probability: within four standard deviations of the binomial distribution.
func (w *world) lossRate(in *injection, p float64) {
	if p <= 0 || p > 1 || in.seen == 0 {
		return
	}
	n := float64(in.seen)
	slack := (4*math.Sqrt(n*p*(1-p)) + 1) / n
	share := float64(in.dropped) / n
	c := trace.Check{Subject: "fault/" + in.name, Value: ptr(share), Low: ptr(max(p-slack, 0)), High: ptr(min(p+slack, 1))}
	c.OK = share >= *c.Low && share <= *c.High
	c.Text = fmt.Sprintf("the queue dropped %d of %d packets, %.3g %%; a loss of %.3g %% gives %.3g to %.3g %% (4 standard deviations)",
		in.dropped, in.seen, 100*share, 100*p, 100**c.Low, 100**c.High)
	w.checks = append(w.checks, c)
}

// datagramLosses compares messages of unreliable services that did not arrive
// with what was dropped.
func (w *world) datagramLosses(dropped int64, onlyLoss bool) {
	sent, arrived := int64(0), int64(0)
	for i := range w.sent {
		sent, arrived = sent+w.sent[i], arrived+w.arrived[i]
	}
	if sent == 0 {
		return
	}
	c := trace.Check{Subject: "unreliable", Value: ptr(float64(sent - arrived)), Low: ptr(0), High: ptr(float64(dropped))}
	c.OK = !onlyLoss || sent-arrived <= dropped
	c.Text = fmt.Sprintf("of %d messages sent by SEND over unreliable services %d arrived; %d packets were dropped by faults. A completion there says only that the message was sent", sent, arrived, dropped)
	if !c.OK {
		c.Text += ": more were lost than faults account for (a receive was missing, or a queue overran)"
	}
	w.checks = append(w.checks, c)
}

// tick is the resolution of the timers with which Soft-RoCE measures its
// timeouts: a jiffy of a kernel with 250 Hz.
const tick = 4 * sim.Millisecond

// gaveUp compares how long a request took to end in RETRY_EXC with what follows
// from timeout and retry_cnt. A timer of T expires between T and 4T, and retry_cnt
// + 1 of them have to. Source: InfiniBand Architecture, volume 1, section
// 9.7.6.1.3.
func (w *world) gaveUp(c *conn, s *slot, now sim.Time) {
	n := &w.spec.NIC
	t, times := verbs.AckTimeout(uint8(n.Timeout)), sim.Duration(n.RetryCount+1)
	if t == 0 {
		return
	}
	took := now.Sub(max(s.posted, c.progress))
	low, high := t*times, 4*t*times
	slack := sim.Duration(0)
	if c.end.info.Software {
		slack = 2 * tick * times
	}
	k := trace.Check{Subject: fmt.Sprintf("%s/qp%d", w.traffic.Hosts[c.app.host], c.QPN()), Value: ptr(took.Seconds()), Low: ptr(low.Seconds()), High: ptr(high.Seconds())}
	k.OK = took >= low-slack && took <= high+slack
	k.Text = fmt.Sprintf("IBV_WC_RETRY_EXC_ERR after %s; timeout %d and retry_cnt %d predict %d timers of %s to %s: %s to %s", human(took), n.Timeout, n.RetryCount, n.RetryCount+1, human(t), human(4*t), human(low), human(high))
	if slack > 0 {
		k.Text += fmt.Sprintf(", give or take %s for the ticks of a software device", human(slack))
	}
	w.checks = append(w.checks, k)
}

// human prints a time to a tenth of a millisecond, shorter ones in full.
func human(d sim.Duration) string {
	t := time.Duration(d / sim.Nanosecond)
	if t >= 10*time.Millisecond {
		t = t.Round(100 * time.Microsecond)
	}
	return t.String()
}

func ptr(v float64) *float64 { return &v }
