package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFlowsOfASpreadsheet(t *testing.T) {
	list, _, err := parseFlows("f.csv", []byte("\ufeffsrc,dst,bytes,start\r\nh0,h1,1000,0\r\n"))
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, "h0", list[0].From)
}
