package figure

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim/trace"
)

// Links between the same two nodes lie side by side, whichever end is named
// first; a single link is not moved, and a bundle of many stays narrow.
func TestParallelLinksLieSideBySide(t *testing.T) {
	links := []trace.TopologyLink{{A: 0, B: 1}, {A: 1, B: 2}, {A: 1, B: 0}, {A: 0, B: 1}}
	require.Equal(t, []float64{-3.5, 0, 0, 3.5}, sideBySide(links))
	many := sideBySide(make([]trace.TopologyLink, 25))
	require.InDelta(t, 12, many[24]-many[0], 1e-9)
}
