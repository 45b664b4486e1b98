package scenarios

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Position is a place in a scenario file, or the setting on the command line
// that a value comes from, such as "--set nic.path_mtu=1".
type Position struct {
	File         string
	Line, Column int // from 1; 0 = the file as a whole
}

// String returns file:line:column, as far as they are known.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
}

// Error is what is wrong with a scenario: one place, one reason.
type Error struct {
	Pos     Position
	Path    string // keys from the top, such as switch.ecn.3.kmin; may be empty
	Value   string // as written; may be empty
	Problem string // what is wrong; what would be valid
}

// Error returns file:line:column: key.path: value: problem, in one line.
func (e *Error) Error() string {
	parts := make([]string, 0, 4)
	if p := e.Pos.String(); p != "" {
		parts = append(parts, p)
	}
	if e.Path != "" {
		parts = append(parts, printable(e.Path))
	}
	if e.Value != "" {
		parts = append(parts, printable(e.Value))
	}
	return strings.Join(append(parts, cut(e.Problem, mostSaid)), ": ")
}

// Bounds on how much of a user's text an error repeats, and on an error.
const (
	mostShown = 80
	mostSaid  = 4000
)

// cut returns s, or its beginning and ... where it is longer than n bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

// printable returns s cut to a readable length, quoted where it would not
// print as one line.
func printable(s string) string {
	s = cut(s, mostShown)
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return strconv.Quote(s)
		}
	}
	return s
}

// source is the tree that a spec was read from.
type source struct {
	file   string
	root   *yaml.Node            // mapping
	origin map[*yaml.Node]string // nodes made by --set, and the setting
}

// find walks the tree as far along the path as it goes and returns the place
// of the last node reached, and whether that was the whole path.
func (s *source) find(path string) (Position, bool) {
	if s == nil || s.root == nil {
		return Position{}, false
	}
	n, pos := s.root, Position{File: s.file}
	step := func(key, value *yaml.Node) {
		if o := s.origin[value]; o != "" {
			pos = Position{File: o}
		} else if pos.File == s.file {
			pos = s.place(key, value)
		}
		n = value
	}
	for _, seg := range split(path) {
		key, value := child(n, seg)
		if value == nil {
			return pos, false
		}
		step(key, value)
	}
	return pos, true
}

// text returns the scalar that a path leads to, "" where there is none.
func (s *source) text(path string) string {
	if s == nil || s.root == nil {
		return ""
	}
	n := s.root
	for _, seg := range split(path) {
		if _, n = child(n, seg); n == nil {
			return ""
		}
	}
	return scalarText(n)
}

// quotes returns how many characters stand before the text of a scalar in the
// file: 1 where it is quoted.
func (s *source) quotes(path string) int {
	n := s.root
	for _, seg := range split(path) {
		if _, n = child(n, seg); n == nil {
			return 0
		}
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return 1
	}
	return 0
}

// place returns where an entry stands: its value if that is a scalar, else its key.
func (s *source) place(key, value *yaml.Node) Position {
	at := key
	if at == nil || value.Kind == yaml.ScalarNode {
		at = value
	}
	return Position{File: s.file, Line: at.Line, Column: at.Column}
}

// child returns the entry of a mapping or the item of a list.
func child(n *yaml.Node, seg string) (key, value *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == seg {
				return n.Content[i], n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(seg); err == nil && i >= 0 && i < len(n.Content) {
			return nil, n.Content[i]
		}
	}
	return nil, nil
}

func split(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, ".")
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Position returns where the value of a path such as switch.ecn.3.kmin comes
// from; where it was not given, the place of the nearest key above it.
func (s *Spec) Position(path string) Position {
	p, _ := s.source.find(path)
	return p
}

// At returns where workload i of the traffic list stands.
func (s *Spec) At(i int) Position { return s.Position("traffic." + strconv.Itoa(i)) }

// errorAt returns an error about the value of a path, which is shown as it was
// written if it was.
func (s *Spec) errorAt(path, value, format string, args ...any) error {
	if text := s.source.text(path); value != "" && text != "" {
		value = text
	}
	value = zeroInPlainUnits(value)
	return &Error{Pos: s.Position(path), Path: path, Value: value, Problem: fmt.Sprintf(format, args...)}
}

// Locate returns err, raised by what was built from the value of path, with the
// place in the scenario. Where the error begins with names of keys below path,
// as in "incast: receiver: unknown host", the place is theirs. A nil error and
// one that has its place already stay as they are.
func (s *Spec) Locate(path string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok {
		return e
	}
	text, value := oneLine(err.Error()), ""
	for value == "" {
		head, rest, ok := strings.Cut(text, ": ")
		if !ok {
			break
		}
		deeper, given := s.descend(path, head)
		if deeper == "" {
			break
		}
		path, text, value = deeper, rest, given
	}
	return s.errorAt(path, value, "%s", text)
}

// at is Locate.
func (s *Spec) at(path string, err error) error { return s.Locate(path, err) }

// descend reads what stands before a colon in an error: "receiver",
// "links[1] (h0 - sw0)", "topology star", or a key and its value, "g 2", the
// last of which is returned too.
func (s *Spec) descend(path, head string) (deeper, value string) {
	key, _, _ := strings.Cut(head, " (")
	key = strings.ReplaceAll(strings.ReplaceAll(key, "[", "."), "]", "")
	words := strings.Fields(key)
	at := path[strings.LastIndexByte(path, '.')+1:]
	switch {
	case len(words) == 1 && key == at && s.below(path, key) != "": // the rate of a rate
		return s.below(path, key), ""
	case len(words) > 0 && len(words) <= 2 && words[len(words)-1] == at: // says again where we are
		return path, ""
	case len(words) == 1:
		return s.below(path, key), ""
	case len(words) == 2 && words[0] == at:
		return s.below(path, words[1]), ""
	case len(words) == 2:
		return s.below(path, words[0]), words[1]
	}
	return "", ""
}

// below returns the path of a key under path if there is one in the file or in
// the parameters of the member that path names.
func (s *Spec) below(path, key string) string {
	full := join(path, key)
	if _, ok := s.source.find(full); ok || s.paramsAt(full) != nil {
		return full
	}
	if head, _, _ := strings.Cut(key, "."); path == "" && hasField(Spec{}, head) {
		return full
	}
	if params := s.paramsAt(path); params != nil {
		head, _, _ := strings.Cut(key, ".")
		if hasField(params, head) {
			return full
		}
	}
	return ""
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
