package capture

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// RecorderConfig says what a simulation captures.
type RecorderConfig struct {
	Application string
	Endpoints   []Endpoint
	SnapLen     int   // bytes kept of a frame, 0 = all
	MaxBytes    int64 // the file ends before it grows longer, 0 = never
	Fill        bool  // payloads count up instead of being zero
}

// Recorder writes what taps have seen into one pcapng file. The file depends
// on what happened alone: not on workers, nor on how often Flush is called.
type Recorder struct {
	cfg        RecorderConfig
	out        *Writer
	synth      *synth
	taps       []*NodeTap
	interfaces int
	merged     []*entry
	frame      []byte
	full       bool
	written    int64 // packets
	left       int64 // packets that MaxBytes left out
}

// NewRecorder begins a file.
func NewRecorder(w io.Writer, cfg RecorderConfig) (*Recorder, error) {
	out, err := NewWriter(w, cfg.Application, cfg.SnapLen)
	if err != nil {
		return nil, err
	}
	return &Recorder{cfg: cfg, out: out, synth: &synth{endpoints: cfg.Endpoints, fill: cfg.Fill}}, nil
}

// Interface adds an interface and returns its number.
func (r *Recorder) Interface(i Interface) (int, error) {
	i.Link = LinkEthernet
	r.interfaces++
	return r.interfaces - 1, r.out.Interface(i)
}

// TapPort says where the frames of a port are recorded.
type TapPort struct {
	Own, Peer       [6]byte // MAC addresses of the port and of the one at the other end
	Sent, Received  int     // interfaces, -1 = not recorded
	SentDir, RecDir Direction
}

// NodeTap is the tap of one node.
type NodeTap struct {
	node    int
	ports   []TapPort
	entries []entry
	mark    int64 // queue that marked the frame that is sent next, -1 = none
}

// Tap returns the tap of a node. Nodes are added in order, recorded or not.
func (r *Recorder) Tap(node int, ports []TapPort) *NodeTap {
	t := &NodeTap{node: node, ports: ports, mark: -1}
	r.taps = append(r.taps, t)
	return t
}

// entry is one thing that a tap has seen.
type entry struct {
	at     sim.Time
	node   int32
	iface  int32
	port   int32
	dir    Direction
	sent   bool
	lost   bool
	mark   int64 // queue that marked it, -1 = not marked here
	why    string
	packet packet.Packet
}

// Sent is called when a frame begins to leave.
func (t *NodeTap) Sent(now sim.Time, port int, m packet.Packet) {
	p := &t.ports[port]
	if p.Sent >= 0 {
		t.entries = append(t.entries, entry{at: now, node: int32(t.node), iface: int32(p.Sent), port: int32(port), dir: p.SentDir, sent: true, mark: t.mark, packet: m})
	}
	t.mark = -1
}

// Received is called when a frame has arrived.
func (t *NodeTap) Received(now sim.Time, port int, m packet.Packet, lost bool) {
	p := &t.ports[port]
	if p.Received < 0 {
		return
	}
	e := entry{at: now, node: int32(t.node), iface: int32(p.Received), port: int32(port), dir: p.RecDir, mark: -1, lost: lost, packet: m}
	if lost {
		e.why = "dropped: lost on the link"
	}
	t.entries = append(t.entries, e)
}

// Dropped is called when a frame that was received is thrown away: its record
// gets a comment if it is the last one of the node, as it is unless the frame
// had to be waited for.
func (t *NodeTap) Dropped(now sim.Time, port int, m packet.Packet, why string) {
	if n := len(t.entries); n > 0 {
		if e := &t.entries[n-1]; e.at == now && int(e.port) == port && !e.sent && e.why == "" {
			e.why = "dropped: " + why
		}
	}
}

// Marked is called when the frame that is sent next was marked.
func (t *NodeTap) Marked(queue int64) { t.mark = queue }

// Waiting returns how many records wait for Flush.
func (r *Recorder) Waiting() (n int) {
	for _, t := range r.taps {
		n += len(t.entries)
	}
	return n
}

// Flush writes what all taps have seen so far. It is called when every node has
// come as far as the others, so that nothing earlier can follow.
func (r *Recorder) Flush() error {
	r.merged = r.merged[:0]
	for _, t := range r.taps {
		for i := range t.entries {
			r.merged = append(r.merged, &t.entries[i])
		}
	}
	slices.SortStableFunc(r.merged, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node, b.node))
	})
	for _, e := range r.merged {
		if err := r.write(e); err != nil {
			return err
		}
	}
	for _, t := range r.taps {
		t.entries = t.entries[:0]
	}
	return nil
}

func (r *Recorder) write(e *entry) error {
	if r.full {
		r.left++
		return nil
	}
	p := &r.taps[e.node].ports[e.port]
	src, dst := p.Peer, p.Own
	if e.sent {
		src, dst = dst, src
	}
	var err error
	if r.frame, err = r.synth.append(r.frame[:0], &e.packet, src, dst); err != nil {
		return fmt.Errorf("packet at %v: %w", e.at, err)
	}
	rec := Record{Interface: int(e.iface), Data: r.frame, Original: len(r.frame), Direction: e.dir, CRCError: e.lost, Comment: comment(e)}
	if most := r.cfg.MaxBytes; most > 0 && r.out.Bytes()+r.out.size(&rec)+int64(r.interfaces)*statisticsBytes > most {
		r.full = true
		r.left++
		return nil
	}
	r.written++
	return r.out.Packet(e.at, &rec)
}

// comment says what a frame's bytes do not.
func comment(e *entry) string {
	m := &e.packet
	switch {
	case e.why != "":
		return e.why
	case m.Kind == packet.Corrupt:
		return "corrupt: the ICRC does not hold"
	case m.Kind == packet.Pause && m.Quanta == 0:
		return "802.3x: resume"
	case m.Kind == packet.Pause:
		return fmt.Sprintf("802.3x: pause for %d quanta", m.Quanta)
	case m.Kind == packet.PFC && m.Quanta == 0:
		return fmt.Sprintf("PFC: resume priority %d", lowest(m.Classes))
	case m.Kind == packet.PFC:
		return fmt.Sprintf("PFC: pause priority %d for %d quanta", lowest(m.Classes), m.Quanta)
	case e.sent && e.mark >= 0:
		return fmt.Sprintf("ECN: marked here, %d bytes in the queue", e.mark)
	}
	return ""
}

func lowest(classes uint8) int {
	for i := range 8 {
		if classes&(1<<i) != 0 {
			return i
		}
	}
	return 0
}

// Close writes what waits, and that the capture ended at a time.
func (r *Recorder) Close(at sim.Time) error {
	if err := r.Flush(); err != nil {
		return err
	}
	for i := range r.interfaces {
		if err := r.out.Ended(i, at); err != nil {
			return err
		}
	}
	return r.out.Flush()
}

// Bytes returns the length of the file so far.
func (r *Recorder) Bytes() int64 { return r.out.Bytes() }

// Packets returns how many packets were written, and how many were not because
// the file had reached its limit.
func (r *Recorder) Packets() (written, left int64) { return r.written, r.left }
