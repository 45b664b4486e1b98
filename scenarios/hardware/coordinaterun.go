package hardware

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rdmasim/sim"
)

// answerTime is how long an agent may take to come up and to answer.
const answerTime = 2 * time.Minute

// next takes the next message that is for the coordinator, and passes on calls.
func (c *coordinator) next(ctx context.Context, wait time.Duration) (m message, ok bool, err error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		if i, why := c.silent(); why != nil {
			return m, false, c.gone(i, why)
		}
		select {
		case <-ctx.Done():
			return m, false, ctx.Err()
		case <-timer.C:
			return m, false, nil
		case m = <-c.inbox:
		}
		a := c.agents[m.from]
		switch m.Kind {
		case kindCall:
			err = c.pass(m)
		case kindReply:
			k, known := c.calls[m.Seq]
			if !known {
				continue
			}
			delete(c.calls, m.Seq)
			m.Seq = k.seq
			err = c.tell(k.from, m)
		case kindFailed:
			why := errors.New(m.Err)
			if c.spec == nil || c.anyLost() { // a doctor has other patients; or it cannot go on either
				return m, false, c.gone(m.from, why)
			}
			return m, false, fmt.Errorf("%s: %w", a.machine, why)
		case kindBye:
			if a.result != nil || a.lost != nil {
				continue
			}
			return m, false, c.gone(m.from, a.why())
		default:
			return m, a.lost == nil, nil
		}
		if err != nil {
			return m, false, err
		}
	}
}

// gone is that an agent is lost: an error before the run, and its end after.
func (c *coordinator) gone(i int, why error) error {
	if !c.running {
		return fmt.Errorf("%s: %w", c.agents[i].machine, why)
	}
	c.lose(i, why)
	return nil
}

// pass hands a call to the agent of its host.
func (c *coordinator) pass(m message) error {
	to, ok := c.of[m.To]
	switch {
	case !ok:
		return c.tell(m.from, message{Kind: kindReply, Seq: m.Seq, Err: "there is no host " + m.To})
	case c.agents[to].lost != nil:
		return c.tell(m.from, message{Kind: kindReply, Seq: m.Seq, Lost: true})
	}
	c.seq++
	c.calls[c.seq] = call{m.from, to, m.Seq}
	m.Seq = c.seq
	return c.tell(to, m)
}

// expect waits for a message of one agent; those of others wait for their turn.
func (c *coordinator) expect(ctx context.Context, i int, k kind) (message, error) {
	for deadline := c.now() + answerTime; ; {
		m, ok := c.waiting(i)
		if !ok {
			var err error
			if m, ok, err = c.next(ctx, answerTime); err != nil {
				return m, err
			}
		}
		switch {
		case c.agents[i].lost != nil:
			return m, fmt.Errorf("%s: %w", c.agents[i].machine, c.agents[i].lost)
		case !ok && c.now() < deadline: // something else has happened
		case !ok:
			return m, fmt.Errorf("%s: no answer within %v", c.agents[i].machine, answerTime)
		case m.from != i:
			c.early = append(c.early, m)
		case m.Kind != k:
			return m, fmt.Errorf("%s: %q instead of %q", c.agents[i].machine, m.Kind, k)
		default:
			return m, nil
		}
	}
}

// waiting takes the oldest message of an agent that came before its turn.
func (c *coordinator) waiting(i int) (message, bool) {
	k := slices.IndexFunc(c.early, func(m message) bool { return m.from == i })
	if k < 0 {
		return message{}, false
	}
	m := c.early[k]
	c.early = slices.Delete(c.early, k, k+1)
	return m, true
}

// exchanges is how often a clock is asked.
const exchanges = 20

func (c *coordinator) offsetOf(ctx context.Context, i int) (Offset, error) {
	var list []exchange
	for range exchanges {
		asked := c.now()
		if err := c.tell(i, message{Kind: kindPing}); err != nil {
			return Offset{}, err
		}
		m, err := c.expect(ctx, i, kindPing)
		if err != nil {
			return Offset{}, err
		}
		list = append(list, exchange{asked, time.Duration(m.Time), c.now()})
	}
	o, err := estimate(list)
	if err != nil {
		err = fmt.Errorf("%s: the clock: %w", c.agents[i].machine, err)
	}
	return o, err
}

// lead is how long after the word the run begins: faults are put in place before.
const lead = 1500 * time.Millisecond

// run starts all agents at one instant, waits until nothing is left to do or the
// time is over, and collects what they have measured. When an agent is lost the
// others stop, and what they have measured is kept.
func (c *coordinator) run(ctx context.Context) (stopped bool, err error) {
	c.zero = c.now() + lead
	c.running = true
	for i, a := range c.agents {
		if err := c.tell(i, message{Kind: kindStart, Time: (c.zero + a.offset.Ahead).Nanoseconds()}); err != nil {
			return false, err
		}
	}
	limit := c.spec.Duration
	if c.spec.UntilDone {
		limit = c.spec.MaxDuration
	}
	end := c.zero + time.Duration(limit/sim.Nanosecond)
	for quiet := uint64(0); c.left() > 0; {
		if (ctx.Err() != nil || c.anyLost()) && !stopped {
			stopped = true
			end = c.now()
			if err := c.stop(); err != nil {
				return true, err
			}
		}
		if c.now() > end+answerTime {
			return stopped, fmt.Errorf("no results within %v after the end", answerTime)
		}
		if c.spec.UntilDone && !stopped && c.now() > c.zero && c.now() < end {
			done, work, err := c.probe(ctx)
			if err != nil && ctx.Err() == nil {
				return false, err
			}
			// Nothing to do anywhere, twice with nothing done in between.
			if done && work == quiet {
				err := errors.Join(c.stop(), c.results())
				return c.anyLost(), c.nothing(err)
			}
			quiet = 0
			if done {
				quiet = work
			}
		}
		m, ok, err := c.next(context.WithoutCancel(ctx), 50*time.Millisecond)
		if err != nil {
			return stopped, err
		}
		if ok {
			c.take(m)
		}
	}
	return stopped || c.anyLost(), c.nothing(nil)
}

// nothing is an error where no agent is left that could tell what was measured.
func (c *coordinator) nothing(err error) error {
	if err != nil {
		return err
	}
	var why []error
	for _, a := range c.agents {
		if a.result != nil {
			return nil
		}
		why = append(why, fmt.Errorf("lost %s: %w", a.machine, a.lost))
	}
	return errors.Join(why...)
}

// left counts the agents whose results are still to come.
func (c *coordinator) left() (n int) {
	for _, a := range c.agents {
		if a.awaited() {
			n++
		}
	}
	return n
}

// awaited reports whether results are still to come.
func (a *agentEnd) awaited() bool { return a.result == nil && a.lost == nil }

func (c *coordinator) stop() error {
	for i, a := range c.agents {
		if !a.awaited() {
			continue
		}
		if err := c.tell(i, message{Kind: kindStop}); err != nil {
			return err
		}
	}
	return nil
}

// results waits for those of all agents.
func (c *coordinator) results() error {
	for deadline := c.now() + answerTime; c.left() > 0; {
		m, ok, err := c.next(context.Background(), time.Second)
		if err != nil {
			return err
		}
		if ok {
			c.take(m)
		}
		if c.now() > deadline {
			return fmt.Errorf("no results within %v", answerTime)
		}
	}
	return nil
}

// probe asks all agents whether they have anything to do, and how much they have
// done; rows that come meanwhile are taken.
func (c *coordinator) probe(ctx context.Context) (done bool, work uint64, err error) {
	asked := map[int]bool{}
	for i, a := range c.agents {
		if !a.awaited() {
			continue
		}
		asked[i] = true
		if err := c.tell(i, message{Kind: kindProbe}); err != nil {
			return false, 0, err
		}
	}
	waiting := func() bool {
		for i := range asked {
			if c.agents[i].awaited() { // else its time was over before it heard, or it is lost
				return true
			}
		}
		return false
	}
	done = true
	for deadline := c.now() + answerTime; waiting(); {
		m, ok, err := c.next(ctx, time.Second)
		if err != nil {
			return false, 0, err
		}
		switch {
		case ok && m.Kind == kindProbe:
			delete(asked, m.from)
			done = done && m.Done
			work += m.Work
		case ok:
			c.take(m)
		}
		if c.now() > deadline {
			return false, 0, fmt.Errorf("no answer within %v", answerTime)
		}
	}
	return done && !c.anyLost(), work + 1, nil
}

// take keeps results; names of objects come before the rows that use them.
func (c *coordinator) take(m message) {
	a := c.agents[m.from]
	switch m.Kind {
	case kindRows:
		if m.Rows == nil {
			return
		}
		a.objects = append(a.objects, m.Rows.Objects...)
		a.sink.Flows = append(a.sink.Flows, m.Rows.Flows...)
		a.sink.Points = append(a.sink.Points, m.Rows.Points...)
		a.sink.Events = append(a.sink.Events, m.Rows.Events...)
	case kindResult:
		a.result = m.Result
		if a.result == nil {
			a.result = &wireResult{}
		}
		if why := a.result.Stopped; why != "" && a.lost == nil {
			c.lose(m.from, errors.New(why))
		}
	}
}
