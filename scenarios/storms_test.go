package scenarios

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim/simtest"
)

// The page of storms is what the library says.
func TestStormsIsUpToDate(t *testing.T) {
	file := filepath.Join("..", "docs", "storms.md")
	want, err := Storms()
	require.NoError(t, err)
	if simtest.Updating() {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, string(text) == want, "%s is not what the library says; run: go test ./scenarios -run TestStorms -update", file)
}
