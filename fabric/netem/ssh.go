package netem

import (
	"net"
	"strings"
)

// routedTo returns the interface that has the server's address of an ssh
// session, SSH_CONNECTION: "client port server port".
func routedTo(connection string) string {
	f := strings.Fields(connection)
	if len(f) < 4 {
		return ""
	}
	all, err := net.Interfaces()
	if err != nil {
		return ""
	}
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && n.IP.String() == f[2] {
				return i.Name
			}
		}
	}
	return ""
}
