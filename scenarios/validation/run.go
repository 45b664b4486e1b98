package validation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// Result is what one row found.
type Result struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Explain   string   `json:"explain"`
	Hard      bool     `json:"hard"`
	Scenarios []string `json:"scenarios,omitempty"`
	Lacks     string   `json:"not_yet,omitempty"`
	Checks    []Check  `json:"checks,omitempty"`
	Curves    []Curve  `json:"curves,omitempty"`
	Error     string   `json:"error,omitempty"` // the row could not be measured
	Hops      uint64   `json:"packet_hops"`
	Wall      float64  `json:"wall_s"` // beside the rows that were measured at the same time
}

// OK reports whether every check of the row holds.
func (r *Result) OK() bool {
	return r.Error == "" && !slices.ContainsFunc(r.Checks, func(c Check) bool { return !c.OK })
}

// Report is a whole validation.
type Report struct {
	Level   string    `json:"level"`
	Version string    `json:"version"`
	Results []*Result `json:"rows"`
	Wall    float64   `json:"wall_s"`
}

// Failed returns how many hard rows do not hold.
func (r *Report) Failed() (n int) {
	for _, x := range r.Results {
		if x.Hard && !x.OK() {
			n++
		}
	}
	return n
}

// String names a level.
func (l Level) String() string { return [...]string{"short", "quick", "full"}[l] }

// Run measures the rows that are asked for, all at the same time, with as many
// runs at a time as the options allow workers. An unknown id is an error; a row
// that cannot be measured fails and says why. Where the context ends, the report
// has the rows that had been measured, beside the error.
func Run(ctx context.Context, o Options) (*Report, error) {
	ids := o.Only
	if len(ids) == 0 {
		ids = IDs()
	}
	dir := o.Out
	if dir == "" {
		tmp, err := os.MkdirTemp("", "rdmasim-validate-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	rows := make([]Row, len(ids))
	for i, id := range ids {
		var err error
		if rows[i], err = Lookup(id); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	rep := &Report{Level: o.Level.String(), Version: o.Version, Results: make([]*Result, len(ids))}
	o = o.withSlots()
	var progress sync.Mutex
	err := each(len(ids), func(i int) error {
		r := measure(ctx, ids[i], rows[i], dir, o)
		if err := ctx.Err(); err != nil {
			return err
		}
		rep.Results[i] = r
		if o.Progress != nil {
			progress.Lock()
			defer progress.Unlock()
			o.Progress(rep.Results[i])
		}
		return nil
	})
	rep.Results = slices.DeleteFunc(rep.Results, func(r *Result) bool { return r == nil })
	rep.Wall = time.Since(start).Seconds()
	return rep, err
}

func measure(ctx context.Context, id string, r Row, dir string, o Options) *Result {
	b := newBench(ctx, id, r, dir, o)
	if r.Measure == nil {
		return b.result
	}
	start := time.Now()
	err := r.Measure(b)
	if err == nil && len(b.result.Checks) == 0 {
		err = errors.New("the row checked nothing")
	}
	if err != nil {
		b.result.Error = err.Error()
	}
	b.result.Wall = time.Since(start).Seconds()
	if o.Out == "" {
		os.RemoveAll(fmt.Sprintf("%s/%s", dir, id))
	}
	return b.result
}
