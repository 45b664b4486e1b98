package netem

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Severity of a finding.
type Severity string

// Severities.
const (
	Good    Severity = "ok"
	Note    Severity = "note"    // worth knowing
	Warning Severity = "warning" // costs performance, or fails under load
	Fault   Severity = "error"   // nothing will work
	Unknown Severity = "unknown" // cannot be told from this host
)

// Finding is one thing that a look at a host has found.
type Finding struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Where    string   `json:"where"`
	What     string   `json:"what"`
	Remedy   string   `json:"remedy,omitempty"`
}

// Profile is how a RoCE fabric means to deal with loss.
type Profile string

// Profiles: PFC end to end; PFC at hosts with ECN in the fabric; ECN and
// retransmission alone, where PFC off is right.
const (
	Lossless     Profile = "lossless"
	SemiLossless Profile = "semi-lossless"
	Lossy        Profile = "lossy"
)

// Doctor looks at a host, whose files are below root, and says what stands in
// the way of RoCE and what to do about it. It changes nothing.
func Doctor(root string, profile Profile) ([]Finding, error) {
	devices, err := ReadDevices(root)
	if err != nil {
		return nil, err
	}
	d := &doctor{root: root, profile: profile}
	if len(devices) == 0 {
		d.add("no-device", Fault, "host", "there is no RDMA device", "load the driver of the NIC (mlx5_ib, bnxt_re, irdma); without one: rdma link add rxe0 type rxe netdev IF for Soft-RoCE, or rdmasim hw vm")
	}
	for i := range devices {
		d.device(&devices[i])
	}
	d.host()
	return d.list, nil
}

type doctor struct {
	root    string
	profile Profile
	list    []Finding
}

func (d *doctor) add(id string, s Severity, where, what, remedy string) {
	d.list = append(d.list, Finding{id, s, where, what, remedy})
}

func (d *doctor) device(dev *Device) {
	for i := range dev.Ports {
		d.port(dev, &dev.Ports[i])
	}
	d.add("versions", Note, dev.Name, fmt.Sprintf("driver %s, firmware %s", orWord(dev.Driver), orWord(dev.Firmware)), "")
	if dev.Software {
		d.add("software-device", Note, dev.Name, "a software device: correct, slow, and without PFC, CNP and congestion control, which are not measured on it", "")
	}
	d.netdev(dev)
	d.numa(dev)
	if !dev.Software {
		d.congestion(dev)
	}
}

func (d *doctor) port(dev *Device, p *Port) {
	where := fmt.Sprintf("%s port %d", dev.Name, p.Number)
	if !strings.Contains(p.State, "ACTIVE") {
		d.add("port-down", Fault, where, "the port is "+orWord(p.State), "ip link set dev "+dev.Netdev+" up; check the cable and the speed at both ends")
	}
	if p.LinkLayer != "Ethernet" {
		d.add("link-layer", Note, where, "the link layer is "+orWord(p.LinkLayer)+": this is no RoCE port", "")
		return
	}
	if g, ok := p.RoCEv2(); ok {
		d.add("gid", Good, where, fmt.Sprintf("RoCEv2 address %s at index %d", g.Address(), g.Index), "")
		return
	}
	d.add("gid", Fault, where, "the table has no RoCEv2 entry with an IPv4 address; entries follow the addresses of the interface", "ip addr add ADDRESS/LEN dev "+dev.Netdev)
}

// roceMTU is the Ethernet MTU that a path MTU of 4096 needs: headers of IPv6,
// UDP, BTH, RETH and ICRC beside it. More is harmless.
const roceMTU = 4096 + 40 + 8 + 12 + 16 + 4

func (d *doctor) netdev(dev *Device) {
	if dev.Netdev == "" {
		return
	}
	base := filepath.Join(d.root, "sys/class/net", dev.Netdev)
	mtu, err := strconv.Atoi(value(base, "mtu"))
	switch {
	case err != nil:
		d.add("mtu", Unknown, dev.Netdev, "the MTU cannot be read", "")
	case mtu < roceMTU:
		d.add("mtu", Warning, dev.Netdev, fmt.Sprintf("MTU %d: a path MTU of 4096 needs %d; the port falls back to a smaller one", mtu, roceMTU), fmt.Sprintf("ip link set dev %s mtu 4200 or more, at both ends and on every switch between", dev.Netdev))
	default:
		d.add("mtu", Good, dev.Netdev, fmt.Sprintf("MTU %d carries a path MTU of 4096", mtu), "")
	}
}

func (d *doctor) numa(dev *Device) {
	if dev.NUMA < 0 {
		return
	}
	cpus := value(filepath.Join(d.root, "sys/devices/system/node", "node"+strconv.Itoa(dev.NUMA)), "cpulist")
	d.add("numa", Note, dev.Name, fmt.Sprintf("on NUMA node %d, CPUs %s", dev.NUMA, orWord(cpus)), "pin pollers and memory there: numactl --cpunodebind --membind="+strconv.Itoa(dev.NUMA))
}

// congestion looks at DCQCN of mlx5: the vendor's driver shows it below the
// interface, the kernel's own below debugfs.
func (d *doctor) congestion(dev *Device) {
	base := filepath.Join(d.root, "sys/class/net", dev.Netdev, "ecn")
	if _, err := os.Stat(base); err != nil {
		d.add("dcqcn", Unknown, dev.Netdev, "the driver does not show whether it reacts to ECN", "mlx5 with the kernel's driver: /sys/kernel/debug/mlx5/*/cc_params")
		return
	}
	for _, side := range []struct{ dir, what string }{{"roce_np", "sends CNPs"}, {"roce_rp", "slows down on CNPs"}} {
		on := value(base, side.dir+"/enable/3")
		switch on {
		case "1":
			d.add("dcqcn", Good, dev.Netdev, side.what+" on priority 3", "")
		default:
			d.add("dcqcn", Warning, dev.Netdev, "it never "+side.what+" on priority 3", fmt.Sprintf("echo 1 > /sys/class/net/%s/ecn/%s/enable/3", dev.Netdev, side.dir))
		}
	}
}

func (d *doctor) host() {
	var r syscall.Rlimit
	const memlock = 8 // RLIMIT_MEMLOCK
	if err := syscall.Getrlimit(memlock, &r); err == nil {
		if r.Cur < 1<<30 {
			d.add("memlock", Warning, "process", fmt.Sprintf("may pin %d bytes of memory; registering more fails with ENOMEM", r.Cur), "ulimit -l unlimited, or LimitMEMLOCK=infinity in the unit of the service (vm.max_map_count has nothing to do with it)")
		} else {
			d.add("memlock", Good, "process", "may pin 1 GiB of memory or more", "")
		}
	}
	switch g := value(filepath.Join(d.root, "sys/devices/system/cpu/cpu0/cpufreq"), "scaling_governor"); g {
	case "":
		d.add("governor", Unknown, "cpu0", "the frequency governor cannot be read", "")
	case "performance":
		d.add("governor", Good, "cpu0", "governor performance", "")
	default:
		d.add("governor", Warning, "cpu0", "governor "+g+": latencies grow after idle times", "cpupower frequency-set -g performance")
	}
	switch d.profile {
	case Lossy:
		d.add("pfc", Note, "fabric", "PFC off is right in a lossy design: ECN and retransmission carry the load", "")
	case Lossless, SemiLossless:
		d.add("pfc", Unknown, "fabric", "whether PFC is on at the NIC and at the switch is not read from here", "dcb pfc show dev IF; mlnx_qos -i IF; on SONiC: show pfc priority")
	}
}

func orWord(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
