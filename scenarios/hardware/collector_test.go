package hardware

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

var garbage []byte

// TestWithoutCollector: what a measurement allocates is not collected in the
// middle of it, unless it is very much; afterwards all is as it was.
func TestWithoutCollector(t *testing.T) {
	percent, limit := debug.SetGCPercent(50), debug.SetMemoryLimit(-1)
	defer debug.SetGCPercent(percent)
	collections := func(bytes int) int {
		var a, b runtime.MemStats
		runtime.ReadMemStats(&a)
		for range bytes >> 20 {
			garbage = make([]byte, 1<<20)
		}
		runtime.ReadMemStats(&b)
		return int(b.NumGC - a.NumGC)
	}
	require.Positive(t, collections(100<<20), "otherwise the test proves nothing")
	again := withoutCollector()
	require.Zero(t, collections(100<<20))
	require.Positive(t, collections(2*uncollected), "memory is bounded")
	again()
	require.Equal(t, limit, debug.SetMemoryLimit(-1))
	require.Equal(t, 50, debug.SetGCPercent(50))
}
