package simnic

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// Settings over which random programs run: every value of each comes up.
type settings struct {
	mtu        sim.Bytes
	psn        uint32
	depth      int
	ackEvery   int
	rd, dest   int
	timeout    int
	rnrTimer   int
	loss       int // of 100 packets, each way
	srq        bool
	recovery   string
	policy     TimeoutPolicy
	relaxed    bool // ACKs have a priority of their own
	late       bool // receives come after the SENDs
	unsignaled bool
}

func randomSettings(r *rand.Rand) settings {
	s := settings{mtu: 128 << (1 + r.IntN(5)), psn: []uint32{0, 1, 1<<24 - 1, 1<<24 - 20, 1 << 23, 0x7ffff8, 12345}[r.IntN(7)], depth: []int{1, 2, 3, 16, 64}[r.IntN(5)],
		ackEvery: []int{1, 2, 7, 1000}[r.IntN(4)], timeout: 4 + r.IntN(3), rnrTimer: 1 + r.IntN(4), loss: []int{0, 0, 1, 5, 15}[r.IntN(5)], srq: r.IntN(3) == 0,
		recovery: []string{"go_back_n", "selective_repeat", "go_back_0"}[r.IntN(3)], policy: TimeoutPolicy(r.IntN(3)), relaxed: r.IntN(4) == 0, late: r.IntN(3) == 0, unsignaled: r.IntN(2) == 0}
	s.dest = 1 + r.IntN(16)
	s.rd = 1 + r.IntN(s.dest)
	if s.recovery == "go_back_0" && s.loss > 1 { // long messages never arrive otherwise
		s.loss = 1
	}
	return s
}

func (s *settings) apply(c *Config) {
	c.Sizes, c.AckEvery, c.TimeoutPolicy, c.GoBack0 = RoCEv2(int(s.mtu), "none"), s.ackEvery, s.policy, s.recovery == "go_back_0"
	if s.recovery == "selective_repeat" {
		c.IRN = &IRN{BDP: 64 << 10, RTOLow: IRNTimeoutLow, RTOHigh: IRNTimeoutHigh, Few: IRNFew}
	}
	if s.relaxed {
		c.AckPriority = 5
	}
}

// Whatever the path MTU, the PSN to begin with, the queues, the timers and the
// losses: memory is as if each request had been carried out once and in order,
// which is what a slow and obvious twin does, and everything completes in order.
func TestRandomProgramsAgainstATwin(t *testing.T) {
	seeds := 150
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		s := randomSettings(r)
		t.Run(fmt.Sprintf("%d %+v", seed, s), func(t *testing.T) {
			inLab(t, 2, s.apply, func(l *lab) { runTwin(l, r, &s) })
		})
	}
}

// twin is the memory of the responder as it has to be.
type twin struct {
	memory []byte
	want   map[uint64][]byte // of READs and atomics, by request
	recv   []verbs.WorkCompletion
}

const (
	twinWrites  = 0     // what WRITEs and atomics change
	twinReads   = 16384 // what READs read: nothing changes it
	twinSends   = 32768
	twinResults = 32768 // at the requester
	twinSlot    = 1024
)

func runTwin(l *lab, r *rand.Rand, s *settings) {
	d := &dialogue{lab: l}
	d.connect("RC", func(k string, def int) int {
		switch k {
		case "mtu_a", "mtu_b":
			return int(s.mtu)
		case "psn_a", "psn_b":
			return int(s.psn)
		case "depth":
			return s.depth
		case "rd":
			return s.rd
		case "dest":
			return s.dest
		case "timeout":
			return s.timeout
		case "retry", "rnr":
			return 7
		case "rnr_timer":
			return s.rnrTimer
		case "srq":
			if s.srq {
				return 64
			}
		}
		return def
	})
	l.wire.see = func(*packet.Packet) bool { return r.IntN(100) >= s.loss }
	a, b := &d.side[0], &d.side[1]
	for i := range b.mr.Bytes() {
		a.mr.Bytes()[i], b.mr.Bytes()[i] = byte(r.IntN(256)), byte(r.IntN(256))
	}
	w := &twin{memory: append([]byte(nil), b.mr.Bytes()...), want: map[uint64][]byte{}}
	const requests = 30
	var list []verbs.WorkRequest
	for id := range uint64(requests) {
		list = append(list, w.request(r, s, id, a, b))
	}
	receives := len(w.recv)
	for !s.late && receives > 0 && postReceive(l.t, b, r) {
		receives--
	}
	next, done, got := 0, 0, 0
	for round := 0; done < requests || got < len(w.recv); round++ {
		require.Less(l.t, round, 200_000, "%d of %d done, %d of %d received: %+v", done, requests, got, len(w.recv), s)
		for next < requests {
			if _, err := a.qp.PostSend(list[next]); err != nil {
				require.ErrorIs(l.t, err, verbs.ErrNoMemory)
				break
			}
			next++
		}
		if receives > 0 && round%3 == 0 && postReceive(l.t, b, r) {
			receives--
		}
		l.sleep(2 * sim.Microsecond)
		done = finished(l.t, a, list, done)
		got += w.arrived(l.t, b, got)
	}
	require.Equal(l.t, w.memory[:twinSends], b.mr.Bytes()[:twinSends], "%+v", s)
	for id, want := range w.want {
		at := twinResults + int(id)*twinSlot
		require.Equal(l.t, want, a.mr.Bytes()[at:at+len(want)], "request %d (%v): %+v", id, list[id].Opcode, s)
	}
	require.Equal(l.t, verbs.StateRTS, a.qp.State())
	require.Equal(l.t, verbs.StateRTS, b.qp.State())
}

// request makes a request and does what it does to the twin.
func (w *twin) request(r *rand.Rand, s *settings, id uint64, a, b *party) verbs.WorkRequest {
	op := verbs.Opcode(r.IntN(8))
	length := []int{0, 1, 3, int(s.mtu) - 1, int(s.mtu), int(s.mtu) + 1, 2 * int(s.mtu), 5000, r.IntN(9000)}[r.IntN(9)]
	from := r.IntN(16384 - length)
	wr := verbs.WorkRequest{WRID: id, Opcode: op, Signaled: !s.unsignaled || s.depth < 3 || id%2 == 1 || id == 29, Fence: r.IntN(5) == 0, Imm: r.Uint32(), RKey: b.mr.RKey(), InvalidateKey: 0xffffff00}
	at := twinWrites + r.IntN(16384-length)
	switch {
	case op.IsAtomic():
		at = twinWrites + r.IntN(2000)*8
		old := binary.LittleEndian.Uint64(w.memory[at:])
		wr.CompareAdd, wr.Swap = r.Uint64(), r.Uint64()
		if r.IntN(2) == 0 {
			wr.CompareAdd = old
		}
		w.want[id] = binary.LittleEndian.AppendUint64(nil, old)
		switch {
		case op == verbs.OpFetchAdd:
			binary.LittleEndian.PutUint64(w.memory[at:], old+wr.CompareAdd)
		case old == wr.CompareAdd:
			binary.LittleEndian.PutUint64(w.memory[at:], wr.Swap)
		}
		length, from = 8, twinResults+int(id)*twinSlot
	case op == verbs.OpRead:
		length = min(length, twinSlot)
		at, from = twinReads+r.IntN(16384-length), twinResults+int(id)*twinSlot
		w.want[id] = append([]byte{}, w.memory[at:at+length]...)
	case op.IsWrite():
		copy(w.memory[at:], a.mr.Bytes()[from:from+length])
	}
	if op.Receives() {
		w.recv = append(w.recv, verbs.WorkCompletion{Opcode: op, Length: sim.Bytes(length), Imm: wr.Imm})
	}
	wr.RemoteAddr = b.mr.Addr() + uint64(at)
	cut := 0
	if length > 0 && r.IntN(2) == 0 && !op.IsAtomic() { // two pieces, one of them perhaps empty
		cut = r.IntN(length + 1)
		wr.SGList = append(wr.SGList, verbs.SGE{Addr: a.mr.Addr() + uint64(from), Length: uint32(cut), LKey: a.mr.LKey()})
	}
	wr.SGList = append(wr.SGList, verbs.SGE{Addr: a.mr.Addr() + uint64(from+cut), Length: uint32(length - cut), LKey: a.mr.LKey()})
	wr.Inline = length <= 64 && (op.IsSend() || op.IsWrite()) && r.IntN(2) == 0
	return wr
}

// postReceive posts a receive; false where the queue is full.
func postReceive(t testing.TB, p *party, r *rand.Rand) bool {
	v := verbs.RecvRequest{SGList: []verbs.SGE{{Addr: p.mr.Addr() + twinSends, Length: uint32(1 + r.IntN(100)), LKey: p.mr.LKey()}}}
	v.SGList = append(v.SGList, verbs.SGE{Addr: p.mr.Addr() + twinSends + 100, Length: 10_000, LKey: p.mr.LKey()})
	if p.srq != nil { // has one piece per receive
		v.SGList = v.SGList[1:]
		_, err := p.srq.PostRecv(v)
		require.NoError(t, err)
		return true
	}
	_, err := p.qp.PostRecv(v)
	if err != nil {
		require.ErrorIs(t, err, verbs.ErrNoMemory)
	}
	return err == nil
}

// finished takes completions: signalled ones, in the order of posting.
func finished(t testing.TB, p *party, list []verbs.WorkRequest, done int) int {
	var wc [8]verbs.WorkCompletion
	k, err := p.cq.Poll(wc[:])
	require.NoError(t, err)
	for _, c := range wc[:k] {
		require.Equal(t, verbs.StatusSuccess, c.Status, "%+v", c)
		for !list[done].Signaled {
			done++
		}
		require.Equal(t, list[done].WRID, c.WRID)
		require.Equal(t, list[done].Opcode, c.Opcode)
		done++
	}
	return done
}

// arrived takes completions of receives, in the order of the messages.
func (w *twin) arrived(t testing.TB, p *party, got int) int {
	var wc [8]verbs.WorkCompletion
	k, err := p.cq.Poll(wc[:])
	require.NoError(t, err)
	for i, c := range wc[:k] {
		want := w.recv[got+i]
		require.Equal(t, verbs.StatusSuccess, c.Status, "%+v", c)
		require.True(t, c.Recv)
		require.Equal(t, want.Opcode, c.Opcode)
		require.Equal(t, want.Length, c.Length)
		if want.Opcode.HasImm() {
			require.Equal(t, want.Imm, c.Imm)
		}
	}
	return k
}
