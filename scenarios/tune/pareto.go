package tune

import (
	"math"
	"slices"
)

// aims returns the objectives of a point over workloads, each in its scale, the
// less the better: the mean, or the largest where the plan asks for the worst
// case or for regret.
func (j *judge) aims(e *entry, seeds []uint64) []float64 {
	out := make([]float64, len(j.goals))
	for i, g := range j.goals {
		list := make([]float64, len(j.workloads))
		for w := range list {
			v, ok := e.mean(g.figure, w, seeds)
			if !ok {
				v = math.NaN()
			}
			list[w] = g.sign * v / g.scale
		}
		if out[i] = largest(list); j.robust == RobustMean {
			out[i] = overWorkloads(RobustMean, list, nil)
		}
	}
	return out
}

// dominates reports whether a is nowhere worse than b and somewhere better.
func dominates(a, b []float64) bool {
	better := false
	for i := range a {
		if !(a[i] <= b[i]) {
			return false
		}
		better = better || a[i] < b[i]
	}
	return better
}

// fronts sorts feasible points into fronts: of the first, none is dominated; of
// the next, none without the first. Source: Deb et al., NSGA-II, 2002.
func (j *judge) fronts(list []verdict, seeds []uint64) {
	aims := make([][]float64, len(list))
	var left []int
	for i := range list {
		list[i].rank = len(list)
		aims[i] = j.aims(list[i].e, seeds)
		if list[i].feasible() && !slices.ContainsFunc(aims[i], math.IsNaN) {
			left = append(left, i)
		}
	}
	for rank := 0; len(left) > 0; rank++ {
		var front, rest []int
		for _, i := range left {
			if slices.ContainsFunc(left, func(k int) bool { return dominates(aims[k], aims[i]) }) {
				rest = append(rest, i)
			} else {
				front = append(front, i)
			}
		}
		for _, i := range front {
			list[i].rank = rank
		}
		crowding(list, aims, front)
		left = rest
	}
}

// crowding measures the room around the points of a front: the side lengths of
// the box up to its neighbours. The ends have all the room.
func crowding(list []verdict, aims [][]float64, front []int) {
	for _, i := range front {
		list[i].crowd = 0
	}
	for k := range aims[front[0]] {
		order := slices.Clone(front)
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case aims[a][k] < aims[b][k]:
				return -1
			case aims[a][k] > aims[b][k]:
				return 1
			}
			return a - b
		})
		first, last := order[0], order[len(order)-1]
		span := aims[last][k] - aims[first][k]
		list[first].crowd, list[last].crowd = math.Inf(1), math.Inf(1)
		for n := 1; n < len(order)-1 && span > 0; n++ {
			list[order[n]].crowd += (aims[order[n+1]][k] - aims[order[n-1]][k]) / span
		}
	}
}

// knee returns the point of a front that is farthest below the plane through
// its ends: where giving a little of one objective stops to buy much of another.
// Aims are scaled to the front. Source: Branke et al., "Finding knees in
// multi-objective optimization", 2004. -1 without points.
func knee(aims [][]float64) int {
	if len(aims) == 0 {
		return -1
	}
	best, least := -1, math.Inf(1)
	for i := range aims {
		sum := 0.0
		for k := range aims[i] {
			low, high := math.Inf(1), math.Inf(-1)
			for _, a := range aims {
				low, high = min(low, a[k]), max(high, a[k])
			}
			if high > low {
				sum += (aims[i][k] - low) / (high - low)
			}
		}
		if sum < least {
			best, least = i, sum
		}
	}
	return best
}
