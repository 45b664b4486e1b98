package workload

import (
	"fmt"

	"rdmasim/sim"
)

// IncastParams are the parameters of incast.
type IncastParams struct {
	Common
	Senders  HostSet      `key:"senders" doc:"how many, which, or all hosts but the receiver"`
	Receiver string       `key:"receiver" doc:"the host they all send to; empty = the first"`
	Message  sim.Bytes    `key:"message" doc:"size of a message"`
	Repeat   Repeat       `key:"repeat" doc:"messages per queue pair, or forever"`
	Depth    int          `key:"depth" doc:"messages outstanding per queue pair"`
	Jitter   sim.Duration `key:"jitter" doc:"every sender starts at a random time within this span"`
}

var _ = sim.Register(Workloads, "incast", "Many hosts send to one at the same time.",
	IncastParams{Common: defaultCommon(), Senders: HostSet{"all"}, Message: 1 * sim.MB, Repeat: 1, Depth: 1}, nil,
	func(p IncastParams) (Workload, error) { return incast{p}, nil })

type incast struct{ IncastParams }

func (w incast) Plan(c *Context) (map[int]Instance, error) {
	plan, err := w.plan(c)
	if err != nil {
		return nil, fmt.Errorf("incast: %w", err)
	}
	return plan, nil
}

func (w incast) plan(c *Context) (map[int]Instance, error) {
	t, err := w.Common.resolve(c, "incast")
	if err != nil {
		return nil, err
	}
	to := 0
	if w.Receiver != "" {
		if to, err = c.host(w.Receiver); err != nil {
			return nil, fmt.Errorf("receiver: %w", err)
		}
	}
	senders, err := w.Senders.resolve(c, "senders", to)
	if err != nil {
		return nil, err
	}
	proto := closedLoops{receiver: receiver{receives: t.send()}, traffic: t, message: w.Message, repeat: w.Repeat, depth: w.Depth, jitter: w.Jitter}
	if err := proto.check(c); err != nil {
		return nil, err
	}
	plan := map[int]Instance{to: &proto.receiver}
	for _, s := range senders {
		l := proto
		l.add(to)
		plan[s] = &l
	}
	return plan, nil
}

// check validates what all closed loops take from the scenario.
func (l *closedLoops) check(c *Context) error {
	if err := checkMessage(c, "message", l.message); err != nil {
		return err
	}
	if err := checkDepth(l.depth); err != nil {
		return err
	}
	if l.jitter < 0 {
		return fmt.Errorf("jitter: %v is negative", l.jitter)
	}
	return l.checkEnds(l.repeat)
}
