package hardware

import (
	"math"
	"runtime"
	"runtime/debug"
)

// uncollected is how much memory a measurement may take before the garbage
// collector runs in the middle of it.
const uncollected = 256 << 20

// withoutCollector collects now and keeps the garbage collector away until the
// returned function is called: for milliseconds it would take time from the thread
// that polls, and all of it from a machine of one processor. A measurement that
// allocates more than uncollected bytes is collected nevertheless.
func withoutCollector() (again func()) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, int64(min(m.Sys, math.MaxInt64/2))+uncollected))
	percent := debug.SetGCPercent(-1)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(before)
	}
}
