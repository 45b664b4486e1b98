//go:build linux && (amd64 || arm64)

package ibv

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"rdmasim/verbs"
)

// BenchmarkPostAndPoll measures what a posted WRITE of 8 bytes and a poll cost this
// host, binding included: medians over rounds of 64 requests, of which the last
// asks for a completion. On Soft-RoCE posting rings the doorbell by a system call
// that sends the packets, which is part of it.
func BenchmarkPostAndPoll(b *testing.B) {
	all, err := Devices()
	if err != nil || len(all) < 2 {
		b.Skipf("two RDMA devices are needed to measure posting and polling, there are %d (%v)", len(all), err)
	}
	x, y := benchPair(b, all)
	const batch, rounds = 64, 50
	wrs := make([]verbs.WorkRequest, batch)
	for i := range wrs {
		wrs[i] = verbs.WorkRequest{Opcode: verbs.OpWrite, Signaled: i == batch-1, SGList: x.sge(0, 8), RemoteAddr: y.mr.Addr(), RKey: y.mr.RKey()}
	}
	buf := make([]verbs.WorkCompletion, 16)
	var single, list, empty, found []float64
	for range b.N {
		for r := range rounds {
			start := time.Now()
			if r%2 == 0 {
				for i := range wrs {
					if _, err := x.qp.PostSend(wrs[i]); err != nil {
						b.Fatal(err)
					}
				}
				single = append(single, float64(time.Since(start).Nanoseconds())/batch)
			} else {
				if _, err := x.qp.PostSend(wrs...); err != nil {
					b.Fatal(err)
				}
				list = append(list, float64(time.Since(start).Nanoseconds())/batch)
			}
			for deadline := time.Now().Add(10 * time.Second); ; {
				before := time.Now()
				n, err := x.cq.Poll(buf)
				took := float64(time.Since(before).Nanoseconds())
				if err != nil || time.Now().After(deadline) {
					b.Fatal("no completion", err)
				}
				if n > 0 {
					found = append(found, took)
					break
				}
				empty = append(empty, took)
				runtime.Gosched()
				if len(empty)%100 == 99 {
					time.Sleep(100 * time.Microsecond)
				}
			}
		}
	}
	for _, m := range []struct {
		list []float64
		unit string
	}{{single, "ns/post"}, {list, "ns/post-in-list"}, {found, "ns/poll"}, {empty, "ns/empty-poll"}} {
		if len(m.list) > 0 {
			slices.Sort(m.list)
			b.ReportMetric(m.list[len(m.list)/2], m.unit)
		}
	}
}

// benchPair is a pair for benchmarks.
func benchPair(b *testing.B, all []verbs.Device) (x, y *side) {
	x, y = open(b, all[0], verbs.RC), open(b, all[1], verbs.RC)
	x.connect(y)
	y.connect(x)
	return x, y
}
