//go:build !linux || !(amd64 || arm64)

package hardware

import "rdmasim/sim/trace"

// cpuCounters count nothing here.
type cpuCounters struct{}

func openCPUCounters() *cpuCounters        { return &cpuCounters{} }
func (*cpuCounters) read() []trace.Counter { return nil }
func (*cpuCounters) close()                {}
func (*cpuCounters) reasons() []trace.Missing {
	return []trace.Missing{{What: "CPU counters", Reason: "perf_event_open needs Linux on amd64 or arm64"}}
}
