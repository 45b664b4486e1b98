package tune

import (
	"math"
	"strconv"

	"rdmasim/reports/tuning"
	"rdmasim/sim"
)

// kind is what the values of a parameter are. Values are numbers in its base
// unit: bytes, ratio, picoseconds, bit/s, count; of a choice, its place in the
// list.
type kind uint8

const (
	kindBytes kind = iota
	kindRatio
	kindDuration
	kindRate
	kindCount
	kindChoice
)

// parseValue reads a value of one of the kinds in turn.
func parseValue(text string, kinds ...kind) (float64, kind, bool) {
	for _, k := range kinds {
		switch k {
		case kindBytes:
			if v, err := sim.ParseBytes(text); err == nil {
				return float64(v), k, true
			}
		case kindRatio:
			if v, err := sim.ParseRatio(text); err == nil {
				return float64(v), k, true
			}
		case kindDuration:
			if v, err := sim.ParseDuration(text); err == nil {
				return float64(v), k, true
			}
		case kindRate:
			if v, err := sim.ParseRate(text); err == nil {
				return float64(v), k, true
			}
		case kindCount:
			if v, err := strconv.ParseInt(text, 10, 64); err == nil {
				return float64(v), k, true
			}
		}
	}
	return 0, 0, false
}

// text writes a value as a scenario reads it.
func (k kind) text(v float64) string {
	switch k {
	case kindBytes:
		return sim.Bytes(math.Round(v)).String()
	case kindDuration:
		return sim.Duration(math.Round(v)).String()
	case kindRate:
		return sim.Rate(math.Round(v)).String()
	case kindCount:
		return strconv.FormatInt(int64(math.Round(v)), 10)
	}
	// Ratios of per cents and powers of two have few digits; what rounding to a
	// step leaves behind them is not part of the value.
	return strconv.FormatFloat(v, 'g', 12, 64)
}

// unit is the unit of metrics.json.
func (k kind) unit() string {
	return [...]string{tuning.Bytes, tuning.Ratio, tuning.Seconds, tuning.BitsPerS, tuning.Count, tuning.Count}[k]
}

// si returns a value in that unit.
func (k kind) si(v float64) float64 {
	if k == kindDuration {
		return v / float64(sim.Second)
	}
	return v
}

// what names the kind in errors.
func (k kind) what() string {
	return [...]string{"a size", "a ratio", "a duration", "a rate", "a whole number", "a word"}[k]
}
