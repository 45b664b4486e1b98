package hardware

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rdmasim/reports/metric"
	"rdmasim/reports/page"
	"rdmasim/scenarios/hardware/guest"
	"rdmasim/sim/trace"
)

// TestGuest boots a machine with two Soft-RoCE devices and runs there what needs
// real queue pairs: the tests of verbs/ibv and fabric/netem, and the commands
// of the binary. One boot serves all of it.
func TestGuest(t *testing.T) {
	limit, options := 12*time.Minute, ""
	if testing.Short() {
		limit, options = 8*time.Minute, "export SHORT=1\n"
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit+90*time.Second)
	defer cancel()
	log := testLog{t, new([]byte)}
	im := labImage(ctx, t, log)
	dir := t.TempDir()
	programs := map[string]string{}
	for _, pkg := range []string{"verbs/ibv", "fabric/netem"} {
		out := filepath.Join(dir, filepath.Base(pkg)+".test")
		build(ctx, t, "test", "-c", "-o", out, "rdmasim/"+pkg)
		programs["t/"+filepath.Base(out)] = out
	}
	build(ctx, t, "build", "-o", filepath.Join(dir, "rdmasim"), "rdmasim/cmd/rdmasim")
	programs["usr/bin/rdmasim"] = filepath.Join(dir, "rdmasim")
	script, err := os.ReadFile("testdata/guest.sh")
	require.NoError(t, err)
	scenarios, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	for _, s := range scenarios {
		programs["t/"+filepath.Base(s)] = s
	}
	share := t.TempDir()
	status, err := im.Run(ctx, guest.Job{Script: options + string(script), Programs: programs, Share: share, Console: log, Timeout: limit})
	require.NoError(t, err)
	require.Zero(t, status, "the script failed in the guest")
	checkResults(t, share)
}

// labImage returns the image of the lab, and skips where there can be none.
func labImage(ctx context.Context, t *testing.T, log testLog) guest.Image {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("skipped: the guest needs Linux on amd64")
	}
	if guest.CanInstall() {
		if err := guest.Install(ctx, log); err != nil {
			t.Skipf("skipped: what the guest needs cannot be installed, so that real queue pairs were not tested: %v", err)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	im, err := guest.Build(ctx, filepath.Join(cache, "rdmasim", "guest"), log)
	if err != nil {
		t.Skipf("skipped: no guest can be built here, so that real queue pairs were not tested: %v", err)
	}
	return im
}

func build(ctx context.Context, t *testing.T, args ...string) {
	t.Helper()
	c := exec.CommandContext(ctx, "go", args...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// testLog passes what is written to the log of the test, line by line.
type testLog struct {
	t    *testing.T
	rest *[]byte
}

func (l testLog) Write(p []byte) (int, error) {
	*l.rest = append(*l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(*l.rest, []byte{'\n'})
		if !ok {
			return len(p), nil
		}
		l.t.Log(strings.TrimRight(string(line), "\r"))
		*l.rest = rest
	}
}

// checkResults looks at what the guest has brought out.
func checkResults(t *testing.T, share string) {
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(share, name))
		require.NoError(t, err)
		return string(b)
	}
	for _, want := range []string{"--- PASS: TestHardwareOperations", "--- PASS: TestHardwareDatagram", "--- PASS: TestHardwareRNR", "--- PASS: TestHardwareContract"} {
		require.Contains(t, read("ibv.out"), want)
	}
	require.Contains(t, read("netem.out"), "--- PASS: TestHardwareLeavesNothing")
	require.Regexp(t, `rxe0 +rdma_rxe +roce0 +1 +4: ACTIVE .* 10\.7\.0\.1 \(index 1\) +yes`, read("devices.out"))

	clean, err := metric.Load(filepath.Join(share, "run-clean"))
	require.NoError(t, err)
	require.Equal(t, "hardware", clean.Run.Mode)
	require.EqualValues(t, 80, clean.Flows.Completed)
	require.EqualValues(t, 40*64000+40*256, clean.Flows.Bytes)
	require.Nil(t, clean.PFC.Xoff, "Soft-RoCE knows no pauses: not measured is not 0")
	require.Nil(t, clean.CNP.Sent)
	require.NoError(t, page.Write(filepath.Join(share, "run-clean")), "the report is drawn from the run directory alone")
	require.Contains(t, read("doctor.out"), "an RDMA message comes back in")
	require.Contains(t, read("ping.out"), "p99.9")
	require.Contains(t, read("pingud.out"), "p99.9")

	loss, err := metric.Load(filepath.Join(share, "run-loss"))
	require.NoError(t, err)
	require.EqualValues(t, 30, loss.Flows.Completed)
	require.Len(t, loss.Faults, 1)
	require.Positive(t, loss.Faults[0].Packets, "what the queue counted as dropped")
	blocked, err := metric.Load(filepath.Join(share, "run-blocked"))
	require.NoError(t, err)
	require.Equal(t, 1, blocked.Completions["retry_exceeded"])

	checkOperations(t, share, read)
	checkPauses(t, share, read)
	if !testing.Short() {
		checkKills(t, share, read)
	}
	checkBridge(t, share, read("bridge-INT.out"))
	require.Equal(t, read("before.txt"), read("after.txt"), "a run has left something behind")
	require.Equal(t, read("before.txt"), read("killed.txt"), "a killed run has left something behind")
	require.Contains(t, read("during.txt"), "netem", "the run that was killed had faults in place")
	require.Contains(t, read("dry.out"), "tc qdisc add dev roce0 root")
	if dir := os.Getenv("RDMASIM_GUEST_OUT"); dir != "" {
		require.NoError(t, os.CopyFS(dir, os.DirFS(share)))
	}
}

// checkBridge looks at what a bridge between the devices has done.
func checkBridge(t *testing.T, share, out string) {
	m := regexp.MustCompile(`fault loss: .*: (\d+) of (\d+) packets that passed it, (\d+) of them dropped`).FindStringSubmatch(out)
	require.NotNil(t, m, out)
	require.NotEqual(t, "0", m[1])
	c := regexp.MustCompile(`NICs not: (\d+) packets/s, (\d+) packets/s through netem`).FindStringSubmatch(out)
	require.NotNil(t, c, out)
	for _, pps := range c[1:] {
		require.Greater(t, len(pps), 2, "a ceiling of %s packets/s", pps)
	}
	require.Contains(t, out, "PFC does not cross this bridge")
	run, err := trace.Open(filepath.Join(share, "run-bridge"))
	require.NoError(t, err)
	list, err := run.Counters()
	require.NoError(t, err)
	seen := 0.0
	for _, k := range list {
		if k.Name == trace.CountOutOfSequence || k.Name == "completer_retry_err" {
			seen += k.Value
		}
	}
	require.Positive(t, seen, "the devices have noticed what the bridge dropped")
}

// checkOperations looks at the runs of operations, services and losses.
func checkOperations(t *testing.T, share string, read func(string) string) {
	load := func(name string) (*trace.Run, map[string]float64) {
		run, err := trace.Open(filepath.Join(share, name))
		require.NoError(t, err)
		list, err := run.Counters()
		require.NoError(t, err)
		sum := map[string]float64{}
		for _, c := range list {
			sum[c.Name] += c.Value
		}
		checks, err := run.Checks()
		require.NoError(t, err)
		for _, c := range checks {
			if c.Subject != "fault/loss" { // a matter of luck, now and then
				require.True(t, c.OK, "%s: %+v", name, c)
			}
		}
		return run, sum
	}
	run, sum := load("run-verbs")
	verbs := map[string]int{}
	for f, err := range run.Flows() {
		require.NoError(t, err)
		require.Equal(t, trace.StatusSuccess, f.Status)
		verbs[f.Verb]++
	}
	require.Equal(t, map[string]int{"WRITE": 80, "SEND": 80, "READ": 20, "FETCH_ADD": 20, "CMP_SWAP": 20}, verbs)
	require.EqualValues(t, 40, sum["unreliable_messages_sent"], "UC and UD")
	require.EqualValues(t, 40, sum["unreliable_messages_arrived"])
	_, sum = load("run-rnr")
	require.Positive(t, sum["send_rnr_err"], "the receiver was not ready")
	for _, name := range []string{"run-loss1", "run-loss10"} {
		_, sum = load(name)
		require.Positive(t, sum[trace.CountFaultPackets])
		require.Positive(t, sum["completer_retry_err"]+sum[trace.CountOutOfSequence])
		require.LessOrEqual(t, sum[trace.CountOutOfSequence], sum[trace.CountFaultPackets], "a gap needs a lost packet")
	}
	_, sum = load("run-datagrams")
	require.EqualValues(t, sum[trace.CountFaultPackets], sum["unreliable_messages_sent"]-sum["unreliable_messages_arrived"], "what the rule dropped is what did not arrive")
	load("run-loss100")
	_, sum = load("run-agents-loss10")
	require.Positive(t, sum[trace.CountFaultPackets])
	require.Regexp(t, `(?m)^note +agrees: the clock of b is known within`, read("agents-loss10.out"))
	require.Contains(t, read("loss100.out"), "timeout 14 and retry_cnt 3 predict 4 timers of 67.1ms to 268.4ms: 268.4ms to 1.0737s")
	require.Regexp(t, `ns/poll.*ns/post`, read("bench.out"))
	require.Contains(t, read("same.out"), "would be looped back inside it")
	if !testing.Short() {
		run, _ = load("run-agents-three")
		senders := map[string]int{}
		for f, err := range run.Flows() {
			require.NoError(t, err)
			senders[f.Src+" "+f.Verb]++
		}
		require.Equal(t, map[string]int{"h1 WRITE": 20, "h2 WRITE": 20, "h1 SEND": 2, "h2 SEND": 2}, senders, "N:1 over agents")
		require.Regexp(t, `(?m)^(pass|warning): rxe0 and rxe1`, read("acceptance.out"))
		require.NotContains(t, read("acceptance.out"), "FAIL")
		require.Contains(t, read("acceptance/index.html"), "latency without load")
	}
	require.NoFileExists(t, filepath.Join(share, "run-same", "manifest.json"), "refused before anything is written")
}
