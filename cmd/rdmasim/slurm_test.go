//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slurmPackages are those of Debian that have slurmctld, slurmd, sbatch and munged.
var slurmPackages = []string{"slurmctld", "slurmd", "slurm-client", "munge"}

const slurmPlan = `scenario: incast-8to1
set: {duration: 40ms, expect: []}
vary:
  switch.ecn.3.kmin: [50KB, 100KB, 200KB, 300KB]
seeds: 10
metrics: [flows.slowdown, pfc.paused_s, goodput_bps.total]
`

// slurmPlan has so many runs, in so many shards.
const slurmRuns, slurmShards = 40, 4

// TestSlurm submits the array job of `sweep emit slurm` to a Slurm of two nodes
// on this machine, kills one node while its task runs, and compares the table
// with that of one process. `make test-slurm` runs it.
func TestSlurm(t *testing.T) {
	if os.Getenv("RDMASIM_TEST_SLURM") == "" {
		t.Skip("make test-slurm runs it: it installs Slurm and munge from Debian's packages")
	}
	installSlurm(t)
	c := startSlurm(t)
	program := filepath.Join(c.dir, "rdmasim")
	run(t, "go", "build", "-o", program, "rdmasim/cmd/rdmasim")
	plan := filepath.Join(c.dir, "plan.yaml")
	require.NoError(t, os.WriteFile(plan, []byte(slurmPlan), 0o644))

	alone := filepath.Join(c.dir, "alone")
	run(t, program, "sweep", plan, "--out", alone, "--quiet")
	want, err := os.ReadFile(filepath.Join(alone, "results.parquet"))
	require.NoError(t, err)

	out := filepath.Join(c.dir, "slurm")
	job := run(t, program, "sweep", "emit", "slurm", plan, "--out", out, "--shards", strconv.Itoa(slurmShards), "--program", program)
	script := filepath.Join(c.dir, "job.sh")
	require.NoError(t, os.WriteFile(script, []byte(job), 0o755))
	id := strings.TrimSpace(c.command(t, "sbatch", "--parsable", script))
	t.Logf("job %s:\n%s", id, job)

	shard, before := c.killNode(t, "nb", out)
	t.Logf("node nb killed with shard %s, which had %d of %d results", shard, before, slurmRuns/slurmShards)
	c.await(t, 90*time.Second, "the task of the dead node to be put into the queue again", func() (string, bool) {
		info := c.command(t, "scontrol", "-o", "show", "job", id)
		return info, strings.Contains(info, "Restarts=1")
	})
	t.Log("the task was requeued:\n" + c.command(t, "squeue", "--array", "--format=%i %T %r %N"))
	c.startNode(t, "nb")
	c.await(t, 3*time.Minute, "all tasks to end", func() (string, bool) {
		for _, line := range strings.Split(c.command(t, "scontrol", "-o", "show", "job", id), "\n") {
			if strings.Contains(line, "JobState=PENDING") && strings.Contains(line, "Restarts=1") {
				for _, field := range strings.Fields(line) {
					if job, ok := strings.CutPrefix(field, "JobId="); ok {
						_ = c.try("scontrol", "update", "JobId="+job, "StartTime=now") // Slurm would wait two minutes
					}
				}
			}
		}
		state := c.command(t, "squeue", "--noheader", "--array", "--format=%i %T %r %N")
		return state, strings.TrimSpace(state) == ""
	})
	logs, err := filepath.Glob(filepath.Join(out, "shard-*.jsonl"))
	require.NoError(t, err)
	t.Logf("%d logs of 4 shards: %v", len(logs), logs)
	assert.Equal(t, slurmRuns/slurmShards, countResults(out, shard), "what shard %s had was not run again", shard)
	assert.FileExists(t, filepath.Join(out, "shard-"+shard+"-of-4-2.jsonl"), "it was killed and went on")
	got, err := os.ReadFile(filepath.Join(out, "results.parquet"))
	require.NoError(t, err, "the last task writes the table")
	assert.Equal(t, want, got, "one process and Slurm with a kill")
	merged := filepath.Join(c.dir, "merged.parquet")
	t.Log(run(t, program, "sweep", "merge", out, "--out", merged))
	got, err = os.ReadFile(merged)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// run runs a program and returns what it prints.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), "%s %v\n%s%s", name, args, &out, &errs)
	return out.String()
}

// installSlurm installs what is missing, or skips with the reason.
func installSlurm(t *testing.T) {
	have := true
	for _, name := range []string{"slurmctld", "slurmd", "sbatch", "munged"} {
		if _, err := exec.LookPath(name); err != nil {
			have = false
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("slurmd runs the jobs of users and has to be root")
	}
	if have {
		return
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		t.Skip("Slurm is not installed, and there is no apt-get to install it")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	for _, args := range [][]string{{"update", "-q"}, append([]string{"install", "-q", "-y", "--no-install-recommends"}, slurmPackages...)} {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil && args[0] == "install" {
			t.Skipf("apt-get %v: %v\n%s", args, err, out)
		}
	}
}

// slurm is a Slurm of two nodes on this machine, with everything that it writes
// in one directory.
type slurm struct {
	dir, conf string
	nodes     map[string]*exec.Cmd
}

// startSlurm starts munged, slurmctld and two slurmd.
func startSlurm(t *testing.T) *slurm {
	host, err := os.Hostname()
	require.NoError(t, err)
	host, _, _ = strings.Cut(host, ".")
	c := &slurm{dir: t.TempDir(), nodes: map[string]*exec.Cmd{}}
	require.NoError(t, os.Chmod(c.dir, 0o755))
	c.conf = filepath.Join(c.dir, "slurm.conf")
	for _, d := range []string{"state", "spool-na", "spool-nb"} {
		require.NoError(t, os.Mkdir(filepath.Join(c.dir, d), 0o755))
	}
	key := filepath.Join(c.dir, "munge.key")
	require.NoError(t, os.WriteFile(key, bytes.Repeat([]byte("a key for one test, on one machine "), 30)[:1024], 0o400))
	socket := filepath.Join(c.dir, "munge.sock")
	conf := strings.NewReplacer("DIR", c.dir, "HOST", host, "SOCKET", socket, "PORT1", freePort(t), "PORT2", freePort(t), "PORT3", freePort(t)).Replace(`ClusterName=test
SlurmctldHost=HOST(127.0.0.1)
SlurmctldPort=PORT1
AuthType=auth/munge
AuthInfo=socket=SOCKET
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool-%n
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/slurmd-%n.pid
SlurmctldLogFile=DIR/slurmctld.log
SlurmdLogFile=DIR/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
SlurmdTimeout=5
KillWait=1
JobRequeue=1
ReturnToService=2
NodeName=na NodeHostname=HOST NodeAddr=127.0.0.1 Port=PORT2 CPUs=1 RealMemory=256
NodeName=nb NodeHostname=HOST NodeAddr=127.0.0.1 Port=PORT3 CPUs=1 RealMemory=256
PartitionName=main Nodes=na,nb Default=YES MaxTime=INFINITE State=UP
`)
	require.NoError(t, os.WriteFile(c.conf, []byte(conf), 0o644))
	c.daemon(t, "munged", "--foreground", "--force", "--key-file="+key, "--socket="+socket, "--pid-file="+c.dir+"/munged.pid", "--log-file="+c.dir+"/munged.log", "--seed-file="+c.dir+"/munged.seed")
	c.await(t, 20*time.Second, "munged", func() (string, bool) {
		_, err := os.Stat(socket)
		return "no socket", err == nil
	})
	c.daemon(t, "slurmctld", "-D", "-f", c.conf)
	c.startNode(t, "na")
	c.startNode(t, "nb")
	c.await(t, time.Minute, "two idle nodes", func() (string, bool) {
		out := c.try("sinfo", "--noheader", "--Node", "--format=%N %T")
		return out, strings.Count(out, " idle\n") == 2
	})
	return c
}

// freePort returns a TCP port that nobody listens on.
func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// daemon starts a program that ends with the test.
func (c *slurm) daemon(t *testing.T, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.conf)
	log, err := os.OpenFile(filepath.Join(c.dir, filepath.Base(name)+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
		if t.Failed() {
			if text, err := os.ReadFile(log.Name()); err == nil {
				t.Logf("%s:\n%s", log.Name(), text[max(len(text)-3000, 0):])
			}
		}
	})
	return cmd
}

// startNode starts the slurmd of a node.
func (c *slurm) startNode(t *testing.T, node string) {
	c.nodes[node] = c.daemon(t, "slurmd", "-D", "-N", node, "-f", c.conf)
}

// killNode kills a node when some, but not all, results of a task on it are
// there: its slurmd, the step and the task, all at once and without a word. It
// returns the shard of the task and how many results it had.
func (c *slurm) killNode(t *testing.T, node, out string) (shard string, results int) {
	var pid int
	c.await(t, 2*time.Minute, "a task on "+node+" to have results", func() (string, bool) {
		pid, shard = c.task(node)
		results = countResults(out, shard)
		return fmt.Sprintf("process %d, shard %s: %d results", pid, shard, results), pid > 0 && results >= 2 && results < slurmRuns/slurmShards-1
	})
	_ = c.nodes[node].Process.Kill()
	if parent := parentOf(pid); strings.HasPrefix(commandOf(parent), "slurmstepd") {
		_ = syscall.Kill(parent, syscall.SIGKILL)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	return shard, countResults(out, shard)
}

// countResults counts the records in the logs of a shard.
func countResults(out, shard string) (n int) {
	logs, _ := filepath.Glob(filepath.Join(out, "shard-"+shard+"-of-*.jsonl"))
	for _, name := range logs {
		text, _ := os.ReadFile(name)
		n += max(bytes.Count(text, []byte("\n"))-1, 0)
	}
	return n
}

// task returns the process of our program that Slurm runs on a node, and the
// number of its task.
func (c *slurm) task(node string) (pid int, number string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || !strings.HasPrefix(commandOf(pid), c.dir+"/rdmasim") {
			continue
		}
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(env, []byte("SLURMD_NODENAME="+node+"\x00")) {
			continue
		}
		for _, e := range strings.Split(string(env), "\x00") {
			if n, ok := strings.CutPrefix(e, "SLURM_ARRAY_TASK_ID="); ok {
				return pid, n
			}
		}
	}
	return 0, ""
}

func commandOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(text)
}

func parentOf(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if i := bytes.LastIndexByte(text, ')'); i >= 0 { // the name may have blanks
		if f := bytes.Fields(text[i+1:]); len(f) > 1 {
			parent, _ := strconv.Atoi(string(f[1]))
			return parent
		}
	}
	return 0
}

// command runs a command of Slurm.
func (c *slurm) command(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = append(os.Environ(), "SLURM_CONF="+c.conf), c.dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %v\n%s", name, args, out)
	return string(out)
}

// try is command where a failure is an answer.
func (c *slurm) try(name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = append(os.Environ(), "SLURM_CONF="+c.conf), c.dir
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// await asks until something is so.
func (c *slurm) await(t *testing.T, limit time.Duration, what string, ask func() (string, bool)) {
	t.Helper()
	last := ""
	for start := time.Now(); time.Since(start) < limit; time.Sleep(200 * time.Millisecond) {
		var ok bool
		if last, ok = ask(); ok {
			return
		}
	}
	require.Fail(t, "waited "+limit.String()+" for "+what, "%s\n%s", last, c.try("sinfo", "-N", "-l"))
}
