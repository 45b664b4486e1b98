package reference

import (
	"fmt"
	"strings"
)

// Document is the tables of a comparison as Markdown.
type Document struct {
	Command string     // that made it
	Version string     // of the program
	Ours    []*Judged  // under compat hpcc
	True    []*Judged  // on the true model, if it was run
	Counts  CountTable // of the other simulators, if known
}

// Marks around what Insert replaces.
const (
	beginMark = "<!-- made by rdmasim ns3: begin -->"
	endMark   = "<!-- made by rdmasim ns3: end -->"
)

func (d *Document) String() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n\n", args...) }
	p("Made by `%s` with rdmasim %s.", d.Command, d.Version)
	p("### Gates, `--compat hpcc`")
	b.WriteString(Verdicts(d.Ours) + "\n")
	p("### Completion times, `--compat hpcc`")
	b.WriteString(FCTs(d.Ours) + "\n")
	p("### Pauses, marks, queues, `--compat hpcc`")
	b.WriteString(Events(d.Ours, d.Counts) + "\n")
	if len(d.True) > 0 {
		p("### Completion times, true model")
		b.WriteString(FCTs(d.True) + "\n")
		p("### Pauses, marks, queues, true model")
		b.WriteString(Events(d.True, nil) + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Insert returns a page with the document between its two marks; a page
// without them is replaced by the document between marks.
func (d *Document) Insert(page string) (string, error) {
	body := beginMark + "\n\n" + d.String() + "\n" + endMark + "\n"
	if page == "" {
		return body, nil
	}
	head, rest, begun := strings.Cut(page, beginMark)
	_, tail, ended := strings.Cut(rest, endMark)
	if !begun || !ended {
		return "", fmt.Errorf("there is no line %q followed by one %q: what else is in the file would be lost", beginMark, endMark)
	}
	return head + body + strings.TrimPrefix(tail, "\n"), nil
}
