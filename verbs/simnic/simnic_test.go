package simnic

import (
	"context"
	"testing"

	"rdmasim/congestion"
	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"

	"github.com/stretchr/testify/require"
)

// app is an application whose behaviour a test writes down.
type app struct {
	start    func()
	accept   func(qp *QP, private uint64)
	complete func(qp *QP, wc verbs.WorkCompletion)
	timer    func(token uint64)
}

func (a *app) OnStart() {
	if a.start != nil {
		a.start()
	}
}
func (a *app) OnAccept(qp *QP, private uint64) {
	if a.accept != nil {
		a.accept(qp, private)
	}
}
func (a *app) OnCompletion(qp *QP, wc verbs.WorkCompletion) {
	if a.complete != nil {
		a.complete(qp, wc)
	}
}
func (a *app) OnTimer(token uint64) { a.timer(token) }

// pair is two NICs on one cable of 1 us and 100 Gb/s.
type pair struct {
	e    *sim.Engine[packet.Packet]
	nic  [2]*NIC
	app  [2]*app
	sink [2]*trace.Sink
}

func newPair(t *testing.T, change func(*Config)) *pair {
	p := &pair{e: sim.NewEngine[packet.Packet]()}
	none, err := congestion.Algorithms.Lookup("none")
	require.NoError(t, err)
	alg, err := none.Build(none.Defaults)
	require.NoError(t, err)
	names := trace.NewNames()
	for i := range p.nic {
		p.sink[i] = &trace.Sink{Node: int32(i)}
		c := Config{Name: string('a' + rune(i)), Node: i, Endpoints: []int32{int32(i)}, PeerIDs: []trace.ObjectID{0}, Sizes: RoCEv2(1024, "none"), Algorithm: alg,
			Ports:    []fabric.PortConfig{{Rate: 100 * sim.Gbps, RxRate: 100 * sim.Gbps, Delay: sim.Microsecond, Overhead: 20, PFCSize: SizePFC}},
			AckEvery: 4, AckPriority: -1, AckDSCP: -1, RetryCount: 3, Timeout: 100 * sim.Microsecond, RNRTimer: 1, RNRRetry: 2,
			SourcePort: func(_, _ int32, n int) uint16 { return uint16(10000 + n) },
			Path: func(_, _ int32, _, _ uint16, _ uint8) Path {
				return Path{Ideal: func(sim.Bytes, verbs.Opcode) sim.Duration { return 1 }}
			},
			EndpointName: func(e int32) string { return string('a' + e) },
			Rand:         func(name string) *sim.Rand { return sim.NewRand(1, name) }, Sink: p.sink[i], Names: names}
		if change != nil {
			change(&c)
		}
		p.nic[i] = New(p.e, c, -1)
		p.app[i] = &app{}
		p.nic[i].Attach(p.app[i])
	}
	for i := range p.nic {
		p.e.Connect(p.nic[i].Node(), 0, p.nic[1-i].Node(), 0, sim.Microsecond)
	}
	return p
}

func (p *pair) run(until sim.Duration) {
	p.e.Run(context.Background(), sim.RunOptions{Until: sim.Time(until), Workers: 1})
}

func (p *pair) connect(depth int) *QP {
	return p.nic[0].Connect(Conn{Peer: 1, Priority: -1, Private: 0x1234567890abcdef, Depth: depth})
}

// A WRITE of 3000 bytes is three packets; its completion comes when the ACK of
// the last one is back.
func TestWriteCompletesAtTheLastAck(t *testing.T) {
	p := newPair(t, nil)
	var at sim.Time
	var got verbs.WorkCompletion
	p.app[0].start = func() {
		require.NoError(t, p.connect(0).PostSend(verbs.WorkRequest{WRID: 7, Length: 3000, Signaled: true}))
	}
	p.app[0].complete = func(_ *QP, wc verbs.WorkCompletion) { at, got = p.nic[0].Node().Now(), wc }
	p.app[1].accept = func(_ *QP, private uint64) { require.Equal(t, uint64(0x1234567890abcdef), private) }
	p.run(sim.Millisecond)
	// Frames of 1024+62+16 (RETH), 1024+62 and 952+62 bytes, 20 bytes between
	// frames, 80 ps a byte; an ACK of 66 bytes.
	bytes := (1102 + 1086 + 1014 + 3*20) + 66 + 20
	require.Equal(t, sim.Time(2*sim.Microsecond)+sim.Time(bytes)*80, at)
	require.Equal(t, verbs.WorkCompletion{WRID: 7, Opcode: verbs.OpWrite, Length: 3000, QPN: 1}, got)
}

func TestDepthAndOpcodes(t *testing.T) {
	p := newPair(t, nil)
	p.app[0].start = func() {
		q := p.connect(2)
		for range 2 {
			require.NoError(t, q.PostSend(verbs.WorkRequest{Length: 1}))
		}
		require.ErrorIs(t, q.PostSend(verbs.WorkRequest{Length: 1}), verbs.ErrNoMemory)
		require.ErrorIs(t, q.PostSend(verbs.WorkRequest{Opcode: verbs.OpFetchAdd, Length: 1}), verbs.ErrInvalid)
		require.ErrorIs(t, q.PostSend(verbs.WorkRequest{Length: -1}), verbs.ErrInvalid)
		q.Close()
		require.Equal(t, verbs.StateRTS, q.State()) // until what is outstanding has ended
		p.nic[0].After(0, sim.Millisecond/2, 0)
		p.app[0].timer = func(uint64) {
			require.Equal(t, verbs.StateReset, q.State())
			require.ErrorIs(t, q.PostSend(verbs.WorkRequest{Length: 1}), verbs.ErrInvalid)
		}
	}
	p.run(sim.Millisecond)
}

// A SEND that finds no receive is sent again after the RNR timer, and arrives
// once a receive is posted.
func TestSendWaitsForAReceive(t *testing.T) {
	p := newPair(t, nil)
	var remote *QP
	var order []string
	p.app[0].start = func() {
		require.NoError(t, p.connect(0).PostSend(verbs.WorkRequest{Opcode: verbs.OpSend, Length: 5000, Signaled: true}))
	}
	p.app[0].complete = func(_ *QP, wc verbs.WorkCompletion) { order = append(order, "sent "+wc.Status.String()) }
	p.app[1].accept = func(qp *QP, _ uint64) {
		remote = qp
		p.nic[1].After(0, 15*sim.Microsecond, 0)
	}
	p.app[1].timer = func(uint64) { require.NoError(t, remote.PostRecv(9, 8192)) }
	p.app[1].complete = func(_ *QP, wc verbs.WorkCompletion) {
		require.Equal(t, uint64(9), wc.WRID)
		require.Equal(t, sim.Bytes(5000), wc.Length)
		order = append(order, "received "+wc.Status.String())
	}
	p.run(sim.Millisecond)
	require.Equal(t, []string{"received IBV_WC_SUCCESS", "sent IBV_WC_SUCCESS"}, order)
	require.Equal(t, uint64(2), p.nic[1].stat.rnrs)
}

// With rnr_retry 2 the third RNR NAK ends the queue pair; what is queued behind
// the request is flushed in order.
func TestRNRRetriesRunOut(t *testing.T) {
	p := newPair(t, nil)
	var got []verbs.Status
	p.app[0].start = func() {
		q := p.connect(0)
		for range 3 {
			require.NoError(t, q.PostSend(verbs.WorkRequest{Opcode: verbs.OpSend, Length: 100, Signaled: true}))
		}
	}
	p.app[0].complete = func(qp *QP, wc verbs.WorkCompletion) {
		require.Equal(t, verbs.StateError, qp.State())
		got = append(got, wc.Status)
	}
	p.run(sim.Millisecond)
	require.Equal(t, []verbs.Status{verbs.StatusRNRRetryExceeded, verbs.StatusWRFlush, verbs.StatusWRFlush}, got)
}

// A link that loses every data packet: retry_count 3 means four timeouts.
func TestRetriesRunOut(t *testing.T) {
	p := newPair(t, func(c *Config) { c.Ports[0].Loss = fabric.Loss{Data: 1} })
	var at sim.Time
	p.app[0].start = func() {
		require.NoError(t, p.connect(0).PostSend(verbs.WorkRequest{Length: 100}))
	}
	p.app[0].complete = func(_ *QP, wc verbs.WorkCompletion) {
		require.Equal(t, verbs.StatusRetryExceeded, wc.Status, "errors complete, signalled or not")
		at = p.nic[0].Node().Now()
	}
	p.run(sim.Millisecond)
	require.InDelta(t, float64(400*sim.Microsecond), float64(at), float64(sim.Microsecond))
}

// One lost packet costs one NAK, however many packets come out of order behind it.
func TestOneNakPerEpisode(t *testing.T) {
	p := newPair(t, func(c *Config) {
		if c.Node == 1 {
			c.Ports[0].Loss = fabric.Loss{Every: 64}
		}
	})
	done := false
	p.app[0].start = func() {
		require.NoError(t, p.connect(0).PostSend(verbs.WorkRequest{Length: 100 * 1024, Signaled: true}))
	}
	p.app[0].complete = func(_ *QP, wc verbs.WorkCompletion) { done = wc.Status == verbs.StatusSuccess }
	p.run(sim.Millisecond)
	require.True(t, done)
	require.Equal(t, uint64(100), p.nic[1].stat.delivered)
	require.Equal(t, p.nic[1].stat.naks, p.nic[1].ports[0].Stat.DropFault)
	require.NotZero(t, p.nic[1].stat.naks)
	require.Greater(t, p.nic[1].stat.discarded, 10*p.nic[1].stat.naks)
}

// Packet numbers are 24 bits wide and expand to the number nearest to what is expected.
func TestPSNWraps(t *testing.T) {
	for _, ref := range []uint64{0, 5, 1<<24 - 2, 1 << 24, 3<<24 + 7, 1<<40 - 1} {
		for _, d := range []int64{-3, -1, 0, 1, 1000, 1<<23 - 1} {
			if int64(ref)+d >= 0 {
				want := uint64(int64(ref) + d)
				require.Equal(t, want, expand(ref, uint32(want)&psnMask), "ref %d", ref)
			}
		}
	}
}

// What a connection answers travels in the class of its requests and obeys its
// pauses, although priorities without a DSCP of their own share that of the NIC.
func TestResponsesObeyPauses(t *testing.T) {
	p := newPair(t, func(c *Config) {
		c.Priority, c.DSCP = 3, 26
		for i := range c.PriorityDSCP {
			c.PriorityDSCP[i] = 26
		}
		c.PriorityDSCP[5] = 40
		c.Ports[0].Lossless = 1 << 3
	})
	var at [2]sim.Time
	p.app[0].start = func() {
		q := p.connect(0)
		require.NoError(t, q.PostSend(verbs.WorkRequest{Opcode: verbs.OpRead, Length: 100_000, Signaled: true}))
		p.nic[0].After(0, 5*sim.Microsecond, 0)
		p.nic[0].After(0, 50*sim.Microsecond, 1)
	}
	p.app[0].timer = func(token uint64) { p.nic[0].Storm(0, 3, uint16(1-token)*65535, false) }
	p.app[0].complete = func(*QP, verbs.WorkCompletion) { at[0] = p.nic[0].Node().Now() }
	p.run(sim.Millisecond)
	require.Greater(t, at[0], sim.Time(50*sim.Microsecond), "the pause holds responses back")
	for _, c := range []struct{ dscp, prio uint8 }{{26, 3}, {40, 5}, {12, 3}} {
		got, _ := p.nic[1].ackClass(&packet.Packet{DSCP: c.dscp})
		require.Equal(t, c.prio, got, "DSCP %d", c.dscp)
	}
}
