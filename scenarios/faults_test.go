package scenarios

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/metric"
	"rdmasim/scenarios/fault"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// underTest is the fabric of the examples of faults.
const underTest = `# A fabric for faults.
topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2, rate: 100Gbps, uplink_rate: 100Gbps, delay: 500ns}}
duration: 10ms
switch:
  buffer: {size: 2MB}
  ecn: {3: {kmin: 10KB, kmax: 100KB, pmax: 100%}}
  watchdog: {broadcom: {poll: 200us, detect: 200us, restore: 200us}}
nic: {timeout: 6, ack_every: 4}
traffic:
  - all_to_all: {message: 300KB, repeat: 3}
  - incast: {receiver: h0, message: 200KB}
`

func withFaults(faults ...string) string {
	return underTest + "faults:\n  - " + strings.Join(faults, "\n  - ") + "\n"
}

// Every fault of the catalogue can be written as its example says, survives a
// round trip, acts, and does the same on one, two and three workers.
func TestEveryFaultActs(t *testing.T) {
	for _, name := range fault.Faults.Names() {
		t.Run(name, func(t *testing.T) {
			require.NotEmpty(t, fault.Example(name), "an example for docs and tests")
			s := parsed(t, withFaults(fmt.Sprintf("%s: %s", name, fault.Example(name))))
			roundTrip(t, s)
			run, res := runOn(t, s, 1)
			for _, workers := range []int{2, 3} {
				_, other := runOn(t, s, workers)
				assert.Equal(t, res.Fingerprint, other.Fingerprint, "%d workers", workers)
			}
			m, err := metric.Compute(run)
			require.NoError(t, err)
			require.Len(t, m.Faults, 1)
			assert.Equal(t, name, m.Faults[0].Name)
			assert.Positive(t, m.Faults[0].Packets)
			on := 0
			for e, err := range run.Events(trace.EventFault) {
				require.NoError(t, err)
				assert.Equal(t, "fault/"+name, e.Object)
				on += int(e.Value)
			}
			assert.Equal(t, 1, on, "begins")
			conserved(t, run)
		})
	}
}

// conserved asserts that every data packet sent has arrived, was discarded, or
// was counted as lost; nothing vanishes.
func conserved(t *testing.T, run *trace.Run) {
	counters, err := run.Counters()
	require.NoError(t, err)
	sum := map[string]float64{}
	for _, c := range counters {
		sum[c.Name] += c.Value
	}
	open := 0
	for f, err := range run.Flows() {
		require.NoError(t, err)
		if f.End < 0 {
			open++
		}
	}
	dropped := sum[trace.CountDropFault] + sum[trace.CountDropLossless] + sum[trace.CountDropLossy] + sum[trace.CountDropWatchdog]
	ended := sum[trace.CountDataDelivered] + sum[trace.CountDiscarded]
	// Drops count ACKs, CNPs and pauses too, so they may be more than the data
	// that is missing, never less.
	if open == 0 {
		assert.GreaterOrEqual(t, dropped, sum[trace.CountDataSent]-ended, "data packets that vanished")
	}
}

// The same seed gives the same faults, another one others.
func TestFaultsFollowTheSeed(t *testing.T) {
	text := withFaults("loss: {link: \"*\", probability: 1%}", "delay: {link: \"*\", delay: 100ns, jitter: 90ns}")
	finger := func(seed uint64) string {
		s := parsed(t, text)
		s.Seed = seed
		_, res := runOn(t, s, 1)
		return res.Fingerprint
	}
	assert.Equal(t, finger(5), finger(5))
	assert.NotEqual(t, finger(5), finger(6))
}

// A fault that touches no packet fails the run with that sentence.
func TestFaultThatTouchesNothing(t *testing.T) {
	s := parsed(t, withFaults("mtu: {link: h0-leaf0, mtu: 9000B}"))
	run, _ := runOn(t, s, 1)
	m, err := metric.Compute(run)
	require.NoError(t, err)
	ok, err := m.Check(nil)
	require.NoError(t, err)
	assert.False(t, ok)
	require.Len(t, m.Expect, 1)
	assert.Equal(t, "fault mtu touched no packet", m.Expect[0].Why)
}

// A packet event meets exactly the transmission that it names: the last packet
// of a message is lost once, then twice, and arrives at the next time.
func TestPacketEventIsExact(t *testing.T) {
	for lost := range 4 {
		s := parsed(t, `
topology: {star: {hosts: 2}}
duration: until_done
max_duration: 20ms
nic: {timeout: 4, retry_count: 2, congestion: none, ack_every: 1}
traffic: [{incast: {receiver: h0, senders: [h1], message: 20KB}}]
faults:
  - packet: {host: h1, psn: [19], nth: 1}
  - packet: {host: h1, psn: [19], nth: 2}
  - packet: {host: h1, psn: [19], nth: 3}
`)
		s.Faults = s.Faults[:lost]
		run, _ := runOn(t, s, 1)
		m, err := metric.Compute(run)
		require.NoError(t, err)
		for _, f := range m.Faults {
			assert.Equal(t, int64(1), f.Packets, f.Name)
		}
		assert.Equal(t, int64(lost), *m.Packets.Dropped.Fault)
		if lost < 3 {
			assert.Equal(t, int64(20+lost), *m.Packets.Sent)
			assert.Equal(t, 1, m.Completions["success"])
		} else {
			assert.Equal(t, 1, m.Completions["retry_exceeded"], "one transmission and two retries")
		}
	}
}

// The loss of a frame follows its length when bits are wrong.
func TestBitErrorsFollowLength(t *testing.T) {
	lost := func(mtu int) float64 {
		s := parsed(t, `
topology: {star: {hosts: 2}}
duration: 2ms
nic: {timeout: 4, congestion: none}
traffic: [{incast: {receiver: h0, senders: [h1], message: 1MB, repeat: forever, depth: 4}}]
faults: [{bit_errors: {link: h1>sw0, rate: 1e-6, only: data}}]
`)
		s.NIC.PathMTU = mtu
		run, _ := runOn(t, s, 1)
		m, err := metric.Compute(run)
		require.NoError(t, err)
		return float64(m.Faults[0].Packets) / float64(*m.Packets.Sent)
	}
	short, long := lost(256), lost(4096)
	assert.InDelta(t, 1-0.9974, short, 0.0012) // 318 B at 1e-6
	assert.InDelta(t, 1-0.9673, long, 0.012)   // 4158 B
}

// Time and place of faults are checked before anything is written.
func TestMistakesInFaults(t *testing.T) {
	small := "topology: {star: {hosts: 3}}\nduration: 5ms\ntraffic: [incast]\nfaults:\n  - "
	for text, want := range map[string]string{
		"loss: {link: h1-sw9, probability: 1%}":                           "s.yaml:5:18: faults.0.loss.link: h1-sw9: matches none: there are h0-sw0, h1-sw0, h2-sw0",
		"loss: {link: h1-sw0, host: h1, probability: 1%}":                 "s.yaml:5:32: faults.0.loss.host: h1: is one place too many beside link",
		"loss: {link: \"*\", probability: 101%}":                          "s.yaml:5:36: faults.0.loss.probability: 1.01: want a probability from 0 to 1",
		"loss: {link: \"*\", probability: 1%, from: 6ms}":                 "s.yaml:5:46: faults.0.loss.from: 6ms: the run is over by then: it lasts 5ms",
		"loss: {link: \"*\", probability: 1%, from: 2ms, to: 1ms}":        "s.yaml:5:55: faults.0.loss.to: 1ms: want more than from, 2ms",
		"loss: {link: \"*\", probability: 1%, src: h7}":                   "s.yaml:5:45: faults.0.loss.src: h7: matches none",
		"loss: {link: \"*\", only: xoff, dst: h1, probability: 1%}":       "s.yaml:5:29: faults.0.loss.only: pause frames have neither",
		"rate: {link: \"*\", rate: 1bps}":                                 "s.yaml:5:29: faults.0.rate.rate: 1bps: want at least 1Mbps",
		"slow_receiver: {rate: 1Gbps}":                                    "s.yaml:5:5: faults.0.slow_receiver.host: is missing",
		"alpha: {host: h1, alpha: 1/8}":                                   "s.yaml:5:19: faults.0.alpha.host: h1: matches ports of hosts alone",
		"routing_loop: {switches: [sw0, sw1], dst: h1}":                   "s.yaml:5:20: faults.0.routing_loop.switches: sw1: is no neighbour of sw0",
		"link_down: {link: \"*\", to: 1us, period: 2us, reroute: 10ns}\n": "",
	} {
		s, err := Parse("s.yaml", []byte(small+text+"\n"))
		if err == nil {
			_, err = build(s)
		}
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.Error(t, err, text)
		assert.True(t, strings.HasPrefix(err.Error(), want), "%s\nwant %s\ngot  %s", text, want, err)
	}
}

// A link that fails is left alone by the routes until it is back.
func TestReroute(t *testing.T) {
	for _, reroute := range []string{"", ", reroute: 20us"} {
		s := parsed(t, withFaults("link_down: {link: leaf0-spine0, from: 10us"+reroute+"}"))
		run, _ := runOn(t, s, 1)
		m, err := metric.Compute(run)
		require.NoError(t, err)
		if reroute == "" {
			assert.Positive(t, m.Flows.Failed, "half of the flows have no path and give up")
		} else {
			assert.Equal(t, m.Flows.Total, m.Flows.Completed)
		}
	}
}

// FuzzFaults looks for a list of faults that brings the program down.
func FuzzFaults(f *testing.F) {
	for _, name := range fault.Faults.Names() {
		f.Add(fmt.Sprintf("%s: %s", name, fault.Example(name)))
	}
	f.Add("loss: {link: \"*\", numbers: [1, 2, 3], every: 3, only: [xoff, data]}")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4000 || strings.Contains(text, "\n") {
			return
		}
		s, err := Parse("s.yaml", []byte(withFaults(text)))
		if err != nil {
			return
		}
		s.Topology, s.Duration, s.UntilDone = parsedTopology(t), 200*sim.Microsecond, false
		w, err := build(s)
		if err != nil {
			return
		}
		require.NoError(t, w.attach(nil))
		o := Options{Out: filepath.Join(t.TempDir(), "run"), Workers: 1}
		out, err := w.create(o)
		require.NoError(t, err)
		_, err = w.simulate(t.Context(), out, o)
		require.NoError(t, err)
	})
}

func parsedTopology(t testing.TB) Member {
	s, err := Parse("s.yaml", []byte(underTest))
	require.NoError(t, err)
	return s.Topology
}
