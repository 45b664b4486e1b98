package scenarios

import (
	"fmt"
	"math"
	"path"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"rdmasim/reports/metric"
	"rdmasim/sim"
)

// Bounds of values that no type and no tag bounds.
const (
	maxDuration = 24 * 3600 * sim.Second
	maxBins     = 10_000_000 // of a time series
	minAlpha    = 1.0 / 65536
	maxAlpha    = 1024
	maxMatch    = 200
)

// Validate checks what a scenario says against itself. The error is an *Error
// with the place of the first thing that is wrong. What depends on the fabric is
// checked by ValidateOn.
func Validate(s *Spec) error {
	if err := s.walk(reflect.ValueOf(s).Elem(), "", nil); err != nil {
		return err
	}
	checks := []func() error{s.checkRun, s.checkSeries, s.checkLinks, s.checkRoutes, s.checkTraffic, s.checkFaults, s.checkExpect,
		func() error { return s.checkSwitch(&s.Switch, "switch") },
		func() error { return s.checkNIC(&s.NIC, "nic") },
	}
	for i := range s.Switches {
		at := "switches." + strconv.Itoa(i)
		checks = append(checks, func() error { return s.checkMatch(s.Switches[i].Match, at+".match") },
			func() error { return s.checkSwitch(&s.Switches[i].Switch, at) })
	}
	for i := range s.NICs {
		at := "nics." + strconv.Itoa(i)
		checks = append(checks, func() error { return s.checkMatch(s.NICs[i].Match, at+".match") },
			func() error { return s.checkNIC(&s.NICs[i].NIC, at) })
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// walk checks every value against the tags of its field and its type.
func (s *Spec) walk(v reflect.Value, at string, f *field) error {
	t := v.Type()
	switch {
	case t == memberType:
		return s.checkMember(v.Interface().(Member), at, catalogues[f.catalogue])
	case t == trafficType:
		return s.checkMember(v.Interface().(TrafficSpec).Member, at, catalogues["workload"])
	case t == faultType:
		return s.checkMember(v.Interface().(FaultSpec).Member, at, catalogues["fault"])
	case isText(t):
		return s.checkQuantity(v, at)
	}
	switch t.Kind() {
	case reflect.Struct:
		for _, g := range fieldsOf(t) {
			if err := s.walk(v.FieldByIndex(g.index), join(at, g.key), &g); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := s.walk(v.Index(i), join(at, strconv.Itoa(i)), f); err != nil {
				return err
			}
		}
	case reflect.Map:
		keys := v.MapKeys()
		sort.Slice(keys, func(i, j int) bool { return keys[i].Int() < keys[j].Int() })
		for _, k := range keys {
			name := strconv.FormatInt(k.Int(), 10)
			if f != nil && f.keys != nil && !f.keys.contains(k.Int()) {
				return s.errorAt(join(at, name), "", "key %s: want %v", name, f.keys)
			}
			if err := s.walk(v.MapIndex(k), join(at, name), f); err != nil {
				return err
			}
		}
	case reflect.Int, reflect.Int64, reflect.String:
		return s.checkScalar(v, at, f)
	}
	return nil
}

func (s *Spec) checkScalar(v reflect.Value, at string, f *field) error {
	if f == nil {
		return nil
	}
	text := fmt.Sprint(v.Interface())
	if f.oneOf != nil && !slices.Contains(f.oneOf, text) {
		return s.errorAt(at, orEmpty(text), "%swant one of %s", didYouMean(text, f.oneOf), strings.Join(f.oneOf, ", "))
	}
	if f.values != nil && v.CanInt() && !f.values.contains(v.Int()) {
		return s.errorAt(at, text, "want %v", f.values)
	}
	return nil
}

func orEmpty(text string) string {
	if text == "" {
		return `""`
	}
	return text
}

// checkQuantity refuses what only code can make: negative sizes and the like.
func (s *Spec) checkQuantity(v reflect.Value, at string) error {
	switch x := v.Interface().(type) {
	case sim.Ratio:
		if !(x >= 0) || math.IsInf(float64(x), 0) {
			return s.errorAt(at, x.String(), "want a ratio of 0 or more")
		}
	case Auto[sim.Bytes]:
		return s.checkQuantity(reflect.ValueOf(x.Value), at)
	case Auto[sim.Duration]:
		return s.checkQuantity(reflect.ValueOf(x.Value), at)
	default:
		if v.CanInt() && v.Int() < 0 {
			return s.errorAt(at, fmt.Sprint(x), "must not be negative")
		}
	}
	return nil
}

func (s *Spec) checkMember(m Member, at string, c catalogue) error {
	if m.Name == "" {
		return s.errorAt(at, "", "is missing: want one of %s", strings.Join(c.names(), ", "))
	}
	e, err := c.entry(m.Name)
	if err != nil {
		return s.Locate(at, err)
	}
	if at == "topology" {
		return nil // building a graph may be long: Graph does
	}
	return s.Locate(join(at, m.Name), e.build(m.Params))
}

func (s *Spec) checkRun() error {
	end, key := s.Duration, "duration"
	if s.UntilDone {
		end, key = s.MaxDuration, "max_duration"
	}
	bad := strings.IndexFunc(s.Name, func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(`/\:`, r) })
	switch {
	case strings.TrimSpace(s.Name) == "" || bad >= 0 || len(s.Name) > maxMatch || strings.Trim(s.Name, ".") == "":
		return s.errorAt("name", orEmpty(s.Name), `want up to %d printable characters without / \ and :, since it names a directory`, maxMatch)
	case end <= 0 && s.UntilDone:
		return s.errorAt(key, end.String(), "want more than 0s")
	case end <= 0:
		return s.errorAt(key, end.String(), "want more than 0s, or %s", untilDone)
	case end > maxDuration:
		return s.errorAt(key, end.String(), "want at most %v", maxDuration)
	case s.Warmup >= end:
		return s.errorAt("warmup", s.Warmup.String(), "nothing would be left to measure: want less than %s, %v", key, end)
	}
	return nil
}

func (s *Spec) checkSeries() error {
	iv := s.Series.Interval
	if iv == 0 || s.UntilDone {
		return nil
	}
	if s.Duration/iv > maxBins {
		return s.errorAt("series.interval", iv.String(), "makes %d bins in a duration of %v: want at most %d, that is an interval of at least %v, or 0s for no series",
			s.Duration/iv, s.Duration, maxBins, roundUp(s.Duration/maxBins))
	}
	return nil
}

// roundUp returns the next power of ten of d or above.
func roundUp(d sim.Duration) sim.Duration {
	p := sim.Duration(1)
	for p < d && p < sim.Second {
		p *= 10
	}
	return p
}

func (s *Spec) checkMatch(pattern, at string) error {
	if _, err := path.Match(pattern, ""); err != nil || pattern == "" || len(pattern) > maxMatch {
		return s.errorAt(at, orEmpty(pattern), "want a name, or a pattern such as tor* or *[02468]")
	}
	return nil
}

func (s *Spec) checkLinks() error {
	for i, l := range s.Links {
		at := "links." + strconv.Itoa(i)
		if err := s.checkMatch(l.A, at+".a"); err != nil {
			return err
		}
		if err := s.checkMatch(l.B, at+".b"); err != nil {
			return err
		}
		switch {
		case l.Delay != 0 && l.Cable != 0 && l.Cable.Delay() != l.Delay:
			return s.errorAt(at+".cable", l.Cable.String(), "takes %v, and delay is %v: give one of them", l.Cable.Delay(), l.Delay)
		case l.Loss > 1:
			return s.errorAt(at+".loss", l.Loss.String(), "want a probability from 0 to 1")
		case l.DataLoss > 1:
			return s.errorAt(at+".data_loss", l.DataLoss.String(), "want a probability from 0 to 1")
		case l.Rate == 0 && l.Delay == 0 && l.Cable == 0 && l.Loss == 0 && l.DataLoss == 0 && l.DropEvery == 0:
			return s.errorAt(at, "", "changes nothing: want rate, delay, cable, loss, data_loss or drop_every")
		}
	}
	return nil
}

func (s *Spec) checkTraffic() error {
	if len(s.Traffic) == 0 {
		return s.errorAt("traffic", "", "is missing: want a list of workloads, such as [{incast: {senders: 8}}]")
	}
	return nil
}

func (s *Spec) checkExpect() error {
	for i, text := range s.Expect {
		if _, err := metric.ParseExpectation(text); err != nil {
			return s.expectError(i, text, err)
		}
	}
	return nil
}

// expectError puts the place within an expectation on top of its own.
func (s *Spec) expectError(i int, text string, err error) error {
	at := "expect." + strconv.Itoa(i)
	bad, ok := err.(*metric.ExpectError)
	if !ok {
		return s.Locate(at, err)
	}
	e := s.errorAt(at, orEmpty(text), "%s", oneLine(bad.Problem)).(*Error)
	if e.Pos.Line > 0 && s.source.text(at) == text {
		e.Pos.Column += bad.Offset + s.source.quotes(at)
	}
	return e
}
