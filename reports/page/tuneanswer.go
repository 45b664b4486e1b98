package page

import (
	"fmt"
	"math"
	"strings"

	"rdmasim/reports/figure"
	"rdmasim/reports/tuning"
)

// teller writes the answer.
type teller struct {
	s   *search
	out []Sentence
}

func (t *teller) say(format string, args ...any) {
	t.out = append(t.out, Sentence{Text: fmt.Sprintf(format, args...)})
}

func (t *teller) warn(format string, args ...any) {
	t.say(format, args...)
	t.out[len(t.out)-1].Bad = true
}

// tuneAnswer says what to do and how sure that is.
func tuneAnswer(s *search) []Paragraph {
	t := teller{s: s}
	var out []Paragraph
	for _, part := range []struct {
		head  string
		write func()
	}{
		{"The answer", t.answer},
		{"Against the best published settings", t.baseline},
		{"What that proves", t.excluded},
		{"When PFC will still fire", t.pfc},
		{"How sure", t.sure},
	} {
		t.out = nil
		part.write()
		if len(t.out) > 0 {
			out = append(out, Paragraph{part.head, t.out})
		}
	}
	return out
}

func (t *teller) answer() {
	s := t.s
	switch {
	case s.Winner != nil:
		var list []string
		p := s.Point(*s.Winner)
		for k := range s.Parameters {
			list = append(list, figure.ParameterLabel(&s.Parameters[k])+" "+DeviceValue(&s.Parameters[k], p.Values[k]))
		}
		t.say("Set %s.", figure.List(list))
	case s.Plan.Criterion == tuning.ParetoSet && len(s.Pareto) > 0 && !s.refuted():
		t.say("The search was for a set, not for a point: %s of it trade one objective for another.", figure.Count(len(s.Pareto), "point"))
	default:
		t.warn("Nothing is recommended.")
	}
	if s.NoWinner != "" {
		t.say("%s", figure.Capital(strings.TrimRight(s.NoWinner, "."))+".")
	}
	if s.refuted() {
		for _, m := range s.gate.Missing {
			t.warn("%s", m)
		}
		return
	}
	if s.Winner != nil {
		for _, o := range t.compared() {
			t.contrast(o, tuning.AgainstToday, "today's")
		}
	}
}

// compared are the objectives, and the constraints that were compared too.
func (t *teller) compared() (list []*tuning.Objective) {
	for o := range t.s.Objectives {
		list = append(list, &t.s.Objectives[o])
	}
	for i := range t.s.Constraints {
		if o, ok := t.s.ConstraintAsObjective(i); ok {
			list = append(list, o)
		}
	}
	return list
}

// contrast tells one objective against something, over all workloads where that
// was computed, else for each.
func (t *teller) contrast(obj *tuning.Objective, as, whose string) {
	said := false
	for pass := range 2 {
		for i := range t.s.Contrasts {
			c := &t.s.Contrasts[i]
			if c.Metric != obj.Metric || c.As != as || (c.Workload == "") != (pass == 0) || c.Delta.Mean == nil {
				continue
			}
			said = true
			where := ""
			if c.Workload != "" {
				where = " under " + c.Workload
			}
			tell := t.say
			if c.Confident && (*c.Delta.Mean < 0) != (obj.Goal == tuning.Minimize) {
				tell = t.warn
			}
			tell("%s", figure.Capital(figureLabel(obj))+where+" "+changeWords(c, obj, whose)+".")
		}
		if said {
			return
		}
	}
}

func figureLabel(o *tuning.Objective) string {
	if o.Label != "" {
		return o.Label
	}
	return o.Metric
}

// changeWords says how an objective differs.
func changeWords(c *tuning.Contrast, o *tuning.Objective, whose string) string {
	lo, hi, known := c.Delta.Ends()
	if !known {
		return fmt.Sprintf("differs by %[2]s from %[1]s in the one run of each: that may be chance", whose, amount(c, o))
	}
	if !c.Confident {
		return fmt.Sprintf("does not differ from %s beyond chance (%s, 95 %% interval %s)", whose, amount(c, o), ends(lo, hi, c, o))
	}
	word := "rises"
	if *c.Delta.Mean < 0 {
		word = "falls"
	}
	return fmt.Sprintf("%s by %s against %s (95 %% interval %s)", word, strings.TrimLeft(amount(c, o), "+−"), whose, ends(lo, hi, c, o))
}

// amount is the difference, relative where that is known.
func amount(c *tuning.Contrast, o *tuning.Objective) string {
	if c.Relative.Mean != nil {
		return figure.ChangeShare(*c.Relative.Mean)
	}
	if *c.Delta.Mean < 0 {
		return "−" + figure.Quantity(-*c.Delta.Mean, o.Unit)
	}
	return "+" + figure.Quantity(*c.Delta.Mean, o.Unit)
}

func ends(lo, hi float64, c *tuning.Contrast, o *tuning.Objective) string {
	if a, b, ok := c.Relative.Ends(); ok && (c.Confident || a <= 0 && b >= 0) { // else a share of what is 0 on most seeds: as certain as it is meaningless
		return figure.ChangeShare(max(a, -1)) + " to " + figure.ChangeShare(b) // nothing falls by more than all of it
	}
	sign := func(v float64) string {
		if v < 0 {
			return "−" + figure.Quantity(-v, o.Unit)
		}
		return figure.Quantity(v, o.Unit)
	}
	return sign(lo) + " to " + sign(hi)
}

func (t *teller) baseline() {
	s := t.s
	switch {
	case s.refuted():
		return
	case s.BestOf == nil && len(s.Baselines) > 0:
		t.say("None of the published settings is feasible here.")
		return
	case s.BestOf == nil:
		t.say("No published settings were run.")
		return
	}
	p := s.Point(*s.BestOf)
	name := p.Name
	if p.Kind == tuning.KindToday {
		name = "today's"
	}
	if s.Best() == nil {
		t.say("The best of them is %s.", name)
		return
	}
	who := ""
	if s.Winner == nil {
		who = "The best point of the search is compared with it: "
	}
	t.say("The best of them is %s. %s", name, who)
	for _, o := range t.compared() {
		t.contrast(o, tuning.AgainstBaseline, name)
	}
}

// excluded says what a search without a winner proves, and what not.
func (t *teller) excluded() {
	x := t.s.Exclusion
	if x == nil || t.s.Winner != nil || t.s.refuted() {
		return
	}
	for _, words := range x.Words(figure.PointName(&t.s.Search, x.Against), figure.Share, func(n int, thing string) string { return figure.Count(n, thing) }) {
		t.say("%s", words)
	}
}

// pfc compares the first burst with what a switch can take without a pause.
func (t *teller) pfc() {
	burst, room := t.s.Estimates.Item(tuning.KeyFirstBurst), t.s.Estimates.Item(tuning.KeyCanPrevent)
	if burst == nil || room == nil {
		return
	}
	switch {
	case !burst.Valid:
		t.say("The first burst cannot be told from closed forms here: %s.", burst.Why)
	case !room.Valid:
		t.say("The first burst is %s; %s.", figure.Size(*burst.Value), room.Why)
	case *burst.Value > *room.Value:
		t.warn("Whenever %s begin together at %s.", figure.Count(sendersOf(burst), "sender"), t.s.Estimates.Where)
		t.say("Their first burst, before the first notification can slow anyone down, is %s; a port can hold %s before it must pause. No marking threshold prevents that: only fewer senders, a smaller first window, or more shared buffer do.",
			figure.Size(*burst.Value), figure.Size(*room.Value))
	default:
		t.say("The first burst of %s at %s is %s, and a port can hold %s before it must pause: a single such burst does not trigger PFC. Several at once, or a queue that was not empty, can.",
			figure.Count(sendersOf(burst), "sender"), t.s.Estimates.Where, figure.Size(*burst.Value), figure.Size(*room.Value))
	}
	if burst.Text != "" && burst.Valid {
		t.say("%s", burst.Text)
	}
	t.paused()
}

// sendersOf returns how many senders a first burst is of.
func sendersOf(e *tuning.Estimate) float64 {
	for _, in := range e.Inputs {
		if in.Name == "N" {
			return in.Value
		}
	}
	return 0
}

// paused says how long the runs with the recommended settings paused anything.
func (t *teller) paused() {
	o, ok := t.s.Objective("pfc.paused_s")
	if !ok || t.s.Winner == nil {
		return
	}
	var some, none []string
	for w, c := range t.s.Settled(*t.s.Winner).Cells {
		switch {
		case o >= len(c.Objectives) || c.Objectives[o].Mean == nil:
		case *c.Objectives[o].Mean > 0:
			some = append(some, figure.Seconds(*c.Objectives[o].Mean)+" under "+t.s.Workloads[w].Name)
		default:
			none = append(none, t.s.Workloads[w].Name)
		}
	}
	if len(some) > 0 {
		t.say("Runs with the recommended settings were paused for %s on average, added up over ports and priorities.", figure.List(some))
	}
	if len(none) > 0 {
		t.say("No run paused anything under %s.", figure.List(none))
	}
}

func (t *teller) sure() {
	s := t.s
	if s.Partial {
		t.warn("The search was cut short: %s.", strings.TrimRight(orWords(s.Reason, "not all points were run"), "."))
	}
	t.say("%s under %s, at most %s each.", figure.Capital(figure.Count(len(s.Points), "point")), figure.Count(len(s.Workloads), "workload"), figure.Count(len(s.Seeds), "seed"))
	if n := len(s.Confirmed); n > 0 {
		t.say("The differences are of %s that the search has not seen, on which %s ran again.", figure.Count(len(s.ConfirmSeeds), "seed"), figure.Count(n, "point"))
	}
	if max(len(s.Seeds), len(s.ConfirmSeeds)) < 3 {
		t.warn("With fewer than three seeds chance cannot be told from effect.")
	}
	switch {
	case s.gate == nil:
		t.say("Today's counters were not given: whether the simulated today resembles the real one was not checked.")
	case s.gate.Credible:
		t.say("Today's counters agree with the simulated today within a factor of %s.", figure.Number(tuning.CredibleFactor))
	}
	if p := s.Best(); p != nil && s.Winner != nil {
		if edge := atEdge(s.Result, p); len(edge) > 0 {
			t.warn("%s at the end of the range that was searched: better values may lie beyond.", figure.Capital(figure.List(edge))+map[bool]string{true: " lies", false: " lie"}[len(edge) == 1])
		}
	}
}

func orWords(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// atEdge names the parameters of a point that lie at an end of their range.
func atEdge(r *tuning.Result, p *tuning.Point) []string {
	var list []string
	for k := range r.Parameters {
		par := &r.Parameters[k]
		u := par.Unit01(p.Values[k])
		physical := par.Low == 0 && p.Values[k] == 0 || par.Unit == tuning.Ratio && par.High == 1 && p.Values[k] == 1
		if (u < 0.01 || u > 0.99) && !physical {
			list = append(list, figure.ParameterLabel(par))
		}
	}
	return list
}

// tuneValues is the table of the answer: today and recommended, as the device
// takes them.
func tuneValues(s *search) figure.Table {
	if s.refuted() {
		return figure.Table{}
	}
	best, head := s.Best(), "recommended"
	if s.Winner == nil {
		head = "best of the search, not recommended"
	}
	t := figure.Table{Head: []string{"setting", "today", head, "searched", "device"}}
	today := s.Point(s.Today)
	for k := range s.Parameters {
		p := &s.Parameters[k]
		row := []string{figure.ParameterLabel(p) + " (" + p.Path + ")", DeviceValue(p, today.Values[k]), "–",
			figure.Quantity(p.Low, p.Unit) + " to " + figure.Quantity(p.High, p.Unit), p.Device}
		if best != nil {
			row[2] = DeviceValue(p, best.Values[k])
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// DeviceValue prints a value of a parameter exactly, as a device takes it.
func DeviceValue(p *tuning.Parameter, v float64) string {
	whole := v == math.Trunc(v) && math.Abs(v) < 1e15
	switch {
	case p.Unit == tuning.Bytes && whole && v != 0 && math.Mod(v, 1024) == 0:
		return fmt.Sprintf("%s\u00a0KiB (%s\u00a0B)", figure.Whole(v/1024), figure.Whole(v))
	case p.Unit == tuning.Bytes && whole && v != 0 && math.Mod(v, 1000) == 0:
		return figure.Whole(v/1000) + "\u00a0KB"
	case p.Unit == tuning.Bytes && whole:
		return figure.Whole(v) + "\u00a0B"
	case p.Unit == tuning.BitsPerS && whole && math.Mod(v, 1e6) == 0:
		return figure.Whole(v/1e6) + "\u00a0Mbit/s"
	case p.Unit == tuning.Ratio && p.Role == tuning.RolePmax:
		return figure.Share(v)
	case p.Unit == tuning.Ratio && v > 0 && v < 1 && isPowerOfTwo(1/v):
		return "1/" + figure.Whole(1/v)
	}
	return figure.Quantity(v, p.Unit)
}

func isPowerOfTwo(v float64) bool { f, _ := math.Frexp(v); return f == 0.5 }

// tuneTiles are the objectives of the answer.
func tuneTiles(s *search) []Tile {
	best := s.Best()
	if best == nil || s.refuted() {
		return nil
	}
	var out []Tile
	today := s.Point(s.Today)
	if a, b := s.Settled(best.ID), s.Settled(s.Today); a != best && b != today {
		best, today = a, b // both on fresh seeds
	}
	for o := range s.Objectives {
		obj := &s.Objectives[o]
		v, ok := s.Mean(best, o)
		if !ok {
			continue
		}
		tile := Tile{Label: figure.Capital(figureLabel(obj)), Value: figure.Quantity(v, obj.Unit)}
		if was, ok := s.Mean(today, o); ok {
			tile.Note = "today " + figure.Quantity(was, obj.Unit)
			if was != 0 {
				tile.Note += ", " + figure.ChangeShare((v-was)/math.Abs(was))
			}
		}
		out = append(out, tile)
	}
	return out
}
