package page

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Rows that no model writes but a file may hold: the page must stand, without
// a number that is none.
func TestHostileRows(t *testing.T) {
	long := strings.Repeat("<x>&\"'é", 2000)
	names := trace.NewNames()
	id := names.ID
	var points []trace.Point
	for i, metric := range []string{trace.SeriesQueueBytes, trace.SeriesIngressBytes, trace.SeriesThreshold, trace.SeriesThroughput, trace.SeriesPaused,
		trace.SeriesMarked, trace.SeriesGoodput, trace.SeriesRate, trace.SeriesAlpha, trace.SeriesCNP, long} {
		for k, v := range []float64{-1, 0, 1e-300, 1e300, math.Inf(1), math.NaN(), 3e38, -3e38} {
			object := []string{"s:0/q3", "s:0/pg3", long, "", "s:-1/q-9", "/", ":", "s:0", "h/qp1"}[(i+k)%9]
			points = append(points, trace.Point{Time: sim.Time(k) * 100, Object: id(object + " "), Metric: metric, Mean: v, Min: v, Max: v},
				trace.Point{Time: sim.Time(k) * 1000, Object: id("s:0/q3"), Metric: metric, Mean: v, Min: v, Max: v})
		}
	}
	var events []trace.Event
	seq := uint64(0)
	for _, kind := range []trace.EventKind{trace.EventPauseOff, trace.EventPauseOn, trace.EventPauseOn, trace.EventPauseOff, trace.EventDrop, trace.EventFault, trace.EventWatchdog, "new"} {
		for _, prio := range []int8{-128, -1, 0, 127} {
			seq++
			events = append(events, trace.Event{Time: sim.Time(seq) * 400, Seq: seq, Kind: kind, Object: id(long), Prio: prio, Value: math.MaxFloat64, Cause: long})
		}
	}
	flows := []trace.Flow{
		{ID: 1, Src: long, Dst: long, QP: math.MaxUint32, Workload: "ping_mesh", Bytes: math.MaxInt64 / 8, Start: 0, End: 5, Ideal: 1, Status: trace.StatusSuccess},
		{ID: 2, Src: "h", Dst: "", QP: 1, Bytes: 0, Start: 7, End: 7, Ideal: 1 << 60, Status: trace.StatusSuccess},
		{ID: 3, Src: "h", QP: 1, Workload: long, Bytes: 1, Start: 9, End: 1 << 60, Ideal: 1, Status: trace.StatusSuccess},
		{ID: 4, Src: "h", QP: 1, Bytes: 1, Start: -1, End: -1, Status: trace.StatusUnfinished},
	}
	var counters []trace.Counter
	for i, name := range []string{trace.CountTxBytes, trace.CountHeadroomMax, trace.CountHeadroomSize, trace.CountBufferMax, trace.CountBufferSize,
		trace.CountClosestToXoff, trace.CountIngressMax, trace.CountXoffMinimum, trace.CountQueueMax, trace.CountDropLossless, trace.CountPauseEpisodes,
		trace.CountPausedSeconds, trace.CountECNMarked, trace.CountECNEligible, trace.CountCNPSent} {
		for k, object := range []string{"s:0", "h:0", long, ""} {
			counters = append(counters, trace.Counter{Object: object, Prio: int8(k*40 - 1), Name: name, Value: []float64{-5, 1e300, 0, 1e-300}[(i+k)%4]})
		}
	}
	topology := trace.TopologyFile{Nodes: []trace.TopologyNode{{Name: "h", Kind: "host", Tier: -7}, {Name: "s", Kind: "switch", Tier: math.MaxInt32}, {Name: long, Kind: "?", Pod: -9}},
		Links: []trace.TopologyLink{{A: 0, B: 1, RateAB: math.MaxInt64, RateBA: -1}, {A: 1, APort: -1, B: 1, BPort: 1 << 40}, {A: 2, B: 2}}}
	for _, end := range []sim.Time{0, 12_345, 1 << 60} {
		dir := filepath.Join(t.TempDir(), "run")
		w, err := trace.Create(dir, trace.Manifest{Name: long, Description: long, Mode: trace.ModeSimulated}, names)
		require.NoError(t, err)
		require.NoError(t, w.Topology(topology))
		require.NoError(t, w.Write(points, events, flows))
		w.Counters(counters)
		require.NoError(t, w.JSON(trace.FileResolved, map[string]any{"series": map[string]any{"interval": "1ps"}, "switch": []any{1}}))
		_, err = w.Finish(trace.ManifestEnd{Simulated: end, Partial: true, Reason: long})
		require.NoError(t, err)
		require.NoError(t, Write(dir))
		p, err := os.ReadFile(filepath.Join(dir, Dir, "index.html"))
		require.NoError(t, err)
		for _, bad := range []string{"NaN", "Inf", "%!", "<x>"} {
			i := strings.Index(string(p), bad)
			require.Equal(t, -1, i, "%s in %q", bad, context(string(p), i))
		}
		require.Less(t, len(p), 3_000_000)
	}
}

func context(s string, i int) string {
	if i < 0 {
		return ""
	}
	return s[max(0, i-200):min(len(s), i+100)]
}
