package guest

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTry(t *testing.T) {
	im, err := Build(context.Background(), "/tmp/guestcache", os.Stderr)
	require.NoError(t, err)
	start := time.Now()
	script, _ := os.ReadFile("/tmp/hwtest/run.sh")
	st, err := im.Run(context.Background(), Job{Script: string(script), Console: os.Stderr, Programs: map[string]string{"t/ibv.test": "/tmp/hwtest/ibv.test"}})
	t.Log(st, err, time.Since(start))
}
