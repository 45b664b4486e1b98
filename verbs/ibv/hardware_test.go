//go:build linux && (amd64 || arm64)

package ibv

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rdmasim/verbs"
)

// side is one end of a connection on a real device.
type side struct {
	t   testing.TB
	ctx verbs.Context
	pd  verbs.ProtectionDomain
	ch  verbs.CompletionChannel
	cq  verbs.CompletionQueue
	mr  verbs.MemoryRegion
	qp  verbs.QueuePair
	gid verbs.GID
}

// rocev2 is the index of the IPv4 GID of Soft-RoCE.
const rocev2 = 1

func open(t testing.TB, dev verbs.Device, s verbs.Service) *side {
	a := &side{t: t}
	var err error
	a.ctx, err = dev.Open()
	require.NoError(t, err)
	a.pd, err = a.ctx.AllocPD()
	require.NoError(t, err)
	a.ch, err = a.ctx.CreateCompletionChannel()
	require.NoError(t, err)
	a.cq, err = a.ctx.CreateCQ(256, a.ch)
	require.NoError(t, err)
	a.mr, err = a.pd.RegisterMemory(verbs.MRParams{Length: 1 << 16, Offset: 8, Access: verbs.LocalWrite | verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic})
	require.NoError(t, err)
	a.qp, err = a.pd.CreateQP(verbs.QPParams{Service: s, SendCQ: a.cq, RecvCQ: a.cq, Capacity: verbs.Capacity{SendWR: 100, RecvWR: 100, SendSGE: 2, RecvSGE: 2, Inline: 64}})
	require.NoError(t, err)
	a.gid, err = a.ctx.QueryGID(1, rocev2)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, a.qp.Destroy())
		require.NoError(t, a.mr.Deregister())
		require.NoError(t, a.cq.Destroy())
		require.NoError(t, a.ch.Destroy())
		require.NoError(t, a.pd.Dealloc())
		require.NoError(t, a.ctx.Close())
	})
	return a
}

func (a *side) connect(b *side) {
	t := a.t
	s := a.qp.Service()
	init := verbs.AttrState | verbs.AttrPKeyIndex | verbs.AttrPort
	attr := verbs.QPAttr{State: verbs.StateInit, Port: 1, Access: a.mr.Access(), QKey: 0x1111}
	if s == verbs.UD {
		init |= verbs.AttrQKey
	} else {
		init |= verbs.AttrAccess
	}
	require.NoError(t, a.qp.Modify(attr, init))
	attr = verbs.QPAttr{State: verbs.StateRTR, PathMTU: verbs.MTU1024, DestQPN: b.qp.QPN(), RQPSN: 0xfffffe, MaxDestRDAtomic: 4, MinRNRTimer: 1,
		AH: verbs.AHAttr{DGID: b.gid, SGIDIndex: rocev2, Port: 1}}
	mask := verbs.AttrState
	if s != verbs.UD {
		mask |= verbs.AttrAV | verbs.AttrPathMTU | verbs.AttrDestQPN | verbs.AttrRQPSN
	}
	if s == verbs.RC {
		mask |= verbs.AttrMaxDestRD | verbs.AttrMinRNRTimer
	}
	require.NoError(t, a.qp.Modify(attr, mask))
	attr = verbs.QPAttr{State: verbs.StateRTS, SQPSN: 0xfffffe, Timeout: 17, RetryCount: 6, RNRRetry: 2, MaxRDAtomic: 4}
	mask = verbs.AttrState | verbs.AttrSQPSN
	if s == verbs.RC {
		mask |= verbs.AttrTimeout | verbs.AttrRetryCount | verbs.AttrRNRRetry | verbs.AttrMaxRDAtomic
	}
	require.NoError(t, a.qp.Modify(attr, mask))
}

// wait takes n completions, sleeping on events.
func (a *side) wait(n int) []verbs.WorkCompletion {
	var got []verbs.WorkCompletion
	buf := make([]verbs.WorkCompletion, 16)
	for deadline := time.Now().Add(10 * time.Second); len(got) < n; {
		require.NoError(a.t, a.cq.RequestNotify(false))
		k, err := a.cq.Poll(buf)
		require.NoError(a.t, err)
		got = append(got, buf[:k]...)
		if k > 0 {
			continue
		}
		require.True(a.t, time.Now().Before(deadline), "%d of %d completions", len(got), n)
		require.NoError(a.t, a.ch.(*Channel).Wait(100*time.Millisecond))
		for {
			cq, ok := a.ch.Event()
			if !ok {
				break
			}
			a.ch.AckEvents(cq, 1)
		}
	}
	return got
}

func pair(t *testing.T, s verbs.Service) (*side, *side) {
	all, err := Devices()
	if err != nil || len(all) < 2 {
		t.Skipf("skipped: two RDMA devices are needed, there are %d (%v)", len(all), err)
	}
	a, b := open(t, all[0], s), open(t, all[1], s)
	a.connect(b)
	b.connect(a)
	return a, b
}

func (a *side) sge(off, n uint64) []verbs.SGE {
	return []verbs.SGE{{Addr: a.mr.Addr() + off, Length: uint32(n), LKey: a.mr.LKey()}}
}

func TestHardwareOperations(t *testing.T) {
	a, b := pair(t, verbs.RC)
	copy(a.mr.Bytes(), "from a")
	copy(b.mr.Bytes()[4096:], "from b")
	b.mr.Bytes()[8184] = 5
	_, err := b.qp.PostRecv(verbs.RecvRequest{WRID: 77, SGList: b.sge(1024, 1024)}, verbs.RecvRequest{WRID: 78, SGList: b.sge(2048, 64)})
	require.NoError(t, err)
	n, err := a.qp.PostSend(
		verbs.WorkRequest{WRID: 1, Opcode: verbs.OpWrite, SGList: a.sge(0, 4000), RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey(), Signaled: true},
		verbs.WorkRequest{WRID: 2, Opcode: verbs.OpSendImm, SGList: a.sge(0, 6), Imm: 0xa1b2c3d4, Signaled: true, Inline: true},
		verbs.WorkRequest{WRID: 3, Opcode: verbs.OpRead, SGList: a.sge(8192, 10000), RemoteAddr: b.mr.Addr() + 4096, RKey: b.mr.RKey(), Signaled: true},
		verbs.WorkRequest{WRID: 4, Opcode: verbs.OpFetchAdd, SGList: a.sge(32768, 8), RemoteAddr: b.mr.Addr() + 8184, RKey: b.mr.RKey(), CompareAdd: 10, Signaled: true, Fence: true},
		verbs.WorkRequest{WRID: 5, Opcode: verbs.OpCompareSwap, SGList: a.sge(32776, 8), RemoteAddr: b.mr.Addr() + 8184, RKey: b.mr.RKey(), CompareAdd: 15, Swap: 99, Signaled: true},
		verbs.WorkRequest{WRID: 6, Opcode: verbs.OpWriteImm, SGList: a.sge(0, 10), RemoteAddr: b.mr.Addr() + 512, RKey: b.mr.RKey(), Imm: 7, Signaled: true})
	require.NoError(t, err)
	require.Equal(t, 6, n)
	for i, w := range a.wait(6) {
		require.Equal(t, verbs.StatusSuccess, w.Status, "%+v", w)
		require.EqualValues(t, i+1, w.WRID)
	}
	r := b.wait(2)
	require.Equal(t, verbs.WorkCompletion{WRID: 77, Opcode: verbs.OpSendImm, Recv: true, Length: 6, QPN: b.qp.QPN(), Imm: 0xa1b2c3d4, HasImm: true, SrcQP: r[0].SrcQP}, r[0])
	require.Equal(t, verbs.OpWriteImm, r[1].Opcode)
	require.EqualValues(t, 7, r[1].Imm)
	require.Equal(t, "from a", string(b.mr.Bytes()[:6]))
	require.Equal(t, "from a", string(b.mr.Bytes()[1024:1030]))
	require.Equal(t, "from b", string(a.mr.Bytes()[8192:8198]))
	require.EqualValues(t, 5, a.mr.Bytes()[32768])
	require.EqualValues(t, 15, a.mr.Bytes()[32776])
	require.EqualValues(t, 99, b.mr.Bytes()[8184])
}

func TestHardwareRNR(t *testing.T) {
	a, _ := pair(t, verbs.RC)
	_, err := a.qp.PostSend(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpSend, SGList: a.sge(0, 6)}, verbs.WorkRequest{WRID: 2, Opcode: verbs.OpSend, SGList: a.sge(0, 6)})
	require.NoError(t, err)
	w := a.wait(2)
	require.Equal(t, verbs.StatusRNRRetryExceeded, w[0].Status)
	require.Equal(t, verbs.StatusWRFlush, w[1].Status)
	require.Equal(t, verbs.StateError, a.qp.State())
}

func TestHardwareAccess(t *testing.T) {
	a, b := pair(t, verbs.RC)
	_, err := a.qp.PostSend(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpWrite, SGList: a.sge(0, 6), RemoteAddr: b.mr.Addr() + 1<<20, RKey: b.mr.RKey(), Signaled: true})
	require.NoError(t, err)
	require.Equal(t, verbs.StatusRemoteAccess, a.wait(1)[0].Status)
}

func TestHardwareUnreliable(t *testing.T) {
	a, b := pair(t, verbs.UC)
	_, err := b.qp.PostRecv(verbs.RecvRequest{WRID: 7, SGList: b.sge(0, 4096)})
	require.NoError(t, err)
	copy(a.mr.Bytes(), "unreliable")
	_, err = a.qp.PostSend(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpSend, SGList: a.sge(0, 3000), Signaled: true})
	require.NoError(t, err)
	require.Equal(t, verbs.StatusSuccess, a.wait(1)[0].Status)
	w := b.wait(1)
	require.EqualValues(t, 3000, w[0].Length)
	require.Equal(t, "unreliable", string(b.mr.Bytes()[:10]))
}

func TestHardwareDatagram(t *testing.T) {
	a, b := pair(t, verbs.UD)
	_, err := b.qp.PostRecv(verbs.RecvRequest{WRID: 7, SGList: b.sge(0, 2048)})
	require.NoError(t, err)
	ah, err := a.pd.CreateAH(verbs.AHAttr{DGID: b.gid, SGIDIndex: rocev2, Port: 1})
	require.NoError(t, err)
	copy(a.mr.Bytes(), "datagram")
	_, err = a.qp.PostSend(verbs.WorkRequest{Opcode: verbs.OpSend, SGList: a.sge(0, 8)})
	require.ErrorIs(t, err, verbs.ErrInvalid)
	_, err = a.qp.PostSend(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpSend, SGList: a.sge(0, 8), AH: ah, RemoteQPN: b.qp.QPN(), RemoteQKey: 0x1111, Signaled: true})
	require.NoError(t, err)
	require.Equal(t, verbs.StatusSuccess, a.wait(1)[0].Status)
	w := b.wait(1)
	require.EqualValues(t, 8+verbs.GRHBytes, w[0].Length)
	require.True(t, w[0].HasGRH)
	require.Equal(t, a.qp.QPN(), w[0].SrcQP)
	require.Equal(t, "datagram", string(b.mr.Bytes()[verbs.GRHBytes:verbs.GRHBytes+8]))
	require.NoError(t, ah.Destroy())
}

// TestHardwareFull fills a send queue whose peer does not answer: ENOMEM names
// the request that found no place.
func TestHardwareFull(t *testing.T) {
	a, b := pair(t, verbs.RC)
	require.NoError(t, b.qp.Modify(verbs.QPAttr{State: verbs.StateReset}, verbs.AttrState))
	var wrs []verbs.WorkRequest
	for i := range 1 << 12 {
		wrs = append(wrs, verbs.WorkRequest{WRID: uint64(i), Opcode: verbs.OpWrite, SGList: a.sge(0, 8), RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey()})
	}
	n, err := a.qp.PostSend(wrs...)
	require.ErrorIs(t, err, verbs.ErrNoMemory)
	require.GreaterOrEqual(t, n, a.qp.Query().Capacity.SendWR)
	require.Less(t, n, len(wrs))
	t.Logf("capacity %+v, posted %d", a.qp.Query().Capacity, n)
}

func TestHardwareMasks(t *testing.T) {
	all, err := Devices()
	if err != nil || len(all) == 0 {
		t.Skip("skipped: no RDMA device")
	}
	a := open(t, all[0], verbs.RC)
	require.ErrorIs(t, a.qp.Modify(verbs.QPAttr{State: verbs.StateInit, Port: 1}, verbs.AttrState|verbs.AttrPort), verbs.ErrInvalid)
	require.Equal(t, verbs.StateReset, a.qp.State())
	require.ErrorIs(t, a.ctx.Close(), verbs.ErrBusy)
	require.ErrorIs(t, a.pd.Dealloc(), verbs.ErrBusy)
	d := a.ctx.Query()
	require.Positive(t, d.MaxQPWR)
	p, err := a.ctx.QueryPort(1)
	require.NoError(t, err)
	require.True(t, p.Active)
	t.Logf("%+v %+v", d, p)
}
