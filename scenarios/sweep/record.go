package sweep

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A shard log is a file of lines, each the CRC-32C of its text in eight
// hexadecimal digits, a blank, and the text, a JSON object: first a header, then
// one record for each unit that has been run. A log is written by one process
// and never continued by another, so that what a kill leaves is at most a torn
// last line; what has no valid checksum counts as not there.

// header is the first line of a log.
type header struct {
	Format  int      `json:"rdmasim_sweep"`
	ID      string   `json:"id"`
	Version string   `json:"version"` // of the program
	Metrics []string `json:"metrics"` // names of the values of each record
}

// Record is what is kept of a unit.
type Record struct {
	Unit        int        `json:"unit"`
	Status      Status     `json:"status"`
	Error       string     `json:"error,omitempty"`
	Fingerprint string     `json:"fingerprint,omitempty"`
	Failed      []string   `json:"failed,omitempty"`
	Values      []*float64 `json:"values,omitempty"` // in the order of the header's metrics; null = not measured
	Wall        float64    `json:"wall_s"`           // these two differ from run to run and decide nothing
	Simulation  float64    `json:"engine_s"`
}

// newRecord takes the metrics out of a result, in order.
func newRecord(unit int, r *Result, metrics []string) Record {
	rec := Record{Unit: unit, Status: r.Status, Error: r.Error, Fingerprint: r.Fingerprint, Failed: r.Failed, Wall: r.Wall, Simulation: r.Simulation}
	if r.Status != OK {
		return rec // the figures of a run that was cut short depend on the machine
	}
	rec.Values = make([]*float64, len(metrics))
	for i, name := range metrics {
		rec.Values[i] = r.Metrics[name]
	}
	return rec
}

// same reports whether two records of a unit say the same.
func (r *Record) same(o *Record) bool {
	return r.Unit == o.Unit && r.Status == o.Status && r.Error == o.Error && r.Fingerprint == o.Fingerprint && slices.Equal(r.Failed, o.Failed) &&
		slices.EqualFunc(r.Values, o.Values, func(a, b *float64) bool {
			return a == nil && b == nil || a != nil && b != nil && *a == *b
		})
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// mostLine bounds a line of a log: a record of some thousand metrics.
const mostLine = 1 << 20

// encodeLine returns v as a line of a log.
func encodeLine(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(text)+10 > mostLine {
		return nil, fmt.Errorf("a record of %d bytes: at most %d can be kept: ask for fewer metrics", len(text), mostLine)
	}
	return fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(text, castagnoli), text), nil
}

// decodeLine reads a line without its end; false if the checksum does not hold.
func decodeLine(line []byte, v any) bool {
	if len(line) < 10 || line[8] != ' ' {
		return false
	}
	sum, err := strconv.ParseUint(string(line[:8]), 16, 32)
	if err != nil || uint32(sum) != crc32.Checksum(line[9:], castagnoli) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(line[9:]))
	d.DisallowUnknownFields()
	return d.Decode(v) == nil
}

// shardLog is a log that is read.
type shardLog struct {
	header  header
	ok      bool // there is a header
	records []Record
	torn    int // lines without a valid checksum
}

// readLog reads a log as far as it is good: units are those below units, and a
// record has a value for every metric.
func readLog(in io.Reader, units int) (*shardLog, error) {
	l := &shardLog{}
	r := bufio.NewReaderSize(in, 64<<10)
	for first := true; ; first = false {
		line, whole, err := nextLine(r)
		if err != nil {
			return nil, err
		}
		if line == nil && !whole {
			return l, nil
		}
		if first {
			l.ok = whole && decodeLine(line, &l.header) && l.header.Format != 0
			if !l.ok {
				l.torn++
				return l, nil
			}
			if l.header.Format != format {
				return nil, fmt.Errorf("written in format %d: this program reads format %d", l.header.Format, format)
			}
			continue
		}
		var rec Record
		if !whole || !decodeLine(line, &rec) || rec.Unit < 0 || rec.Unit >= units || !rec.valid(len(l.header.Metrics)) {
			l.torn++
			continue
		}
		l.records = append(l.records, rec)
	}
}

// valid reports whether a record can be one of a log with so many metrics.
func (r *Record) valid(metrics int) bool {
	switch r.Status {
	case OK:
		return len(r.Values) == metrics
	case Invalid, Partial:
		return len(r.Values) == 0
	}
	return false
}

// nextLine returns the next line without its end; whole is false if it has
// none, or is too long. At the end of the file both are nothing.
func nextLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		tooLong = tooLong || len(line) > mostLine
		switch {
		case err == nil:
			return line[:len(line)-1], !tooLong, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return line, false, nil
		default:
			return nil, false, err
		}
	}
}

// logPattern matches the names of shard logs in a directory.
const logPattern = "shard-*.jsonl"

// createLog begins a new log beside those that there are.
func createLog(dir string, shard, shards int, h header) (*os.File, error) {
	line, err := encodeLine(h)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		name := filepath.Join(dir, fmt.Sprintf("shard-%d-of-%d-%d.jsonl", shard, shards, attempt))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(line); err != nil {
			return nil, errors.Join(err, f.Close(), os.Remove(name))
		}
		return f, nil
	}
}

// logsIn lists the shard logs of a directory, by name.
func logsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if ok, _ := filepath.Match(logPattern, e.Name()); ok && !e.IsDir() && !strings.Contains(e.Name(), ".partial") {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list, nil
}

func readLogFile(name string, units int) (*shardLog, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := readLog(f, units)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}
