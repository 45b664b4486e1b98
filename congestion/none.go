package congestion

import (
	"fmt"

	"rdmasim/sim"
)

// NoneParams are the parameters of a sender without congestion control.
type NoneParams struct {
	Rate sim.Rate `key:"rate" doc:"fixed pacing rate, 0bps = line rate"`
	ECT  bool     `key:"ect" doc:"data packets are sent ECN-capable, so that switches mark them; nobody reacts"`
}

var _ = sim.Register(Algorithms, "none", "no congestion control: every queue pair sends at a fixed rate and leaves the rest to PFC",
	NoneParams{}, nil, NewNone)

// NewNone checks the parameters and returns the algorithm.
func NewNone(p NoneParams) (Algorithm, error) {
	if err := within("rate", p.Rate, 0, maxRate); err != nil {
		return nil, fmt.Errorf("congestion none: %w", err)
	}
	return none{p}, nil
}

type none struct{ p NoneParams }

func (none) Feedback() (Feedback, sim.Duration) { return NoFeedback, 0 }
func (n none) ECT() bool                        { return n.p.ECT }

func (n none) NewReactionPoint(line sim.Rate, _ sim.Duration) ReactionPoint {
	if n.p.Rate > 0 {
		line = min(line, n.p.Rate)
	}
	return fixedRate(line)
}

// fixedRate is the reaction point that never reacts.
type fixedRate sim.Rate

func (r fixedRate) Rate(sim.Time) sim.Rate   { return sim.Rate(r) }
func (fixedRate) Window(sim.Time) sim.Bytes  { return 0 }
func (fixedRate) OnSend(sim.Time, sim.Bytes) {}
func (fixedRate) OnAck(sim.Time, Ack)        {}
func (fixedRate) OnCNP(sim.Time)             {}
func (fixedRate) OnLoss(sim.Time)            {}
