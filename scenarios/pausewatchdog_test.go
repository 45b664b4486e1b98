package scenarios

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/metric"
	"rdmasim/sim/trace"
)

// nicDogs lists what the watchdogs of NICs said, as milliseconds and words.
func nicDogs(t *testing.T, run *trace.Run) (list []string) {
	for e, err := range run.Events(trace.EventWatchdog) {
		require.NoError(t, err)
		list = append(list, fmt.Sprintf("%.2f %s %s", e.Time.Seconds()*1000, e.Object, e.Cause))
	}
	return list
}

// A host stops taking packets from 1 ms to 15 ms. Its NIC pauses the switch as
// soon as its buffer is full, and with a watchdog of 4 ms warns after 85 % of
// that, gives up after all of it and drops, until the host has caught up. A
// victim behind the same switch is freed then; without the watchdog it stands
// until the host is back.
func TestNICPauseWatchdog(t *testing.T) {
	const text = `# A stalled receiver.
duration: 20ms
topology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 2, rate: 100Gbps, uplink_rate: 100Gbps, delay: 500ns}}
switch: {buffer: {size: 400KB}}
nic: {rx_buffer: 200KB, pause_watchdog: %s, timeout: 12, congestion: none}
traffic:
  - incast: {senders: [h2], receiver: h0, message: 100KB, repeat: forever, depth: 8, tag: stalled}
  - incast: {senders: [h3], receiver: h1, message: 100KB, repeat: forever, depth: 8, tag: victim}
faults:
  - slow_receiver: {host: h0, rate: 0bps, from: 1ms, to: 15ms}
expect:
  - sum(flows.delivered_bytes, tag=victim) > 0
`
	victim, drops := map[string]float64{}, map[string]float64{}
	for _, limit := range []string{"0s", "4ms"} {
		s := parsed(t, fmt.Sprintf(text, limit))
		s.Expect = s.Expect[:1]
		run, _ := runOn(t, s, 1)
		m, err := metric.Compute(run)
		require.NoError(t, err)
		_, err = m.Check(s.Expect)
		require.NoError(t, err)
		victim[limit] = *m.Expect[0].Value
		counters, err := run.Counters()
		require.NoError(t, err)
		sum := func(name string) (n float64) {
			for _, c := range counters {
				if c.Name == name {
					n += c.Value
				}
			}
			return n
		}
		drops[limit] = sum(trace.CountDropWatchdog)
		said := nicDogs(t, run)
		if limit == "0s" {
			assert.Empty(t, said)
			assert.Zero(t, drops[limit])
			continue
		}
		require.Len(t, said, 3, said)
		var warned, gave, back float64
		for i, x := range []*float64{&warned, &gave, &back} {
			var object string
			_, err := fmt.Sscanf(said[i], "%f %s", x, &object)
			require.NoError(t, err)
			assert.Equal(t, "h0:0", object)
		}
		assert.Contains(t, said[0], "warning")
		assert.Contains(t, said[1], "gave up")
		assert.Contains(t, said[2], "restored")
		paused := warned - 0.85*4 // when the buffer was full
		assert.InDelta(t, 1.02, paused, 0.03)
		assert.InDelta(t, paused+4, gave, 0.011)
		assert.InDelta(t, 15, back, 0.1, "the host has caught up soon after it is back")
		assert.Equal(t, 1.0, sum(trace.CountPauseWarnings))
		assert.Equal(t, 1.0, sum(trace.CountPauseErrors))
	}
	assert.Positive(t, drops["4ms"])
	assert.Greater(t, victim["4ms"], 1.5*victim["0s"], "the victim is freed")
}

// A NIC that storms by itself is stopped by its own watchdog.
func TestNICPauseWatchdogStopsAStorm(t *testing.T) {
	s := parsed(t, `# A storm that firmware ends.
duration: 20ms
topology: {star: {hosts: 2, rate: 100Gbps, delay: 500ns}}
nic: {pause_watchdog: 5ms, congestion: none}
traffic:
  - incast: {senders: [h1], receiver: h0, message: 100KB, repeat: forever, depth: 8}
faults:
  - pause_storm: {host: h0, from: 1ms, interval: 100us}
`)
	run, _ := runOn(t, s, 1)
	said := nicDogs(t, run)
	require.Len(t, said, 2, said)
	assert.Equal(t, "5.25 h0:0 NIC pause watchdog: warning", said[0])
	assert.Equal(t, "6.00 h0:0 NIC pause watchdog: gave up pausing", said[1])
	last := 0.0
	for e, err := range run.Events(trace.EventPauseOff) {
		require.NoError(t, err)
		last = max(last, e.Time.Seconds()*1000)
	}
	assert.InDelta(t, 6, last, 0.01, "no pause after that")
}
