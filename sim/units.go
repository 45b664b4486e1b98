// Package sim is the ground on which every model stands: time, rates and sizes
// as typed integers, the window engine, named random streams and catalogues.
// It imports nothing else of this project.
package sim

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// Time is a point of simulated time in picoseconds since the start of a run.
// A byte lasts a whole number of picoseconds at every Ethernet rate (80 ps at
// 100 Gb/s, 5 ps at 1.6 Tb/s), so that nothing is rounded.
type Time int64

// Duration is a span of simulated time in picoseconds.
type Duration int64

// Units of time.
const (
	Picosecond  Duration = 1
	Nanosecond           = 1000 * Picosecond
	Microsecond          = 1000 * Nanosecond
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond

	// Never is later than every event of a run.
	Never Time = math.MaxInt64
)

// Add returns t+d, saturating at Never.
func (t Time) Add(d Duration) Time {
	if s := t + Time(d); d < 0 || s >= t {
		return s
	}
	return Never
}

// Sub returns the span from u to t.
func (t Time) Sub(u Time) Duration { return Duration(t - u) }

// Seconds returns t in seconds.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// Seconds returns d in seconds.
func (d Duration) Seconds() float64 { return float64(d) / float64(Second) }

// Rate is a bit rate in bit/s.
type Rate int64

// Units of rate.
const (
	BitPerSecond Rate = 1
	Kbps              = 1000 * BitPerSecond
	Mbps              = 1000 * Kbps
	Gbps              = 1000 * Mbps
	Tbps              = 1000 * Gbps
)

// Bytes is a count of bytes.
type Bytes int64

// Units of size: KB is 1000 bytes, KiB is 1024.
const (
	Byte Bytes = 1
	KB         = 1000 * Byte
	MB         = 1000 * KB
	GB         = 1000 * MB
	TB         = 1000 * GB
	KiB        = 1024 * Byte
	MiB        = 1024 * KiB
	GiB        = 1024 * MiB
	TiB        = 1024 * GiB
)

// Length is a cable length in millimetres.
type Length int64

// Units of length.
const (
	Millimetre Length = 1
	Metre             = 1000 * Millimetre
	Kilometre         = 1000 * Metre
)

// PropagationPerMetre is the delay of light in fibre and of signals in copper,
// rounded as IEEE 802.1Qbb annex O and the switch vendors do: 5 ns/m.
const PropagationPerMetre = 5 * Nanosecond

// Delay returns the propagation delay of the cable.
func (l Length) Delay() Duration { return Duration(l) * PropagationPerMetre / Duration(Metre) }

// Ratio is a dimensionless share; in text 0.2, 20% and 1/5 are the same.
type Ratio float64

// TxTime returns how long n bytes occupy a link of rate r, rounded up to a
// picosecond. It saturates at the largest Duration; a rate of 0 or less never
// ends.
func (r Rate) TxTime(n Bytes) Duration {
	if r <= 0 {
		return Duration(math.MaxInt64)
	}
	hi, lo := bits.Mul64(uint64(n)*8, uint64(Second))
	if hi >= uint64(r) {
		return Duration(math.MaxInt64)
	}
	q, rem := bits.Div64(hi, lo, uint64(r))
	if rem > 0 {
		q++
	}
	if q > math.MaxInt64 {
		return Duration(math.MaxInt64)
	}
	return Duration(q)
}

// BytesIn returns how many whole bytes a link of rate r carries in d.
func (r Rate) BytesIn(d Duration) Bytes {
	if r <= 0 || d <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(r), uint64(d))
	den := uint64(Second) * 8
	if hi >= den {
		return Bytes(math.MaxInt64)
	}
	q, _ := bits.Div64(hi, lo, den)
	if q > math.MaxInt64 {
		return Bytes(math.MaxInt64)
	}
	return Bytes(q)
}

type unit struct {
	name  string
	scale int64
}

var (
	timeUnits = []unit{{"s", int64(Second)}, {"ms", int64(Millisecond)}, {"us", int64(Microsecond)}, {"ns", int64(Nanosecond)}, {"ps", 1},
		{"µs", int64(Microsecond)}, {"min", 60 * int64(Second)}}
	rateUnits = []unit{{"Tbps", int64(Tbps)}, {"Gbps", int64(Gbps)}, {"Mbps", int64(Mbps)}, {"Kbps", int64(Kbps)}, {"bps", 1},
		{"Tb/s", int64(Tbps)}, {"Gb/s", int64(Gbps)}, {"Mb/s", int64(Mbps)}, {"Kb/s", int64(Kbps)}, {"kbps", int64(Kbps)}, {"kb/s", int64(Kbps)}, {"b/s", 1}, {"T", int64(Tbps)}, {"G", int64(Gbps)}}
	byteUnits = []unit{{"B", 1}, {"KB", int64(KB)}, {"MB", int64(MB)}, {"GB", int64(GB)}, {"TB", int64(TB)},
		{"KiB", int64(KiB)}, {"MiB", int64(MiB)}, {"GiB", int64(GiB)}, {"TiB", int64(TiB)}, {"kB", int64(KB)}}
	lengthUnits = []unit{{"m", int64(Metre)}, {"km", int64(Kilometre)}, {"cm", 10}, {"mm", 1}}
)

// parseUnit reads a non-negative decimal number followed by one of units and
// returns it in the base unit, exactly; a fraction of the base unit is an error.
func parseUnit(kind, s string, units []unit, example string) (int64, error) {
	t := strings.TrimSpace(s)
	i := 0
	for i < len(t) && (t[i] >= '0' && t[i] <= '9' || t[i] == '.' || t[i] == '-' || t[i] == '+' ||
		(t[i] == 'e' || t[i] == 'E') && i+1 < len(t) && (t[i+1] >= '0' && t[i+1] <= '9' || t[i+1] == '-' || t[i+1] == '+')) {
		i++
	}
	num, name := t[:i], strings.TrimSpace(t[i:])
	if num == "" {
		return 0, fmt.Errorf("%q is not a %s: want a number with a unit, for example %s", s, kind, example)
	}
	if name == "" {
		return 0, fmt.Errorf("%q has no unit: write a %s as %s", s, kind, example)
	}
	for _, u := range units {
		if u.name != name {
			continue
		}
		if len(num) > 40 || exponentTooLarge(num) {
			return 0, fmt.Errorf("%q is not a %s: the number is too long", s, kind)
		}
		r, ok := new(big.Rat).SetString(num)
		if !ok {
			return 0, fmt.Errorf("%q is not a %s: %q is not a number", s, kind, num)
		}
		r.Mul(r, new(big.Rat).SetInt64(u.scale))
		if r.Sign() < 0 {
			return 0, fmt.Errorf("%q: a %s must not be negative", s, kind)
		}
		if !r.IsInt() {
			return 0, fmt.Errorf("%q: a %s finer than %s cannot be represented", s, kind, baseName(units))
		}
		if !r.Num().IsInt64() {
			return 0, fmt.Errorf("%q: the %s is too large", s, kind)
		}
		return r.Num().Int64(), nil
	}
	names := make([]string, 0, len(units))
	for _, u := range units {
		names = append(names, u.name)
	}
	return 0, fmt.Errorf("%q has an unknown unit %q: a %s takes one of %s", s, name, kind, strings.Join(names, ", "))
}

func exponentTooLarge(num string) bool {
	i := strings.IndexAny(num, "eE")
	if i < 0 {
		return false
	}
	e, err := strconv.Atoi(num[i+1:])
	return err != nil || e > 30 || e < -30
}

func baseName(units []unit) string {
	for _, u := range units {
		if u.scale == 1 {
			return "1 " + u.name
		}
	}
	return "the base unit"
}

// ParseDuration reads a duration such as 500ns, 1.5us, 10ms.
func ParseDuration(s string) (Duration, error) {
	v, err := parseUnit("duration", s, timeUnits, "500ns or 10ms")
	return Duration(v), err
}

// ParseRate reads a rate such as 100Gbps, 40Mb/s.
func ParseRate(s string) (Rate, error) {
	v, err := parseUnit("rate", s, rateUnits, "100Gbps")
	return Rate(v), err
}

// ParseBytes reads a size such as 400KB, 32MiB.
func ParseBytes(s string) (Bytes, error) {
	v, err := parseUnit("size", s, byteUnits, "400KB or 32MiB")
	return Bytes(v), err
}

// ParseLength reads a cable length such as 40m.
func ParseLength(s string) (Length, error) {
	v, err := parseUnit("length", s, lengthUnits, "40m")
	return Length(v), err
}

// ParseRatio reads 0.2, 20%, 1/5 or a power of two such as 2^-3.
func ParseRatio(s string) (Ratio, error) {
	t := strings.TrimSpace(s)
	bad := fmt.Errorf("%q is not a ratio: write 0.2, 20%% or 1/5", s)
	scale := 1.0
	if p, ok := strings.CutSuffix(t, "%"); ok {
		t, scale = strings.TrimSpace(p), 100
	}
	var v float64
	if n, ok := strings.CutPrefix(t, "2^"); ok {
		e, err := strconv.Atoi(strings.TrimSpace(n))
		if err != nil || e < -64 || e > 64 {
			return 0, bad
		}
		v = math.Ldexp(1, e)
	} else if a, b, ok := strings.Cut(t, "/"); ok {
		x, err1 := strconv.ParseFloat(strings.TrimSpace(a), 64)
		y, err2 := strconv.ParseFloat(strings.TrimSpace(b), 64)
		if err1 != nil || err2 != nil || y == 0 {
			return 0, bad
		}
		v = x / y
	} else {
		x, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return 0, bad
		}
		v = x
	}
	v /= scale
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, bad
	}
	return Ratio(v), nil
}

// format prints v in the largest unit of units in which it is exact with at
// most three decimals; parsing the result gives v again.
func format(v int64, units []unit) string {
	if v == 0 {
		for _, u := range units {
			if u.scale == 1 {
				return "0" + u.name
			}
		}
	}
	best := ""
	var scale int64
	for _, u := range units {
		if u.scale > scale && abs(v) >= u.scale && (u.scale < 1000 && v%u.scale == 0 || v%max(u.scale/1000, 1) == 0) {
			best, scale = u.name, u.scale
		}
	}
	if best == "" {
		for _, u := range units {
			if u.scale == 1 {
				best, scale = u.name, 1
			}
		}
	}
	sign, q, r := "", v/scale, v%scale
	if v < 0 {
		sign, q, r = "-", -q, -r
	}
	if r == 0 {
		return sign + strconv.FormatInt(q, 10) + best
	}
	frac := strings.TrimRight(fmt.Sprintf("%03d", r/max(scale/1000, 1)), "0")
	return sign + strconv.FormatInt(q, 10) + "." + frac + best
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

var (
	timePrint   = timeUnits[:5]
	ratePrint   = rateUnits[:5]
	bytePrint   = byteUnits[:5]
	binaryPrint = []unit{{"B", 1}, {"KiB", int64(KiB)}, {"MiB", int64(MiB)}, {"GiB", int64(GiB)}, {"TiB", int64(TiB)}}
	lengthPrint = []unit{{"km", int64(Kilometre)}, {"m", int64(Metre)}, {"mm", 1}}
)

func (t Time) String() string {
	if t == Never {
		return "never"
	}
	return format(int64(t), timePrint)
}
func (d Duration) String() string { return format(int64(d), timePrint) }
func (r Rate) String() string     { return format(int64(r), ratePrint) }
func (l Length) String() string   { return format(int64(l), lengthPrint) }

// String prints whole KiB, MiB and GiB as such and everything else in decimal units.
func (b Bytes) String() string {
	if b != 0 && b%KiB == 0 && b%KB != 0 {
		for i := len(binaryPrint) - 1; i > 0; i-- {
			if u := binaryPrint[i]; int64(b)%u.scale == 0 {
				return strconv.FormatInt(int64(b)/u.scale, 10) + u.name
			}
		}
	}
	return format(int64(b), bytePrint)
}

func (r Ratio) String() string { return strconv.FormatFloat(float64(r), 'g', -1, 64) }

// MarshalText and UnmarshalText make the types readable in every text format.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
func (r Rate) MarshalText() ([]byte, error)     { return []byte(r.String()), nil }
func (b Bytes) MarshalText() ([]byte, error)    { return []byte(b.String()), nil }
func (l Length) MarshalText() ([]byte, error)   { return []byte(l.String()), nil }

func (d *Duration) UnmarshalText(p []byte) (err error) { *d, err = ParseDuration(string(p)); return }
func (r *Rate) UnmarshalText(p []byte) (err error)     { *r, err = ParseRate(string(p)); return }
func (b *Bytes) UnmarshalText(p []byte) (err error)    { *b, err = ParseBytes(string(p)); return }
func (l *Length) UnmarshalText(p []byte) (err error)   { *l, err = ParseLength(string(p)); return }
func (r *Ratio) UnmarshalText(p []byte) (err error)    { *r, err = ParseRatio(string(p)); return }
