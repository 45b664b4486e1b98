package topology

import (
	"fmt"
	"strings"
)

// dotToken is one token of Graphviz's DOT language (graphviz.org, "DOT
// Language"): an identifier, or punctuation.
type dotToken struct {
	text   string
	id     bool // an identifier; otherwise one of { } [ ] ; , : = -- -> or "" at the end
	quoted bool // an identifier in quotes, which is no keyword
	line   int
}

// is says whether the token is that punctuation.
func (t dotToken) is(punct string) bool { return !t.id && t.text == punct }

// keyword says whether the token is that keyword, in any case.
func (t dotToken) keyword(word string) bool {
	return t.id && !t.quoted && strings.EqualFold(t.text, word)
}

func (t dotToken) String() string {
	if t.text == "" && !t.id {
		return "the end of the file"
	}
	return fmt.Sprintf("%q", t.text)
}

// dotLexer cuts DOT text into tokens.
type dotLexer struct {
	text string
	at   int
	line int
}

// next returns the next token; at the end an empty one.
func (l *dotLexer) next() (dotToken, error) {
	if err := l.skip(); err != nil {
		return dotToken{}, err
	}
	t := dotToken{line: l.line}
	if l.at == len(l.text) {
		return t, nil
	}
	c := l.text[l.at]
	switch {
	case strings.HasPrefix(l.text[l.at:], "--"), strings.HasPrefix(l.text[l.at:], "->"):
		t.text = l.text[l.at : l.at+2]
	case strings.IndexByte("{}[];,:=", c) >= 0:
		t.text = l.text[l.at : l.at+1]
	case c == '"':
		return l.quoted()
	case c == '<':
		return t, fmt.Errorf("HTML text is not supported: write names in double quotes")
	case dotIDByte(c) || c == '-':
		end := l.at + 1
		for end < len(l.text) && dotIDByte(l.text[end]) {
			end++
		}
		t.text, t.id = l.text[l.at:end], true
	default:
		return t, fmt.Errorf("unexpected %q: want a name, an attribute, -- or ;", l.text[l.at])
	}
	l.at += len(t.text)
	return t, nil
}

// dotIDByte accepts the bytes of unquoted names and numbers.
func dotIDByte(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// quoted reads "text"; \" is a quote and a backslash before the end of a line
// joins lines.
func (l *dotLexer) quoted() (dotToken, error) {
	t := dotToken{id: true, quoted: true, line: l.line}
	var b strings.Builder
	for i := l.at + 1; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '"':
			t.text, l.at = b.String(), i+1
			return t, nil
		case c == '\\' && i+1 < len(l.text) && l.text[i+1] == '"':
			b.WriteByte('"')
			i++
		case c == '\\' && i+1 < len(l.text) && l.text[i+1] == '\n':
			l.line++
			i++
		default:
			if c == '\n' {
				l.line++
			}
			b.WriteByte(c)
		}
	}
	l.line = t.line
	return t, fmt.Errorf("the quote that begins here has no end")
}

// skip passes blanks, comments and preprocessor lines.
func (l *dotLexer) skip() error {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch {
		case rest[0] == '\n':
			l.line++
			l.at++
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r':
			l.at++
		case rest[0] == '#' || strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.at += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest, "*/")
			if n < 0 {
				return fmt.Errorf("the comment that begins here has no end")
			}
			l.line += strings.Count(rest[:n], "\n")
			l.at += n + len("*/")
		default:
			return nil
		}
	}
	return nil
}
