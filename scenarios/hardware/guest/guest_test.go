package guest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLoadOrder: every module comes after what it needs; what the kernel has
// built in is reported.
func TestLoadOrder(t *testing.T) {
	dep := "kernel/a.ko: kernel/b.ko kernel/c.ko\nkernel/b.ko: kernel/c.ko\nkernel/c.ko:\nkernel/x-y.ko: kernel/c.ko\n"
	files, missing, err := loadOrder(strings.NewReader(dep), []string{"a", "x_y", "builtin"})
	require.NoError(t, err)
	require.Equal(t, []string{"kernel/c.ko", "kernel/b.ko", "kernel/a.ko", "kernel/x-y.ko"}, files)
	require.Equal(t, []string{"builtin"}, missing)
	_, _, err = loadOrder(strings.NewReader("nonsense\n"), nil)
	require.ErrorContains(t, err, "without a colon")
}

// TestArchive: the form of a member, its alignment, and folders made once.
func TestArchive(t *testing.T) {
	var b bytes.Buffer
	a := newArchive(&b)
	require.NoError(t, a.text("etc/one", "abc"))
	require.NoError(t, a.text("etc/two", "defg"))
	require.NoError(t, a.link("bin", "usr/bin"))
	require.NoError(t, a.close())
	require.Zero(t, b.Len()%512)
	require.Equal(t, 5, strings.Count(b.String(), "070701")) // etc, one, two, bin, TRAILER
	at := strings.Index(b.String(), "abc")
	require.Zero(t, at%4)
	require.Equal(t, "070701", b.String()[at+4:at+10])
}

// FuzzModulesDep: whatever modules.dep holds, also cycles, ends.
func FuzzModulesDep(f *testing.F) {
	f.Add("a.ko: b.ko\nb.ko: a.ko\n")
	f.Add("a.ko:\n")
	f.Fuzz(func(_ *testing.T, s string) {
		_, _, _ = loadOrder(strings.NewReader(s), []string{"a", "b"})
	})
}
