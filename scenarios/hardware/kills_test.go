package hardware

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// checkKills looks at what is left when guards and agents are killed in mid-run.
func checkKills(t *testing.T, share string, read func(string) string) {
	_ = share
	guards := strings.Fields(read("guards.txt"))
	require.Len(t, guards, 2, "a run whose guard was killed has a new one")
	require.NotEqual(t, guards[0], guards[1])
	require.Equal(t, read("before.txt"), read("guarded.txt"), "the second guard has cleaned up after the run")
	require.Contains(t, read("unguarded.txt"), "netem", "with neither run nor guard the changes stay")
	require.Contains(t, read("clean.out"), "1 runs had left something behind")
	require.Equal(t, read("before.txt"), read("cleaned.txt"), "and hw clean takes them away")
	require.Contains(t, read("agent-during.txt"), "netem")
	require.NotEqual(t, "0", strings.TrimSpace(read("agent-killed.status")), "a run that has lost its agents fails")
	require.Equal(t, read("before.txt"), read("agent-killed.txt"), "an agent that was killed has left something behind")
}

// TestGuardIsReplaced: a guard that is killed has a successor, until it is let go;
// then none is left.
func TestGuardIsReplaced(t *testing.T) {
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Skip("skipped: there is no cat to stand for a guard")
	}
	g, err := startGuard(func() (*exec.Cmd, error) { return exec.Command(cat), nil })
	require.NoError(t, err)
	pid := func() int {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.pid
	}
	for range 2 {
		was := pid()
		require.NoError(t, syscall.Kill(was, syscall.SIGKILL))
		require.Eventually(t, func() bool { return pid() != was && syscall.Kill(pid(), 0) == nil }, 10*time.Second, 10*time.Millisecond)
	}
	last := pid()
	require.NoError(t, g.Close())
	select {
	case <-g.done:
	case <-time.After(10 * time.Second):
		t.Fatal("the guard was not let go")
	}
	require.ErrorIs(t, syscall.Kill(last, 0), syscall.ESRCH)
	require.NoError(t, g.Close(), "twice is no harm")
}
