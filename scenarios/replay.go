package scenarios

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"rdmasim/fabric/capture/analysis"
	"rdmasim/sim"
)

// replayRate is the rate of the links where a capture does not tell it.
const replayRate = 100 * sim.Gbps

// ReplayYAML returns a scenario that sends the messages of a capture at the
// times at which the capture saw them begin: one switch, a host for every
// address, and a queue pair for every message. An atomic operation is a READ of
// its 8 bytes.
//
//nolint:funlen // steps in their order
func ReplayYAML(name string, r *analysis.Replay, rate sim.Rate) ([]byte, error) {
	if len(r.Messages) == 0 {
		return nil, fmt.Errorf("the capture holds no whole message")
	}
	hosts := map[string]int{}
	var order []string
	number := func(addr string) int {
		n, ok := hosts[addr]
		if !ok {
			n = len(order)
			hosts[addr] = n
			order = append(order, addr)
		}
		return n
	}
	lists := map[string][]string{}
	first := r.Messages[0].Start
	for _, m := range r.Messages {
		first = min(first, m.Start)
	}
	messages := slices.Clone(r.Messages)
	slices.SortStableFunc(messages, func(a, b analysis.Message) int { return int(min(max(a.Start-b.Start, -1), 1)) })
	atomics := 0
	for _, m := range messages {
		src, dst, kind := m.Src, m.Dst, "write"
		switch {
		case strings.HasPrefix(m.Verb, "SEND"):
			kind = "send"
		case !strings.HasPrefix(m.Verb, "WRITE"): // the data comes from the peer
			kind = "read"
			if m.Verb != "READ" {
				atomics++
			}
		}
		line := fmt.Sprintf("      - {from: h%d, to: h%d, size: %dB, at: %v", number(src), number(dst), max(m.Bytes, 1), m.Start.Sub(first))
		if m.SrcPort != 0 {
			line += fmt.Sprintf(", sport: %d", m.SrcPort)
		}
		lists[kind] = append(lists[kind], line+fmt.Sprintf(", tag: qp%d}\n", m.QPN))
	}
	if rate == 0 {
		rate = replayRate
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# The %d messages of a capture, at the times at which it saw them begin.\n", len(messages))
	if r.Left > 0 {
		fmt.Fprintf(&b, "# %d more were left out.\n", r.Left)
	}
	if atomics > 0 {
		fmt.Fprintf(&b, "# %d atomic operations are READs of 8 bytes.\n", atomics)
	}
	b.WriteString("# The fabric is a guess: change it into yours. The hosts:\n")
	for i, addr := range order {
		fmt.Fprintf(&b, "#   h%-4d %s\n", i, addr)
	}
	fmt.Fprintf(&b, "name: %s\nseed: 1\nduration: until_done\ntopology: {star: {hosts: %d, rate: %v}}\n", yamlName(name), max(len(order), 2), rate)
	b.WriteString("switch: {pfc: {priorities: [3]}}\n")
	if slices.Contains([]int{256, 512, 1024, 2048, 4096}, r.MTU) {
		fmt.Fprintf(&b, "nic: {path_mtu: %d}\n", r.MTU)
	}
	b.WriteString("traffic:\n")
	for _, kind := range []string{"write", "send", "read"} {
		if len(lists[kind]) > 0 {
			fmt.Fprintf(&b, "  - flows:\n      verb: %s\n      list:\n", kind)
			for _, line := range lists[kind] {
				b.WriteString(line)
			}
		}
	}
	return b.Bytes(), nil
}

// yamlName keeps of a file's name what a scenario can be called.
func yamlName(name string) string {
	name = strings.Trim(strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-':
			return c
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		}
		return '-'
	}, name), "-")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "replay-" + name
	}
	return strings.TrimRight(name, "-")
}
