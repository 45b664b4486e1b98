package validation

import (
	"fmt"

	"rdmasim/congestion"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

var _ = register("D5", Row{
	Title: "DCQCN notification point",
	Hard:  true,
	Explain: `A CE packet is answered by a CNP at once if none was sent for its queue pair in the last N, else not at all.
CE at 0, 10, 49.9, 50, 120 us with N = 50 us: CNPs at 0, 50, 120 us. Queue pairs are independent.
In a fabric that marks every packet each of n flows asks for a CNP each N, at the first packet that comes after it.
Source: Zhu et al., SIGCOMM'15, section 3.1 (NP). The ns-3 model of the same author polls instead, which delays CNPs by up to N.`,
	Scenarios: []string{"dcqcn-long.yaml"},
	Measure:   measureNotification,
})

// cnps returns which of the CE packets, given in ns, are answered.
func cnps(n sim.Duration, marked ...int64) (sent []int64) {
	p := congestion.NotificationPoint{Interval: n}
	for _, t := range marked {
		if p.OnMarked(sim.Time(t) * sim.Time(sim.Nanosecond)) {
			sent = append(sent, t)
		}
	}
	return sent
}

func measureNotification(b *Bench) error {
	const source = "SIGCOMM'15 3.1"
	b.Exact("CE at 0 10 49.9 50 120 us, N 50 us: CNPs (ns)", []int64{0, 50_000, 120_000}, cnps(50*sim.Microsecond, 0, 10_000, 49_900, 50_000, 120_000), source)
	b.Exact("CE at 7 57 106.9 107 us, N 50 us: CNPs (ns)", []int64{7000, 57_000, 107_000}, cnps(50*sim.Microsecond, 7000, 57_000, 106_900, 107_000), source)
	b.Exact("CE each us for 17 us, N 4 us: CNPs (ns)", []int64{0, 4000, 8000, 12_000, 16_000}, cnps(4*sim.Microsecond, every(1000, 18)...), source)
	b.Exact("CE each 100 ns, N 0: every one", 10, len(cnps(0, every(100, 10)...)), source)
	// Two queue pairs, each with a point of its own.
	first, second := congestion.NotificationPoint{Interval: 50 * sim.Microsecond}, congestion.NotificationPoint{Interval: 50 * sim.Microsecond}
	at := sim.Time(10 * sim.Microsecond)
	b.Exact("a second queue pair", "true true false", fmt.Sprint(first.OnMarked(at), second.OnMarked(at), first.OnMarked(at)), source)
	times := []int64{0, 10_000, 49_900, 50_000, 120_000}
	want, found := Line{Name: "CNP 50 us after the last, or later", Oracle: true}, Line{Name: "notification point"}
	for i, t := range []int64{0, 50_000, 120_000} {
		want.at(float64(t)/1e3, float64(i))
		want.at(float64(t)/1e3, float64(i+1))
	}
	for _, t := range times {
		found.at(float64(t)/1e3, float64(len(cnps(50*sim.Microsecond, until(times, t)...))))
	}
	b.Draw(Curve{Name: "cnps", Title: "CNPs after CE packets at 0, 10, 49.9, 50 and 120 us", X: Axis{Label: "time (us)"}, Y: Axis{Label: "CNPs sent"}, Lines: []Line{want, found}})
	for _, c := range []markedFlows{{2, 50 * sim.Microsecond, 40 * sim.Gbps, 1000}, {3, 4 * sim.Microsecond, 100 * sim.Gbps, 4096}, {7, 10 * sim.Microsecond, 25 * sim.Gbps, 512}, {2, 100 * sim.Microsecond, 400 * sim.Gbps, 2048}} {
		if err := b.allMarked(c); err != nil {
			return err
		}
	}
	return nil
}

// markedFlows are long flows all of whose packets are marked.
type markedFlows struct {
	n        int
	interval sim.Duration
	rate     sim.Rate
	packet   int
}

// allMarked counts the CNPs of flows that ask for a fifth more than the link
// and do not slow down.
func (b *Bench) allMarked(c markedFlows) error {
	l := longFlows{n: c.n, rate: c.rate, packet: c.packet}
	o, err := b.Run("dcqcn-long.yaml", append(l.settings(), "switch.ecn={3: {kmin: 0B, kmax: 1B, pmax: 100%}}", "duration=5ms", "warmup=1ms", "series.interval=0s",
		fmt.Sprintf("nic.congestion={dcqcn: {preset: sigcomm15, cnp_interval: %v, min_rate: %dbps}}", c.interval, int64(c.rate)*6/5/int64(c.n)))...)
	if err != nil {
		return err
	}
	defer o.Discard()
	// Between two packets of a flow the others send one each.
	gap := sim.Duration(c.n) * c.rate.TxTime(sim.Bytes(c.packet))
	least, most := o.Seconds()/(c.interval+2*gap).Seconds()-1, o.Seconds()/c.interval.Seconds()+1
	b.Within(fmt.Sprintf("%d flows, N %v, all packets marked, %v, %d-byte packets: CNPs of each in 4 ms", c.n, c.interval, c.rate, c.packet), least, most, one(o.Sum(trace.CountCNPSent)/float64(c.n)), "", "SIGCOMM'15 3.1")
	return nil
}

// until returns the times that are not later than t.
func until(times []int64, t int64) (list []int64) {
	for _, x := range times {
		if x <= t {
			list = append(list, x)
		}
	}
	return list
}

// every returns n times, gap apart, from 0.
func every(gap int64, n int) []int64 {
	t := make([]int64, n)
	for i := range t {
		t[i] = int64(i) * gap
	}
	return t
}
