package figure

// Normalise makes a digest independent of how fast the run's links are, so that
// an emulated NIC of 94 Mbit/s can lie on one of 100 Gbit/s: rates become shares of
// the line rate (bit/s), and times the bytes that a link of that rate carries in
// them (time * rate / 8). Slowdowns and sizes stay as they are.
func (d *Digest) Normalise(rate float64) {
	d.Line = rate
	for i := range d.FCT {
		d.FCT[i] *= rate / 8
	}
	for i := range d.Goodput {
		d.Goodput[i] = float32(float64(d.Goodput[i]) / rate)
	}
	for i := range d.CNPs {
		d.CNPs[i] = float32(float64(d.CNPs[i]) / (rate / 8 / megabyte))
	}
}

// megabyte is the span in which normalised figures count.
const megabyte = 1e6

// units are what an overlay prints in.
type units struct {
	time               string // name of the horizontal axis of figures over time
	times, rates, cnps []scale
	printTime          func(float64) string
	printRate          func(float64) string
	printCNPs          func(float64) string
	times1             string // appended to names of times
	rates1             string // and of rates
}

func unitsOf(list []Digest) units {
	if len(list) > 0 && list[0].Line > 0 {
		perMB := []scale{{1, "per MB"}}
		return units{time: "time × line rate", times: byteScales, rates: []scale{shareScale}, cnps: perMB,
			printTime: Size, printRate: Share, printCNPs: func(v float64) string { return withUnit(perMB, v) },
			times1: " × line rate", rates1: ", as a share of the line rate"}
	}
	return units{time: "time", times: timeScales, rates: rateScales, cnps: ppsScales, printTime: Seconds, printRate: Bitrate, printCNPs: PacketRate}
}

// x turns a moment in seconds into the horizontal position of a digest.
func (d *Digest) x(seconds float64) float64 {
	if d.Line > 0 {
		return seconds * d.Line / 8
	}
	return seconds
}
