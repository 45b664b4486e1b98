package hardware

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios"
)

// TestOffset: whatever the delays are and however they are shared between both
// ways, the true offset lies within the error that is given.
func TestOffset(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		ahead := time.Duration(r.Int64N(1e12)) - 5e11
		var list []exchange
		at, best := time.Duration(0), time.Duration(1e18)
		for range 1 + r.IntN(20) {
			there, back := time.Duration(r.Int64N(1e7)), time.Duration(r.Int64N(1e7))
			list = append(list, exchange{at, at + there + ahead, at + there + back})
			best = min(best, there+back)
			at += there + back + 1000
		}
		o, err := estimate(list)
		require.NoError(t, err)
		require.LessOrEqual(t, (o.Ahead - ahead).Abs(), o.Error)
		require.InDelta(t, best/2, o.Error, 1, "the shortest round trip counts")
	}
	_, err := estimate(nil)
	require.Error(t, err)
	_, err = estimate([]exchange{{asked: 5, answered: 4}})
	require.ErrorContains(t, err, "went back")
}

func TestParsePlace(t *testing.T) {
	p, err := ParsePlace("h0=user@node1/mlx5_0")
	require.NoError(t, err)
	require.Equal(t, Place{"h0", "user@node1", "mlx5_0"}, p)
	for _, bad := range []string{"", "h0", "h0=node1", "h0=/rxe0", "h0=node1/", "=node1/rxe0", "h0=-oProxyCommand=x/rxe0", "h0=a b/rxe0"} {
		_, err := ParsePlace(bad)
		require.ErrorContains(t, err, "want HOST=MACHINE/DEVICE", bad)
	}
}

// TestPlaces: every host is somewhere, once.
func TestPlaces(t *testing.T) {
	spec, err := scenarios.Parse("x.yaml", []byte("name: x\nduration: 1ms\ntopology: {star: {hosts: 2}}\ntraffic: [{incast: {senders: 1, receiver: h0, message: 1KB}}]\n"))
	require.NoError(t, err)
	for want, places := range map[string][]Place{
		"host h1 is nowhere": {{"h0", "a", "rxe0"}},
		"no such host":       {{"h7", "a", "rxe0"}},
		"given twice":        {{"h0", "a", "rxe0"}, {"h0", "b", "rxe0"}},
	} {
		_, err := newCoordinator(spec, places)
		require.ErrorContains(t, err, want)
	}
	c, err := newCoordinator(spec, []Place{{"h0", "a", "rxe0"}, {"h1", "a", "rxe1"}})
	require.NoError(t, err)
	require.Len(t, c.agents, 1, "one agent per machine")
	for via, want := range map[string]string{"": "--via is empty", "/does/not/exist {}": "no such file", "echo hello": "not a message of an agent", "true": "no agent answers"} {
		_, err := RunRemote(context.Background(), spec, Options{Out: t.TempDir() + "/run"}, []Place{{"h0", "a", "rxe0"}, {"h1", "b", "rxe1"}}, via)
		require.ErrorContains(t, err, want, via)
	}
}

// TestAgentTalk: an agent says who it is, tells the time, and says why it cannot
// run a scenario; a coordinator that goes away ends it.
func TestAgentTalk(t *testing.T) {
	toAgent, in := io.Pipe()
	out, fromAgent := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Agent(context.Background(), toAgent, fromAgent, io.Discard, "v1") }()
	l := newLink(out, in, nil)
	hello := <-l.in
	require.Equal(t, kindHello, hello.Kind)
	require.Equal(t, "v1", hello.Version)
	last := int64(0)
	for range 3 {
		require.NoError(t, l.send(message{Kind: kindPing, Seq: 7}))
		m := <-l.in
		require.Equal(t, kindPing, m.Kind)
		require.GreaterOrEqual(t, m.Time, last)
		last = m.Time
	}
	require.NoError(t, l.send(message{Kind: kindPrepare, Scenario: "name: [", Devices: map[string]string{"h0": "rxe0"}}))
	failed := <-l.in
	require.Equal(t, kindFailed, failed.Kind)
	require.Contains(t, failed.Err, "scenario:1")
	require.Error(t, <-ended)

	toAgent, in = io.Pipe()
	go func() { ended <- Agent(context.Background(), toAgent, io.Discard, io.Discard, "v1") }()
	require.NoError(t, in.Close())
	require.ErrorContains(t, <-ended, "the coordinator is gone")
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"kind":"call","seq":3,"to":"h1","conn":{"load":0,"from":"h0","qpn":17,"addr":139637976727552,"rkey":8}}`))
	f.Add([]byte(`{"kind":"rows","rows":{"flows":[{"ID":1}],"objects":["h0"]}}`))
	f.Add([]byte(`{"kind":"alive","seq":3,"time_ns":5}`))
	f.Add([]byte(`{"kind":"doctor","doctor":{"profile":"lossy","devices":[{"name":"rxe0","qpn":17,"mtu":3}]}}`))
	f.Add([]byte(`{"kind":"reach","reach":{"device":"rxe0","targets":[{"qpn":17,"size":64,"tag":1}]}}`))
	f.Add([]byte("Last login: Sun"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseMessage(b)
		if err == nil && m.Kind == "" {
			t.Fatal("a message without a kind")
		}
		l := newLink(bytes.NewReader(append(b, '\n')), io.Discard, nil)
		for range l.in {
		}
	})
}
