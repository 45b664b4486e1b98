package hpcc

import "fmt"

// Status says what becomes of a key of a file.
type Status uint8

// What becomes of a key.
const (
	Honoured    Status = iota // it does here what it does there
	Dead                      // it has no effect there either, at least in this configuration
	Unsupported               // it has an effect there that it does not have here
)

var statusNames = [...]string{"honoured", "dead", "unsupported"}

func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status(%d)", uint8(s))
}

// Note says what became of one key of the configuration, or of something odd in
// another file.
type Note struct {
	File   string
	Line   int    // 0 = the key is absent, and its built-in default holds
	Key    string // "" for what concerns a file
	Value  string
	Status Status
	Reason string
}

func (n Note) String() string {
	at := n.File
	if n.Line > 0 {
		at = fmt.Sprintf("%s:%d", n.File, n.Line)
	}
	s := at + ": "
	if n.Key != "" {
		s += fmt.Sprintf("%s %s: ", n.Key, n.Value)
	}
	s += n.Status.String()
	if n.Reason != "" {
		s += ": " + n.Reason
	}
	return s
}
