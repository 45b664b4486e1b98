package validation

import (
	"fmt"

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

func measureTimeout(b *Bench) error {
	for _, c := range []struct {
		n, packets int
		level      Level
	}{{8, 10, Short}, {14, 10, Short}, {10, 64, Short}, {5, 3, Quick}, {18, 10, Quick}} {
		if c.level > b.Level {
			continue
		}
		t := scenarios.AckTimeout(c.n)
		set := []string{fmt.Sprintf("nic.timeout=%d", c.n), fmt.Sprintf("traffic.0.incast.message=%dB", c.packets*1024)}
		o, err := b.Run("last-packet.yaml", append(set, fmt.Sprintf("links.0.drop_every=%d", c.packets))...)
		if err != nil {
			return err
		}
		f, err := onlyMessage(o)
		if err != nil {
			return err
		}
		o.Discard()
		b.Exact(fmt.Sprintf("%d packets, n %d: retransmissions", c.packets, c.n), 1, f.Retransmits, "derived")
		extra := f.End.Sub(f.Start) - f.Ideal
		b.Within(fmt.Sprintf("%d packets, n %d: longer by", c.packets, c.n), t.Seconds()*1e6, 4*t.Seconds()*1e6, one(extra.Seconds()*1e6), "us", "IBA 9.7.6.1.3")
	}
	for _, c := range []struct {
		n, retries int
		level      Level
	}{{14, 7, Short}, {8, 0, Short}, {8, 3, Short}, {18, 7, Quick}} {
		if c.level > b.Level {
			continue
		}
		o, err := b.Run("last-packet.yaml", fmt.Sprintf("nic.timeout=%d", c.n), fmt.Sprintf("nic.retry_count=%d", c.retries), "links.0.drop_every=0", "links.0.loss=1", "max_duration=100s")
		if err != nil {
			return err
		}
		f, err := onlyMessage(o)
		if err != nil {
			return err
		}
		o.Discard()
		t := scenarios.AckTimeout(c.n).Seconds() * float64(c.retries+1) * 1e3
		what := fmt.Sprintf("silent peer, n %d, retry_cnt %d", c.n, c.retries)
		b.Exact(what+": status", "IBV_WC_RETRY_EXC_ERR", f.Status, "IBA 9.9.2")
		b.Within(what+": fails after", t, 4*t, one(f.End.Sub(f.Start).Seconds()*1e3), "ms", "IBA 9.7.6.1.3")
	}
	return nil
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
