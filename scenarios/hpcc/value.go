package hpcc

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"rdmasim/sim"
)

func parseInt(s string, low, high int64) (int64, error) {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v < low || v > high {
		return 0, fmt.Errorf("%q: want a whole number from %d to %d", clip(s), low, high)
	}
	return v, nil
}

func parseFloat(s string, low, high float64) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= low && v <= high) {
		return 0, fmt.Errorf("%q: want a number from %g to %g", clip(s), low, high)
	}
	return v, nil
}

// parseBool reads 0 or 1, which is how the format writes them.
func parseBool(s string) (bool, error) {
	if s != "0" && s != "1" {
		return false, fmt.Errorf("%q: want 0 or 1", clip(s))
	}
	return s == "1", nil
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// parseRate reads a DataRate of ns-3: 100Gbps, 40Mb/s, or a plain number of
// bit/s such as 25000000000.0. It must be positive.
func parseRate(s string) (sim.Rate, error) {
	text := s
	if isNumber(s) {
		text = s + "bps"
	}
	r, err := sim.ParseRate(text)
	if err != nil || r <= 0 {
		return 0, fmt.Errorf("%q is not a rate: want 100Gbps, 40Mb/s or a number of bit/s", clip(s))
	}
	return r, nil
}

// maxDelay is longer than any link; a delay above it is one whose unit was forgotten.
const maxDelay = sim.Second

// parseDelay reads a Time of ns-3: 1us, 0.001ms, 1000ns, or a plain number of
// seconds. What is finer than a nanosecond, the resolution there, is cut off.
func parseDelay(s string) (sim.Duration, error) {
	text := s
	if isNumber(s) {
		text = s + "s"
	}
	num := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzµ")
	scale, ok := map[string]int64{"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[text[len(num):]]
	v, ok2 := exact(num)
	if !ok || !ok2 || v.Sign() < 0 {
		return 0, fmt.Errorf("%q is not a delay: want 1us, 0.001ms or 1000ns", clip(s))
	}
	ns := new(big.Int).Quo(new(big.Int).Mul(v.Num(), big.NewInt(scale)), v.Denom())
	if ns.Cmp(big.NewInt(int64(maxDelay/sim.Nanosecond))) > 0 {
		return 0, fmt.Errorf("%q: a link delay above %v; a number without a unit is in seconds in this format", clip(s), maxDelay)
	}
	return sim.Duration(ns.Int64()) * sim.Nanosecond, nil
}

// exact reads a decimal number of moderate length without rounding.
func exact(s string) (*big.Rat, bool) {
	if len(s) == 0 || len(s) > 40 || strings.Trim(s, "0123456789.eE+-") != "" {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if e, err := strconv.Atoi(s[i+1:]); err != nil || e < -30 || e > 30 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}

// maxTime bounds times of flows and of runs: ten days.
const maxTime = 10 * 24 * 3600

// parseSeconds reads a time in seconds, exactly to the picosecond.
func parseSeconds(s string) (sim.Duration, error) {
	v, ok := exact(s)
	if !ok || v.Sign() < 0 || v.Cmp(big.NewRat(maxTime, 1)) > 0 {
		return 0, fmt.Errorf("%q: want seconds from 0 to %d", clip(s), maxTime)
	}
	v.Mul(v, new(big.Rat).SetInt64(int64(sim.Second)))
	return sim.Duration(new(big.Int).Quo(v.Num(), v.Denom()).Int64()), nil
}

// nanoseconds returns the start of a flow as that model has it: the decimal
// number of seconds becomes a double, and the double is cut off to whole
// nanoseconds, so that 2.000005827 s is 2000005826 ns.
func nanoseconds(s string) (sim.Duration, error) {
	if _, err := parseSeconds(s); err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, err
	}
	v := new(big.Rat).SetFloat64(f)
	v.Mul(v, big.NewRat(1_000_000_000, 1))
	return sim.Duration(new(big.Int).Quo(v.Num(), v.Denom()).Int64()) * sim.Nanosecond, nil
}

// nearest returns the name that is closest to s in edits, or "" if none is near.
func nearest(s string, names []string) string {
	best, least := "", len(s)/2+1
	for _, n := range names {
		if d := sim.EditDistance(s, n); d < least {
			best, least = n, d
		}
	}
	return best
}
