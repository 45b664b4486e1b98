package fluid

import "rdmasim/sim"

var _ = describe(Oracle{
	ID:       "pause_time",
	Title:    "how long a PAUSE of so many quanta blocks, and how often it must be repeated",
	Equation: "time = quanta * 512/C; to block for good: C/(512*65535) frames per second",
	Source:   "IEEE 802.3, annex 31B; IEEE 802.1Qbb, section 36",
	Limits:   "a new frame replaces the remaining time",
})

// MaxQuanta is the longest pause of one frame.
const MaxQuanta = 65535

// PauseTime returns the duration of a pause, rounded up to a picosecond.
// Source: the oracle pause_time.
func PauseTime(rate sim.Rate, quanta int) sim.Duration {
	return rate.TxTime(sim.Bytes(quanta) * quantumBits / bitsPerByte)
}

// PauseRefresh returns the frames of MaxQuanta per second that keep a class
// blocked. Source: the oracle pause_time.
func PauseRefresh(rate sim.Rate) float64 { return 1 / PauseTime(rate, MaxQuanta).Seconds() }

// PausedShare returns the share of time for which frames of MaxQuanta at so
// many per second block a class, at most 1. Source: the oracle pause_time.
func PausedShare(rate sim.Rate, framesPerSecond float64) float64 {
	return min(1, framesPerSecond*PauseTime(rate, MaxQuanta).Seconds())
}
