package scenarios

import "encoding"

// autoWord is how a value that is to be computed is written.
const autoWord = "auto"

// AutoValue returns an Auto that is to be computed.
func AutoValue[T any]() Auto[T] { return Auto[T]{Auto: true} }

// Given returns an Auto that has a value.
func Given[T any](v T) Auto[T] { return Auto[T]{Value: v} }

// Or returns the value, or computed where the value is to be computed.
func (a Auto[T]) Or(computed T) T {
	if a.Auto {
		return computed
	}
	return a.Value
}

// MarshalText prints auto or the value.
func (a Auto[T]) MarshalText() ([]byte, error) {
	if a.Auto {
		return []byte(autoWord), nil
	}
	return any(a.Value).(encoding.TextMarshaler).MarshalText()
}

// UnmarshalText reads auto or the value.
func (a *Auto[T]) UnmarshalText(text []byte) error {
	var v T
	if string(text) == autoWord {
		*a = Auto[T]{Auto: true}
		return nil
	}
	if err := any(&v).(encoding.TextUnmarshaler).UnmarshalText(text); err != nil {
		return err
	}
	*a = Auto[T]{Value: v}
	return nil
}
