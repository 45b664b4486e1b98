package topology

import (
	"fmt"
	"testing"
)

func BenchmarkShortestPaths(b *testing.B) {
	for _, k := range []int{16, 32} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			g := build(b, "fat_tree", func(p *FatTreeParams) { p.K = k })
			b.ReportAllocs()
			for b.Loop() {
				routes(b, g)
			}
		})
	}
}

// 10 125 switches, of which one has a bad route.
func BenchmarkBufferCycle(b *testing.B) {
	g := build(b, "fat_tree", func(p *FatTreeParams) { p.K, p.HostsPerToR = 90, 1 })
	b.ReportAllocs()
	for b.Loop() {
		r := routes(b, g)
		if err := r.Override([]Override{route(b, r, "agg0", "h0", "core0")}); err != nil {
			b.Fatal(err)
		}
		if len(r.BufferCycle(everySwitch)) != 2 {
			b.Fatal("the bad route closes a cycle of two links")
		}
	}
}

func BenchmarkBuildFatTree(b *testing.B) {
	for b.Loop() {
		build(b, "fat_tree", func(p *FatTreeParams) { p.K = 16 })
	}
}

func BenchmarkNext(b *testing.B) {
	g := build(b, "fat_tree", func(p *FatTreeParams) { p.K = 16 })
	r := routes(b, g)
	agg, _ := g.Find("agg0")
	for _, c := range []struct {
		name string
		node int
		mask int
	}{{"switch", agg, 1023}, {"last hop", 1024, 7}, {"host", 0, 1023}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			i := 0
			for b.Loop() {
				n += len(r.Next(c.node, i*37&c.mask))
				i++
			}
		})
	}
}
