package switchconf

import (
	"cmp"
	"fmt"
)

// Kind says how a value came to be.
type Kind int

// The kinds of values. The zero kind is that of a value that nobody gave.
const (
	Missing   Kind = iota // nobody gave it and nothing stands in for it
	Given                 // it stands in a file
	Defaulted             // a default stands in for it; Why names its source
	Computed              // it follows from other values; Why says from which
)

// String returns the word for the kind.
func (k Kind) String() string {
	switch k {
	case Given:
		return "given"
	case Defaulted:
		return "defaulted"
	case Computed:
		return "computed"
	}
	return "missing"
}

// Origin says where a value comes from.
type Origin struct {
	Kind   Kind
	File   string // name as the user wrote it, "" when there is none
	Line   int    // of File, from 1; 0 when unknown
	Column int    // of Line in bytes, from 1; 0 when unknown
	Path   string // within File: a JSON pointer (RFC 6901) such as /BUFFER_POOL/egress_lossy_pool/size, or keys of a scenario
	Why    string // of values that were not given
}

// String returns file:line:column: path, or as much of it as is known.
func (o Origin) String() string {
	s := o.File
	if o.Line > 0 {
		s = fmt.Sprintf("%s:%d:%d", s, o.Line, max(o.Column, 1))
	}
	if s != "" && o.Path != "" {
		s += ": "
	}
	return cmp.Or(s+o.Path, o.Why, o.Kind.String())
}

// Value is a value that knows where it comes from.
type Value[T any] struct {
	V    T
	From Origin
}

// IsSet reports whether the value was given, defaulted or computed.
func (v Value[T]) IsSet() bool { return v.From.Kind != Missing }

// IsGiven reports whether the value stands in a file.
func (v Value[T]) IsGiven() bool { return v.From.Kind == Given }

// Or returns the value, or other when it is not set.
func (v Value[T]) Or(other T) T {
	if v.IsSet() {
		return v.V
	}
	return other
}

// Of returns a value that was given without a file, as by code.
func Of[T any](v T) Value[T] { return Value[T]{V: v, From: Origin{Kind: Given}} }

// Default returns a value that stands in for one that was not given; why names
// the source of the default.
func Default[T any](v T, why string) Value[T] {
	return Value[T]{V: v, From: Origin{Kind: Defaulted, Why: why}}
}

// Compute returns a value that follows from others; why says from which.
func Compute[T any](v T, why string) Value[T] {
	return Value[T]{V: v, From: Origin{Kind: Computed, Why: why}}
}
