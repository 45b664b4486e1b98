package simnic

import (
	"fmt"
	"math"
	"testing"

	"rdmasim/sim"
	"rdmasim/verbs"

	"github.com/stretchr/testify/require"
)

// stream has the first NIC of a pair WRITE messages of a size for a while, and
// returns the payload that the second got after the first quarter of it, per
// second, and the completions per second.
func stream(t *testing.T, change func(*Config), op verbs.Opcode, qps int, size sim.Bytes, d sim.Duration) (rate, messages float64) {
	p := newPair(t, change)
	depth := max(2, int(256*1024/size)/qps)
	payload := func() float64 { return float64(p.nic[0].stat.payload + p.nic[1].stat.payload) }
	var before, then, done float64
	p.app[0].timer = func(uint64) { before, then = payload(), done }
	p.app[0].start = func() {
		p.nic[0].After(0, d/4, 0)
		for range qps {
			q := p.connect(0)
			for range depth {
				require.NoError(t, q.PostSend(verbs.WorkRequest{Opcode: op, Length: size, Signaled: true}))
			}
		}
	}
	p.app[0].complete = func(q *QP, wc verbs.WorkCompletion) {
		require.Equal(t, verbs.StatusSuccess, wc.Status)
		done++
		_ = q.PostSend(verbs.WorkRequest{Opcode: op, Length: size, Signaled: true})
	}
	p.run(d)
	over := (d - d/4).Seconds()
	return (payload() - before) * 8 / over, (done - then) / over
}

// What a NIC reads or writes per second is the line's or the bus's, whichever is
// less; the bus carries payload in transactions.
func TestBusBandwidth(t *testing.T) {
	line := float64(100*sim.Gbps) * 1024 / (1024 + 62 + 20)
	for _, c := range []struct {
		name string
		p    PCIeParams
	}{
		{"gen3 x16", slot(3, 16)}, {"gen3 x8", slot(3, 8)}, {"gen4 x4", slot(4, 4)}, {"gen6 x2", slot(6, 2)},
		{"small transactions", slot(3, 8).with(func(p *PCIeParams) { p.MaxPayload = 128 })},
		{"ordered", slot(3, 16).with(func(p *PCIeParams) { p.Relaxed, p.OrderedRate = false, 40*sim.Gbps })},
		{"between sockets", slot(3, 16).with(func(p *PCIeParams) { p.NUMARate = 30 * sim.Gbps })},
	} {
		t.Run(c.name, func(t *testing.T) {
			bus, err := NewPCIe(c.p)
			require.NoError(t, err)
			read, write := c.p.Goodput(1024)
			at := func(node int) func(*Config) {
				return func(k *Config) {
					if k.Node == node {
						k.Host.Bus, k.RxBuffer, k.RxXoff = bus, 1<<20, 1<<19
						k.Timeout = 0
					}
				}
			}
			got, _ := stream(t, at(0), verbs.OpWrite, 1, 1<<20, 4*sim.Millisecond)
			require.InEpsilon(t, min(line, float64(read)), got, 0.01, "out of the sender's memory")
			if min(line, float64(write)) < line {
				return // the receiver would lose packets: that is what pauses are for, see scenarios
			}
			got, _ = stream(t, at(1), verbs.OpWrite, 1, 1<<20, 4*sim.Millisecond)
			require.InEpsilon(t, line, got, 0.01, "into the receiver's memory")
		})
	}
}

// The arithmetic of Neugebauer et al., SIGCOMM'18: a slot of 8 lanes of the
// third generation has 62.96 Gb/s, of which transactions get about 57.8.
func TestPCIeRate(t *testing.T) {
	p := slot(3, 8)
	require.InEpsilon(t, 62.96e9*(1-16.0/203-4.0/1538), float64(p.Rate()), 1e-3)
	require.InDelta(t, 57.8e9, float64(p.Rate()), 0.1e9)
	require.Equal(t, sim.Bytes(1024+4*24), p.WriteBytes(1024))
	require.Equal(t, sim.Bytes(64+20), p.ReadBytes(64))
	require.Equal(t, sim.Bytes(2*24), p.AskBytes(1024))
}

// A small message takes the bus its payload, its descriptor and its doorbell.
func TestBusMessageRate(t *testing.T) {
	p := slot(3, 2)
	bus, err := NewPCIe(p)
	require.NoError(t, err)
	_, got := stream(t, func(k *Config) {
		if k.Node == 0 {
			k.Host.Bus, k.RxBuffer, k.RxXoff = bus, 1<<20, 1<<19
		}
	}, verbs.OpWrite, 4, 64, sim.Millisecond)
	perMessage := 64 + tlpAnswer + sizeWQE + tlpAnswer + sizeDoorbell + tlpWrite
	require.InEpsilon(t, float64(p.Rate())/8/float64(perMessage), got, 0.01)
}

// A WRITE waits once for memory, a READ at its responder, an inline one not.
func TestBusLatency(t *testing.T) {
	const lag = 480 * sim.Nanosecond
	end := func(op verbs.Opcode, latency sim.Duration) (at sim.Time) {
		p := newPair(t, func(k *Config) { k.Host.Bus.Latency = latency })
		p.app[0].start = func() {
			require.NoError(t, p.connect(0).PostSend(verbs.WorkRequest{Opcode: op, Length: 8, Signaled: true}))
		}
		p.app[0].complete = func(*QP, verbs.WorkCompletion) { at = p.nic[0].Node().Now() }
		p.run(sim.Millisecond)
		require.NotZero(t, at)
		return at
	}
	for _, op := range []verbs.Opcode{verbs.OpWrite, verbs.OpRead, verbs.OpFetchAdd} {
		require.Equal(t, end(op, 0).Add(lag), end(op, lag), op.String())
	}
}

// Queue pairs that take turns find their contexts if these fit, and miss every
// time in an LRU cache that is one too small; at random, what is forgotten is
// now and then what comes next. A responder looks up once per packet.
func TestContextMisses(t *testing.T) {
	const miss = 2 * sim.Microsecond
	rate := func(c Cache) float64 {
		_, got := stream(t, func(k *Config) {
			if k.Node == 1 {
				k.Host.Contexts, k.RxBuffer, k.RxXoff = c, 1<<20, 1<<19
			}
			k.Timeout = 0
		}, verbs.OpWrite, 16, 1024, 4*sim.Millisecond)
		return got
	}
	free := rate(Cache{})
	require.InEpsilon(t, free, rate(Cache{Entries: 16, Miss: miss, Parallel: 1}), 0.01, "all fit")
	for _, parallel := range []int{1, 4} {
		got := rate(Cache{Entries: 15, Miss: miss, Parallel: parallel})
		require.InEpsilon(t, float64(parallel)/miss.Seconds(), got, 0.01, "parallel %d", parallel)
	}
	random := rate(Cache{Entries: 12, Miss: miss, Parallel: 1, Random: true})
	require.Greater(t, random, 1.5*rate(Cache{Entries: 12, Miss: miss, Parallel: 1}))
	require.Less(t, random, free)
}

// A requester looks its context up for each packet that it sends and for each
// ACK, and goes no faster than misses are served.
func TestContextMissesOfARequester(t *testing.T) {
	const miss = 2 * sim.Microsecond
	var nic *NIC
	p := newPair(t, func(k *Config) {
		if k.Node == 0 {
			k.Host.Contexts, k.RxBuffer, k.RxXoff = Cache{Entries: 1, Miss: miss, Parallel: 1}, 1<<20, 1<<19
		}
		k.Timeout = 0
	})
	nic = p.nic[0]
	const qps, each = 16, 50
	var last sim.Time
	p.app[0].start = func() {
		for range qps {
			q := p.connect(0)
			for range each {
				require.NoError(t, q.PostSend(verbs.WorkRequest{Length: 1024, Signaled: true}))
			}
		}
	}
	p.app[0].complete = func(*QP, verbs.WorkCompletion) { last = nic.Node().Now() }
	p.run(10 * sim.Millisecond)
	l := nic.dma.contexts
	require.Equal(t, uint64(2*qps*each), l.hits+l.misses)
	require.Greater(t, l.misses, uint64(qps*each))
	require.InEpsilon(t, float64(l.misses)*miss.Seconds(), last.Sub(0).Seconds(), 0.02)
}

// Keys that come at random hit as often as what is kept is of all, whatever is
// forgotten first.
func TestCacheHits(t *testing.T) {
	for _, random := range []bool{false, true} {
		t.Run(fmt.Sprint(random), func(t *testing.T) {
			l := newLookups(Cache{Entries: 100, Miss: 1, Parallel: 1, Random: random}, func() *sim.Rand { return sim.NewRand(1, "cache") })
			r := sim.NewRand(2, "keys")
			for range 100_000 {
				l.use(uint64(r.IntN(400)), 0)
			}
			share := float64(l.hits) / float64(l.hits+l.misses)
			require.InDelta(t, 0.25, share, 5*math.Sqrt(0.25*0.75/100_000))
		})
	}
	require.Nil(t, newLookups(Cache{}, nil), "a NIC that has all of it")
}

// An LRU cache does what a list does that is searched from its newest end.
func TestLRUTwin(t *testing.T) {
	l := newLookups(Cache{Entries: 7, Miss: 1, Parallel: 1}, nil)
	var twin []uint64
	r := sim.NewRand(3, "keys")
	for range 20_000 {
		key := uint64(r.IntN(12))
		before := l.hits
		l.use(key, 0)
		at := -1
		for i, k := range twin {
			if k == key {
				at = i
			}
		}
		require.Equal(t, at >= 0, l.hits > before)
		if at >= 0 {
			twin = append(twin[:at], twin[at+1:]...)
		} else if len(twin) == 7 {
			twin = twin[1:]
		}
		twin = append(twin, key)
	}
}

// Messages of one page that lie anywhere in memory: the NIC knows as many of
// their pages as it keeps of all.
func TestTranslationMisses(t *testing.T) {
	for _, side := range []int{0, 1} {
		var nic *NIC
		p := newPair(t, func(k *Config) {
			if k.Node == side {
				k.Host.Translations = Cache{Entries: 64, Miss: 10 * sim.Nanosecond, Parallel: 1}
				k.Host.Page, k.Host.Memory, k.RxBuffer, k.RxXoff = 4096, 256*4096, 1<<20, 1<<19
			}
		})
		nic = p.nic[side]
		left := 20_000
		p.app[0].start = func() {
			for q := p.connect(0); left > 0; left-- {
				require.NoError(t, q.PostSend(verbs.WorkRequest{Length: 1024}))
			}
		}
		p.run(100 * sim.Millisecond)
		l := nic.dma.pages
		require.Equal(t, uint64(20_000), l.hits+l.misses)
		require.InDelta(t, 0.75, float64(l.misses)/20_000, 0.02)
	}
}

// A message that spans pages looks up each of them.
func TestTranslationsOfALongMessage(t *testing.T) {
	p := newPair(t, func(k *Config) {
		if k.Node == 0 {
			k.Host.Translations = Cache{Entries: 1 << 20, Parallel: 1}
			k.Host.Page, k.Host.Memory, k.RxBuffer, k.RxXoff = 4096, 1<<30, 1<<20, 1<<19
		}
	})
	p.app[0].start = func() { require.NoError(t, p.connect(0).PostSend(verbs.WorkRequest{Length: 64 * 4096})) }
	p.run(sim.Millisecond)
	require.Equal(t, uint64(64), p.nic[0].dma.pages.misses)
	require.Equal(t, uint64(3*64), p.nic[0].dma.pages.hits)
}

// A slow host must not make an ACK overtake the READ responses before it: they
// would be asked for again.
func TestReadThenWriteAtASlowHost(t *testing.T) {
	p := newPair(t, func(k *Config) {
		if k.Node == 0 {
			k.Drain, k.RxBuffer, k.RxXoff = 10*sim.Gbps, 1<<20, 1<<19
		}
	})
	var done []verbs.Opcode
	p.app[0].start = func() {
		q := p.connect(0)
		for range 4 {
			require.NoError(t, q.PostSend(verbs.WorkRequest{Opcode: verbs.OpRead, Length: 20_000, Signaled: true}))
			require.NoError(t, q.PostSend(verbs.WorkRequest{Length: 100, Signaled: true}))
		}
	}
	p.app[0].complete = func(_ *QP, wc verbs.WorkCompletion) { done = append(done, wc.Opcode) }
	p.run(sim.Millisecond)
	require.Len(t, done, 8)
	require.Zero(t, p.nic[0].stat.retransmitted)
	require.Zero(t, p.nic[0].stat.discarded)
}
