package main

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// withText returns a copy of the parameter struct params with the fields whose
// `key` tags are in set read from text.
func withText(params any, set map[string]string) (any, error) {
	v := reflect.New(reflect.TypeOf(params)).Elem()
	v.Set(reflect.ValueOf(params))
	var keys []string
	for i := range v.NumField() {
		key := v.Type().Field(i).Tag.Get("key")
		keys = append(keys, key)
		text, ok := set[key]
		if !ok {
			continue
		}
		switch f := v.Field(i).Addr().Interface().(type) {
		case encoding.TextUnmarshaler:
			if err := f.UnmarshalText([]byte(text)); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		case *string:
			*f = text
		case *bool:
			*f = text == "true"
		default:
			return nil, fmt.Errorf("%s cannot be given as text", key)
		}
	}
	for key := range set {
		if !slices.Contains(keys, key) {
			return nil, fmt.Errorf("it has no %s: it takes %s", key, strings.Join(keys, ", "))
		}
	}
	return v.Interface(), nil
}
