package validation

import (
	"fmt"
	"math"

	"rdmasim/scenarios"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

var _ = register("R2", Row{
	Title: "loss that only a timeout can find",
	Hard:  true,
	Explain: `Nothing follows the last packet of a message, so that its loss costs one local ACK timeout T = 4.096 us * 2^n:
the message takes between T and 4 T longer. A peer that never answers ends the message with RETRY_EXC between
(retry_cnt + 1) T and (retry_cnt + 1) 4 T.
Source: InfiniBand Architecture volume 1, 9.7.6.1.3: the timer expires between T and 4 T after it was started.`,
	Scenarios: []string{"last-packet.yaml"},
	Measure:   measureTimeout,
})

// lastLost is a message of so many packets whose last is lost, under a timeout
// code.
type lastLost struct {
	n, packets int
	level      Level
}

// silence is a peer that never answers.
type silence struct {
	n, retries int
	level      Level
}

func measureTimeout(b *Bench) error {
	found, failed := Line{Name: "longer by, simulated"}, Line{Name: "a silent peer, simulated, per attempt"}
	for _, c := range []lastLost{{8, 10, Short}, {14, 10, Short}, {10, 64, Short}, {5, 3, Quick}, {18, 10, Quick}, {1, 2, Quick}, {22, 100, Quick}} {
		if c.level > b.Level {
			continue
		}
		extra, err := b.loseLast(c)
		if err != nil {
			return err
		}
		found.at(float64(c.n), extra)
	}
	for _, c := range []silence{{14, 7, Short}, {8, 0, Short}, {8, 3, Short}, {18, 7, Quick}, {12, 1, Quick}, {20, 2, Quick}} {
		if c.level > b.Level {
			continue
		}
		after, err := b.silentPeer(c)
		if err != nil {
			return err
		}
		failed.at(float64(c.n), after/float64(c.retries+1))
	}
	timeout := func(times float64) func(float64) float64 {
		return func(n float64) float64 { return times * 4.096e-6 * math.Exp2(n) }
	}
	b.Draw(Curve{Name: "timeout", Title: "What a loss costs that only a timeout finds", X: Axis{Label: "code of the local ACK timeout"}, Y: Axis{Label: "time (s)", Log: true},
		Lines: []Line{oracle("T", 1, 22, timeout(1)), oracle("4 T", 1, 22, timeout(4)), found, failed}})
	return nil
}

// loseLast checks what the loss of the last packet costs, and returns it in
// seconds.
func (b *Bench) loseLast(c lastLost) (float64, error) {
	t := scenarios.AckTimeout(c.n)
	o, err := b.Run("last-packet.yaml", fmt.Sprintf("nic.timeout=%d", c.n), fmt.Sprintf("traffic.0.incast.message=%dB", c.packets*1024), fmt.Sprintf("links.0.drop_every=%d", c.packets))
	if err != nil {
		return 0, err
	}
	defer o.Discard()
	f, err := onlyMessage(o)
	if err != nil {
		return 0, err
	}
	b.Exact(fmt.Sprintf("%d packets, n %d: retransmissions", c.packets, c.n), 1, f.Retransmits, "derived")
	extra := f.End.Sub(f.Start) - f.Ideal
	b.Within(fmt.Sprintf("%d packets, n %d: longer by", c.packets, c.n), t.Seconds()*1e6, 4*t.Seconds()*1e6, one(extra.Seconds()*1e6), "us", "IBA 9.7.6.1.3")
	return extra.Seconds(), nil
}

// silentPeer checks when a message fails that nobody answers, and returns it in
// seconds.
func (b *Bench) silentPeer(c silence) (float64, error) {
	o, err := b.Run("last-packet.yaml", fmt.Sprintf("nic.timeout=%d", c.n), fmt.Sprintf("nic.retry_count=%d", c.retries), "links.0.drop_every=0", "links.0.loss=1", "max_duration=100s")
	if err != nil {
		return 0, err
	}
	defer o.Discard()
	f, err := onlyMessage(o)
	if err != nil {
		return 0, err
	}
	t := (scenarios.AckTimeout(c.n) * sim.Duration(c.retries+1)).Seconds() * 1e3
	what := fmt.Sprintf("silent peer, n %d, retry_cnt %d", c.n, c.retries)
	b.Exact(what+": status", "IBV_WC_RETRY_EXC_ERR", f.Status, "IBA 9.9.2")
	after := f.End.Sub(f.Start).Seconds()
	b.Within(what+": fails after", t, 4*t, one(after*1e3), "ms", "IBA 9.7.6.1.3")
	return after, nil
}

// onlyMessage returns the one message of a run, which has ended.
func onlyMessage(o *Outcome) (trace.Flow, error) {
	list, err := o.Messages()
	if err != nil {
		return trace.Flow{}, err
	}
	if len(list) != 1 || list[0].End < sim.Time(0) {
		return trace.Flow{}, fmt.Errorf("%d messages, or one that has not ended", len(list))
	}
	return list[0], nil
}
