package trace

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A message has the number that machines use and the name that people use, and
// either finds it.
func TestMessagesAreFoundByNameAndByNumber(t *testing.T) {
	f := &Flow{ID: MessageID(6, 7), Src: "h6"}
	other := &Flow{ID: MessageID(5, 7), Src: "h5"}
	require.Equal(t, "h6#7", f.Name())
	require.Equal(t, uint64(6597069766663), f.ID)
	for _, text := range []string{"h6#7", "6597069766663"} {
		m, err := ParseMessage(text)
		require.NoError(t, err)
		require.True(t, m.Is(f), text)
		require.False(t, m.Is(other), text)
		require.Equal(t, text, m.String())
	}
	require.Equal(t, "h0#147", (&Flow{ID: 147, Src: "h0"}).Name(), "the first host of a run, and runs on real devices")
	for _, text := range []string{"", "0", "-1", "h6", "h6#", "#7", "h6#0", "h6#x", "h6#1099511627776", "99999999999999999999"} {
		_, err := ParseMessage(text)
		require.ErrorContains(t, err, "h6#7", text)
	}
}
