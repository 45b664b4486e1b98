package trace

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// batch fills the sinks of 200 nodes with 5 bins of 10 objects and 2 metrics each.
func batch(names *Names, sinks []*Sink, from sim.Time) sim.Time {
	for i := range 5 {
		at := from + sim.Time(i)*10_000_000
		for n, s := range sinks {
			for k := range 10 {
				id := ObjectID(n*10 + k + 1)
				v := float64(uint32(n*7919+k*104729+int(at/1000)) * 2654435761 % 400_000)
				s.Point(Point{Time: at, Object: id, Metric: SeriesQueueBytes, Mean: v / 3, Min: 0, Max: v})
				s.Point(Point{Time: at, Object: id, Metric: SeriesThroughput, Mean: v * 1e5, Min: v * 1e5, Max: v * 1e5})
			}
		}
	}
	return from + 50_000_000
}

func benchSinks() (*Names, []*Sink) {
	names := NewNames()
	sinks := make([]*Sink, 200)
	for n := range sinks {
		sinks[n] = &Sink{Node: int32(n)}
		for k := range 10 {
			names.ID("switch" + string(rune('a'+n%26)) + string(rune('a'+n/26)) + ":" + string(rune('0'+k)) + "/q3")
		}
	}
	return names, sinks
}

// BenchmarkPoints reports the cost of one point: sorted, encoded, compressed
// and written.
func BenchmarkPoints(b *testing.B) {
	names, sinks := benchSinks()
	dir := filepath.Join(b.TempDir(), "run")
	w := create(b, dir, names)
	points, at := 0, sim.Time(0)
	b.ReportAllocs()
	for points < b.N {
		b.StopTimer()
		at = batch(names, sinks, at)
		b.StartTimer()
		for _, s := range sinks {
			points += len(s.Points)
		}
		require.NoError(b, w.Drain(sinks))
	}
	_, err := w.Finish(ManifestEnd{Simulated: at})
	require.NoError(b, err)
	reportSize(b, dir, FileSeries, points)
}

// BenchmarkEvents reports the cost of one event, fingerprint included.
func BenchmarkEvents(b *testing.B) {
	names, _ := benchSinks()
	dir := filepath.Join(b.TempDir(), "run")
	w := create(b, dir, names)
	s := &Sink{}
	b.ReportAllocs()
	for i := range b.N {
		s.Event(Event{Time: sim.Time(i) * 1000, Kind: EventXoff, Object: ObjectID(i%2000 + 1), Peer: 1, Prio: 3, Value: float64(i), Cause: "shared use above threshold"})
		if len(s.Events) == 10_000 {
			require.NoError(b, w.Drain([]*Sink{s}))
		}
	}
	require.NoError(b, w.Drain([]*Sink{s}))
	_, err := w.Finish(ManifestEnd{})
	require.NoError(b, err)
	reportSize(b, dir, FileEvents, b.N)
}

func BenchmarkReadPoints(b *testing.B) {
	names, sinks := benchSinks()
	dir := filepath.Join(b.TempDir(), "run")
	w := create(b, dir, names)
	at := sim.Time(0)
	for range 50 { // a million points
		at = batch(names, sinks, at)
		require.NoError(b, w.Drain(sinks))
	}
	_, err := w.Finish(ManifestEnd{})
	require.NoError(b, err)
	r, err := Open(dir)
	require.NoError(b, err)
	b.ResetTimer()
	b.ReportAllocs()
	n := 0
	for n < b.N {
		for _, err := range r.Points("", nil) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
}

// The fear: a long run whose series do not fit in memory.
func TestWriterMemoryIsBounded(t *testing.T) {
	names, sinks := benchSinks()
	w := create(t, filepath.Join(t.TempDir(), "run"), names)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	at, before, peak := batch(names, sinks, 0), heap(), int64(0) // the sinks are the caller's
	for i := range 30 {                                          // 600 000 points
		require.NoError(t, w.Drain(sinks))
		if i%5 == 4 {
			peak = max(peak, heap()-before)
		}
		at = batch(names, sinks, at)
	}
	t.Logf("peak %d KiB", peak>>10)
	require.Less(t, peak, int64(20<<20))
}

func BenchmarkFlows(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "run")
	w := create(b, dir, nil)
	s := &Sink{}
	b.ReportAllocs()
	for i := range b.N {
		at := sim.Time(i) * 1_234_567
		s.Flow(Flow{ID: uint64(i), Src: "h117", Dst: "h1023", QP: 17, Verb: "WRITE", Bytes: 1_000_000, Start: at, End: at + 85_123_457, Ideal: 80_000_001,
			Delivered: 1_000_000, Status: StatusSuccess, Workload: "poisson"})
		if len(s.Flows) == 1000 {
			require.NoError(b, w.Drain([]*Sink{s}))
		}
	}
	require.NoError(b, w.Drain([]*Sink{s}))
	_, err := w.Finish(ManifestEnd{})
	require.NoError(b, err)
	reportSize(b, dir, FileFlows, b.N)
	r, err := Open(dir)
	require.NoError(b, err)
	b.StopTimer()
	start := time.Now()
	for _, err := range r.Flows() {
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(b.N), "read-ns/op")
}

// reportSize reports what a row takes on disk.
func reportSize(b *testing.B, dir, name string, rows int) {
	b.Helper()
	info, err := os.Stat(filepath.Join(dir, name))
	require.NoError(b, err)
	b.ReportMetric(float64(info.Size())/float64(rows), "file-B/row")
}
