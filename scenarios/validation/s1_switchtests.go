package validation

import (
	"fmt"
	"math"
	"strings"

	"rdmasim/reports/metric"
	"rdmasim/sim/trace"
)

var _ = register("S1", Row{
	Title: "switch tests of operators",
	Hard:  true,
	Explain: `What operators run on a switch before they trust it, with a host for each port of the traffic generator: marking at dequeue, RED
accuracy, ECN of two priorities, PFC under a storm, 802.3x pauses, the watchdog and bursts that it must not see, many to one,
mixed speeds, RoCEv2 one to one and N to one. What passes is written in the scenario of each test. All of them are run on a switch of
the scenario, and again on one that is imported from files of SONiC: a Tomahawk3 with the maps, buffers and schedulers of a ToR, over
which each test lays a piece of config_db.json. Hosts mark data with DSCP 3 there, as stock SONiC has no other lossless one but 4.
Source: test plans of sonic-net/sonic-mgmt (ECN accuracy, PFC pause lossless, global pause, PFC watchdog, PFCWD burst storm, many to one, mixed speed, RoCEv2).`,
	Scenarios: switchTests,
	Measure:   measureSwitchTests,
})

// switchTests are the scenarios of S1, in the order in which they are shown.
var switchTests = []string{"switch-dequeue-ecn.yaml", "switch-red-accuracy.yaml", "switch-ecn-two-priorities.yaml", "switch-pfc-lossless.yaml", "switch-global-pause.yaml",
	"switch-watchdog.yaml", "switch-watchdog-burst.yaml", "switch-many-to-one.yaml", "switch-mixed-speed.yaml", "switch-roce-1to1.yaml", "switch-roce-nto1.yaml"}

func measureSwitchTests(b *Bench) error {
	for _, file := range switchTests {
		if err := b.switchTest("", file); err != nil {
			return err
		}
	}
	if err := measureImported(b); err != nil {
		return err
	}
	for _, more := range []func(*Bench, string) error{measureREDAccuracy, measureTwoPriorities, measureShortStorm} {
		for _, on := range []string{"", onImported} {
			if err := more(b, on); err != nil {
				return err
			}
		}
	}
	return nil
}

// switchOf returns the settings that put the switch that a check is about in
// the place of that of a test.
func (b *Bench) switchOf(on, file string) ([]string, error) {
	if on == "" {
		return nil, nil
	}
	return b.onSonic(file)
}

// switchTest runs a scenario and makes each of its expectations a check; on says
// which switch it runs on.
func (b *Bench) switchTest(on, file string, settings ...string) error {
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
	for _, v := range m.Expect {
		got := "holds"
		if v.Value != nil {
			got = show(*v.Value, "")
		}
		b.add(Check{What: on + o.Spec.Name + ": " + v.Text, Expected: "holds", Measured: got, Source: "sonic-mgmt test plan", Tolerance: "as stated", OK: v.OK})
	}
	return nil
}

// measureREDAccuracy repeats the test of RED and counts the marks of all rounds.
func measureREDAccuracy(b *Bench, on string) error {
	rounds := [...]int{Short: 20, Quick: 200, Full: 1000}[b.Level]
	var list []string
	for k := range rounds {
		list = append(list, fmt.Sprintf("{from: h1, to: h0, size: 913640B, at: %dus}", 10+200*k))
	}
	const file, frames = "switch-red-accuracy.yaml", 910
	settings, err := b.switchOf(on, file)
	if err != nil {
		return err
	}
	o, err := b.Run(file, append(settings, "traffic.0.flows.list=["+strings.Join(list, ", ")+"]")...)
	if err != nil {
		return err
	}
	defer o.Discard()
	// The imported switch counts whole cells of 254 bytes, in frames and in thresholds.
	size, kmin, kmax := 1024.0, 500e3, 900e3
	if on != "" {
		size, kmin, kmax = 5*254, 1968*254, 3543*254
	}
	mean, variance, sure := 0.0, 0.0, 0.0
	for i := range frames {
		q := float64(frames-1-i) * size
		switch p := (q - kmin) / (kmax - kmin) * 0.05; {
		case q > kmax:
			sure++
		case p > 0:
			mean += p
			variance += p * (1 - p)
		}
	}
	n := float64(rounds)
	marked := o.Of("sw0:0/q3", trace.CountECNMarked)
	b.Off(fmt.Sprintf("%sRED accuracy: marks in %d rounds of %d frames", on, rounds, frames), n*(sure+mean), one(marked), 4*math.Sqrt(n*variance), "", "(q - Kmin)/(Kmax - Kmin) Pmax; four standard deviations")
	return nil
}

// measureTwoPriorities tries the pairs of rates of the ECN test.
func measureTwoPriorities(b *Bench, on string) error {
	const file, source = "switch-ecn-two-priorities.yaml", "sonic-mgmt test plan"
	for _, c := range []struct {
		a, b  int // percent of the line rate
		level Level
	}{{90, 15, Short}, {53, 49, Short}, {49, 49, Short}, {50, 50, Quick}, {60, 60, Quick}, {60, 90, Short}} {
		if c.level > b.Level {
			continue
		}
		settings, err := b.switchOf(on, file)
		if err != nil {
			return err
		}
		o, err := b.Run(file, append(settings, fmt.Sprintf("nic.congestion.none.rate=%dGbps", c.a), fmt.Sprintf("nics.0.congestion.none.rate=%dGbps", c.b))...)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("%sECN of two priorities, %d %% and %d %%: ", on, c.a, c.b)
		one3, one4 := o.Of("sw0:0/q3", trace.CountECNMarked), o.Of("sw0:0/q4", trace.CountECNMarked)
		b.Exact(what+"drops", 0, o.Sum(trace.CountDropLossless)+o.Sum(trace.CountDropLossy), source)
		full := c.a+c.b > 100
		b.Exact(what+"the first is marked", full && c.a > 50, one3 > 0, source)
		b.Exact(what+"the second is marked", full && c.b > 50, one4 > 0, source)
		if full && c.a > 50 && c.b > 50 && c.a != c.b {
			b.Exact(what+"the larger is marked more", c.a > c.b, one3 > one4, source)
		}
		o.Discard()
	}
	return nil
}

// measureShortStorm is the second half of the watchdog test: a storm of half of
// the detection time costs nothing.
func measureShortStorm(b *Bench, on string) error {
	if b.Level == Short {
		return nil
	}
	const file = "switch-watchdog.yaml"
	settings, err := b.switchOf(on, file)
	if err != nil {
		return err
	}
	return b.switchTest(on, file, append(settings, "faults.0.pause_storm.to=350ms",
		"expect=[watchdog.storms == 0, packets.dropped.watchdog == 0, packets.dropped.lossless == 0, packets.retransmitted == 0]")...)
}
