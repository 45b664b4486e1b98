package verbstest

import (
	"encoding/binary"

	"rdmasim/verbs"

	"github.com/stretchr/testify/require"
)

// sizes are lengths around the borders of packets (path MTU 1024).
var sizes = []int{1, 8, 1023, 1024, 1025, 2048, 10000, 65537}

var _ = add("send carries every length from any address to any address", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	for i, n := range sizes {
		want := x.fill(i+1, n, byte(n))
		y.recv(uint64(100+i), y.piece(131072+i, n+3))
		x.post(verbs.WorkRequest{WRID: uint64(i), Opcode: verbs.OpSend, SGList: []verbs.SGE{x.piece(i+1, n)}})
		s, r := x.wait(1)[0], y.wait(1)[0]
		require.Equal(b, verbs.StatusSuccess, s.Status)
		require.Equal(b, uint64(i), s.WRID)
		require.Equal(b, verbs.StatusSuccess, r.Status)
		require.Equal(b, uint64(100+i), r.WRID)
		require.True(b, r.Recv)
		require.EqualValues(b, n, r.Length)
		require.Equal(b, want, y.mr.Bytes()[131072+i:][:n])
	}
	x.close()
	y.close()
})

var _ = add("a message of no bytes arrives", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	y.recv(7)
	x.post(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpSendImm, Imm: 42})
	require.Equal(b, verbs.StatusSuccess, x.wait(1)[0].Status)
	r := y.wait(1)[0]
	require.Equal(b, verbs.StatusSuccess, r.Status)
	require.True(b, r.HasImm)
	require.EqualValues(b, 42, r.Imm)
	require.Zero(b, r.Length)
})

var _ = add("write and read move memory without the peer", func(b *bench) {
	for _, s := range []verbs.Service{verbs.RC, verbs.UC} {
		x, y := b.pair(s, nil)
		for i, n := range sizes {
			want := x.fill(i, n, byte(i))
			x.post(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpWrite, SGList: []verbs.SGE{x.piece(i, n)}, RemoteAddr: y.mr.Addr() + 131072 + 3, RKey: y.mr.RKey()})
			require.Equal(b, verbs.StatusSuccess, x.wait(1)[0].Status)
			if s == verbs.UC { // done means sent
				b.w.Sleep(b.p.Patience / 100)
			}
			require.Equal(b, want, y.mr.Bytes()[131072+3:][:n], "%v %d", s, n)
			if s != verbs.RC {
				continue
			}
			x.post(verbs.WorkRequest{WRID: 2, Opcode: verbs.OpRead, SGList: []verbs.SGE{x.piece(131072, n)}, RemoteAddr: y.mr.Addr() + 131072 + 3, RKey: y.mr.RKey()})
			require.Equal(b, verbs.StatusSuccess, x.wait(1)[0].Status)
			require.Equal(b, want, x.mr.Bytes()[131072:][:n], "READ %d", n)
		}
		y.none()
		x.close()
		y.close()
	}
})

var _ = add("write with immediate takes a receive and leaves its memory alone", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	want := x.fill(0, 3000, 1)
	y.mr.Bytes()[200000] = 99
	y.recv(5, y.piece(200000, 4000))
	x.post(verbs.WorkRequest{WRID: 1, Opcode: verbs.OpWriteImm, Imm: 0xdeadbeef, SGList: []verbs.SGE{x.piece(0, 3000)}, RemoteAddr: y.mr.Addr() + 100000, RKey: y.mr.RKey()})
	require.Equal(b, verbs.StatusSuccess, x.wait(1)[0].Status)
	r := y.wait(1)[0]
	require.Equal(b, verbs.StatusSuccess, r.Status)
	require.Equal(b, uint64(5), r.WRID)
	require.EqualValues(b, 0xdeadbeef, r.Imm)
	require.EqualValues(b, 3000, r.Length)
	require.Equal(b, want, y.mr.Bytes()[100000:103000])
	require.EqualValues(b, 99, y.mr.Bytes()[200000])
})

var _ = add("atomics return what was there and change 8 bytes", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	word := func(e *end, at int) uint64 { return binary.NativeEndian.Uint64(e.mr.Bytes()[at:]) }
	binary.NativeEndian.PutUint64(y.mr.Bytes()[64:], 40)
	do := func(w verbs.WorkRequest) uint64 {
		w.SGList = []verbs.SGE{x.piece(8, 8)}
		w.RemoteAddr, w.RKey = y.mr.Addr()+64, y.mr.RKey()
		x.post(w)
		require.Equal(b, verbs.StatusSuccess, x.wait(1)[0].Status)
		return word(x, 8)
	}
	require.EqualValues(b, 40, do(verbs.WorkRequest{Opcode: verbs.OpFetchAdd, CompareAdd: 2}))
	require.EqualValues(b, 42, word(y, 64))
	require.EqualValues(b, 42, do(verbs.WorkRequest{Opcode: verbs.OpCompareSwap, CompareAdd: 41, Swap: 7}))
	require.EqualValues(b, 42, word(y, 64))
	require.EqualValues(b, 42, do(verbs.WorkRequest{Opcode: verbs.OpCompareSwap, CompareAdd: 42, Swap: 7}))
	require.EqualValues(b, 7, word(y, 64))
})

var _ = add("pieces are gathered and scattered", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	want := append(append(x.fill(0, 700, 1), x.fill(5000, 1, 2)...), x.fill(9001, 2000, 3)...)
	y.recv(1, y.piece(0, 1000), y.piece(2000, 1), y.piece(3003, 5000))
	x.post(verbs.WorkRequest{Opcode: verbs.OpSend, SGList: []verbs.SGE{x.piece(0, 700), x.piece(5000, 1), x.piece(9001, 2000)}})
	require.Equal(b, verbs.StatusSuccess, x.wait(1)[0].Status)
	require.EqualValues(b, 2701, y.wait(1)[0].Length)
	m := y.mr.Bytes()
	got := append(append(append([]byte(nil), m[:1000]...), m[2000]), m[3003:3003+1700]...)
	require.Equal(b, want, got)
})

var _ = add("inline bytes are free again when posting returns", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	want := x.fill(0, 32, 9)
	y.recv(1, y.piece(0, 100))
	x.post(verbs.WorkRequest{Opcode: verbs.OpSend, Inline: true, SGList: []verbs.SGE{x.piece(0, 32)}})
	clear(x.mr.Bytes()[:32])
	require.Equal(b, verbs.StatusSuccess, x.wait(1)[0].Status)
	y.wait(1)
	require.Equal(b, want, y.mr.Bytes()[:32])
})

var _ = add("messages arrive in the order of posting, both ways at once", func(b *bench) {
	x, y := b.pair(verbs.RC, nil)
	const n = 30
	for i := range n {
		for _, e := range []*end{x, y} {
			e.recv(uint64(1000+i), e.piece(100000+i*4096, 4096))
		}
	}
	for i := range n {
		for _, e := range []*end{x, y} {
			e.post(verbs.WorkRequest{WRID: uint64(i), Opcode: verbs.OpSend, SGList: []verbs.SGE{e.piece(0, 1+i*100)}})
		}
	}
	for _, e := range []*end{x, y} {
		var sent, got int
		for _, c := range e.wait(2 * n) {
			require.Equal(b, verbs.StatusSuccess, c.Status)
			if c.Recv {
				require.Equal(b, uint64(1000+got), c.WRID)
				require.EqualValues(b, 1+got*100, c.Length)
				got++
			} else {
				require.Equal(b, uint64(sent), c.WRID)
				sent++
			}
		}
	}
})

var _ = add("datagrams carry a header, their sender and nothing longer than the MTU", func(b *bench) {
	x, y := b.pair(verbs.UD, nil)
	ah, err := x.pd.CreateAH(x.way(y))
	require.NoError(b, err)
	want := x.fill(0, 500, 4)
	y.recv(3, y.piece(0, 500+verbs.GRHBytes))
	x.post(verbs.WorkRequest{Opcode: verbs.OpSendImm, Imm: 8, SGList: []verbs.SGE{x.piece(0, 500)}, AH: ah, RemoteQPN: y.qp.QPN(), RemoteQKey: qkey})
	require.Equal(b, verbs.StatusSuccess, x.wait(1)[0].Status)
	r := y.wait(1)[0]
	require.Equal(b, verbs.StatusSuccess, r.Status)
	require.EqualValues(b, 500+verbs.GRHBytes, r.Length)
	require.Equal(b, x.qp.QPN(), r.SrcQP)
	require.EqualValues(b, 8, r.Imm)
	require.Equal(b, want, y.mr.Bytes()[verbs.GRHBytes:][:500])
	if x.gid[10] == 0xff && x.gid[0] == 0 { // IPv4: its header is in the last 20 of the 40 bytes
		h := y.mr.Bytes()[verbs.GRHBytes-20:]
		require.EqualValues(b, 0x45, h[0])
		require.Equal(b, x.gid[12:], h[12:16], "source")
		require.Equal(b, y.gid[12:], h[16:20], "destination")
	}
	// Another Q_Key: dropped at the receiver, and the sender does not know.
	y.recv(4, y.piece(0, 1000))
	x.post(verbs.WorkRequest{Opcode: verbs.OpSend, SGList: []verbs.SGE{x.piece(0, 10)}, AH: ah, RemoteQPN: y.qp.QPN(), RemoteQKey: qkey + 1})
	require.Equal(b, verbs.StatusSuccess, x.wait(1)[0].Status)
	b.w.Sleep(b.p.Patience / 100)
	y.none()
})

var _ = add("queue pairs share receives", func(b *bench) {
	x, y := b.open(0, verbs.QPParams{Service: verbs.RC}), b.open(1, verbs.QPParams{Service: verbs.RC})
	srq, err := y.pd.CreateSRQ(verbs.SRQParams{WR: 8, SGE: 1})
	require.NoError(b, err)
	shared := y.create(verbs.QPParams{Service: verbs.RC, SRQ: srq})
	require.NoError(b, y.qp.Destroy())
	y.qp = shared
	to(b, y.qp, y.attr(x), verbs.StateRTS)
	to(b, x.qp, x.attr(y), verbs.StateRTS)
	_, err = y.qp.PostRecv(verbs.RecvRequest{})
	require.ErrorIs(b, err, verbs.ErrInvalid)
	k, err := srq.PostRecv(verbs.RecvRequest{WRID: 1, SGList: []verbs.SGE{y.piece(0, 100)}}, verbs.RecvRequest{WRID: 2, SGList: []verbs.SGE{y.piece(100, 100)}})
	require.NoError(b, err)
	require.Equal(b, 2, k)
	for i := range 2 {
		x.post(verbs.WorkRequest{Opcode: verbs.OpSend, SGList: []verbs.SGE{x.piece(0, 50+i)}})
		require.Equal(b, verbs.StatusSuccess, x.wait(1)[0].Status)
		r := y.wait(1)[0]
		require.EqualValues(b, 1+i, r.WRID)
		require.Equal(b, y.qp.QPN(), r.QPN)
	}
	require.ErrorIs(b, srq.Destroy(), verbs.ErrBusy)
})
