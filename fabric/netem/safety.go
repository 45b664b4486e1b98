package netem

import (
	"os"
	"path/filepath"
	"strings"
)

// Refuse says why an interface must not be taken down or changed: it carries
// the default route, an ssh session, a mounted file system, or is part of a
// bond or bridge. "" means that nothing speaks against it. root is "/" for this
// host.
func Refuse(root, dev string) string {
	for _, p := range []string{"proc/net/route", "proc/net/ipv6_route"} {
		b, _ := os.ReadFile(filepath.Join(root, p))
		for _, line := range strings.Split(string(b), "\n") {
			f := strings.Fields(line)
			switch {
			case len(f) > 7 && f[0] == dev && f[1] == "00000000" && f[7] == "00000000":
				return "the default route leads over it"
			case len(f) == 10 && f[9] == dev && strings.Trim(f[0], "0") == "" && f[1] == "00":
				return "the default route of IPv6 leads over it"
			}
		}
	}
	base := filepath.Join(root, "sys/class/net", dev)
	for _, m := range []string{"master", "bonding"} {
		if _, err := os.Lstat(filepath.Join(base, m)); err == nil {
			return "it belongs to a bond or a bridge"
		}
	}
	// What stands on it, such as a VLAN, has its traffic.
	uppers, _ := filepath.Glob(filepath.Join(base, "upper_*"))
	for _, u := range uppers {
		upper := strings.TrimPrefix(filepath.Base(u), "upper_")
		if why := Refuse(root, upper); upper != dev && why != "" {
			return upper + " stands on it: " + why
		}
	}
	if b, err := os.ReadFile(filepath.Join(root, "proc/mounts")); err == nil {
		for _, line := range strings.Split(string(b), "\n") {
			f := strings.Fields(line)
			if len(f) > 2 && (strings.HasPrefix(f[2], "nfs") || f[2] == "cifs" || f[2] == "ceph") {
				return "the file system " + f[1] + " is mounted over the network"
			}
		}
	}
	if os.Getenv("SSH_CONNECTION") != "" && routedTo(os.Getenv("SSH_CONNECTION")) == dev {
		return "this ssh session goes over it"
	}
	return ""
}
