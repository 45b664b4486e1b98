package trace

// FileCalibration holds what a fit to a run on real devices said of their NICs and
// links ("rdmasim calibrate --save"). Other runs have none.
const FileCalibration = "calibration.json"

// Calibration is the content of FileCalibration.
type Calibration struct {
	Values []CalibratedValue `json:"values"`
}

// CalibratedValue is one value with its 95 % interval, in SI units.
type CalibratedValue struct {
	Name  string  `json:"name"` // as "rdmasim calibrate --fit" has it: rate, delay, post ...
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// CalibratedRate is the name of the rate of the links, in bit/s.
const CalibratedRate = "rate"

// Calibration reads FileCalibration; ok is false where a run has none.
func (r *Run) Calibration() (c Calibration, ok bool, err error) {
	ok, err = r.ReadJSON(FileCalibration, &c)
	return c, ok, err
}

// Of returns a value by its name; ok is false where the run did not determine it.
func (c *Calibration) Of(name string) (v CalibratedValue, ok bool) {
	for _, v := range c.Values {
		if v.Name == name {
			return v, true
		}
	}
	return CalibratedValue{}, false
}
