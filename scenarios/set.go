package scenarios

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxSetting bounds a --set value.
const maxSetting = 64 << 10

// set applies one setting, path=value, to the tree. The value is YAML, so that
// lists and maps can be set too.
func (s *source) set(setting string) error {
	origin := "--set " + printable(setting)
	path, text, ok := strings.Cut(setting, "=")
	path = strings.TrimSpace(path)
	bad := func(path, value, format string, args ...any) error {
		return &Error{Pos: Position{File: origin}, Path: path, Value: value, Problem: fmt.Sprintf(format, args...)}
	}
	if !ok || path == "" {
		return bad("", "", "want path=value, such as switch.ecn.3.kmin=200KB")
	}
	value, err := s.settingValue(text, bad)
	if err != nil {
		return err
	}
	seg := split(path)
	if len(seg) > maxDepth {
		return bad(path, "", "nested more than %d deep", maxDepth)
	}
	n := s.root
	for i, name := range seg {
		at := strings.Join(seg[:i+1], ".")
		if name == "" {
			return bad(path, "", "a key is empty: want keys joined by single dots")
		}
		last := i == len(seg)-1
		_, before := child(n, name)
		if n, err = s.step(n, name, at, last, value, bad); err != nil {
			return err
		}
		if n != before {
			s.origin[n] = origin
		}
	}
	return nil
}

func (s *source) settingValue(text string, bad func(string, string, string, ...any) error) (*yaml.Node, error) {
	if len(text) > maxSetting {
		return nil, bad("", "", "%d bytes: want at most %d", len(text), maxSetting)
	}
	if strings.TrimSpace(text) == "" {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle}, nil
	}
	at := func(_, _ int, format string, args ...any) error { return bad("", "", format, args...) }
	if err := checkText([]byte(text), at); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(strings.NewReader(text))
	doc, err := decodeDocument(dec)
	if errors.Is(err, io.EOF) {
		return nil, bad("", "", "the value is a comment: quote it if the # belongs to it")
	}
	if err != nil {
		_, problem := yamlError(err)
		return nil, bad("", "", "the value is not YAML: %s", problem)
	}
	if _, err := decodeDocument(dec); err == nil {
		return nil, bad("", "", "the value is more than one document")
	}
	n := doc.Content[0]
	return n, checkTree(n, 1, at)
}

// step goes from n to its entry name, made where there is none; the last one
// becomes value.
func (s *source) step(n *yaml.Node, name, at string, last bool, value *yaml.Node, bad func(string, string, string, ...any) error) (*yaml.Node, error) {
	switch n.Kind {
	case yaml.SequenceNode:
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(n.Content) {
			return nil, bad(at, "", "the list has %d items, numbered from 0", len(n.Content))
		}
		if last {
			n.Content[i] = value
		}
		return n.Content[i], nil
	case yaml.ScalarNode:
		if n.ShortTag() != "!!null" && n.Value != name {
			return nil, bad(at, "", "the value here is %s, which has no keys", printable(strconv.Quote(n.Value)))
		}
		*n = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Column: n.Column}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			if last {
				n.Content[i+1] = value
			}
			return n.Content[i+1], nil
		}
	}
	next := value
	if !last {
		next = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, next)
	return next, nil
}
