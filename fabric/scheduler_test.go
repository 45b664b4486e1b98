package fabric

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// loaded returns a rig whose port 0 is offered a stream per class, each from a
// port of its own, under a scheduler.
func loaded(t *testing.T, c *SchedulerConfig, n int, sizes map[uint8]int) *rig {
	r := newRig(t, 1+len(sizes), 0, func(cfg *SwitchConfig) {
		cfg.MMU.Size, cfg.MMU.Pools[0].Size = 1<<40, 1<<40
		cfg.Ports[0].Scheduler = c
	})
	port := 0
	for q := range uint8(8) {
		if size, ok := sizes[q]; ok {
			port++
			r.stream(port, sim.Time(sim.Microsecond), n, frame(0, q, size, packet.NotECT))
		}
	}
	return r
}

// bytesOf sums the bytes on the wire per class that arrive at port 0 within an
// interval, and how long the link was busy.
func bytesOf(r *rig, from, to sim.Duration) (wire map[uint8]float64, busy sim.Duration) {
	wire = map[uint8]float64{}
	for _, a := range r.testers[0].got {
		if a.at >= sim.Time(from) && a.at < sim.Time(to) {
			wire[a.DSCP&7] += float64(a.Size) + EthernetOverhead
			busy += rigRate.TxTime(sim.Bytes(a.Size) + EthernetOverhead)
		}
	}
	return wire, busy
}

// Groups get their shares of the link in bytes, exact to a frame per group,
// whatever the sizes of their frames; queues of a group by their weights.
func TestETSShares(t *testing.T) {
	c := &SchedulerConfig{Quantum: 2048, Weights: [8]int64{3, 1, 1, 1, 1, 1, 1, 1},
		Groups: []ETSGroup{{0b00000011, share(0.6)}, {0b00000100, share(0.3)}, {0b11111000, share(0.1)}}}
	sizes := map[uint8]int{0: 1086, 1: 300, 2: 4174, 5: 64}
	r := loaded(t, c, 4000, sizes)
	r.run(300 * sim.Microsecond)
	from, to := 20*sim.Microsecond, 120*sim.Microsecond // the stream of the smallest frames lasts for longer
	wire, busy := bytesOf(r, from, to)
	all := float64(rigRate) / 8 * (to - from).Seconds()
	assert.InDelta(t, float64(to-from), float64(busy), float64(rigRate.TxTime(4194)), "the link is never idle")
	for q, want := range map[uint8]float64{0: 0.45, 1: 0.15, 2: 0.3, 5: 0.1} {
		assert.InDelta(t, want*all, wire[q], 2*4194, "queue %d", q)
	}
}

// A share that nobody uses goes to the others in proportion to theirs.
func TestETSIsWorkConserving(t *testing.T) {
	c := &SchedulerConfig{Quantum: 2048, Groups: []ETSGroup{{0b0001, share(0.5)}, {0b0010, share(0.2)}, {0b0100, share(0.3)}}}
	r := loaded(t, c, 2000, map[uint8]int{1: 1086, 2: 1086})
	r.run(300 * sim.Microsecond)
	from, to := 20*sim.Microsecond, 120*sim.Microsecond
	wire, busy := bytesOf(r, from, to)
	all := float64(rigRate) / 8 * (to - from).Seconds()
	assert.InDelta(t, float64(to-from), float64(busy), float64(rigRate.TxTime(1106)))
	assert.InDelta(t, 0.4*all, wire[1], 2*1106)
	assert.InDelta(t, 0.6*all, wire[2], 2*1106)
}

// Whoever has been idle does not catch up: after a rest a group has its share.
func TestETSDoesNotRepay(t *testing.T) {
	c := &SchedulerConfig{Quantum: 2048, Groups: []ETSGroup{{0b0001, share(0.5)}, {0b0010, share(0.5)}}}
	late := newRig(t, 3, 0, func(cfg *SwitchConfig) {
		cfg.MMU.Size, cfg.MMU.Pools[0].Size = 1<<40, 1<<40
		cfg.Ports[0].Scheduler = c
	})
	late.stream(1, sim.Time(sim.Microsecond), 4000, frame(0, 0, 1086, packet.NotECT))
	late.stream(2, sim.Time(100*sim.Microsecond), 4000, frame(0, 1, 1086, packet.NotECT))
	late.run(300 * sim.Microsecond)
	from, to := 102*sim.Microsecond, 140*sim.Microsecond
	wire, _ := bytesOf(late, from, to)
	assert.InDelta(t, wire[0], wire[1], 2*1106)
}

// Strict queues come before all groups, the highest first.
func TestStrictComesFirst(t *testing.T) {
	c := &SchedulerConfig{Quantum: 2048, Strict: 0b11000000, Groups: []ETSGroup{{0b00111111, share(1)}}}
	r := loaded(t, c, 1000, map[uint8]int{0: 1086, 6: 1086, 7: 1086})
	r.run(400 * sim.Microsecond)
	wire, _ := bytesOf(r, 5*sim.Microsecond, 80*sim.Microsecond)
	assert.Less(t, wire[6]+wire[0], 3.0*1106)
	require.Len(t, r.testers[0].got, 3000)
}

// A shaped queue leaves as a token bucket lets it: never sooner than tokens are
// there, and at once when they are. The oracle counts tokens from frame to
// frame in fractions of bytes.
func TestShaperIsATokenBucket(t *testing.T) {
	for _, c := range []struct {
		rate  sim.Rate
		burst sim.Bytes
		size  int
	}{{10 * sim.Gbps, 0, 1086}, {7 * sim.Gbps, 10000, 1086}, {3 * sim.Gbps, 64000, 4174}, {33 * sim.Gbps, 5000, 64}} {
		r := loaded(t, &SchedulerConfig{Quantum: 2048, Shape: [8]Shape{3: {c.rate, c.burst}}}, 500, map[uint8]int{3: c.size})
		r.run(20 * sim.Millisecond)
		got := r.testers[0].got
		require.Len(t, got, 500)
		wire := float64(c.size + EthernetOverhead)
		perPs := float64(c.rate) / 8 / float64(sim.Second)
		line := rigRate.TxTime(sim.Bytes(c.size + EthernetOverhead))
		tokens, last := float64(c.burst)+wire, sim.Time(0) // a full bucket
		arrived := sim.Time(sim.Microsecond)
		free := sim.Time(0)
		for i, a := range got {
			start := a.at.Add(-rigDelay - line)
			tokens = min(tokens+float64(start-last)*perPs, float64(c.burst)+wire)
			last = start
			require.GreaterOrEqual(t, tokens, wire-perPs*float64(i+1), "frame %d of %+v has no tokens", i, c)
			arrived = arrived.Add(line)
			if earliest := max(arrived, free); start > earliest.Add(2*sim.Duration(i+1)) { // it has waited for tokens alone
				require.InDelta(t, wire, tokens, perPs*float64(i+2), // a picosecond per frame
					"frame %d of %+v could have left sooner", i, c)
			}
			tokens -= wire
			free = start.Add(line)
		}
		span := got[499].at.Sub(got[0].at)
		assert.InDelta(t, 499*wire-float64(c.burst), float64(span)*perPs, 2*wire, "rate of %+v", c)
	}
}

// A shaper of the port holds all queues together, and ETS shares what it lets
// through.
func TestPortShaper(t *testing.T) {
	c := &SchedulerConfig{Quantum: 2048, Port: Shape{Rate: 20 * sim.Gbps}, Groups: []ETSGroup{{0b0001, share(0.75)}, {0b0010, share(0.25)}}}
	r := loaded(t, c, 2000, map[uint8]int{0: 1086, 1: 1086})
	r.run(600 * sim.Microsecond)
	from, to := 20*sim.Microsecond, 420*sim.Microsecond
	wire, _ := bytesOf(r, from, to)
	all := 20e9 / 8 * (to - from).Seconds()
	assert.InDelta(t, 0.75*all, wire[0], 2*1106)
	assert.InDelta(t, 0.25*all, wire[1], 2*1106)
}

// share is a share of the link in the units of ETSGroup.
func share(x float64) int64 { return int64(x * 65536) }

// backlog returns a rig of which port 0 is paused while a port per class fills
// its queue with frames of the sizes given; it lets go at 1 ms. The frames of a
// class are sent in order, and none is lost.
func backlog(t *testing.T, configure func(*SwitchConfig), sizes [8][]int) *rig {
	r := newRig(t, 9, 0xff, func(c *SwitchConfig) {
		c.MMU.Size, c.MMU.Pools[0].Size = 1<<40, 1<<40
		configure(c)
	})
	r.testers[0].at(sim.Time(sim.Microsecond), pauseFrame(0xff, 65535))
	for q, list := range sizes {
		at := 3 * sim.Time(sim.Microsecond)
		for _, size := range list {
			f := frame(0, uint8(q), size, packet.NotECT)
			r.testers[1+q].at(at, f)
			at = at.Add(rigRate.TxTime(sim.Bytes(size + EthernetOverhead)))
		}
	}
	for at := sim.Time(100 * sim.Microsecond); at < sim.Time(sim.Millisecond); at = at.Add(100 * sim.Microsecond) {
		r.testers[0].at(at, pauseFrame(0xff, 65535))
	}
	r.testers[0].at(sim.Time(sim.Millisecond), pauseFrame(0xff, 0))
	r.run(20 * sim.Millisecond)
	return r
}

// order lists the classes and sizes of what has left, frame by frame.
func order(r *rig) (list [][2]int) {
	for _, a := range r.testers[0].got {
		list = append(list, [2]int{int(a.DSCP & 7), int(a.Size)})
	}
	return list
}

// randomBacklog makes up queues and their weights.
func randomBacklog(rnd *sim.Rand) (sizes [8][]int, weights [8]int64) {
	for q := range sizes {
		weights[q] = int64(1 + rnd.IntN(5))
		if rnd.IntN(3) == 0 {
			continue
		}
		for range rnd.IntN(60) {
			sizes[q] = append(sizes[q], []int{64, 300, 1086, 4174, 64 + rnd.IntN(4000)}[rnd.IntN(5)])
		}
	}
	return sizes, weights
}

// With all queues full, frames leave in exactly the order of deficit round robin
// as its paper has it: a list of queues; each in turn gets its quantum on top of
// what it has left, and sends while that lasts.
func TestDWRRIsExact(t *testing.T) {
	rnd := sim.NewRand(3, "dwrr")
	for range 60 {
		sizes, weights := randomBacklog(rnd)
		quantum := int64(200 + rnd.IntN(3000))
		r := backlog(t, func(c *SwitchConfig) { c.Quantum, c.Weights = quantum, weights }, sizes)
		var want [][2]int
		var deficit [8]int64
		left := sizes
		for q, busy := 0, true; busy; {
			if q = (q + 1) & 7; q == 1 { // the turn begins after class 0
				busy = false
				for _, l := range left {
					busy = busy || len(l) > 0
				}
			}
			if len(left[q]) == 0 {
				deficit[q] = 0
				continue
			}
			deficit[q] += quantum * weights[q]
			for len(left[q]) > 0 && deficit[q] >= int64(left[q][0]) {
				deficit[q] -= int64(left[q][0])
				want = append(want, [2]int{q, left[q][0]})
				left[q] = left[q][1:]
			}
		}
		require.Equal(t, want, order(r), "quantum %d, weights %v", quantum, weights)
	}
}

// Without a quantum, a weight is a number of packets, whatever their sizes.
func TestWRRCountsPackets(t *testing.T) {
	rnd := sim.NewRand(4, "wrr")
	for range 30 {
		sizes, weights := randomBacklog(rnd)
		r := backlog(t, func(c *SwitchConfig) { c.Quantum, c.Weights = 0, weights }, sizes)
		var want [][2]int
		left, rest := sizes, 0
		for _, l := range left {
			rest += len(l)
		}
		for q := 1; rest > 0; q = (q + 1) & 7 {
			for range weights[q] {
				if len(left[q]) > 0 {
					want = append(want, [2]int{q, left[q][0]})
					left[q] = left[q][1:]
					rest--
				}
			}
		}
		require.Equal(t, want, order(r), "weights %v", weights)
	}
}

// A guaranteed rate is served whatever the weights and strict queues say, what
// goes beyond it takes its turn, and an idle guarantee is nobody's loss.
func TestGuaranteedRate(t *testing.T) {
	for _, c := range []struct {
		name string
		s    SchedulerConfig
		want map[uint8]float64 // shares of the link
		load map[uint8]int
	}{
		{"beside a strict queue", SchedulerConfig{Quantum: 2048, Strict: 1 << 6, Floor: [8]Shape{3: {Rate: 25 * sim.Gbps}}}, map[uint8]float64{3: 0.25, 6: 0.75}, map[uint8]int{3: 1086, 6: 1086}},
		{"beside a weight", SchedulerConfig{Quantum: 2048, Weights: [8]int64{1: 9, 3: 1}, Floor: [8]Shape{3: {Rate: 40 * sim.Gbps}}}, map[uint8]float64{3: 0.4 + 0.6*0.1, 1: 0.6 * 0.9}, map[uint8]int{1: 1086, 3: 1086}},
		{"of a queue that has nothing to send", SchedulerConfig{Quantum: 2048, Floor: [8]Shape{3: {Rate: 60 * sim.Gbps}}}, map[uint8]float64{0: 0.5, 1: 0.5}, map[uint8]int{0: 1086, 1: 1086}},
		{"with a largest rate", SchedulerConfig{Quantum: 2048, Strict: 1 << 6, Floor: [8]Shape{3: {Rate: 10 * sim.Gbps}}, Shape: [8]Shape{6: {Rate: 50 * sim.Gbps}}}, map[uint8]float64{3: 0.5, 6: 0.5}, map[uint8]int{3: 1086, 6: 1086}},
	} {
		r := loaded(t, &c.s, 3000, c.load)
		r.run(400 * sim.Microsecond)
		from, to := 20*sim.Microsecond, 220*sim.Microsecond
		wire, busy := bytesOf(r, from, to)
		all := float64(rigRate) / 8 * (to - from).Seconds()
		assert.InDelta(t, float64(to-from), float64(busy), float64(rigRate.TxTime(4194)), c.name)
		for q, share := range c.want {
			assert.InDelta(t, share, wire[q]/all, 0.02, "%s: queue %d", c.name, q)
		}
	}
}
