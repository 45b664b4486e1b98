package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
)

// fingerprint is a SHA-256 over logical rows: three hashes fed row by row, for
// flows, events and counters, and one over the three. It depends on the values
// and the order of the rows and on nothing else: not on compression, batches,
// the numbering of names, or series (which only sample what events decide).
type fingerprint struct {
	flows, events, counters hash.Hash
	b                       []byte
}

func newFingerprint() *fingerprint {
	return &fingerprint{flows: sha256.New(), events: sha256.New(), counters: sha256.New()}
}

func (f *fingerprint) str(s string) {
	f.b = binary.AppendUvarint(f.b, uint64(len(s)))
	f.b = append(f.b, s...)
}

func (f *fingerprint) int(v int64)   { f.b = binary.AppendVarint(f.b, v) }
func (f *fingerprint) uint(v uint64) { f.b = binary.AppendUvarint(f.b, v) }

func (f *fingerprint) float(v float64) {
	if v != v {
		v = math.NaN()
	}
	f.b = binary.LittleEndian.AppendUint64(f.b, math.Float64bits(v))
}

func (f *fingerprint) sum(h hash.Hash) {
	_, _ = h.Write(f.b)
	f.b = f.b[:0]
}

func (f *fingerprint) flow(r *Flow) {
	f.uint(r.ID)
	f.str(r.Src)
	f.str(r.Dst)
	f.uint(uint64(r.QP))
	f.str(r.Verb)
	f.int(int64(r.Bytes))
	f.int(int64(r.Start))
	f.int(int64(r.End))
	f.int(int64(r.Ideal))
	f.int(int64(r.Delivered))
	f.uint(r.Retransmits)
	f.str(r.Status)
	f.str(r.Workload)
	f.str(r.Tag)
	f.sum(f.flows)
}

func (f *fingerprint) event(r *EventRow) {
	f.int(int64(r.Time))
	f.int(int64(r.Node))
	f.uint(r.Seq)
	f.str(string(r.Kind))
	f.str(r.Object)
	f.str(r.Peer)
	f.int(int64(r.Prio))
	f.float(r.Value)
	f.str(r.Cause)
	f.sum(f.events)
}

func (f *fingerprint) counter(r *Counter) {
	f.str(r.Object)
	f.int(int64(r.Prio))
	f.str(r.Name)
	f.float(r.Value)
	f.sum(f.counters)
}

// hex returns the fingerprint of the rows so far.
func (f *fingerprint) hex() string {
	h := sha256.New()
	for _, part := range []hash.Hash{f.flows, f.events, f.counters} {
		_, _ = h.Write(part.Sum(nil))
	}
	return hex.EncodeToString(h.Sum(nil))
}
