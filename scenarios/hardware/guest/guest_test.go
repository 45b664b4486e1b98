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

// TestNICs: every socket has its other end, and no two interfaces have one address.
func TestNICs(t *testing.T) {
	ends, macs := map[string]string{}, map[string]bool{}
	for n := 2; n <= MaxMachines; n++ {
		clear(ends)
		clear(macs)
		for i := range n {
			for _, a := range nics("/x,y", i, n) {
				if _, rest, ok := strings.Cut(a, "local.path="); ok {
					local, rest, _ := strings.Cut(rest, ",remote.type=unix,remote.path=")
					require.Contains(t, local, "/x,,y/")
					require.NotContains(t, ends, local)
					ends[local] = rest
				}
				if _, rest, ok := strings.Cut(a, "mac="); ok {
					mac, _, _ := strings.Cut(rest, ",")
					require.False(t, macs[mac], mac)
					macs[mac] = true
				}
			}
		}
		require.Len(t, macs, 3*n)
		require.Len(t, ends, 2*2*(n-1))
		for local, remote := range ends {
			require.Equal(t, local, ends[remote])
		}
	}
}

// FuzzModulesDep: whatever modules.dep holds, also cycles, ends.
func FuzzModulesDep(f *testing.F) {
	f.Add("a.ko: b.ko\nb.ko: a.ko\n")
	f.Add("a.ko:\n")
	f.Fuzz(func(_ *testing.T, s string) {
		_, _, _ = loadOrder(strings.NewReader(s), []string{"a", "b"})
	})
}
