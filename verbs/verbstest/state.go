package verbstest

import (
	"rdmasim/verbs"

	"github.com/stretchr/testify/require"
)

var services = []verbs.Service{verbs.RC, verbs.UC, verbs.UD}

var _ = add("modify needs every attribute of the standard and takes no other", func(b *bench) {
	for _, s := range services {
		x, y := b.open(0, verbs.QPParams{Service: s}), b.open(1, verbs.QPParams{Service: s})
		a := x.attr(y)
		for _, step := range []verbs.State{verbs.StateInit, verbs.StateRTR, verbs.StateRTS} {
			from := x.qp.State()
			need, _, ok := verbs.Masks(s, from, step)
			require.True(b, ok)
			a.State = step
			for bit := verbs.AttrAccess; bit <= verbs.AttrDestQPN; bit <<= 1 {
				if need&bit != 0 {
					require.ErrorIs(b, x.qp.Modify(a, need&^bit), verbs.ErrInvalid, "%v %v to %v without %v", s, from, step, bit)
					require.Equal(b, from, x.qp.State())
				}
			}
			extra := verbs.AttrTimeout // of no use before RTS, nor to UC and UD
			if need&extra != 0 {
				extra = verbs.AttrRQPSN
			}
			require.ErrorIs(b, x.qp.Modify(a, need|extra), verbs.ErrInvalid)
			require.Equal(b, from, x.qp.State())
			require.NoError(b, x.qp.Modify(a, need))
			require.Equal(b, step, x.qp.State())
		}
		require.Equal(b, a.SQPSN, x.qp.Query().SQPSN)
	}
})

var _ = add("states cannot be left out, and every state leads to RESET and ERROR", func(b *bench) {
	for _, s := range services {
		x, y := b.open(0, verbs.QPParams{Service: s}), b.open(1, verbs.QPParams{Service: s})
		a := x.attr(y)
		for _, target := range []verbs.State{verbs.StateRTR, verbs.StateRTS, verbs.StateSQD} {
			a.State = target
			need, _, _ := verbs.Masks(s, verbs.StateInit, verbs.StateRTR)
			require.ErrorIs(b, x.qp.Modify(a, need|verbs.AttrState), verbs.ErrInvalid, "RESET to %v", target)
		}
		for _, last := range []verbs.State{verbs.StateInit, verbs.StateRTR, verbs.StateRTS} {
			for _, end := range []verbs.State{verbs.StateError, verbs.StateReset} {
				to(b, x.qp, a, last)
				require.NoError(b, x.qp.Modify(verbs.QPAttr{State: end}, verbs.AttrState))
				require.Equal(b, end, x.qp.State())
				if end == verbs.StateError {
					require.ErrorIs(b, x.qp.Modify(verbs.QPAttr{State: verbs.StateRTS}, verbs.AttrState), verbs.ErrInvalid)
					require.NoError(b, x.qp.Modify(verbs.QPAttr{State: verbs.StateReset}, verbs.AttrState))
				}
			}
		}
	}
})

var _ = add("posting asks for the right state and operation", func(b *bench) {
	x, y := b.open(0, verbs.QPParams{Service: verbs.UC}), b.open(1, verbs.QPParams{Service: verbs.UC})
	send := verbs.WorkRequest{Opcode: verbs.OpSend, SGList: []verbs.SGE{x.piece(0, 8)}}
	_, err := x.qp.PostRecv(verbs.RecvRequest{})
	require.ErrorIs(b, err, verbs.ErrInvalid, "receive in RESET")
	to(b, x.qp, x.attr(y), verbs.StateInit)
	_, err = x.qp.PostSend(send)
	require.ErrorIs(b, err, verbs.ErrInvalid, "send in INIT")
	_, err = x.qp.PostRecv(verbs.RecvRequest{})
	require.NoError(b, err, "receive in INIT")
	require.NoError(b, x.qp.Modify(verbs.QPAttr{State: verbs.StateReset}, verbs.AttrState))
	to(b, x.qp, x.attr(y), verbs.StateRTS)
	for _, op := range []verbs.Opcode{verbs.OpRead, verbs.OpFetchAdd, verbs.OpCompareSwap} {
		n, err := x.qp.PostSend(send, verbs.WorkRequest{Opcode: op, SGList: []verbs.SGE{x.piece(0, 8)}, RemoteAddr: y.mr.Addr(), RKey: y.mr.RKey()})
		require.ErrorIs(b, err, verbs.ErrInvalid, "%v on UC", op)
		require.Equal(b, 1, n, "the second request is the bad one")
	}
	u := x.create(verbs.QPParams{Service: verbs.UD})
	to(b, u, x.attr(y), verbs.StateRTS)
	_, err = u.PostSend(send)
	require.ErrorIs(b, err, verbs.ErrInvalid, "datagram without an address handle")
	_, err = x.qp.PostSend(verbs.WorkRequest{Opcode: verbs.OpSend, SGList: make([]verbs.SGE, x.qp.Query().Capacity.SendSGE+1)})
	require.ErrorIs(b, err, verbs.ErrInvalid, "too many pieces")
})

// refused requires that a queue has taken as many requests as Query says, and
// has said of the next one that there is no room.
func refused(b *bench, room, n int, err error) {
	require.ErrorIs(b, err, verbs.ErrNoMemory)
	if b.deviates(LongerQueues) {
		require.GreaterOrEqual(b, n, room)
		return
	}
	require.Equal(b, room, n)
}

// manyRequests is more than the queue of any end has room for.
const manyRequests = 4096

var _ = add("a full send queue says so", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	require.NoError(b, y.qp.Modify(verbs.QPAttr{State: verbs.StateReset}, verbs.AttrState), "a peer that leaves all of them outstanding")
	room := x.qp.Query().Capacity.SendWR
	require.GreaterOrEqual(b, room, 32)
	list := make([]verbs.WorkRequest, manyRequests)
	for i := range list {
		list[i] = verbs.WorkRequest{Opcode: verbs.OpWrite, SGList: []verbs.SGE{x.piece(0, 8)}, RemoteAddr: y.mr.Addr(), RKey: y.mr.RKey()}
	}
	n, err := x.qp.PostSend(list...)
	refused(b, room, n, err)
})

var _ = add("polling signalled completions makes room in the send queue", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	room := x.qp.Query().Capacity.SendWR
	w := func(signaled bool) verbs.WorkRequest {
		return verbs.WorkRequest{Opcode: verbs.OpWrite, Signaled: signaled, SGList: []verbs.SGE{x.piece(0, 8)}, RemoteAddr: y.mr.Addr(), RKey: y.mr.RKey()}
	}
	list := make([]verbs.WorkRequest, room)
	for i := range list {
		list[i] = w(i == room-1)
	}
	n, err := x.qp.PostSend(list...)
	require.NoError(b, err)
	require.Equal(b, room, n)
	b.w.Sleep(b.p.Patience / 100) // all of them are done by now
	if !b.deviates(UnpolledPlaces) {
		n, err = x.qp.PostSend(w(true))
		require.ErrorIs(b, err, verbs.ErrNoMemory, "nothing has been polled")
		require.Zero(b, n)
	}
	x.wait(1)
	n, err = x.qp.PostSend(list...)
	require.NoError(b, err, "one polled completion frees all places before it")
	require.Equal(b, room, n)
	x.wait(1)
})

var _ = add("a full receive queue says so", func(b *bench) {
	x, _ := b.pair(verbs.RC, nil)
	room := x.qp.Query().Capacity.RecvWR
	n, err := x.qp.PostRecv(make([]verbs.RecvRequest, manyRequests)...)
	refused(b, room, n, err)
})

var _ = add("what is in use cannot be destroyed", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	require.ErrorIs(b, x.cq.Destroy(), verbs.ErrBusy)
	require.ErrorIs(b, x.pd.Dealloc(), verbs.ErrBusy)
	_, err := x.pd.RegisterMemory(verbs.MRParams{Length: 10, Access: verbs.RemoteWrite})
	require.ErrorIs(b, err, verbs.ErrInvalid, "remote write without local write")
	x.close()
	y.close()
})

var _ = add("an armed queue announces one completion", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	send := func(solicited bool) {
		y.recv(1, y.piece(0, 100))
		x.post(verbs.WorkRequest{Opcode: verbs.OpSend, Solicited: solicited, SGList: []verbs.SGE{x.piece(0, 8)}})
		require.Equal(b, verbs.StatusSuccess, x.wait(1)[0].Status)
		y.wait(1)
	}
	events := func() (n int) {
		b.w.Sleep(b.p.Patience / 100)
		for {
			cq, ok := y.ch.Event()
			if !ok {
				return n
			}
			require.Equal(b, y.cq, cq)
			y.ch.AckEvents(cq, 1)
			n++
		}
	}
	send(false)
	require.Zero(b, events(), "not armed")
	require.NoError(b, y.cq.RequestNotify(false))
	send(false)
	send(false)
	require.Equal(b, 1, events(), "one event disarms")
	require.NoError(b, y.cq.RequestNotify(true))
	send(false)
	require.Zero(b, events(), "not solicited")
	send(true)
	require.Equal(b, 1, events())
})
