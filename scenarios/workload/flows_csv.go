package workload

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"rdmasim/sim"
)

// flowColumns are the columns of a CSV of flows without a header, in order.
var flowColumns = []string{"src", "dst", "bytes", "start", "priority", "sport", "dport", "tag"}

// resultColumns are what a run's flows.csv has besides: read over, so that the
// flows of one run can be played again in another.
var resultColumns = []string{"id", "qp", "verb", "end_s", "fct_s", "ideal_fct_s", "slowdown", "retransmits", "status"}

// maxFlows bounds a CSV of flows.
const maxFlows = 10_000_000

// parseFlows reads a CSV of flows and returns them with their lines. A header
// names the columns in any order; without one they are those of flowColumns,
// the first four required. Start is in seconds unless it has a unit, bytes may
// have one. An error names file and line.
func parseFlows(name string, text []byte) ([]Flow, []int, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))) // spreadsheets begin with a byte order mark
	r.FieldsPerRecord = -1
	r.Comment = '#'
	r.TrimLeadingSpace = true
	r.ReuseRecord = true
	var (
		list  []Flow
		lines []int
	)
	columns := flowColumns
	for first := true; ; first = false {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			var pe *csv.ParseError
			if errors.As(err, &pe) {
				return nil, nil, fmt.Errorf("%s:%d: %w", name, pe.Line, pe.Err)
			}
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := r.FieldPos(0)
		if first && strings.TrimSpace(rec[0]) != "" && isHeader(rec) {
			if columns, err = header(rec); err != nil {
				return nil, nil, fmt.Errorf("%s:%d: %w", name, line, err)
			}
			continue
		}
		f, err := parseFlow(rec, columns)
		if err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if len(list) == maxFlows {
			return nil, nil, fmt.Errorf("%s:%d: more than %d flows", name, line, maxFlows)
		}
		list, lines = append(list, f), append(lines, line)
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("%s: no flows", name)
	}
	return list, lines, nil
}

func isHeader(rec []string) bool {
	for _, f := range rec {
		if f = strings.TrimSpace(f); f == "src" || f == "dst" || f == "bytes" {
			return true
		}
	}
	return false
}

// header returns the columns that a header names, "" for those read over.
func header(rec []string) ([]string, error) {
	out := make([]string, len(rec))
	seen := map[string]bool{}
	for i, f := range rec {
		f = strings.TrimSpace(f)
		if f == "start_s" {
			f = "start"
		}
		if oneOf("", f, resultColumns...) == nil {
			continue
		}
		if oneOf("", f, flowColumns...) != nil {
			return nil, fmt.Errorf("unknown column %q: want %s", f, strings.Join(flowColumns, ", "))
		}
		if seen[f] {
			return nil, fmt.Errorf("column %s stands there twice", f)
		}
		seen[f] = true
		out[i] = f
	}
	for _, need := range flowColumns[:4] {
		if !seen[need] {
			return nil, fmt.Errorf("no column %s: want %s and, if wanted, %s", need, strings.Join(flowColumns[:4], ","), strings.Join(flowColumns[4:], ","))
		}
	}
	return out, nil
}

func parseFlow(rec, columns []string) (f Flow, err error) {
	if len(rec) < 4 || len(rec) > len(columns) {
		return f, fmt.Errorf("%d columns: want %s", len(rec), strings.Join(columns, ","))
	}
	for i, v := range rec {
		v = strings.TrimSpace(v)
		if v == "" && columns[i] != "src" && columns[i] != "dst" && columns[i] != "bytes" && columns[i] != "start" {
			continue
		}
		switch columns[i] {
		case "src":
			f.From = strings.Clone(v)
		case "dst":
			f.To = strings.Clone(v)
		case "bytes":
			if isNumber(v) {
				v += "B"
			}
			f.Size, err = sim.ParseBytes(v)
		case "start":
			f.At, err = parseStart(v)
		case "priority":
			err = f.Priority.UnmarshalText([]byte(v))
		case "sport":
			f.SrcPort, err = parsePort(v)
		case "dport":
			f.DstPort, err = parsePort(v)
		case "tag":
			f.Tag = strings.Clone(v)
		}
		if err != nil {
			return f, fmt.Errorf("%s: %w", columns[i], err)
		}
	}
	return f, nil
}

func isNumber(v string) bool {
	_, err := strconv.ParseFloat(v, 64)
	return err == nil
}

// parseStart reads a duration with a unit, or seconds without; digits beyond
// the picosecond are dropped.
func parseStart(v string) (sim.Duration, error) {
	if !isNumber(v) {
		return sim.ParseDuration(v)
	}
	if whole, frac, ok := strings.Cut(v, "."); ok && len(frac) > 12 && !strings.ContainsAny(frac, "eE") {
		v = whole + "." + frac[:12]
	}
	return sim.ParseDuration(v + "s")
}

func parsePort(v string) (uint16, error) {
	n, err := strconv.ParseUint(v, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%q is not a UDP port: want 0..65535", v)
	}
	return uint16(n), nil
}
