package sweep

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"rdmasim/sim"
)

// Kind is what a quantity measures; it says in which unit Value is.
type Kind uint8

// Kinds of quantities. A number without a unit is a Count where it is whole
// and a Ratio where it is written with a point, %, / or exponent.
const (
	Count    Kind = iota // whole numbers
	Ratio                // numbers without a unit
	Bytes                // bytes
	Rate                 // bits per second
	Duration             // picoseconds
	Length               // millimetres
)

var kindNames = [...]string{"whole number", "ratio", "size", "rate", "duration", "length"}

// String returns the name of the kind.
func (k Kind) String() string { return kindNames[k] }

// Quantity is a number with its kind.
type Quantity struct {
	Kind  Kind
	Value float64 // whole but for ratios
}

// mostExact is up to which a float64 holds every whole number.
const mostExact = 1 << 53

// ParseQuantity reads what a scenario takes as a number: 400KB, 100Gbps, 55us,
// 40m, 20%, 1/8, 0.2, 16.
func ParseQuantity(text string) (Quantity, error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return whole(Count, n, text)
	}
	if r, err := sim.ParseRatio(text); err == nil {
		return Quantity{Ratio, float64(r)}, nil
	}
	if n, err := sim.ParseBytes(text); err == nil {
		return whole(Bytes, int64(n), text)
	}
	if n, err := sim.ParseRate(text); err == nil {
		return whole(Rate, int64(n), text)
	}
	if n, err := sim.ParseDuration(text); err == nil {
		return whole(Duration, int64(n), text)
	}
	if n, err := sim.ParseLength(text); err == nil {
		return whole(Length, int64(n), text)
	}
	return Quantity{}, errors.New("want a number such as 400KB, 100Gbps, 55us, 40m, 20% or 16")
}

func whole(k Kind, n int64, text string) (Quantity, error) {
	if n > mostExact || n < -mostExact {
		return Quantity{}, fmt.Errorf("%s is too large: want at most 2^53 of the smallest unit", text)
	}
	return Quantity{k, float64(n)}, nil
}

// String returns the quantity as a scenario takes it. Parsing it gives the same
// quantity, though a ratio that is whole is parsed as a Count.
func (q Quantity) String() string {
	n := int64(math.Round(q.Value))
	switch q.Kind {
	case Bytes:
		return sim.Bytes(n).String()
	case Rate:
		return sim.Rate(n).String()
	case Duration:
		return sim.Duration(n).String()
	case Length:
		return sim.Length(n).String()
	case Count:
		return strconv.FormatInt(n, 10)
	}
	return strconv.FormatFloat(q.Value, 'g', -1, 64)
}

// SI returns the value in bytes, bits per second, seconds or metres, or as it is.
func (q Quantity) SI() float64 {
	switch q.Kind {
	case Duration:
		return sim.Duration(q.Value).Seconds()
	case Length:
		return q.Value / float64(sim.Metre)
	}
	return q.Value
}

// Range is an interval of quantities of one kind.
type Range struct {
	Kind      Kind
	Low, High float64
	Log       bool    // even steps multiply instead of adding
	Step      float64 // values are whole multiples of it; 0 = as fine as the kind
}

// NewRange checks the ends of a range; step may be zero.
func NewRange(low, high, step Quantity, log bool) (Range, error) {
	r := Range{Kind: low.Kind, Low: low.Value, High: high.Value, Log: log, Step: step.Value}
	if low.Kind != high.Kind {
		if max(low.Kind, high.Kind) > Ratio {
			return r, fmt.Errorf("%v is a %v and %v a %v: want two of the same kind", low, low.Kind, high, high.Kind)
		}
		r.Kind = Ratio
	}
	numbers := r.Kind <= Ratio && step.Kind <= Ratio
	switch {
	case !(low.Value < high.Value):
		return r, fmt.Errorf("the range from %v to %v is empty", low, high)
	case log && low.Value <= 0:
		return r, fmt.Errorf("a logarithmic range begins above 0, not at %v", low)
	case step.Value != 0 && step.Kind != r.Kind && !numbers:
		return r, fmt.Errorf("values of the kind of %v cannot be rounded to %v", low, step)
	case step.Value < 0 || r.Kind == Count && step.Value != math.Trunc(step.Value):
		return r, fmt.Errorf("values cannot be rounded to %v", step)
	case step.Value > 0 && math.Floor(high.Value/step.Value) < math.Ceil(low.Value/step.Value):
		return r, fmt.Errorf("no multiple of %v lies from %v to %v", step, low, high)
	}
	return r, nil
}

// At returns the value at u in 0..1: linear between the ends, or on a
// logarithmic scale, rounded, and always in the range.
func (r Range) At(u float64) Quantity {
	u = min(max(u, 0), 1)
	v := r.Low + float64(u*(r.High-r.Low))
	if r.Log {
		v = r.Low * math.Exp(float64(u*math.Log(r.High/r.Low)))
	}
	return Quantity{r.Kind, r.Round(v)}
}

// Round returns the value that is nearest to v among those of the range.
func (r Range) Round(v float64) float64 {
	step := r.Step
	if step == 0 && r.Kind != Ratio {
		step = 1
	}
	v = min(max(v, r.Low), r.High)
	if step == 0 {
		return min(max(tidy(v, 6), r.Low), r.High)
	}
	n := math.Round(v / step)
	n = min(max(n, math.Ceil(r.Low/step)), math.Floor(r.High/step))
	if r.Kind == Ratio {
		return tidy(n*step, 12)
	}
	return float64(n * step)
}

// Where is the inverse of At but for rounding.
func (r Range) Where(v float64) float64 {
	if r.Log {
		return math.Log(v/r.Low) / math.Log(r.High/r.Low)
	}
	return (v - r.Low) / (r.High - r.Low)
}

// tidy rounds to so many decimal digits: 3 x 0.1 is 0.3, and what a range gives
// can be read.
func tidy(v float64, digits int) float64 {
	t, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v
	}
	return t
}

func roundTo(v, step float64) float64 { return float64(math.Round(v/step) * step) }
