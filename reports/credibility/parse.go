// Package credibility lays the counters of a real network beside those of its
// simulation: a model that does not give today's counters within a factor of
// two has no business recommending anything for tomorrow.
package credibility

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Kind is what a counter counts.
type Kind string

// Kinds of counters, in the order of a table.
const (
	PFCRx        Kind = "pfc_rx"          // frames by port and priority
	PFCTx        Kind = "pfc_tx"          // frames by port and priority
	Marked       Kind = "ecn_marked"      // packets by port and queue
	WREDDropped  Kind = "wred_dropped"    // packets by port and queue
	QueuePackets Kind = "queue_packets"   // packets by port and queue
	QueueDrops   Kind = "queue_drops"     // packets by port and queue
	QueueMax     Kind = "queue_max"       // bytes by port and queue, a watermark
	GroupMax     Kind = "group_max"       // bytes by port and priority group, a watermark of shared use
	HeadroomMax  Kind = "headroom_max"    // bytes by port and priority group, a watermark
	NICPauseRx   Kind = "nic_pause_rx"    // frames by NIC and priority
	NICPauseTx   Kind = "nic_pause_tx"    // frames by NIC and priority
	NICPaused    Kind = "nic_paused_us"   // microseconds by NIC and priority
	NICCNPSent   Kind = "nic_cnp_sent"    // packets by NIC
	NICCNP       Kind = "nic_cnp_handled" // packets by NIC
	NICMarked    Kind = "nic_ce_received" // packets by NIC
)

// Watermark reports whether a counter is a maximum and not a sum.
func (k Kind) Watermark() bool { return k == QueueMax || k == GroupMax || k == HeadroomMax }

// Key names a counter. Index is the priority, queue or group, -1 = none.
type Key struct {
	Kind  Kind
	Port  string
	Index int
}

// Sample is what one text says.
type Sample struct {
	File  string
	Time  time.Time // of a line with a date, zero without
	Since time.Time // since which it counts, zero = since the last clear
	Value map[Key]float64
}

// Limits of a text.
const (
	maxText     = 16 << 20 // B
	maxCounters = 200_000
	maxIndex    = 63
)

// Parse reads the output of one or more commands as they are pasted from a
// terminal: show pfc counters (pfcstat), show queue counters (queuestat), show
// queue wredcounters (wredstat), show queue watermark unicast, show
// priority-group watermark shared and headroom (watermarkstat), of SONiC, and
// ethtool -S of mlx5. Lines of other commands are skipped. A text without any
// counter is an error.
func Parse(file string, text []byte) (*Sample, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%s: larger than %d MiB", file, maxText>>20)
	}
	base := filepath.Base(file)
	nic, _, _ := strings.Cut(base, ".")
	p := parser{s: &Sample{File: file, Value: map[Key]float64{}}, nic: nic}
	for n, line := range strings.Split(string(text), "\n") {
		if err := p.line(strings.TrimRight(line, "\r")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n+1, err)
		}
	}
	if len(p.s.Value) == 0 {
		return nil, fmt.Errorf("%s: no counters found: want the output of show pfc counters, show queue counters, show queue wredcounters, show queue watermark unicast, show priority-group watermark shared or headroom, or ethtool -S", file)
	}
	return p.s, nil
}

type parser struct {
	s      *Sample
	nic    string
	table  []column // of the table that is being read; nil = none
	queued bool     // the second column is the queue
	title  Kind     // of a watermark table, from the line above it
}

// column is where a cell of a row goes.
type column struct {
	kind  Kind // "" = nowhere
	index int  // -1: that of the queue in the second column
}

var (
	rule     = regexp.MustCompile(`^[\s-]+$`)
	stamp    = regexp.MustCompile(`\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:?\d{2})?`)
	pfcName  = regexp.MustCompile(`^PFC(\d)$`)
	unitName = regexp.MustCompile(`^(?:UC|PG)(\d+)$`)
	txq      = regexp.MustCompile(`^(UC|MC|ALL|VOQ)(\d+)$`)
	ethtool  = regexp.MustCompile(`\bethtool\s+(?:-S|--statistics)\s+([\w./-]+)`)
	nicLine  = regexp.MustCompile(`^\s*([\w.]+)\s*:\s*(-?[\d,]+)\s*$`)
	nicPause = regexp.MustCompile(`^(rx|tx)_prio(\d)_pause(_duration)?$`)
)

// queueColumns are those of show queue counters and wredcounters.
var queueColumns = map[string]Kind{"Counter/pkts": QueuePackets, "Drop/pkts": QueueDrops, "WredDrp/pkts": WREDDropped, "EcnMarked/pkts": Marked}

// nicCounters are those of mlx5 without a priority.
var nicCounters = map[string]Kind{"np_cnp_sent": NICCNPSent, "rp_cnp_handled": NICCNP, "np_ecn_marked_roce_packets": NICMarked}

func (p *parser) line(line string) error {
	f := strings.Fields(line)
	if len(f) == 0 {
		p.table = nil
		return nil
	}
	if rule.MatchString(line) {
		return nil
	}
	if m := ethtool.FindStringSubmatch(line); m != nil {
		p.nic, p.table = m[1], nil
		return nil
	}
	if done, err := p.timeLine(line); done || err != nil {
		return err
	}
	if p.titleLine(line) || p.header(f) {
		return nil
	}
	if m := nicLine.FindStringSubmatch(line); m != nil {
		p.table = nil
		return p.nicCounter(m[1], m[2])
	}
	if p.table != nil {
		return p.row(f)
	}
	return nil
}

// timeLine reads a line that is a date, or says since when a table counts.
func (p *parser) timeLine(line string) (bool, error) {
	m := stamp.FindString(line)
	if m == "" {
		return false, nil
	}
	t, err := parseTime(m)
	if err != nil {
		return false, fmt.Errorf("time %q: %w", m, err)
	}
	if strings.Contains(line, "Last cached time was") {
		p.s.Since = t
		return true, nil
	}
	if strings.TrimSpace(line) == m {
		p.s.Time = t
		return true, nil
	}
	return false, nil
}

func parseTime(s string) (time.Time, error) {
	s = strings.Replace(s, " ", "T", 1)
	var err error
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700", "2006-01-02T15:04:05.999999999"} {
		var t time.Time
		if t, err = time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, err
}

// titleLine reads the line above a table of watermarks.
func (p *parser) titleLine(line string) bool {
	for text, kind := range map[string]Kind{"Egress shared pool occupancy per unicast queue": QueueMax, "Ingress shared pool occupancy per PG": GroupMax, "Ingress headroom per PG": HeadroomMax} {
		if strings.Contains(line, text) {
			p.title, p.table = kind, nil
			return true
		}
	}
	if strings.Contains(line, "occupancy per multicast queue") || strings.Contains(line, "occupancy per all queues") {
		p.title, p.table = "", nil
		return true
	}
	return false
}

// header reads the head of a table.
func (p *parser) header(f []string) bool {
	if f[0] != "Port" && f[0] != "Interface" || len(f) < 2 {
		return false
	}
	p.queued = f[1] == "TxQ"
	switch {
	case p.queued:
		p.table = []column{}
		for _, name := range f[2:] {
			p.table = append(p.table, column{queueColumns[name], -1})
		}
	case f[1] == "Rx" || f[1] == "Tx":
		kind := map[string]Kind{"Rx": PFCRx, "Tx": PFCTx}[f[1]]
		p.table = indexed(f[2:], pfcName, kind)
	case p.title != "":
		p.table = indexed(f[1:], unitName, p.title)
	default:
		p.table = nil
	}
	return true
}

// indexed are columns that are named by a priority, queue or group.
func indexed(names []string, pattern *regexp.Regexp, kind Kind) []column {
	list := make([]column, len(names))
	for i, name := range names {
		if m := pattern.FindStringSubmatch(name); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil && n <= maxIndex {
				list[i] = column{kind, n}
			}
		}
	}
	return list
}

// row reads one row of a table. A row of another shape ends the table.
func (p *parser) row(f []string) error {
	port, cells, queue := f[0], f[1:], -1
	if p.queued {
		m := []string(nil)
		if len(f) > 1 {
			m = txq.FindStringSubmatch(f[1])
		}
		if m == nil {
			p.table = nil
			return nil
		}
		cells = f[2:]
		n, err := strconv.Atoi(m[2])
		if err != nil || n > maxIndex || m[1] != "UC" {
			return nil // multicast queues carry no RDMA
		}
		queue = n
	}
	if len(cells) != len(p.table) {
		p.table = nil
		return nil
	}
	for i, c := range p.table {
		if c.kind == "" || cells[i] == "N/A" {
			continue
		}
		v, err := number(cells[i])
		if err != nil {
			return fmt.Errorf("%s: %w", port, err)
		}
		index := c.index
		if index < 0 {
			index = queue
		}
		if err := p.put(Key{c.kind, port, index}, v); err != nil {
			return err
		}
	}
	return nil
}

// nicCounter reads one line of ethtool -S, or of rdma statistic printed alike.
func (p *parser) nicCounter(name, text string) error {
	key := Key{Port: p.nic, Index: -1}
	if m := nicPause.FindStringSubmatch(name); m != nil {
		key.Index, _ = strconv.Atoi(m[2])
		switch {
		case m[3] != "" && m[1] == "rx":
			key.Kind = NICPaused
		case m[3] != "":
			return nil
		case m[1] == "rx":
			key.Kind = NICPauseRx
		default:
			key.Kind = NICPauseTx
		}
	} else if key.Kind = nicCounters[name]; key.Kind == "" {
		return nil
	}
	v, err := number(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return p.put(key, v)
}

func (p *parser) put(k Key, v float64) error {
	if old, ok := p.s.Value[k]; ok && old != v {
		return fmt.Errorf("%s %s stands there twice, as %g and %g: want one sample per file", k.Port, k.Kind, old, v)
	}
	if len(p.s.Value) >= maxCounters {
		return fmt.Errorf("more than %d counters", maxCounters)
	}
	p.s.Value[k] = v
	return nil
}

// number reads a count with or without commas between thousands.
func number(s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, fmt.Errorf("%q: want a count from 0 on", s)
	}
	return v, nil
}
