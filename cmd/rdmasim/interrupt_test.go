//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A real SIGINT ends the run's context with a cause, says so on one line, and
// the run that ends by it is partial: exit 3.
func TestInterrupt(t *testing.T) {
	t.Chdir(t.TempDir())
	f := &fakeProduct{result: runResult{Partial: true}}
	f.onRun = func(ctx context.Context, _ runOptions) {
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
		select {
		case <-ctx.Done():
			assert.ErrorIs(t, context.Cause(ctx), errInterrupted)
		case <-time.After(10 * time.Second):
			t.Error("the signal did not reach the run")
		}
	}
	var out, err bytes.Buffer
	a := &app{stdout: &out, stderr: &err, product: f.product(), interrupts: onInterrupt}
	code := execute(context.Background(), a, []string{"run", "demo"})
	assert.Equal(t, exitRun, code)
	assert.Equal(t, "rdmasim: interrupted: keeping what was measured so far; interrupt again to stop at once\n", err.String())
	assert.Contains(t, out.String(), "PARTIAL")
}
