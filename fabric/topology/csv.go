package topology

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"rdmasim/sim"
)

// CSVParams says how a cabling table is read: a header line, then one link per
// line. The columns are node_a, node_b and, as far as wanted, port_a, port_b,
// rate, delay, cable, loss, lag, kind_a, kind_b (host or switch), in any order;
// an empty cell is as a missing column, and # begins a comment line.
type CSVParams struct {
	Rate  sim.Rate     `key:"rate" doc:"rate of links that give none; 0bps: every link must"`
	Delay sim.Duration `key:"delay" doc:"propagation delay of links that give neither delay nor cable"`
	Hosts string       `key:"hosts" doc:"patterns of the names of hosts, where no kind is given"`
}

var _ = sim.Register(Importers, "csv", "cabling table: node_a,port_a,node_b,port_b,rate,delay or cable",
	CSVParams{Delay: DefaultDelay, Hosts: DefaultHosts}, nil,
	func(p CSVParams) (Importer, error) { return p.read, nil })

var csvColumns = []string{"node_a", "port_a", "node_b", "port_b", "rate", "delay", "cable", "loss", "lag", "kind_a", "kind_b"}

func (p CSVParams) read(file string, data []byte) (*Graph, error) {
	w, err := newWiring(file, data, p.Hosts)
	if err != nil {
		return nil, err
	}
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\uFEFF"))))
	in.Comment, in.TrimLeadingSpace, in.ReuseRecord = '#', true, true
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, w.errorf(1, "the file is empty: want a header such as node_a,port_a,node_b,port_b,rate,delay")
	}
	if err != nil {
		return nil, w.csvError(err)
	}
	columns, err := csvHeader(header)
	if err != nil {
		line, _ := in.FieldPos(0)
		return nil, w.errorf(line, "%w", err)
	}
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return w.graph("add a column kind_a or kind_b with host or switch")
		}
		if err != nil {
			return nil, w.csvError(err)
		}
		line, _ := in.FieldPos(0)
		if err := p.row(w, line, columns, row); err != nil {
			return nil, err
		}
	}
}

// csvError rewrites errors of encoding/csv as file:line: what.
func (w *wiring) csvError(err error) error {
	var e *csv.ParseError
	if errors.As(err, &e) {
		if errors.Is(err, csv.ErrFieldCount) {
			return w.errorf(e.Line, "the line has more or fewer cells than the header")
		}
		return w.errorf(e.Line, "column %d: %w", e.Column, e.Err)
	}
	return fmt.Errorf("%s: %w", w.file, err)
}

func csvHeader(header []string) ([]string, error) {
	var columns []string
	for _, h := range header {
		h = strings.ToLower(strings.TrimSpace(h))
		if !slices.Contains(csvColumns, h) {
			return nil, fmt.Errorf("unknown column %q: the first line names the columns, of %s", h, strings.Join(csvColumns, ", "))
		}
		if slices.Contains(columns, h) {
			return nil, fmt.Errorf("column %q appears twice", h)
		}
		columns = append(columns, h)
	}
	for _, h := range []string{"node_a", "node_b"} {
		if !slices.Contains(columns, h) {
			return nil, fmt.Errorf("column %q is missing: want at least node_a and node_b", h)
		}
	}
	return columns, nil
}

func (p CSVParams) row(w *wiring, line int, columns, row []string) error {
	var names, kinds [2]string
	wire := Wire{Rate: p.Rate}
	for i, column := range columns {
		value := strings.Clone(strings.TrimSpace(row[i]))
		if value == "" {
			continue
		}
		switch column {
		case "node_a":
			names[0] = value
		case "node_b":
			names[1] = value
		case "port_a":
			wire.AName = value
		case "port_b":
			wire.BName = value
		case "kind_a":
			kinds[0] = value
		case "kind_b":
			kinds[1] = value
		default:
			if _, err := setWire(&wire, column, value); err != nil {
				return w.errorf(line, "%s: %w", column, err)
			}
		}
	}
	if wire.Delay == 0 && wire.Cable == 0 {
		wire.Delay = p.Delay
	}
	var ends [2]int
	for i, name := range names {
		n, err := w.node(line, name)
		if err != nil {
			return err
		}
		if ends[i] = n; kinds[i] != "" {
			if err := w.setKind(line, n, kinds[i]); err != nil {
				return err
			}
		}
	}
	return w.link(line, ends[0], ends[1], wire)
}
