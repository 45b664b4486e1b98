package trace

// FileChecks holds what a run on real devices found when it compared what was
// counted in different places. A simulation has none.
const FileChecks = "checks.json"

// Check is one comparison.
type Check struct {
	Subject string   `json:"subject"` // fault/NAME, h1/qp17
	Text    string   `json:"text"`    // a sentence with the numbers
	OK      bool     `json:"ok"`
	Value   *float64 `json:"value,omitempty"` // what was measured, SI units
	Low     *float64 `json:"low,omitempty"`   // and the range that it should be in
	High    *float64 `json:"high,omitempty"`
}

// Checks reads the checks of a run, none where it has no such file.
func (r *Run) Checks() (list []Check, err error) {
	_, err = r.ReadJSON(FileChecks, &list)
	return list, err
}
