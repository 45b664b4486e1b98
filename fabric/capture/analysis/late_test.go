package analysis

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Answers wait at a paused port: a NAK that is seen after what it asked for has
// come takes nothing back, and one that never comes is missed only once the
// responder has said something later.
func TestReceiverKnowsALateNak(t *testing.T) {
	arrive := func(numbers ...uint64) (r receiver) {
		for _, n := range numbers {
			r.take(n, 1, 100, n == 1)
		}
		return r
	}
	r := arrive(1, 3, 2, 3, 5, 4, 5)
	require.Equal(t, []uint64{2, 4}, r.owed)
	require.EqualValues(t, 5, r.delivered)
	require.True(t, r.answered(2, true))
	require.False(t, r.answered(3, false), "an ACK")
	require.True(t, r.answered(4, true))
	require.Zero(t, r.silent)

	r = arrive(1, 3, 2, 3, 5, 4, 5)
	require.False(t, r.answered(1, false))
	require.Zero(t, r.silent, "the NAK may come yet")
	require.False(t, r.answered(5, false))
	require.EqualValues(t, 2, r.silent)

	r = arrive(1, 3)
	require.False(t, r.answered(2, true), "in time")
	r.refused(2, 100)
	r.take(2, 1, 100, false)
	require.Empty(t, r.owed)

	r = receiver{}
	for i := range uint64(4 * maxOwed) {
		r.take(2*i+2, 1, 100, false)
		r.take(2*i+1, 1, 100, false)
		r.take(2*i+2, 1, 100, false)
	}
	require.LessOrEqual(t, len(r.owed), maxOwed)
}
