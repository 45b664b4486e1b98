package simnic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/verbs"
)

// What a run pays that only WRITEs: two hosts and a wire between them that only
// delivers. Beside it stands what the rest of the verbs costs where it is used.
// For numbers to keep: go test -bench WriteOnly -count 10 ./verbs/simnic on two
// commits, and benchstat over both. ns/packet counts data packets and ACKs;
// allocs must be 0 per packet of sized connections.

func BenchmarkWriteOnly(b *testing.B) {
	for _, c := range []struct {
		name string
		size sim.Bytes
	}{{"64B", 64}, {"64KiB", 64 << 10}} {
		b.Run(c.name, func(b *testing.B) { benchmarkSized(b, verbs.OpWrite, c.size) })
	}
}

// BenchmarkOthers is the same with other operations.
func BenchmarkOthers(b *testing.B) {
	for _, op := range []verbs.Opcode{verbs.OpSend, verbs.OpRead, verbs.OpFetchAdd} {
		size := sim.Bytes(64 << 10)
		if op.IsAtomic() {
			size = 8
		}
		b.Run(op.String(), func(b *testing.B) { benchmarkSized(b, op, size) })
	}
}

// BenchmarkMemory is a WRITE with memory, keys and completion queues.
func BenchmarkMemory(b *testing.B) {
	const size, depth = 16 << 10, 16
	b.ReportAllocs()
	packets := uint64(0)
	inLab(b, 2, nil, func(l *lab) {
		d := &dialogue{lab: l}
		d.connect("RC", func(_ string, def int) int { return def })
		l.wire.see = func(*packet.Packet) bool { packets++; return true }
		x, y := &d.side[0], &d.side[1]
		w := verbs.WorkRequest{Opcode: verbs.OpWrite, Signaled: true, RemoteAddr: y.mr.Addr(), RKey: y.mr.RKey(), SGList: []verbs.SGE{{Addr: x.mr.Addr(), Length: size, LKey: x.mr.LKey()}}}
		var wc [depth]verbs.WorkCompletion
		b.ResetTimer()
		for posted, done := 0, 0; done < b.N; {
			for posted < b.N && posted-done < depth {
				_, err := x.qp.PostSend(w)
				require.NoError(b, err)
				posted++
			}
			l.sleep(sim.Microsecond)
			k, err := x.cq.Poll(wc[:])
			require.NoError(b, err)
			done += k
		}
	})
	perPacket(b, packets)
}

func perPacket(b *testing.B, packets uint64) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(max(packets, 1)), "ns/packet")
	b.ReportMetric(float64(packets)/float64(b.N), "packets/op")
}

// benchmarkSized keeps 16 requests outstanding on a connection without memory.
func benchmarkSized(b *testing.B, op verbs.Opcode, size sim.Bytes) {
	b.ReportAllocs()
	packets := uint64(0)
	inLab(b, 2, nil, func(l *lab) {
		l.wire.see = func(*packet.Packet) bool { packets++; return true }
		left, done := b.N, 0
		var client, server app
		post := func(q *QP) {
			if left > 0 {
				left--
				require.NoError(b, q.PostSend(verbs.WorkRequest{Opcode: op, Length: size, Signaled: true}))
			}
		}
		client.complete = func(q *QP, wc verbs.WorkCompletion) {
			require.Equal(b, verbs.StatusSuccess, wc.Status)
			done++
			post(q)
		}
		receive := func(q *QP) {
			if op.IsSend() {
				require.NoError(b, q.PostRecv(0, size))
			}
		}
		server.accept = func(q *QP, _ uint64) {
			for range 64 {
				receive(q)
			}
		}
		server.complete = func(q *QP, _ verbs.WorkCompletion) { receive(q) }
		l.nics[0].Attach(&client)
		l.nics[1].Attach(&server)
		q := l.nics[0].Connect(Conn{Peer: 1, Priority: -1})
		b.ResetTimer()
		for range 16 {
			post(q)
		}
		for done < b.N {
			l.sleep(100 * sim.Microsecond)
		}
	})
	perPacket(b, packets)
}
