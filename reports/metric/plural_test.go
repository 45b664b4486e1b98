package metric

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCountsAgreeWithTheirNouns(t *testing.T) {
	for text, want := range map[string]string{
		Counted(0, "port"): "0 ports", Counted(1, "port"): "1 port", Counted(2, "port"): "2 ports",
		Counted(1, "switch"): "1 switch", Counted(3, "switch"): "3 switches", Counted(1, "refresh"): "1 refresh", Counted(0, "refresh"): "0 refreshes",
		Counted(2, "query"): "2 queries", Counted(2, "key"): "2 keys", Counted(2, "box"): "2 boxes", Counted(2, "CNP"): "2 CNPs",
	} {
		require.Equal(t, want, text)
	}
}
