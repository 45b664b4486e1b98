package tune

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// FileRuns holds every run of a search, one JSON object a line, in the order in
// which the search asked for them; the first line says what the numbers are.
const FileRuns = "runs.jsonl"

// runHeader is the first line of FileRuns.
type runHeader struct {
	Schema     string   `json:"schema"`
	Plan       string   `json:"plan"` // SHA-256 of the resolved plan and of the scenarios that it names
	Parameters []string `json:"parameters"`
	Workloads  []string `json:"workloads"`
	Figures    []string `json:"figures"`
	Expect     []string `json:"expect"`
}

// runLine is one run.
type runLine struct {
	Point     string     `json:"point"` // values as scenarios read them, in the order of parameters
	Workload  int        `json:"workload"`
	Seed      uint64     `json:"seed"`
	Figures   []*float64 `json:"figures"` // null = not measured
	Held      []bool     `json:"held"`
	Failed    string     `json:"failed,omitempty"`
	Simulated float64    `json:"simulated_s"`
}

// logSchema is the form of FileRuns.
const logSchema = "rdmasim-tune-runs/1"

// maxLine bounds a line of FileRuns, in bytes.
const maxLine = 1 << 20

// runLog is FileRuns: what was run survives the end of the program.
type runLog struct {
	file  *os.File
	known map[string]Observation
}

func cellKey(point string, c cell) string { return fmt.Sprintf("%s|%d|%d", point, c.workload, c.seed) }

// openLog opens or begins the file. A line that was being written when the
// program ended is cut off. A file of another plan is an error.
func openLog(path string, h runHeader) (*runLog, error) {
	h.Schema = logSchema
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	l := &runLog{file: f, known: map[string]Observation{}}
	whole, err := l.read(path, h)
	if err == nil {
		err = f.Truncate(whole)
	}
	if err == nil {
		_, err = f.Seek(whole, io.SeekStart)
	}
	if err == nil && whole == 0 {
		err = l.line(h)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// read takes in what the file has, and returns how many bytes of it are whole lines.
func (l *runLog) read(path string, want runHeader) (whole int64, err error) {
	r := bufio.NewReaderSize(l.file, maxLine)
	for n := 1; ; n++ {
		text, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return whole, nil // what is left has no end: it was being written
		}
		if err != nil {
			return 0, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if n == 1 {
			var h runHeader
			if err := json.Unmarshal(text, &h); err != nil || h.Schema != logSchema {
				return 0, fmt.Errorf("%s: not the runs of a search: give another directory", path)
			}
			if h.Plan != want.Plan || !slices.Equal(h.Parameters, want.Parameters) {
				return 0, fmt.Errorf("%s: the runs of another plan, or of another state of its scenario: give another directory", path)
			}
		} else if err := l.take(text, len(want.Figures), len(want.Expect)); err != nil {
			return 0, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		whole += int64(len(text))
	}
}

// take books a line.
func (l *runLog) take(text []byte, figures, expect int) error {
	var x runLine
	if err := json.Unmarshal(text, &x); err != nil {
		return err
	}
	if x.Failed == "" && (len(x.Figures) != figures || len(x.Held) != expect) {
		return fmt.Errorf("%d figures and %d expectations: want %d and %d", len(x.Figures), len(x.Held), figures, expect)
	}
	o := Observation{Held: x.Held, Failed: x.Failed, Simulated: x.Simulated}
	for _, v := range x.Figures {
		if v == nil {
			o.Figures = append(o.Figures, math.NaN())
		} else {
			o.Figures = append(o.Figures, *v)
		}
	}
	l.known[cellKey(x.Point, cell{x.Workload, x.Seed})] = o
	return nil
}

// lookup returns a run that the file has.
func (l *runLog) lookup(point string, c cell) (Observation, bool) {
	if l == nil {
		return Observation{}, false
	}
	o, ok := l.known[cellKey(point, c)]
	return o, ok
}

// append writes a run down.
func (l *runLog) append(point string, c cell, o Observation) error {
	if l == nil {
		return nil
	}
	x := runLine{Point: point, Workload: c.workload, Seed: c.seed, Held: o.Held, Failed: o.Failed, Simulated: o.Simulated, Figures: []*float64{}}
	for _, v := range o.Figures {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			x.Figures = append(x.Figures, nil)
		} else {
			x.Figures = append(x.Figures, &v)
		}
	}
	return l.line(x)
}

// line writes one object. The write is one call, so that a program that is
// killed leaves whole lines and at most one that has no end.
func (l *runLog) line(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := l.file.Write(b.Bytes())
	return err
}

// close ends the file and returns the SHA-256 of it.
func (l *runLog) close() (string, error) {
	if l == nil {
		return "", nil
	}
	h := sha256.New()
	_, err := l.file.Seek(0, io.SeekStart)
	if err == nil {
		_, err = io.Copy(h, l.file)
	}
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, l.file.Sync(), l.file.Close())
}
