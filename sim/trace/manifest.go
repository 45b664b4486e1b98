package trace

import (
	"encoding/json"
	"fmt"
	"strings"

	"rdmasim/sim"
)

// Schema is the value of manifest.json's schema field: it changes when a
// reader of the old form would misread the new one.
const Schema = "rdmasim-run/1"

// Modes of a run.
const (
	ModeSimulated = "simulated"
	ModeHardware  = "hardware"
	ModeCapture   = "capture"
)

// Names of the files of a run directory.
const (
	FileManifest = "manifest.json"
	FileScenario = "scenario.yaml"
	FileResolved = "resolved.json"
	FileTopology = "topology.json"
	FileMetrics  = "metrics.json"
	FilePerf     = "perf.json"
	FileFlows    = "flows.csv"
	FileSeries   = "series.parquet"
	FileEvents   = "events.parquet"
	FileCounters = "counters.csv"
	FileExpect   = "expect.xml"
)

// Statuses of a Flow that readers ask for by name.
const (
	StatusSuccess    = "IBV_WC_SUCCESS"
	StatusUnfinished = "unfinished"
)

// Manifest is manifest.json: what was run, where, and what came of it. The
// fields after Warmup are filled in by Writer.Finish.
type Manifest struct {
	Schema       string            `json:"schema"`
	Name         string            `json:"name"`
	Description  string            `json:"description,omitempty"`
	Mode         string            `json:"mode"`   // simulated | hardware | capture
	Compat       string            `json:"compat"` // "none", or the model whose rules were followed
	Seed         uint64            `json:"seed"`
	Versions     map[string]string `json:"versions,omitempty"` // of the program, of Go, of libraries and drivers
	Host         Host              `json:"host"`
	ScenarioHash string            `json:"scenario_hash"` // SHA-256 of the resolved scenario, hex
	Warmup       Seconds           `json:"warmup_s"`      // counters and goodput begin here

	Simulated   Seconds `json:"simulated_s"` // when the run ended, from its start
	Partial     bool    `json:"partial"`     // cut short: what follows describes what was measured so far
	Reason      string  `json:"reason,omitempty"`
	Rows        Rows    `json:"rows"`
	Series      FileSum `json:"series_parquet"`
	Events      FileSum `json:"events_parquet"`
	Fingerprint string  `json:"fingerprint"` // SHA-256 over the rows of flows, events and counters, hex
}

// ManifestEnd is what is known of a run only when it has ended.
type ManifestEnd struct {
	Simulated sim.Time
	Partial   bool
	Reason    string // why the run is partial
}

// Rows counts what the tables of a run hold, so that a truncated file is noticed.
type Rows struct {
	Flows    int64 `json:"flows"`
	Events   int64 `json:"events"`
	Points   int64 `json:"points"`
	Counters int64 `json:"counters"`
}

// FileSum tells whether a file is the one that was written. Compressed tables
// are checked against it before they are decoded: a decoder that is fed a
// corrupt length may ask for gigabytes.
type FileSum struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // hex
}

// Host describes the machine of a run. It is no part of the results.
type Host struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPU  string `json:"cpu,omitempty"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

// Perf is perf.json: what the run cost. Everything that differs from one run
// of the same scenario to the next belongs here or in Host.
type Perf struct {
	Wall       float64 `json:"wall_s"`
	CPU        float64 `json:"cpu_s"`
	Events     uint64  `json:"events"`
	PacketHops uint64  `json:"packet_hops"`
	NsPerHop   float64 `json:"ns_per_hop"` // CPU time
	PeakRSS    int64   `json:"peak_rss_bytes"`
	Workers    int     `json:"workers"`
	StartedAt  string  `json:"started_at,omitempty"` // RFC 3339
	Host       Host    `json:"host"`
}

// Seconds is a point or span of time that is written in decimal seconds and
// read back exact to the picosecond.
type Seconds sim.Time

// MarshalJSON writes decimal seconds with at most twelve decimals.
func (s Seconds) MarshalJSON() ([]byte, error) { return appendSeconds(nil, int64(s)), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Seconds) UnmarshalJSON(p []byte) error {
	v, err := parseSeconds(string(p))
	*s = Seconds(v)
	return err
}

// check says what is wrong with a manifest before anything is written.
func (m *Manifest) check() error {
	switch m.Mode {
	case ModeSimulated, ModeHardware, ModeCapture:
	default:
		return fmt.Errorf("mode %q: want %s, %s or %s", m.Mode, ModeSimulated, ModeHardware, ModeCapture)
	}
	if m.Warmup < 0 {
		return fmt.Errorf("warmup_s must not be negative")
	}
	return nil
}

// parseManifest reads manifest.json.
func parseManifest(p []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(p, &m); err != nil {
		return m, err
	}
	if m.Schema == "" {
		return m, fmt.Errorf("no schema field: not the manifest of a run (want %q)", Schema)
	}
	if m.Schema != Schema {
		return m, fmt.Errorf("schema %q cannot be read: this program reads %q", m.Schema, Schema)
	}
	if err := m.check(); err != nil {
		return m, err
	}
	if m.Simulated < 0 || m.Rows.Flows < 0 || m.Rows.Events < 0 || m.Rows.Points < 0 || m.Rows.Counters < 0 {
		return m, fmt.Errorf("simulated_s and rows must not be negative")
	}
	return m, nil
}

// isManifest tells the manifest of any version of a run from other JSON.
func isManifest(p []byte) bool {
	var m struct{ Schema string }
	return json.Unmarshal(p, &m) == nil && strings.HasPrefix(m.Schema, "rdmasim-run/")
}
