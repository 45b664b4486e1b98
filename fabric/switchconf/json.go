package switchconf

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// shape is the shape of a JSON value.
type shape int

const (
	shapeObject shape = iota
	shapeList
	shapeText
	shapeNumber
	shapeWord // true, false, null
)

func (s shape) String() string {
	return [...]string{"an object", "a list", "a string", "a number", "true, false or null"}[s]
}

// node is a JSON value and the place where it begins.
type node struct {
	shape  shape
	text   string // of what is neither object nor list
	keys   []key  // of an object, in the order of the file
	items  []*node
	line   int
	column int
}

// key is a member of an object and the place of its name.
type key struct {
	name   string
	value  *node
	line   int
	column int
}

// Error is what is wrong with a file: one place, one reason.
type Error struct {
	From    Origin
	Value   string // as written; may be empty
	Problem string // what is wrong; what would be valid
}

// Error returns file:line:column: path: value: problem, in one line.
func (e *Error) Error() string {
	parts := []string{e.From.String()}
	if e.Value != "" {
		parts = append(parts, printable(e.Value))
	}
	return strings.Join(append(parts, e.Problem), ": ")
}

// printable returns s cut to a readable length and quoted.
func printable(s string) string {
	const most = 80
	if len(s) > most {
		n := most
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "..."
	}
	return strconv.Quote(s)
}

// Bounds on JSON: SONiC's tables are three deep, and the configuration of a
// chassis has some ten thousand values.
const (
	maxDepth = 32
	maxNodes = 1 << 20
)

// jsonReader reads JSON (RFC 8259) and keeps places. Names that occur twice in
// an object are errors.
type jsonReader struct {
	file  string
	data  string
	at    int
	line  int
	nodes int
	from  int // offset of the first byte of the line
}

// parseJSON reads one file. A file that begins with a name instead of a
// brace, as pieces of configuration do, is read as the inside of an object.
func parseJSON(file string, data []byte) (*node, error) {
	r := &jsonReader{file: file, data: strings.TrimPrefix(string(data), "\ufeff"), line: 1}
	if strings.HasPrefix(r.data, "\xff\xfe") || strings.HasPrefix(r.data, "\xfe\xff") {
		return nil, r.fail("the file is UTF-16: save it as UTF-8")
	}
	r.space()
	if r.at == len(r.data) {
		return nil, r.fail("the file is empty: want an object of tables, such as {\"PORT\": {...}}")
	}
	var n *node
	var err error
	if r.data[r.at] == '"' {
		n = &node{shape: shapeObject, line: r.line, column: r.column()}
		err = r.members(n, 1, true)
	} else {
		n, err = r.value(1)
	}
	if err != nil {
		return nil, err
	}
	r.space()
	if r.at < len(r.data) {
		return nil, r.fail("text after the end of the JSON: want nothing more")
	}
	return n, nil
}

func (r *jsonReader) column() int { return r.at - r.from + 1 }

func (r *jsonReader) fail(format string, args ...any) error {
	return r.failAt(r.line, r.column(), format, args...)
}

func (r *jsonReader) failAt(line, column int, format string, args ...any) error {
	return &Error{From: Origin{Kind: Given, File: r.file, Line: line, Column: column}, Problem: fmt.Sprintf(format, args...)}
}

// space skips what stands between values.
func (r *jsonReader) space() {
	for ; r.at < len(r.data); r.at++ {
		switch r.data[r.at] {
		case '\n':
			r.line++
			r.from = r.at + 1
		case ' ', '\t', '\r':
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end.
func (r *jsonReader) peek() byte {
	if r.at < len(r.data) {
		return r.data[r.at]
	}
	return 0
}

// unexpected says what stands where something else should.
func (r *jsonReader) unexpected(want string) error {
	rest := r.data[r.at:]
	switch {
	case rest == "":
		return r.fail("the file ends where %s should stand", want)
	case strings.HasPrefix(rest, "{%"), strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "{#"):
		return r.fail("this is a jinja2 template (%s): render it first, as with sonic-cfggen -t", rest[:2])
	}
	c, _ := utf8.DecodeRuneInString(rest)
	switch {
	case c == '#', strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "/*"):
		return r.fail("a comment, which JSON does not have and SONiC refuses: remove it")
	case (c == '}' || c == ']') && r.afterComma():
		return r.fail("%q after a comma: remove the comma, or write what follows it", c)
	}
	return r.fail("%q where %s should stand", c, want)
}

// afterComma reports whether the last thing before is a comma.
func (r *jsonReader) afterComma() bool {
	return strings.HasSuffix(strings.TrimRight(r.data[:r.at], " \t\r\n"), ",")
}

func (r *jsonReader) value(depth int) (*node, error) {
	n := &node{line: r.line, column: r.column()}
	rest := r.data[r.at:]
	if depth > maxDepth {
		return nil, r.fail("nested more than %d deep", maxDepth)
	}
	if r.nodes++; r.nodes > maxNodes {
		return nil, r.fail("more than %d values in the file", maxNodes)
	}
	switch c := r.peek(); {
	case strings.HasPrefix(rest, "{%"), strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "{#"):
		return nil, r.unexpected("a value")
	case c == '{':
		r.at++
		n.shape = shapeObject
		return n, r.members(n, depth, false)
	case c == '[':
		r.at++
		n.shape = shapeList
		return n, r.elements(n, depth)
	case c == '"':
		n.shape = shapeText
		var err error
		n.text, err = r.text()
		return n, err
	case c == '-' || c >= '0' && c <= '9':
		n.shape = shapeNumber
		return n, r.number(n)
	}
	for _, w := range []string{"true", "false", "null"} {
		if strings.HasPrefix(rest, w) {
			r.at += len(w)
			n.shape, n.text = shapeWord, w
			return n, nil
		}
	}
	return nil, r.unexpected("a value")
}

// members reads the inside of an object, up to the closing brace or, of a
// bare one, to the end of the file.
func (r *jsonReader) members(n *node, depth int, bare bool) error {
	seen := map[string]int{}
	for {
		r.space()
		if end := r.peek() == '}' && !bare || bare && r.at == len(r.data); end && len(n.keys) == 0 {
			r.at++
			return nil
		}
		k := key{line: r.line, column: r.column()}
		if r.peek() != '"' {
			return r.unexpected("a name in quotes")
		}
		var err error
		if k.name, err = r.text(); err != nil {
			return err
		}
		if line, ok := seen[k.name]; ok {
			return r.failAt(k.line, k.column, "%s stands here a second time: it is in line %d already; remove one of the two", printable(k.name), line)
		}
		seen[k.name] = k.line
		r.space()
		if r.peek() != ':' {
			return r.unexpected("a colon")
		}
		r.at++
		r.space()
		if k.value, err = r.value(depth + 1); err != nil {
			return err
		}
		n.keys = append(n.keys, k)
		r.space()
		switch {
		case r.peek() == ',':
			r.at++
			if r.space(); bare && r.at == len(r.data) { // a piece that more would follow
				return nil
			}
		case r.peek() == '}' && !bare:
			r.at++
			return nil
		case bare && r.at == len(r.data):
			return nil
		default:
			return r.unexpected("a comma or a closing brace")
		}
	}
}

// elements reads the inside of a list.
func (r *jsonReader) elements(n *node, depth int) error {
	r.space()
	if r.peek() == ']' {
		r.at++
		return nil
	}
	for {
		r.space()
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
		r.space()
		switch r.peek() {
		case ',':
			r.at++
		case ']':
			r.at++
			return nil
		default:
			return r.unexpected("a comma or a closing bracket")
		}
	}
}

// number reads a number and keeps its text.
func (r *jsonReader) number(n *node) error {
	start := r.at
	for r.at < len(r.data) && strings.IndexByte("+-.eE0123456789", r.data[r.at]) >= 0 {
		r.at++
	}
	n.text = r.data[start:r.at]
	digits := strings.TrimPrefix(n.text, "-")
	_, err := strconv.ParseFloat(n.text, 64)
	if err != nil || digits == "" || len(digits) > 1 && digits[0] == '0' && digits[1] != '.' && digits[1] != 'e' && digits[1] != 'E' {
		return r.failAt(n.line, n.column, "%s is not a number of JSON", printable(n.text))
	}
	return nil
}

// text reads a string with its quotes.
func (r *jsonReader) text() (string, error) {
	line, column := r.line, r.column()
	var b strings.Builder
	for r.at++; r.at < len(r.data); {
		switch c := r.data[r.at]; {
		case c == '"':
			r.at++
			return b.String(), nil
		case c == '\\':
			u, err := r.escape()
			if err != nil {
				return "", err
			}
			b.WriteRune(u)
		case c < 0x20:
			return "", r.failAt(line, column, "a string that does not end in its line: a closing quote is missing")
		case c < utf8.RuneSelf:
			b.WriteByte(c)
			r.at++
		default:
			u, n := utf8.DecodeRuneInString(r.data[r.at:])
			if u == utf8.RuneError && n <= 1 {
				return "", r.fail("not UTF-8 text")
			}
			b.WriteRune(u)
			r.at += n
		}
	}
	return "", r.failAt(line, column, "a string that does not end: a closing quote is missing")
}

// escape reads what begins with a backslash.
func (r *jsonReader) escape() (rune, error) {
	rest := r.data[r.at:]
	if len(rest) < 2 {
		return 0, r.fail("a backslash at the end of the file")
	}
	if i := strings.IndexByte(`"\/bfnrt`, rest[1]); i >= 0 {
		r.at += 2
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	u, ok := hex4(rest)
	if !ok {
		return 0, r.fail("%s is not an escape of JSON", printable(rest[:2]))
	}
	r.at += 6
	if utf16.IsSurrogate(u) {
		if v, ok := hex4(r.data[r.at:]); ok {
			if w := utf16.DecodeRune(u, v); w != utf8.RuneError {
				r.at += 6
				return w, nil
			}
		}
		return utf8.RuneError, nil
	}
	return u, nil
}

// hex4 reads \uXXXX.
func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	u, err := strconv.ParseUint(s[2:6], 16, 32)
	return rune(u), err == nil
}
