package netem

import (
	"fmt"
	"regexp"
	"strconv"

	"rdmasim/sim"
)

// RoCEv2Port is the UDP destination port of RoCEv2 (IANA).
const RoCEv2Port = 4791

// Select says which packets of an interface a fault hits.
type Select struct {
	All bool   // everything, and not RoCEv2 (UDP 4791) alone
	QPN uint32 // destination queue pair, IPv4 without options; 0 = any
}

var interfaceName = regexp.MustCompile(`^[A-Za-z0-9_.@-]{1,15}$`)

// checkInterface keeps odd names out of commands.
func checkInterface(name string) error {
	if !interfaceName.MatchString(name) || name[0] == '-' {
		return fmt.Errorf("interface %q: letters, digits, and _ . - , at most 15", name)
	}
	return nil
}

// Impair returns the changes that put an impairment on what leaves an
// interface: a prio queue whose last band holds netem, and a filter that sends
// the selected packets there, so that ssh and ARP are left alone.
func Impair(dev string, m Impairment, sel Select) ([]Change, error) {
	if err := checkInterface(dev); err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	remove := Command{"tc", "qdisc", "del", "dev", dev, "root"}
	if sel.All {
		return []Change{{What: "impair all packets that leave " + dev, Do: append(Command{"tc", "qdisc", "add", "dev", dev, "root", "handle", "4791:"}, m.args()...), Undo: remove}}, nil
	}
	c := []Change{
		{What: "queues for selected packets on " + dev, Do: Command{"tc", "qdisc", "add", "dev", dev, "root", "handle", "4791:", "prio", "bands", "4", "priomap",
			"0", "1", "1", "1", "0", "1", "0", "0", "1", "1", "1", "1", "1", "1", "1", "1"}, Undo: remove},
		{What: "impairment on the last queue", Do: append(Command{"tc", "qdisc", "add", "dev", dev, "parent", "4791:4", "handle", "4792:"}, m.args()...)},
	}
	filter := Command{"tc", "filter", "add", "dev", dev, "parent", "4791:", "protocol", "ip", "prio", "1", "u32",
		"match", "ip", "protocol", "17", "0xff", "match", "ip", "dport", strconv.Itoa(RoCEv2Port), "0xffff"}
	if sel.QPN != 0 {
		// The destination QP is in bytes 5 to 7 of the BTH, which follows 20
		// bytes of IPv4 and 8 of UDP.
		filter = append(filter, "match", "u32", fmt.Sprintf("%#08x", sel.QPN), "0x00ffffff", "at", "32")
	}
	c = append(c, Change{What: "selected packets to the last queue", Do: append(filter, "flowid", "4791:4")})
	if sel.QPN == 0 {
		c = append(c, Change{What: "the same for IPv6", Do: Command{"tc", "filter", "add", "dev", dev, "parent", "4791:", "protocol", "ipv6", "prio", "2", "u32",
			"match", "ip6", "protocol", "17", "0xff", "match", "ip6", "dport", strconv.Itoa(RoCEv2Port), "0xffff", "flowid", "4791:4"}})
	}
	return c, nil
}

// Action is what a packet-exact rule does.
type Action string

// Actions of packet-exact rules.
const (
	Drop    Action = "drop"
	MarkCE  Action = "ecn"
	Corrupt Action = "corrupt"
)

// Rule picks packets at the ingress of the receiver. A rule at the sender's
// output hook would make Soft-RoCE spin for ever and is never made.
type Rule struct {
	Action Action
	QPN    uint32 // destination queue pair; 0 = any
	PSN    int64  // packet sequence number; -1 = any
	Every  uint32 // of the packets that match, one in so many; 0 or 1 = all
	Nth    uint32 // with Every: which one, from 0; alone: the nth that matches, from 1, once
	// Longer picks only IP packets longer than this; 0 = any length.
	Longer sim.Bytes
}

// Table returns the name of the table that Rules makes.
func Table(id string) string { return "rdmasim_" + id }

// statement returns the rule in the words of nftables. @th counts bits from the
// UDP header: 64 of them, then the BTH with the destination QP in bits 40 to 63
// and the PSN in bits 72 to 95.
func (r *Rule) statement() (string, error) {
	s := "udp dport " + strconv.Itoa(RoCEv2Port)
	if r.QPN >= 1<<24 || r.PSN >= 1<<24 {
		return "", fmt.Errorf("queue pair %d, PSN %d: both have 24 bits", r.QPN, r.PSN)
	}
	if r.QPN != 0 {
		s += fmt.Sprintf(" @th,104,24 %#x", r.QPN)
	}
	if r.PSN >= 0 {
		s += fmt.Sprintf(" @th,136,24 %#x", r.PSN)
	}
	if r.Longer > 0 {
		s += fmt.Sprintf(" meta length > %d", r.Longer)
	}
	switch {
	case r.Every > 1:
		s += fmt.Sprintf(" numgen inc mod %d %d", r.Every, r.Nth%r.Every)
	case r.Nth > 0:
		// Once in four thousand million: the generator does not come round.
		s += fmt.Sprintf(" numgen inc mod 4294967295 %d", r.Nth-1)
	}
	s += " counter"
	switch r.Action {
	case Drop:
		return s + " drop", nil
	case MarkCE:
		return s + " ip ecn set ce", nil
	case Corrupt:
		// A byte of the payload: the ICRC covers it.
		return s + " @th,192,8 set 0x5a", nil
	}
	return "", fmt.Errorf("%w: action %q: drop, ecn or corrupt; nftables cannot delay a packet, use Impair with a queue pair", ErrNotSupported, r.Action)
}

// Rules returns the changes that install packet-exact rules at the ingress of
// an interface, in a table of its own.
func Rules(dev, id string, rules []Rule) ([]Change, error) {
	if err := checkInterface(dev); err != nil {
		return nil, err
	}
	table := Table(id)
	if !regexp.MustCompile(`^[a-z0-9_]{1,40}$`).MatchString(table) {
		return nil, fmt.Errorf("id %q: small letters and digits", id)
	}
	c := []Change{
		{What: "a table for the rules", Do: Command{"nft", "add", "table", "netdev", table}, Undo: Command{"nft", "delete", "table", "netdev", table}},
		{What: "a chain at the ingress of " + dev, Do: Command{"nft", "add", "chain", "netdev", table, "in", fmt.Sprintf("{ type filter hook ingress device %q priority 0 ; }", dev)}},
	}
	for i := range rules {
		s, err := rules[i].statement()
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		c = append(c, Change{What: string(rules[i].Action) + " packets", Do: Command{"nft", "add", "rule", "netdev", table, "in", s}})
	}
	return c, nil
}

// LinkDown takes an interface down.
func LinkDown(dev string) ([]Change, error) {
	if err := checkInterface(dev); err != nil {
		return nil, err
	}
	return []Change{{What: "link down on " + dev, Do: Command{"ip", "link", "set", "dev", dev, "down"}, Undo: Command{"ip", "link", "set", "dev", dev, "up"}}}, nil
}

// MTU sets the MTU of an interface; was is the one that undo sets.
func MTU(dev string, mtu, was sim.Bytes) ([]Change, error) {
	if err := checkInterface(dev); err != nil {
		return nil, err
	}
	if mtu < 68 || mtu > 65535 {
		return nil, fmt.Errorf("MTU %d: 68 to 65535", mtu)
	}
	set := func(n sim.Bytes) Command {
		return Command{"ip", "link", "set", "dev", dev, "mtu", strconv.FormatInt(int64(n), 10)}
	}
	return []Change{{What: fmt.Sprintf("MTU of %s from %d to %d", dev, was, mtu), Do: set(mtu), Undo: set(was)}}, nil
}
