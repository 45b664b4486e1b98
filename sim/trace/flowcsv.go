package trace

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"rdmasim/sim"
)

// flowColumns are the columns of flows.csv. Times are seconds, exact to the
// picosecond; an empty field is one that was not measured. fct_s and slowdown
// are given for messages that succeeded, and only for them.
var flowColumns = []string{"id", "src", "dst", "qp", "verb", "bytes", "start_s", "end_s", "fct_s", "ideal_fct_s",
	"slowdown", "retransmits", "status", "workload", "tag", "delivered_bytes"}

// FCT returns the flow completion time, from posting to completion; it has
// none if the message did not succeed.
func (f *Flow) FCT() (sim.Duration, bool) {
	if f.Status != StatusSuccess || f.End < 0 || f.Start < 0 {
		return 0, false
	}
	return f.End.Sub(f.Start), true
}

// Slowdown returns FCT / ideal FCT; it has none if either is not known.
func (f *Flow) Slowdown() (float64, bool) {
	fct, ok := f.FCT()
	if !ok || f.Ideal <= 0 {
		return 0, false
	}
	return float64(fct) / float64(f.Ideal), true
}

// normal brings a flow into the one form that a row can express.
func (f *Flow) normal() {
	f.Start, f.End, f.Ideal = max(f.Start, -1), max(f.End, -1), max(f.Ideal, 0)
	f.Src, f.Dst, f.Workload = clean(f.Src), clean(f.Dst), clean(f.Workload)
	f.Verb, f.Status, f.Tag = clean(f.Verb), clean(f.Status), clean(f.Tag)
}

// check says why no reader would accept the row; f is normal.
func (f *Flow) check() error {
	switch {
	case f.Bytes < 0 || f.Delivered < 0:
		return fmt.Errorf("%d of %d bytes delivered: neither may be negative", int64(f.Delivered), int64(f.Bytes))
	case f.Start >= 0 && f.End >= 0 && f.End < f.Start:
		return fmt.Errorf("it ends at %v, before it was posted at %v", f.End, f.Start)
	}
	return nil
}

// appendFlow appends a row of flows.csv; f is normal.
func appendFlow(b []byte, f *Flow) []byte {
	b = append(strconv.AppendUint(b, f.ID, 10), ',')
	b = append(appendField(b, f.Src), ',')
	b = append(appendField(b, f.Dst), ',')
	b = append(strconv.AppendUint(b, uint64(f.QP), 10), ',')
	b = append(appendField(b, f.Verb), ',')
	b = append(strconv.AppendInt(b, int64(f.Bytes), 10), ',')
	b = append(appendTime(b, int64(f.Start), f.Start >= 0), ',')
	b = append(appendTime(b, int64(f.End), f.End >= 0), ',')
	fct, ok := f.FCT()
	b = append(appendTime(b, int64(fct), ok), ',')
	b = append(appendTime(b, int64(f.Ideal), f.Ideal > 0), ',')
	if s, ok := f.Slowdown(); ok {
		b = strconv.AppendFloat(b, s, 'f', 9, 64)
	}
	b = append(b, ',')
	if f.Retransmits != RetransmitsUnknown {
		b = strconv.AppendUint(b, f.Retransmits, 10)
	}
	b = append(b, ',')
	b = append(appendField(b, f.Status), ',')
	b = append(appendField(b, f.Workload), ',')
	b = append(appendField(b, f.Tag), ',')
	b = strconv.AppendInt(b, int64(f.Delivered), 10)
	return append(b, '\n')
}

func appendTime(b []byte, ps int64, measured bool) []byte {
	if !measured {
		return b
	}
	return appendSeconds(b, ps)
}

// header reads the first line of a CSV file and returns where each wanted
// column is. Columns that are not wanted are passed over.
func header(r *csv.Reader, want []string) ([]int, error) {
	r.ReuseRecord = true
	rec, err := r.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("the file is empty: want a header %s", strings.Join(want, ","))
	}
	if err != nil {
		return nil, err
	}
	at := make([]int, len(want))
	for i, name := range want {
		at[i] = -1
		for j, have := range rec {
			if have == name {
				at[i] = j
			}
		}
		if at[i] < 0 {
			return nil, fmt.Errorf("line 1: no column %q: want %s", name, strings.Join(want, ","))
		}
	}
	return at, nil
}

// row parses the fields of one record and keeps the first error.
type row struct {
	rec  []string
	at   []int
	name []string
	err  error
	keep map[string]string // names seen before, so that rows share their memory
}

func (r *row) field(i int) string { return r.rec[r.at[i]] }

func (r *row) fail(i int, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %q is not %s", r.name[i], r.field(i), want)
	}
}

func (r *row) text(i int) string {
	s := r.field(i)
	if t, ok := r.keep[s]; ok {
		return t
	}
	s = strings.Clone(s)
	if len(r.keep) < 1<<16 {
		r.keep[s] = s
	}
	return s
}

func (r *row) uint(i, bits int) uint64 {
	v, err := strconv.ParseUint(r.field(i), 10, bits)
	if err != nil {
		r.fail(i, fmt.Sprintf("a whole number of %d bits", bits))
	}
	return v
}

// retransmits reads a number of packets, or nothing.
func (r *row) retransmits(i int) uint64 {
	if r.field(i) == "" {
		return RetransmitsUnknown
	}
	return r.uint(i, 64)
}

// count reads a number of bytes.
func (r *row) count(i int) sim.Bytes {
	v, err := strconv.ParseInt(r.field(i), 10, 64)
	if err != nil || v < 0 {
		r.fail(i, "a number of bytes")
	}
	return sim.Bytes(v)
}

// time reads seconds; an empty field gives none.
func (r *row) time(i int, none int64) int64 {
	if r.field(i) == "" {
		return none
	}
	v, err := parseSeconds(r.field(i))
	if err != nil || v < 0 {
		r.fail(i, "a time in seconds")
	}
	return v
}

// flow reads a row of flows.csv. The derived columns are not read.
func (r *row) flow() (Flow, error) {
	f := Flow{
		ID: r.uint(0, 64), Src: r.text(1), Dst: r.text(2), QP: uint32(r.uint(3, 32)), Verb: r.text(4), Bytes: r.count(5),
		Start: sim.Time(r.time(6, -1)), End: sim.Time(r.time(7, -1)), Ideal: sim.Duration(r.time(9, 0)),
		Retransmits: r.retransmits(11), Status: r.text(12), Workload: r.text(13), Tag: r.text(14), Delivered: r.count(15),
	}
	if r.err == nil {
		r.err = f.check()
	}
	return f, r.err
}
