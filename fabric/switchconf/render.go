package switchconf

import (
	"fmt"
	"slices"
	"strings"

	"rdmasim/sim"
)

// Effect is what a line of configuration does to traffic when it is entered.
type Effect string

// The effects, the mildest first.
const (
	Hitless Effect = "hitless"
	Drops   Effect = "drops"          // packets are lost or misclassified while buffers or maps are rewritten
	Flaps   Effect = "flaps the port" // the link goes down
)

// Effects are the effects in order.
var Effects = []Effect{Hitless, Drops, Flaps}

// Line is one line of configuration.
type Line struct {
	Text   string `json:"text"`
	Effect Effect `json:"effect"`
}

// Rounding is a value that a device cannot take as it is.
type Rounding struct {
	Class   int    `json:"class"` // traffic class, -1 of the whole port
	Field   string `json:"field"`
	Given   string `json:"given"`
	Written string `json:"written"`
	Why     string `json:"why"`
}

// Lack is something that a switch has and the words of a vendor do not say.
type Lack struct {
	Class int    `json:"class"` // -1 of the whole port
	Field string `json:"field"`
	Value string `json:"value"`
	Why   string `json:"why"`
}

// Rendered is a configuration in the words of one vendor. It is text to read
// and to paste: nothing here reaches a device.
type Rendered struct {
	Format       string     `json:"format"`
	Switch       string     `json:"switch"`
	Assumes      []string   `json:"assumes"` // names of interfaces, units with their source, what the tags mean
	Warnings     []string   `json:"warnings"`
	Config       []Line     `json:"config"`
	Verify       []string   `json:"verify"`
	Rollback     []string   `json:"rollback"`
	Rounded      []Rounding `json:"rounded"`
	NotExpressed []Lack     `json:"not_expressed"`

	comment string // begins a line that the device passes over
}

// Renderer writes the configuration of a switch in the words of one vendor.
type Renderer interface {
	// Render fills in what the vendor's words say about the switch. The error
	// names a value that the vendor's device cannot have at all.
	Render(v *View, r *Rendered) error
	// Comment begins a line that the device passes over.
	Comment() string
}

// Renderers is the catalogue of vendors.
var Renderers = sim.NewCatalogue[Renderer]("export format")

// registerRenderer adds a vendor's renderer.
func registerRenderer(name, doc string, r Renderer) bool {
	return sim.Register(Renderers, name, doc, struct{}{}, nil, func(struct{}) (Renderer, error) { return r, nil })
}

// Render writes a switch in a format, with what is known beforehand not to be
// expressed. The error names the thing, the value and what would be valid.
func Render(format string, sw *Switch, lacks ...Lack) (*Rendered, error) {
	return RenderOver(format, nil, sw, lacks...)
}

// RenderOver is Render for a device that has the configuration base already:
// formats that can change single values write only what differs.
func RenderOver(format string, base, sw *Switch, lacks ...Lack) (*Rendered, error) {
	return render(format, base, sw, false, lacks...)
}

// render is RenderOver; with exact, what the base has and sw has not is taken away.
func render(format string, base, sw *Switch, exact bool, lacks ...Lack) (*Rendered, error) {
	e, err := Renderers.Lookup(format)
	if err != nil {
		return nil, fmt.Errorf("unknown export format %q: %swant one of %s", format, nearName(format, Renderers.Names()), strings.Join(Renderers.Names(), ", "))
	}
	r, err := e.Build(struct{}{})
	if err != nil {
		return nil, err
	}
	v, err := NewView(sw)
	if err != nil {
		return nil, err
	}
	v.Base, v.Exact = base, exact
	out := &Rendered{Format: format, Switch: v.Name, Assumes: []string{}, Warnings: v.warnings(), Config: []Line{}, Verify: []string{}, Rollback: []string{}, Rounded: []Rounding{}, NotExpressed: []Lack{}, comment: r.Comment()}
	if v.ASIC != nil {
		out.assume("ASIC %s, cells of %d B", v.ASIC.Doc, v.ASIC.Cell)
	}
	if _, whole := r.(sonicPatch); !whole { // its tables have what a view lacks
		lacks = append(slices.Clone(lacks), v.Lacks...)
	}
	for _, l := range lacks {
		out.lack(l.Class, l.Field, l.Value, "%s", l.Why)
	}
	if err := r.Render(v, out); err != nil {
		return nil, fmt.Errorf("%s: %w", format, err)
	}
	out.assume("tags say the worst that a line is known to do (%s): they were measured on no device; try them in a lab first", words(Effects))
	return out, nil
}

func words[T ~string](list []T) string {
	parts := make([]string, len(list))
	for i, w := range list {
		parts[i] = string(w)
	}
	return strings.Join(parts, ", ")
}

func (r *Rendered) assume(format string, args ...any) {
	r.Assumes = append(r.Assumes, fmt.Sprintf(format, args...))
}

// In a Lack: a setting that holds for more ports than it should, and DSCPs that
// no map names and that the device sends somewhere by itself.
const (
	FieldScope      = "scope"
	FieldOtherDSCPs = "other dscps"
)

// line adds a line of configuration.
func (r *Rendered) line(e Effect, format string, args ...any) {
	r.Config = append(r.Config, Line{fmt.Sprintf(format, args...), e})
}

func (r *Rendered) verify(lines ...string)   { r.Verify = append(r.Verify, lines...) }
func (r *Rendered) rollback(lines ...string) { r.Rollback = append(r.Rollback, lines...) }

// lack notes what is not expressed, once.
func (r *Rendered) lack(class int, field, value, why string, args ...any) {
	l := Lack{class, field, value, fmt.Sprintf(why, args...)}
	if !slices.Contains(r.NotExpressed, l) {
		r.NotExpressed = append(r.NotExpressed, l)
	}
}

// round notes a value that is written otherwise, once, and returns what is written.
func (r *Rendered) round(class int, field string, given, written int64, why string) int64 {
	if given != written {
		r.rounded(class, field, fmt.Sprint(given), fmt.Sprint(written), why)
	}
	return written
}

func (r *Rendered) rounded(class int, field, given, written, why string) {
	x := Rounding{class, field, given, written, why}
	if !slices.Contains(r.Rounded, x) {
		r.Rounded = append(r.Rounded, x)
	}
}

// percent writes a probability as a whole number of per cent from low to 100.
func (r *Rendered) percent(class int, p sim.Ratio, low int) int {
	n := max(int(float64(p)*100+0.5), low)
	if percentOf(p) != fmt.Sprintf("%d%%", n) {
		r.rounded(class, FieldPmax, percentOf(p), fmt.Sprintf("%d%%", n), "the device takes whole per cent")
	}
	return n
}

// percentOf prints a probability as per cent with at most six decimals.
func percentOf(p sim.Ratio) string {
	s := strings.TrimRight(fmt.Sprintf("%.6f", float64(p)*100), "0")
	return strings.TrimRight(s, ".") + "%"
}

// Text prints the configuration with its comments.
func (r *Rendered) Text() string {
	var b strings.Builder
	note := func(format string, args ...any) {
		for _, l := range strings.Split(clean(fmt.Sprintf(format, args...)), "\n") {
			b.WriteString(strings.TrimRight(r.comment+" "+l, " ") + "\n")
		}
	}
	note("%s of %s, written by rdmasim export. Read it before you paste it.", r.Format, r.Switch)
	for _, a := range r.Assumes {
		note("assumes: %s", a)
	}
	for _, w := range r.Warnings {
		note("WARNING: %s", w)
	}
	for _, x := range r.Rounded {
		note("rounded: %s%s: %s is written as %s: %s", ofClass(x.Class), x.Field, x.Given, x.Written, x.Why)
	}
	for i, l := range r.NotExpressed {
		alike := func(o Lack) bool { return o.Field == l.Field && o.Value == l.Value && o.Why == l.Why }
		if slices.IndexFunc(r.NotExpressed, alike) < i {
			continue // said with the first class
		}
		classes := ofClass(l.Class)
		for _, o := range r.NotExpressed[i+1:] {
			if alike(o) {
				classes = strings.TrimSuffix(classes, ": ") + fmt.Sprintf(", %d: ", o.Class)
			}
		}
		note("NOT in here: %s%s = %s: %s", classes, l.Field, l.Value, l.Why)
	}
	var effect Effect
	for _, l := range r.Config {
		if l.Effect != effect {
			note("[%s]", l.Effect)
			effect = l.Effect
		}
		b.WriteString(l.Text + "\n")
	}
	for _, part := range []struct {
		title string
		lines []string
	}{{"verify with:", r.Verify}, {"roll back with:", r.Rollback}} {
		if len(part.lines) == 0 {
			continue
		}
		note("%s", part.title)
		for _, l := range part.lines {
			note("  %s", l)
		}
	}
	return b.String()
}

func ofClass(c int) string {
	if c < 0 {
		return ""
	}
	return fmt.Sprintf("class %d: ", c)
}

// clean makes text safe inside a comment: no line but its own.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == 0x85 || c == 0x2028 || c == 0x2029 {
			return ' '
		}
		return c
	}, s)
}

// Name makes a name of letters, digits, - and _ out of any text, so that it
// cannot end a word or a line of any vendor's language.
func nameOf(s string) string {
	s = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '_'
	}, s)
	if len(s) > 48 {
		s = s[:48]
	}
	if s == "" || s[0] == '-' || s[0] >= '0' && s[0] <= '9' {
		s = "x" + s
	}
	return s
}
