package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"rdmasim/scenarios/sweep"
)

// emitFlags are the flags of `rdmasim sweep emit`.
type emitFlags struct {
	out, program     string
	shards, jobs     int
	image, claim     string
	namespace, limit string
}

const sweepEmitLong = `Write what starts the shards of a sweep elsewhere.

  slurm     an array job for sbatch. Each task is a shard; a task that is killed
            or requeued goes on where it ended.
  k8s       a ConfigMap with plan and scenario and an Indexed Job for kubectl.
  parallel  a line for GNU parallel.

The shards share the directory --out, which all machines must see under the same
name; the one that completes it writes the table. Where there is no such place,
give each machine a directory of its own and use 'rdmasim sweep merge'.`

func newSweepEmit(a *app) *cobra.Command {
	f := &emitFlags{}
	cmd := &cobra.Command{
		Use:   "emit slurm|k8s|parallel PLAN",
		Short: "Write a Slurm array job, a Kubernetes Job or a line for GNU parallel",
		Long:  sweepEmitLong,
		Example: `  rdmasim sweep emit slurm plan.yaml --out /shared/ecn --shards 64 | sbatch
  rdmasim sweep emit k8s plan.yaml --shards 64 --image registry/rdmasim --claim sweeps | kubectl apply -f -`,
		Args: exactArgs("slurm|k8s|parallel", "PLAN"),
		RunE: func(_ *cobra.Command, args []string) error { return a.sweepEmit(args[0], args[1], f) },
	}
	cmd.Flags().StringVar(&f.out, "out", "", "directory `DIR` of the sweep, shared by all shards (default sweeps/NAME)")
	cmd.Flags().IntVar(&f.shards, "shards", 0, "`N` shards (default one per 16 runs, at most 256)")
	cmd.Flags().IntVar(&f.jobs, "jobs", 1, "`N` runs at a time in each shard, and the cores that it asks for")
	cmd.Flags().StringVar(&f.program, "program", "rdmasim", "`PATH` of the program on the machines")
	cmd.Flags().StringVar(&f.limit, "time", "", "slurm: `LIMIT` of a task, as sbatch takes it")
	cmd.Flags().StringVar(&f.image, "image", "", "k8s: container `IMAGE` that has the program")
	cmd.Flags().StringVar(&f.claim, "claim", "", "k8s: `NAME` of the PersistentVolumeClaim that holds --out, ReadWriteMany")
	cmd.Flags().StringVar(&f.namespace, "namespace", "default", "k8s: `NAME` of the namespace")
	return cmd
}

// emission is what the formats need to know.
type emission struct {
	*emitFlags
	name   string // of the plan, safe for job names
	plan   string // its path
	text   []byte // of it
	source *sweep.Source
	units  int
}

// runsPerShard is the default size of a shard: large enough to be worth a start.
const runsPerShard = 16

// sweepEmit is `rdmasim sweep emit`.
func (a *app) sweepEmit(format, file string, f *emitFlags) error {
	writers := map[string]func(*emission) (string, error){"slurm": emitSlurm, "k8s": emitK8s, "parallel": emitParallel}
	write, ok := writers[format]
	if !ok {
		return inputError(unknown("format", format, []string{"slurm", "k8s", "parallel"}))
	}
	e, err := newEmission(file, f)
	if err != nil {
		return inputError(err)
	}
	text, err := write(e)
	if err != nil {
		return inputError(err)
	}
	_, err = fmt.Fprint(a.stdout, text)
	return err
}

func newEmission(file string, f *emitFlags) (*emission, error) {
	plan, err := sweep.ReadPlan(file)
	if err != nil {
		return nil, err
	}
	src, err := plan.Open()
	if err != nil {
		return nil, err
	}
	if err := plan.Try(src); err != nil {
		return nil, err
	}
	e := &emission{emitFlags: f, name: jobName(planName(file)), units: len(plan.Units()), text: plan.Text(), source: src}
	if f.shards == 0 {
		f.shards = min(max(e.units/runsPerShard, 1), 256)
	}
	if f.shards < 1 || f.shards > mostShards {
		return nil, fmt.Errorf("--shards %d: want 1 to %d", f.shards, mostShards)
	}
	f.shards = min(f.shards, e.units)
	if f.jobs < 1 || f.jobs > maxWorkers {
		return nil, fmt.Errorf("--jobs %d: want 1 to %d", f.jobs, maxWorkers)
	}
	for flag, text := range map[string]string{"--out": f.out, "--program": f.program, "--time": f.limit, "--image": f.image, "--claim": f.claim, "--namespace": f.namespace, "PLAN": file} {
		if strings.ContainsAny(text, "\n\r\x00") {
			return nil, fmt.Errorf("%s %q: a line end cannot be part of it", flag, text)
		}
	}
	if e.plan, err = filepath.Abs(file); err != nil {
		return nil, err
	}
	return e, nil
}

// jobName keeps of a name what job names everywhere may have.
func jobName(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	safe = strings.Trim(safe[:min(len(safe), 40)], "-")
	if safe == "" {
		return "sweep"
	}
	return safe
}

// shellQuote returns a word as a POSIX shell takes it.
func shellQuote(s string) string {
	plain := s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:=,+@%", r))
	}) < 0
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// directory is where the shards work.
func (e *emission) directory() (string, error) {
	if e.out == "" {
		return filepath.Abs(filepath.Join("sweeps", e.name))
	}
	return filepath.Abs(e.out)
}

// emitSlurm writes an array job. --requeue and --open-mode=append make a task
// that lost its node go on: what it has logged stays, --resume runs the rest.
func emitSlurm(e *emission) (string, error) {
	out, err := e.directory()
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(out, " \t'\"\\%#") {
		return "", fmt.Errorf("--out %s: blanks, quotes, %% and # cannot be in the name of a directory of Slurm's output", out)
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("#!/bin/sh")
	line("#SBATCH --job-name=%s", e.name)
	line("#SBATCH --array=1-%d", e.shards)
	line("#SBATCH --ntasks=1")
	line("#SBATCH --cpus-per-task=%d", e.jobs)
	line("#SBATCH --requeue")
	line("#SBATCH --open-mode=append")
	line("#SBATCH --output=%s.slurm-%%a.log", out)
	if e.limit != "" {
		line("#SBATCH --time=%s", e.limit)
	}
	line("# %d runs in %d shards. A task that is killed or requeued goes on where it ended;", e.units, e.shards)
	line("# the one that completes %s writes the table there.", out)
	line("exec %s sweep %s --out %s --shard \"$SLURM_ARRAY_TASK_ID/%d\" --jobs %d --resume", shellQuote(e.program), shellQuote(e.plan), shellQuote(out), e.shards, e.jobs)
	return b.String(), nil
}

// emitParallel writes a line for GNU parallel.
func emitParallel(e *emission) (string, error) {
	out, err := e.directory()
	if err != nil {
		return "", err
	}
	command := fmt.Sprintf("%s sweep %s --out %s --shard {}/%d --jobs %d --resume", shellQuote(e.program), shellQuote(e.plan), shellQuote(out), e.shards, e.jobs)
	return fmt.Sprintf("parallel --retries 3 %s ::: $(seq %d)\n", shellQuote(command), e.shards), nil
}
