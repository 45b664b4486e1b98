package scenarios

import (
	"fmt"
	"slices"

	"rdmasim/fabric/switchconf"
)

// sonicPorts returns the ports of files of SONiC in the order of the numbers
// that a scenario uses: first those of that order, then the other ports that
// the files configure. The error names a port that is not there, or is there
// twice.
func sonicPorts(sw *switchconf.Switch, order []string) ([]*switchconf.Port, error) {
	list := make([]*switchconf.Port, 0, len(sw.Ports))
	for i, name := range order {
		p := sw.Port(name)
		switch {
		case p == nil:
			var names []string
			for _, q := range sw.Configured() {
				names = append(names, q.Name)
			}
			return nil, fmt.Errorf("ports: %q: the files have no such port: %swant some of %s", name, didYouMean(name, names), some(names))
		case slices.Contains(order[:i], name):
			return nil, fmt.Errorf("ports: %q: it is in the list twice", name)
		}
		list = append(list, p)
	}
	for _, p := range sw.Configured() {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list, nil
}
