package validation

import (
	"fmt"
	"math"
	"strings"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// step is one point of the test of dequeue marking: Kmin = Kmax, and how many
// full packets wait.
type step struct {
	threshold sim.Bytes
	packets   int
	mtu       int
	rate      sim.Rate
	level     Level
}

func measureDequeue(b *Bench) error {
	for _, c := range []step{{50 * sim.KB, 101, 1024, 100 * sim.Gbps, Short}, {20 * sim.KB, 64, 1024, 25 * sim.Gbps, Quick}, {100 * sim.KB, 400, 512, 100 * sim.Gbps, Quick}, {300 * sim.KB, 128, 4096, 400 * sim.Gbps, Quick}} {
		if c.level > b.Level {
			continue
		}
		if err := b.dequeue(c); err != nil {
			return err
		}
	}
	return nil
}

// dequeue checks that exactly the packets that leave more than the threshold
// behind are marked.
func (b *Bench) dequeue(c step) error {
	o, err := b.Captured("h0", "switch-dequeue-ecn.yaml", "expect=[]", fmt.Sprintf("switch.ecn.3={kmin: %v, kmax: %v, pmax: 100%%, mark_at: dequeue}", c.threshold, c.threshold),
		fmt.Sprintf("nic.path_mtu=%d", c.mtu), "topology.star.rate="+c.rate.String(), fmt.Sprintf("traffic.0.incast.message=%dB", c.packets*c.mtu))
	if err != nil {
		return err
	}
	defer o.Discard()
	marked, err := o.Arrivals()
	if err != nil {
		return err
	}
	what := fmt.Sprintf("dequeue ECN, %d packets of MTU %d, %v, Kmin = Kmax = %v: ", c.packets, c.mtu, c.rate, c.threshold)
	b.Exact(what+"packets received", c.packets, len(marked), sonicMgmt)
	b.Exact(what+"the first is marked, the last is not", "true false", fmt.Sprint(nth(marked, 0), " ", nth(marked, c.packets-1)), sonicMgmt)
	b.Alike(what+"marks of each", c.packets, func(i int) (want, got any) {
		return sim.Bytes(c.packets-1-i)*plainFrame(c.mtu) > c.threshold, nth(marked, i)
	}, "q > K")
	return nil
}

// redCase is one point of the test of RED accuracy: a curve, and how many frames
// of 1024 bytes wait.
type redCase struct {
	kmin, kmax sim.Bytes
	pmax       float64
	frames     int
	level      Level
}

// redFrame is the size of its frames.
const redFrame = 1024

// probability of a mark of a frame that leaves q bytes behind.
func (c redCase) probability(q float64) float64 {
	switch low, high := float64(c.kmin), float64(c.kmax); {
	case q > high:
		return 1
	case q > low:
		return (q - low) / (high - low) * c.pmax
	}
	return 0
}

func measureRED(b *Bench) error {
	for i, c := range []redCase{{500 * sim.KB, 900 * sim.KB, 0.05, 910, Short}, {100 * sim.KB, 400 * sim.KB, 0.2, 450, Quick}, {250 * sim.KB, 750 * sim.KB, 1, 800, Quick}, {5 * sim.KB, 200 * sim.KB, 0.01, 260, Quick}} {
		if c.level > b.Level {
			continue
		}
		curve, err := b.redAccuracy(c)
		if err != nil {
			return err
		}
		if i == 0 {
			b.Draw(curve)
		}
	}
	return nil
}

// redAccuracy repeats the test, checks the marks in each fifth of the range
// between Kmin and Kmax, and returns them by length of the queue.
func (b *Bench) redAccuracy(c redCase) (Curve, error) {
	rounds := [...]int{Short: 20, Quick: 200, Full: 1000}[b.Level]
	var list []string
	for k := range rounds {
		list = append(list, fmt.Sprintf("{from: h1, to: h0, size: %dB, at: %dus}", c.frames*1004, 10+200*k))
	}
	o, err := b.Captured("h0", "switch-red-accuracy.yaml", "traffic.0.flows.list=["+strings.Join(list, ", ")+"]",
		fmt.Sprintf("switch.ecn.3={kmin: %v, kmax: %v, pmax: %v}", c.kmin, c.kmax, c.pmax))
	if err != nil {
		return Curve{}, err
	}
	defer o.Discard()
	marked, err := o.Arrivals()
	if err != nil {
		return Curve{}, err
	}
	what := fmt.Sprintf("RED accuracy, %v to %v, %g %%, %d rounds of %d frames: ", c.kmin, c.kmax, c.pmax*100, rounds, c.frames)
	b.Exact(what+"frames received", rounds*c.frames, len(marked), sonicMgmt)
	const fifths, bins = 5, 20
	span := float64(c.kmax-c.kmin) / bins
	var marks, mean, variance, frames [bins]float64
	below, above, all := 0, 0, true
	for i, ce := range marked {
		q := float64((c.frames - 1 - i%c.frames) * redFrame)
		p := c.probability(q)
		switch {
		case p == 0 && ce:
			below++
		case q > float64(c.kmax):
			above++
			all = all && ce
		case p > 0:
			k := min(int((q-float64(c.kmin))/span), bins-1)
			frames[k]++
			mean[k] += p
			variance[k] += p * (1 - p)
			if ce {
				marks[k]++
			}
		}
	}
	b.Exact(what+"marks below Kmin", 0, below, sonicMgmt)
	b.Exact(what+fmt.Sprintf("all %d above Kmax are marked", above), true, all, sonicMgmt)
	for part := range fifths {
		var got, want, v float64
		for k := part * bins / fifths; k < (part+1)*bins/fifths; k++ {
			got, want, v = got+marks[k], want+mean[k], v+variance[k]
		}
		b.Off(what+fmt.Sprintf("marks from %d to %d %% of the range", part*100/fifths, (part+1)*100/fifths), want, one(got), 4*math.Sqrt(v), "", "(q - Kmin)/(Kmax - Kmin) Pmax; four standard deviations")
	}
	found := Line{Name: "simulated"}
	for k := range bins {
		if frames[k] > 0 {
			found.at(float64(c.kmin)+(float64(k)+0.5)*span, marks[k]/frames[k])
			found.Half = append(found.Half, 1.96*math.Sqrt(variance[k])/frames[k])
		}
	}
	return Curve{Name: "red", Title: "Marks by the length of the queue", X: Axis{Label: "queue left behind (bytes)"}, Y: Axis{Label: "share of frames that are marked"},
		Lines: []Line{oracle("(q - Kmin)/(Kmax - Kmin) Pmax", float64(c.kmin)-4*span, float64(c.kmax), c.probability), found}}, nil
}

// rates are one point of the test of ECN of two priorities, in percent of the
// line rate.
type rates struct {
	a, b  int
	level Level
}

func measureTwoPriorities(b *Bench) error {
	for _, c := range []rates{{90, 15, Short}, {53, 49, Short}, {49, 49, Short}, {50, 50, Short}, {60, 60, Quick}, {60, 90, Short}, {30, 75, Quick}, {20, 70, Quick}, {55, 56, Quick}, {97, 97, Quick}, {45, 52, Quick}} {
		if c.level > b.Level {
			continue
		}
		if err := b.twoPriorities(c, ""); err != nil {
			return err
		}
	}
	return nil
}

// twoPriorities checks which of two classes is marked; on names another switch,
// which settings put in the place of that of the test.
func (b *Bench) twoPriorities(c rates, on string, settings ...string) error {
	o, err := b.Run("switch-ecn-two-priorities.yaml", append(settings, fmt.Sprintf("nic.congestion.none.rate=%dGbps", c.a), fmt.Sprintf("nics.0.congestion.none.rate=%dGbps", c.b))...)
	if err != nil {
		return err
	}
	defer o.Discard()
	what := fmt.Sprintf("ECN of two priorities, %s%d %% and %d %%: ", on, c.a, c.b)
	three, four := o.Of("sw0:0/q3", trace.CountECNMarked), o.Of("sw0:0/q4", trace.CountECNMarked)
	b.Exact(what+"drops", 0, o.Sum(trace.CountDropLossless)+o.Sum(trace.CountDropLossy), sonicMgmt)
	full := c.a+c.b > 100
	b.Exact(what+"the first, the second is marked", fmt.Sprint(full && c.a > 50, full && c.b > 50), fmt.Sprint(three > 0, four > 0), sonicMgmt)
	if full && c.a > 50 && c.b > 50 && c.a != c.b {
		b.Within(what+"marks of the larger less those of the smaller", 1, inf, one(math.Copysign(1, float64(c.a-c.b))*(three-four)), "", sonicMgmt)
	}
	return nil
}
