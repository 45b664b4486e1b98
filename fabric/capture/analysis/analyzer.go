package analysis

import (
	"fmt"
	"net/netip"
	"strings"

	"rdmasim/fabric/capture"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Options of an analysis.
type Options struct {
	// Rate of the links, for the length of pauses where the capture does not
	// tell the speed of its interfaces; 0 = not known.
	Rate sim.Rate
	// PauseUntilXon says that pauses last until they are taken back, whatever
	// their quanta.
	PauseUntilXon bool
	// CNPInterval is how far apart CNPs of a flow must be; 0 = not checked.
	CNPInterval sim.Duration
	// SkipCopies leaves packets out that are the same as one shortly before, as
	// a mirror shows them that copies everything twice.
	SkipCopies bool
	// Sink gets the rows of flows and events; the caller drains it. nil = none.
	Sink *trace.Sink
	// Names numbers the objects that events speak of; nil = a table of its own.
	Names *trace.Names
}

// Total counts the frames of a capture by what they are.
type Total struct {
	Packets, Bytes   uint64 // records, and bytes on the wire
	Kinds            [capture.FrameKinds]uint64
	Truncated        uint64 // records that hold only a part of their frame
	PFC, Pause8023   uint64
	PauseNotFollowed uint64
	ICRCValid        uint64
	ICRCInvalid      uint64
	ICRCAbsent       uint64 // RDMA packets of which the end was not captured
	ReservedOpcodes  uint64
	Management       uint64 // packets of queue pair 1
	OutOfOrder       uint64 // records with a time before the one before
	NoTime           uint64
	Damaged          uint64 // frames with CRC errors, as the capture says
	CaptureDrops     uint64 // packets that the capture says it lost
	NotFollowed      uint64 // RDMA packets beyond MaxStreams, MaxHosts or the views of a stream
	OtherLink        uint64 // frames of link types that are not read
	Tunnelled        uint64 // RDMA packets inside of VXLAN, Geneve, GRE, ERSPAN or IP
	HeadersCut       uint64 // RDMA packets without all of their extended headers
	AnswersCut       uint64 // of these, acknowledgements without their syndrome
	Answers          AnswerTotal
}

// AnswerTotal counts the packets of responders, whether their requests were
// captured or not.
type AnswerTotal struct {
	Acks       uint64 `json:"acks"`
	Naks       uint64 `json:"naks"` // PSN sequence errors
	RNRs       uint64 `json:"rnr_naks"`
	OtherNaks  uint64 `json:"other_naks"`
	Responses  uint64 `json:"read_response_packets"`
	AtomicAcks uint64 `json:"atomic_acks"`
	CNPs       uint64 `json:"cnps"`
}

// host is an address that RDMA packets come from or go to.
type host struct {
	addr netip.Addr
	name string
	id   trace.ObjectID
	mac  [6]byte
	home int // its interface, or that at which its packets were first seen; -1 = not known
	// reached says that its interface sees what is sent to it.
	reached bool
	marked  int  // one more than the interface at which a marked packet of it was seen last
	seen    bool // a packet came from it or went to it
	cnp     pace
	paceBy  []addressPace
	number  int // in the order of appearance
	sent    bins
	cnps    bins
}

// addressPace is the rhythm of CNPs to one address.
type addressPace struct {
	to netip.Addr
	pace
}

func (a *Analyzer) paceTo(h *host, to netip.Addr) *pace {
	for i := range h.paceBy {
		if h.paceBy[i].to == to {
			return &h.paceBy[i].pace
		}
	}
	if a.paces == maxPaces {
		return &pace{}
	}
	a.paces++
	h.paceBy = append(h.paceBy, addressPace{to: to})
	return &h.paceBy[len(h.paceBy)-1].pace
}

// Analyzer follows a capture.
type Analyzer struct {
	opt        Options
	names      *trace.Names
	ifaces     []capture.Interface
	started    bool
	epochSec   int64 // time 0 of the run
	epochPico  int64
	start, now sim.Time
	total      Total
	hosts      map[netip.Addr]*host
	hostList   []*host
	byKey      map[streamKey]*stream
	byPair     map[pairKey][]*stream
	conns      map[connKey]*conn
	connList   []*conn
	connsLeft  uint64
	pairs      map[streamKey]knownPair
	streams    []*stream
	pausers    map[pauserKey]*pauser
	pauserList []*pauser
	checks     [rules]Check
	frame      capture.Frame
	held       held
	copies     copies
	bareCNPs   uint64 // that no rule could be applied to
	unpaired   uint64
	events     uint64
	flowID     uint64
	open       int     // messages without an end
	unlisted   uint64  // messages that are in no row
	last       *stream // of the packet before: packets come in runs
	series     binClock
	views      int // of all streams
	waiting    int // messages of all streams
	paces      int
	timed      int // streams with stamps
	rtt        histogram
	cnpGaps    histogram
	keep       func(*stream, *message) // gets every message whose end was seen
}

// New returns an Analyzer.
func New(o Options) *Analyzer {
	if o.Names == nil {
		o.Names = trace.NewNames()
	}
	return &Analyzer{opt: o, names: o.Names, hosts: map[netip.Addr]*host{}, byKey: map[streamKey]*stream{}, byPair: map[pairKey][]*stream{},
		conns: map[connKey]*conn{}, pairs: map[streamKey]knownPair{},
		pausers: map[pauserKey]*pauser{}, checks: newChecks(), series: newBinClock()}
}

// add follows one record.
func (a *Analyzer) add(rec *capture.Record, interfaces []capture.Interface) {
	for i := len(a.ifaces); i < len(interfaces); i++ {
		a.ifaces = interfaces[:i+1]
		for _, addr := range interfaces[i].Addresses {
			if h := a.host(addr); h != nil && h.home < 0 {
				h.home, h.reached, h.mac = i, true, interfaces[i].MAC
			}
		}
	}
	a.ifaces = interfaces
	a.clock(rec)
	t := &a.total
	t.Packets++
	t.Bytes += uint64(rec.Original)
	t.CaptureDrops += rec.Drops
	link := interfaces[rec.Interface].Link
	if !link.Known() {
		t.OtherLink++
		return
	}
	f := &a.frame
	f.Decode(link, rec.Data, rec.Original)
	t.Kinds[f.Kind]++
	if f.ICRC == capture.ICRCAbsent && strings.HasPrefix(rec.Comment, "corrupt: ") {
		f.ICRC = capture.ICRCInvalid // of a simulation that kept the beginning of each frame
	}
	if f.Truncated {
		t.Truncated++
	}
	damaged := rec.CRCError || dropped(rec.Comment)
	if damaged {
		t.Damaged++
	}
	switch {
	case f.Kind == capture.KindPause:
		if !damaged {
			a.pause(f, rec.Interface, rec.Direction)
		}
	case f.Kind.RDMA():
		a.rdma(f, rec, damaged)
	}
}

// dropped reports whether a comment says that the frame went no further: that
// is how a simulation writes what its switches threw away.
func dropped(comment string) bool { return strings.HasPrefix(comment, "dropped: ") }

// clock advances the time, which never goes back.
func (a *Analyzer) clock(rec *capture.Record) {
	if !rec.HasTime {
		a.total.NoTime++
		return
	}
	if !a.started {
		a.started = true
		// A simulation counts from 1970; a real capture is told from its first packet.
		if rec.Sec > 365*24*3600 || rec.Sec < 0 {
			a.epochSec, a.epochPico = rec.Sec, rec.Pico
		}
		a.start = a.since(rec)
		a.now = a.start
	}
	t := a.since(rec)
	if t < a.now {
		a.total.OutOfOrder++
		return
	}
	a.now = t
}

// ended says when the capture ended: what is paused then has been so until then.
func (a *Analyzer) ended(end capture.Record) {
	a.total.CaptureDrops += end.Drops
	if a.started && end.HasTime {
		a.now = max(a.now, a.since(&end))
	}
}

// longest is how long a capture may be: what 64 bits of picoseconds hold.
const longest = 100 * 24 * 3600

func (a *Analyzer) since(rec *capture.Record) sim.Time {
	sec := min(max(rec.Sec-a.epochSec, -1), longest)
	return max(sim.Time(sec)*sim.Time(sim.Second)+sim.Time(rec.Pico-a.epochPico), 0)
}

// intact counts the ICRC of a packet; false if its receiver throws it away.
func (a *Analyzer) intact(f *capture.Frame) bool {
	t := &a.total
	switch f.ICRC {
	case capture.ICRCValid:
		t.ICRCValid++
		a.checks[ruleICRC].Tested++
	case capture.ICRCAbsent:
		t.ICRCAbsent++
	default:
		t.ICRCInvalid++
		a.checks[ruleICRC].Tested++
		a.violated(ruleICRC, nil, "%v to QP 0x%06x from %v", f.BTH.Opcode, f.BTH.DestQP, f.Src)
		return a.held.is == distrusted
	}
	return true
}

// rdma follows a packet with a base transport header.
func (a *Analyzer) rdma(f *capture.Frame, rec *capture.Record, damaged bool) {
	if !a.intact(f) {
		return
	}
	t := &a.total
	t.Tunnelled += uint64(bit(f.Tunnelled))
	t.HeadersCut += uint64(bit(!f.Complete()))
	info := f.Info()
	if !info.Valid() {
		t.ReservedOpcodes++
		return
	}
	if f.BTH.DestQP <= 1 && info.Transport == capture.TransportUD {
		t.Management++
		a.management(f, rec.Interface, damaged)
		return
	}
	s := a.stream(f, rec.Interface)
	if s == nil {
		t.NotFollowed++
		return
	}
	if a.isCopy(s, f, rec.Interface) && a.opt.SkipCopies {
		return
	}
	v := a.viewOf(s, rec.Interface)
	if v == nil {
		t.NotFollowed++
		return
	}
	if s.reverse == nil && len(a.pairs) > 0 {
		a.meet(s)
	}
	s.end = a.now
	v.arrives = v.arrives || rec.Direction == capture.DirIn
	if f.CE() && !damaged {
		s.from.marked = rec.Interface + 1
	}
	if s.to.home == rec.Interface {
		s.to.reached = true
	}
	if v == s.upstream() {
		s.packets++
		s.bytes += uint64(rec.Original)
		if s.from.number < maxSeries {
			s.from.sent.add(&a.series, a.now, rec.Original*8)
		}
	}
	switch {
	case info.Verb.Request():
		a.request(s, v, f, damaged)
	case info.Verb == capture.VerbCNP:
		a.cnpPacket(s, v, damaged)
	default:
		a.answer(s, v, f, damaged)
	}
}

// stream returns the stream of a packet, nil where there are too many.
func (a *Analyzer) stream(f *capture.Frame, iface int) *stream {
	k := streamKey{f.Src, f.Dst, f.BTH.DestQP}
	if a.last != nil && a.last.key == k {
		return a.last
	}
	if s := a.byKey[k]; s != nil {
		a.last = s
		return s
	}
	from, to := a.host(f.Src), a.host(f.Dst)
	if from == nil || to == nil || len(a.streams) >= MaxStreams {
		return nil
	}
	if from.home < 0 {
		from.home, from.mac = iface, f.SrcMAC
	}
	from.seen, to.seen = true, true
	s := &stream{number: len(a.streams), key: k, from: from, to: to, transport: f.Info().Transport, sport: f.SrcPort, begin: a.now}
	if s.transport == capture.TransportCNP {
		s.transport = capture.TransportRC
	}
	s.object = a.names.ID(fmt.Sprintf("%s/qp%d", from.name, k.qp))
	a.byKey[k] = s
	a.streams = append(a.streams, s)
	a.last = s
	return s
}

// host returns the host of an address, nil where there are too many.
func (a *Analyzer) host(addr netip.Addr) *host {
	if h := a.hosts[addr]; h != nil {
		return h
	}
	if len(a.hostList) >= MaxHosts {
		return nil
	}
	h := &host{addr: addr, name: hostName(addr), home: -1, number: len(a.hostList)}
	h.id = a.names.ID(h.name)
	a.hosts[addr] = h
	a.hostList = append(a.hostList, h)
	return h
}

// hostName writes an address as a name of the run directory, in which colons
// stand between node and port.
func hostName(addr netip.Addr) string {
	if addr.Is4() || addr.Is4In6() {
		return addr.Unmap().String()
	}
	return strings.ReplaceAll(addr.WithZone("").String(), ":", "-")
}

// ifaceName names an interface.
func (a *Analyzer) ifaceName(i int) string {
	if n := a.ifaces[i].Name; n != "" {
		return n
	}
	return fmt.Sprintf("if%d", i)
}

// rateOf returns the speed of an interface.
func (a *Analyzer) rateOf(i int) sim.Rate {
	if s := a.ifaces[i].Speed; s > 0 && s < 1<<62 {
		return sim.Rate(s)
	}
	return a.opt.Rate
}
