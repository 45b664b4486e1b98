package metric

import (
	"fmt"

	"rdmasim/sim"
)

// setSize reads a bound on the size of messages.
func (f *filter) setSize(key, value string) error {
	b, err := sim.ParseBytes(value)
	if err != nil {
		return fmt.Errorf("%q is not a size: write 100KB", value)
	}
	v := float64(b)
	if key == "min_bytes" {
		f.least = &v
	} else {
		f.most = &v
	}
	if f.least != nil && f.most != nil && *f.least > *f.most {
		return fmt.Errorf("%s: no size is left: min_bytes must not be above max_bytes", value)
	}
	return nil
}

// sized reports whether the size of a message is within the bounds, which
// belong to it.
func (f *filter) sized(b sim.Bytes) bool {
	v := float64(b)
	return (f.least == nil || v >= *f.least) && (f.most == nil || v <= *f.most)
}
