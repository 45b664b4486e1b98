package figure

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

const us = sim.Time(sim.Microsecond)

func row(t sim.Time, mean, lo, hi float64) trace.PointRow {
	return trace.PointRow{Time: t, Object: "q", Metric: "m", Mean: mean, Min: lo, Max: hi}
}

// Rows are written on change: a missing bin repeats the one before it, the
// value before the first row is 0, and the last holds to the end.
func TestMissingBinsRepeat(t *testing.T) {
	set := newSeriesSet(newClock(0, 10*us, 2*sim.Microsecond))
	set.add(row(2*us, 10, 8, 12))
	set.add(row(6*us, 4, 4, 4))
	s := set.finish()["m"][0]
	require.Equal(t, []float32{0, 10, 10, 4, 4}, s.Mean)
	require.Equal(t, []float32{0, 8, 8, 4, 4}, s.Min)
	require.Equal(t, []float32{0, 12, 12, 4, 4}, s.Max)
	require.InDelta(t, (10*4+4*4)/10.0, s.Average, 1e-9)
	require.Equal(t, 12.0, s.Peak)
	require.Equal(t, 2*us, s.PeakAt)
}

// What was before the first row is not known: thresholds are drawn from there
// on, and averages of what began late are not lowered by it.
func TestSeriesBeginWithTheirFirstRow(t *testing.T) {
	set := newSeriesSet(newClock(0, 10*us, 2*sim.Microsecond))
	set.add(row(5*us, 10, 8, 12))
	set.add(row(8*us, 4, 4, 4))
	s := set.finish()["m"][0]
	require.Equal(t, 3, s.known())
	require.Equal(t, 4.0, lowest(s))
	require.InDelta(t, 7, s.since(), 1e-6)
	require.InDelta(t, 1-7.0/12, slowed(s), 1e-6)
}

// A size that most messages have takes one group; the others share the rest.
func TestSizeGroupsAreAlikeInCount(t *testing.T) {
	var f FlowSet
	for i := range 1000 {
		size := 64.0
		if i >= 910 {
			size = float64(1000 + i)
		}
		f.Bytes, f.Slowdown = append(f.Bytes, size), append(f.Slowdown, 1)
	}
	bins := sizeBins(&f)
	require.Len(t, bins, maxSizeBins)
	require.Len(t, bins[0].slow, 910)
	for _, b := range bins[1:] {
		require.Len(t, b.slow, 10)
	}
}

// The last column may be cut by the end of the run: its mean is that of what
// there is of it.
func TestLastColumnIsCut(t *testing.T) {
	c := newClock(0, 5*us, 2*sim.Microsecond)
	require.Equal(t, 3, c.Columns)
	require.Equal(t, sim.Microsecond, c.span(2))
	set := newSeriesSet(c)
	set.add(row(4*us, 6, 6, 6))
	require.Equal(t, []float32{0, 0, 6}, set.finish()["m"][0].Mean)
}

// Columns are whole bins: a column never cuts a bin in two.
func TestColumnsAreWholeBins(t *testing.T) {
	for _, bins := range []int64{1, 2, maxColumns, maxColumns + 1, 5*maxColumns - 1, 1 << 20} {
		c := newClock(0, sim.Time(bins)*us, sim.Microsecond)
		require.LessOrEqual(t, c.Columns, maxColumns)
		require.Zero(t, int64(c.Width)%int64(sim.Microsecond))
		require.GreaterOrEqual(t, sim.Time(c.Width)*sim.Time(c.Columns), c.End)
		require.Less(t, sim.Time(c.Width)*sim.Time(c.Columns-1), c.End)
	}
}

// Whatever the resolution, the integral over time and the extremes are those
// of the rows; merging columns changes neither.
func TestColumnsKeepIntegralAndExtremes(t *testing.T) {
	rng := sim.NewRand(3, "series")
	for trial := range 40 {
		end := sim.Time(500+rng.IntN(4000)) * us / 3
		bin := 1 + rng.IntN(7)
		begin := sim.Time(trial%3*bin) * 100 * us
		end += begin
		set := newSeriesSet(newClock(begin, end, sim.Duration(bin)*sim.Microsecond))
		at := begin
		var v, integral, top float64
		for at < end {
			next := at + sim.Time(bin*(1+rng.IntN(30)))*us
			if v = float64(rng.IntN(1000)); at > begin || rng.IntN(2) == 0 {
				set.add(row(at, v, v/2, v*2))
				top = max(top, v*2)
			} else {
				v = 0
			}
			integral += v * min(next, end).Sub(at).Seconds()
			at = next
			if rng.IntN(12) == 0 && set.clock.Columns > 8 {
				set.fold()
			}
		}
		list := set.finish()["m"]
		if len(list) == 0 {
			continue
		}
		s := list[0]
		require.Len(t, s.Mean, set.clock.Columns)
		got, highest := 0.0, 0.0
		for i := range s.Mean {
			got += float64(s.Mean[i]) * set.clock.span(i).Seconds()
			highest = max(highest, float64(s.Max[i]))
			require.LessOrEqual(t, s.Min[i], s.Mean[i]*1.0001+1e-3, "trial %d column %d", trial, i)
			require.GreaterOrEqual(t, s.Max[i]*1.0001+1e-3, s.Mean[i], "trial %d column %d", trial, i)
		}
		require.InEpsilon(t, integral+1e-12, got+1e-12, 1e-4, "trial %d", trial)
		require.InEpsilon(t, integral/end.Sub(begin).Seconds()+1e-9, s.Average+1e-9, 1e-6)
		require.InDelta(t, top, highest, top*1e-6)
		require.InDelta(t, top, s.Peak, top*1e-6)
	}
}

// Memory is bounded whatever the number of objects.
func TestManySeriesAreFolded(t *testing.T) {
	set := newSeriesSet(newClock(0, 600*us, sim.Microsecond))
	n := maxCells/600 + 1000
	for i := range n {
		p := row(0, 1, 1, 1)
		p.Object = fmt.Sprintf("q%d", i)
		set.add(p)
	}
	require.LessOrEqual(t, set.cells, maxCells)
	require.Less(t, set.clock.Columns, 600)
	require.Len(t, set.finish()["m"], n)
}

func TestRowsThatAreNoNumbersAreLeftOut(t *testing.T) {
	set := newSeriesSet(newClock(0, 10*us, sim.Microsecond))
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
		set.add(row(0, v, v, v))
	}
	require.Empty(t, set.finish())
}

func TestNaturalOrder(t *testing.T) {
	names := []string{"h2", "h2/qp9", "h2/qp10", "h10", "leaf0:2", "leaf0:10", "leaf10:1"}
	for i := range names {
		for j := range names {
			require.Equal(t, i < j, natural(names[i], names[j]), "%s %s", names[i], names[j])
		}
	}
}

// A pause that spans columns fills each by the share of it that was paused.
func TestPauseShares(t *testing.T) {
	r := &Run{Clock: newClock(0, 10*us, 2*sim.Microsecond)}
	pauses := map[pauseKey]*Pause{}
	at := func(t sim.Time, k trace.EventKind) {
		r.pauseEvent(pauses, &trace.EventRow{Time: t, Kind: k, Object: "h1:0", Peer: "leaf0:1", Prio: 3})
	}
	at(1*us, trace.EventPauseOn)
	at(1*us+us/2, trace.EventPauseOn) // a refresh is no new episode
	at(5*us, trace.EventPauseOff)
	at(9*us, trace.EventPauseOn) // open at the end of the run
	p := pauses[pauseKey{"h1:0", 3}]
	p.resume(r.Clock, r.Clock.End)
	require.Equal(t, []float32{0.5, 1, 0.5, 0, 0.5}, p.Share)
	require.Equal(t, 2, p.Episodes)
	require.Equal(t, 5*sim.Microsecond, p.Total)
	require.Equal(t, 4*sim.Microsecond, p.Longest)
	require.Equal(t, "leaf0:1", p.Peer)
}

// Jain's index counts who had something to send, and nobody else.
func TestJainAmongBusyQueuePairs(t *testing.T) {
	r := &Run{Clock: newClock(0, 4*us, 2*sim.Microsecond)}
	mk := func(name string, v ...float32) *Series { return &Series{Object: name, Mean: v} }
	list := []*Series{mk("a/qp1", 30, 10), mk("b/qp1", 10, 10), mk("c/qp1", 0, 0)}
	r.Flows = newFlowSet()
	for _, s := range list {
		r.Flows.busy[s.Object] = make([]float32, 2)
	}
	r.Flows.cover(&trace.Flow{Src: "a", QP: 1, Start: 0, End: 3 * us}, r.Clock)
	r.Flows.cover(&trace.Flow{Src: "a", QP: 1, Start: 3 * us, End: -1}, r.Clock) // back to back: busy in column 1 too
	r.Flows.cover(&trace.Flow{Src: "b", QP: 1, Start: 0, End: -1}, r.Clock)
	r.Flows.cover(&trace.Flow{Src: "c", QP: 1, Start: 3 * us, End: -1}, r.Clock) // only half of column 1
	v, known := r.jain(list)
	require.Equal(t, []bool{true, true}, known)
	require.InDelta(t, 40*40/(2*1000.0), v[0], 1e-6)
	require.InDelta(t, 1, v[1], 1e-6)
}

// The slowest is the one that had something to send and got little, not the
// one that asked for little: pings are left out, idle time does not count.
func TestSlowestHadSomethingToSend(t *testing.T) {
	r := &Run{Clock: newClock(0, 4*us, 2*sim.Microsecond), Flows: newFlowSet()}
	late := &Series{Object: "a/qp1", Mean: []float32{0, 90}, Average: 45}
	slow := &Series{Object: "b/qp1", Mean: []float32{60, 60}, Average: 60}
	ping := &Series{Object: "c/qp1", Mean: []float32{1, 1}, Average: 1}
	list := []*Series{late, slow, ping}
	for _, s := range list {
		r.Flows.busy[s.Object] = make([]float32, 2)
	}
	r.Flows.add(&trace.Flow{Src: "a", QP: 1, Start: 2 * us, End: -1, Workload: "incast"}, r.Clock)
	r.Flows.add(&trace.Flow{Src: "b", QP: 1, Start: 0, End: -1, Workload: "incast"}, r.Clock)
	r.Flows.add(&trace.Flow{Src: "c", QP: 1, Start: 0, End: -1, Workload: pingWorkload}, r.Clock)
	require.Equal(t, []*Series{late, slow}, r.Flows.senders(list))
	require.Equal(t, []*Series{ping}, r.Flows.senders([]*Series{ping}), "pings alone are shown")
	require.InDelta(t, 90, r.Flows.BusyAverage(late, r.Clock), 1e-9)
	require.InDelta(t, 60, r.Flows.BusyAverage(slow, r.Clock), 1e-9)
}
