package tuning

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// EstimateSchema is the value of estimate.json's schema field.
const EstimateSchema = "rdmasim-estimate/1"

// Estimates is estimate.json: what closed forms say of a scenario, each with
// the limit within which it holds and whether it holds here.
type Estimates struct {
	Schema   string     `json:"schema"`
	Scenario string     `json:"scenario"`
	Where    string     `json:"where"`            // the bottleneck: leaf0:3 to h3, 100Gbps
	Flows    int        `json:"flows"`            // that share it
	Share    float64    `json:"fair_share_bps"`   // of each
	Items    []Estimate `json:"estimates"`        // in the order in which people ask
	Margins  []Margin   `json:"margin,omitempty"` // stability against the number of flows
	Notes    []string   `json:"notes,omitempty"`
}

// Estimate is the answer of one closed form.
type Estimate struct {
	Key     string   `json:"key"`            // queue
	Name    string   `json:"name"`           // queue at the fixed point
	Value   *float64 `json:"value"`          // null where it is not valid
	Unit    string   `json:"unit"`           // of metrics.json, or UnitDegrees
	Text    string   `json:"text,omitempty"` // what the value means here, one sentence
	Valid   bool     `json:"valid"`
	Why     string   `json:"why,omitempty"` // why it is not valid here
	Formula string   `json:"formula"`
	Inputs  []Input  `json:"inputs"`
	Source  string   `json:"source"`
	Limit   string   `json:"limit"` // within which it holds anywhere
	// Metric is the figure of metrics.json that it predicts, "" = none. Bound is
	// "" where both should be equal, else AtMost or AtLeast: the figure is at
	// most or at least the value.
	Metric string `json:"metric,omitempty"`
	Bound  string `json:"bound,omitempty"`
}

// Bounds of what an estimate says of its metric.
const (
	AtMost  = "at most"
	AtLeast = "at least"
)

// UnitDegrees is the unit of a phase margin.
const UnitDegrees = "degrees"

// Input is a number that went into a closed form.
type Input struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	From  string  `json:"from,omitempty"` // the path in the scenario, or how it follows
}

// Settings of margins.
const (
	SettingToday       = "today"
	SettingRecommended = "recommended"
)

// Margin is the phase margin of the control loop with so many flows, in
// degrees; null = the linear model has no answer. Below 0 the loop oscillates.
type Margin struct {
	Setting string   `json:"setting"` // SettingToday, SettingRecommended
	Flows   int      `json:"flows"`
	Degrees *float64 `json:"degrees"`
	Why     string   `json:"why,omitempty"`   // there is no answer
	Model   string   `json:"model,omitempty"` // the oracle that it is of
}

// Write writes estimate.json into a directory.
func (e *Estimates) Write(dir string) error {
	if e.Schema == "" {
		e.Schema = EstimateSchema
	}
	if err := e.Check(); err != nil {
		return fmt.Errorf("%s: %w", FileEstimate, err)
	}
	return writeJSON(filepath.Join(dir, FileEstimate), e)
}

// LoadEstimates reads estimate.json of a directory; nil without an error if
// there is none.
func LoadEstimates(dir string) (*Estimates, error) {
	e := &Estimates{}
	err := readJSON(filepath.Join(dir, FileEstimate), e, e.Check)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return e, err
}

// Limits of estimate.json.
const (
	maxEstimates = 200
	maxMargins   = 10_000
)

// Check says what is wrong: the first thing, by its key.
func (e *Estimates) Check() error {
	switch {
	case e.Schema != EstimateSchema:
		return fmt.Errorf("schema %q cannot be read: this program reads %q", e.Schema, EstimateSchema)
	case len(e.Items) > maxEstimates || len(e.Margins) > maxMargins:
		return fmt.Errorf("%d estimates and %d margins: want at most %d and %d", len(e.Items), len(e.Margins), maxEstimates, maxMargins)
	case !finite(e.Share):
		return errors.New("fair_share_bps: want a number")
	}
	seen := map[string]bool{}
	for i := range e.Items {
		x := &e.Items[i]
		where := fmt.Sprintf("estimates[%d]", i)
		switch {
		case x.Key == "" || seen[x.Key]:
			return fmt.Errorf("%s.key %q: want a key that no other estimate has", where, x.Key)
		case !slices.Contains([]string{Seconds, BitsPerS, Bytes, Ratio, Count, UnitDegrees}, x.Unit):
			return fmt.Errorf("%s.unit %q: want that of a metric, or %s", where, x.Unit, UnitDegrees)
		case x.Valid != (x.Value != nil):
			return fmt.Errorf("%s: a value stands where it is valid, and nowhere else", where)
		case !x.Valid && x.Why == "":
			return fmt.Errorf("%s.why: say why it is not valid", where)
		case x.Bound != "" && x.Bound != AtMost && x.Bound != AtLeast:
			return fmt.Errorf("%s.bound %q: want %q, %q or nothing", where, x.Bound, AtMost, AtLeast)
		case !number(x.Value):
			return fmt.Errorf("%s.value: want a number or null", where)
		}
		seen[x.Key] = true
	}
	for i, m := range e.Margins {
		if m.Flows < 1 || !number(m.Degrees) {
			return fmt.Errorf("margin[%d]: want flows from 1 on and degrees", i)
		}
	}
	return nil
}

// Item returns the estimate of a key; nil if there is none.
func (e *Estimates) Item(key string) *Estimate {
	if e == nil {
		return nil
	}
	i := slices.IndexFunc(e.Items, func(x Estimate) bool { return x.Key == key })
	if i < 0 {
		return nil
	}
	return &e.Items[i]
}

// Keys of estimates that a report asks for by name.
const (
	KeyQueue      = "queue"        // at the fixed point
	KeyFirstBurst = "first_burst"  // bytes of the first burst before senders can react
	KeyCanPrevent = "burst_at_pfc" // the largest burst that no pause answers
	KeyMargin     = "phase_margin"
)
