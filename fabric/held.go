package fabric

import (
	"fmt"

	"rdmasim/fabric/packet"
	"rdmasim/sim/trace"
)

// What an XOFF is reported with: at most heldQueues egress queues that hold
// frames of the ingress, each with at least heldShare percent of them.
const (
	heldQueues = 3
	heldShare  = 5
)

// heldChunks bounds how many pieces of a long queue are looked at, from its
// front; the last piece is looked at always.
const heldChunks = 3

// heldCauses are the causes of held events, so that none is made at run time.
var heldCauses = func() (c [101]string) {
	for i := range c {
		c[i] = fmt.Sprintf("%d %% of its frames", i)
	}
	return c
}()

// logHeld reports which egress queues hold the frames by which an ingress has
// reached its threshold: the largest share first.
func (s *Switch) logHeld(in int, c uint8) {
	type held struct{ port, bytes int64 }
	var top [heldQueues]held
	n, total := 0, int64(0)
	for z := range s.ports {
		if s.ports[z].nonEmpty&(1<<c) == 0 {
			continue
		}
		q := &s.ports[z].class[c].EgressQueue
		b := q.fifo.shareOf(uint16(in), q.Bytes)
		if b == 0 {
			continue
		}
		total += b
		i := n
		if n < heldQueues {
			n++
		} else if i--; b <= top[i].bytes {
			continue
		}
		for ; i > 0 && top[i-1].bytes < b; i-- {
			top[i] = top[i-1]
		}
		top[i] = held{int64(z), b}
	}
	for _, h := range top[:n] {
		share := (h.bytes*100 + total/2) / total
		k := s.ports[h.port].class[c]
		if share < heldShare || k.queueID == 0 {
			continue
		}
		s.Cfg.Sink.Event(trace.Event{Time: s.node.Now(), Kind: trace.EventHeld, Object: s.ports[in].id, Peer: k.queueID, Prio: int8(c), Value: float64(k.Bytes), Cause: heldCauses[share]})
	}
}

// shareOf estimates how many of the bytes of a queue came by a port, from the
// frames at its front and at its end.
func (f *fifo) shareOf(in uint16, bytes int64) int64 {
	var own, all int64
	look := func(frames []packet.Packet) {
		for i := range frames {
			size := int64(frames[i].Size)
			all += size
			if frames[i].InPort == in {
				own += size
			}
		}
	}
	for c, n := f.head, 0; c != nil; c, n = c.next, n+1 {
		if n >= heldChunks && c != f.tail {
			c = f.tail
		}
		from, end := 0, chunkFrames
		if c == f.head {
			from = int(f.first)
		}
		if c == f.tail {
			end = int(f.end)
		}
		look(c.p[from:end])
		if c == f.tail {
			break
		}
	}
	if all == 0 {
		return 0
	}
	return int64(float64(bytes) * (float64(own) / float64(all)))
}
