package simnic

import (
	"fmt"

	"rdmasim/verbs"
)

// cq is a completion queue.
type cq struct {
	ctx     *nicContext
	ch      *channel
	entries int
	list    []entry
	head    int
	armed   uint8 // 0 no, 1 any completion, 2 solicited ones
	overrun bool
	uses    int
	unacked int // events taken and not acknowledged
	dead    bool
}

// entry is a completion, with the place in the send queue up to which polling
// it gives room back.
type entry struct {
	wc   verbs.WorkCompletion
	q    *fullQP
	upto uint64
}

// channel is a completion channel.
type channel struct {
	ctx    *nicContext
	events []*cq
	uses   int
	dead   bool
	// notify is called when an event is added, by whoever simulates a program.
	notify func()
}

func (c *nicContext) CreateCompletionChannel() (verbs.CompletionChannel, error) {
	if c.closed {
		return nil, errGone("context")
	}
	c.uses++
	return &channel{ctx: c}, nil
}

func (c *nicContext) CreateCQ(entries int, ch verbs.CompletionChannel) (verbs.CompletionQueue, error) {
	if c.closed {
		return nil, errGone("context")
	}
	if entries < 1 || entries > maxCQE {
		return nil, fmt.Errorf("%w: completion queue of %d: want 1..%d", verbs.ErrInvalid, entries, maxCQE)
	}
	q := &cq{ctx: c, entries: entries}
	if ch != nil {
		own, ok := ch.(*channel)
		if !ok || own.dead {
			return nil, fmt.Errorf("%w: a completion channel of another device", verbs.ErrInvalid)
		}
		q.ch = own
		own.uses++
	}
	c.uses++
	return q, nil
}

func (c *cq) Entries() int { return c.entries }

// push adds a completion.
func (c *cq) push(e entry, solicited bool) {
	if c.overrun {
		return
	}
	if len(c.list)-c.head >= c.entries {
		c.overrun = true
		c.ctx.tell(verbs.AsyncEvent{Kind: verbs.AsyncCQError, CQ: c})
		if e.q != nil {
			c.ctx.tell(verbs.AsyncEvent{Kind: verbs.AsyncQPFatal, QPN: e.q.QPN()})
			e.q.abort()
		}
		return
	}
	c.list = append(c.list, e)
	if c.armed == 1 || c.armed == 2 && (solicited || e.wc.Status != verbs.StatusSuccess) {
		c.armed = 0
		if c.ch != nil {
			c.ch.events = append(c.ch.events, c)
			if c.ch.notify != nil {
				c.ch.notify()
			}
		}
	}
}

func (c *cq) Poll(wc []verbs.WorkCompletion) (int, error) {
	if c.dead {
		return 0, errGone("completion queue")
	}
	if c.overrun {
		return 0, verbs.ErrOverrun
	}
	k := 0
	for k < len(wc) && c.head < len(c.list) {
		e := &c.list[c.head]
		wc[k] = e.wc
		if e.q != nil && e.upto > e.q.released {
			e.q.released = e.upto
		}
		*e = entry{}
		c.head++
		k++
	}
	if c.head == len(c.list) {
		c.list, c.head = c.list[:0], 0
	} else if c.head > 1024 && c.head*2 > len(c.list) {
		c.list = append(c.list[:0], c.list[c.head:]...)
		c.head = 0
	}
	return k, nil
}

// drop removes the completions of a queue pair that is destroyed or reset.
func (c *cq) drop(q *fullQP) {
	keep := c.list[:c.head]
	for _, e := range c.list[c.head:] {
		if e.q != q {
			keep = append(keep, e)
		}
	}
	c.list = keep
}

func (c *cq) RequestNotify(solicitedOnly bool) error {
	switch {
	case c.dead:
		return errGone("completion queue")
	case c.ch == nil:
		return fmt.Errorf("%w: the completion queue has no channel", verbs.ErrInvalid)
	case !solicitedOnly:
		c.armed = 1
	case c.armed == 0:
		c.armed = 2
	}
	return nil
}

func (c *cq) Destroy() error {
	switch {
	case c.dead:
		return errGone("completion queue")
	case c.uses > 0:
		return fmt.Errorf("%w: %d queue pairs use the completion queue", verbs.ErrBusy, c.uses)
	case c.unacked > 0:
		return fmt.Errorf("%w: %d events of the completion queue are not acknowledged", verbs.ErrBusy, c.unacked)
	}
	c.dead = true
	c.ctx.uses--
	if c.ch != nil {
		c.ch.uses--
		keep := c.ch.events[:0]
		for _, e := range c.ch.events {
			if e != c {
				keep = append(keep, e)
			}
		}
		c.ch.events = keep
	}
	return nil
}

func (h *channel) Event() (verbs.CompletionQueue, bool) {
	if len(h.events) == 0 {
		return nil, false
	}
	c := h.events[0]
	h.events = h.events[1:]
	c.unacked++
	return c, true
}

func (h *channel) AckEvents(q verbs.CompletionQueue, n int) {
	if c, ok := q.(*cq); ok {
		c.unacked = max(c.unacked-n, 0)
	}
}

func (h *channel) Destroy() error {
	if h.dead {
		return errGone("completion channel")
	}
	if h.uses > 0 {
		return fmt.Errorf("%w: %d completion queues use the channel", verbs.ErrBusy, h.uses)
	}
	h.dead = true
	h.ctx.uses--
	return nil
}
