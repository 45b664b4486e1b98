//go:build linux && (amd64 || arm64)

package hardware

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"rdmasim/sim/trace"
)

// Types and events of perf_event_open(2), linux/perf_event.h.
const (
	perfHardware, perfSoftware   = 0, 1
	perfInherit                  = 1 << 1
	perfThreads                  = 1 << 35 // of this process, and not the programs that it starts; Linux 5.13
	perfNoKernel, perfNoHV       = 1 << 5, 1 << 6
	perfTimeEnabled, perfRunning = 1 << 0, 1 << 1
	perfCloseOnExec              = 1 << 3
)

// cpuEvents are what is counted of this process.
var cpuEvents = []struct {
	name   string
	kind   uint32
	config uint64
}{
	{"cpu_cycles", perfHardware, 0}, {"cpu_instructions", perfHardware, 1}, {"cpu_cache_misses", perfHardware, 3},
	{"cpu_task_clock_ns", perfSoftware, 1}, {"page_faults", perfSoftware, 2}, {"context_switches", perfSoftware, 3},
}

// perfAttr is struct perf_event_attr as of its first version, of 64 bytes.
type perfAttr struct {
	kind, size   uint32
	config       uint64
	period       uint64
	sampleType   uint64
	readFormat   uint64
	flags        uint64
	wakeup       uint32
	breakpoint   uint32
	breakAddress uint64
}

// cpuCounters count what this process costs its processors, in all threads.
type cpuCounters struct {
	files   [][]int // by event, by thread
	missing []trace.Missing
	noKern  bool
}

// openCPUCounters starts to count. What the host does not allow, or does not
// have, is missing with the reason.
func openCPUCounters() *cpuCounters {
	c := &cpuCounters{files: make([][]int, len(cpuEvents))}
	threads, err := os.ReadDir("/proc/self/task")
	for i, e := range cpuEvents {
		first := err
		for _, t := range threads {
			id, convErr := strconv.Atoi(t.Name())
			if convErr != nil {
				continue
			}
			fd, openErr := c.open(e.kind, e.config, id)
			if openErr != nil {
				first = openErr
				break
			}
			c.files[i] = append(c.files[i], fd)
		}
		if first != nil {
			c.missing = append(c.missing, trace.Missing{What: e.name, Reason: "perf_event_open: " + perfReason(first)})
			closeAll(c.files[i])
			c.files[i] = nil
		}
	}
	return c
}

func (c *cpuCounters) open(kind uint32, config uint64, thread int) (int, error) {
	a := perfAttr{kind: kind, config: config, readFormat: perfTimeEnabled | perfRunning, flags: perfInherit | perfThreads | perfNoHV}
	a.size = uint32(unsafe.Sizeof(a))
	for {
		if c.noKern {
			a.flags |= perfNoKernel
		}
		fd, _, errno := syscall.Syscall6(perfEventOpen, uintptr(unsafe.Pointer(&a)), uintptr(thread), ^uintptr(0), ^uintptr(0), perfCloseOnExec, 0)
		switch {
		case errno == 0:
			return int(fd), nil
		case (errno == syscall.EACCES || errno == syscall.EPERM) && !c.noKern:
			c.noKern = true
		case errno == syscall.EINVAL && a.flags&perfThreads != 0:
			a.flags &^= perfThreads | perfInherit
		default:
			return -1, errno
		}
	}
}

func perfReason(err error) string {
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENODEV):
		return "this processor, or the machine that emulates it, does not count it"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return "not allowed: sysctl kernel.perf_event_paranoid=1, or root"
	}
	return err.Error()
}

// read returns the totals so far, scaled up where the kernel shared a counter
// among events.
func (c *cpuCounters) read() (list []trace.Counter) {
	for i, e := range cpuEvents {
		if c.files[i] == nil {
			continue
		}
		sum := 0.0
		for _, fd := range c.files[i] {
			var b [24]byte
			if n, err := syscall.Read(fd, b[:]); err != nil || n != len(b) {
				continue
			}
			v, enabled, running := binary.NativeEndian.Uint64(b[:]), binary.NativeEndian.Uint64(b[8:]), binary.NativeEndian.Uint64(b[16:])
			if running > 0 {
				sum += float64(v) * float64(enabled) / float64(running)
			}
		}
		list = append(list, trace.Counter{Object: "process", Prio: -1, Name: e.name, Value: sum})
	}
	return list
}

// reasons returns what is missing.
func (c *cpuCounters) reasons() []trace.Missing {
	if c.noKern && len(c.missing) < len(cpuEvents) {
		return append(c.missing, trace.Missing{What: "the kernel's share of the CPU counters", Reason: fmt.Sprintf("not allowed to process %d: sysctl kernel.perf_event_paranoid=1", os.Getpid())})
	}
	return c.missing
}

func (c *cpuCounters) close() {
	for _, f := range c.files {
		closeAll(f)
	}
}

func closeAll(files []int) {
	for _, fd := range files {
		_ = syscall.Close(fd)
	}
}
