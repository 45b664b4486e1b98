package netem

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rdmasim/sim"
)

// ErrNotSupported is wrapped, with the reason, by everything that the kernel
// cannot do.
var ErrNotSupported = errors.New("not supported")

// Impairment is what happens to packets that leave an interface: netem's
// abilities in this project's units. Zero values mean "not".
type Impairment struct {
	Loss            float64 // probability
	LossCorrelation float64 // of successive losses, 0..1
	Gilbert         *GilbertElliott
	Delay, Jitter   sim.Duration
	Distribution    string // of the delay: uniform, normal, pareto, paretonormal
	Reorder         float64
	ReorderGap      int // every so manieth packet may overtake; 0 = any
	Duplicate       float64
	Corrupt         float64
	Rate            sim.Rate
	Limit           int  // packets that netem holds; 0 = 100 000
	ECN             bool // mark ECN-capable packets instead of dropping them
}

// GilbertElliott is a loss model of two states, good and bad: P is the
// probability of going bad, R of going good again, LossBad and LossGood those
// of losing a packet in each. Sources: Gilbert, BSTJ 39 (1960); Elliott, BSTJ 42
// (1963); netem's "loss gemodel p r 1-h 1-k" takes them in percent.
type GilbertElliott struct{ P, R, LossBad, LossGood float64 }

// netemLimit keeps netem from being a bottleneck of its own: its default of
// 1000 packets makes a full queue push back on Soft-RoCE.
const netemLimit = 100_000

// Check returns what is wrong with an impairment.
func (m *Impairment) Check() error {
	probs := []struct {
		name  string
		value float64
	}{{"loss", m.Loss}, {"loss correlation", m.LossCorrelation}, {"reorder", m.Reorder}, {"duplicate", m.Duplicate}, {"corrupt", m.Corrupt}}
	if g := m.Gilbert; g != nil {
		probs = append(probs, []struct {
			name  string
			value float64
		}{{"gilbert p", g.P}, {"gilbert r", g.R}, {"gilbert loss in the bad state", g.LossBad}, {"gilbert loss in the good state", g.LossGood}}...)
	}
	for _, p := range probs {
		if !(p.value >= 0 && p.value <= 1) {
			return fmt.Errorf("%s %v is no probability: 0 to 1", p.name, p.value)
		}
	}
	switch {
	case m.Gilbert != nil && m.Loss > 0:
		return errors.New("loss and a Gilbert-Elliott model exclude each other in netem")
	case m.Delay < 0 || m.Jitter < 0 || m.Rate < 0 || m.Limit < 0 || m.ReorderGap < 0:
		return errors.New("delay, jitter, rate, limit and gap are not negative")
	case m.Jitter > 0 && m.Delay == 0:
		return errors.New("jitter without delay does nothing: give a delay as well")
	case m.Reorder > 0 && m.Delay == 0:
		return fmt.Errorf("%w: reorder lets some packets skip the delay, so that it needs one", ErrNotSupported)
	case m.Distribution != "" && m.Jitter == 0:
		return errors.New("a distribution of the delay needs a jitter")
	}
	switch m.Distribution {
	case "", "uniform", "normal", "pareto", "paretonormal":
		return nil
	}
	return fmt.Errorf("distribution %q: uniform, normal, pareto or paretonormal", m.Distribution)
}

// args returns the arguments of "tc qdisc ... netem".
func (m *Impairment) args() []string {
	a := []string{"netem", "limit", strconv.Itoa(orDefault(m.Limit, netemLimit))}
	if m.Delay > 0 {
		a = append(a, "delay", micros(m.Delay))
		if m.Jitter > 0 {
			a = append(a, micros(m.Jitter))
			if m.Distribution != "" && m.Distribution != "uniform" {
				a = append(a, "distribution", m.Distribution)
			}
		}
	}
	if g := m.Gilbert; g != nil {
		a = append(a, "loss", "gemodel", percent(g.P), percent(g.R), percent(g.LossBad), percent(g.LossGood))
	} else if m.Loss > 0 {
		a = append(a, "loss", "random", percent(m.Loss))
		if m.LossCorrelation > 0 {
			a = append(a, percent(m.LossCorrelation))
		}
	}
	if m.ECN {
		a = append(a, "ecn")
	}
	if m.Duplicate > 0 {
		a = append(a, "duplicate", percent(m.Duplicate))
	}
	if m.Corrupt > 0 {
		a = append(a, "corrupt", percent(m.Corrupt))
	}
	if m.Reorder > 0 {
		a = append(a, "reorder", percent(m.Reorder))
		if m.ReorderGap > 0 {
			a = append(a, "gap", strconv.Itoa(m.ReorderGap))
		}
	}
	if m.Rate > 0 {
		a = append(a, "rate", strconv.FormatInt(int64(m.Rate), 10)+"bit")
	}
	return a
}

// micros prints a delay in the unit in which iproute2 keeps nanoseconds apart.
func micros(d sim.Duration) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(float64(d)/float64(sim.Microsecond), 'f', 3, 64), "0"), ".") + "us"
}

// percent prints a probability; netem keeps 32 bits of it.
func percent(p float64) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(p*100, 'f', 7, 64), "0"), ".") + "%"
}

func orDefault(n, d int) int {
	if n == 0 {
		return d
	}
	return n
}
