package scenarios

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Node is a value in a YAML file that is not a scenario, such as a plan of
// runs, with its place for errors. Its package reads it key by key; the file
// obeys the bounds and rules of scenario files.
type Node struct {
	Path string // keys from the top, joined by dots
	pos  Position
	yaml *yaml.Node
}

// Entry is one key of a map with its value.
type Entry struct {
	Key   string
	Value Node
	key   *yaml.Node
}

// ReadNode parses a file. file is its name, for errors, which are *Error.
func ReadNode(file string, data []byte) (Node, error) {
	src, err := readTree(file, data)
	if err != nil {
		return Node{}, err
	}
	return Node{pos: Position{File: file, Line: src.root.Line, Column: src.root.Column}, yaml: src.root}, nil
}

// Position returns where the value stands.
func (n Node) Position() Position { return n.pos }

// Errorf returns an error about the value, which is shown if it is a scalar.
func (n Node) Errorf(format string, args ...any) error {
	value := ""
	if n.yaml != nil {
		value = scalarText(n.yaml)
	}
	return &Error{Pos: n.pos, Path: n.Path, Value: value, Problem: fmt.Sprintf(format, args...)}
}

// IsMap, IsList and IsScalar tell the three kinds of values apart; a key
// without a value is none of them.
func (n Node) IsMap() bool    { return n.yaml != nil && n.yaml.Kind == yaml.MappingNode }
func (n Node) IsList() bool   { return n.yaml != nil && n.yaml.Kind == yaml.SequenceNode }
func (n Node) IsScalar() bool { return n.yaml != nil && n.yaml.Kind == yaml.ScalarNode && !n.isNull() }

func (n Node) isNull() bool { return n.yaml.Kind == yaml.ScalarNode && n.yaml.ShortTag() == "!!null" }

// Entries returns the keys of a map in order, each there once.
func (n Node) Entries() ([]Entry, error) {
	d := decoder{src: &source{file: n.pos.File, root: n.yaml, origin: map[*yaml.Node]string{}}}
	pairs, err := d.pairs(n.yaml, "")
	if err != nil {
		e := err.(*Error)
		e.Path = join(n.Path, e.Path)
		return nil, e
	}
	list := make([]Entry, len(pairs))
	for i, p := range pairs {
		at := p.value
		if at.Kind != yaml.ScalarNode || at.Line == 0 {
			at = p.key
		}
		list[i] = Entry{Key: p.key.Value, key: p.key, Value: Node{Path: join(n.Path, p.key.Value), yaml: p.value,
			pos: Position{File: n.pos.File, Line: at.Line, Column: at.Column}}}
	}
	return list, nil
}

// Fields returns the entries of a map by key and refuses keys that are none of
// known.
func (n Node) Fields(known ...string) (map[string]Node, error) {
	list, err := n.Entries()
	if err != nil {
		return nil, err
	}
	fields := make(map[string]Node, len(list))
	for _, e := range list {
		found := false
		for _, k := range known {
			found = found || k == e.Key
		}
		if !found {
			return nil, &Error{Pos: Position{File: n.pos.File, Line: e.key.Line, Column: e.key.Column}, Path: join(n.Path, e.Key),
				Problem: "unknown key: " + didYouMean(e.Key, known) + "keys here are " + strings.Join(known, ", ")}
		}
		fields[e.Key] = e.Value
	}
	return fields, nil
}

// Items returns the items of a list.
func (n Node) Items() ([]Node, error) {
	if !n.IsList() {
		return nil, n.Errorf("want a list, such as [...]")
	}
	list := make([]Node, len(n.yaml.Content))
	for i, x := range n.yaml.Content {
		list[i] = Node{Path: join(n.Path, strconv.Itoa(i)), yaml: x, pos: Position{File: n.pos.File, Line: x.Line, Column: x.Column}}
	}
	return list, nil
}

// Text returns the text of a scalar; want says what it should be.
func (n Node) Text(want string) (string, error) {
	if !n.IsScalar() {
		return "", n.Errorf("want %s", want)
	}
	return n.yaml.Value, nil
}

// Int returns a whole number from low to high.
func (n Node) Int(low, high int64) (int64, error) {
	text, err := n.Text(fmt.Sprintf("a whole number from %d to %d", low, high))
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < low || v > high {
		return 0, n.Errorf("want a whole number from %d to %d", low, high)
	}
	return v, nil
}

// OneOf returns the text of a scalar that is one of words.
func (n Node) OneOf(words ...string) (string, error) {
	text, err := n.Text("one of " + strings.Join(words, ", "))
	if err != nil {
		return "", err
	}
	for _, w := range words {
		if w == text {
			return text, nil
		}
	}
	return "", n.Errorf("%swant one of %s", didYouMean(text, words), strings.Join(words, ", "))
}

// Line returns the value as YAML in one line, as --set takes it.
func (n Node) Line() (string, error) {
	if n.yaml == nil || n.isNull() {
		return "", n.Errorf("has no value")
	}
	if n.yaml.Kind == yaml.ScalarNode && n.yaml.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		return n.yaml.Value, nil
	}
	text, err := yaml.Marshal(flow(n.yaml))
	if err != nil {
		return "", n.Errorf("cannot be written as YAML: %v", err)
	}
	return string(bytes.TrimRight(text, "\n")), nil
}

// flow returns a copy of a tree that is written in one line, without comments.
func flow(n *yaml.Node) *yaml.Node {
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: yaml.FlowStyle}
	if n.Kind == yaml.ScalarNode {
		c.Style = n.Style &^ (yaml.LiteralStyle | yaml.FoldedStyle)
		if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || strings.ContainsAny(n.Value, "\n") {
			c.Style = yaml.DoubleQuotedStyle
		}
	}
	for _, x := range n.Content {
		c.Content = append(c.Content, flow(x))
	}
	return c
}

// Nearest returns "did you mean x? " for a word that is close to one of known,
// else nothing.
func Nearest(word string, known []string) string { return didYouMean(word, known) }
