package hardware

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rdmasim/reports/metric"
	"rdmasim/reports/page"
	"rdmasim/scenarios/hardware/guest"
	"rdmasim/sim/trace"
)

// TestGuestMachines boots two machines with Soft-RoCE and a real sshd, and runs on
// one of them what needs several: runs whose agents are at both, runs that lose a
// machine, and machines from which nothing can be had.
func TestGuestMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("long: two emulated machines and their logins")
	}
	limit := 25 * time.Minute // on a machine with much else to do
	ctx, cancel := context.WithTimeout(context.Background(), limit+time.Minute)
	defer cancel()
	log := testLog{t, new([]byte)}
	im := labImage(ctx, t, log)
	programs := map[string]string{"usr/bin/rdmasim": filepath.Join(t.TempDir(), "rdmasim")}
	build(ctx, t, "build", "-o", programs["usr/bin/rdmasim"], "rdmasim/cmd/rdmasim")
	scenarios, err := filepath.Glob("testdata/machines-*")
	require.NoError(t, err)
	for _, s := range scenarios {
		programs["t/"+filepath.Base(s)] = s
	}
	script, err := os.ReadFile("testdata/machines.sh")
	require.NoError(t, err)
	share := t.TempDir()
	status, err := im.Run(ctx, guest.Job{Script: string(script), Programs: programs, Share: share, Console: log, Timeout: limit, Machines: 2})
	if dir := os.Getenv("RDMASIM_GUEST_OUT"); dir != "" {
		require.NoError(t, os.CopyFS(dir, os.DirFS(share)))
	}
	require.NoError(t, err)
	require.Zero(t, status, "the script failed in the guest")
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(share, name))
		require.NoError(t, err)
		return string(b)
	}
	checkMachines(t, share, read)
	checkBroken(t, share, read)
	checkDoctor(t, read)
}

// checkMachines looks at runs that came to their end, and at those that were
// refused.
func checkMachines(t *testing.T, share string, read func(string) string) {
	require.Regexp(t, `rdmasim: b: its clock is within [\d.]+m?s`, read("pair.out"))
	require.Regexp(t, `agrees: the clock of b is known within [\d.]+m?s: times of different machines compare no better; until the end it moved by [\d.]+m?s at most`, read("loss.out"))
	for name, want := range map[string]map[string]int{
		"run-pair":   {"h1>h0 WRITE": 10, "h1>h0 SEND": 5, "h0>h1 SEND": 5},
		"run-incast": {"h1>h0 WRITE": 10, "h2>h0 WRITE": 10},
		"run-loss":   {"h1>h0 WRITE": 40},
	} {
		dir := filepath.Join(share, name)
		run, err := trace.Open(dir)
		require.NoError(t, err)
		require.False(t, run.Manifest.Partial)
		got := map[string]int{}
		for f, err := range run.Flows() {
			require.NoError(t, err)
			require.Equal(t, trace.StatusSuccess, f.Status)
			got[f.Src+">"+f.Dst+" "+f.Verb]++
		}
		require.Equal(t, want, got, name)
		require.NoError(t, page.Write(dir))
	}
	loss, err := metric.Load(filepath.Join(share, "run-loss"))
	require.NoError(t, err)
	require.Positive(t, loss.Faults[0].Packets, "what the queue of b dropped")
	require.Regexp(t, `(?m)^b: \+ tc qdisc add dev roce0 root`, read("loss.out"))
	require.NotRegexp(t, `(?m)^a: \+`, read("loss.out"), "the fault is about b alone")
	require.Regexp(t, `agrees: the queue dropped \d+ of \d+ packets`, read("loss.out"))
	require.Equal(t, read("before.txt"), read("after-loss.txt"), "the fault was taken away")

	require.Regexp(t, `(?m)\A.*nowhere: no agent answers \(exit status 255\): ssh: Could not resolve hostname nowhere.*\n\z`, read("nowhere.out"))
	require.Regexp(t, `(?m)^.*b: rdmasim there is version "v0.0.1" and here "[^"]+": install the same on both; nothing was changed$`, read("version.out"))
	require.Equal(t, 1, strings.Count(read("device.out"), `b: host h1: there is no device "mlx5_0" on b; it has rxe0, rxe1`), "an error is told once")
	for _, name := range []string{"nowhere", "version", "device"} {
		require.NoDirExists(t, filepath.Join(share, "run-"+name))
	}
	require.Equal(t, read("before.txt"), read("after-refused.txt"))
}

// checkBroken looks at runs that lost machine b in the middle.
func checkBroken(t *testing.T, share string, read func(string) string) {
	for _, name := range []string{"killed", "ssh", "cable", "coordinator"} {
		require.Contains(t, read("during-"+name+".txt"), "netem", "%s: the fault was in place", name)
		require.Equal(t, read("before.txt"), read("after-"+name+".txt"), "%s: something was left behind on b", name)
		require.Empty(t, read("left-"+name+".txt"), "%s: a process was left behind on b", name)
	}
	require.NoDirExists(t, filepath.Join(share, "run-coordinator"))
	for name, why := range map[string]string{
		"killed": `the agent has ended \(exit status \d+\)`,
		"ssh":    `the agent has ended \(signal: killed\)`,
		"cable":  `nothing was heard of the agent for 20s: the connection is lost`,
	} {
		require.Equal(t, "3\n", read(name+".status"))
		require.Regexp(t, `rdmasim: lost b: `+why, read(name+".out"))
		run, err := trace.Open(filepath.Join(share, "run-"+name))
		require.NoError(t, err)
		require.True(t, run.Manifest.Partial)
		done := 0
		for f, err := range run.Flows() {
			require.NoError(t, err)
			if f.Src == "h0" && f.Status == trace.StatusSuccess {
				done++
			}
		}
		require.NotContains(t, read(name+".out"), "fault delay acts", "what b counted is not known")
		require.Positive(t, done, "%s: what a had sent by then is kept", name)
		require.Regexp(t, regexp.MustCompile(`^lost b after [\d.]+m?s: `+why), run.Manifest.Reason)
	}
}

// checkDoctor looks at what the doctor said of two machines, and of the same after
// one was made ill.
func checkDoctor(t *testing.T, read func(string) string) {
	well := read("doctor.out")
	require.Regexp(t, `(?m)^OK +gid +b: rxe1 port 1 +RoCEv2 address 10\.7\.0\.4`, well)
	require.Regexp(t, `(?m)^OK +memlock +a, b: process`, well)
	require.NotContains(t, well, "differ")
	require.NotContains(t, well, "ERROR")
	require.Regexp(t, `(?m)^ *b/rxe1 4 +ok +ok +ok +- *$`, well)

	var ill Examined
	require.NoError(t, json.Unmarshal([]byte(read("ill.out")), &ill))
	require.Equal(t, []string{"a/rxe0", "a/rxe1", "b/rxe0", "b/rxe1"}, ill.Devices)
	require.Equal(t, [][]Reach{
		{ReachSelf, ReachFull, ReachNone, ReachFull},
		{ReachFull, ReachSelf, ReachShort, ReachFull},
		{ReachFull, ReachFull, ReachSelf, ReachFull},
		{ReachFull, ReachFull, ReachFull, ReachSelf},
	}, ill.Reach, "a rule on b drops all from a/rxe0, and what is long from a/rxe1")
	text := ""
	for _, f := range ill.Findings {
		text += fmt.Sprintf("%s %s %s: %s\n", f.Severity, f.ID, f.Where, f.What)
	}
	require.Contains(t, text, "error reach b/rxe0: no RDMA message arrives from a/rxe0\n")
	require.Contains(t, text, "error path-mtu b/rxe0: messages of 64 B arrive from a/rxe1, those of 1024 B do not\n")
	require.Contains(t, text, "warning mtu-differs machines: MTU of the interfaces: 1500 on a/rxe0, a/rxe1, b/rxe0; 900 on b/rxe1\n")
	require.Contains(t, text, "warning mtu-differs machines: path MTU of the ports: 1024 on a/rxe0, a/rxe1, b/rxe0; 512 on b/rxe1\n")
	require.Regexp(t, `error machine nowhere: no agent answers \(exit status 255\): ssh: Could not resolve hostname`, text)
}
