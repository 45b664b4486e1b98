package scenarios

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A run directory that cannot be made is bad input, and leaves nothing.
func TestRunDirectoryThatCannotBeMade(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	s, err := Parse("s.yaml", []byte("duration: 1us\ntopology: {star: {hosts: 2}}\ntraffic: [permutation]\n"))
	require.NoError(t, err)
	_, err = Run(t.Context(), s, Options{Out: filepath.Join(file, "run")})
	var input *InputError
	require.ErrorAs(t, err, &input)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
