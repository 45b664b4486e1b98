package trace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// listing returns the names of everything in a directory.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestAbortLeavesNothing(t *testing.T) {
	root := t.TempDir()
	w := create(t, filepath.Join(root, "a", "b", "run"), NewNames())
	require.NoError(t, w.File("report/x.svg", []byte("x")))
	require.Len(t, listing(t, filepath.Join(root, "a", "b")), 1)
	w.Abort()
	require.Empty(t, listing(t, root))
	w.Abort()
	require.Error(t, w.File("x", nil))
	require.Empty(t, listing(t, root))
}

func TestRunReplacesRunAtFinish(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "run")
	first := writeSample(t, dir, newSample(2), 1e12)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "old"), nil, 0o600))

	w := create(t, dir, NewNames())
	r, err := Open(dir)
	require.NoError(t, err, "the old run stays until the new one is done")
	require.Equal(t, first, r.Manifest.Fingerprint)
	second, err := w.Finish(ManifestEnd{Simulated: 5, Partial: true, Reason: "interrupted"})
	require.NoError(t, err)
	r, err = Open(dir)
	require.NoError(t, err)
	require.Equal(t, second, r.Manifest.Fingerprint)
	require.True(t, r.Manifest.Partial)
	require.Equal(t, []string{"run"}, listing(t, root))
	require.NotContains(t, listing(t, dir), "old")
	require.NoError(t, r.Verify(), "an empty run is a run")
	require.Error(t, w.Write(nil, nil, nil), "it is finished")
	w.Abort()
	require.Equal(t, []string{"run"}, listing(t, root))
}

func TestForeignDirectoryIsRefused(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{"photo.jpg": "x", FileManifest: `{"schema":"something else"}`} {
		dir := filepath.Join(root, "d"+name)
		require.NoError(t, os.Mkdir(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		_, err := Create(dir, testManifest(), NewNames())
		require.ErrorContains(t, err, "it exists and is no run directory")
		require.Equal(t, []string{name}, listing(t, dir))
	}
	file := filepath.Join(root, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := Create(file, testManifest(), NewNames())
	require.ErrorContains(t, err, "is no directory")
	require.Len(t, listing(t, root), 3)

	empty := filepath.Join(root, "empty")
	require.NoError(t, os.Mkdir(empty, 0o755))
	writeSample(t, empty, newSample(1), 1e12)

	// Files that appear while the run goes on are not lost either.
	dir := filepath.Join(root, "late")
	w := create(t, dir, NewNames())
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600))
	_, err = w.Finish(ManifestEnd{})
	require.ErrorContains(t, err, "no run directory")
	require.Equal(t, []string{"thesis.tex"}, listing(t, dir))
	require.Len(t, listing(t, root), 5)
}

func TestSymlinkedDirectoryStaysALink(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "real"), 0o755))
	require.NoError(t, os.Symlink("real", filepath.Join(root, "link")))
	writeSample(t, filepath.Join(root, "link"), newSample(1), 1e12)
	info, err := os.Lstat(filepath.Join(root, "link"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	_, err = Open(filepath.Join(root, "real"))
	require.NoError(t, err)
}

func TestFileNames(t *testing.T) {
	root := t.TempDir()
	w := create(t, filepath.Join(root, "run"), NewNames())
	for _, name := range []string{"../x", "/etc/x", "", ".", "a/../../x"} {
		require.Error(t, w.File(name, nil), name)
	}
	for _, name := range []string{FileManifest, FileTopology, FileFlows} {
		require.ErrorContains(t, w.File(name, nil), "Writer itself")
		require.ErrorContains(t, w.JSON(name, nil), "Writer itself")
	}
	_, err := Create(filepath.Join(root, "other"), Manifest{Mode: "dreamt"}, NewNames())
	require.ErrorContains(t, err, `mode "dreamt": want simulated, hardware or capture`)
}

// Two runs that are given one name at the same time both stay.
func TestTwoRunsOfOneName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	var writers []*Writer
	for seed := uint64(1); seed <= 3; seed++ {
		w, err := Create(dir, Manifest{Name: "x", Mode: ModeSimulated, Seed: seed}, nil)
		require.NoError(t, err)
		require.NoError(t, w.Topology(TopologyFile{}))
		writers = append(writers, w)
	}
	for i, w := range writers {
		_, err := w.Finish(ManifestEnd{})
		require.NoError(t, err)
		r, err := Open(w.Dir())
		require.NoError(t, err)
		require.Equal(t, uint64(i+1), r.Manifest.Seed)
	}
	require.NotEqual(t, writers[1].Dir(), writers[2].Dir())
}
