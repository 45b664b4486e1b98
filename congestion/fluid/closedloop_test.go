package fluid_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/congestion"
	"rdmasim/congestion/fluid"
	"rdmasim/sim"
)

// bottleneck is the least packet model that closes DCQCN's loop: N paced
// senders, one queue that marks at dequeue, notification points, and CNPs that
// arrive a loop delay later. It shares only the reaction point with a fabric.
type bottleneck struct {
	m       fluid.DCQCN
	rand    *sim.Rand
	points  []congestion.ReactionPoint
	notify  []congestion.NotificationPoint
	sendAt  []sim.Time
	queue   []int // sender of each waiting packet
	head    int
	doneAt  sim.Time // of the packet in service
	busy    bool
	cnps    []cnp // in order of time
	cnpHead int
}

type cnp struct {
	at     sim.Time
	sender int
}

// outcome is what the model measures after the warm-up.
type outcome struct {
	queue, utilisation, alpha, cnpRate, jain, marked float64
	swing                                            float64 // standard deviation of the queue, bytes
}

func newBottleneck(m fluid.DCQCN, seed uint64) *bottleneck {
	e, _ := congestion.Algorithms.Lookup("dcqcn")
	return bottleneckOf(m, e.Presets["sigcomm15"].(congestion.DCQCNParams), seed)
}

func bottleneckOf(m fluid.DCQCN, p congestion.DCQCNParams, seed uint64) *bottleneck {
	a, err := congestion.NewDCQCN(p)
	if err != nil {
		panic(err)
	}
	b := &bottleneck{m: m, rand: sim.NewRand(seed, "bottleneck"), notify: make([]congestion.NotificationPoint, m.Flows)}
	_, interval := a.Feedback()
	for i := range m.Flows {
		b.points = append(b.points, a.NewReactionPoint(m.Capacity, 0))
		b.notify[i].Interval = interval
		b.sendAt = append(b.sendAt, sim.Time(b.rand.Float64()*float64(m.Capacity.TxTime(m.Packet))))
	}
	return b
}

// atRest begins with the rates and alpha of the rest state.
func atRest(m *fluid.Cycle, p congestion.DCQCNParams, f fluid.FixedPoint, seed uint64) *bottleneck {
	p.FirstCNPRate, p.InitialAlpha = sim.Rate(f.Rate), sim.Ratio(f.Alpha)
	b := bottleneckOf(m.DCQCN, p, seed)
	for i, r := range b.points {
		r.OnCNP(0)
		b.sendAt[i] = sim.Time(b.rand.Float64() * float64(sim.Rate(f.Rate).TxTime(m.Packet)))
	}
	return b
}

// run lets the model run and measures from the end of the warm-up.
func (b *bottleneck) run(warmup, until sim.Time) outcome {
	var o outcome
	sent := make([]float64, b.m.Flows)
	var area, square, packets, marks, cnps float64
	last := warmup
	for {
		s, now := b.nextEvent()
		if now > warmup {
			waiting := float64(len(b.queue) - b.head)
			area += waiting * now.Sub(last).Seconds()
			square += waiting * waiting * now.Sub(last).Seconds()
			last = now
		}
		if now >= until {
			break
		}
		switch {
		case b.cnpHead < len(b.cnps) && b.cnps[b.cnpHead].at == now:
			b.deliver(now)
			if now > warmup {
				cnps++
			}
		case b.busy && b.doneAt == now:
			from, marked := b.depart(now)
			if now <= warmup {
				continue
			}
			packets++
			sent[from]++
			if marked {
				marks++
			}
			if int(packets)%64 == 0 {
				o.alpha += b.alpha(from, now)
			}
		default:
			b.send(s, now)
		}
	}
	span := until.Sub(warmup).Seconds()
	o.queue = area / span * float64(b.m.Packet)
	o.swing = math.Sqrt(square/span-area*area/span/span) * float64(b.m.Packet)
	o.utilisation = packets * float64(b.m.Packet) * 8 / span / float64(b.m.Capacity)
	o.cnpRate = cnps / span / float64(b.m.Flows)
	o.marked = marks / packets
	o.alpha /= packets / 64
	o.jain = jain(sent)
	return o
}

// nextEvent returns the sender whose turn comes first, and the time of the
// first event of any kind.
func (b *bottleneck) nextEvent() (sender int, at sim.Time) {
	for i, t := range b.sendAt {
		if t < b.sendAt[sender] {
			sender = i
		}
	}
	at = b.sendAt[sender]
	if b.busy {
		at = min(at, b.doneAt)
	}
	if b.cnpHead < len(b.cnps) {
		at = min(at, b.cnps[b.cnpHead].at)
	}
	return sender, at
}

func (b *bottleneck) deliver(now sim.Time) {
	b.points[b.cnps[b.cnpHead].sender].OnCNP(now)
	if b.cnpHead++; b.cnpHead == len(b.cnps) {
		b.cnps, b.cnpHead = b.cnps[:0], 0
	}
}

func jain(x []float64) float64 {
	var sum, squares float64
	for _, v := range x {
		sum += v
		squares += v * v
	}
	return sum * sum / (float64(len(x)) * squares)
}

func (b *bottleneck) alpha(i int, now sim.Time) (alpha float64) {
	b.points[i].(congestion.Observer).Observe(now, func(name string, v float64) {
		if name == "alpha" {
			alpha = v
		}
	})
	return alpha
}

func (b *bottleneck) send(s int, now sim.Time) {
	b.points[s].OnSend(now, b.m.Packet)
	b.sendAt[s] = now.Add(b.points[s].Rate(now).TxTime(b.m.Packet))
	b.queue = append(b.queue, s)
	if !b.busy {
		b.busy, b.doneAt = true, now.Add(b.m.Capacity.TxTime(b.m.Packet))
	}
}

// depart ends the service of the first packet; the mark is decided by the
// queue that it leaves behind.
func (b *bottleneck) depart(now sim.Time) (sender int, marked bool) {
	sender = b.queue[b.head]
	if b.head++; b.head > 4096 {
		b.queue = append(b.queue[:0], b.queue[b.head:]...)
		b.head = 0
	}
	left := len(b.queue) - b.head
	b.busy = left > 0
	if b.busy {
		b.doneAt = now.Add(b.m.Capacity.TxTime(b.m.Packet))
	}
	p := b.m.Mark(float64(left) * float64(b.m.Packet))
	if marked = p > 0 && b.rand.Float64() < p; marked && b.notify[sender].OnMarked(now) {
		b.cnps = append(b.cnps, cnp{now.Add(b.m.Delay), sender})
	}
	return sender, marked
}

// TestReactionPointMeetsFluid: two flows on 40 Gb/s, the paper's parameters.
// Packets sit above the fluid because RED is convex: a queue that equals the
// fluid's within two per cent would be suspicious.
func TestReactionPointMeetsFluid(t *testing.T) {
	m := fluid.SIGCOMM15(40*sim.Gbps, 2)
	f, err := m.FixedPoint()
	require.NoError(t, err)
	o := newBottleneck(m, 1).run(sim.Time(300*sim.Millisecond), sim.Time(600*sim.Millisecond))
	t.Logf("%+v", o)
	ratio := o.queue / f.Queue
	require.True(t, ratio > 0.9 && ratio < 1.35, "queue %v, fluid %v", o.queue, f.Queue)
	require.Greater(t, o.utilisation, 0.995)
	require.Greater(t, o.jain, 0.9)
	ratio = o.cnpRate / f.CNPRate
	require.True(t, ratio > 1 && ratio < 1.18, "CNPs per second %v, fluid %v", o.cnpRate, f.CNPRate)
	ratio = o.alpha / f.Alpha
	require.True(t, ratio > 1 && ratio < 1.15, "alpha %v, fluid %v", o.alpha, f.Alpha)
	require.InEpsilon(t, 1/(1+meanTicks(o.cnpRate)), o.alpha, 0.05, "alpha balances CNPs against ticks without one")
}

// meanTicks returns the expected ticks of 55 us between two CNPs that come at
// the given rate, 50 us apart at least and then at random.
func meanTicks(rate float64) float64 {
	dead, tick := 50e-6, 55e-6
	mean := 1/rate - dead
	sum := 0.0
	for k := 1; k < 1000; k++ {
		sum += math.Exp(-(float64(k)*tick - dead) / mean)
	}
	return sum
}

// TestTenFlowsFillTheLine at the same loop delay of 4 us.
func TestTenFlowsFillTheLine(t *testing.T) {
	o := newBottleneck(fluid.SIGCOMM15(40*sim.Gbps, 10), 2).run(sim.Time(100*sim.Millisecond), sim.Time(200*sim.Millisecond))
	t.Logf("%+v", o)
	require.Greater(t, o.utilisation, 0.999)
}
