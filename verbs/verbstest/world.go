// Package verbstest is the contract that every provider of verbs has to pass:
// the simulated NIC, Soft-RoCE and real hardware. It asks for no speed, no exact
// times and no rounding of capacities. Where a device is known to answer
// otherwise, its provider says so with a Deviation; what a provider does not have
// at all, such as connection management, is skipped.
package verbstest

import (
	"slices"
	"testing"

	"rdmasim/sim"
	"rdmasim/verbs"

	"github.com/stretchr/testify/require"
)

// World is what a provider gives a test: devices that reach each other.
type World interface {
	// Devices returns two devices or more; on one machine they may be the same.
	Devices() []verbs.Device
	// Sleep lets time pass.
	Sleep(d sim.Duration)
	// Manager returns connection management for the context of a device, nil
	// where the provider has none.
	Manager(c verbs.Context) verbs.ConnectionManager
}

// Provider makes worlds.
type Provider struct {
	// Run runs a program in a new world and returns when it has ended.
	Run func(t *testing.T, program func(t *testing.T, w World))
	// Port and GIDIndex of every device.
	Port     uint8
	GIDIndex int
	// AckTimeout is a local ACK timeout code without spurious retries.
	AckTimeout uint8
	// Patience is how long the slowest completion may take: that of a request
	// to a peer that never answers, with retry_cnt 1.
	Patience sim.Duration
	// Deviations are where the devices are known to leave the contract. Without
	// them all of it is required.
	Deviations []Deviation
}

// Deviation is a way in which a device answers otherwise than the standard
// has it, and to which programs have to be prepared where they use such a device.
type Deviation string

// Deviations, all of them those of Soft-RoCE in Linux 6.1.
const (
	// LongerQueues: a queue takes more requests than Query says.
	LongerQueues Deviation = "queues take more than Query says"
	// UnpolledPlaces: a request gives its place in the send queue back when it
	// is done, and not when a completion at or behind it has been polled.
	UnpolledPlaces Deviation = "places in a send queue become free without polling"
	// OperationErrors: a receive that is too short ends in LOC_QP_OP_ERR and
	// REM_OP_ERR, a local key that does not fit in LOC_QP_OP_ERR.
	OperationErrors Deviation = "errors of local memory are reported as LOC_QP_OP_ERR, and REM_OP_ERR to the peer"
)

// Test runs the whole contract.
func Test(t *testing.T, p Provider) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p.Run(t, func(t *testing.T, w World) { c.run(&bench{T: t, w: w, p: p}) })
		})
	}
}

var cases []testCase

type testCase struct {
	name string
	run  func(b *bench)
}

// add registers a case; each file has its own.
func add(name string, run func(b *bench)) struct{} {
	cases = append(cases, testCase{name, run})
	return struct{}{}
}

// bench is what a case works with.
type bench struct {
	*testing.T
	w World
	p Provider
}

// deviates reports whether the devices are known to leave the contract in a way.
func (b *bench) deviates(d Deviation) bool { return slices.Contains(b.p.Deviations, d) }

// unless returns what the contract wants, or what the devices answer instead.
func unless[T any](b *bench, d Deviation, instead, want T) T {
	if b.deviates(d) {
		return instead
	}
	return want
}

// end is one side: a context with everything that a queue pair needs.
type end struct {
	b   *bench
	ctx verbs.Context
	pd  verbs.ProtectionDomain
	ch  verbs.CompletionChannel
	cq  verbs.CompletionQueue // of sends and receives
	qp  verbs.QueuePair
	mr  verbs.MemoryRegion
	gid verbs.GID
}

const anyAccess = verbs.LocalWrite | verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic

// memory is the size of an end's region.
const memory = 1 << 18

// open returns an end on the ith device, with a queue pair in RESET.
func (b *bench) open(i int, p verbs.QPParams) *end {
	e := &end{b: b}
	d := b.w.Devices()
	var err error
	e.ctx, err = d[i%len(d)].Open()
	require.NoError(b, err)
	e.gid, err = e.ctx.QueryGID(b.p.Port, b.p.GIDIndex)
	require.NoError(b, err)
	e.pd, err = e.ctx.AllocPD()
	require.NoError(b, err)
	e.ch, err = e.ctx.CreateCompletionChannel()
	require.NoError(b, err)
	e.cq, err = e.ctx.CreateCQ(512, e.ch)
	require.NoError(b, err)
	e.mr, err = e.pd.RegisterMemory(verbs.MRParams{Length: memory, Access: anyAccess})
	require.NoError(b, err)
	e.qp = e.create(p)
	return e
}

// create returns another queue pair of the end.
func (e *end) create(p verbs.QPParams) verbs.QueuePair {
	p.SendCQ, p.RecvCQ = e.cq, e.cq
	if p.Capacity == (verbs.Capacity{}) {
		p.Capacity = verbs.Capacity{SendWR: 32, RecvWR: 32, SendSGE: 3, RecvSGE: 3, Inline: 32}
	}
	q, err := e.pd.CreateQP(p)
	require.NoError(e.b, err)
	return q
}

// close destroys everything, in the order in which it may be destroyed.
func (e *end) close() {
	require.NoError(e.b, e.qp.Destroy())
	require.NoError(e.b, e.mr.Deregister())
	require.NoError(e.b, e.cq.Destroy())
	require.NoError(e.b, e.ch.Destroy())
	require.NoError(e.b, e.pd.Dealloc())
	require.NoError(e.b, e.ctx.Close())
}

// attr are the attributes of a queue pair connected to the peer.
func (e *end) attr(peer *end) verbs.QPAttr {
	return verbs.QPAttr{Access: anyAccess, Port: e.b.p.Port, AH: e.way(peer), DestQPN: peer.qp.QPN(), PathMTU: verbs.MTU1024, RQPSN: 100, SQPSN: 100,
		MaxDestRDAtomic: 1, MaxRDAtomic: 1, MinRNRTimer: 1, RNRRetry: verbs.InfiniteRNR, RetryCount: 6, Timeout: e.b.p.AckTimeout, QKey: qkey}
}

const qkey = 0x11111111

func (e *end) way(peer *end) verbs.AHAttr {
	return verbs.AHAttr{DGID: peer.gid, SGIDIndex: e.b.p.GIDIndex, Port: e.b.p.Port, HopLimit: 64}
}

// to takes a queue pair to a state by way of those before it.
func to(t require.TestingT, q verbs.QueuePair, a verbs.QPAttr, target verbs.State) {
	for _, s := range []verbs.State{verbs.StateInit, verbs.StateRTR, verbs.StateRTS} {
		need, _, ok := verbs.Masks(q.Service(), q.State(), s)
		require.True(t, ok)
		a.State = s
		require.NoError(t, q.Modify(a, need), "to %v", s)
		if s == target {
			return
		}
	}
}

// pair returns two ends that are connected; change may alter the attributes of
// the first.
func (b *bench) pair(s verbs.Service, change func(a *verbs.QPAttr)) (x, y *end) {
	x, y = b.open(0, verbs.QPParams{Service: s}), b.open(1, verbs.QPParams{Service: s})
	ax, ay := x.attr(y), y.attr(x)
	if change != nil {
		change(&ax)
	}
	to(b, y.qp, ay, verbs.StateRTS)
	to(b, x.qp, ax, verbs.StateRTS)
	return x, y
}

// wait returns so many completions of an end.
func (e *end) wait(n int) []verbs.WorkCompletion {
	out := make([]verbs.WorkCompletion, 0, n)
	step := max(e.b.p.Patience/2000, 1)
	for spent := sim.Duration(0); len(out) < n; spent += step {
		require.Less(e.b, spent, e.b.p.Patience, "%d of %d completions came: %v", len(out), n, out)
		buf := make([]verbs.WorkCompletion, n-len(out))
		k, err := e.cq.Poll(buf)
		require.NoError(e.b, err)
		out = append(out, buf[:k]...)
		if len(out) < n {
			e.b.w.Sleep(step)
		}
	}
	return out
}

// none requires that an end has no completion.
func (e *end) none() {
	buf := make([]verbs.WorkCompletion, 1)
	k, err := e.cq.Poll(buf)
	require.NoError(e.b, err)
	require.Zero(e.b, k, "%+v", buf)
}

// piece is part of an end's region.
func (e *end) piece(at, length int) verbs.SGE {
	return verbs.SGE{Addr: e.mr.Addr() + uint64(at), Length: uint32(length), LKey: e.mr.LKey()}
}

// recv posts a receive.
func (e *end) recv(id uint64, pieces ...verbs.SGE) {
	_, err := e.qp.PostRecv(verbs.RecvRequest{WRID: id, SGList: pieces})
	require.NoError(e.b, err)
}

// post posts a signalled request.
func (e *end) post(w verbs.WorkRequest) {
	w.Signaled = true
	_, err := e.qp.PostSend(w)
	require.NoError(e.b, err)
}

// fill writes a pattern into part of an end's region.
func (e *end) fill(at, length int, seed byte) []byte {
	b := e.mr.Bytes()[at : at+length]
	for i := range b {
		b[i] = byte(i*7) + byte(i>>8) + seed
	}
	return append([]byte(nil), b...)
}
