package trace

import (
	"math/rand/v2"
	"slices"
	"testing"

	"rdmasim/sim"

	"github.com/stretchr/testify/require"
)

// Counting gives the order that comparing gives.
func TestPointsOfOneInstantAreInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	counted := 0
	for range 400 {
		times, objects := 1+r.IntN(9), 1+r.IntN(60)
		sinks := make([]*Sink, 1+r.IntN(4))
		var want []sortKey
		for i := range sinks {
			if r.IntN(5) == 0 {
				continue
			}
			sinks[i] = &Sink{}
			for j := range r.IntN(40) {
				p := Point{Time: sim.Time(r.IntN(times)), Object: ObjectID(r.IntN(objects)), Mean: float64(100*i + j)}
				sinks[i].Point(p)
				want = append(want, sortKey{time: p.Time, major: uint32(p.Object), sink: int32(i), row: int32(j)})
			}
		}
		slices.SortFunc(want, compareKeys)
		w := &Writer{}
		got := w.sortedPoints(sinks)
		if w.keys == nil {
			counted++
		}
		require.Len(t, got, len(want))
		for i, k := range want {
			require.Same(t, &sinks[k.sink].Points[k.row], got[i])
		}
	}
	require.Greater(t, counted, 40)
	require.Less(t, counted, 360)
}
