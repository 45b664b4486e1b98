package congestion

import (
	"fmt"

	"rdmasim/sim"
)

// TimelyParams are the knobs of TIMELY (Mittal et al., SIGCOMM'15, section
// 4.3, algorithm 1). Defaults are those that "ECN or Delay" (CoNEXT'16) takes
// from the authors.
type TimelyParams struct {
	EWMA      sim.Ratio    `key:"ewma" doc:"weight of a new RTT difference"`
	Beta      sim.Ratio    `key:"beta" doc:"multiplicative decrease"`
	TLow      sim.Duration `key:"t_low" doc:"RTT below which the rate always rises"`
	THigh     sim.Duration `key:"t_high" doc:"RTT above which the rate always falls"`
	MinRTT    sim.Duration `key:"min_rtt" doc:"RTT that normalises the gradient"`
	Delta     sim.Rate     `key:"delta" doc:"additive increase per completion event"`
	HyperAt   int          `key:"hyper_after" doc:"completion events without a rising RTT before the increase is multiplied"`
	HyperStep int          `key:"hyper_step" doc:"factor of the increase from then on"`
	Segment   sim.Bytes    `key:"segment" doc:"acknowledged payload per completion event"`
	MinRate   sim.Rate     `key:"min_rate" doc:"the rate never falls below this"`
}

var _ = sim.Register(Algorithms, "timely", "rate control by the gradient of the round-trip time (Mittal et al., SIGCOMM'15)",
	TimelyParams{
		EWMA: 0.875, Beta: 0.8, TLow: 50 * sim.Microsecond, THigh: 500 * sim.Microsecond, MinRTT: 20 * sim.Microsecond,
		Delta: 10 * sim.Mbps, HyperAt: 5, HyperStep: 5, Segment: 16 * sim.KB, MinRate: 10 * sim.Mbps,
	}, nil, NewTimely)

type timely struct{ p TimelyParams }

// NewTimely checks the parameters and returns the algorithm.
func NewTimely(p TimelyParams) (Algorithm, error) {
	err := firstError(
		within("ewma", p.EWMA, 0, 1),
		within("beta", p.Beta, 0, 1),
		within("t_low", p.TLow, 0, sim.Second),
		within("t_high", p.THigh, p.TLow, sim.Second),
		within("min_rtt", p.MinRTT, sim.Nanosecond, sim.Second),
		within("delta", p.Delta, 0, maxRate),
		within("hyper_after", p.HyperAt, 1, 1<<20),
		within("hyper_step", p.HyperStep, 1, 1<<20),
		within("segment", p.Segment, 1, sim.GB),
		within("min_rate", p.MinRate, sim.Kbps, maxRate),
	)
	if err != nil {
		return nil, fmt.Errorf("congestion timely: %w", err)
	}
	return &timely{p}, nil
}

func (t *timely) Feedback() (Feedback, sim.Duration) { return RoundTrips, 0 }
func (t *timely) ECT() bool                          { return false }

func (t *timely) NewReactionPoint(line sim.Rate, _ sim.Duration) ReactionPoint {
	return &timelyPoint{t: t, rate: float64(line), line: float64(line)}
}

// timelyPoint is TIMELY's reaction point of one queue pair.
type timelyPoint struct {
	t     *timely
	rate  float64 // bit/s
	line  float64 // bit/s
	rtt   float64 // of the last completion event, ps; 0 = none yet
	diff  float64 // smoothed difference of RTTs, ps
	acked sim.Bytes
	calm  int // completion events in a row without a rising RTT
}

func (q *timelyPoint) Rate(sim.Time) sim.Rate     { return sim.Rate(q.rate + 0.5) }
func (q *timelyPoint) Window(sim.Time) sim.Bytes  { return 0 }
func (q *timelyPoint) OnSend(sim.Time, sim.Bytes) {}
func (q *timelyPoint) OnCNP(sim.Time)             {}
func (q *timelyPoint) OnLoss(sim.Time)            {}

// OnAck makes one completion event of every segment of acknowledged payload.
func (q *timelyPoint) OnAck(_ sim.Time, a Ack) {
	q.acked += a.Bytes
	if a.RTT <= 0 || q.acked < q.t.p.Segment {
		return
	}
	q.acked = 0
	rtt := float64(a.RTT)
	if q.rtt == 0 {
		q.rtt = rtt
		return
	}
	w := float64(q.t.p.EWMA)
	q.diff = float64((1-w)*q.diff) + float64(w*(rtt-q.rtt))
	q.rtt = rtt
	p := &q.t.p
	q.rate = min(max(q.update(rtt), float64(p.MinRate)), q.line)
}

// update returns the rate after a completion event: algorithm 1 of the paper.
func (q *timelyPoint) update(rtt float64) float64 {
	p := &q.t.p
	calm := q.calm
	q.calm = 0
	switch {
	case rtt < float64(p.TLow):
		return q.rate + float64(p.Delta)
	case rtt > float64(p.THigh):
		return q.decrease(1 - float64(p.THigh)/rtt)
	case q.diff > 0:
		return q.decrease(q.gradient())
	}
	q.calm = calm + 1
	if q.calm >= p.HyperAt {
		return q.rate + float64(float64(p.Delta)*float64(p.HyperStep))
	}
	return q.rate + float64(p.Delta)
}

// decrease returns the rate after a decrease by the share beta*by.
func (q *timelyPoint) decrease(by float64) float64 {
	return q.rate * (1 - float64(float64(q.t.p.Beta)*by))
}

// gradient returns the smoothed difference of RTTs in units of MinRTT.
func (q *timelyPoint) gradient() float64 { return q.diff / float64(q.t.p.MinRTT) }

// Observe reports rate, delay in seconds and normalised gradient.
func (q *timelyPoint) Observe(_ sim.Time, f func(name string, value float64)) {
	f("rate", q.rate)
	f("delay", q.rtt/float64(sim.Second))
	f("gradient", q.gradient())
}
