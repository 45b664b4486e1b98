package switchconf

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// dialect says how lines of a vendor's language replace earlier ones and take
// them back. Lines that are indented belong to the one above.
type dialect struct {
	// frames are lines around a configuration, such as a checkpoint or a commit.
	frames []string
	// contexts begin lines that open a place and are nothing by themselves, such as an interface.
	contexts []string
	// slots match what a line sets, from its beginning: a later line of the same
	// slot replaces it. Other lines stand beside each other.
	slots []*regexp.Regexp
	// wholes match the beginning of lines that are taken back and written
	// again together, for what they set cannot be replaced.
	wholes []*regexp.Regexp
	// undo returns the line that takes one back; "" where there is none.
	undo func(line string) string
	// again returns the line for a slot that is set; nil = the line itself.
	again func(line string) string
	// returns says that the roll back of the vendor leads to the state before,
	// and not to defaults.
	returns bool
}

// changer is a renderer whose language has a dialect.
type changer interface{ dialect() dialect }

// begins compiles patterns that match from the beginning of a line.
func begins(list ...string) (out []*regexp.Regexp) {
	for _, p := range list {
		out = append(out, regexp.MustCompile(`^\s*(?:`+p+`)`))
	}
	return out
}

// RenderChange writes what turns a switch that is configured as from into to,
// with the way back. The error is as that of Render.
func RenderChange(format string, from, to *Switch, lacks ...Lack) (*Rendered, error) {
	e, err := Renderers.Lookup(format)
	if err != nil {
		return RenderOver(format, nil, to) // says what there is
	}
	r, err := e.Build(struct{}{})
	if err != nil {
		return nil, err
	}
	c, ok := r.(changer)
	if !ok { // a format that changes single values
		out, err := render(format, from, to, true, lacks...)
		if err == nil {
			out.changed(from, !out.Unchanged())
		}
		return out, err
	}
	before, err := Render(format, from)
	if err != nil {
		return nil, fmt.Errorf("the switch as it is: %w", err)
	}
	after, err := Render(format, to, lacks...)
	if err != nil {
		return nil, err
	}
	d := c.dialect()
	config, left := d.change(before.Config, after.Config)
	back, _ := d.change(after.Config, before.Config)
	for len(back) > 0 && slices.Contains(d.frames, back[0].Text) { // the checkpoint of before stays
		back = back[1:]
	}
	out := *after
	out.Config = config
	out.Rollback = []string{}
	if d.returns {
		out.Rollback = append(slices.Clone(after.Rollback), "or line by line:")
	}
	for _, l := range back {
		out.Rollback = append(out.Rollback, l.Text)
	}
	out.Rounded = without(after.Rounded, before.Rounded)
	out.NotExpressed = without(after.NotExpressed, before.NotExpressed)
	for _, l := range left {
		out.lack(-1, "line", strings.TrimSpace(l), "the switch has it, and this format has no words to take it back")
	}
	out.changed(from, len(config) > 0)
	return &out, nil
}

// Unchanged reports whether a format that writes only what differs has found
// nothing: there is the checkpoint alone.
func (r *Rendered) Unchanged() bool { return r.Format == "sonic-patch" && len(r.Config) <= 1 }

// checkpointName is that of the checkpoint before a configuration.
const checkpointName = "before-rdmasim"

// RenameCheckpoint gives the checkpoint that is set before another name, so
// that an earlier one stays.
func (r *Rendered) RenameCheckpoint(name string) {
	for i := range r.Config {
		r.Config[i].Text = strings.ReplaceAll(r.Config[i].Text, checkpointName, name)
	}
	for i := range r.Rollback {
		r.Rollback[i] = strings.ReplaceAll(r.Rollback[i], checkpointName, name)
	}
}

// changed says what a change is about.
func (r *Rendered) changed(from *Switch, some bool) {
	if !some {
		r.Assumes = append([]string{"nothing differs in the words of this format"}, r.Assumes...)
		r.Config, r.Verify, r.Rollback = []Line{}, []string{}, []string{}
		return
	}
	r.Assumes = append([]string{fmt.Sprintf("the switch is configured as %s says, by this program or with the same names: only what changes is here", clean(from.Hostname.Or("the other scenario")))}, r.Assumes...)
}

// without returns what is not in b.
func without[T comparable](a, b []T) []T {
	out := []T{}
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

// statement is a line with those that belong to it.
type statement struct {
	text     string
	slot     string // what it sets
	effect   Effect
	children []*statement
	members  []Line // the lines of a statement that is written as a whole
}

// equal reports whether two statements say the same.
func (s *statement) equal(o *statement) bool {
	return s.text == o.text && slices.Equal(s.members, o.members) && slices.EqualFunc(s.children, o.children, (*statement).equal)
}

// parse returns the tree of a configuration, its frames apart. Places that are
// opened twice are put together.
func (d *dialect) parse(lines []Line) (root *statement, head, tail []Line) {
	root = &statement{}
	stack := []*statement{root}
	indents := []int{-1}
	for _, l := range lines {
		if slices.Contains(d.frames, l.Text) {
			if len(root.children) == 0 {
				head = append(head, l)
			} else {
				tail = append(tail, l)
			}
			continue
		}
		indent := len(l.Text) - len(strings.TrimLeft(l.Text, " "))
		for indents[len(indents)-1] >= indent {
			stack, indents = stack[:len(stack)-1], indents[:len(indents)-1]
		}
		s := stack[len(stack)-1].add(d, l)
		stack, indents = append(stack, s), append(indents, indent)
	}
	return root, head, tail
}

// add adds a line to those of a statement, or finds the one that is it.
func (s *statement) add(d *dialect, l Line) *statement {
	text, whole := l.Text, false
	if m := match(d.wholes, l.Text); m != "" {
		text, whole = m, true
	}
	i := slices.IndexFunc(s.children, func(c *statement) bool { return c.text == text && (c.members != nil) == whole })
	if i < 0 {
		i = len(s.children)
		c := &statement{text: text, slot: text, effect: l.Effect}
		if m := match(d.slots, text); m != "" && !whole {
			c.slot = m
		}
		s.children = append(s.children, c)
	}
	if c := s.children[i]; whole {
		c.members = append(c.members, l)
	}
	return s.children[i]
}

// match returns what the first pattern that matches has matched.
func match(list []*regexp.Regexp, line string) string {
	for _, p := range list {
		if m := p.FindString(line); m != "" {
			return m
		}
	}
	return ""
}

// place is a line at its place in the tree.
type place struct {
	path []*statement
	line Line
}

// changeLines are the lines of a change, in the order in which they are entered.
type changeLines struct {
	d                 *dialect
	first, then, last []place
	left              []string // lines that cannot be taken back
}

// change returns the lines that turn one configuration into another, and those
// of it that cannot be taken back. What stands alone is taken back first, and
// what others may refer to, last.
func (d *dialect) change(from, to []Line) (lines []Line, left []string) {
	a, _, _ := d.parse(from)
	b, head, tail := d.parse(to)
	c := &changeLines{d: d}
	c.compare(nil, a, b)
	slices.Reverse(c.last)
	if len(c.first)+len(c.then)+len(c.last) == 0 {
		return []Line{}, c.left
	}
	lines = append(lines, head...)
	for _, part := range [][]place{c.first, c.then, c.last} {
		lines = append(lines, written(part)...)
	}
	return append(lines, tail...), c.left
}

// compare adds the lines that turn the children of one statement into those of
// another.
func (c *changeLines) compare(path []*statement, a, b *statement) {
	in := func(list []*statement, s *statement) *statement {
		if i := slices.IndexFunc(list, func(o *statement) bool { return o.slot == s.slot }); i >= 0 {
			return list[i]
		}
		return nil
	}
	for _, old := range a.children {
		now := in(b.children, old)
		switch {
		case now == nil:
			c.remove(path, old)
		case old.members != nil && !old.equal(now):
			c.first = append(c.first, place{path, Line{c.undo(old.text), old.effect}})
		}
	}
	for _, now := range b.children {
		old := in(a.children, now)
		switch {
		case old == nil:
			c.insert(path, now, false)
		case old.equal(now):
		case now.members != nil:
			c.insert(path, now, false)
		case old.text != now.text:
			c.insert(path, now, true)
		default:
			c.compare(append(slices.Clone(path), now), old, now)
		}
	}
}

// insert adds a statement with all that belongs to it.
func (c *changeLines) insert(path []*statement, s *statement, again bool) {
	for _, l := range s.members {
		c.then = append(c.then, place{path, l})
	}
	if s.members != nil {
		return
	}
	text := s.text
	if again && c.d.again != nil {
		text = c.d.again(text)
	}
	if len(s.children) == 0 || !c.opens(s) {
		c.then = append(c.then, place{path, Line{text, s.effect}})
	}
	inside := append(slices.Clone(path), s)
	for _, child := range s.children {
		c.insert(inside, child, false)
	}
}

// remove takes a statement back: a place is emptied, what stands alone goes
// first, and what has lines of its own, last.
func (c *changeLines) remove(path []*statement, s *statement) {
	if c.opens(s) {
		for _, child := range s.children {
			c.remove(append(slices.Clone(path), s), child)
		}
		return
	}
	undo := c.undo(s.text)
	switch {
	case undo == "":
		c.left = append(c.left, s.text)
	case len(s.children) > 0:
		c.last = append(c.last, place{path, Line{undo, s.effect}})
	default:
		c.first = append(c.first, place{path, Line{undo, s.effect}})
	}
}

func (c *changeLines) opens(s *statement) bool {
	return slices.ContainsFunc(c.d.contexts, func(p string) bool { return strings.HasPrefix(strings.TrimLeft(s.text, " "), p) })
}

// undo takes a line back at its own depth.
func (c *changeLines) undo(line string) string {
	text := strings.TrimLeft(line, " ")
	if undo := c.d.undo(text); undo != "" {
		return line[:len(line)-len(text)] + undo
	}
	return ""
}

// written prints lines under the places that they belong to.
func written(list []place) (lines []Line) {
	var open []*statement
	for _, p := range list {
		same := 0
		for same < len(open) && same < len(p.path) && open[same] == p.path[same] {
			same++
		}
		for _, s := range p.path[same:] {
			if n := len(lines); n > 0 && lines[n-1].Text == s.text {
				continue // the line that defines it
			}
			lines = append(lines, Line{s.text, p.line.Effect})
		}
		open = p.path
		lines = append(lines, p.line)
	}
	return lines
}
