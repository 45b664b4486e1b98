package netem

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// host looks at what all devices share.
func (d *doctor) host() {
	d.memlock()
	d.governors()
	d.irqbalance()
}

// pinnable is how much memory a process ought to be allowed to pin.
const pinnable = 1 << 30

// memlock reads the limit from /proc, which has it in bytes.
func (d *doctor) memlock() {
	b, err := os.ReadFile(d.path("proc/self/limits"))
	if err != nil {
		d.add("memlock", Unknown, "process", "the limit of memory that it may pin cannot be read", "ulimit -l")
		return
	}
	for _, line := range strings.Split(string(b), "\n") {
		rest, ok := strings.CutPrefix(line, "Max locked memory")
		f := strings.Fields(rest)
		if !ok || len(f) == 0 {
			continue
		}
		n, err := strconv.ParseUint(f[0], 10, 64)
		if f[0] == "unlimited" || err == nil && n >= pinnable {
			d.add("memlock", Good, "process", "may pin 1 GiB of memory or more", "")
			return
		}
		d.add("memlock", Warning, "process", fmt.Sprintf("may pin %s bytes of memory; registering more fails with ENOMEM", f[0]), "ulimit -l unlimited, or LimitMEMLOCK=infinity in the unit of the service (vm.max_map_count has nothing to do with it)")
		return
	}
}

// governors looks at the frequency governor of every processor.
func (d *doctor) governors() {
	entries, err := os.ReadDir(d.path("sys/devices/system/cpu"))
	if err != nil {
		entries = nil
	}
	found, slow := "", 0
	for _, e := range entries {
		g := value(d.path("sys/devices/system/cpu", e.Name(), "cpufreq"), "scaling_governor")
		if g == "" {
			continue
		}
		if found == "" || g != "performance" {
			found = g
		}
		if g != "performance" {
			slow++
		}
	}
	switch {
	case found == "":
		d.add("governor", Unknown, "processors", "the frequency governor cannot be read; a virtual machine has none", "cpupower frequency-info, on the host of the virtual machine")
	case slow > 0:
		d.add("governor", Warning, "processors", fmt.Sprintf("governor %s on %d of them: latencies grow after idle times", found, slow), "cpupower frequency-set -g performance")
	default:
		d.add("governor", Good, "processors", "governor performance", "")
	}
}

// irqbalance looks for the daemon among the processes.
func (d *doctor) irqbalance() {
	entries, err := os.ReadDir(d.path("proc"))
	if err != nil {
		return
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err == nil && value(d.path("proc", e.Name()), "comm") == "irqbalance" {
			d.add("irqbalance", Warning, "host", "irqbalance moves interrupts among processors, also away from the NIC's NUMA node: completion events come late now and then", "systemctl stop irqbalance, and set the affinity of the NIC's interrupts (mlx5: set_irq_affinity.sh IF)")
			return
		}
	}
	d.add("irqbalance", Good, "host", "irqbalance is not running", "")
}

// local is the distance of a NUMA node to itself; others have more (ACPI, System Locality Information Table).
const local = 10

// numa compares the node of a device with the processors that this process may
// run on.
func (d *doctor) numa(dev *Device) {
	n := ReadNear(d.root, dev)
	if n.Node < 0 {
		return
	}
	cpus := ListCPUs(n.CPUs)
	pin := fmt.Sprintf("numactl --cpunodebind=%d --membind=%d", n.Node, n.Node)
	if len(n.CPUs) == 0 || len(n.Allowed) == 0 {
		d.add("numa", Note, dev.Name, fmt.Sprintf("on NUMA node %d, CPUs %s", n.Node, orWord(cpus)), "pin pollers and memory there: "+pin)
		return
	}
	inside := len(n.Usable())
	switch {
	case inside == 0:
		d.add("numa", Warning, dev.Name, fmt.Sprintf("on NUMA node %d (CPUs %s), and this process may not run there: every completion crosses to another node%s", n.Node, cpus, d.distance(n.Node)), pin)
	case inside < len(n.Allowed):
		d.add("numa", Note, dev.Name, fmt.Sprintf("on NUMA node %d, CPUs %s; this process may also run elsewhere%s", n.Node, cpus, d.distance(n.Node)), "pin pollers and memory there: "+pin)
	default:
		d.add("numa", Good, dev.Name, fmt.Sprintf("on NUMA node %d, as all processors of this process", n.Node), "")
	}
}

// distance says how far the farthest node is.
func (d *doctor) distance(node int) string {
	far := 0
	for _, f := range strings.Fields(value(d.path("sys/devices/system/node", "node"+strconv.Itoa(node)), "distance")) {
		if n, err := strconv.Atoi(f); err == nil {
			far = max(far, n)
		}
	}
	if far <= local {
		return ""
	}
	return fmt.Sprintf(" (distance up to %d, itself %d)", far, local)
}
