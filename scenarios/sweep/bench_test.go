package sweep

import (
	"context"
	"path/filepath"
	"runtime"
	"testing"
)

// The cost of one short run, and how much of it is not the engine's.
func BenchmarkEvaluate(b *testing.B) { evaluate(b, source()) }

func BenchmarkEvaluateIncast(b *testing.B) {
	src, err := OpenSource("incast-8to1")
	if err != nil {
		b.Fatal(err)
	}
	evaluate(b, src)
}

func evaluate(b *testing.B, src *Source) {
	var wall, engine float64
	idle := make([]byte, idleBytes)
	defer runtime.KeepAlive(idle)
	for b.Loop() {
		r, err := Evaluate(context.Background(), src, nil, 1, Options{})
		if err != nil {
			b.Fatal(err)
		}
		wall += r.Wall
		engine += r.Simulation
	}
	b.ReportMetric(engine/float64(b.N)*1e3, "engine-ms/op")
	b.ReportMetric((wall-engine)/float64(b.N)*1e3, "rest-ms/op")
}

// BenchmarkOverhead sweeps 1000 short runs into a directory, as the command
// does, and says what share of the time of the cores was in no run.
func BenchmarkOverhead(b *testing.B) {
	p, err := ParsePlan("plan.yaml", []byte("scenario: incast-8to1\nset: {duration: 5ms, expect: []}\nvary: {switch.ecn.3.kmin: {from: 10KB, to: 300KB, steps: 100}}\nseeds: 10\n"))
	if err != nil {
		b.Fatal(err)
	}
	src, err := OpenSource("incast-8to1")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r := &Run{Plan: p, Source: src, Out: filepath.Join(b.TempDir(), "s"), Version: "v1"}
		if err := r.Check(); err != nil {
			b.Fatal(err)
		}
		s, err := r.Do(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if s.Done != 1000 || s.Results == "" {
			b.Fatalf("%d of 1000 runs", s.Done)
		}
		b.ReportMetric(100*s.Overhead(), "%-overhead")
		b.ReportMetric(s.Busy, "s-in-runs")
		b.ReportMetric(s.Wall*float64(s.Jobs), "s-wall-x-cores")
		b.ReportMetric(s.Simulation, "s-in-engines")
	}
}
