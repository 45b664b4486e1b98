package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"rdmasim/sim/trace"
)

const faulty = `name: faulty
duration: until_done
max_duration: 50ms
topology: {star: {hosts: 5, rate: 100Gbps}}
switch: {pfc: {priorities: [3]}}
nic: {path_mtu: 1024, timeout: 5, retry_count: 7, congestion: none}
traffic:
  - incast: {receiver: h0, senders: 4, message: 300KB, repeat: 2}
`

// What faults do to frames is in the capture as it is on a wire: a corrupt
// packet has a wrong ICRC, a copy is there twice, and 802.3x pauses are frames.
func TestCaptureOfFaults(t *testing.T) {
	run := func(t *testing.T, faults string, sets ...string) (want, got map[string]float64, read *trace.Run, invalid, pauses, pfc uint64) {
		s := parse(t, faulty+faults, sets)
		ran, read, sum := captured(t, s, 2, "host", "switch")
		every := func(string) bool { return true }
		for _, n := range sum.Notes {
			t.Log(n)
		}
		assert.Zero(t, sum.Frames.Malformed)
		return sums(t, ran, every), sums(t, read, every), read, sum.ICRC.Invalid, sum.Frames.Pause, sum.Frames.PFC
	}
	t.Run("corrupt", func(t *testing.T) {
		want, got, _, invalid, _, _ := run(t, "faults:\n  - corrupt: {link: h1-sw0, probability: 1%}\n")
		assert.Positive(t, invalid)
		for _, name := range []string{trace.CountRetransmitted, trace.CountPayloadDelivered, trace.CountDataDelivered, trace.CountNaks} {
			assert.Equal(t, want[name], got[name], name)
		}
	})
	t.Run("duplicate", func(t *testing.T) {
		want, got, _, _, _, _ := run(t, "faults:\n  - duplicate: {link: h1-sw0, probability: 1%}\n")
		for _, name := range []string{trace.CountRetransmitted, trace.CountPayloadDelivered, trace.CountDiscarded} {
			assert.Equal(t, want[name], got[name], name)
		}
		assert.Positive(t, got[trace.CountDiscarded])
	})
	t.Run("802.3x", func(t *testing.T) {
		_, _, _, _, pauses, pfc := run(t, "", "switch.pfc.mode=global", "switch.buffer.size=1MB")
		assert.Positive(t, pauses)
		assert.Zero(t, pfc)
	})
}
