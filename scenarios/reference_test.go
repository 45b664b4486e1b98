package scenarios

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim/simtest"
)

// The page that users read is what the program does.
func TestReferenceIsUpToDate(t *testing.T) {
	file := filepath.Join("..", "docs", "scenario-reference.md")
	if simtest.Updating() {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(Reference()), 0o644))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, string(text) == Reference(), "%s is not what the program does; run: go test ./scenarios -run TestReference -update", file)
}
