package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// asProgram makes this binary of tests the program itself.
const asProgram = "RDMASIM_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(execute(context.Background(), newApp(os.Stdout, os.Stderr), os.Args[1:]))
	}
	os.Exit(m.Run())
}

type object = map[string]any

// keysOf fails on a field that the API does not have: kubectl validates strictly.
func keysOf(t *testing.T, where string, o any, allowed ...string) object {
	t.Helper()
	m, ok := o.(object)
	require.True(t, ok, "%s: want an object, got %T", where, o)
	for k := range m {
		require.Contains(t, allowed, k, "%s.%s: unknown field", where, k)
	}
	return m
}

var (
	labelName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	configKey = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)
)

// checkJob holds a Job and its ConfigMap against the API batch/v1 and v1 as
// published: the fields that we use, what each takes, and how they depend on each
// other. Source: Kubernetes API reference, JobSpec, PodFailurePolicy, PodSpec,
// ConfigMapVolumeSource, and the page "Jobs", of release 1.33.
func checkJob(t *testing.T, config, job object) {
	t.Helper()
	keysOf(t, "configmap", config, "apiVersion", "kind", "metadata", "data")
	assert.Equal(t, "v1", config["apiVersion"])
	assert.Equal(t, "ConfigMap", config["kind"])
	total := 0
	for k, v := range keysOf(t, "data", config["data"], "plan", "scenario") {
		assert.Regexp(t, configKey, k)
		total += len(v.(string))
	}
	assert.LessOrEqual(t, total, 1<<20)
	keysOf(t, "job", job, "apiVersion", "kind", "metadata", "spec")
	assert.Equal(t, "batch/v1", job["apiVersion"])
	assert.Equal(t, "Job", job["kind"])
	meta := keysOf(t, "metadata", job["metadata"], "name", "namespace")
	assert.Regexp(t, labelName, meta["namespace"])
	assert.Equal(t, meta["namespace"], keysOf(t, "metadata", config["metadata"], "name", "namespace")["namespace"])
	spec := keysOf(t, "spec", job["spec"], "completions", "parallelism", "completionMode", "backoffLimitPerIndex", "podFailurePolicy", "template")
	completions, parallelism := spec["completions"].(int), spec["parallelism"].(int)
	assert.Equal(t, "Indexed", spec["completionMode"])
	assert.True(t, completions >= 1 && completions <= 100_000, "with backoffLimitPerIndex at most 10^5")
	assert.True(t, parallelism >= 1 && parallelism <= 100_000)
	assert.GreaterOrEqual(t, spec["backoffLimitPerIndex"], 0)
	// The host name of a pod is NAME-INDEX, one label.
	assert.Regexp(t, labelName, fmt.Sprintf("%s-%d", meta["name"], completions-1))
	rules := keysOf(t, "podFailurePolicy", spec["podFailurePolicy"], "rules")["rules"].([]any)
	assert.LessOrEqual(t, len(rules), 20)
	for _, x := range rules {
		rule := keysOf(t, "rule", x, "action", "onExitCodes")
		assert.Contains(t, []any{"FailIndex", "FailJob", "Ignore", "Count"}, rule["action"])
		codes := keysOf(t, "onExitCodes", rule["onExitCodes"], "operator", "values", "containerName")
		assert.Equal(t, "In", codes["operator"])
		for _, v := range codes["values"].([]any) {
			assert.NotZero(t, v, "In does not take 0")
		}
	}
	checkPod(t, config, keysOf(t, "template", spec["template"], "spec", "metadata")["spec"])
}

func checkPod(t *testing.T, config object, o any) {
	pod := keysOf(t, "pod", o, "restartPolicy", "containers", "volumes")
	assert.Equal(t, "Never", pod["restartPolicy"], "backoffLimitPerIndex and podFailurePolicy need it")
	names := map[any]bool{}
	for _, x := range pod["volumes"].([]any) {
		v := keysOf(t, "volume", x, "name", "configMap", "persistentVolumeClaim")
		assert.Regexp(t, labelName, v["name"])
		names[v["name"]] = true
		if v["configMap"] == nil {
			assert.NotEmpty(t, keysOf(t, "claim", v["persistentVolumeClaim"], "claimName", "readOnly")["claimName"])
			continue
		}
		source := keysOf(t, "configMap", v["configMap"], "name", "items")
		assert.Equal(t, config["metadata"].(object)["name"], source["name"])
		for _, item := range source["items"].([]any) {
			i := keysOf(t, "item", item, "key", "path", "mode")
			assert.Contains(t, config["data"], i["key"])
			assert.True(t, filepath.IsLocal(i["path"].(string)), "a relative path without ..")
		}
	}
	for _, x := range pod["containers"].([]any) {
		c := keysOf(t, "container", x, "name", "image", "command", "resources", "volumeMounts")
		assert.Regexp(t, labelName, c["name"])
		assert.NotEmpty(t, c["image"])
		for _, word := range c["command"].([]any) {
			assert.IsType(t, "", word)
			assert.NotRegexp(t, `\$\(\w+\)`, word, "Kubernetes replaces $(NAME) before the shell sees it")
		}
		for _, m := range c["volumeMounts"].([]any) {
			mount := keysOf(t, "mount", m, "name", "mountPath", "readOnly")
			assert.True(t, names[mount["name"]], "volume %v", mount["name"])
			assert.True(t, filepath.IsAbs(mount["mountPath"].(string)))
		}
	}
}

func decodeJob(t *testing.T, text string) (config, job object) {
	t.Helper()
	dec := yaml.NewDecoder(strings.NewReader(text))
	require.NoError(t, dec.Decode(&config))
	require.NoError(t, dec.Decode(&job))
	return config, job
}

func TestK8sKeepsToTheAPI(t *testing.T) {
	run := sweepSession(t)
	long := strings.Repeat("long-name-", 9) + ".yaml"
	require.NoError(t, os.WriteFile(filepath.Join("plans", long), []byte(testPlan), 0o644))
	for _, args := range [][]string{
		{"plans/p.yaml", "--image", "i", "--claim", "c"},
		{"plans/p.yaml", "--image", "registry:5000/r@sha256:1", "--claim", "my.claim", "--namespace", "lab", "--jobs", "4", "--shards", "6"},
		{"plans/" + long, "--image", "i", "--claim", "c", "--shards", "6", "--out", "deep/er"},
	} {
		code, out, errs := run(append([]string{"emit", "k8s"}, args...)...)
		require.Equal(t, exitOK, code, errs)
		config, job := decodeJob(t, out)
		checkJob(t, config, job)
	}
	for flag, value := range map[string]string{"--namespace": "Lab", "--claim": "a_b", "--image": "a b"} {
		code, out, errs := run("emit", "k8s", "plans/p.yaml", "--image", "i", "--claim", "c", flag, value)
		assert.Equal(t, exitInput, code, flag)
		assert.Empty(t, out)
		assert.Contains(t, errs, flag+" "+value)
	}
}

// tableOfOne returns the table that one process makes of the plan.
func tableOfOne(t *testing.T, run func(args ...string) (code int, out, errs string)) []byte {
	t.Helper()
	code, _, errs := run("plans/p.yaml", "--out", "alone", "--quiet")
	require.Equal(t, exitOK, code, errs)
	want, err := os.ReadFile("alone/results.parquet")
	require.NoError(t, err)
	return want
}

// What the pods would run, run here index by index in a random order, one of them
// twice, makes the table of one process.
func TestK8sPodsMakeTheSameTable(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	run := sweepSession(t)
	want := tableOfOne(t, run)

	self, err := os.Executable()
	require.NoError(t, err)
	_, out, _ := run("emit", "k8s", "plans/p.yaml", "--image", "i", "--claim", "c", "--shards", "4", "--program", self)
	config, job := decodeJob(t, out)
	pod := job["spec"].(object)["template"].(object)["spec"].(object)
	root := t.TempDir()
	for _, item := range pod["volumes"].([]any)[0].(object)["configMap"].(object)["items"].([]any) {
		file := filepath.Join(root, "plan", item.(object)["path"].(string))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(config["data"].(object)[item.(object)["key"].(string)].(string)), 0o444))
	}
	require.NoError(t, os.Mkdir(filepath.Join(root, "sweeps"), 0o755))
	command := pod["containers"].([]any)[0].(object)["command"].([]any)
	script := strings.NewReplacer(" "+podPlan+"/", " "+root+"/plan/", " "+podOut+"/", " "+root+"/sweeps/").Replace(command[2].(string))
	order := append(rand.New(rand.NewPCG(1, 1)).Perm(4), 2)
	for _, index := range order {
		cmd := exec.Command(command[0].(string), command[1].(string), script)
		cmd.Env = append(os.Environ(), asProgram+"=1", fmt.Sprintf("JOB_COMPLETION_INDEX=%d", index))
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", script, text)
	}
	got, err := os.ReadFile(filepath.Join(root, "sweeps", "p", "results.parquet"))
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// The line for GNU parallel, run by GNU parallel, makes the table of one process.
func TestParallelMakesTheSameTable(t *testing.T) {
	installParallel(t)
	run := sweepSession(t)
	want := tableOfOne(t, run)
	self, err := os.Executable()
	require.NoError(t, err)
	code, line, errs := run("emit", "parallel", "plans/p.yaml", "--out", "it's here", "--shards", "3", "--program", self)
	require.Equal(t, exitOK, code, errs)
	cmd := exec.Command("sh", "-c", strings.Replace(line, "parallel ", "parallel --will-cite -j 2 ", 1))
	cmd.Env = append(os.Environ(), asProgram+"=1", "HOME="+t.TempDir())
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", line, text)
	got, err := os.ReadFile("it's here/results.parquet")
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// installParallel installs GNU parallel where that can be done, or skips.
func installParallel(t *testing.T) {
	gnu := func() bool {
		out, err := exec.Command("parallel", "--version").Output()
		return err == nil && bytes.HasPrefix(out, []byte("GNU parallel"))
	}
	if gnu() {
		return
	}
	if testing.Short() && os.Getenv("CI") == "" {
		t.Skip("GNU parallel is not installed: the long tests install it")
	}
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		t.Skip("GNU parallel is not installed, and there is no root with apt-get to install it")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var last []byte
	for _, args := range [][]string{{"update", "-q"}, {"install", "-q", "-y", "--no-install-recommends", "parallel"}} {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		last, _ = cmd.CombinedOutput()
	}
	if !gnu() {
		t.Skipf("apt-get could not install GNU parallel:\n%s", last[max(len(last)-500, 0):])
	}
}
