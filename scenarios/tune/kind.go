package tune

import (
	"slices"

	"rdmasim/reports/tuning"
	"rdmasim/scenarios/sweep"
	"rdmasim/sim"
)

// Values of a parameter are numbers in the base unit of its kind: bytes, ratio,
// picoseconds, bit/s, millimetres, count.

// parseValue reads a value of one of some kinds. A number without a unit is a
// count and a ratio alike.
func parseValue(text string, kinds ...sweep.Kind) (float64, sweep.Kind, bool) {
	q, err := sweep.ParseQuantity(text)
	switch {
	case err != nil:
	case slices.Contains(kinds, q.Kind):
		return q.Value, q.Kind, true
	case q.Kind == sweep.Count && slices.Contains(kinds, sweep.Ratio):
		return q.Value, sweep.Ratio, true
	}
	return 0, 0, false
}

// textOf writes a value as a scenario reads it.
func textOf(k sweep.Kind, v float64) string { return sweep.Quantity{Kind: k, Value: v}.String() }

// unitOf is the unit of a kind in metrics.json.
func unitOf(k sweep.Kind) string {
	switch k {
	case sweep.Bytes:
		return tuning.Bytes
	case sweep.Rate:
		return tuning.BitsPerS
	case sweep.Duration:
		return tuning.Seconds
	case sweep.Ratio:
		return tuning.Ratio
	}
	return tuning.Count
}

// si returns a value in that unit.
func si(k sweep.Kind, v float64) float64 {
	if k == sweep.Duration {
		return v / float64(sim.Second)
	}
	return v
}
