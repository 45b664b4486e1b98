package hardware

import (
	"fmt"
	"time"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// callTime is how long an answer of another agent may take.
const callTime = 20 * time.Second

// answer makes a queue pair for one of another agent, or gives it more memory.
func (w *world) answer(m message) (*wireConn, error) {
	host := indexOf(w.traffic.Hosts, m.To)
	from := -1
	if m.Conn != nil {
		from = indexOf(w.traffic.Hosts, m.Conn.From)
	}
	if host < 0 || w.endOf[host] < 0 || from < 0 || m.Conn.Load < 0 || m.Conn.Load >= len(w.apps) {
		return nil, fmt.Errorf("a call for host %q, which is not here", m.To)
	}
	q := m.Conn
	if q.Grow > 0 {
		c := w.ends[w.endOf[host]].conns[q.QPN]
		if c == nil {
			return nil, fmt.Errorf("queue pair %d is not here", q.QPN)
		}
		if err := c.dst.grow(c.end, q.Grow); err != nil {
			return nil, err
		}
		return c.wire(0, 0), nil
	}
	a := w.apps[q.Load][host]
	c, err := w.newConn(a, q.Depth, verbs.Service(q.Service))
	if err != nil {
		return nil, err
	}
	c.peer = w.far(c, from, q)
	if err := w.ready1(c, min(c.end.mtu, q.MTU), q.Priority); err != nil {
		return nil, err
	}
	a.inst.OnAccept(a, c, from, q.Private)
	return c.wire(0, 0), nil
}

// wire describes an end of a connection to the other.
func (c *conn) wire(depth, priority int) *wireConn {
	return &wireConn{Load: c.app.load, From: c.w.traffic.Hosts[c.app.host], Depth: depth, Priority: priority, Service: uint8(c.service), QPN: c.QPN(), MTU: c.end.mtu,
		GID: c.end.gid, Reads: c.end.attr.MaxDestRDAtomic, Addr: c.dst.mr.Addr(), RKey: c.dst.mr.RKey(), Size: sim.Bytes(len(c.dst.mr.Bytes()))}
}

// far stands for the end of a connection that another agent has.
func (w *world) far(c *conn, host int, q *wireConn) *conn {
	f := &conn{w: w, app: &app{w: w, host: host, load: c.app.load}, end: &endpoint{gid: q.GID, mtu: q.MTU}, dst: &region{}, service: c.service, farQPN: q.QPN}
	f.end.attr.MaxDestRDAtomic = q.Reads
	f.dst.far = farMemory{q.Addr, q.RKey, q.Size}
	f.dst.ask = func(n sim.Bytes) (farMemory, error) {
		got, err := w.call(host, &wireConn{Load: c.app.load, From: w.traffic.Hosts[c.app.host], QPN: q.QPN, Grow: n})
		if err != nil {
			return farMemory{}, err
		}
		return farMemory{got.Addr, got.RKey, got.Size}, nil
	}
	return f
}

// connectFar makes a connection to a host of another agent.
func (w *world) connectFar(a *app, p workload.ConnParams, service verbs.Service) (*conn, error) {
	c, err := w.newConn(a, p.Depth, service)
	if err != nil {
		return nil, err
	}
	c.far = true
	ask := c.wire(p.Depth, p.Priority)
	ask.Private = p.Private
	got, err := w.call(p.Peer, ask)
	if err != nil {
		return nil, fmt.Errorf("%s to %s: %w", w.traffic.Hosts[a.host], w.traffic.Hosts[p.Peer], err)
	}
	c.peer = w.far(c, p.Peer, got)
	w.made[a.host]++
	c.number = w.made[a.host]
	return c, w.ready1(c, min(c.end.mtu, got.MTU), p.Priority)
}

// call asks the agent of a host and waits for its answer. Meanwhile it answers
// what others ask: two agents may call each other at once.
func (w *world) call(host int, q *wireConn) (*wireConn, error) {
	r := w.remote
	r.seq++
	r.work++
	seq := r.seq
	if err := r.link.send(message{Kind: kindCall, Seq: seq, To: w.traffic.Hosts[host], Conn: q}); err != nil {
		return nil, err
	}
	deadline := time.NewTimer(callTime)
	defer deadline.Stop()
	for {
		select {
		case <-deadline.C:
			return nil, fmt.Errorf("the agent of %s did not answer within %v", w.traffic.Hosts[host], callTime)
		case m, ok := <-r.link.in:
			switch {
			case !ok:
				return nil, fmt.Errorf("the coordinator is gone: %w", r.link.errGone())
			case m.Kind == kindReply && m.Seq == seq:
				if m.Lost {
					return nil, fmt.Errorf("%s: %w", w.traffic.Hosts[host], errPeerLost)
				}
				if m.Err != "" || m.Conn == nil {
					return nil, fmt.Errorf("the agent of %s: %s", w.traffic.Hosts[host], m.Err)
				}
				return m.Conn, nil
			case m.Kind == kindReply: // of a call that was given up
			default:
				w.handle(m)
			}
		}
	}
}
