package credibility

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Today is what samples say together: rates of what counts, and watermarks.
type Today struct {
	Files    []string
	Interval time.Duration // that rates are taken over
	Value    map[Key]float64
	Notes    []string

	all [2]map[string]bool // ports to count, of switches and of NICs, whether anything counts on them or not; nil = those on which something does
}

// Combine makes rates of samples. A counter that two samples have is their
// difference, the first sample given being the earlier one; one that a single
// sample has counts since it was cleared. The interval is the one given, else
// the time between two samples, or since when the table says that it counts.
func Combine(samples []*Sample, interval time.Duration) (*Today, error) {
	if len(samples) == 0 {
		return nil, fmt.Errorf("no counters: want at least one file")
	}
	t := &Today{Interval: interval, Value: map[Key]float64{}}
	first, last := map[Key]*Sample{}, map[Key]*Sample{}
	for _, s := range samples {
		t.Files = append(t.Files, s.File)
		for k := range s.Value {
			switch {
			case first[k] == nil:
				first[k] = s
			case last[k] != nil:
				return nil, fmt.Errorf("%s: %s of %s stands in three files: want one sample, or one before and one after", s.File, k.Kind, k.Port)
			default:
				last[k] = s
			}
		}
	}
	if err := t.findInterval(first, last); err != nil {
		return nil, err
	}
	alone := 0
	for k, a := range first {
		v := a.Value[k]
		switch b := last[k]; {
		case k.Kind.Watermark() && b != nil:
			v = max(v, b.Value[k])
		case k.Kind.Watermark():
		case b != nil:
			if b.Value[k] < v {
				return nil, fmt.Errorf("%s: %s of %s fell from %.0f to %.0f since %s: it was cleared in between, or the files are in the wrong order", b.File, k.Kind, k.Port, v, b.Value[k], a.File)
			}
			v = (b.Value[k] - v) / t.Interval.Seconds()
		default:
			if len(last) > 0 && hasPair(last, k) {
				alone++
				continue
			}
			v /= t.Interval.Seconds()
		}
		t.Value[k] = v
	}
	if alone > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d counters stand in one of two samples only and are left out.", alone))
	}
	return t, nil
}

// hasPair reports whether any counter of the same kind was sampled twice.
func hasPair(last map[Key]*Sample, k Key) bool {
	for other := range last {
		if other.Kind == k.Kind {
			return true
		}
	}
	return false
}

// findInterval needs an interval if anything counts.
func (t *Today) findInterval(first, last map[Key]*Sample) error {
	if t.Interval < 0 {
		return fmt.Errorf("interval %v: want more than 0", t.Interval)
	}
	if t.Interval > 0 {
		return nil
	}
	var found []time.Duration
	for k, a := range first {
		if k.Kind.Watermark() {
			continue
		}
		d := time.Duration(0)
		switch b := last[k]; {
		case b != nil && !a.Time.IsZero() && !b.Time.IsZero():
			d = b.Time.Sub(a.Time)
		case b == nil && !a.Since.IsZero() && !a.Time.IsZero():
			d = a.Time.Sub(a.Since)
		}
		if d <= 0 {
			return fmt.Errorf("%s: over what time %s counts is not known: want --interval, or a line with the date (date -Is) in each file", a.File, k.Kind)
		}
		found = append(found, d)
	}
	if len(found) == 0 {
		return nil // watermarks alone
	}
	lo, hi := slices.Min(found), slices.Max(found)
	if hi > lo+lo/10 {
		return fmt.Errorf("the files cover different times, %v and %v: want samples of one interval, or --interval", lo, hi)
	}
	t.Interval = hi
	return nil
}

// ports returns the ports of switches or NICs on which anything counts.
func (t *Today) ports(nic bool) map[string]bool {
	if all := t.all[sideOf(nic)]; all != nil {
		return all
	}
	used := map[string]bool{}
	for k, v := range t.Value {
		if strings.HasPrefix(string(k.Kind), "nic_") == nic && v > 0 {
			used[k.Port] = true
		}
	}
	return used
}
