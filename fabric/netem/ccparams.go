package netem

import (
	"fmt"
	"os"
	"path/filepath"
)

// CongestionParameters reads the parameters of DCQCN of an mlx5 device, without
// changing any: those of the kernel's driver from debugfs, those of NVIDIA's from
// sysfs. Names are the driver's, such as rp_ai_rate and np_cnp_dscp; units are its
// own too (Mbit/s, us).
func CongestionParameters(root string, d *Device) (Counters, error) {
	c := Counters{}
	read := func(prefix, dir string) {
		files, err := os.ReadDir(dir)
		if err != nil {
			return
		}
		for _, f := range files {
			if f.IsDir() || len(c) >= maxCounters {
				continue
			}
			if n, ok := wholeNumber(value(dir, f.Name())); ok {
				c[prefix+f.Name()] = n
			}
		}
	}
	if pci := pciAddress(root, d.Name); pci != "" {
		read("", filepath.Join(root, "sys/kernel/debug/mlx5", pci, "cc_params"))
	}
	if d.Netdev != "" {
		base := filepath.Join(root, "sys/class/net", d.Netdev, "ecn")
		read("np_", filepath.Join(base, "roce_np"))
		read("rp_", filepath.Join(base, "roce_rp"))
	}
	if len(c) == 0 {
		return nil, fmt.Errorf("%w: %s shows no parameters of congestion control", ErrNotSupported, d.Name)
	}
	return c, nil
}

// pciAddress returns the address of the device below an RDMA device, "" where
// that is no PCI device.
func pciAddress(root, name string) string {
	real, err := filepath.EvalSymlinks(filepath.Join(root, "sys/class/infiniband", name, "device"))
	if err != nil {
		return ""
	}
	return filepath.Base(real)
}
