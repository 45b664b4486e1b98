package simnic

import (
	"testing"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/verbs"

	"github.com/stretchr/testify/require"
)

// with makes connections with connection management.
func with(s Setup) func(*Config) { return func(c *Config) { c.Setup = &s } }

// The first request leaves behind the RTU: one round trip of 318 bytes each way
// later, and its own; and what hosts take to accept.
func TestSetupTakesARoundTrip(t *testing.T) {
	end := func(change func(*Config)) (at sim.Time) {
		p := newPair(t, change)
		p.app[0].start = func() {
			require.NoError(t, p.connect(0).PostSend(verbs.WorkRequest{Length: 100, Signaled: true}))
		}
		p.app[0].complete = func(_ *QP, wc verbs.WorkCompletion) {
			require.Equal(t, verbs.StatusSuccess, wc.Status)
			at = p.nic[0].Node().Now()
		}
		p.run(sim.Millisecond)
		return at
	}
	const frame = 62 + 8 + 256 + 20
	free := end(nil)
	got := end(with(Setup{Timeout: sim.Millisecond}))
	require.Equal(t, free.Add(2*sim.Microsecond+3*frame*80), got, "REQ, REP and RTU")
	require.Equal(t, got.Add(30*sim.Microsecond), end(with(Setup{Timeout: sim.Millisecond, Accept: 30 * sim.Microsecond})))
}

// Requests for connections that come all at once are accepted one after the other.
func TestSetupStorm(t *testing.T) {
	const count, each = 40, 10 * sim.Microsecond
	p := newPair(t, with(Setup{Timeout: 10 * sim.Millisecond, Accept: each}))
	var ends []sim.Time
	p.app[0].start = func() {
		for range count {
			require.NoError(t, p.connect(0).PostSend(verbs.WorkRequest{Length: 8, Signaled: true}))
		}
	}
	p.app[0].complete = func(*QP, verbs.WorkCompletion) { ends = append(ends, p.nic[0].Node().Now()) }
	p.run(10 * sim.Millisecond)
	require.Len(t, ends, count)
	require.InDelta(t, float64((count-1)*each), float64(ends[count-1].Sub(ends[0])), float64(sim.Microsecond))
}

// tamper loses the frames that it has a reason for.
type tamper func(*packet.Packet) string

func (f tamper) Frame(_ sim.Time, m *packet.Packet, v *fabric.Verdict) { v.Drop = f(m) }

// A REQ that nobody answers is repeated; then what was posted fails.
func TestSetupTimesOut(t *testing.T) {
	lost := 0
	run := func(lose int) (got []verbs.Status, at sim.Time) {
		p := newPair(t, with(Setup{Timeout: 100 * sim.Microsecond, Retries: 3}))
		left := lose
		p.nic[0].Port(0).Tamper(tamper(func(m *packet.Packet) string {
			if m.Ext == packet.CMReq && left > 0 {
				left--
				lost++
				return "test"
			}
			return ""
		}), p.sink[0], 0, 0)
		p.app[0].start = func() {
			q := p.connect(0)
			for range 2 {
				require.NoError(t, q.PostSend(verbs.WorkRequest{Length: 8, Signaled: true}))
			}
		}
		p.app[0].complete = func(_ *QP, wc verbs.WorkCompletion) { got, at = append(got, wc.Status), p.nic[0].Node().Now() }
		p.run(sim.Millisecond)
		return got, at
	}
	got, at := run(2)
	require.Equal(t, []verbs.Status{verbs.StatusSuccess, verbs.StatusSuccess}, got)
	require.InDelta(t, float64(200*sim.Microsecond), float64(at), float64(6*sim.Microsecond))
	got, at = run(100)
	require.Equal(t, []verbs.Status{verbs.StatusResponseTimeout, verbs.StatusWRFlush}, got)
	require.Equal(t, sim.Time(400*sim.Microsecond), at)
	require.Equal(t, 2+4, lost)
}
