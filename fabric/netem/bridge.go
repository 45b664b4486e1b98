package netem

import (
	"os"
	"path/filepath"
	"strings"
)

// BridgeName is the name of the bridge that Bridge makes.
const BridgeName = "rdmasim-br"

// Bridge returns the changes that join two interfaces by a transparent bridge:
// no spanning tree, no delay before it forwards, no snooping of multicast. root is
// "/" for this host.
func Bridge(root, a, b string) ([]Change, error) {
	for _, dev := range []string{a, b} {
		if err := checkInterface(dev); err != nil {
			return nil, err
		}
	}
	link := func(args ...string) Command { return append(Command{"ip", "link"}, args...) }
	c := []Change{{What: "a bridge", Do: link("add", "name", BridgeName, "type", "bridge", "stp_state", "0", "forward_delay", "0", "mcast_snooping", "0"),
		Undo: link("del", "dev", BridgeName)}}
	for _, dev := range []string{a, b} {
		c = append(c, Change{What: dev + " becomes a port", Do: link("set", "dev", dev, "master", BridgeName), Undo: link("set", "dev", dev, "nomaster")})
		if !up(root, dev) {
			c = append(c, Change{What: dev + " up", Do: link("set", "dev", dev, "up"), Undo: link("set", "dev", dev, "down")})
		}
	}
	return append(c, Change{What: "the bridge up", Do: link("set", "dev", BridgeName, "up")}), nil
}

// up reports whether an interface is set up: bit 0 of its flags (IFF_UP).
func up(root, dev string) bool {
	f := value(filepath.Join(root, "sys/class/net", dev), "flags")
	return f != "" && strings.ContainsAny(f[len(f)-1:], "13579bdfBDF")
}

// RefuseBridge says why an interface must not become a port of a bridge: all
// that Refuse says, an address that would stop working, or that it does not exist.
func RefuseBridge(root, dev string, addresses func(dev string) ([]string, error)) string {
	if err := checkInterface(dev); err != nil {
		return err.Error()
	}
	if _, err := os.Stat(filepath.Join(root, "sys/class/net", dev)); err != nil {
		return "there is no such interface"
	}
	if why := Refuse(root, dev); why != "" {
		return why
	}
	list, err := addresses(dev)
	if err != nil {
		return err.Error()
	}
	for _, a := range list {
		if !strings.HasPrefix(a, "fe80:") {
			return "it has the address " + a + ", which would stop working: ip addr flush dev " + dev
		}
	}
	return ""
}
