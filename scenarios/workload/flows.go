package workload

import (
	"fmt"
	"slices"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// Flow is one message on a queue pair of its own.
type Flow struct {
	From     string       `key:"from" doc:"host that sends"`
	To       string       `key:"to" doc:"host that receives"`
	Size     sim.Bytes    `key:"size" doc:"bytes"`
	At       sim.Duration `key:"at" doc:"when it is posted, from the start of the workload on"`
	Priority Priority     `key:"priority" doc:"802.1p priority, instead of that of the workload; -1 = that of the workload"`
	SrcPort  uint16       `key:"sport" doc:"UDP source port; 0 = chosen by the NIC"`
	DstPort  uint16       `key:"dport" doc:"UDP destination port; 0 = 4791"`
	Tag      string       `key:"tag" doc:"label in the report, instead of that of the workload"`
}

// FlowsParams are the parameters of flows.
type FlowsParams struct {
	Common
	List []Flow `key:"list" doc:"flows, in any order"`
	File string `key:"file" doc:"CSV file with the columns src,dst,bytes,start and, if wanted, priority,sport,dport,tag"`
}

var _ = sim.Register(Workloads, "flows", "Flows given one by one: from, to, size, time.",
	FlowsParams{Common: defaultCommon()}, nil,
	func(p FlowsParams) (Workload, error) { return flows{p}, nil })

type flows struct{ FlowsParams }

func (w flows) Plan(c *Context) (map[int]Instance, error) {
	plan, err := w.plan(c)
	if err != nil {
		return nil, fmt.Errorf("flows: %w", err)
	}
	return plan, nil
}

func (w flows) plan(c *Context) (map[int]Instance, error) {
	t, err := w.Common.resolve(c, "flows")
	if err != nil {
		return nil, err
	}
	if t.qps != 1 {
		return nil, fmt.Errorf("qps_per_peer: %d: every flow has one queue pair of its own", t.qps)
	}
	list := w.List
	where := func(i int) string { return fmt.Sprintf("list[%d]", i) }
	if w.File != "" {
		if len(w.List) > 0 {
			return nil, fmt.Errorf("list and file exclude each other")
		}
		text, err := c.File(w.File)
		if err != nil {
			return nil, fmt.Errorf("file: %w", err)
		}
		var lines []int
		if list, lines, err = parseFlows(w.File, text); err != nil {
			return nil, err
		}
		where = func(i int) string { return fmt.Sprintf("%s:%d", w.File, lines[i]) }
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no flows: give list or file")
	}
	plan := map[int]Instance{}
	for i := range list {
		if err := addFlow(c, plan, &t, i, &list[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", where(i), err)
		}
	}
	for h := range c.Hosts {
		if i := plan[h]; i != nil {
			i.(*flowSender).sort()
		}
	}
	return plan, nil
}

// addFlow gives a flow to the instance of its sender.
func addFlow(c *Context, plan map[int]Instance, t *traffic, index int, f *Flow) error {
	from, err := c.host(f.From)
	if err != nil {
		return err
	}
	to, err := c.host(f.To)
	if err != nil {
		return err
	}
	switch {
	case from == to:
		return fmt.Errorf("%s cannot send to itself", f.From)
	case f.At < 0:
		return fmt.Errorf("at: %v is before the run", f.At)
	}
	if err := checkMessage(c, "size", f.Size); err != nil {
		return err
	}
	for _, h := range []int{from, to} {
		if plan[h] == nil {
			plan[h] = &flowSender{receiver: receiver{receives: t.send()}, traffic: *t}
		}
	}
	p := plannedFlow{index: index, peer: to, size: f.Size, at: sim.Time(t.start).Add(f.At), priority: f.Priority.Value(), sport: f.SrcPort, dport: f.DstPort, tag: f.Tag}
	if p.priority < 0 {
		p.priority = t.priority
	}
	s := plan[from].(*flowSender)
	s.flows = append(s.flows, p)
	return nil
}

type plannedFlow struct {
	index, peer, priority int
	sport, dport          uint16
	size                  sim.Bytes
	at                    sim.Time
	tag                   string
}

// flowSender is the instance of a host that posts flows at given times.
type flowSender struct {
	receiver
	traffic
	flows       []plannedFlow // by time
	next        int
	outstanding int
	done        bool
}

// sort orders the flows by time and, at one time, as they were listed, and
// drops those that begin after the workload stops.
func (s *flowSender) sort() {
	slices.SortStableFunc(s.flows, func(a, b plannedFlow) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	for n := len(s.flows); n > 0 && s.flows[n-1].at >= s.stop; n-- {
		s.flows = s.flows[:n-1]
	}
}

func (s *flowSender) Start(h Host) { s.OnTimer(h, 0) }

// OnTimer posts the flows that are due and arms the timer of the next.
func (s *flowSender) OnTimer(h Host, _ uint64) {
	for s.next < len(s.flows) && s.flows[s.next].at <= h.Now() {
		s.post(h, &s.flows[s.next])
		s.next++
	}
	if s.next < len(s.flows) {
		h.After(s.flows[s.next].at.Sub(h.Now()), 0)
	}
	s.finish(h)
}

func (s *flowSender) post(h Host, f *plannedFlow) {
	qp := h.Connect(ConnParams{Peer: f.peer, Index: f.index, Priority: f.priority, SrcPort: f.sport, DstPort: f.dport, Depth: 1, Private: private(f.size, 1)})
	tag := f.tag
	if tag == "" {
		tag = s.tagAt(h.Now())
	}
	s.outstanding++
	if qp.PostSend(verbs.WorkRequest{WRID: uint64(f.index), Opcode: s.opcode, Length: f.size, Signaled: true, Tag: tag}) != nil {
		s.outstanding--
		qp.Close()
	}
}

func (s *flowSender) OnCompletion(h Host, qp verbs.Connection, wc verbs.WorkCompletion) {
	if wc.Recv {
		return // its one message has arrived
	}
	qp.Close()
	s.outstanding--
	s.finish(h)
}

func (s *flowSender) finish(h Host) {
	if s.next == len(s.flows) && s.outstanding == 0 && !s.done {
		s.done = true
		h.Done()
	}
}
