package analysis

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net/netip"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/capture"
)

// packets writes a pcap of n packets that next describes, of which the capture
// holds the first bytes.
func packets(n int, next func(i int, p *capture.Packet)) io.Reader {
	r, w := io.Pipe()
	go func() {
		out := bufio.NewWriterSize(w, 1<<16)
		head := binary.LittleEndian.AppendUint32(nil, 0xa1b23c4d)
		head = append(head, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		head = binary.LittleEndian.AppendUint32(head, 65535)
		_, _ = out.Write(binary.LittleEndian.AppendUint32(head, 1))
		var b []byte
		for i := range n {
			p := capture.Packet{TTL: 64, ECN: capture.ECT0, Zero: true}
			p.BTH.PKey = capture.DefaultPKey
			next(i, &p)
			b, _ = p.Append(b[:0])
			ns := uint64(i) * 85
			rec := binary.LittleEndian.AppendUint32(nil, uint32(1_700_000_000+ns/1e9))
			rec = binary.LittleEndian.AppendUint32(rec, uint32(ns%1e9))
			rec = binary.LittleEndian.AppendUint32(rec, uint32(len(b)))
			rec = binary.LittleEndian.AppendUint32(rec, uint32(len(b)))
			_, _ = out.Write(append(rec, b...))
		}
		_ = out.Flush()
		_ = w.Close()
	}()
	return r
}

func address(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
}

// What is kept does not grow with the length of a capture, whatever is in it.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("reads some hundred megabytes")
	}
	for name, next := range map[string]func(i int, p *capture.Packet){
		// Two thousand queue pairs with messages of 64 packets, seen in one direction.
		"one direction": func(i int, p *capture.Packet) {
			q, k := i%2000, uint32(i/2000)
			p.Src, p.Dst, p.SrcPort, p.BTH.DestQP, p.BTH.PSN = address(q), address(q+1), uint16(q), uint32(q), k
			p.BTH.Opcode, p.Payload = 0x04, 64
		},
		"a queue pair for every packet": func(i int, p *capture.Packet) {
			p.Src, p.Dst, p.BTH.DestQP, p.BTH.Opcode, p.Payload = address(i), address(i+1), uint32(i+2), 0x04, 8
		},
		"holes everywhere": func(i int, p *capture.Packet) {
			q, k := i%30000, uint32(i/30000)
			p.Src, p.Dst, p.BTH.DestQP, p.BTH.PSN = address(q), address(q+1), uint32(q+2), 2*k
			p.BTH.Opcode, p.Payload = 0x00, 256
		},
		"answers without requests": func(i int, p *capture.Packet) {
			p.Src, p.Dst, p.BTH.DestQP, p.BTH.PSN, p.BTH.Opcode = address(0), address(1), uint32(i%100_000+2), uint32(i), capture.OpcodeAck
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := capture.Merge([]capture.Source{{Name: "pipe", In: packets(500_000, next)}})
			require.NoError(t, err)
			defer debug.SetGCPercent(debug.SetGCPercent(40)) // as the command does
			most := uint64(0)
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			sum, _, err := Run(context.Background(), m, RunConfig{Dir: filepath.Join(t.TempDir(), "run"), Name: "x", Progress: func(frames uint64) {
				if frames%65536 == 0 {
					var s runtime.MemStats
					runtime.ReadMemStats(&s)
					most = max(most, s.HeapAlloc-min(before.HeapAlloc, s.HeapAlloc))
				}
			}})
			require.NoError(t, err)
			assert.EqualValues(t, 500_000, sum.Frames.Total)
			assert.Less(t, most, uint64(170<<20), "%d MiB", most>>20)
			t.Logf("at most %d MiB", most>>20)
		})
	}
}
