package analysis

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/capture"
	"rdmasim/sim"
)

// The words of stories: alice asks queue pair 7 of bob, who answers to hers, 9.
const (
	writeFirst, writeMiddle, writeLast = capture.Opcode(0x06), capture.Opcode(0x07), capture.Opcode(0x08)
	mtu                                = 1024
)

func (s *story) write(psn uint32, packets int) {
	for i := range packets {
		s.part(psn, i, packets)
	}
}

// part writes one packet of a WRITE.
func (s *story) part(psn uint32, i, packets int) {
	op, size := writeMiddle, mtu
	switch {
	case packets == 1:
		op = capture.OpcodeRCWriteOnly
	case i == 0:
		op = writeFirst
	case i == packets-1:
		op, size = writeLast, 100
	}
	s.packet(alice, bob, 7, op, psn+uint32(i), size, func(p *capture.Packet) {
		p.Ext.RETH.Length = uint32((packets-1)*mtu + 100)
		p.BTH.AckReq = i == packets-1
	})
}

func (s *story) answer(y capture.Syndrome, psn, msn uint32) {
	s.packet(bob, alice, 9, capture.OpcodeAck, psn, 0, func(p *capture.Packet) { p.Ext.AETH = capture.AETH{Syndrome: y, MSN: msn} })
}

func (s *story) ack(psn, msn uint32) { s.answer(capture.SyndromeAck, psn, msn) }

// one returns the only requester of a story.
func one(t *testing.T, sum *Summary) QP {
	t.Helper()
	require.Len(t, sum.QPs, 1)
	return sum.QPs[0]
}

// broken returns how often each rule was broken.
func broken(sum *Summary) map[string]uint64 {
	m := map[string]uint64{}
	for _, c := range sum.Checks {
		if c.Violations > 0 {
			m[c.Name] = c.Violations
		}
	}
	return m
}

// READ of 10 000 B at MTU 1024 between two WRITEs: PSNs 0, 1..10, 11, also
// across the wrap of 24 bits.
func TestReadTakesAPSNForEveryResponse(t *testing.T) {
	for _, start := range []uint32{0, 1<<24 - 5, 1<<24 - 1} {
		s := newStory(t)
		s.packet(alice, bob, 7, capture.OpcodeRCWriteOnly, start, 8)
		s.packet(alice, bob, 7, capture.OpcodeReadRequest, start+1, 0, func(p *capture.Packet) { p.Ext.RETH.Length = 10_000 })
		s.packet(alice, bob, 7, capture.OpcodeRCWriteOnly, start+11, 8, func(p *capture.Packet) { p.BTH.AckReq = true })
		s.ack(start, 1)
		for i := range uint32(10) {
			op, size := capture.Opcode(0x0e), 1024
			switch i {
			case 0:
				op = 0x0d
			case 9:
				op, size = 0x0f, 10_000-9*1024
			}
			s.packet(bob, alice, 9, op, start+1+i, size, func(p *capture.Packet) { p.Ext.AETH = capture.AETH{Syndrome: capture.SyndromeAck, MSN: 2} })
		}
		s.ack(start+11, 3)
		sum := s.read(Options{})
		q := one(t, sum)
		assert.Equal(t, map[string]uint64{"WRITE": 2, "READ": 1}, q.Operations)
		assert.EqualValues(t, 3, q.Completed)
		assert.EqualValues(t, 10_016, q.Bytes)
		assert.EqualValues(t, 10, q.Responses)
		assert.Zero(t, q.Gaps)
		assert.Zero(t, q.Again)
		assert.Empty(t, broken(sum))
	}
}

func TestAtomicsAndImmediates(t *testing.T) {
	s := newStory(t)
	s.packet(alice, bob, 7, capture.OpcodeFetchAdd, 10, 0)
	s.packet(bob, alice, 9, capture.OpcodeAtomicAck, 10, 0, func(p *capture.Packet) { p.Ext.AETH = capture.AETH{Syndrome: capture.SyndromeAck, MSN: 1} })
	s.packet(alice, bob, 7, 0x0b, 11, 50) // WRITE with immediate
	s.ack(11, 2)
	q := one(t, s.read(Options{}))
	assert.Equal(t, map[string]uint64{"FETCH_ADD": 1, "WRITE": 1}, q.Operations)
	assert.EqualValues(t, 2, q.Completed)
	assert.EqualValues(t, 58, q.Bytes)
}

// A packet is lost in front of the capture, and the whole of go-back-N follows.
func TestLossInFrontOfTheCapture(t *testing.T) {
	s := newStory(t)
	s.part(0xfffffe, 0, 6)
	s.part(0xfffffe, 2, 6) // 1 is lost
	s.answer(capture.NakSequence, 0xffffff, 0)
	s.part(0xfffffe, 3, 6) // was on its way
	for i := 1; i < 6; i++ {
		s.part(0xfffffe, i, 6)
	}
	s.ack(3, 1)
	sum := s.read(Options{})
	q := one(t, sum)
	assert.EqualValues(t, []uint64{8, 3, 2, 1, 1, 1, 0}, []uint64{q.Sent, q.Again, q.Duplicates, q.Late, q.Gaps, q.Missing, q.NeverSeen}, "%+v", q)
	assert.EqualValues(t, 1, q.ByNak)
	assert.EqualValues(t, 1, q.Naks)
	assert.EqualValues(t, 2, q.Discarded)
	assert.EqualValues(t, 5*mtu+100, q.Bytes)
	assert.Empty(t, broken(sum))
}

// The first packet of a message is lost and comes later.
func TestFirstPacketComesLate(t *testing.T) {
	s := newStory(t)
	s.write(0, 3)
	s.ack(2, 1)
	s.part(3, 1, 3)
	s.answer(capture.NakSequence, 3, 1)
	s.part(3, 2, 3)
	s.write(3, 3)
	s.ack(5, 2)
	sum := s.read(Options{})
	q := one(t, sum)
	assert.EqualValues(t, 2, q.Completed)
	assert.EqualValues(t, 2, q.Messages)
	assert.EqualValues(t, 2*(2*mtu+100), q.Bytes)
	assert.Zero(t, q.Partial)
	assert.Empty(t, broken(sum))
}

// Every rule can be broken.
func TestRules(t *testing.T) {
	for name, tell := range map[string]func(s *story){
		"go-back-N sender": func(s *story) {
			s.write(0, 5)
			s.answer(capture.NakSequence, 1, 0)
			s.part(0, 3, 5)
			s.part(0, 4, 5)
		},
		"NAK names what is missing": func(s *story) {
			s.part(0, 0, 6)
			s.part(0, 2, 6)
			s.answer(capture.NakSequence, 2, 0)
		},
		"one NAK per episode": func(s *story) {
			s.part(0, 0, 6)
			s.part(0, 2, 6)
			s.answer(capture.NakSequence, 1, 0)
			s.part(0, 3, 6)
			s.answer(capture.NakSequence, 1, 0)
		},
		"a gap is answered": func(s *story) {
			s.part(0, 0, 4)
			s.part(0, 2, 4)
			s.part(0, 3, 4)
			s.at = s.at.Add(20 * sim.Millisecond)
			for i := 1; i < 4; i++ {
				s.part(0, i, 4)
			}
			s.ack(3, 1)
		},
		"ACK of what came": func(s *story) {
			s.part(0, 0, 4)
			s.part(0, 2, 4)
			s.ack(2, 0)
		},
		"MSN counts up": func(s *story) {
			s.write(0, 2)
			s.ack(1, 5)
			s.write(2, 2)
			s.ack(3, 4)
		},
		"CNP has a reason": func(s *story) {
			s.write(0, 2)
			s.ack(1, 1)
			s.packet(bob, alice, 9, capture.OpcodeCNP, 0, 0)
			// Something else of the same host shows that marks can be seen here.
			s.packet(alice, bob, 11, capture.OpcodeRCWriteOnly, 0, 8, func(p *capture.Packet) { p.ECN = capture.CE })
		},
		"CNP interval": func(s *story) {
			mark := func(p *capture.Packet) { p.ECN = capture.CE }
			s.packet(alice, bob, 7, capture.OpcodeRCWriteOnly, 0, 8, mark)
			s.packet(alice, bob, 7, capture.OpcodeRCWriteOnly, 1, 8, mark)
			s.ack(1, 2)
			s.packet(bob, alice, 9, capture.OpcodeCNP, 0, 0)
			s.packet(bob, alice, 9, capture.OpcodeCNP, 0, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			tell(s)
			assert.Equal(t, map[string]uint64{name: 1}, broken(s.read(Options{CNPInterval: 4 * sim.Microsecond})))
		})
	}
}

func TestTimeoutIsInferred(t *testing.T) {
	s := newStory(t)
	s.write(0, 2)
	s.ack(1, 1)
	s.write(2, 2)
	s.at = s.at.Add(70 * sim.Millisecond)
	s.write(2, 2)
	s.ack(3, 2)
	q := one(t, s.read(Options{}))
	assert.EqualValues(t, 1, q.ByTimeout)
	assert.EqualValues(t, 2, q.Again)
	require.NotNil(t, q.RTT)
	assert.EqualValues(t, 1, q.RTT.Count, "the second message was sent twice: its ACK times nothing")
	assert.InDelta(t, 1e-6, q.RTT.Min, 1e-12)
}

func TestNakThatEndsARequest(t *testing.T) {
	s := newStory(t)
	s.write(0, 2)
	s.answer(capture.NakRemoteAccess, 0, 0)
	sum := s.read(Options{})
	q := one(t, sum)
	assert.EqualValues(t, 1, q.OtherNaks)
	assert.EqualValues(t, []uint64{1, 0}, []uint64{q.Messages, q.Completed})
}

// A capture that begins in the middle, of one direction, with a message that is
// never finished.
func TestMiddleOfAConversation(t *testing.T) {
	s := newStory(t)
	for i := 5; i < 9; i++ {
		s.part(1000, i, 9)
	}
	s.write(1009, 3)
	sum := s.read(Options{})
	q := one(t, sum)
	assert.Nil(t, q.SrcQPN)
	assert.EqualValues(t, []uint64{2, 0, 7, 0}, []uint64{q.Messages, q.Completed, q.Sent, q.Gaps})
	assert.Contains(t, fmt.Sprint(sum.Notes), "of 1 requesters no answers were captured")
}

// The same number, another connection: PSNs that have nothing to do with those
// before.
func TestQueuePairNumberIsUsedAgain(t *testing.T) {
	s := newStory(t)
	s.write(100, 3)
	s.ack(102, 1)
	s.write(9_000_000, 3)
	s.ack(9_000_002, 1)
	q := one(t, s.read(Options{}))
	assert.EqualValues(t, []uint64{2, 2, 0, 0}, []uint64{q.Messages, q.Completed, q.Gaps, q.Again})
}

func TestUnreliableConnectionLosesAMessage(t *testing.T) {
	s := newStory(t)
	s.packet(alice, bob, 7, 0x20, 0, mtu)
	s.packet(alice, bob, 7, 0x22, 1, 10)
	s.packet(alice, bob, 7, 0x20, 2, mtu) // its last packet is lost
	s.packet(alice, bob, 7, 0x20, 4, mtu)
	s.packet(alice, bob, 7, 0x22, 5, 10)
	s.packet(alice, bob, 8, capture.OpcodeUDSendOnly, 0, 10)
	sum := s.read(Options{})
	require.Len(t, sum.QPs, 2)
	q := sum.QPs[0]
	assert.Equal(t, "UC", q.Service)
	assert.EqualValues(t, []uint64{3, 2, 1}, []uint64{q.Messages, q.Completed, q.Gaps})
	assert.Equal(t, "UD", sum.QPs[1].Service)
	assert.EqualValues(t, 1, sum.QPs[1].Completed)
}

// Frames that are no RDMA, in every guise, disturb nothing.
func TestWhatElseIsInACapture(t *testing.T) {
	s := newStory(t)
	raw := func(b []byte, original int) {
		s.at = s.at.Add(sim.Microsecond)
		require.NoError(t, s.w.Packet(s.at, &capture.Record{Data: b, Original: max(original, len(b))}))
	}
	build := func(change func(p *capture.Packet)) []byte {
		p := capture.Packet{Src: alice, Dst: bob, TTL: 1, Zero: true, BTH: capture.BTH{Opcode: 4, DestQP: 77}, Payload: 64}
		change(&p)
		b, err := p.Append(nil)
		require.NoError(t, err)
		return b
	}
	s.write(0, 2)
	raw(nil, 64)
	raw([]byte{1, 2, 3}, 3)
	raw(build(func(p *capture.Packet) { p.DstPort = 53 }), 0)
	fragment := build(func(*capture.Packet) {})
	binary.BigEndian.PutUint16(fragment[20:], 0x2000)
	raw(fragment, 0)
	later := append([]byte(nil), fragment...)
	binary.BigEndian.PutUint16(later[20:], 100)
	raw(later, 0)
	cut := build(func(p *capture.Packet) { p.BTH.DestQP = 7; p.BTH.PSN = 2 })
	raw(cut[:54], len(cut)) // headers alone
	bad := build(func(p *capture.Packet) { p.BTH.DestQP = 7; p.BTH.PSN = 3 })
	bad[70] ^= 1
	raw(bad, 0)
	short := build(func(*capture.Packet) {})
	binary.BigEndian.PutUint16(short[38:], 12) // UDP says 4 bytes of payload
	raw(short, 0)
	stack := build(func(p *capture.Packet) { p.VLAN = &capture.VLAN{ID: 1}; p.BTH.DestQP = 7; p.BTH.PSN = 3 })
	stack = append(append(append([]byte(nil), stack[:12]...), 0x88, 0xa8, 0, 5), stack[12:]...)
	raw(stack, 0)
	s.at = s.at.Add(-5 * sim.Microsecond)
	s.ack(1, 1)
	sum := s.read(Options{})
	f := sum.Frames
	assert.EqualValues(t, []uint64{12, 3, 2, 1, 2}, []uint64{f.Total, f.Other, f.Fragments, f.Malformed, f.Truncated}, "%+v", f)
	assert.EqualValues(t, ICRC{Valid: 4, Invalid: 1, Absent: 1}, sum.ICRC)
	assert.EqualValues(t, 1, f.OutOfOrder)
	assert.Equal(t, map[string]uint64{"ICRC": 1}, broken(sum))
	q := sum.QPs[0]
	assert.EqualValues(t, []uint64{4, 0}, []uint64{q.Sent, q.Gaps}, "the truncated and the tagged one count, the damaged one does not")
	assert.GreaterOrEqual(t, q.Completed, uint64(1))
}

func TestPausesOfEveryKind(t *testing.T) {
	s := newStory(t)
	s.write(0, 1)
	pause := func(p capture.Pause, after sim.Duration) {
		s.at = s.at.Add(after)
		b := capture.AppendPause(nil, [6]byte{2, 2}, &p)
		require.NoError(t, s.w.Packet(s.at, &capture.Record{Data: b, Original: len(b)}))
	}
	xoff := capture.Pause{Priority: true, Classes: 1 << 3, Quanta: [8]uint16{3: 1000}} // 1000 quanta at 100 Gb/s: 5.12 us
	xon := capture.Pause{Priority: true, Classes: 1 << 3}
	pause(xoff, 0)
	pause(xoff, 2*sim.Microsecond) // a refresh
	pause(xon, 3*sim.Microsecond)  // 5 us
	pause(xoff, sim.Microsecond)   // runs out after 5.12 us
	pause(capture.Pause{Quanta: [8]uint16{100}}, 10*sim.Microsecond)
	pause(capture.Pause{}, 200*sim.Nanosecond)
	sum := s.read(Options{Rate: 100 * sim.Gbps})
	require.Len(t, sum.Pauses, 2)
	all, three := sum.Pauses[0], sum.Pauses[1]
	assert.Equal(t, -1, all.Priority)
	assert.InDelta(t, 200e-9, *all.Paused, 1e-12)
	assert.EqualValues(t, []uint64{2, 1, 1, 2}, []uint64{three.Xoff, three.Refresh, three.Xon, three.Episodes})
	assert.InDelta(t, 10.12e-6, *three.Paused, 1e-12)
	assert.InDelta(t, 5.12e-6, *three.Longest, 1e-12)

	sum = read(t, Options{}, s.b.Bytes())
	assert.Nil(t, sum.Pauses[1].Paused, "without a rate the last one has no end")
	assert.Contains(t, fmt.Sprint(sum.Notes), "give --rate")
}

// Two captures of the two ends are one story: what the second one misses was
// lost between them.
func TestBothEndsOfAPath(t *testing.T) {
	s := newStory(t)
	require.NoError(t, s.w.Interface(capture.Interface{Name: "eth1", Link: capture.LinkEthernet}))
	send := func(ifaces []int, op capture.Opcode, psn uint32, answer bool) {
		p := capture.Packet{Src: alice, Dst: bob, TTL: 64, SrcPort: 5, Payload: mtu, Zero: true, BTH: capture.BTH{Opcode: op, DestQP: 7, PSN: psn}}
		if answer {
			p.Src, p.Dst, p.Payload, p.BTH.DestQP = bob, alice, 0, 9
			p.Ext.AETH.Syndrome = capture.SyndromeAck
			if psn == 1 {
				p.Ext.AETH.Syndrome = capture.NakSequence
			}
		}
		b, err := p.Append(nil)
		require.NoError(t, err)
		for _, i := range ifaces {
			s.at = s.at.Add(sim.Microsecond)
			require.NoError(t, s.w.Packet(s.at, &capture.Record{Interface: i, Data: b, Original: len(b)}))
		}
	}
	send([]int{0, 1}, writeFirst, 0, false)
	send([]int{0}, writeMiddle, 1, false) // lost on its way
	send([]int{0, 1}, writeMiddle, 2, false)
	send([]int{1, 0}, capture.OpcodeAck, 1, true) // NAK
	send([]int{0, 1}, writeMiddle, 1, false)
	send([]int{0, 1}, writeMiddle, 2, false)
	send([]int{0, 1}, writeLast, 3, false)
	send([]int{1, 0}, capture.OpcodeAck, 3, true)
	sum := s.read(Options{})
	q := one(t, sum)
	assert.EqualValues(t, []uint64{6, 5, 2, 1, 1}, []uint64{q.Sent, q.Arrived, q.Again, q.Gaps, q.Missing}, "%+v", q)
	assert.EqualValues(t, 1, q.Discarded)
	assert.EqualValues(t, 1, q.Completed)
	require.NotNil(t, q.RTT)
	assert.InDelta(t, 3e-6, q.RTT.Max, 1e-12, "from its first interface and back to it")
	assert.Empty(t, broken(sum))
}
