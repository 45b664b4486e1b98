package scenarios

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"rdmasim/sim"
)

// shape is the kind of a tree node.
type shape int

const (
	number shape = iota // as written, and in JSON
	truth
	quantity // text that a typed value reads; a string in JSON
	word     // a string
	list
	object
)

// tree is a scenario as data for YAML and JSON alike, keys in order.
type tree struct {
	shape shape
	text  string
	keys  []string // of an object
	items []*tree
}

func (t *tree) add(key string, item *tree) {
	t.keys, t.items = append(t.keys, key), append(t.items, item)
}

var marshalerType = reflect.TypeFor[encoding.TextMarshaler]()

// treeOf returns v as a tree.
func treeOf(v reflect.Value) *tree {
	t := v.Type()
	switch {
	case t == memberType:
		m := v.Interface().(Member)
		out := &tree{shape: object}
		out.add(m.Name, treeOf(reflect.ValueOf(m.Params)))
		return out
	case t == trafficType:
		return treeOf(reflect.ValueOf(v.Interface().(TrafficSpec).Member))
	case t == faultType:
		return treeOf(reflect.ValueOf(v.Interface().(FaultSpec).Member))
	case t == reflect.TypeFor[sim.Ratio]():
		return &tree{shape: number, text: strconv.FormatFloat(v.Float(), 'g', -1, 64)}
	case t.Implements(marshalerType):
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			panic(fmt.Sprintf("%v: %v", t, err)) // no MarshalText of sim or of a catalogue fails
		}
		return &tree{shape: quantity, text: zeroInPlainUnits(string(text))}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &tree{shape: truth, text: strconv.FormatBool(v.Bool())}
	case reflect.String:
		return &tree{shape: word, text: strings.ToValidUTF8(v.String(), "\uFFFD")}
	case reflect.Float64:
		return &tree{shape: number, text: strconv.FormatFloat(v.Float(), 'g', -1, 64)}
	case reflect.Slice:
		out := &tree{shape: list}
		for i := range v.Len() {
			out.items = append(out.items, treeOf(v.Index(i)))
		}
		return out
	case reflect.Map:
		return mapTree(v)
	case reflect.Struct:
		return structTree(v)
	}
	return &tree{shape: number, text: fmt.Sprint(v.Interface())}
}

// zeroInPlainUnits writes nothing of a time or a length in the units that
// people use.
func zeroInPlainUnits(text string) string {
	switch text {
	case "0ps":
		return "0s"
	case "0mm":
		return "0m"
	}
	return text
}

// mapTree orders the entries of a map by key.
func mapTree(v reflect.Value) *tree {
	keys := v.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return keys[i].Int() < keys[j].Int() })
	out := &tree{shape: object}
	for _, k := range keys {
		out.add(strconv.FormatInt(k.Int(), 10), treeOf(v.MapIndex(k)))
	}
	return out
}

// structTree has the keys of a struct. What is only there when it is given
// (a field Set) is left out when it is not.
func structTree(v reflect.Value) *tree {
	out := &tree{shape: object}
	for _, f := range fieldsOf(v.Type()) {
		x := v.FieldByIndex(f.index)
		if x.Kind() == reflect.Struct {
			if set := x.FieldByName("Set"); set.IsValid() && set.Kind() == reflect.Bool && !set.Bool() {
				continue
			}
		}
		out.add(f.key, treeOf(x))
	}
	return out
}

// flowWidth is the width up to which lists and maps stand in one line.
const flowWidth = 76

// node returns the tree for the YAML encoder.
func (t *tree) node() *yaml.Node {
	switch t.shape {
	case word:
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: t.text}
		if t.text == "" || strings.ContainsAny(t.text, "\n\r\t\u0085\u2028\u2029") {
			n.Style = yaml.DoubleQuotedStyle
		}
		return n
	case list, object:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		if t.shape == object {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		}
		if t.width() <= flowWidth {
			n.Style = yaml.FlowStyle
		}
		for i, item := range t.items {
			if t.shape == object {
				n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: t.keys[i]})
			}
			n.Content = append(n.Content, item.node())
		}
		return n
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: t.text}
}

// width is how wide t is in one line; more than flowWidth if it is not to
// stand in one.
func (t *tree) width() int {
	w := len(t.text)
	for i, item := range t.items {
		if len(item.items) > 0 && item.shape == object {
			return flowWidth + 1
		}
		w += item.width() + 2
		if t.shape == object {
			w += len(t.keys[i]) + 2
		}
	}
	return w
}

// json appends the tree as JSON, indented by two spaces a level.
func (t *tree) json(b *bytes.Buffer, indent string) {
	switch t.shape {
	case number, truth:
		b.WriteString(t.text)
		return
	case quantity, word:
		b.Write(quote(t.text))
		return
	}
	open, end := "[", "]"
	if t.shape == object {
		open, end = "{", "}"
	}
	if len(t.items) == 0 {
		b.WriteString(open + end)
		return
	}
	b.WriteString(open)
	inner := indent + "  "
	for i, item := range t.items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + inner)
		if t.shape == object {
			b.Write(quote(t.keys[i]))
			b.WriteString(": ")
		}
		item.json(b, inner)
	}
	b.WriteString("\n" + indent + end)
}

// quote returns s as a JSON string, < and > as they are.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
