package simnic

import (
	"testing"

	"rdmasim/sim"
	"rdmasim/verbs"

	"github.com/stretchr/testify/require"
)

// Posting, the doorbell and polling add up; one core posts one request at a time.
func TestHostCosts(t *testing.T) {
	end := func(h HostCosts) (at []sim.Time) {
		p := newPair(t, func(c *Config) { c.Host = h })
		p.app[0].start = func() {
			q := p.connect(0)
			for range 3 {
				require.NoError(t, q.PostSend(verbs.WorkRequest{Length: 64, Signaled: true}))
			}
		}
		p.app[0].complete = func(*QP, verbs.WorkCompletion) { at = append(at, p.nic[0].Node().Now()) }
		p.run(sim.Millisecond)
		require.Len(t, at, 3)
		return at
	}
	free := end(HostCosts{})
	const us = sim.Microsecond
	require.Equal(t, free[0].Add(3*us), end(HostCosts{Post: us, Doorbell: 2 * us})[0])
	require.Equal(t, free[0].Add(us), end(HostCosts{Poll: us})[0])
	require.InDelta(t, float64(free[0].Add(20*us)), float64(end(HostCosts{Post: 10 * us})[2].Add(-10*us)), float64(us), "the third is posted 20 us after the first")
	moderated := end(HostCosts{Moderation: 50 * us})
	require.Equal(t, moderated[0], moderated[2], "all at once")
	require.Equal(t, free[0].Add(50*us), moderated[0])
}
