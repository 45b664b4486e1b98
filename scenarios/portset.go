package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"rdmasim/sim"
)

// maxPort is the largest number of a port that a rule can name.
const maxPort = 1<<16 - 1

// portRange is a closed range of port numbers.
type portRange struct{ low, high int }

// parsePorts reads numbers and ranges such as 0-15,18. A star is every port.
func parsePorts(text string) ([]portRange, error) {
	if strings.TrimSpace(text) == "*" {
		return []portRange{{0, maxPort}}, nil
	}
	var list []portRange
	for part := range strings.SplitSeq(text, ",") {
		a, b, isRange := strings.Cut(strings.TrimSpace(part), "-")
		low, err1 := strconv.Atoi(a)
		high, err2 := low, error(nil)
		if isRange {
			high, err2 = strconv.Atoi(b)
		}
		if err1 != nil || err2 != nil || low < 0 || high < low || high > maxPort {
			return nil, fmt.Errorf("want numbers and ranges of ports, such as 0-15,18, or * for all")
		}
		list = append(list, portRange{low, high})
	}
	return list, nil
}

// matches reports whether the rule holds for a port.
func (m *PortMatch) matches(port int, rate sim.Rate, peer string) bool {
	if m.Rate > 0 && m.Rate != rate || m.Peer != "*" && !matches(m.Peer, peer) {
		return false
	}
	list, err := parsePorts(m.Ports)
	if err != nil {
		return false
	}
	for _, r := range list {
		if port >= r.low && port <= r.high {
			return true
		}
	}
	return false
}

// checkPorts checks the keys of a match that stand at path.
func (s *Spec) checkPorts(m *PortMatch, path string) error {
	if _, err := parsePorts(m.Ports); err != nil {
		return s.errorAt(path+".ports", orEmpty(m.Ports), "%v", err)
	}
	return s.checkMatch(m.Peer, path+".peer")
}
