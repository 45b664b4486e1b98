package hpcc

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"rdmasim/sim"
)

// Flow is one line of a flow.txt.
type Flow struct {
	Src, Dst  int // hosts
	PG        int // priority group: the 802.1p priority
	SrcPort   uint16
	DstPort   uint16
	Size      sim.Bytes
	Start     sim.Duration // as written
	ModelTime sim.Duration // as the HPCC model has it: cut off to nanoseconds from a binary fraction
	Stop      sim.Duration // of seven columns; 0 = none
	Line      int
}

// Bounds and built-in values of flows.
const (
	maxFlows    = 10_000_000
	firstPort   = 10000 // source port of the first flow of a pair of hosts
	defaultPort = 100   // destination port where a line has none
	defaultPG   = 3
	maxFlowSize = 1 << 40
)

// columns are the layouts of a flow: by what each column means.
type columns struct {
	names                                      string
	src, dst, pg, dport, size, start, stop, id int // -1 = none
}

var (
	// The HPCC model.
	six = columns{"src dst pg dport size start", 0, 1, 2, 3, 4, 5, -1, -1}
	// ConWeave, whose ports are its own.
	five = columns{"src dst pg size start", 0, 1, 2, -1, 3, 4, -1, -1}
	// Models with TCP beside RDMA, whose flows also end by time.
	sevenStop = columns{"src dst pg dport size start stop", 0, 1, 2, 3, 4, 5, 6, -1}
	// Models that number their flows.
	sevenID = columns{"id src dst pg dport size start", 1, 2, 3, 4, 5, 6, -1, 0}
)

// ParseFlows reads a flow.txt: the number of flows, then one a line of `src dst
// pg dport size start`, sizes in bytes and starts in seconds. Lines of five
// columns have no dport; of seven, a stop time at the end or a number of the
// flow in front, which is told by whether on every line the first column counts up, the
// fourth is a priority and the sixth a size. The count wins over the lines: what
// follows is noted and not read, too few are an error. The flows come back
// sorted by start, flows of one time in the order of the file, with the source
// ports 10000, 10001, ... of every pair. Errors name file and line.
func ParseFlows(file string, text []byte, t *Topology) ([]Flow, []Note, error) {
	all := lines(text)
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("%s: empty: want the number of flows in the first line", file)
	}
	r := &reader{file: file, words: all[0]}
	count, err := r.count("number of flows", 1, maxFlows)
	if err != nil {
		return nil, nil, err
	}
	if len(all[0]) > 1 {
		return nil, nil, r.errorf(all[0][0].line, "%d values in the first line: want the number of flows alone", len(all[0]))
	}
	body := all[1:]
	var notes []Note
	if int64(len(body)) < count {
		last := all[len(all)-1][0].line
		return nil, nil, r.errorf(last, "the file ends after %d of %d flows", len(body), count)
	}
	if extra := body[count:]; len(extra) > 0 {
		notes = append(notes, Note{File: file, Line: extra[0][0].line, Status: Dead,
			Reason: fmt.Sprintf("the first line says %d flows, and %d lines follow: those from here on are not read", count, len(body))})
	}
	body = body[:count]
	flows := make([]Flow, 0, len(body))
	if len(body) > 0 {
		cols, err := layout(r, body)
		if err != nil {
			return nil, nil, err
		}
		for _, words := range body {
			f, err := parseFlow(words, cols, t)
			if err != nil {
				return nil, nil, r.errorf(words[0].line, "%v", err)
			}
			flows = append(flows, f)
		}
		notes = append(notes, layoutNotes(file, body[0][0].line, cols)...)
	}
	if !slices.IsSortedFunc(flows, byStart) {
		notes = append(notes, Note{File: file, Line: 2, Status: Honoured, Reason: "flows are not sorted by start, which that model needs: sorted here"})
		slices.SortStableFunc(flows, byStart)
	}
	numberPorts(flows)
	return flows, notes, nil
}

func byStart(a, b Flow) int {
	switch {
	case a.Start < b.Start:
		return -1
	case a.Start > b.Start:
		return 1
	}
	return 0
}

// numberPorts gives the flows of every pair the source ports 10000, 10001, ...,
// which wrap at 16 bits.
func numberPorts(flows []Flow) {
	used := map[[2]int]uint16{}
	for i := range flows {
		pair := [2]int{flows[i].Src, flows[i].Dst}
		flows[i].SrcPort = firstPort + used[pair]
		used[pair]++
	}
}

// layout tells the meaning of the columns, which is the same on every line.
func layout(r *reader, body [][]token) (columns, error) {
	n := len(body[0])
	for _, words := range body {
		if len(words) != n {
			return columns{}, r.errorf(words[0].line, "%d columns, and the first flow has %d", len(words), n)
		}
	}
	switch n {
	case 5:
		return five, nil
	case 6:
		return six, nil
	case 7:
		if counts(body, 0) && whole(body, 3, 0, 7) && whole(body, 5, 1, maxFlowSize) {
			return sevenID, nil
		}
		return sevenStop, nil
	}
	return columns{}, r.errorf(body[0][0].line, "%d columns: want %s, or five without dport, or seven with stop at the end or id in front", n, six.names)
}

// counts says whether a column goes up by one from line to line.
func counts(body [][]token, k int) bool {
	first, err := strconv.ParseInt(body[0][k].text, 10, 64)
	if err != nil || first > 1 {
		return false
	}
	for i, words := range body {
		if words[k].text != strconv.FormatInt(first+int64(i), 10) {
			return false
		}
	}
	return true
}

// whole says whether a column holds whole numbers in [low,high] only.
func whole(body [][]token, k int, low, high int64) bool {
	for _, words := range body {
		if _, err := parseInt(words[k].text, low, high); err != nil {
			return false
		}
	}
	return true
}

func layoutNotes(file string, line int, c columns) []Note {
	switch c {
	case six:
		return nil
	case five:
		return []Note{{File: file, Line: line, Status: Honoured, Reason: fmt.Sprintf("five columns are read as %s; the destination port is %d", c.names, defaultPort)}}
	case sevenStop:
		return []Note{{File: file, Line: line, Status: Unsupported, Reason: fmt.Sprintf("seven columns are read as %s; flows end when their bytes are through, not at a time", c.names)}}
	}
	return []Note{{File: file, Line: line, Status: Honoured, Reason: fmt.Sprintf("seven columns are read as %s", c.names)}}
}

func parseFlow(words []token, c columns, t *Topology) (f Flow, err error) {
	f = Flow{Line: words[0].line, DstPort: defaultPort}
	if f.Src, err = t.host("src", words[c.src].text); err != nil {
		return f, err
	}
	if f.Dst, err = t.host("dst", words[c.dst].text); err != nil {
		return f, err
	}
	if f.Src == f.Dst {
		return f, fmt.Errorf("host %d cannot send to itself", f.Src)
	}
	pg, err := parseInt(words[c.pg].text, 0, 7)
	if err != nil {
		return f, fmt.Errorf("pg (priority group): %w", err)
	}
	f.PG = int(pg)
	if c.dport >= 0 {
		port, err := parseInt(words[c.dport].text, 0, math.MaxUint16)
		if err != nil {
			return f, fmt.Errorf("dport: %w (older models have `src dst pg packets start stop`, which is not this format)", err)
		}
		f.DstPort = uint16(port)
	}
	size, err := parseInt(words[c.size].text, 1, maxFlowSize)
	if err != nil {
		return f, fmt.Errorf("size: %w bytes", err)
	}
	f.Size = sim.Bytes(size)
	start := words[c.start].text
	if f.Start, err = parseSeconds(start); err != nil {
		return f, fmt.Errorf("start: %w", err)
	}
	if f.ModelTime, err = nanoseconds(start); err != nil {
		return f, fmt.Errorf("start: %w", err)
	}
	if c.stop >= 0 {
		if f.Stop, err = parseSeconds(words[c.stop].text); err != nil {
			return f, fmt.Errorf("stop: %w", err)
		}
	}
	return f, nil
}

// host reads the id of a host.
func (t *Topology) host(what, s string) (int, error) {
	id, err := t.node(s)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	if t.isSwitch[id] {
		return 0, fmt.Errorf("%s: node %d is a switch, and only hosts send and receive", what, id)
	}
	return id, nil
}

// ParseTrace reads a trace.txt: a count and the ids of nodes whose packets are
// to be dumped.
func ParseTrace(file string, text []byte, t *Topology) ([]int, error) {
	r := &reader{file: file}
	for _, l := range lines(text) {
		r.words = append(r.words, l...)
	}
	n, err := r.count("number of nodes to trace", 0, maxNodes)
	if err != nil {
		return nil, err
	}
	var out []int
	for i := range n {
		id, err := r.count(fmt.Sprintf("node %d of %d", i+1, n), 0, int64(t.Nodes)-1)
		if err != nil {
			return nil, err
		}
		out = append(out, int(id))
	}
	return out, nil
}
