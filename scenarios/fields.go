package scenarios

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// field is one key of a struct, as its tags describe it.
type field struct {
	key, doc  string
	index     []int // for reflect.Value.FieldByIndex
	typ       reflect.Type
	oneOf     []string
	values    *interval // of numbers, also those in lists and maps
	keys      *interval // of keys of a map
	required  bool
	catalogue string
}

// interval is a closed range of whole numbers.
type interval struct{ low, high int64 }

func (r interval) contains(v int64) bool { return v >= r.low && v <= r.high }
func (r interval) String() string        { return fmt.Sprintf("%d..%d", r.low, r.high) }

func parseInterval(tag string) *interval {
	if tag == "" {
		return nil
	}
	a, b, ok := strings.Cut(tag, "..")
	low, err1 := strconv.ParseInt(a, 10, 64)
	high, err2 := strconv.ParseInt(b, 10, 64)
	if !ok || err1 != nil || err2 != nil {
		panic(fmt.Sprintf("range %q in a tag: want low..high", tag))
	}
	return &interval{low, high}
}

var fieldCache sync.Map // reflect.Type to []field

// fieldsOf returns the keys of a struct in order, those of embedded and inline
// structs among them. Fields without a key are passed over.
func fieldsOf(t reflect.Type) []field {
	if f, ok := fieldCache.Load(t); ok {
		return f.([]field)
	}
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		key := f.Tag.Get("key")
		switch {
		case f.Anonymous && key == "" && f.Type.Kind() == reflect.Struct, key == ",inline":
			for _, g := range fieldsOf(f.Type) {
				g.index = append([]int{i}, g.index...)
				list = append(list, g)
			}
			continue
		case key == "" || key == "-" || !f.IsExported():
			continue
		}
		g := field{
			key: key, doc: f.Tag.Get("doc"), index: []int{i}, typ: f.Type,
			values: parseInterval(f.Tag.Get("range")), keys: parseInterval(f.Tag.Get("keys")),
			required: f.Tag.Get("required") == "true", catalogue: f.Tag.Get("catalogue"),
		}
		if words := f.Tag.Get("oneof"); words != "" {
			g.oneOf = strings.Split(words, ",")
		}
		list = append(list, g)
	}
	fieldCache.Store(t, list)
	return list
}

// hasField reports whether the struct params has that key.
func hasField(params any, key string) bool {
	t := reflect.TypeOf(params)
	if t == nil || t.Kind() != reflect.Struct {
		return false
	}
	for _, f := range fieldsOf(t) {
		if f.key == key {
			return true
		}
	}
	return false
}
