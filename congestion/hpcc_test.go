package congestion

import (
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// incastHPCC is the least model of an incast as the HPCC ns-3 model computes
// it: 1048-byte packets that take 83 ns (truncated) on 100 Gb/s links of 1 us,
// a queue that marks at dequeue by what it leaves behind (400 KB, 1600 KB,
// 20 %), a mark on every ACK, 60-byte ACKs that take 4 ns, no PFC.
type incastHPCC struct {
	rand   *sim.Rand
	points []ReactionPoint
	sendAt []sim.Time
	left   []int // packets
	inward fifo  // on the way to the queue
	queue  fifo
	acks   fifo
	doneAt sim.Time // of the packet in service, Never if none
	served parcel
	marks  int
	peak   int // packets
}

type parcel struct {
	at     sim.Time
	sender int
	marked bool
}

type fifo struct {
	items []parcel
	head  int
}

func (f *fifo) push(p parcel) { f.items = append(f.items, p) }
func (f *fifo) pop() parcel   { f.head++; return f.items[f.head-1] }
func (f *fifo) len() int      { return len(f.items) - f.head }
func (f *fifo) due() sim.Time {
	if f.len() == 0 {
		return sim.Never
	}
	return f.items[f.head].at
}

const (
	hpccPacket  = 1048 * sim.Byte
	hpccTx      = 83 * sim.Nanosecond
	hpccLink    = sim.Microsecond
	hpccAckBack = 2 * (hpccLink + 4*sim.Nanosecond)
	hpccFlow    = 20000 // packets of 1000 bytes
)

// run returns the flow completion times in us, in order.
func (m *incastHPCC) run() []float64 {
	var fct []float64
	got := make([]int, len(m.points))
	m.doneAt = sim.Never
	for len(fct) < len(m.points) {
		s := m.nextSender()
		switch now := min(m.sendAt[s], m.inward.due(), m.acks.due(), m.doneAt); now {
		case m.acks.due():
			a := m.acks.pop()
			m.points[a.sender].OnAck(now, Ack{Bytes: 1000, Marked: a.marked})
			if got[a.sender]++; got[a.sender] == hpccFlow {
				fct = append(fct, now.Seconds()*1e6)
			}
		case m.doneAt:
			m.acks.push(parcel{now.Add(hpccLink + hpccAckBack), m.served.sender, m.served.marked})
			m.serve(now)
		case m.inward.due():
			m.queue.push(m.inward.pop())
			if m.doneAt == sim.Never {
				m.serve(now)
			}
		default:
			m.send(s, now)
		}
	}
	return fct
}

func (m *incastHPCC) nextSender() int {
	s := 0
	for i, at := range m.sendAt {
		if at < m.sendAt[s] {
			s = i
		}
	}
	return s
}

func (m *incastHPCC) send(s int, now sim.Time) {
	m.inward.push(parcel{now.Add(hpccTx + hpccLink), s, false})
	gap := m.points[s].Rate(now).TxTime(hpccPacket) / sim.Nanosecond * sim.Nanosecond
	m.sendAt[s] = now.Add(max(gap, hpccTx))
	if m.left[s]--; m.left[s] == 0 {
		m.sendAt[s] = sim.Never
	}
}

// serve starts the next packet, if there is one, and decides its mark.
func (m *incastHPCC) serve(now sim.Time) {
	m.doneAt = sim.Never
	if m.queue.len() == 0 {
		return
	}
	m.served, m.doneAt = m.queue.pop(), now.Add(hpccTx)
	m.peak = max(m.peak, m.queue.len())
	behind := float64(m.queue.len()) * float64(hpccPacket)
	p := min(max(0, 0.2*(behind-400e3)/1200e3), 0.2)
	if behind > 1600e3 {
		p = 1
	}
	if m.served.marked = m.rand.Float64() < p; m.served.marked {
		m.marks++
	}
}

// TestHPCCPresetsAgainstReferenceRuns: incasts of 20 MB per flow. The figures
// are the mean completion times of two public ns-3 models (the HPCC authors'
// and Alibaba's) for the same settings; the median of five seeds has to lie
// within 6 % of their range, marks and peak within 25 %.
func TestHPCCPresetsAgainstReferenceRuns(t *testing.T) {
	for _, c := range []struct {
		name          string
		preset        DCQCNParams
		senders       int
		low, high     float64 // mean FCT, us
		marks, peakKB float64
	}{
		{"two senders", hpcc(), 2, 3888, 3937, 226, 751},
		{"eight senders", hpcc(), 8, 14174, 14188, 4005, 2131},
		{"eight senders, timers of the paper", hpccPaper(), 8, 12892, 13064, 15418, 8445},
	} {
		var means, marks, peaks []float64
		for seed := range uint64(5) {
			m := &incastHPCC{rand: sim.NewRand(seed, "marks"), sendAt: make([]sim.Time, c.senders)}
			a := mustDCQCN(t, c.preset)
			for range c.senders {
				m.points = append(m.points, a.NewReactionPoint(100*sim.Gbps, 0))
				m.left = append(m.left, hpccFlow)
			}
			sum := 0.0
			for _, f := range m.run() {
				sum += f
			}
			means = append(means, sum/float64(c.senders))
			marks = append(marks, float64(m.marks))
			peaks = append(peaks, float64(m.peak)*float64(hpccPacket)/1e3)
		}
		mean := median(means)
		t.Logf("%s: mean FCT %.0f us, %.0f marks, peak %.0f KB", c.name, mean, median(marks), median(peaks))
		require.True(t, mean > 0.94*c.low && mean < 1.06*c.high, "%s: %v", c.name, means)
		require.InEpsilon(t, c.marks, median(marks), 0.25, c.name)
		require.InEpsilon(t, c.peakKB, median(peaks), 0.25, c.name)
	}
}

func median(v []float64) float64 {
	sort.Float64s(v)
	return v[len(v)/2]
}
