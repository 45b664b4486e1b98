package reference

import (
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Counts are what a simulator reported of a case beside its FCT file; NaN where
// it is not known.
type Counts struct{ Pauses, Marks, MaxQueue, Drops float64 }

// CountTable holds Counts by case and simulator.
type CountTable map[string]map[string]Counts

// countColumns is the header of the file of counts.
var countColumns = []string{"case", "simulator", "pauses", "marks", "max_queue_bytes", "drops"}

// ParseCounts reads counts from CSV with a header. Empty fields are not known;
// lines that begin with # are comments. Errors name file and line.
func ParseCounts(file, text string) (CountTable, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment, r.FieldsPerRecord = '#', len(countColumns)
	all, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(all) == 0 || strings.Join(all[0], ",") != strings.Join(countColumns, ",") {
		return nil, fmt.Errorf("%s: want the header %s", file, strings.Join(countColumns, ","))
	}
	t := CountTable{}
	for i, row := range all[1:] {
		var v [4]float64
		for k := range v {
			v[k] = math.NaN()
			if s := row[k+2]; s != "" {
				if v[k], err = strconv.ParseFloat(s, 64); err != nil || !(v[k] >= 0) || math.IsInf(v[k], 0) {
					return nil, fmt.Errorf("%s: row %d, %s: %q is not a count", file, i+1, countColumns[k+2], s)
				}
			}
		}
		if t[row[0]] == nil {
			t[row[0]] = map[string]Counts{}
		}
		t[row[0]][row[1]] = Counts{v[0], v[1], v[2], v[3]}
	}
	return t, nil
}

// of returns the counts of a case, NaN where there are none.
func (t CountTable) of(name, simulator string) Counts {
	if c, ok := t[name][simulator]; ok {
		return c
	}
	nan := math.NaN()
	return Counts{nan, nan, nan, nan}
}
