package analysis

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/capture"
)

// conversation is a bit of everything: four READs posted at once before any
// path MTU is known, a WRITE with a loss, an atomic, a SEND, a mark and its CNP.
func conversation(s *story) {
	ok := func(msn uint32) func(*capture.Packet) {
		return func(p *capture.Packet) { p.Ext.AETH = capture.AETH{Syndrome: capture.SyndromeAck, MSN: msn} }
	}
	for i := range uint32(4) {
		s.packet(alice, bob, 7, capture.OpcodeReadRequest, 3*i, 0, func(p *capture.Packet) { p.Ext.RETH.Length = 2148 })
	}
	for i := range uint32(4) {
		s.packet(bob, alice, 9, 0x0d, 3*i, 1024, ok(i+1))
		s.packet(bob, alice, 9, 0x0e, 3*i+1, 1024)
		s.packet(bob, alice, 9, 0x0f, 3*i+2, 100, ok(i+1))
	}
	s.part(12, 0, 4)
	s.part(12, 2, 4)
	s.answer(capture.NakSequence, 13, 4)
	s.part(12, 1, 4)
	s.part(12, 2, 4)
	s.part(12, 3, 4)
	s.ack(15, 5)
	s.packet(alice, bob, 7, capture.OpcodeFetchAdd, 16, 0)
	s.packet(bob, alice, 9, capture.OpcodeAtomicAck, 16, 0, ok(6))
	s.packet(alice, bob, 7, capture.OpcodeRCSendOnly, 17, 300, func(p *capture.Packet) { p.ECN = capture.CE; p.BTH.AckReq = true })
	s.packet(bob, alice, 9, capture.OpcodeCNP, 0, 0)
	s.ack(17, 7)
}

// The same conversation is told by captures of any kind.
func TestOtherKindsOfCapture(t *testing.T) {
	cut := func(n int) func([]byte) ([]byte, int) {
		return func(b []byte) ([]byte, int) { return b[:min(n, len(b))], len(b) }
	}
	around := func(head string) func([]byte) ([]byte, int) {
		return func(b []byte) ([]byte, int) {
			n := 20 + len(head) + len(b)
			outer := append([]byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, byte(n >> 8), byte(n), 0, 0, 0, 0, 64, 47, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}, head...)
			outer = append(outer, b...)
			return outer, len(outer)
		}
	}
	plain := newStory(t)
	conversation(plain)
	want := plain.read(Options{})
	q := one(t, want)
	require.EqualValues(t, []uint64{7, 7, 4*2148 + 3*1024 + 100 + 8 + 300}, []uint64{q.Messages, q.Completed, q.Bytes})
	require.EqualValues(t, []uint64{11, 2, 1, 1, 2, 1, 12, 1}, []uint64{q.Sent, q.Again, q.Duplicates, q.Gaps, q.Acks, q.Naks, q.Responses, q.CNPs})
	require.Empty(t, broken(want))
	require.Empty(t, want.Notes)
	for name, c := range map[string]struct {
		change func([]byte) ([]byte, int)
		copies int
		note   string // "" = none
	}{
		"RETH cut off":     {change: cut(64), note: "without all of their headers"},
		"payload cut off":  {change: cut(96), note: "without their end"},
		"ERSPAN II":        {change: around("\x10\x00\x88\xbe\x00\x00\x00\x05\x10\x00\x00\x01\x00\x00\x00\x00")},
		"mirrored twice":   {copies: 1, note: "were left out"},
		"addresses hidden": {change: func(b []byte) ([]byte, int) { b[26] ^= 0x55; b[30] ^= 0x55; return b, len(b) }, note: "the capture was rewritten"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			s.change, s.copies = c.change, c.copies
			conversation(s)
			sum := s.read(Options{SkipCopies: c.copies > 0})
			got := one(t, sum)
			got.Src, got.Dst = q.Src, q.Dst
			if name == "RETH cut off" { // a READ of unknown length cannot be timed by its last response
				got.RTT = q.RTT
			}
			assert.Equal(t, q, got)
			assert.Equal(t, want.Answers, sum.Answers)
			rules := broken(sum)
			delete(rules, "ICRC")
			assert.Empty(t, rules)
			if c.note == "" {
				assert.Empty(t, sum.Notes)
				return
			}
			found := false
			for _, n := range sum.Notes {
				found = found || strings.Contains(n, c.note)
			}
			assert.True(t, found, "%q in %q", c.note, sum.Notes)
		})
	}
	// Without the option, copies are said and counted as what they look like.
	s := newStory(t)
	s.copies = 1
	conversation(s)
	sum := s.read(Options{})
	assert.EqualValues(t, 2*q.Sent, one(t, sum).Sent)
	require.NotEmpty(t, sum.Notes)
	assert.Contains(t, sum.Notes[0], "--skip-copies")
}

// A capture of a few packets of which no ICRC holds is followed at its end.
func TestFewPacketsThatWereRewritten(t *testing.T) {
	s := newStory(t)
	s.change = func(b []byte) ([]byte, int) { b[30] ^= 0x55; b[26] ^= 0x55; return b, len(b) }
	s.write(0, 2)
	s.ack(1, 1)
	sum := s.read(Options{})
	assert.EqualValues(t, 1, one(t, sum).Completed)
	assert.EqualValues(t, ICRC{Invalid: 3}, sum.ICRC)
	assert.InDelta(t, 2e-6, sum.Duration, 1e-9)
	s = newStory(t)
	s.change = func(b []byte) ([]byte, int) { b[30] ^= 0x55; return b, len(b) }
	s.write(0, 1)
	assert.EqualValues(t, 1, one(t, s.read(Options{})).Sent, "a single packet")
}

// A single wrong ICRC among others that hold is thrown away, the first packet or not.
func TestWrongICRCAtTheBeginning(t *testing.T) {
	s := newStory(t)
	n := 0
	s.change = func(b []byte) ([]byte, int) {
		if n++; n == 1 {
			b[len(b)-1] ^= 1
		}
		return b, len(b)
	}
	s.write(0, 1)
	s.write(0, 2)
	s.ack(1, 1)
	sum := s.read(Options{})
	assert.EqualValues(t, 2, one(t, sum).Sent)
	assert.EqualValues(t, ICRC{Valid: 3, Invalid: 1}, sum.ICRC)
	assert.Equal(t, map[string]uint64{"ICRC": 1}, broken(sum))
}

// CNPs at the sender's own port, where no mark can be seen, break no rule.
func TestCNPsInFrontOfTheMarkingSwitch(t *testing.T) {
	s := newStory(t)
	s.write(0, 2)
	s.ack(1, 1)
	s.packet(bob, alice, 9, capture.OpcodeCNP, 0, 0)
	sum := s.read(Options{})
	assert.Empty(t, broken(sum))
	require.Len(t, sum.Notes, 1)
	assert.Contains(t, sum.Notes[0], "1 CNPs came for packets that were not seen marked")
}
