package page

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim/trace"
)

// TestByReason: what is missing for one reason is one sentence.
func TestByReason(t *testing.T) {
	require.Equal(t, []trace.Missing{{What: "cycles, cache misses", Reason: "emulated"}, {What: "PFC", Reason: "no counters"}},
		byReason([]trace.Missing{{What: "cycles", Reason: "emulated"}, {What: "PFC", Reason: "no counters"}, {What: "cache misses", Reason: "emulated"}}))
}
