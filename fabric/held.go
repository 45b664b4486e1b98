package fabric

import (
	"fmt"
	"math"

	"rdmasim/fabric/packet"
	"rdmasim/sim/trace"
)

// What an XOFF is reported with: at most heldQueues egress queues that hold
// frames of the ingress, each with at least heldShare percent of them.
const (
	heldQueues = 3
	heldShare  = 5
)

// heldFrames bounds how many frames of a long queue are looked at, from its
// front.
const heldFrames = 4096

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
	if !s.logHeldBy(in, c, heldFrames) {
		s.logHeldBy(in, c, math.MaxInt) // its frames lie further back in long queues
	}
}

// logHeldBy looks at so many frames of each queue; it reports whether it found
// one of the ingress.
func (s *Switch) logHeldBy(in int, c uint8, frames int) bool {
	type held struct{ port, bytes int64 }
	var top [heldQueues]held
	n, total := 0, int64(0)
	for z := range s.ports {
		qi := s.queueOf(in, z, c)
		if s.ports[z].nonEmpty&(1<<qi) == 0 {
			continue
		}
		q := &s.ports[z].class[qi].EgressQueue
		b := q.fifo.shareOf(uint16(in), q.Bytes, frames)
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
		k := s.ports[h.port].class[s.queueOf(in, int(h.port), c)]
		if share < heldShare || k.queueID == 0 {
			continue
		}
		s.Cfg.Sink.Event(trace.Event{Time: s.node.Now(), Kind: trace.EventHeld, Object: s.ports[in].id, Peer: k.queueID, Prio: int8(c), Value: float64(k.Bytes), Cause: heldCauses[share]})
	}
	return n > 0
}

// shareOf estimates how many of the bytes of a queue came by a port, from the
// frames at its front.
func (f *fifo) shareOf(in uint16, bytes int64, frames int) int64 {
	var own, all int64
	n := 0
	f.each(func(m *packet.Packet) bool {
		size := int64(m.Size)
		all += size
		if m.InPort == in {
			own += size
		}
		n++
		return n < frames
	})
	if all == 0 {
		return 0
	}
	return int64(float64(bytes) * (float64(own) / float64(all)))
}
