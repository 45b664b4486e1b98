package validation

import (
	"fmt"

	"rdmasim/congestion/fluid"
	"rdmasim/fabric/topology"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

var _ = register("Q2", Row{
	Title: "synchronous incast",
	Hard:  true,
	Explain: `N hosts send S bytes each to one port of the same rate C at one instant; nobody adapts.
finish = N * S * (frame + 20) / payload * 8 / C + base, where base is what the first frame takes to reach the port
(its transmission on the first link, two cables, the switch) and what the last ACK takes back.
peak queue = (N - 1) * S * frame / payload at t = S/C: N - 1 of N links' worth of frames wait when the senders have finished.
PFC only moves the queue into the senders: the same finish and no drop.
Source: work conservation; derived.`,
	Oracles:   []string{"incast"},
	Scenarios: []string{"incast-once.yaml"},
	Measure:   measureIncast,
})

// incastCase is one point of Q2.
type incastCase struct {
	senders int
	message sim.Bytes
	mtu     int
	rate    sim.Rate
	level   Level
}

func (c incastCase) settings() []string {
	return []string{fmt.Sprintf("topology.star.hosts=%d", c.senders+1), "topology.star.rate=" + c.rate.String(), fmt.Sprintf("nic.path_mtu=%d", c.mtu),
		"traffic.0.incast.message=" + c.message.String()}
}

// oracle is the incast over one switch of that latency, to the arrival of the
// last ACK.
func (c incastCase) oracle(cable, latency sim.Duration) fluid.Incast {
	base := c.rate.TxTime(plainWire(c.mtu)) + 2*cable + latency + 2*c.rate.TxTime(ackWire()) + 2*cable + latency
	return fluid.Incast{Senders: c.senders, Message: c.message, Payload: sim.Bytes(c.mtu), Frame: plainFrame(c.mtu), Rate: c.rate, Base: base}
}

func measureIncast(b *Bench) error {
	points := []incastCase{
		{8, 64 * sim.KB, 1024, 100 * sim.Gbps, Short},
		{2, 1 * sim.MB, 4096, 100 * sim.Gbps, Short}, {16, 1 * sim.MB, 1024, 100 * sim.Gbps, Quick}, {4, 256 * sim.KB, 512, 40 * sim.Gbps, Short},
		{31, 500 * sim.KB, 2048, 400 * sim.Gbps, Quick}, {64, 128 * sim.KB, 1024, 25 * sim.Gbps, Quick},
		{3, 2 * sim.MB, 256, 200 * sim.Gbps, Quick}, {7, 300 * sim.KB, 4096, 800 * sim.Gbps, Quick},
	}
	peak, want := Line{Name: "simulated"}, Line{Name: "(N-1) S frame / payload", Oracle: true}
	for _, c := range points {
		if c.level > b.Level {
			continue
		}
		queue, got, err := b.incast(c)
		if err != nil {
			return err
		}
		peak.at(queue, got)
		want.at(queue, queue)
	}
	b.Draw(Curve{Name: "peak", Title: "Peak queue of synchronous incasts", X: Axis{Label: "derived peak (bytes)", Log: true}, Y: Axis{Label: "peak queue (bytes)", Log: true}, Lines: []Line{want, peak}})
	return nil
}

// incast checks one incast without and with PFC, and returns its peak, derived
// and found.
func (b *Bench) incast(c incastCase, more ...string) (queue, got float64, err error) {
	set := append(c.settings(), more...)
	what := fmt.Sprintf("%d x %v, MTU %d, %v", c.senders, c.message, c.mtu, c.rate)
	o, err := b.Run("incast-once.yaml", set...)
	if err != nil {
		return 0, 0, err
	}
	defer o.Discard()
	star := o.Spec.Topology.Params.(topology.StarParams)
	delay := star.Delay
	if star.Cable > 0 {
		delay = star.Cable.Delay()
	}
	in := c.oracle(delay, o.Spec.Switch.Latency)
	queue = in.Peak()
	if err := b.incastFinish(o, what+": finish", in.Finish()); err != nil {
		return 0, 0, err
	}
	if n := o.Sum(trace.CountPFCXoffTx); n > 0 {
		return 0, 0, fmt.Errorf("%s: %v pauses where the buffer is to hold everything", what, n)
	}
	got = o.Of("sw0:0/q3", trace.CountQueueMax)
	b.Near(what+": peak queue", queue, one(got), 0.01, "B", "derived")
	// With PFC: a buffer that holds a tenth of it.
	paused, err := b.Run("incast-once.yaml", append(set, "switch.buffer.alpha=1/64", "switch.buffer.reserve=0B", fmt.Sprintf("switch.buffer.size=%dB", pausingBuffer(c, queue, delay)))...)
	if err != nil {
		return 0, 0, err
	}
	defer paused.Discard()
	if err := b.incastFinish(paused, what+", PFC: finish", in.Finish()); err != nil {
		return 0, 0, err
	}
	b.Exact(what+", PFC: drops", 0, paused.Sum(trace.CountDropLossless), "lossless class")
	b.Within(what+", PFC: pauses", 1, inf, one(paused.Sum(trace.CountPFCXoffTx)), "", "the queue does not fit")
	return queue, got, nil
}

// pausingBuffer is a buffer of which alpha 1/64 gives each port a tenth of the
// share of the queue that comes through it, beside generous headroom.
func pausingBuffer(c incastCase, queue float64, delay sim.Duration) int64 {
	shared := queue / float64(c.senders) / 10 * 64
	return int64(shared) + int64(c.senders+1)*int64(200*sim.KB+4*c.rate.BytesIn(delay))
}

// incastFinish checks when the last message was complete.
func (b *Bench) incastFinish(o *Outcome, what string, want float64) error {
	list, err := o.Messages()
	if err != nil {
		return err
	}
	var last sim.Time
	for _, f := range list {
		if f.Status != trace.StatusSuccess {
			return fmt.Errorf("%s: a message ended with %s", what, f.Status)
		}
		last = max(last, f.End)
	}
	b.Near(what, want*1e6, one(last.Seconds()*1e6), 0.01, "us", "derived")
	return nil
}
