package scenarios

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Lumina tests RDMA NICs with a switch that injects events into exactly named
// packets (Yu et al., "Understanding the Micro-Behaviors of Hardware Offloaded
// Network Stacks with Lumina", SIGCOMM'23). Its configuration names a requester,
// a responder and their traffic; queue pairs and packets are numbered from 0,
// and an event holds for each message of its queue pair.

// lumina is what a configuration says of traffic and events.
type lumina struct {
	source
	base                   string // path of traffic
	qps, messages, depth   int64
	mtu, size              int64
	timeout, retry         int64
	verb                   string
	rate                   string
	reaction, notification bool
	adaptive               bool  // retransmission
	interval               int64 // least time between two CNPs, us; -1 = not said
	events                 []luminaEvent
	left                   []string // keys that a simulated fabric has no use for
}

type luminaEvent struct {
	qp, iter int64
	psn      []int64 // of each message
	do       string
}

// Bounds on what a configuration may ask for.
const (
	luminaMostQPs     = 4096
	luminaMostPackets = 100_000 // named by events
)

// isLumina tells a configuration of Lumina from a scenario: its traffic is a
// mapping with a list of packet events or a number of messages per queue pair.
func isLumina(root *yaml.Node) bool {
	_, traffic := child(root, "traffic")
	if traffic == nil || traffic.Kind != yaml.MappingNode {
		return false
	}
	_, events := child(traffic, "data-pkt-events")
	_, messages := child(traffic, "num-msgs-per-qp")
	return events != nil || messages != nil
}

// FromLumina turns the YAML of a Lumina test into the text of a scenario: two
// hosts on a switch, h1 the requester and h0 the responder. left says which keys
// of its traffic were left out and why. ok is false where data is no such file.
func FromLumina(file string, data []byte) (text []byte, left []string, ok bool, err error) {
	src, err := readTree(file, data)
	if err != nil || !isLumina(src.root) {
		return nil, nil, false, err
	}
	l := &lumina{source: *src, base: "traffic"}
	if err := l.read(); err != nil {
		return nil, nil, true, err
	}
	return []byte(l.scenario()), l.left, true, nil
}

func (l *lumina) fail(path, value, format string, args ...any) error {
	pos, _ := l.find(path)
	return &Error{Pos: pos, Path: path, Value: value, Problem: fmt.Sprintf(format, args...)}
}

// number reads a whole number; otherwise is what holds where the key is absent,
// -1 = it must be there.
func (l *lumina) number(key string, otherwise, low, high int64) (int64, error) {
	path := join(l.base, key)
	if _, ok := l.find(path); !ok {
		if otherwise < 0 {
			return 0, l.fail(path, "", "is missing: want a whole number from %d to %d", low, high)
		}
		return otherwise, nil
	}
	text := l.text(path)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > high {
		return 0, l.fail(path, orEmpty(text), "want a whole number from %d to %d", low, high)
	}
	return n, nil
}

// read takes what a simulation needs out of the tree.
func (l *lumina) read() (err error) {
	for _, k := range []struct {
		to                   *int64
		key                  string
		otherwise, low, high int64
	}{
		{&l.messages, "num-msgs-per-qp", 1, 1, 1_000_000}, {&l.depth, "tx-depth", 1, 1, 65536}, {&l.mtu, "mtu", 1024, 256, 4096},
		{&l.size, "message-size", -1, 1, 1 << 31}, {&l.timeout, "min-retransmit-timeout", 14, 0, 31}, {&l.retry, "max-retransmit-retry", 7, 0, 7},
	} {
		if *k.to, err = l.number(k.key, k.otherwise, k.low, k.high); err != nil {
			return err
		}
	}
	if !slices.Contains([]int64{256, 512, 1024, 2048, 4096}, l.mtu) {
		return l.fail("traffic.mtu", fmt.Sprint(l.mtu), "want one of 256, 512, 1024, 2048, 4096")
	}
	if err := l.readQPs(); err != nil {
		return err
	}
	l.verb = strings.ToLower(strings.TrimSpace(l.text("traffic.rdma-verb")))
	switch l.verb {
	case "":
		l.verb = "write"
	case "write", "send", "read":
	default:
		return l.fail("traffic.rdma-verb", l.verb, "want write, send or read")
	}
	l.reaction = l.flag("requester.roce-parameters.dcqcn-rp-enable", true)
	l.notification = l.flag("responder.roce-parameters.dcqcn-np-enable", true)
	l.adaptive = l.flag("requester.roce-parameters.adaptive-retrans", false)
	if err := l.readOutside(); err != nil {
		return err
	}
	if l.flag("traffic.barrier-sync", false) {
		l.left = append(l.left, "barrier-sync: queue pairs do not wait for each other after a message")
	}
	l.unused()
	return l.readEvents()
}

// luminaUsed are the keys of traffic that the scenario is made of, luminaUnused
// what becomes of others that Lumina knows.
var (
	luminaUsed = []string{"rdma-verb", "num-qps", "num-msgs-per-qp", "mtu", "message-size", "barrier-sync", "tx-depth",
		"min-retransmit-timeout", "max-retransmit-retry", "data-pkt-events"}
	luminaUnused = map[string]string{"multi-gid": "every host has one address", "dscp-list": "all queue pairs have the DSCP of their NIC",
		"listen-port": "queue pairs need no controller to find each other"}
)

// portSpeed is how Lumina writes the speed of all ports.
var portSpeed = regexp.MustCompile(`^(10|25|40|50|100|200|400|800)G$`)

// readOutside reads what stands beside traffic: the speed of the ports, and
// parameters of the two NICs.
func (l *lumina) readOutside() error {
	l.rate, l.interval = "100Gbps", -1
	const speed, gap = "switch.port-speed", "responder.roce-parameters.min-time-between-cnps"
	if text := l.text(speed); text != "" {
		if !portSpeed.MatchString(text) {
			return l.fail(speed, text, "want 10G, 25G, 40G, 50G, 100G, 200G, 400G or 800G")
		}
		l.rate = text + "bps"
	}
	if text := l.text(gap); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > 1_000_000 {
			return l.fail(gap, text, "want microseconds, from 0 to 1000000")
		}
		l.interval = n
	}
	if l.flag("requester.roce-parameters.slow-restart", false) || l.flag("responder.roce-parameters.slow-restart", false) {
		l.left = append(l.left, "slow-restart: a queue pair goes on at its rate after a loss")
	}
	if text := l.text("num-repeats"); text != "" && text != "1" {
		l.left = append(l.left, "num-repeats: a run is one repetition, see --seed")
	}
	return nil
}

// congestion is what the NICs do about marks. A requester that does not react to
// CNPs still gets them, if the responder sends them: its rate has a floor at that
// of the link.
func (l *lumina) congestion() string {
	if !l.notification {
		return "none"
	}
	var p []string
	if l.interval >= 0 {
		p = append(p, fmt.Sprintf("cnp_interval: %dus", l.interval))
	}
	if !l.reaction {
		p = append(p, "min_rate: "+l.rate)
	}
	if len(p) == 0 {
		return "dcqcn"
	}
	return "{dcqcn: {" + strings.Join(p, ", ") + "}}"
}

// unused names every key of traffic that nothing is made of: none is left out
// in silence.
func (l *lumina) unused() {
	_, traffic := child(l.root, "traffic")
	for i := 0; i+1 < len(traffic.Content); i += 2 {
		key := traffic.Content[i].Value
		if slices.Contains(luminaUsed, key) {
			continue
		}
		why, known := luminaUnused[key]
		if !known {
			why = "not a key of Lumina that is known here"
		}
		l.left = append(l.left, key+": "+why)
	}
}

// flag reads true or false in the spellings of YAML 1.1.
func (l *lumina) flag(path string, otherwise bool) bool {
	switch strings.ToLower(l.text(path)) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		return false
	}
	return otherwise
}

// readQPs adds the numbers of queue pairs, which may be one per address.
func (l *lumina) readQPs() error {
	path := "traffic.num-qps"
	text := l.text(path)
	if text == "" {
		path = "traffic.num-connections"
		text = l.text(path)
	}
	if text == "" {
		text = "1"
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		if err != nil || n < 1 || n > luminaMostQPs {
			return l.fail(path, text, "want a number of queue pairs from 1 to %d, or several with commas", luminaMostQPs)
		}
		l.qps += n
	}
	if l.qps > luminaMostQPs {
		return l.fail(path, text, "%d queue pairs: want at most %d", l.qps, luminaMostQPs)
	}
	return nil
}

// luminaTypes are the kinds of events.
var luminaTypes = map[string]string{"drop": "drop", "ecn": "ce", "bit-error": "corrupt", "corrupt": "corrupt"}

func (l *lumina) readEvents() error {
	_, traffic := child(l.root, "traffic")
	_, list := child(traffic, "data-pkt-events")
	if list == nil || list.Kind == yaml.ScalarNode && (list.ShortTag() == "!!null" || list.Value == "None") {
		return nil
	}
	if list.Kind != yaml.SequenceNode {
		return l.fail("traffic.data-pkt-events", scalarText(list), "want a list, such as [{qpn: 0, psn: 4, type: drop, iter: 1}]")
	}
	packets := (l.size + l.mtu - 1) / l.mtu
	named := int64(0)
	for i := range list.Content {
		at := "data-pkt-events." + strconv.Itoa(i)
		var e luminaEvent
		var err error
		if e.qp, err = l.number(at+".qpn", -1, 0, l.qps-1); err != nil {
			return err
		}
		if e.iter, err = l.number(at+".iter", 1, 1, 1000); err != nil {
			return err
		}
		path := join(l.base, at)
		var ok bool
		if e.do, ok = luminaTypes[strings.ToLower(l.text(path+".type"))]; !ok {
			return l.fail(path+".type", l.text(path+".type"), "want one of drop, ecn, bit-error")
		}
		if strings.ToLower(l.text(path+".psn")) == "all" {
			for n := range min(packets, luminaMostPackets+1) {
				e.psn = append(e.psn, n)
			}
		} else {
			n, err := l.number(at+".psn", -1, 0, packets-1)
			if err != nil {
				return err
			}
			e.psn = []int64{n}
		}
		if named += int64(len(e.psn)) * l.messages; named > luminaMostPackets {
			return l.fail(path, "", "the events name %d packets or more: want at most %d", named, luminaMostPackets)
		}
		l.events = append(l.events, e)
	}
	return nil
}

// scenario writes the text.
func (l *lumina) scenario() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	name := strings.TrimSuffix(filepath.Base(l.file), filepath.Ext(l.file))
	p("# Packet events of the Lumina test %s.", printable(filepath.Base(l.file)))
	p("#")
	p("# h1 is the requester, h0 the responder; the switch between them takes the place")
	p("# of the injector. Queue pairs are numbered from 1 here and from 0 there; packets")
	p("# from 0 in both. What the file says of addresses, NICs and captures has no use here.")
	for _, s := range l.left {
		p("# Left out: %s.", s)
	}
	if name = luminaName(name); name != "" {
		p("name: %s", name)
	}
	p("max_duration: 60s")
	p("topology: {star: {hosts: 2, rate: %s, cable: 3m}}", l.rate)
	policy := ""
	if l.adaptive {
		policy = ", timeout_policy: adaptive"
	}
	p("nic: {path_mtu: %d, timeout: %d, retry_count: %d%s, congestion: %s}", l.mtu, l.timeout, l.retry, policy, l.congestion())
	p("traffic:")
	p("  - incast: {receiver: h0, senders: [h1], qps_per_peer: %d, verb: %s, message: %dB, repeat: %d, depth: %d}", l.qps, l.verb, l.size, l.messages, l.depth)
	host := "h1"
	if l.verb == "read" {
		host = "h0" // responses carry the data
	}
	if len(l.events) > 0 {
		p("faults:")
	}
	packets := (l.size + l.mtu - 1) / l.mtu
	for _, e := range l.events {
		var psn []string
		for m := range l.messages {
			for _, n := range e.psn {
				psn = append(psn, strconv.FormatInt((m*packets+n)&(1<<24-1), 10))
			}
		}
		p("  - packet: {host: %s, qp: %d, psn: [%s], nth: %d, do: %s}", host, e.qp+1, strings.Join(psn, ", "), e.iter, e.do)
	}
	return b.String()
}

// luminaName makes the name of a file that of a run.
func luminaName(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '-'
	}, s), "-")
}
