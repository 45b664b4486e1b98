package simnic

import (
	"testing"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/verbs"

	"github.com/stretchr/testify/require"
)

// tape turns the bytes of a fuzzer into choices.
type tape struct{ b []byte }

func (t *tape) byte() int {
	if len(t.b) == 0 {
		return 0
	}
	v := t.b[0]
	t.b = t.b[1:]
	return int(v)
}

func (t *tape) of(n int) int { return t.byte() % n }

// Whatever a program calls and whatever arrives, nothing panics, requests
// complete at most once and in order, and the counters of a queue pair hang
// together.
func FuzzQueuePair(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 0, 3, 5, 0, 10, 0, 4, 100})
	f.Add([]byte{1, 2, 1, 0, 4, 9, 3, 9, 2, 0, 4, 200, 5, 1, 2, 3, 4, 5, 6})
	f.Add([]byte{2, 1, 0, 0, 0, 0, 2, 0, 0, 4, 50, 3, 0, 6, 3, 1, 0, 4, 255})
	f.Add([]byte{0, 7, 0, 0, 4, 40, 0, 0, 5, 8, 1, 0, 6, 8, 6, 9, 9, 4, 90, 6, 20, 4, 4, 255})
	f.Fuzz(func(t *testing.T, b []byte) { fuzzQueuePair(t, &tape{b}) })
}

func fuzzQueuePair(t *testing.T, in *tape) {
	service := []verbs.Service{verbs.RC, verbs.RC, verbs.UC, verbs.UD}[in.of(4)]
	mode := in.byte()
	change := func(c *Config) {
		c.GoBack0 = mode&1 != 0
		if mode&2 != 0 {
			c.GoBack0 = false
			c.IRN = &IRN{BDP: 16 << 10, RTOLow: IRNTimeoutLow, RTOHigh: IRNTimeoutHigh, Few: IRNFew}
		}
		c.TimeoutPolicy = TimeoutPolicy(mode >> 2 & 3 % 3)
	}
	inLab(t, 2, change, func(l *lab) {
		d := &dialogue{lab: l}
		psn := []int{0, 1<<24 - 3, 1 << 23}[in.of(3)]
		d.connect(service.String(), func(k string, def int) int {
			switch k {
			case "psn_a", "psn_b":
				return psn
			case "cq":
				return 64
			}
			return def
		})
		x := &exercise{dialogue: d, in: in}
		l.wire.see = func(*packet.Packet) bool { return x.lose == 0 || x.in.of(8) >= x.lose }
		for steps := 0; len(in.b) > 0 && steps < 200; steps++ {
			x.step()
			x.check()
		}
		l.sleep(sim.Millisecond)
		x.check()
	})
}

// exercise is a fuzzed program with what it may rely on.
type exercise struct {
	*dialogue
	in   *tape
	lose int
	next uint64
	sent [2][]uint64 // ids posted and not completed, in order
	recv [2]map[uint64]bool
}

func (x *exercise) step() {
	i := x.in.of(2)
	p := &x.side[i]
	switch x.in.of(8) {
	case 0, 1:
		x.postRandom(i)
	case 2:
		x.next++
		if x.recv[i] == nil {
			x.recv[i] = map[uint64]bool{}
		}
		key := p.mr.LKey() + uint32(x.in.of(16)/15)
		if _, err := p.qp.PostRecv(verbs.RecvRequest{WRID: x.next, SGList: []verbs.SGE{{Addr: p.mr.Addr() + 40000, Length: uint32(x.in.byte() * 20), LKey: key}}}); err == nil {
			x.recv[i][x.next] = true
		}
	case 3:
		x.inject(i)
	case 4:
		x.sleep(sim.Duration(x.in.byte()) * sim.Microsecond)
		x.collect(i)
	case 5:
		x.lose = x.in.of(4)
	case 6:
		x.modifyRandom(i)
	case 7:
		x.sleep(sim.Duration(x.in.byte()) * sim.Nanosecond)
	}
}

func (x *exercise) postRandom(i int) {
	p, other := &x.side[i], &x.side[1-i]
	x.next++
	w := verbs.WorkRequest{WRID: x.next, Opcode: verbs.Opcode(x.in.of(11)), Signaled: true, Fence: x.in.of(4) == 0, RemoteAddr: other.mr.Addr() + uint64(x.in.byte()), RKey: other.mr.RKey(),
		InvalidateKey: uint32(x.in.byte()), SGList: []verbs.SGE{{Addr: p.mr.Addr(), Length: uint32(x.in.byte() * 40), LKey: p.mr.LKey() + uint32(x.in.of(16)/15)}}}
	if w.Opcode.IsLocal() {
		w.SGList = nil
		w.Bind = verbs.WindowBind{MW: p.mw, MR: p.mr, RKey: verbs.NextRKey(p.mw.RKey()), Addr: p.mr.Addr() + uint64(x.in.byte()), Length: uint64(x.in.byte()) * 300, Access: verbs.Access(x.in.of(16))}
		if x.in.of(2) == 0 {
			w.InvalidateKey = p.mw.RKey()
		}
	} else if x.in.of(8) == 0 {
		w.RKey, w.InvalidateKey = other.mw.RKey(), other.mw.RKey()
	}
	if w.Opcode.IsAtomic() {
		w.SGList[0].Length = 8
		w.RemoteAddr &^= 7
	}
	if p.qp.Service() == verbs.UD {
		gid, _ := other.ctx.QueryGID(1, 0)
		w.AH, _ = p.pd.CreateAH(verbs.AHAttr{DGID: gid, Port: 1})
		w.RemoteQPN, w.RemoteQKey = other.qp.QPN(), 0x1234
	}
	if _, err := p.qp.PostSend(w); err == nil {
		x.sent[i] = append(x.sent[i], x.next)
	}
}

// inject sends any packet at all.
func (x *exercise) inject(i int) {
	m := packet.Packet{Src: int32(i), Dst: int32(1 - i), SrcQP: x.side[i].qp.QPN(), DstQP: x.side[1-i].qp.QPN(), Size: 100, TTL: 64,
		Kind: packet.Kind(x.in.of(4)), Opcode: uint8(x.in.byte()), Flags: uint8(x.in.byte()), PSN: uint32(x.side[1-i].q().epsn+uint64(x.in.byte())-8) & psnMask,
		Ext: uint32(x.in.byte()) << (x.in.of(4) * 8), Payload: uint16(x.in.byte())}
	if x.in.of(2) == 0 {
		m.PSN = uint32(x.side[1-i].q().una+uint64(x.in.of(8))) & psnMask
	}
	if x.in.of(4) > 0 {
		m.Aux = x.nics[i].load(cargo{data: make([]byte, m.Payload), addr: x.side[1-i].mr.Addr(), rkey: x.side[1-i].mr.RKey(), qkey: 0x1234})
	}
	if x.in.of(16) == 0 {
		m.DstQP = uint32(x.in.byte()) << x.in.of(24)
	}
	x.wire.send(&m)
}

func (p *party) q() *qp { return p.qp.(*fullQP).q }

func (x *exercise) modifyRandom(i int) {
	p := &x.side[i]
	s := verbs.State(x.in.of(8))
	mask := verbs.AttrState
	if need, _, ok := verbs.Masks(p.qp.Service(), p.qp.State(), s); ok && x.in.of(4) > 0 {
		mask = need
	} else {
		mask |= verbs.AttrMask(x.in.byte()) << x.in.of(20)
	}
	gid, _ := x.side[1-i].ctx.QueryGID(1, 0)
	a := p.qp.Query()
	a.State, a.AH, a.DestQPN, a.Port, a.PathMTU = s, verbs.AHAttr{DGID: gid, Port: 1}, x.side[1-i].qp.QPN(), 1, verbs.MTU(x.in.of(7))
	before := p.qp.State()
	err := p.qp.Modify(a, mask)
	if err != nil {
		require.Equal(x.t, before, p.qp.State(), "an error changes nothing")
		return
	}
	if s == verbs.StateReset && mask&verbs.AttrState != 0 {
		x.sent[i], x.recv[i] = nil, nil
	}
}

// collect polls, and requires that completions are of what was posted, in order.
func (x *exercise) collect(i int) {
	wc := make([]verbs.WorkCompletion, 16)
	k, err := x.side[i].cq.Poll(wc)
	if err != nil {
		x.sent[i] = nil // after an overrun nothing is known any more
		return
	}
	for _, c := range wc[:k] {
		if c.Recv {
			require.True(x.t, x.recv[i][c.WRID], "receive %d completes once", c.WRID)
			delete(x.recv[i], c.WRID)
			continue
		}
		require.NotEmpty(x.t, x.sent[i])
		require.Equal(x.t, x.sent[i][0], c.WRID, "requests complete in order")
		x.sent[i] = x.sent[i][1:]
	}
}

// check holds the inner state of both queue pairs together.
func (x *exercise) check() {
	for i := range x.side {
		f := x.side[i].qp.(*fullQP)
		q := f.q
		require.LessOrEqual(x.t, q.una, q.nxt)
		require.LessOrEqual(x.t, q.nxt, q.end)
		require.LessOrEqual(x.t, q.sent, q.end)
		require.LessOrEqual(x.t, q.head, len(q.msgs))
		require.GreaterOrEqual(x.t, q.rd, 0)
		require.LessOrEqual(x.t, q.rd, int(q.maxRD))
		require.LessOrEqual(x.t, f.released, f.posted)
		require.LessOrEqual(x.t, f.posted-f.released, uint64(f.params.Capacity.SendWR))
		require.GreaterOrEqual(x.t, x.nics[i].outstanding, 0)
		started := 0
		for k := q.head; k < len(q.msgs); k++ {
			if q.msgs[k].started {
				started++
			}
		}
		require.Equal(x.t, started, q.rd)
	}
}
