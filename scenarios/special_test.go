package scenarios

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A device has no size and may have no end; a pipe may never begin.
func TestSpecialFilesAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no devices as files")
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for name, kind := range map[string]string{"/dev/zero": "device", "/dev/null": "device", pipe: "pipe", filepath.Dir(pipe): "directory"} {
		_, err := ReadBounded(name)
		require.EqualError(t, err, name+": is a "+kind+": want a regular file")
		_, err = Load(name, nil)
		require.ErrorContains(t, err, kind, name)
	}
}

func TestRegularFileIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.yaml")
	require.NoError(t, os.WriteFile(name, make([]byte, 11), 0o600))
	_, err := readRegular(name, 10)
	require.ErrorContains(t, err, "11 bytes: want at most 10")
	data, err := readRegular(name, 11)
	require.NoError(t, err)
	require.Len(t, data, 11)
}

func TestSetOfComment(t *testing.T) {
	_, err := ParseSet("s.yaml", []byte("topology: star\n"), []string{"name=# hi"})
	require.ErrorContains(t, err, "is a comment")
}
