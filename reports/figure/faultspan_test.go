package figure

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Faults whose times and names do not meet share a row; others stand below each
// other, and only the first few are drawn.
func TestRowsOfFaults(t *testing.T) {
	rows := func(list ...FaultSpan) map[string]int {
		row, n := spans(list).rows(10)
		for _, i := range row {
			require.Less(t, i, n)
		}
		return row
	}
	require.Equal(t, map[string]int{"a": 0, "b": 0}, rows(FaultSpan{Name: "a", From: 1, To: 2}, FaultSpan{Name: "b", From: 2, To: 3}))
	require.Equal(t, map[string]int{"a": 0, "b": 1}, rows(FaultSpan{Name: "a", From: 1, To: 3}, FaultSpan{Name: "b", From: 2, To: 3}))
	require.Equal(t, map[string]int{"a long name": 0, "b": 1}, rows(FaultSpan{Name: "a long name", From: 1, To: 1.1}, FaultSpan{Name: "b", From: 1.2, To: 3}), "the name is wider than its time")
	flaps := rows(FaultSpan{Name: "a", From: 1, To: 2}, FaultSpan{Name: "b", From: 3, To: 4}, FaultSpan{Name: "a", From: 5, To: 6})
	require.Equal(t, map[string]int{"a": 0, "b": 1}, flaps, "a comes again")
	require.Len(t, rows(FaultSpan{Name: "a"}, FaultSpan{Name: "b"}, FaultSpan{Name: "c"}, FaultSpan{Name: "d"}, FaultSpan{Name: "e"}), labelled)
}
