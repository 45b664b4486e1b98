package hpcc

import (
	"bytes"
	"fmt"
	"strings"
)

// token is one word of a file.
type token struct {
	text string
	line int
}

// lines returns the words of every line that has some.
func lines(text []byte) [][]token {
	var out [][]token
	n := 0
	for line := range bytes.Lines(text) {
		n++
		fields := strings.Fields(string(line))
		if len(fields) == 0 {
			continue
		}
		words := make([]token, len(fields))
		for i, f := range fields {
			words[i] = token{f, n}
		}
		out = append(out, words)
	}
	return out
}

// reader hands out the words of a file one after the other.
type reader struct {
	file  string
	key   string // of config.txt, whose values are being read
	words []token
	next  int
	line  int // of the last word handed out
}

// take returns the next word; what names what is wanted.
func (r *reader) take(what string) (token, error) {
	if r.next >= len(r.words) {
		return token{}, r.errorf(r.line, "the file ends where %s should follow", what)
	}
	t := r.words[r.next]
	r.next++
	r.line = t.line
	return t, nil
}

func (r *reader) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", r.file, max(line, 1), fmt.Sprintf(format, args...))
}

// count reads a whole number in [low,high].
func (r *reader) count(what string, low, high int64) (int64, error) {
	t, err := r.take(what)
	if err != nil {
		return 0, err
	}
	v, err := parseInt(t.text, low, high)
	if err != nil {
		return 0, r.errorf(t.line, "%s: %v", what, err)
	}
	return v, nil
}
