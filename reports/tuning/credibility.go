package tuning

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// CredibilitySchema is the value of credibility.json's schema field.
const CredibilitySchema = "rdmasim-credibility/1"

// CredibleFactor is how far a counter of today may be from its simulation: a
// model that is off by more has no business recommending anything.
const CredibleFactor = 2.0

// Credibility is credibility.json: today's counters beside the simulated today.
type Credibility struct {
	Schema   string     `json:"schema"`
	Files    []string   `json:"files"`      // the texts that were read
	Run      string     `json:"run"`        // the run directory they are compared with
	Interval float64    `json:"interval_s"` // that the counters cover
	Rows     []Counters `json:"rows"`
	// Ports are those that were compared with each other; none = all on which
	// anything counts, by their means.
	Ports    []PortPair `json:"ports,omitempty"`
	Missing  []string   `json:"missing,omitempty"` // what the model lacks, or what was not given
	Credible bool       `json:"credible"`
}

// PortPair is a port of the device and the one of the run that it is.
type PortPair struct {
	Real      string `json:"real"`
	Simulated string `json:"simulated"`
}

// Counters is one counter in both worlds, per second and per port.
type Counters struct {
	Name      string   `json:"name"`      // frames of PFC received, priority 3
	Counter   string   `json:"counter"`   // as the device calls it: RX PFC3 of show pfc counters
	Unit      string   `json:"unit"`      // frames/s per port; bytes
	Ports     int      `json:"ports"`     // of the device that have it
	Real      *float64 `json:"real"`      // mean over ports
	Simulated *float64 `json:"simulated"` // mean over ports, null = the run has no such counter
	SimPorts  int      `json:"simulated_ports"`
	Factor    *float64 `json:"factor"` // simulated / real; null where one is 0 or missing
	Verdict   string   `json:"verdict"`
	Why       string   `json:"why,omitempty"`
}

// Verdicts on a counter.
const (
	Agrees      = "agrees"
	Differs     = "differs"
	NotCompared = "not compared"
)

// Write writes credibility.json into a directory.
func (c *Credibility) Write(dir string) error {
	if c.Schema == "" {
		c.Schema = CredibilitySchema
	}
	if err := c.Check(); err != nil {
		return fmt.Errorf("%s: %w", FileCredibility, err)
	}
	return writeJSON(filepath.Join(dir, FileCredibility), c)
}

// LoadCredibility reads credibility.json of a directory; nil without an error
// if there is none.
func LoadCredibility(dir string) (*Credibility, error) {
	c := &Credibility{}
	err := readJSON(filepath.Join(dir, FileCredibility), c, c.Check)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return c, err
}

const maxCounters = 1000

// Check says what is wrong: the first thing, by its key.
func (c *Credibility) Check() error {
	switch {
	case c.Schema != CredibilitySchema:
		return fmt.Errorf("schema %q cannot be read: this program reads %q", c.Schema, CredibilitySchema)
	case len(c.Rows) > maxCounters:
		return fmt.Errorf("%d rows: want at most %d", len(c.Rows), maxCounters)
	case !finite(c.Interval) || c.Interval < 0:
		return errors.New("interval_s: want 0 or more")
	}
	differs := false
	for i, r := range c.Rows {
		if r.Name == "" || !number(r.Real) || !number(r.Simulated) || !number(r.Factor) || !slices.Contains([]string{Agrees, Differs, NotCompared}, r.Verdict) {
			return fmt.Errorf("rows[%d]: want a name, numbers, and one of %s, %s and %s", i, Agrees, Differs, NotCompared)
		}
		differs = differs || r.Verdict == Differs
	}
	if c.Credible && differs {
		return errors.New("credible: a counter differs")
	}
	return nil
}
