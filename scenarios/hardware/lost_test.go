package hardware

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios"
	"rdmasim/sim/trace"
)

// twoHosts is a scenario that lasts for ever, by the standards of a test.
func twoHosts(t *testing.T, until string) *scenarios.Spec {
	spec, err := scenarios.Parse("x.yaml", []byte("name: x\n"+until+"\ntopology: {star: {hosts: 2}}\ntraffic: [{incast: {senders: 1, receiver: h0, message: 1KB}}]\n"))
	require.NoError(t, err)
	return spec
}

// fake writes a program that speaks as an agent would, in a shell.
func fake(t *testing.T, dir, name, script string) {
	head := `#!/bin/sh
say() { printf '%s\n' "$1"; }
seq() { s=${line#*\"seq\":}; s=${s%%[,\}]*}; }
say '{"kind":"hello","version":"v1"}'
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(head+script), 0o755))
}

// answering is an agent that does nothing, correctly.
const answering = `while read -r line; do case $line in
*ping*) say '{"kind":"ping","time_ns":1}';;
*prepare*) say '{"kind":"ready"}';;
*probe*) say '{"kind":"probe","work":1}';;
*alive*) seq; say "{\"kind\":\"alive\",\"seq\":$s,\"time_ns\":1}";;
*stop*) say '{"kind":"result","result":{"end":5,"sent":[0,0],"arrived":[0,0]}}'; exit 0;;
*bye*) exit 0;;
esac; done
`

// dying does the same until the run begins.
const dying = `while read -r line; do case $line in
*ping*) say '{"kind":"ping","time_ns":1}';;
*prepare*) say '{"kind":"ready"}';;
*start*) sleep 0.2; DIE;;
esac; done
`

// TestLost: when a machine is lost in mid-run, however that shows, the others stop,
// what they have measured is kept as a partial run, and the reason is told.
func TestLost(t *testing.T) {
	for _, c := range []struct{ name, die, want string }{
		{"killed", "kill -9 $$", "the agent has ended (signal: killed)"},
		{"closed", "echo Connection to b closed by remote host. >&2; exit 255", "the agent has ended (exit status 255): Connection to b closed by remote host."},
		{"silent", "while :; do sleep 1; done", "nothing was heard of the agent for 500ms: the connection is lost"},
		{"garbled", "echo no JSON; sleep 5", "not a message of an agent"},
	} {
		for _, until := range []string{"duration: until_done\nmax_duration: 60s", "duration: 60s"} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				fake(t, dir, "a", answering)
				fake(t, dir, "b", dying[:len(dying)-len("DIE;;\nesac; done\n")]+c.die+";;\nesac; done\n")
				co, err := newCoordinator(twoHosts(t, until), []Place{{"h0", "a", "rxe0"}, {"h1", "b", "rxe0"}})
				require.NoError(t, err)
				co.lease = 500 * time.Millisecond
				out := filepath.Join(dir, "run")
				res, err := co.runRemote(context.Background(), Options{Out: out, Version: "v1", Log: io.Discard}, dir+"/{}")
				require.NoError(t, err)
				require.True(t, res.Partial)
				require.Contains(t, res.Notes[0], "lost b after")
				require.Contains(t, res.Notes[0], c.want)
				run, err := trace.Open(out)
				require.NoError(t, err)
				require.True(t, run.Manifest.Partial)
				require.Contains(t, run.Manifest.Reason, c.want)
				d, ok, err := run.Devices()
				require.NoError(t, err)
				require.True(t, ok)
				require.Equal(t, "all that b has sent, received and counted", d.Missing[0].What)
			})
		}
	}
}

// TestAllLost: without anything measured there is no run directory.
func TestAllLost(t *testing.T) {
	dir := t.TempDir()
	for _, m := range []string{"a", "b"} {
		fake(t, dir, m, dying[:len(dying)-len("DIE;;\nesac; done\n")]+"exit 3;;\nesac; done\n")
	}
	co, err := newCoordinator(twoHosts(t, "duration: 60s"), []Place{{"h0", "a", "rxe0"}, {"h1", "b", "rxe0"}})
	require.NoError(t, err)
	_, err = co.runRemote(context.Background(), Options{Out: dir + "/run", Version: "v1"}, dir+"/{}")
	require.ErrorContains(t, err, "lost a: the agent has ended (exit status 3)")
	require.ErrorContains(t, err, "lost b: the agent has ended (exit status 3)")
	require.NoDirExists(t, dir+"/run")
}

// TestNoAgent: whatever stands in the way of an agent is one sentence about one
// machine, and nothing has been written.
func TestNoAgent(t *testing.T) {
	dir := t.TempDir()
	fake(t, dir, "a", answering)
	fake(t, dir, "old", "")
	require.NoError(t, os.WriteFile(dir+"/new", []byte("#!/bin/sh\nprintf '{\"kind\":\"hello\",\"version\":\"v2\"}\\n'; cat > /dev/null\n"), 0o755))
	for _, m := range [][2]string{{"absent", "echo sh: rdmasim: not found >&2; exit 127"}, {"refused", "echo ssh: connect to host refused port 22: Connection refused >&2; exit 255"}, {"banner", "echo Welcome; cat > /dev/null"}} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, m[0]), []byte("#!/bin/sh\n"+m[1]+"\n"), 0o755))
	}
	for machine, want := range map[string]string{
		"absent":  "absent: no agent answers (exit status 127): sh: rdmasim: not found",
		"refused": "refused: no agent answers (exit status 255): ssh: connect to host refused port 22: Connection refused",
		"banner":  `banner: not a message of an agent: "Welcome"`,
		"new":     `new: rdmasim there is version "v2" and here "v1": install the same on both; nothing was changed`,
		"old":     "old: ", // it ends at once after its hello, which may have been read by then
	} {
		_, err := RunRemote(context.Background(), twoHosts(t, "duration: 1s"), Options{Out: dir + "/run", Version: "v1"}, []Place{{"h0", "a", "rxe0"}, {"h1", machine, "rxe0"}}, dir+"/{}")
		require.ErrorContains(t, err, want)
		input := new(scenarios.InputError)
		require.ErrorAs(t, err, &input)
		require.NoDirExists(t, dir+"/run")
	}
}

// TestLease: an agent that hears nothing ends by itself; one whose lease is
// renewed does not, and its renewals tell the time.
func TestLease(t *testing.T) {
	const lease = 300 * time.Millisecond
	toAgent, in := io.Pipe()
	out, fromAgent := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- agent(context.Background(), toAgent, fromAgent, io.Discard, "v1", lease) }()
	began := time.Now()
	p := pulse{asked: map[uint64]time.Duration{}}
	now := func() time.Duration { return time.Since(began) }
	l := newLink(out, in, func(_ *link, m message) { p.answered(m, now()) })
	require.Equal(t, kindHello, (<-l.in).Kind)
	beating, stop := context.WithCancel(context.Background())
	go p.beat(beating, l, now, lease/renewals)
	select {
	case err := <-ended:
		t.Fatalf("ended although its lease was renewed: %v", err)
	case <-time.After(3 * lease):
	}
	o, ok := p.offset()
	require.True(t, ok)
	require.Less(t, o.Ahead.Abs(), lease, "one clock at both ends")
	stop()
	failed := <-l.in
	require.Equal(t, kindFailed, failed.Kind)
	require.Contains(t, failed.Err, "nothing was heard of the coordinator for 300ms")
	require.ErrorIs(t, <-ended, errLapsed)
}
