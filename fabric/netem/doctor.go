package netem

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
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

// DoctorOptions say where to look.
type DoctorOptions struct {
	Root    string  // of the files, "/" for this host
	Profile Profile // what the fabric means to be
	Runner  Runner  // for dcb and mlnx_qos; nil = neither is asked
}

// Doctor looks at a host and says what stands in the way of RoCE and what to do
// about it. It changes nothing.
func Doctor(ctx context.Context, o DoctorOptions) ([]Finding, error) {
	devices, err := ReadDevices(o.Root)
	if err != nil {
		return nil, err
	}
	d := &doctor{root: o.Root, profile: o.Profile, runner: o.Runner}
	if len(devices) == 0 {
		d.add("no-device", Fault, "host", "there is no RDMA device", "load the driver of the NIC (mlx5_ib, bnxt_re, irdma); without one: rdma link add rxe0 type rxe netdev IF for Soft-RoCE, or rdmasim hw vm")
	}
	for i := range devices {
		d.device(ctx, &devices[i])
	}
	d.differentMTUs(devices)
	d.host()
	return d.list, nil
}

type doctor struct {
	root    string
	profile Profile
	runner  Runner
	list    []Finding
}

func (d *doctor) add(id string, s Severity, where, what, remedy string) {
	d.list = append(d.list, Finding{id, s, where, what, remedy})
}

// path joins names below the root.
func (d *doctor) path(names ...string) string {
	return filepath.Join(append([]string{d.root}, names...)...)
}

func (d *doctor) device(ctx context.Context, dev *Device) {
	for i := range dev.Ports {
		d.port(dev, &dev.Ports[i])
	}
	d.versions(dev)
	d.netdev(dev)
	d.numa(dev)
	if dev.Software {
		d.add("software-device", Note, dev.Name, "a software device: correct, slow, and without PFC, CNP and congestion control, which are not measured on it", "")
		return
	}
	d.pci(dev)
	d.dcb(ctx, dev)
}

func (d *doctor) versions(dev *Device) {
	text := fmt.Sprintf("driver %s, firmware %s", orWord(dev.Driver), orWord(dev.Firmware))
	if v := ModuleVersion(d.root, dev.Driver); v != "" {
		text += ", module version " + v
	}
	if board := Board(d.root, dev.Name); board != "" {
		text += ", board " + board
	}
	d.add("versions", Note, dev.Name, text, "")
}

// ModuleVersion returns the version that the module of a driver states, "" if none.
func ModuleVersion(root, driver string) string {
	if driver == "" {
		return ""
	}
	return value(filepath.Join(root, "sys/module", driver), "version")
}

// Board returns the identifier of the board of a device, which names its kind.
func Board(root, device string) string {
	return value(filepath.Join(root, "sys/class/infiniband", device), "board_id")
}

func (d *doctor) port(dev *Device, p *Port) {
	where := fmt.Sprintf("%s port %d", dev.Name, p.Number)
	if !strings.Contains(p.State, "ACTIVE") {
		d.add("port-down", Fault, where, "the port is "+orWord(p.State), "ip link set dev "+orIF(dev.Netdev)+" up; check the cable and the speed at both ends")
	}
	if p.LinkLayer != "Ethernet" {
		d.add("link-layer", Note, where, "the link layer is "+orWord(p.LinkLayer)+": this is no RoCE port", "")
		return
	}
	if g, ok := p.RoCEv2(); ok {
		d.add("gid", Good, where, fmt.Sprintf("RoCEv2 address %s at index %d", g.Address(), g.Index), "")
		return
	}
	d.add("gid", Fault, where, "the table has no RoCEv2 entry with an IPv4 address; entries follow the addresses of the interface", "ip addr add ADDRESS/LEN dev "+orIF(dev.Netdev))
}

// roceMTU is the Ethernet MTU that a path MTU of 4096 needs: headers of IPv6,
// UDP, BTH, RETH and ICRC beside it. More is harmless.
const roceMTU = 4096 + 40 + 8 + 12 + 16 + 4

// mtu reads the MTU of an interface, 0 if it cannot be read.
func (d *doctor) mtu(dev string) int {
	n, err := strconv.Atoi(value(d.path("sys/class/net", dev), "mtu"))
	if err != nil {
		return 0
	}
	return n
}

func (d *doctor) netdev(dev *Device) {
	if dev.Netdev == "" {
		return
	}
	switch mtu := d.mtu(dev.Netdev); {
	case mtu == 0:
		d.add("mtu", Unknown, dev.Netdev, "the MTU cannot be read", "cat /sys/class/net/"+dev.Netdev+"/mtu")
	case mtu < roceMTU:
		d.add("mtu", Warning, dev.Netdev, fmt.Sprintf("MTU %d: a path MTU of 4096 needs %d; the port falls back to a smaller one", mtu, roceMTU), fmt.Sprintf("ip link set dev %s mtu 4200 or more, at both ends and on every switch between", dev.Netdev))
	default:
		d.add("mtu", Good, dev.Netdev, fmt.Sprintf("MTU %d carries a path MTU of 4096", mtu), "")
	}
}

// differentMTUs compares the interfaces of RoCE devices: path MTUs that differ
// between two ends of a connection end in REM_INV_REQ_ERR or RETRY_EXC_ERR.
func (d *doctor) differentMTUs(devices []Device) {
	var list []string
	seen := map[int]bool{}
	for i := range devices {
		if mtu := d.mtu(devices[i].Netdev); devices[i].Netdev != "" && mtu > 0 {
			list = append(list, fmt.Sprintf("%s %d", devices[i].Netdev, mtu))
			seen[mtu] = true
		}
	}
	if len(seen) > 1 {
		d.add("mtu-differs", Warning, "host", "interfaces of RDMA devices have different MTUs: "+strings.Join(list, ", ")+"; queue pairs need the same path MTU at both ends", "ip link set dev IF mtu 4200 or more on all of them")
	}
}

func orWord(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// orIF names an interface in a remedy.
func orIF(s string) string {
	if s == "" {
		return "IF"
	}
	return s
}
