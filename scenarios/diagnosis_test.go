package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/reports/metric"
	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// diagnosed runs a scenario and returns the diagnosis of its messages, after
// asserting that the shares of each add up to its time.
func diagnosed(t testing.TB, run *trace.Run) (*metric.Diagnosis, map[uint64]metric.FlowDiagnosis) {
	flows := map[uint64]metric.FlowDiagnosis{}
	d, err := metric.Diagnose(run, func(o *metric.FlowDiagnosis) bool {
		require.Equal(t, o.Elapsed, o.Shares.Sum(), "message %d", o.Flow.ID)
		for c, v := range o.Shares {
			require.GreaterOrEqual(t, v, sim.Duration(0), "%v of message %d", metric.Cause(c), o.Flow.ID)
		}
		flows[o.Flow.ID] = *o
		return true
	})
	require.NoError(t, err)
	return d, flows
}

const starOf4 = "topology: {star: {hosts: 4, rate: 100Gbps}}\n"

// Each cause, injected alone, is the one that is named, for the messages that
// suffer from it, and takes nearly all of what they lost.
func TestInjectedCauses(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       metric.Cause
		of         func(f *trace.Flow) bool // messages that suffer; nil = all
		share      float64                  // of the time that is lost
	}{
		{"nothing", starOf4 + "nic: {congestion: none}\ntraffic: [{incast: {senders: [h1], receiver: h0, message: 1MB, repeat: 3}}]", metric.CauseLine, nil, 0},
		{"slow receiver", starOf4 + "nic: {congestion: none}\nnics: [{match: h0, drain: 20Gbps}]\ntraffic: [{incast: {senders: [h1], receiver: h0, message: 4MB, repeat: 1}}]",
			metric.CauseReceiver, nil, 0.95},
		{"slow receiver under DCQCN", starOf4 + "switch: {ecn: {3: {kmin: 100KB, kmax: 400KB, pmax: 20%}}}\nnics: [{match: h0, drain: 20Gbps}]\ntraffic: [{incast: {senders: 3, receiver: h0, message: 4MB, repeat: 1}}]",
			metric.CauseReceiver, nil, 0.9},
		{"incast under DCQCN", starOf4 + "switch: {ecn: {3: {kmin: 100KB, kmax: 400KB, pmax: 20%}}}\ntraffic: [{incast: {senders: 3, receiver: h0, message: 4MB, repeat: 1}}]",
			metric.CauseCongestion, nil, 0.9},
		{"incast under PFC alone", starOf4 + "switch: {buffer: {size: 2MB}}\nnic: {congestion: none}\ntraffic: [{incast: {senders: 3, receiver: h0, message: 8MB, repeat: 1}}]",
			metric.CausePaused, nil, 0.6},
		{"window", "topology: {star: {hosts: 2, rate: 100Gbps, delay: 10us}}\nnic: {congestion: none, window: 50KB, ack_every: 1}\ntraffic: [{incast: {senders: [h1], receiver: h0, message: 2MB, repeat: 1}}]",
			metric.CauseWindow, nil, 0.95},
		{"fixed rate", starOf4 + "nic: {congestion: {none: {rate: 10Gbps}}}\ntraffic: [{incast: {senders: [h1], receiver: h0, message: 2MB, repeat: 1}}]",
			metric.CauseHost, nil, 0.95},
		{"two queue pairs of a port", starOf4 + "nic: {congestion: none}\ntraffic: [{flows: {list: [{from: h1, to: h0, size: 1MB}, {from: h1, to: h2, size: 1MB}]}}]",
			metric.CauseHost, nil, 0.9},
		{"loss", starOf4 + "links: [{a: h0, b: sw0, drop_every: 100}]\nnic: {congestion: none, ack_every: 1}\ntraffic: [{incast: {senders: [h1], receiver: h0, message: 1MB, repeat: 1}}]",
			metric.CauseResend, nil, 0.9},
		{"timeout", "topology: {custom: {rate: 100Gbps, delay: 500ns, nodes: [{name: h0, kind: host}, {name: h1, kind: host}], links: [{a: h0, b: h1}]}}\n" +
			"links: [{a: h0, b: h1, drop_every: 10}]\nnic: {congestion: none, timeout: 8, ack_every: 1}\ntraffic: [{incast: {receiver: h0, senders: [h1], message: 10240B, repeat: 1}}]",
			metric.CauseTimeout, nil, 0.99},
		{"black hole", starOf4 + "routes: [{at: sw0, to: h0, drop: true}]\nnic: {congestion: none, timeout: 5, retry_count: 2}\ntraffic: [{incast: {senders: [h1], receiver: h0, message: 1MB, repeat: 1}}]",
			metric.CauseTimeout, nil, 0.99},
		{"storm", starOf4 + "duration: 2ms\nnic: {congestion: none}\nfaults: [{pause_storm: {host: h0, from: 20us}}]\ntraffic: [{incast: {senders: [h1], receiver: h0, message: 4MB, repeat: 1}}]",
			metric.CauseFault, nil, 0.9},
		{"slow link", "topology: {dumbbell: {left: 2, right: 2, rate: 100Gbps}}\nswitch: {ecn: {3: {kmin: 100KB, kmax: 400KB, pmax: 20%}}}\nfaults: [{rate: {link: sw0>sw1, rate: 10Gbps}}]\n" +
			"traffic: [{flows: {list: [{from: h0, to: h2, size: 4MB}, {from: h1, to: h3, size: 4MB}]}}]", metric.CauseFault, nil, 0.9},
		{"slow port", starOf4 + "nic: {congestion: none}\nfaults: [{rate: {link: h1>sw0, rate: 10Gbps}}]\ntraffic: [{incast: {senders: [h1], receiver: h0, message: 4MB, repeat: 1}}]",
			metric.CauseFault, nil, 0.9},
		{"late link", starOf4 + "nic: {congestion: none}\nfaults: [{delay: {link: h1>sw0, delay: 200us}}]\ntraffic: [{incast: {senders: [h1], receiver: h0, message: 100KB, repeat: 1}}]",
			metric.CauseFault, nil, 0.9},
		{"slow link, but later", "topology: {dumbbell: {left: 2, right: 2, rate: 100Gbps}}\nduration: 6ms\nswitch: {ecn: {3: {kmin: 100KB, kmax: 400KB, pmax: 20%}}}\n" +
			"faults: [{rate: {link: sw0>sw1, rate: 10Gbps, from: 5ms}}]\ntraffic: [{incast: {senders: [h0, h1], receiver: h2, message: 4MB, repeat: 1}}]", metric.CauseCongestion, nil, 0.8},
		{"slow software", starOf4 + "nic: {congestion: none, host: {post: 100us}}\ntraffic: [{incast: {senders: [h1], receiver: h0, message: 10KB, repeat: 1}}]",
			metric.CauseHost, nil, 0.9},
		{"victim of a storm", starOf4 + "duration: 2ms\nswitch: {buffer: {size: 2MB}}\nnic: {congestion: none}\nfaults: [{pause_storm: {host: h0, from: 20us}}]\n" +
			"traffic: [{incast: {senders: [h1], receiver: h0, message: 4MB, repeat: 1}}, {incast: {senders: [h1], receiver: h2, message: 1MB, repeat: forever}}]",
			metric.CauseVictim, func(f *trace.Flow) bool { return f.Dst == "h2" && f.End < 0 }, 0.9},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Parse("x.yaml", []byte(c.text+"\n"))
			require.NoError(t, err)
			run, _ := runOn(t, s, 1)
			_, flows := diagnosed(t, run)
			n := 0
			for _, o := range flows {
				if c.of != nil && !c.of(&o.Flow) {
					continue
				}
				n++
				require.Equal(t, c.want, o.Shares.Main(), "%s > %s: %v", o.Flow.Src, o.Flow.Dst, o.Shares)
				if c.want != metric.CauseLine {
					lost := o.Elapsed - o.Shares[metric.CauseLine]
					require.Greater(t, float64(o.Shares[c.want]), c.share*float64(lost), "%s > %s: %v", o.Flow.Src, o.Flow.Dst, o.Shares)
				}
			}
			require.Positive(t, n)
		})
	}
}

// Two flows whose hash leads to one uplink collide; where they take different
// ones nothing is lost. Which of both happens depends on the seed of the hash.
func TestCollisionIsTold(t *testing.T) {
	collided, apart := 0, 0
	for seed := 1; seed <= 12 && (collided < 2 || apart < 2); seed++ {
		for _, cc := range []string{"none", "dcqcn"} {
			s, err := Parse("x.yaml", fmt.Appendf(nil, `
topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2, rate: 100Gbps, uplink_rate: 100Gbps}}
switch: {balance: {seed: %d}, ecn: {3: {kmin: 100KB, kmax: 400KB, pmax: 20%%}}}
nic: {congestion: %s}
traffic: [{flows: {list: [{from: h0, to: h2, size: 4MB}, {from: h1, to: h3, size: 4MB}]}}]
`, seed, cc))
			require.NoError(t, err)
			run, _ := runOn(t, s, 1)
			up := map[string]bool{}
			for w, err := range run.Ways() {
				require.NoError(t, err)
				if w.Host == "h0" || w.Host == "h1" {
					up[w.There[1]] = true
				}
			}
			d, flows := diagnosed(t, run)
			if len(up) == 2 {
				apart++
				require.Equal(t, metric.CauseLine, d.Total.Main())
				continue
			}
			collided++
			for _, o := range flows {
				require.Equal(t, metric.CauseCollision, o.Shares.Main(), "%v", o.Shares)
			}
			require.Contains(t, d.Evidence[metric.CauseCollision], "the 2 equal-cost links to")
		}
	}
	require.Positive(t, collided)
	require.Positive(t, apart)
}

// late is an application that sends to a peer, or one that posts its receives
// too late.
type late struct {
	workload.Nop
	to   int
	conn verbs.Connection
}

func (l *late) Start(h workload.Host) {
	if l.to >= 0 {
		q := h.Connect(workload.ConnParams{Peer: l.to, Priority: -1})
		if err := q.PostSend(verbs.WorkRequest{Opcode: verbs.OpSend, Length: 100 * sim.KB, Signaled: true}); err != nil {
			panic(err)
		}
	}
	h.Done()
}

func (l *late) OnAccept(h workload.Host, q verbs.Connection, _ int, _ uint64) {
	l.conn = q
	h.After(300*sim.Microsecond, 0)
}

func (l *late) OnTimer(workload.Host, uint64) {
	if err := l.conn.PostRecv(1, 100*sim.KB); err != nil {
		panic(err)
	}
}

// A receiver that posts its receive late makes its sender wait for RNR timers.
func TestReceiverNotReadyIsTold(t *testing.T) {
	s, err := Parse("x.yaml", []byte(starOf4+"nic: {congestion: none, rnr_timer: 5}\ntraffic: [{incast: {senders: [h2], receiver: h3, message: 1KB, repeat: 1}}]\n"))
	require.NoError(t, err)
	run, _ := runWith(t, s, func(w *world) {
		for i, to := range []int{1, -1} {
			node := w.hosts[i]
			h := &host{w: w, nic: w.nics[node], node: node, number: i, kind: "late", name: "late", inst: &late{to: to}}
			h.client = w.nics[node].Attach(h)
		}
	})
	_, flows := diagnosed(t, run)
	n := 0
	for _, o := range flows {
		if o.Flow.Src == "h0" {
			n++
			require.Equal(t, metric.CauseRNR, o.Shares.Main(), "%v", o.Shares)
			require.Greater(t, o.Shares.Of(metric.CauseRNR), 0.9)
		}
	}
	require.Equal(t, 1, n)
}

// libraryCauses are the scenarios of the library that are about one cause.
var libraryCauses = map[string]metric.Cause{"victim-flow": metric.CausePaused, "slow-receiver": metric.CauseReceiver, "incast-8to1": metric.CauseCongestion,
	"ring-allreduce": metric.CauseLine, "permutation-k8": metric.CauseCollision, "parking-lot-unfairness": metric.CausePaused}

// checkDiagnosis asserts that shares add up for each message of a library
// scenario, to the picosecond, that hardly anything is unknown, and that the cause
// which a scenario is about is named.
func checkDiagnosis(t testing.TB, name string, run *trace.Run) {
	checkDelays(t, run)
	d, flows := diagnosed(t, run)
	require.NotEmpty(t, flows)
	require.Less(t, d.Total.Of(metric.CauseUnknown), 0.02)
	if want, ok := libraryCauses[name]; ok {
		require.Equal(t, want, d.Total.Main())
	}
	var text strings.Builder
	require.NoError(t, metric.Why(&text, run))
	require.NoError(t, metric.WhyFlow(&text, run, nil))
	require.NotContains(t, text.String(), "%!")
}
