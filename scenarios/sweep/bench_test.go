package sweep

import (
	"context"
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
