package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"rdmasim/sim"
)

// Bounds on what is read, so that no file takes unbounded time or memory.
const (
	MaxFile  = 4 << 20 // bytes of a scenario file
	maxDepth = 24      // of nesting
	maxMarks = 1 << 20 // characters that begin a node: line ends , : [ { - ?
)

// untilDone is the duration of a run that ends with its traffic.
const untilDone = "until_done"

// Parse reads a scenario and checks it. file is its name, for errors and for
// files that it names. An error is an *Error with the place of the first thing
// that is wrong.
func Parse(file string, data []byte) (*Spec, error) { return ParseSet(file, data, nil) }

// ParseSet is Parse after settings of the form path=value have been applied
// in order, as in switch.ecn.3.kmin=200KB; items of lists are numbered from 0.
func ParseSet(file string, data []byte, settings []string) (*Spec, error) {
	src, err := readTree(file, data)
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		if err := src.set(s); err != nil {
			return nil, err
		}
	}
	spec := Defaults()
	spec.Name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	spec.Dir = filepath.Dir(file)
	spec.Description = topComment(data)
	spec.source = src
	d := decoder{src: src, spec: &spec}
	if err := d.top(); err != nil {
		return nil, err
	}
	if err := Validate(&spec); err != nil {
		return nil, err
	}
	if err := spec.resolveBaselines(); err != nil {
		return nil, err
	}
	return &spec, nil
}

// top decodes the whole tree.
func (d *decoder) top() error {
	root := d.src.root
	if _, value := child(root, "duration"); value != nil && value.Kind == yaml.ScalarNode && value.Value == untilDone {
		d.spec.UntilDone, d.spec.Duration = true, 0
		clone := *root
		clone.Content = nil
		for i := 0; i+1 < len(root.Content); i += 2 {
			if root.Content[i+1] != value {
				clone.Content = append(clone.Content, root.Content[i], root.Content[i+1])
			}
		}
		root = &clone
	} else if value != nil {
		d.spec.UntilDone = false
		if value.Kind == yaml.ScalarNode {
			if _, err := sim.ParseDuration(value.Value); err != nil {
				return d.fail(value, "duration", value.Value, "%s, or %s", reason(err, value.Value), untilDone)
			}
		}
	}
	return d.structure(root, "", reflect.ValueOf(d.spec).Elem(), nil)
}

// readTree parses the YAML and refuses what a scenario may not contain.
func readTree(file string, data []byte) (*source, error) {
	return readTreeOf(file, "want at least a topology and traffic", "a scenario has keys at the top, such as topology: star", data)
}

// readTreeOf is readTree for a file of another kind; empty and what say what it
// needs, where it has nothing and where it has no keys.
func readTreeOf(file, empty, what string, data []byte) (*source, error) {
	bad := func(line, column int, format string, args ...any) error {
		return &Error{Pos: Position{file, line, column}, Problem: fmt.Sprintf(format, args...)}
	}
	if err := checkText(data, bad); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	doc, err := decodeDocument(dec)
	switch {
	case errors.Is(err, io.EOF):
		return nil, bad(0, 0, "the file is empty: %s", empty)
	case err != nil:
		line, text := yamlError(err)
		return nil, bad(line, min(line, 1), "not YAML: %s", text)
	}
	if _, err := decodeDocument(dec); !errors.Is(err, io.EOF) {
		return nil, bad(0, 0, "more than one document in the file: want one")
	}
	root := doc.Content[0]
	if err := checkTree(root, 1, bad); err != nil {
		return nil, err
	}
	if root.Kind != yaml.MappingNode {
		return nil, bad(root.Line, root.Column, "%s", what)
	}
	return &source{file: file, root: root, origin: map[*yaml.Node]string{}}, nil
}

// checkText bounds what the YAML parser is given.
func checkText(data []byte, bad func(int, int, string, ...any) error) error {
	if len(data) > MaxFile {
		return bad(0, 0, "%d bytes: a scenario has at most %d; put long lists of flows in a CSV file", len(data), MaxFile)
	}
	if !utf8.Valid(data) {
		line := 1
		for rest := data; ; {
			r, n := utf8.DecodeRune(rest)
			if r == utf8.RuneError && n <= 1 {
				return bad(line, 1, "not UTF-8 text")
			}
			if r == '\n' {
				line++
			}
			rest = rest[n:]
		}
	}
	marks := 0
	for _, c := range data {
		switch c {
		case '\n', ',', ':', '[', '{', '?':
			marks++
		}
	}
	if marks > maxMarks {
		return bad(0, 0, "more than %d entries: put long lists of flows in a CSV file", maxMarks)
	}
	return nil
}

// decodeDocument returns the next document. The YAML parser panics on some
// malformed inputs; that is an error like any other.
func decodeDocument(dec *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: cannot be read: %v", p)
		}
	}()
	doc = &yaml.Node{}
	if err := dec.Decode(doc); err != nil {
		return nil, err
	}
	if len(doc.Content) != 1 {
		return nil, io.EOF
	}
	return doc, nil
}

// checkTree refuses anchors, aliases, tags and deep nesting.
func checkTree(n *yaml.Node, depth int, bad func(int, int, string, ...any) error) error {
	switch {
	case depth > maxDepth:
		return bad(n.Line, n.Column, "nested more than %d deep", maxDepth)
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return bad(n.Line, n.Column, "anchors (&) and aliases (*) are not supported: write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		return bad(n.Line, n.Column, "tags such as %s are not supported: write the value alone", printable(n.Tag))
	}
	for _, c := range n.Content {
		if err := checkTree(c, depth+1, bad); err != nil {
			return err
		}
	}
	return nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// yamlError returns line and text of an error of the YAML parser.
func yamlError(err error) (int, string) {
	m := yamlLine.FindStringSubmatch(oneLine(err.Error()))
	if m == nil {
		return 0, oneLine(err.Error())
	}
	line, _ := strconv.Atoi(m[1])
	return line, m[2]
}

// topComment returns the comment lines at the head of a file, without #.
func topComment(data []byte) string {
	var lines []string
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		text, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("#"))
		if !ok {
			break
		}
		lines = append(lines, strings.TrimPrefix(string(text), " "))
		data = rest
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
