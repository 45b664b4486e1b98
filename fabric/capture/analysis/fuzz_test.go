package analysis

import (
	"bytes"
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/capture"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// story writes a capture of a few packets.
type story struct {
	change func(frame []byte) (captured []byte, whole int) // what the capture makes of a frame
	copies int                                             // of every frame
	t      testing.TB
	w      *capture.Writer
	b      bytes.Buffer
	at     sim.Time
}

func newStory(t testing.TB) *story {
	s := &story{t: t}
	var err error
	s.w, err = capture.NewWriter(&s.b, "a test", 0)
	require.NoError(t, err)
	require.NoError(t, s.w.Interface(capture.Interface{Name: "eth0", Link: capture.LinkEthernet}))
	return s
}

var (
	alice = netip.MustParseAddr("10.0.0.1")
	bob   = netip.MustParseAddr("10.0.0.2")
)

// packet writes a packet one microsecond after the one before.
func (s *story) packet(from, to netip.Addr, qp uint32, op capture.Opcode, psn uint32, payload int, change ...func(*capture.Packet)) {
	p := capture.Packet{Src: from, Dst: to, TTL: 64, SrcPort: 0xc000, Payload: payload, Zero: true, ECN: capture.ECT0,
		BTH: capture.BTH{Opcode: op, DestQP: qp, PSN: psn & capture.Mask24, PKey: capture.DefaultPKey}}
	p.Ext.RETH.Length = uint32(payload)
	for _, f := range change {
		f(&p)
	}
	b, err := p.Append(nil)
	require.NoError(s.t, err)
	s.at = s.at.Add(sim.Microsecond)
	whole := len(b)
	if s.change != nil {
		b, whole = s.change(b)
	}
	for range 1 + s.copies {
		require.NoError(s.t, s.w.Packet(s.at, &capture.Record{Data: b, Original: whole}))
	}
}

// read analyses the story.
func (s *story) read(o Options) *Summary {
	require.NoError(s.t, s.w.Flush())
	return read(s.t, o, s.b.Bytes())
}

func read(t testing.TB, o Options, data []byte) *Summary {
	m, err := capture.Merge([]capture.Source{{Name: "story", In: bytes.NewReader(data)}})
	require.NoError(t, err)
	sum, _, err := Run(context.Background(), m, RunConfig{Options: o, Dir: filepath.Join(t.TempDir(), "run"), Name: "story"})
	require.NoError(t, err)
	return sum
}

// What comes before nonsense is read.
func TestCaptureThatBreaksOff(t *testing.T) {
	s := newStory(t)
	s.packet(alice, bob, 7, capture.OpcodeRCWriteOnly, 0, 100)
	s.packet(alice, bob, 7, capture.OpcodeRCWriteOnly, 1, 100)
	require.NoError(t, s.w.Flush())
	good := s.b.Len()
	for _, tail := range []string{"\x06\x00\x00\x00\xff\xff\xff\xff", "\x06\x00\x00\x00\x20\x00"} {
		sum := read(t, Options{}, append(bytes.Clone(s.b.Bytes()[:good]), tail...))
		assert.EqualValues(t, 2, sum.Frames.Total)
		assert.NotEmpty(t, sum.Notes)
	}
}

// Whatever the capture, it is analysed without a panic.
func FuzzAnalyse(f *testing.F) {
	s := newStory(f)
	for i := range uint32(3) {
		s.packet(alice, bob, 7, capture.OpcodeRCWriteOnly, 0xffffff+i, 100)
		s.packet(bob, alice, 9, capture.OpcodeAck, 0xffffff+i, 0, func(p *capture.Packet) { p.Ext.AETH.Syndrome = capture.SyndromeAck })
		s.packet(bob, alice, 9, capture.OpcodeAck, i, 0, func(p *capture.Packet) { p.Ext.AETH.Syndrome = capture.NakSequence })
		s.packet(alice, bob, 7, capture.OpcodeReadRequest, 2+i, 0, func(p *capture.Packet) { p.Ext.RETH.Length = 1 << 31 })
		s.packet(bob, alice, 9, capture.OpcodeCNP, 0, 0)
	}
	require.NoError(f, s.w.Flush())
	f.Add(s.b.Bytes())
	made := newStory(f)
	made.connect(1<<24-2, 7)
	made.write(1<<24-2, 3)
	made.ack(0, 1)
	require.NoError(f, made.w.Flush())
	f.Add(made.b.Bytes())
	for name := range references {
		if b, err := os.ReadFile(filepath.Join(referenceDir, name)); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := capture.NewReader(bytes.NewReader(data))
		if err != nil {
			return
		}
		sink := &trace.Sink{}
		a := New(Options{Sink: sink, Rate: sim.Gbps, CNPInterval: sim.Microsecond})
		var rec capture.Record
		for r.Next(&rec) == nil {
			a.Add(&rec, r.Interfaces)
		}
		sum := a.Finish()
		assert.Equal(t, 0, a.waiting, "messages that were forgotten")
		for i := range sum.QPs {
			q := &sum.QPs[i]
			assert.LessOrEqual(t, q.Completed, q.Messages)
			assert.LessOrEqual(t, q.Again, q.Sent)
			assert.Equal(t, q.Again, q.Duplicates+q.Late)
		}
		for i := 1; i < len(sink.Events); i++ {
			assert.LessOrEqual(t, sink.Events[i-1].Time, sink.Events[i].Time)
		}
		for _, fl := range sink.Flows {
			assert.True(t, fl.End < 0 || fl.End >= fl.Start, "%+v", fl)
			assert.GreaterOrEqual(t, fl.Bytes, sim.Bytes(0))
		}
	})
}

// FuzzSequence compares the sequence with a twin that remembers every number.
func FuzzSequence(f *testing.F) {
	f.Add(uint32(0xfffffe), []byte{1, 1, 3, 1, 0xfe, 0xfd, 1, 1, 5, 0xfb, 1})
	f.Fuzz(func(t *testing.T, start uint32, steps []byte) {
		var s sequence
		seen := map[uint64]bool{}
		at := base + uint64(start&capture.Mask24)
		next := at
		if len(steps) > 60 {
			steps = steps[:60] // fewer holes than are remembered
		}
		holes := 0
		for i, d := range append([]byte{0}, steps...) {
			number := next + uint64(int64(int8(d))) - 1
			if i == 0 {
				number = at
			}
			if number < base || number < at || holes >= maxGaps-1 {
				continue
			}
			want := inOrder
			switch {
			case i > 0 && number > next:
				want = ahead
				holes++
			case i > 0 && number < next && seen[number]:
				want = duplicate
			case i > 0 && number < next:
				want = late
				holes++ // a hole may become two
			}
			got, a, missing := s.take(uint32(number)&capture.Mask24, 1, false, 0)
			require.Equal(t, want, a)
			require.Equal(t, number, got)
			if want == ahead {
				require.Equal(t, number-next, missing)
			}
			seen[number] = true
			next = max(next, number+1)
			absent := uint64(0)
			for k := at; k < next; k++ {
				if !seen[k] {
					absent++
				}
			}
			require.Equal(t, absent, s.absent())
		}
	})
}
