package sweep

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Those who make scratch directories side by side never take each other's away.
func TestScratchOfTheLivingStays(t *testing.T) {
	parent := t.TempDir()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				dir, remove, err := ownScratch(parent)
				if !assert.NoError(t, err) {
					return
				}
				assert.NoError(t, os.WriteFile(filepath.Join(dir, "run"), nil, 0o600))
				sweepUp(parent)
				assert.FileExists(t, filepath.Join(dir, "run"))
				remove()
			}
		})
	}
	group.Wait()
	left, err := filepath.Glob(filepath.Join(parent, "*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}
