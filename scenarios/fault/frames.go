package fault

import (
	"fmt"
	"strings"

	"rdmasim/fabric/packet"
	"rdmasim/verbs/simnic"
)

// Frames says which of the frames that pass a fault chooses among.
type Frames struct {
	Only  Kinds  `key:"only" doc:"kinds of frames: data, ack, nak, cnp, retransmission, xoff, refresh, xon; roce = all but pauses, pfc = pauses, all"`
	Src   string `key:"src" doc:"only of these hosts, a name or a pattern"`
	Dst   string `key:"dst" doc:"only to these hosts, a name or a pattern"`
	Class int    `key:"priority" range:"-1..7" doc:"only of this priority; -1 = any"`
	QP    int    `key:"qp" range:"0..65535" doc:"only of this queue pair of the sender, numbered from 1 as in flows.csv; 0 = any"`
}

// anyFrames is the default of Frames.
func anyFrames() Frames { return Frames{Class: -1} }

// Kinds are kinds of frames. In text a list, or one alone.
type Kinds []Kind

// Kind is a kind of frames.
type Kind string

// kindBits of the kinds of frames.
const (
	isData uint16 = 1 << iota
	isRetransmission
	isAck
	isNak
	isCNP
	isXoff
	isRefresh
	isXon
	kindsRoCE = isData | isRetransmission | isAck | isNak | isCNP
	kindsPFC  = isXoff | isRefresh | isXon
	kindsAll  = kindsRoCE | kindsPFC
)

var kindWords = []struct {
	word string
	bits uint16
}{
	{"all", kindsAll}, {"roce", kindsRoCE}, {"data", isData | isRetransmission}, {"retransmission", isRetransmission}, {"ack", isAck},
	{"nak", isNak}, {"cnp", isCNP}, {"pfc", kindsPFC}, {"xoff", isXoff}, {"refresh", isRefresh}, {"xon", isXon},
}

// UnmarshalText reads one kind.
func (k *Kind) UnmarshalText(b []byte) error {
	word := strings.TrimSpace(string(b))
	all := make([]string, len(kindWords))
	for i, w := range kindWords {
		if w.word == word {
			*k = Kind(word)
			return nil
		}
		all[i] = w.word
	}
	return fmt.Errorf("%q is no kind of frames: want one of %s", word, strings.Join(all, ", "))
}

// MarshalText prints the kind.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k), nil }

// UnmarshalText reads kinds separated by commas.
func (k *Kinds) UnmarshalText(b []byte) error {
	*k = nil
	for word := range strings.SplitSeq(string(b), ",") {
		var one Kind
		if err := one.UnmarshalText([]byte(word)); err != nil {
			return err
		}
		*k = append(*k, one)
	}
	return nil
}

func (k Kinds) bits(otherwise uint16) (bits uint16) {
	if len(k) == 0 {
		return otherwise
	}
	for _, one := range k {
		for _, w := range kindWords {
			if w.word == string(one) {
				bits |= w.bits
			}
		}
	}
	return bits
}

func (f Frames) check() error {
	if f.Class < -1 || f.Class > 7 {
		return fmt.Errorf("priority: %d: want 0..7, or -1 for any", f.Class)
	}
	if f.QP < 0 || f.QP > 65535 {
		return fmt.Errorf("qp: %d: want 0..65535", f.QP)
	}
	for _, p := range []struct{ key, value string }{{"src", f.Src}, {"dst", f.Dst}} {
		if err := checkPattern(p.key, p.value); err != nil {
			return err
		}
	}
	pauses := f.Only.bits(0) & kindsPFC
	if pauses != 0 && (f.Src != "" || f.Dst != "" || f.QP != 0) {
		return fmt.Errorf("only: pause frames have neither hosts nor a queue pair: leave src, dst and qp out")
	}
	return nil
}

// matcher is a compiled Frames.
type matcher struct {
	kinds    uint16
	class    int8
	qp       uint32 // as on the wire, 0 = any
	src, dst []bool // by endpoint, nil = any
	held     *[8]bool
}

// compile looks up the hosts of a filter.
func (f Frames) compile(c *Context, otherwise uint16) (m matcher, err error) {
	m = matcher{kinds: f.Only.bits(otherwise), class: int8(f.Class), held: new([8]bool)}
	if f.QP > 0 {
		m.qp = simnic.WireQPN(f.QP)
	}
	if f.Src != "" || f.Dst != "" || f.QP > 0 {
		m.kinds &= kindsRoCE
	}
	if m.src, err = c.endpoints("src", f.Src); err != nil {
		return m, err
	}
	m.dst, err = c.endpoints("dst", f.Dst)
	return m, err
}

// endpoints returns which endpoints belong to hosts that match.
func (c *Context) endpoints(key, pattern string) ([]bool, error) {
	if pattern == "" {
		return nil, nil
	}
	list, found := make([]bool, len(c.NodeOf)), false
	for e, node := range c.NodeOf {
		list[e] = match(pattern, c.Graph.Nodes[node].Name)
		found = found || list[e]
	}
	if !found {
		return nil, fmt.Errorf("%s: %s: matches none: there are %s", key, pattern, c.places("host"))
	}
	return list, nil
}

// matches reports whether a frame is one of those.
func (m *matcher) matches(p *packet.Packet) bool {
	if m.kindOf(p)&m.kinds == 0 {
		return false
	}
	if p.Kind >= packet.PFC {
		return m.class < 0 || p.Kind == packet.Pause || p.Classes&(1<<uint8(m.class)) != 0
	}
	return (m.class < 0 || int8(p.Prio) == m.class) && (m.qp == 0 || p.SrcQP&^packet.AcceptedQP == m.qp) &&
		(m.src == nil || m.src[p.Src]) && (m.dst == nil || m.dst[p.Dst])
}

// kindOf returns the bit of a frame. An XOFF for a class that was paused last
// is a refresh.
func (m *matcher) kindOf(p *packet.Packet) uint16 {
	switch p.Kind {
	case packet.Data:
		if p.Flags&packet.FlagRetx != 0 {
			return isRetransmission
		}
		return isData
	case packet.Ack:
		return isAck
	case packet.Nak:
		return isNak
	case packet.CNP:
		return isCNP
	case packet.PFC, packet.Pause:
		bit, classes := isRefresh, p.Classes
		if p.Kind == packet.Pause {
			classes = 0xff
		}
		for i := range m.held {
			if classes&(1<<i) == 0 {
				continue
			}
			if !m.held[i] {
				bit = isXoff
			}
			m.held[i] = p.Quanta > 0
		}
		if p.Quanta == 0 {
			return isXon
		}
		return bit
	}
	return 0
}
