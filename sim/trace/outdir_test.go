package trace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOutputDirectories(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.Mkdir(empty, 0o755))
	require.NoError(t, CheckNew(filepath.Join(dir, "a", "b")), "nothing is there yet")
	require.NoError(t, CheckNew(empty))
	require.EqualError(t, CheckNew(file), file+": it exists and is no directory: give the name of a new one")
	require.EqualError(t, CheckNew(dir), dir+": it exists and is not empty: give another name or remove it")
	require.Error(t, CheckNew(filepath.Join(file, "below")), "a file is nobody's parent")
}

// A write that fails leaves what was there, and nothing beside it.
func TestAFileIsWrittenWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	for _, write := range []func(string, []byte) error{WriteWhole, WriteSynced} {
		require.NoError(t, write(name, []byte("one")))
		require.NoError(t, write(name, []byte("two")))
		p, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, "two", string(p))
		require.Error(t, write(filepath.Join(dir, "no", "y"), nil))
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "taken", "full"), 0o755))
		require.Error(t, write(filepath.Join(dir, "taken"), []byte("three")), "a directory is in the way")
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "%v", entries)
}
