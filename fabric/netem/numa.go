package netem

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Near is where a device sits in a machine of several NUMA nodes, and where this
// process may run.
type Near struct {
	Node    int   // -1 = the kernel names none: a machine of one node, or a software device on no NIC
	CPUs    []int // of that node, in order; nil = not known
	Allowed []int // that this process may run on, in order; nil = not known
}

// Usable returns the processors of the device's node that this process may run on.
func (n *Near) Usable() (list []int) {
	for _, c := range n.CPUs {
		if slices.Contains(n.Allowed, c) {
			list = append(list, c)
		}
	}
	return list
}

// ReadNear reads the NUMA node of a device and its processors, numa_node and
// local_cpulist below /sys. A software device is where the NIC beneath it is.
// root is "/" for this host.
func ReadNear(root string, d *Device) Near {
	n := Near{Node: -1, Allowed: cpuList(statusField(root, "Cpus_allowed_list"))}
	dir := filepath.Join(root, "sys/class/infiniband", d.Name, "device")
	if d.Software {
		dir = filepath.Join(root, "sys/class/net", d.Netdev, "device")
	}
	node, err := strconv.Atoi(value(dir, "numa_node"))
	if err != nil || node < 0 {
		return n
	}
	n.Node = node
	n.CPUs = cpuList(value(dir, "local_cpulist"))
	if len(n.CPUs) == 0 {
		n.CPUs = cpuList(value(filepath.Join(root, "sys/devices/system/node", "node"+strconv.Itoa(node)), "cpulist"))
	}
	return n
}

// PollerCPUs returns where the thread that serves completion queues of devices
// should run: the processors of the first device's node that this process may
// use, all that it may use where no node is known, or the device's is out of
// reach. A thread that spins gets a single one, another for each pick, so that
// several programs on a machine do not fight for it.
func PollerCPUs(n *Near, spins bool, pick int) []int {
	list := n.Usable()
	if len(list) == 0 {
		if !spins {
			return nil
		}
		list = n.Allowed
	}
	if !spins || len(list) == 0 {
		return list
	}
	return []int{list[pick%len(list)]}
}

// maxCPU bounds the numbers in a list of processors.
const maxCPU = 1 << 16

// cpuList reads a list such as 0-3,8; nothing where it cannot be read.
func cpuList(s string) (list []int) {
	for _, part := range strings.Split(strings.TrimSpace(s), ",") {
		a, b, isRange := strings.Cut(part, "-")
		from, err := strconv.Atoi(a)
		to := from
		if isRange && err == nil {
			to, err = strconv.Atoi(b)
		}
		if err != nil || from < 0 || to < from || to >= maxCPU || len(list) > maxCPU {
			return nil
		}
		for c := from; c <= to; c++ {
			list = append(list, c)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// ListCPUs prints a list as the kernel does, such as 0-3,8.
func ListCPUs(list []int) string {
	var b strings.Builder
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(list[i]))
		if k > i {
			b.WriteString("-" + strconv.Itoa(list[k]))
		}
		i = k + 1
	}
	return b.String()
}

// statusField reads a line of /proc/self/status.
func statusField(root, name string) string {
	b, err := os.ReadFile(filepath.Join(root, "proc/self/status"))
	if err != nil {
		return ""
	}
	for _, line := range strings.Split(string(b), "\n") {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
