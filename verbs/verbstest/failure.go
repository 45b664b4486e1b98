package verbstest

import (
	"errors"

	"rdmasim/verbs"

	"github.com/stretchr/testify/require"
)

// ids returns the ids of completions, and requires that all have a status.
func ids(b *bench, list []verbs.WorkCompletion, s verbs.Status) (out []uint64) {
	for _, c := range list {
		require.Equal(b, s, c.Status, "%+v", c)
		out = append(out, c.WRID)
	}
	return out
}

// split parts completions of receives from those of sends.
func split(list []verbs.WorkCompletion, recv func(uint64) bool) (sends, recvs []verbs.WorkCompletion) {
	for _, c := range list {
		if recv(c.WRID) {
			recvs = append(recvs, c)
		} else {
			sends = append(sends, c)
		}
	}
	return sends, recvs
}

var _ = add("after ERROR everything is flushed in order", func(b *bench) {
	x, _ := b.pair(verbs.RC, nil)
	for i := range 3 {
		x.recv(uint64(100+i), x.piece(0, 10))
	}
	require.NoError(b, x.qp.Modify(verbs.QPAttr{State: verbs.StateError}, verbs.AttrState))
	for i := range 3 { // signalled or not: errors complete
		_, err := x.qp.PostSend(verbs.WorkRequest{WRID: uint64(i), Opcode: verbs.OpSend, Signaled: i == 1, SGList: []verbs.SGE{x.piece(0, 8)}})
		require.NoError(b, err)
	}
	x.recv(103, x.piece(0, 10))
	sends, recvs := split(x.wait(7), func(id uint64) bool { return id >= 100 })
	require.Equal(b, []uint64{0, 1, 2}, ids(b, sends, verbs.StatusWRFlush))
	require.Equal(b, []uint64{100, 101, 102, 103}, ids(b, recvs, verbs.StatusWRFlush))
})

var _ = add("a peer that never answers ends in RETRY_EXC", func(b *bench) {
	x, y := b.pair(verbs.RC, func(a *verbs.QPAttr) { a.RetryCount = 1 })
	require.NoError(b, y.qp.Modify(verbs.QPAttr{State: verbs.StateReset}, verbs.AttrState))
	x.post(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpWrite, SGList: []verbs.SGE{x.piece(0, 8)}, RemoteAddr: y.mr.Addr(), RKey: y.mr.RKey()})
	x.post(verbs.WorkRequest{WRID: 2, Opcode: verbs.OpWrite, SGList: []verbs.SGE{x.piece(0, 8)}, RemoteAddr: y.mr.Addr(), RKey: y.mr.RKey()})
	c := x.wait(2)
	require.Equal(b, []uint64{1}, ids(b, c[:1], verbs.StatusRetryExceeded))
	require.Equal(b, []uint64{2}, ids(b, c[1:], verbs.StatusWRFlush))
	require.Equal(b, verbs.StateError, x.qp.State())
})

var _ = add("a receiver that is not ready is waited for", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	x.post(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpSend, SGList: []verbs.SGE{x.piece(0, 3000)}})
	b.w.Sleep(b.p.Patience / 100)
	x.none()
	y.recv(2, y.piece(0, 3000))
	require.Equal(b, verbs.StatusSuccess, x.wait(1)[0].Status)
	require.Equal(b, verbs.StatusSuccess, y.wait(1)[0].Status)
})

var _ = add("a receiver that never becomes ready ends in RNR_RETRY_EXC", func(b *bench) {
	x, _ := b.pair(verbs.RC, func(a *verbs.QPAttr) { a.RNRRetry = 1 })
	x.post(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpSend, SGList: []verbs.SGE{x.piece(0, 8)}})
	require.Equal(b, []uint64{1}, ids(b, x.wait(1), verbs.StatusRNRRetryExceeded))
})

var _ = add("a receive that is too short fails on both sides", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	y.recv(5, y.piece(0, 100))
	x.post(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpSend, SGList: []verbs.SGE{x.piece(0, 101)}})
	require.Equal(b, []uint64{1}, ids(b, x.wait(1), unless(b, OperationErrors, verbs.StatusRemoteOperation, verbs.StatusRemoteInvalidRequest)))
	require.Equal(b, []uint64{5}, ids(b, y.wait(1), unless(b, OperationErrors, verbs.StatusLocalQPOperation, verbs.StatusLocalLength)))
})

var _ = add("keys, bounds and rights of remote memory are checked", func(b *bench) {
	for name, spoil := range map[string]func(y *end, w *verbs.WorkRequest){
		"key":    func(_ *end, w *verbs.WorkRequest) { w.RKey ^= 0x5500 },
		"bounds": func(y *end, w *verbs.WorkRequest) { w.RemoteAddr = y.mr.Addr() + memory - 7 },
		"rights": func(y *end, w *verbs.WorkRequest) {
			ro, err := y.pd.RegisterMemory(verbs.MRParams{Length: 64, Access: verbs.LocalWrite})
			require.NoError(b, err)
			w.RemoteAddr, w.RKey = ro.Addr(), ro.RKey()
		},
		"domain": func(y *end, w *verbs.WorkRequest) {
			pd, err := y.ctx.AllocPD()
			require.NoError(b, err)
			mr, err := pd.RegisterMemory(verbs.MRParams{Length: 64, Access: anyAccess})
			require.NoError(b, err)
			w.RemoteAddr, w.RKey = mr.Addr(), mr.RKey()
		},
	} {
		for _, op := range []verbs.Opcode{verbs.OpWrite, verbs.OpRead} {
			x, y := b.pair(verbs.RC, nil)
			before := append([]byte(nil), y.mr.Bytes()...)
			w := verbs.WorkRequest{WRID: 3, Opcode: op, SGList: []verbs.SGE{x.piece(0, 8)}, RemoteAddr: y.mr.Addr(), RKey: y.mr.RKey()}
			x.mr.Bytes()[0] = 77
			spoil(y, &w)
			x.post(w)
			c := x.wait(1)
			require.Equal(b, verbs.StatusRemoteAccess, c[0].Status, "%s, %v", name, op)
			require.Equal(b, before, y.mr.Bytes(), "%s: nothing is written", name)
			require.Equal(b, verbs.StateError, x.qp.State())
		}
	}
})

var _ = add("a key of local memory that does not fit ends in LOC_PROT", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	bad := x.piece(0, 8)
	bad.LKey ^= 0x5500
	x.post(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpWrite, SGList: []verbs.SGE{bad}, RemoteAddr: y.mr.Addr(), RKey: y.mr.RKey()})
	require.Equal(b, []uint64{1}, ids(b, x.wait(1), unless(b, OperationErrors, verbs.StatusLocalQPOperation, verbs.StatusLocalProtection)))
})

var _ = add("a queue pair that has failed works again after RESET", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	x.post(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpWrite, SGList: []verbs.SGE{x.piece(0, 8)}, RemoteAddr: y.mr.Addr(), RKey: y.mr.RKey() ^ 0x5500})
	require.Equal(b, verbs.StatusRemoteAccess, x.wait(1)[0].Status)
	for _, e := range []*end{x, y} {
		require.NoError(b, e.qp.Modify(verbs.QPAttr{State: verbs.StateReset}, verbs.AttrState))
	}
	to(b, y.qp, y.attr(x), verbs.StateRTS)
	to(b, x.qp, x.attr(y), verbs.StateRTS)
	want := x.fill(0, 100, 3)
	x.post(verbs.WorkRequest{WRID: 2, Opcode: verbs.OpWrite, SGList: []verbs.SGE{x.piece(0, 100)}, RemoteAddr: y.mr.Addr(), RKey: y.mr.RKey()})
	require.Equal(b, verbs.StatusSuccess, x.wait(1)[0].Status)
	require.Equal(b, want, y.mr.Bytes()[:100])
})

var _ = add("path MTUs that differ end in an error, not in silence", func(b *bench) {
	x, y := b.pair(verbs.RC, func(a *verbs.QPAttr) { a.PathMTU, a.RetryCount = verbs.MTU512, 1 })
	x.post(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpWrite, SGList: []verbs.SGE{x.piece(0, 3000)}, RemoteAddr: y.mr.Addr(), RKey: y.mr.RKey()})
	s := x.wait(1)[0].Status
	require.Contains(b, []verbs.Status{verbs.StatusRemoteInvalidRequest, verbs.StatusRetryExceeded}, s)
})

var _ = add("a memory window gives access for as long as it is bound", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	mw, err := y.pd.AllocMW()
	if errors.Is(err, verbs.ErrNotSupported) {
		b.Skip("the device has no memory windows")
	}
	require.NoError(b, err)
	mr, err := y.pd.RegisterMemory(verbs.MRParams{Length: 4096, Access: verbs.LocalWrite | verbs.MWBind})
	require.NoError(b, err)
	y.post(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpBindMW, Bind: verbs.WindowBind{MW: mw, MR: mr, RKey: verbs.NextRKey(mw.RKey()), Addr: mr.Addr() + 100, Length: 50, Access: verbs.RemoteWrite}})
	require.Equal(b, []uint64{1}, ids(b, y.wait(1), verbs.StatusSuccess))
	want := x.fill(0, 50, 9)
	write := verbs.WorkRequest{WRID: 2, Opcode: verbs.OpWrite, SGList: []verbs.SGE{x.piece(0, 50)}, RemoteAddr: mr.Addr() + 100, RKey: mw.RKey()}
	x.post(write)
	require.Equal(b, []uint64{2}, ids(b, x.wait(1), verbs.StatusSuccess))
	require.Equal(b, want, mr.Bytes()[100:150])
	y.post(verbs.WorkRequest{WRID: 3, Opcode: verbs.OpLocalInv, InvalidateKey: mw.RKey()})
	require.Equal(b, []uint64{3}, ids(b, y.wait(1), verbs.StatusSuccess))
	x.post(write)
	require.Equal(b, []uint64{2}, ids(b, x.wait(1), verbs.StatusRemoteAccess))
	require.NoError(b, mw.Dealloc())
	require.NoError(b, mr.Deregister())
})
