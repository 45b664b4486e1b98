package fabric

import "rdmasim/fabric/packet"

// fifo is the frames of a queue. Its first frames are kept whole. Where the
// queues of a worker hold so many that they leave its cache, what comes behind
// is packed: a congested queue holds thousands of frames of few flows.
type fifo struct {
	head, tail *chunk
	long       *packed // what comes behind the whole ones; nil while there is none
	first, end uint8   // next frame to take from head; one past the last in tail
	pieces     uint16  // whole ones
}

const (
	chunkFrames = 9       // a chunk fills half a kibibyte
	wholeChunks = 2       // of a queue, before frames are packed
	plenty      = 1 << 12 // pieces of whole frames: 2 MiB
)

// chunk is a piece of a queue: frames that lie one behind the other in memory
// come quickly when their turn comes.
type chunk struct {
	next   *chunk // first, so that the garbage collector looks no further
	frames [chunkFrames]packet.Packet
}

// chunkPool is the memory for the queues of a worker's switches.
type chunkPool struct {
	whole stock[chunk]
	cells stock[cellChunk]
	long  stock[packed]
}

// spare is how many unused pieces a stock keeps beside an eighth of those in
// use. What is above goes back to the garbage collector, so that a burst at the
// beginning of a run does not hold memory to its end.
const spare = 1 << 9

// stock holds unused pieces of memory.
type stock[T any] struct {
	free []*T
	used int
}

func (s *stock[T]) take() *T {
	s.used++
	if k := len(s.free); k > 0 {
		t := s.free[k-1]
		s.free[k-1] = nil
		s.free = s.free[:k-1]
		return t
	}
	return new(T)
}

func (s *stock[T]) give(t *T) {
	s.used--
	if len(s.free) < s.used/8+spare {
		s.free = append(s.free, t)
	}
}

func (f *fifo) empty() bool { return f.head == nil && f.long == nil }

// front returns the first frame of a queue that is not empty. It is to be read
// only, and holds until the next push.
func (f *fifo) front() *packet.Packet {
	if f.head != nil {
		return &f.head.frames[f.first]
	}
	return f.long.front()
}

func (f *fifo) push(pool *chunkPool, m *packet.Packet) {
	if f.long != nil {
		f.long.push(pool, m)
		return
	}
	if f.tail == nil || f.end == chunkFrames {
		if f.pieces >= wholeChunks && pool.whole.used >= plenty {
			f.long = pool.long.take()
			f.long.push(pool, m)
			return
		}
		f.pieces++
		c := pool.whole.take()
		c.next = nil
		if f.tail == nil {
			f.head, f.first = c, 0
		} else {
			f.tail.next = c
		}
		f.tail, f.end = c, 0
	}
	f.tail.frames[f.end] = *m
	f.end++
}

// pop removes the front frame.
func (f *fifo) pop(pool *chunkPool) {
	c := f.head
	if c == nil {
		if f.long.pop(pool); f.long.empty() {
			pool.long.give(f.long)
			f.long = nil
		}
		return
	}
	f.first++
	switch {
	case c == f.tail && f.first == f.end:
		f.head, f.tail = nil, nil
	case f.first == chunkFrames:
		f.head, f.first = c.next, 0
	default:
		return
	}
	f.pieces--
	pool.whole.give(c)
}

// each shows the frames of the queue from the front, until look returns false.
func (f *fifo) each(look func(m *packet.Packet) bool) {
	for c, i := f.head, int(f.first); c != nil; c, i = c.next, 0 {
		end := chunkFrames
		if c == f.tail {
			end = int(f.end)
		}
		for ; i < end; i++ {
			if !look(&c.frames[i]) {
				return
			}
		}
	}
	if f.long != nil {
		f.long.each(look)
	}
}
