package closedform

import (
	"fmt"
	"math"

	"rdmasim/congestion/fluid"
	"rdmasim/reports/tuning"
)

// What the model's switches and links do, where that is not an oracle.
var (
	pathTime = &fluid.Oracle{Equation: "RTT = sum over links there of (frame + 20) 8/C + propagation + latency, and back for the ACK", Source: "derivation: store and forward, or at the header where a switch cuts through",
		Limits: "an empty path"}
	needed = &fluid.Oracle{Equation: "H = C/8 (t_there + t_back + t_response) + (frame + 20) + 84 + 2 frame + 20, times with the latency of the switches at both ends",
		Source: "IEEE 802.1Qbb annex O, for links without interface delays; what a real switch needs says rdmasim headroom", Limits: "one priority sends"}
	groups = &fluid.Oracle{Equation: "n (reserve + alpha B/(1 + n alpha))", Source: "Choudhury and Hahne, Dynamic queue length thresholds for shared-memory packet switches, IEEE/ACM ToN 6(2), 1998, section III",
		Limits: "n priority groups fill alike, nothing else is in the buffer; fewer groups, or uneven ones, pause earlier"}
	markFirst = &fluid.Oracle{Equation: "t_ECN < alpha B/(n (1 + p alpha)), p lossless priorities; with alpha = beta/8 and p = 8: beta (B - 8 n t_flight)/(8 n (beta + 1))",
		Source: "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM'15, section 4", Limits: "the worst case: one ingress port feeds n egress ports in every lossless priority"}
)

// questions in the order in which people ask.
func questions() []question {
	return []question{
		{key: "rtt", name: "round trip without queues", unit: tuning.Seconds, own: pathTime, answer: roundTrip},
		{key: "goodput", name: "goodput that the bottleneck can carry", unit: tuning.BitsPerS, oracle: "wire_efficiency", metric: "goodput_bps.total", bound: tuning.AtMost, answer: ceiling},
		{key: "finish", name: "end of the incast", unit: tuning.Seconds, oracle: "incast", metric: "flows.fct_s.max", bound: tuning.AtLeast, answer: finish},
		{key: tuning.KeyFirstBurst, name: "first burst before senders can react", unit: tuning.Bytes, oracle: "first_burst", metric: "queue_bytes.max", bound: tuning.AtLeast, answer: firstBurst},
		{key: tuning.KeyCanPrevent, name: "largest burst that no pause answers", unit: tuning.Bytes, own: groups, answer: burstAtPFC},
		{key: "headroom", name: "headroom that one priority of one port needs", unit: tuning.Bytes, own: needed, metric: "headroom_bytes.max_used", bound: tuning.AtMost, answer: headroom},
		{key: "ecn_before_pfc", name: "largest Kmin that marks before any pause", unit: tuning.Bytes, own: markFirst, answer: ecnBound},
		{key: tuning.KeyQueue, name: "queue at the fixed point", unit: tuning.Bytes, oracle: "dcqcn_fixed_point", metric: "queue_bytes.mean", answer: queue},
		{key: "marked", name: "share of packets that are marked at the fixed point", unit: tuning.Ratio, oracle: "dcqcn_fixed_point", answer: marked},
		{key: "cnp", name: "CNPs per second at the fixed point", unit: tuning.Count, oracle: "dcqcn_fixed_point", answer: cnps},
		{key: "converge", name: "time until unequal flows are equal", unit: tuning.Seconds, oracle: "dcqcn_convergence", answer: converge},
		{key: tuning.KeyMargin, name: "phase margin of the control loop", unit: tuning.UnitDegrees, oracle: "dcqcn_phase_margin", answer: margin},
	}
}

func roundTrip(c *view) (float64, string, error) {
	return c.use("RTT", c.b.RTT.Seconds(), tuning.Seconds, "topology, nic"), "A full frame there and its ACK back, from the farthest sender.", nil
}

func ceiling(c *view) (float64, string, error) {
	if c.b.Others > 0 {
		return 0, "", fmt.Errorf("other hosts receive too, so that this port does not bound the total")
	}
	rate := c.use("C", float64(c.b.Rate), tuning.BitsPerS, c.b.Where)
	payload := c.use("payload", float64(c.b.Payload), tuning.Bytes, "nic")
	wire := c.use("frame + 20", float64(c.b.Wire), tuning.Bytes, "nic")
	return rate * payload / wire, "", nil
}

func (c *view) incast() fluid.Incast {
	b := c.b
	c.use("N", float64(b.Senders), tuning.Count, "traffic")
	c.use("S", float64(b.Burst), tuning.Bytes, "traffic, of the least sender")
	c.use("C", float64(b.Rate), tuning.BitsPerS, b.Where)
	c.use("frame", float64(b.Frame), tuning.Bytes, "nic")
	c.use("payload", float64(b.Payload), tuning.Bytes, "nic")
	return fluid.Incast{Senders: b.Senders, Message: b.Burst, Payload: b.Payload, Frame: b.Frame, Rate: b.Rate, Base: b.RTT}
}

func finish(c *view) (float64, string, error) {
	if err := c.meets(); err != nil {
		return 0, "", err
	}
	switch {
	case !c.b.Once || c.b.Others > 0:
		return 0, "", fmt.Errorf("the traffic is not one incast of one message from each sender")
	case c.b.Flows != c.b.Senders || c.b.Burst != c.b.Message:
		return 0, "", fmt.Errorf("senders have several queue pairs or several messages")
	}
	return c.incast().Finish(), "The port works without a break; congestion control and losses can only add to it.", nil
}

func firstBurst(c *view) (float64, string, error) {
	if err := c.meets(); err != nil {
		return 0, "", err
	}
	b := c.b
	if b.Line < b.Rate {
		return 0, "", fmt.Errorf("the senders' links of %v are slower than the port of %v: the form takes them as equal", b.Line, b.Rate)
	}
	if b.Line > b.Rate {
		return 0, "", fmt.Errorf("the senders' links of %v are faster than the port of %v: the form takes them as equal", b.Line, b.Rate)
	}
	in := c.incast()
	t := c.use("t", b.RTT.Seconds(), tuning.Seconds, "the round trip: mark, notification and the first slower frame")
	v := in.FirstBurst(b.RTT)
	if err := c.pfcFirst(v); err != nil {
		c.apart = true // the queue stops growing where pauses begin
	}
	text := fmt.Sprintf("%d hosts send at line rate for at least %.3g us before the first notification can act, however low the thresholds are.", b.Senders, t*1e6)
	if v == in.Peak() {
		text = fmt.Sprintf("The messages of %d hosts have left before any notification can act.", b.Senders)
	}
	return v, text, nil
}

func burstAtPFC(c *view) (float64, string, error) {
	b := c.b
	switch {
	case b.Where == "":
		return 0, "", fmt.Errorf("the host hangs on no switch")
	case !b.Lossless:
		return 0, "", fmt.Errorf("priority %d is not lossless at %s", b.Priority, b.Where)
	}
	n := max(b.Inputs, 1)
	each, ok := b.Xoff(n)
	if !ok {
		return 0, "", fmt.Errorf("nothing bounds the priority group")
	}
	c.use("n", float64(n), tuning.Count, "ports by which the senders come, filled alike")
	c.use("B", float64(b.Pool), tuning.Bytes, "shared pool: the buffer without headroom and reserves")
	if b.Alpha > 0 {
		c.use("alpha", b.Alpha, tuning.Ratio, "switch.buffer")
	}
	c.use("reserve", float64(b.Reserve), tuning.Bytes, "switch.buffer")
	return each * float64(n), fmt.Sprintf("%s in each of %d priority groups, while nothing else is in the buffer.", size(each), n), nil
}

func headroom(c *view) (float64, string, error) {
	b := c.b
	if b.Where == "" || !b.Lossless {
		return 0, "", fmt.Errorf("priority %d is not lossless", b.Priority)
	}
	v := c.use("H", float64(b.Needed), tuning.Bytes, "links and frames of a port by which senders come")
	switch {
	case b.SharedHR:
		return v, fmt.Sprintf("Configured: at most %s of a pool that all groups share.", size(float64(b.Headroom))), nil
	case b.Headroom < b.Needed:
		return v, fmt.Sprintf("Configured: %s, which is too little: frames can be lost.", size(float64(b.Headroom))), nil
	}
	return v, fmt.Sprintf("Configured: %s.", size(float64(b.Headroom))), nil
}

func ecnBound(c *view) (float64, string, error) {
	b := c.b
	switch {
	case b.Where == "" || !b.Lossless:
		return 0, "", fmt.Errorf("priority %d is not lossless, so that no pause can come first", b.Priority)
	case b.Alpha <= 0:
		return 0, "", fmt.Errorf("the threshold of the priority group is not dynamic")
	case b.Ports < 2:
		return 0, "", fmt.Errorf("the switch has one port")
	}
	n := c.use("n", float64(b.Ports-1), tuning.Count, "egress ports that one ingress port may feed")
	prios := c.use("priorities", float64(b.Classes), tuning.Count, "switch.pfc")
	pool := c.use("B - n t_flight", float64(b.Pool), tuning.Bytes, "shared pool")
	alpha := c.use("alpha = beta / priorities", b.Alpha, tuning.Ratio, "switch.buffer")
	// One ingress port feeds n egress ports in every priority: a group holds
	// n t_ECN and is paused at alpha (B - priorities n t_ECN).
	v := alpha * pool / (n * (1 + prios*alpha))
	text := "No ECN is configured."
	if b.ECN.On {
		text = fmt.Sprintf("Kmin is %s: marking comes first even if one port feeds all others in all lossless priorities.", size(float64(b.ECN.Kmin)))
		if float64(b.ECN.Kmin) > v {
			text = fmt.Sprintf("Kmin is %s, above it: where one port feeds many, a pause can come before any mark.", size(float64(b.ECN.Kmin)))
		}
	}
	return v, text, nil
}

func queue(c *view) (float64, string, error) {
	_, f, err := c.fixedPoint()
	return f.Queue, "The mean of packets lies up to 40 % above it where the queue swings, because marking is convex.", err
}

func marked(c *view) (float64, string, error) {
	_, f, err := c.fixedPoint()
	return f.P, "", err
}

func cnps(c *view) (float64, string, error) {
	m, f, err := c.fixedPoint()
	if err != nil {
		return 0, "", err
	}
	return f.CNPRate * float64(m.Flows), "Of all flows together.", err
}

func converge(c *view) (float64, string, error) {
	m, _, err := c.fixedPoint()
	if err != nil {
		return 0, "", err
	}
	if m.cycle == nil {
		x, err := m.Convergence()
		return x.Time, "Until the largest difference of rates is a tenth of the fair share's.", err
	}
	c.oracle = settleOracle
	rate, err := m.cycle.SettleRate()
	if err != nil {
		return 0, "", err
	}
	text := fmt.Sprintf("Until a difference as large as the line rate is a tenth of the fair share, at the pace of small ones: a factor of e in %.3g ms.", 1e3/rate)
	return math.Log(10*float64(m.Flows)) / rate, text, nil
}

func margin(c *view) (float64, string, error) {
	m, _, err := c.fixedPoint()
	if m != nil {
		c.oracle = m.oracle("", cycleMargin)
	}
	if err != nil {
		return 0, "", err
	}
	c.use("tau*", m.Delay.Seconds(), tuning.Seconds, "the round trip without queues")
	x, err := m.PhaseMargin()
	text := fmt.Sprintf("At %.3g Hz. Above 30 degrees swings die out fast, near 0 chance keeps them going, below 0 the queue swings of itself.", x.Frequency)
	return x.Degrees, text, err
}
