// Package metric computes the figures of a run, metrics.json, from its run
// directory, and checks expectations against them.
package metric

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// StormThreshold is how long one pause episode must last to count as a storm:
// 10 ms is hundreds of times what a full-size PFC pause lasts without refresh
// (65535 quanta at 100 Gb/s are 336 us), and a tenth of the shortest detection
// time of a common PFC watchdog (SONiC pfcwd: 100 ms).
const StormThreshold = 10 * sim.Millisecond

// Metrics is metrics.json. Keys are stable, values are in SI units (seconds,
// bits per second, bytes), and null means "not measured", which is not 0.
// The doc tags are the definitions, as Paths gives them.
type Metrics struct {
	Run         Run             `json:"run"`
	Flows       Flows           `json:"flows"`
	Goodput     Goodput         `json:"goodput_bps" unit:"bps"`
	Packets     Packets         `json:"packets"`
	ECN         ECN             `json:"ecn"`
	CNP         CNP             `json:"cnp"`
	PFC         PFC             `json:"pfc"`
	Watchdog    Watchdog        `json:"watchdog"`
	GlobalPause GlobalPause     `json:"global_pause"`
	Queue       Queue           `json:"queue_bytes" unit:"bytes"`
	Headroom    Headroom        `json:"headroom_bytes" unit:"bytes"`
	Completions map[string]int  `json:"completions" doc:"messages that completed with this status, by the short name of ibv_wc_status"`
	ICRC        ICRC            `json:"icrc"`
	Diagnosis   DiagnosisShares `json:"diagnosis" unit:"ratio"`
	Faults      []Fault         `json:"faults,omitempty"`
	Expect      []Verdict       `json:"expect"`

	pauses    *Pauses    // pauses.json, where this run was computed
	diagnosis *Diagnosis // diagnosis.json
	run       *trace.Run // that the figures are of; nil for figures read from a file
}

// Run says which run it was.
type Run struct {
	Name        string   `json:"name"`
	Mode        string   `json:"mode"`
	Seed        uint64   `json:"seed"`
	Simulated   *float64 `json:"simulated_s" unit:"s" doc:"time from the start of the run to its end"`
	Warmup      *float64 `json:"warmup_s" unit:"s" doc:"time at the start that counters and goodput leave out"`
	Partial     bool     `json:"partial" doc:"1 if the run was cut short"`
	PacketHops  *int64   `json:"packet_hops" doc:"transmissions of one packet (data, ACK, CNP, PFC) on one link"`
	Fingerprint string   `json:"fingerprint"`
}

// Flows are the messages of the run.
type Flows struct {
	Total     int   `json:"total" doc:"messages posted"`
	Completed int   `json:"completed" doc:"messages that completed with success"`
	Failed    int   `json:"failed" doc:"messages that completed with an error"`
	Bytes     int64 `json:"bytes" unit:"bytes" doc:"payload of all messages posted"`
	Delivered int64 `json:"delivered_bytes" unit:"bytes" doc:"payload delivered in order, of unfinished messages too"`
	FCT       Dist  `json:"fct_s" unit:"s" doc:"flow completion time of successful messages, from posting to completion"`
	Slowdown  Dist  `json:"slowdown" unit:"ratio" doc:"FCT / ideal FCT, where ideal is the same message alone on the same path"`
}

// Dist tells a distribution; quantile p of n samples is sorted[floor(p n)].
type Dist struct {
	Mean *float64 `json:"mean" doc:"mean"`
	P50  *float64 `json:"p50" doc:"median"`
	P95  *float64 `json:"p95" doc:"95th percentile"`
	P99  *float64 `json:"p99" doc:"99th percentile"`
	Max  *float64 `json:"max" doc:"maximum"`
}

// Goodput is payload per time, warm-up excluded.
type Goodput struct {
	Total *float64 `json:"total" doc:"payload delivered in order, all queue pairs, between the first posting and the last completion (the end of the run while messages are unfinished)"`
	Min   *float64 `json:"min" doc:"of the slowest queue pair, between its own first posting and last completion"`
	Max   *float64 `json:"max" doc:"of the fastest queue pair"`
	Jain  *float64 `json:"jain" unit:"ratio" doc:"Jain's fairness index over the goodput of queue pairs"`
}

// Packets are data packets.
type Packets struct {
	Sent          *int64  `json:"sent" doc:"data packets sent, retransmissions included"`
	Delivered     *int64  `json:"delivered" doc:"data packets accepted in order"`
	Retransmitted *int64  `json:"retransmitted" doc:"data packets sent again"`
	Discarded     *int64  `json:"discarded" doc:"data packets that arrived out of order or twice and were discarded by the receiver"`
	Dropped       Dropped `json:"dropped"`
}

// Dropped are packets that were lost on their way, by cause.
type Dropped struct {
	Lossless *int64 `json:"lossless" doc:"in a lossless class, for want of headroom: must be 0"`
	Lossy    *int64 `json:"lossy" doc:"in a lossy class, for want of buffer"`
	Fault    *int64 `json:"fault" doc:"by an injected fault"`
	Watchdog *int64 `json:"watchdog" doc:"by a PFC watchdog or the pause watchdog of a NIC; null where there is none"`
}

// ECN is congestion marking.
type ECN struct {
	Eligible *int64 `json:"eligible" doc:"ECN-capable packets that left queues with marking on"`
	Marked   *int64 `json:"marked" doc:"packets marked CE"`
}

// CNP is congestion notification.
type CNP struct {
	Sent    *int64 `json:"sent" doc:"CNPs sent by notification points"`
	Handled *int64 `json:"handled" doc:"CNPs that reached a reaction point"`
}

// PFC is priority flow control. Frames, refreshes and episodes are counted apart.
type PFC struct {
	Xoff        *int64   `json:"xoff" doc:"XOFF frames sent, refreshes excluded"`
	Xon         *int64   `json:"xon" doc:"XON frames sent"`
	Refresh     *int64   `json:"refresh" doc:"XOFF frames sent while one was in force"`
	Episodes    *int64   `json:"episodes" doc:"how often a priority of a port was stopped by its peer"`
	Paused      *float64 `json:"paused_s" unit:"s" doc:"time during which priorities of ports were stopped, in port-priority seconds"`
	PausedPorts *int64   `json:"paused_ports" doc:"ports of which a priority was stopped at least once"`
	MaxPaused   *float64 `json:"max_paused_fraction" unit:"ratio" doc:"largest share of the measured time that one priority of one port was stopped"`
	MaxWhere    string   `json:"max_paused_where"`
	Storms      *int64   `json:"storms" doc:"episodes longer than storm_threshold_s"`
	Threshold   float64  `json:"storm_threshold_s" unit:"s" doc:"length beyond which an episode is a storm"`
	Deadlocks   *int64   `json:"deadlocks" doc:"cyclic waits of paused ports that nothing in the fabric could end"`
	Root        string   `json:"root"`      // what most paused time comes from; pauses.json has them all
	RootKind    string   `json:"root_kind"` // congested egress, slow receiver, storming NIC or stuck switch
	Depth       *int64   `json:"depth" doc:"links between that root and the farthest port that it stopped"`
	Breadth     *int64   `json:"breadth" doc:"largest number of ports that it stopped in one step"`
	Victims     *int64   `json:"victims" doc:"queue pairs that lost a twentieth of their time or more to a root of pauses that they do not cross"`
	Recover     *float64 `json:"recover_s" unit:"s" doc:"time from the end of the last pause next to that root to the end of the last one that it caused; not measured while pauses last"`
}

// Queue is the worst egress queue: the one with the highest maximum. Queues of
// switches come before those of hosts.
type Queue struct {
	Mean  *float64 `json:"mean" doc:"time-weighted mean of the worst queue"`
	P99   *float64 `json:"p99" doc:"time-weighted 99th percentile of the worst queue"`
	Max   *float64 `json:"max" doc:"maximum of the worst queue"`
	Where string   `json:"where"`
}

// Headroom is the headroom that was used most.
type Headroom struct {
	MaxUsed    *float64 `json:"max_used" doc:"largest use of headroom by one priority of one port"`
	Configured *float64 `json:"configured" doc:"headroom of that priority and port"`
	Where      string   `json:"where"`
}

// ICRC is what a capture says of invariant CRCs.
type ICRC struct {
	Valid   *int64 `json:"valid" doc:"packets of a capture whose ICRC holds"`
	Invalid *int64 `json:"invalid" doc:"packets of a capture whose ICRC does not hold"`
}

// number returns a figure, or "not measured" for what JSON cannot hold.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Write writes metrics.json into a run directory, and of a run that was computed
// pauses.json and diagnosis.json.
func (m *Metrics) Write(dir string) error {
	if m.pauses != nil {
		if err := m.pauses.Write(dir); err != nil {
			return err
		}
	}
	if m.diagnosis != nil {
		if err := m.diagnosis.Write(dir); err != nil {
			return err
		}
	}
	p, err := trace.EncodeJSON(m)
	if err != nil {
		return fmt.Errorf("%s: %w", trace.FileMetrics, err)
	}
	return trace.WriteWhole(filepath.Join(dir, trace.FileMetrics), p)
}

// Load reads metrics.json of a run directory.
func Load(dir string) (*Metrics, error) {
	path := filepath.Join(dir, trace.FileMetrics)
	p, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := decode(p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func decode(p []byte) (*Metrics, error) {
	var m Metrics
	if err := json.Unmarshal(p, &m); err != nil {
		return nil, err
	}
	if m.Run.Mode == "" {
		return nil, fmt.Errorf("no run.mode: not the metrics of a run")
	}
	return &m, nil
}
