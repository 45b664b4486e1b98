package switchconf

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rdmasim/sim"
)

// LookupRow is one line of pg_profile_lookup.ini: the lossless profile of ports
// of one speed with cables of one length.
type LookupRow struct {
	Speed     sim.Rate
	Cable     sim.Length
	Size      sim.Bytes
	Xon       sim.Bytes
	Xoff      sim.Bytes
	XonOffset sim.Bytes
	HasOffset bool  // XonOffset is given
	Threshold int64 // n of 2^n, or bytes where the pool is static
	From      Origin
}

// key names a row by what it is for.
func (r *LookupRow) key() string {
	return fmt.Sprintf("%d %dm", r.Speed/1_000_000, r.Cable/sim.Metre)
}

// at is where a column of the row stands, "" in a row that is built in.
func (r *LookupRow) at(column string) Origin {
	from := r.From
	if from.File != "" {
		from.Path = pointer(LookupTable, r.key(), column)
	}
	return from
}

// LookupTable is the table that the rows of pg_profile_lookup.ini are of, in an
// explanation.
const LookupTable = "pg_profile_lookup"

// noteLookup adds the columns of each row to the explanation; speed and cable
// are its key.
func (r *sonicReader) noteLookup(status Status) {
	for i := range r.lookup {
		row := &r.lookup[i]
		if row.From.File == "" {
			return // built in
		}
		values := []struct {
			column, value, doc string
		}{
			{"size", fmt.Sprint(int64(row.Size)), "bytes set aside"}, {"xon", fmt.Sprint(int64(row.Xon)), "resume below this use"},
			{"xoff", fmt.Sprint(int64(row.Xoff)), "headroom: bytes that may arrive after XOFF"}, {"threshold", fmt.Sprint(row.Threshold), "threshold: n of 2^n, or bytes"},
			{"xon_offset", fmt.Sprint(int64(row.XonOffset)), "resume so far below the threshold"},
		}
		for _, v := range values {
			if v.column == "xon_offset" && !row.HasOffset {
				continue
			}
			r.note(Field{Table: LookupTable, Key: row.key(), Name: v.column, Value: v.value, From: row.at(v.column), Status: status, Doc: v.doc})
		}
	}
}

// lookupColumns are the columns of pg_profile_lookup.ini in the order that
// holds without a headline; the last may be missing.
var lookupColumns = []string{"speed", "cable", "size", "xon", "xoff", "threshold", "xon_offset"}

// maxRows bounds the table: SONiC's have some forty lines.
const maxRows = 4096

// ReadLookup reads pg_profile_lookup.ini. A comment that names the columns, as
// the files have, gives their order. An error is an *Error.
func ReadLookup(f File) ([]LookupRow, error) {
	columns := lookupColumns
	var rows []LookupRow
	type id struct {
		speed sim.Rate
		cable sim.Length
	}
	seen := map[id]int{}
	in := bufio.NewScanner(bytes.NewReader(f.Data))
	in.Buffer(nil, 1<<20)
	line := 0
	for in.Scan() {
		line++
		l := lookupLine{Origin{Kind: Given, File: f.Name, Line: line, Column: 1}}
		text := in.Text()
		if !utf8.ValidString(text) {
			return nil, l.fail("", "not UTF-8 text")
		}
		if comment, ok := strings.CutPrefix(strings.TrimSpace(text), "#"); ok {
			if words := strings.Fields(strings.ToLower(strings.TrimLeft(comment, "#"))); slices.Contains(words, "speed") && slices.Contains(words, "cable") {
				var err error
				if columns, err = l.headline(words); err != nil {
					return nil, err
				}
			}
			continue
		}
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		row, err := l.row(words, columns)
		if err != nil {
			return nil, err
		}
		if at, ok := seen[id{row.Speed, row.Cable}]; ok {
			return nil, l.fail(words[0]+" "+words[1], fmt.Sprintf("line %d is about this speed and cable already: remove one of the two", at))
		}
		if seen[id{row.Speed, row.Cable}] = line; len(rows) == maxRows {
			return nil, l.fail("", fmt.Sprintf("more than %d rows", maxRows))
		}
		rows = append(rows, row)
	}
	if err := in.Err(); err != nil {
		return nil, lookupLine{Origin{Kind: Given, File: f.Name, Line: line + 1, Column: 1}}.fail("", "a line of more than 1 MiB")
	}
	if len(rows) == 0 {
		return nil, lookupLine{Origin{Kind: Given, File: f.Name}}.fail("", "no rows: want lines such as 100000 40m 1248 2288 177632 0 2288")
	}
	return rows, nil
}

// lookupLine is the place of one line.
type lookupLine struct{ from Origin }

func (l lookupLine) fail(value, problem string) error {
	return &Error{From: l.from, Value: value, Problem: problem}
}

// headline checks the names of columns.
func (l lookupLine) headline(words []string) ([]string, error) {
	for i, w := range words {
		if !slices.Contains(lookupColumns, w) {
			return nil, l.fail(w, "not a column: want "+strings.Join(lookupColumns, ", "))
		}
		if slices.Index(words, w) != i {
			return nil, l.fail(w, "a column that stands there twice")
		}
	}
	for _, c := range lookupColumns[:6] {
		if !slices.Contains(words, c) {
			return nil, l.fail(strings.Join(words, " "), "column "+c+" is missing")
		}
	}
	return words, nil
}

// row reads one line.
func (l lookupLine) row(words, columns []string) (LookupRow, error) {
	row := LookupRow{From: l.from}
	if len(words) > len(columns) || len(words) < len(columns)-1 || len(words) < 6 {
		return row, l.fail(strings.Join(words, " "), fmt.Sprintf("%d words: want one for each of %s", len(words), strings.Join(columns, ", ")))
	}
	for i, w := range words {
		l.from.Path = columns[i]
		if columns[i] == "cable" {
			metres, ok := strings.CutSuffix(w, "m")
			n, err := strconv.ParseUint(metres, 10, 32)
			if !ok || err != nil || n > 1e6 {
				return row, l.fail(w, "want metres, such as 40m")
			}
			row.Cable = sim.Length(n) * sim.Metre
			continue
		}
		low, high := int64(0), int64(maxBytes)
		switch columns[i] {
		case "speed":
			low, high = 1, 3_200_000
		case "threshold":
			low = -8
		}
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil || n < low || n > high {
			return row, l.fail(w, fmt.Sprintf("want a whole number from %d to %d", low, high))
		}
		switch columns[i] {
		case "speed":
			row.Speed = sim.Rate(n) * 1_000_000
		case "size":
			row.Size = sim.Bytes(n)
		case "xon":
			row.Xon = sim.Bytes(n)
		case "xoff":
			row.Xoff = sim.Bytes(n)
		case "threshold":
			row.Threshold = n
		case "xon_offset":
			row.XonOffset, row.HasOffset = sim.Bytes(n), true
		}
	}
	return row, nil
}

// FindLookup returns the row of a speed and a cable: that of the shortest
// cable that is at least as long; nil when there is none.
func FindLookup(rows []LookupRow, speed sim.Rate, cable sim.Length) *LookupRow {
	var best *LookupRow
	for i := range rows {
		if r := &rows[i]; r.Speed == speed && r.Cable >= cable && (best == nil || r.Cable < best.Cable) {
			best = r
		}
	}
	return best
}

// exactLookup returns the row of exactly that cable.
func exactLookup(rows []LookupRow, speed sim.Rate, cable sim.Length) *LookupRow {
	return find(rows, func(r *LookupRow) bool { return r.Speed == speed && r.Cable == cable })
}

// autoName is the form of the names of profiles that SONiC makes itself:
// pg_lossless_100000_40m_profile, and with more in the dynamic model.
var autoName = regexp.MustCompile(`^pg_lossless_([0-9]{1,7})_([0-9]{1,6})m(_[A-Za-z0-9_-]*)?_profile$`)

// parseAutoName returns speed and cable of such a name.
func parseAutoName(name string) (sim.Rate, sim.Length, bool) {
	m := autoName.FindStringSubmatch(name)
	if m == nil {
		return 0, 0, false
	}
	speed, _ := strconv.ParseInt(m[1], 10, 64)
	cable, _ := strconv.ParseInt(m[2], 10, 64)
	return sim.Rate(speed) * 1_000_000, sim.Length(cable) * sim.Metre, true
}

// AutoProfileName returns the name that SONiC gives to the lossless profile of
// a speed and a cable.
func AutoProfileName(speed sim.Rate, cable sim.Length) string {
	return fmt.Sprintf("pg_lossless_%d_%dm_profile", speed/1_000_000, cable/sim.Metre)
}
