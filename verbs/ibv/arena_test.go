//go:build linux && (amd64 || arm64)

package ibv

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// hugeFree returns how many huge pages the host has free.
func hugeFree(t *testing.T) int {
	b, err := os.ReadFile("/proc/meminfo")
	require.NoError(t, err)
	m := regexp.MustCompile(`HugePages_Free:\s+(\d+)\nHugePages_Rsvd:\s+(\d+)`).FindSubmatch(b)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]))
	r, _ := strconv.Atoi(string(m[2]))
	return n - r
}

// Memory for a NIC is page aligned, zeroed and of the length asked for, whether
// there are huge pages or not.
func TestMemory(t *testing.T) {
	for _, huge := range []bool{false, true} {
		for _, n := range []int{1, 4096, 4097, 3 << 20} {
			m, err := NewMemory(n, huge)
			require.NoError(t, err)
			require.Len(t, m.Bytes, n)
			require.Zero(t, m.Addr()%uintptr(os.Getpagesize()))
			require.Zero(t, m.Bytes[0])
			require.Zero(t, m.Bytes[n-1])
			m.Bytes[n-1] = 1
			require.NoError(t, m.Free())
			require.NoError(t, m.Free(), "once more changes nothing")
		}
	}
	_, err := NewMemory(0, false)
	require.Error(t, err)
}

func TestHugePages(t *testing.T) {
	free := hugeFree(t)
	if free < 2 {
		t.Skip("skipped: the host has no two huge pages free (vm.nr_hugepages)")
	}
	m, err := NewMemory(hugePage+1, true)
	require.NoError(t, err)
	require.True(t, m.Huge)
	require.Zero(t, m.Addr()%hugePage)
	require.Equal(t, free-2, hugeFree(t))
	require.NoError(t, m.Free())
	require.Equal(t, free, hugeFree(t))

	m, err = NewMemory((free+1)*hugePage, true)
	require.NoError(t, err, "more than there are: ordinary pages")
	require.False(t, m.Huge)
	require.NoError(t, m.Free())
}
