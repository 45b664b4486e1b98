package netem

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Device is an RDMA device as /sys/class/infiniband shows it.
type Device struct {
	Name     string
	Netdev   string // interface beneath, "" if unknown
	Driver   string // rdma_rxe, siw, mlx5_core, ...; "" if unknown
	Firmware string
	// Software devices send through the kernel's queues, so that netem acts on
	// them. All others build packets in hardware and bypass the kernel.
	Software bool
	NUMA     int // node, -1 = none or unknown
	Ports    []Port
	Optional Optional `json:"-"` // counters, where they were asked for
}

// Offloaded reports whether the device bypasses the kernel's queues.
func (d *Device) Offloaded() bool { return !d.Software }

// Port is one port of a device.
type Port struct {
	Number    int
	State     string // "4: ACTIVE"
	LinkLayer string // Ethernet, InfiniBand
	Rate      string
	GIDs      []GID // those that are set
}

// GID is one entry of a port's table.
type GID struct {
	Index  int
	GID    string // as the kernel prints it
	Type   string // "RoCE v2", "IB/RoCE v1"
	Netdev string
}

// IPv4 reports whether the address is an IPv4 address.
func (g *GID) IPv4() bool {
	return strings.HasPrefix(g.GID, "0000:0000:0000:0000:0000:ffff:")
}

// RoCEv2 returns the first RoCEv2 address of a port that is an IPv4 address.
func (p *Port) RoCEv2() (GID, bool) {
	for _, g := range p.GIDs {
		if g.IPv4() && g.Type == "RoCE v2" {
			return g, true
		}
	}
	return GID{}, false
}

// ReadDevices reads the RDMA devices below a root, "/" for this host.
func ReadDevices(root string) ([]Device, error) {
	base := filepath.Join(root, "sys/class/infiniband")
	entries, err := os.ReadDir(base)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Device
	for _, e := range entries {
		d, err := readDevice(filepath.Join(base, e.Name()), e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

func readDevice(dir, name string) (Device, error) {
	d := Device{Name: name, Firmware: value(dir, "fw_ver"), NUMA: -1}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return d, err
	}
	d.Software = strings.Contains(real, "/devices/virtual/")
	if drv, err := filepath.EvalSymlinks(filepath.Join(dir, "device/driver")); err == nil {
		d.Driver = filepath.Base(drv)
	} else if d.Software {
		d.Driver = softwareDriver(dir)
	}
	if n, err := strconv.Atoi(value(dir, "device/numa_node")); err == nil {
		d.NUMA = n
	}
	d.Netdev = value(dir, "parent") // rxe
	ports, err := os.ReadDir(filepath.Join(dir, "ports"))
	if err != nil {
		return d, fmt.Errorf("%s: %w", name, err)
	}
	for _, p := range ports {
		n, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		port := readPort(filepath.Join(dir, "ports", p.Name()), n)
		if d.Netdev == "" && len(port.GIDs) > 0 {
			d.Netdev = port.GIDs[0].Netdev
		}
		d.Ports = append(d.Ports, port)
	}
	return d, nil
}

// softwareDriver tells the two software devices of Linux apart: only Soft-RoCE
// names its parent in sysfs.
func softwareDriver(dir string) string {
	if value(dir, "parent") != "" {
		return "rdma_rxe"
	}
	return "siw"
}

func readPort(dir string, number int) Port {
	p := Port{Number: number, State: value(dir, "state"), LinkLayer: value(dir, "link_layer"), Rate: value(dir, "rate")}
	gids, _ := os.ReadDir(filepath.Join(dir, "gids"))
	for i := range gids {
		g := GID{Index: i, GID: value(dir, "gids/"+strconv.Itoa(i)), Type: value(dir, "gid_attrs/types/"+strconv.Itoa(i)), Netdev: value(dir, "gid_attrs/ndevs/"+strconv.Itoa(i))}
		if strings.Trim(g.GID, "0:") == "" || g.Type == "" {
			continue
		}
		p.GIDs = append(p.GIDs, g)
	}
	return p
}

// value reads a small file, "" if it cannot be read.
func value(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || len(b) > 4096 {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// Address returns the address as people write it.
func (g *GID) Address() string {
	ip, err := netip.ParseAddr(g.GID)
	if err != nil {
		return g.GID
	}
	return ip.Unmap().String()
}
