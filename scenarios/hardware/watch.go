package hardware

import (
	"fmt"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// A WRITE without immediate tells its receiver nothing. Programs that wait for
// one look at the last byte of the memory that it goes to, and so do watchers
// here: the sender puts a mark there that differs from the one before.

// stamp is a WRITE whose arrival is awaited.
type stamp struct {
	length sim.Bytes
	mark   byte
}

// WatchWrites makes completions of the peer's WRITEs.
func (c *conn) WatchWrites() {
	if c.peer == nil || c.peer.qp == nil {
		c.w.fail(fmt.Errorf("%w: waiting for a WRITE of another machine: measure the latency of SEND, READ or atomics, or have both devices on one machine", verbs.ErrNotSupported))
		return
	}
	if !c.watches {
		c.watches = true
		c.w.watching = append(c.w.watching, c)
	}
}

var _ verbs.WriteWatcher = (*conn)(nil)

// mark puts a mark into the last byte of a WRITE of n bytes, which is about to
// be posted. There is one outstanding at a time: a second would be sent from the
// same memory.
func (c *conn) mark(n sim.Bytes) {
	if n == 0 {
		return
	}
	last := &c.src.mr.Bytes()[n-1]
	*last = *last%255 + 1
	if there := &c.peer.dst.mr.Bytes()[n-1]; *there == *last {
		*last = *last%255 + 1
	}
	c.peer.expected = append(c.peer.expected, stamp{n, *last})
}

// look hands over the WRITEs that have arrived.
func (w *world) look() (did bool) {
	for _, c := range w.watching {
		for len(c.expected) > 0 {
			e := c.expected[0]
			if loadByte(&c.dst.mr.Bytes()[e.length-1]) != e.mark {
				break
			}
			c.expected = c.expected[1:]
			did = true
			c.app.inst.OnCompletion(c.app, c, verbs.WorkCompletion{Recv: true, Opcode: verbs.OpWrite, Length: e.length, QPN: c.QPN()})
		}
	}
	return did
}

// loadByte reads a byte that a NIC may be writing.
//
//go:noinline
func loadByte(p *byte) byte { return *p }
