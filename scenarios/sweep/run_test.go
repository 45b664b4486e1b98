package sweep

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const smallPlan = `
scenario: small
set: {duration: 30us}
vary:
  switch.ecn.3.kmin: [50KB, 100KB, 500KB]
  "switch.buffer.size, switch.buffer.alpha": [[1MB, 1/8], [2MB, 1]]
seeds: 3
metrics: [goodput_bps, pfc.xoff, queue_bytes.max, icrc, "p99(flows.slowdown)"]
`

// sweepTo runs a shard of the plan into a directory.
func sweepTo(t *testing.T, out string, shard, shards int, change func(r *Run)) (*Summary, error) {
	r := &Run{Plan: plan(t, smallPlan), Source: source(), Out: out, Shard: shard, Shards: shards, Version: "v1"}
	if change != nil {
		change(r)
	}
	require.NoError(t, r.Check())
	return r.Do(context.Background())
}

func read(t *testing.T, path string) string {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// The same plan as one shard, as eight in random order that end up in two
// directories, and with kills gives one table, byte by byte.
func TestShardsGiveOneTable(t *testing.T) {
	root := t.TempDir()
	whole := filepath.Join(root, "whole")
	s, err := sweepTo(t, whole, 0, 0, nil)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(whole, FileResults), s.Results)
	assert.Equal(t, 18, s.Done)
	assert.Equal(t, 6, s.Invalid, "kmin above kmax")
	want := read(t, s.Results)

	t.Run("eight shards", func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		dirs := []string{filepath.Join(root, "a"), filepath.Join(root, "b")}
		for k, i := range r.Perm(8) {
			_, err := sweepTo(t, dirs[k%2], i+1, 8, func(r *Run) { r.Jobs = 1 + k%3 })
			require.NoError(t, err)
		}
		part, err := Merge(dirs[:1])
		require.NoError(t, err)
		assert.NotEmpty(t, part.Missing)
		for _, order := range [][]string{dirs, {dirs[1], dirs[0]}, {dirs[1], dirs[0], dirs[1], whole}} {
			m, err := Merge(order)
			require.NoError(t, err)
			assert.Empty(t, m.Missing)
			out, err := m.Write(t.TempDir())
			require.NoError(t, err)
			assert.Equal(t, want, read(t, out))
		}
	})
	t.Run("a log cut anywhere", func(t *testing.T) {
		log := read(t, filepath.Join(whole, "shard-1-of-1-1.jsonl"))
		for _, cut := range []int{0, 5, strings.Index(log, "\n"), strings.Index(log, "\n") + 1, len(log) / 2, len(log) - 1} {
			dir := filepath.Join(root, fmt.Sprint("cut", cut))
			require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
			require.NoError(t, os.Remove(filepath.Join(dir, FileResults)))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "shard-1-of-1-1.jsonl"), []byte(log[:cut]), 0o644))
			s, err := sweepTo(t, dir, 0, 0, func(r *Run) { r.Resume = true })
			require.NoError(t, err)
			assert.Equal(t, 18, s.Done+s.Before, "cut at %d", cut)
			assert.Positive(t, s.Done)
			assert.Equal(t, want, read(t, s.Results))
		}
	})
	t.Run("interrupted and resumed as other shards", func(t *testing.T) {
		dir := filepath.Join(root, "stopped")
		ctx, cancel := context.WithCancel(context.Background())
		r := &Run{Plan: plan(t, smallPlan), Source: source(), Out: dir, Version: "v1", Jobs: 2}
		r.Progress = func(p Progress) {
			if p.Done == 5 {
				cancel()
			}
		}
		require.NoError(t, r.Check())
		s, err := r.Do(ctx)
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 5, s.Done)
		assert.NoFileExists(t, filepath.Join(dir, FileResults))
		for i := 1; i <= 4; i++ {
			s, err = sweepTo(t, dir, i, 4, func(r *Run) { r.Resume = true })
			require.NoError(t, err)
		}
		assert.Zero(t, s.Missing)
		assert.Equal(t, want, read(t, filepath.Join(dir, FileResults)), "the last shard makes the table")
	})
}

// The table says what it should of every run.
func TestFrameOfResults(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	_, err := sweepTo(t, dir, 0, 0, nil)
	require.NoError(t, err)
	m, err := Merge([]string{dir})
	require.NoError(t, err)
	frame := m.Frame()
	column := map[string]int{}
	var names []string
	for i, c := range frame {
		column[c.Name] = i
		names = append(names, c.Name)
	}
	assert.Equal(t, []string{"unit", "point", "seed", "status", "error", "fingerprint", "failed", "switch.ecn.3.kmin", "switch.buffer.size", "switch.buffer.alpha",
		"goodput_bps.total", "goodput_bps.min", "goodput_bps.max", "goodput_bps.jain", "pfc.xoff", "queue_bytes.max", "icrc.valid", "icrc.invalid", "p99(flows.slowdown)"}, names)
	for i, u := range m.Units {
		kmin := []float64{50e3, 100e3, 500e3}[u.Point/2]
		assert.Equal(t, kmin, frame[column["switch.ecn.3.kmin"]].Floats[i])
		assert.Equal(t, []float64{0.125, 1}[u.Point%2], frame[column["switch.buffer.alpha"]].Floats[i])
		assert.EqualValues(t, i%3+1, frame[column["seed"]].Ints[i])
		status, problem := frame[column["status"]].Texts[i], frame[column["error"]].Texts[i]
		goodput := frame[column["goodput_bps.total"]]
		if kmin == 500e3 {
			assert.Equal(t, string(Invalid), status)
			assert.Contains(t, problem, "kmin")
			assert.True(t, goodput.Null[i])
			continue
		}
		assert.Equal(t, string(OK), status, problem)
		r, err := Evaluate(context.Background(), source(), m.Points[u.Point].Sets, u.Seed, Options{Measures: []string{"p99(flows.slowdown)"}})
		require.NoError(t, err)
		for _, name := range names[10:] {
			c := frame[column[name]]
			v, ok := r.Value(name)
			assert.Equal(t, ok, !c.Null[i], name)
			assert.Equal(t, v, c.Floats[i], name)
		}
		assert.Equal(t, r.Fingerprint, frame[column["fingerprint"]].Texts[i])
	}
}

func TestRunRefuses(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "s")
	_, err := sweepTo(t, dir, 1, 2, nil)
	require.NoError(t, err)
	check := func(text string, change func(r *Run)) error {
		r := &Run{Plan: plan(t, text), Source: source(), Out: filepath.Join(root, "new"), Version: "v1"}
		change(r)
		return r.Check()
	}
	into := func(out string) func(r *Run) { return func(r *Run) { r.Out = out } }
	assert.ErrorContains(t, check(smallPlan, into(dir)), "has 9 of 18 results already: give --resume to go on")
	assert.NoError(t, check(smallPlan, func(r *Run) { r.Out, r.Resume = dir, true }))
	assert.NoError(t, check(smallPlan, func(r *Run) { r.Out, r.Shard, r.Shards = dir, 2, 2 }), "another shard is not begun yet")
	assert.ErrorContains(t, check(smallPlan, func(r *Run) { r.Out, r.Resume, r.Version = dir, true, "v2" }), "was written by version v1 of the program")
	assert.ErrorContains(t, check(strings.Replace(smallPlan, "seeds: 3", "seeds: 4", 1), into(dir)), "holds another sweep")
	assert.ErrorContains(t, check(smallPlan, into(root)), "it exists and is no directory of a sweep")
	file := filepath.Join(root, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	assert.ErrorContains(t, check(smallPlan, into(file)), "no directory")
	assert.ErrorContains(t, check("scenario: small\nvary: {switch.ecn.3.kmim: [1KB]}\n", func(*Run) {}), "plan.yaml:2:8: vary.switch.ecn.3.kmim: unknown key: did you mean kmin?")
	assert.ErrorContains(t, check("scenario: small\nvary:\n  switch.ecn.3.kmin: [500KB, 600KB]\n", func(*Run) {}), "no other point that was tried is valid either")
	assert.ErrorContains(t, check("scenario: small\nset: {nic.path_mtuu: 1}\nvary: {switch.ecn.3.kmin: [1KB]}\n", func(*Run) {}), "path_mtu")
	assert.NoDirExists(t, filepath.Join(root, "new"))

	require.NoError(t, os.WriteFile(filepath.Join(dir, FilePlan), []byte(strings.Replace(smallPlan, "50KB", "60KB", 1)), 0o644))
	assert.ErrorContains(t, check(smallPlan, into(dir)), "they were changed")
	_, err = Merge([]string{dir})
	assert.ErrorContains(t, err, "they were changed")
}

// Results of one unit that differ are an error that says so; equal ones are not.
func TestMergeConflict(t *testing.T) {
	root := t.TempDir()
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	for _, dir := range []string{a, b} {
		_, err := sweepTo(t, dir, 0, 0, nil)
		require.NoError(t, err)
	}
	m, err := Merge([]string{a, b})
	require.NoError(t, err)
	assert.Equal(t, 18, m.Twice)

	name := filepath.Join(b, "shard-1-of-1-1.jsonl")
	logged, err := readLogFile(name, 18)
	require.NoError(t, err)
	other := logged.records[0]
	f, err := createLog(b, 1, 1, logged.header)
	require.NoError(t, err)
	for _, change := range []func(r *Record){func(r *Record) { r.Fingerprint = "else" }, func(r *Record) { r.Status, r.Values, r.Error = Invalid, nil, "no" }} {
		rec := other
		change(&rec)
		line, err := encodeLine(rec)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(f.Name(), append(first(t, name), line...), 0o644))
		_, err = Merge([]string{a, b})
		require.Error(t, err)
		assert.Contains(t, err.Error(), fmt.Sprintf("run %d has two results", other.Unit))
		assert.Contains(t, err.Error(), f.Name())
	}
	require.NoError(t, f.Close())

	// what another program has measured makes no table with this
	for _, h := range []header{{Format: format, ID: logged.header.ID, Version: "v1", Metrics: []string{"x"}}, {Format: format, ID: logged.header.ID, Version: "v2", Metrics: logged.header.Metrics},
		{Format: format, ID: "else", Version: "v1", Metrics: logged.header.Metrics}, {Format: 2}} {
		line, err := encodeLine(h)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(f.Name(), line, 0o644))
		_, err = Merge([]string{a, b})
		assert.ErrorContains(t, err, f.Name())
	}

	// one that was cut short gives way, in whatever order they come
	rec := Record{Unit: other.Unit, Status: Partial, Error: "takes longer than 1s"}
	line, err := encodeLine(rec)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(f.Name(), append(first(t, name), line...), 0o644))
	for _, order := range [][]string{{a, b}, {b, a}} {
		m, err := Merge(order)
		require.NoError(t, err)
		assert.Equal(t, OK, m.Records[other.Unit].Status)
	}
}

// first returns the first line of a file.
func first(t *testing.T, name string) []byte {
	text := read(t, name)
	return []byte(text[:strings.Index(text, "\n")+1])
}

// What takes too long is a row that says so, and is run again by --resume.
func TestRunTimeout(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	text := "scenario: small\nset: {duration: 10s}\nvary: {switch.ecn.3.kmin: [50KB]}\n"
	for range 2 {
		r := &Run{Plan: plan(t, text), Source: source(), Out: dir, Version: "v1", Timeout: 100 * time.Millisecond, Resume: true}
		require.NoError(t, r.Check())
		s, err := r.Do(context.Background())
		require.NoError(t, err)
		assert.Equal(t, 1, s.Partial)
		assert.Equal(t, 0, s.Before)
	}
	m, err := Merge([]string{dir})
	require.NoError(t, err)
	assert.Equal(t, Partial, m.Records[0].Status)
	assert.Contains(t, m.Records[0].Error, "takes longer than 100ms")
}

// A disk that is full, or a sink that fails, ends the sweep with its error.
func TestRunLogFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	ctx, cancel := context.WithCancelCause(context.Background())
	full := errors.New("no space left")
	cancel(full)
	r := &Run{Plan: plan(t, smallPlan), Source: source(), Out: dir, Version: "v1"}
	require.NoError(t, r.Check())
	_, err := r.Do(ctx)
	assert.ErrorIs(t, err, full)
}

// What a killed process left in memory is removed by the next one; what a living
// one uses is not.
func TestScratch(t *testing.T) {
	parent := t.TempDir()
	mine, remove, err := ownScratch(parent)
	require.NoError(t, err)
	dead := filepath.Join(parent, scratchPrefix+"dead")
	require.NoError(t, os.MkdirAll(filepath.Join(dead, "rdmasim-point-1"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dead, "lock"), nil, 0o644))
	other, removeOther, err := ownScratch(parent)
	require.NoError(t, err)
	assert.NoDirExists(t, dead)
	assert.DirExists(t, mine)
	remove()
	removeOther()
	assert.NoDirExists(t, mine)
	assert.NoDirExists(t, other)
}

func FuzzReadLog(f *testing.F) {
	var log []byte
	v := 1.5
	for _, x := range []any{header{Format: format, ID: "x", Metrics: []string{"a", "b"}}, Record{Unit: 0, Status: OK, Values: []*float64{&v, nil}}, Record{Unit: 1, Status: Invalid, Error: "no"}} {
		line, err := encodeLine(x)
		if err != nil {
			f.Fatal(err)
		}
		log = append(log, line...)
	}
	f.Add(log, 2)
	f.Add(log[:len(log)-3], 2)
	f.Add([]byte("\n\n00000000 \n"), 1)
	f.Fuzz(func(t *testing.T, data []byte, units int) {
		l, err := readLog(strings.NewReader(string(data)), units)
		if err != nil {
			return
		}
		for _, r := range l.records {
			if r.Unit < 0 || r.Unit >= units || r.Status == OK && len(r.Values) != len(l.header.Metrics) {
				t.Fatalf("a record that cannot be: %+v", r)
			}
		}
	})
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte(smallPlan))
	f.Add([]byte("scenario: s\ndesign: {sobol: {points: 8}}\nvary: {a: {from: 1KB, to: 1MB, scale: log, round: 1KB}, b: {of: a, times: {from: 2, to: 4.5}}}\nseeds: {count: 2, common: false}\n"))
	f.Add([]byte("scenario: s\ndesign: {latin_hypercube: {points: 3, seed: 9}}\nvary: {a: {from: 1%, to: 1/2}, b: [{x: [1, 'y']}, \"z\"]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePlan("plan.yaml", data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error of several lines: %v", err)
			}
			return
		}
		if p.size() > 1000 {
			return
		}
		points, units := p.Points(), p.Units()
		if len(points) != p.size() || len(units) != len(points)*len(p.Seeds.List) {
			t.Fatalf("%d points, %d runs: want %d points", len(points), len(units), p.size())
		}
		for _, pt := range points {
			if len(pt.Values) != len(p.Columns()) || len(pt.Sets) != len(p.Set)+len(pt.Values) {
				t.Fatalf("point %+v of %v", pt, p.Columns())
			}
		}
		again, err := ParsePlan("other.yaml", data)
		if err != nil || p.ID(source()) != again.ID(source()) {
			t.Fatalf("the ID depends on chance, or on the name of the file: %v", err)
		}
	})
}
