package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// update rewrites what tests compare with: summaries and the outputs in docs.
var update = flag.Bool("update", false, "rewrite expected outputs")

// The summary of metrics.json files, next to each other in testdata.
func TestSummary(t *testing.T) {
	files, err := filepath.Glob("testdata/summary/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		golden, err := filepath.Abs(file[:len(file)-len("json")] + "txt")
		require.NoError(t, err)
		t.Run(filepath.Base(file), func(t *testing.T) {
			f := &fakeProduct{}
			require.NoError(t, json.Unmarshal(text, &f.metrics))
			f.result.Partial = filepath.Base(file) == "nothing-measured.json"
			t.Chdir(t.TempDir())
			_, stdout, stderr := command(f, "run demo --out runs/demo")
			assert.Empty(t, stderr)
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(stdout), 0o666))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), stdout)
		})
	}
}
