package scenarios

import (
	"fmt"
	"io"
	"net/netip"
	"path"
	"slices"
	"strings"

	"rdmasim/fabric/capture"
	"rdmasim/fabric/topology"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// FileCapture is the capture in a run directory.
const FileCapture = "capture.pcapng"

// CaptureOptions say what of a run is captured.
type CaptureOptions struct {
	At       []string  // points; see CapturePoints
	SnapLen  int       // bytes kept of a frame, 0 = all
	MaxBytes sim.Bytes // the file ends before it grows longer, 0 = never
	Fill     bool      // payloads count up instead of being zero
}

// CapturePoints says how points are written, for help texts.
const CapturePoints = `host, switch or link, or one of them with a name or pattern behind a colon:
host:h1 (what the ports of h1 send and receive), switch:leaf* (the same of
switches), link:h0-leaf0 (what crosses the link, in both directions)`

// minSnapLen keeps what tells one packet from another: tunnel, tag, IPv6, UDP,
// BTH and RETH.
const minSnapLen = 160

// capturePoint is one point of CaptureOptions.
type capturePoint struct{ kind, pattern string }

func parsePoint(text string) (p capturePoint, err error) {
	p.kind, p.pattern, _ = strings.Cut(strings.TrimSpace(text), ":")
	switch p.kind {
	case "host", "switch", "link":
	default:
		return p, fmt.Errorf("--pcap-at %q: want host, switch or link, with a name behind a colon if wanted, such as host:h1, switch:leaf* or link:h0-leaf0", text)
	}
	if strings.HasSuffix(strings.TrimSpace(text), ":") {
		return p, fmt.Errorf("--pcap-at %q: the name behind the colon is missing", text)
	}
	if _, err := path.Match(p.pattern, ""); err != nil {
		return p, fmt.Errorf("--pcap-at %q: the pattern is malformed", text)
	}
	return p, nil
}

// Check says what is wrong with the options, whatever the scenario.
func (o *CaptureOptions) Check() error {
	for _, at := range o.At {
		if _, err := parsePoint(at); err != nil {
			return err
		}
	}
	if o.SnapLen != 0 && o.SnapLen < minSnapLen || o.SnapLen > 1<<16 {
		return fmt.Errorf("--pcap-snaplen %d: want 0 (whole frames) or %d to 65536 bytes", o.SnapLen, minSnapLen)
	}
	if o.MaxBytes < 0 {
		return fmt.Errorf("--pcap-max-size %v: must not be negative", o.MaxBytes)
	}
	return nil
}

// watched says of every port of every node at which points it is captured.
type watched struct {
	node [][]bool // what the port sends and receives
	link []bool   // by link of the graph
}

// points finds the ports that the options speak of.
func (w *world) points(o *CaptureOptions) (*watched, error) {
	at := o.At
	if len(at) == 0 {
		at = []string{"host"}
	}
	v := &watched{link: make([]bool, len(w.graph.Links))}
	for i := range w.graph.Nodes {
		v.node = append(v.node, make([]bool, len(w.ports.Of(i))))
	}
	for _, text := range at {
		p, err := parsePoint(text)
		if err != nil {
			return nil, err
		}
		if n := w.watch(v, p); n == 0 {
			return nil, fmt.Errorf("--pcap-at %q: no %s of that name: %s", text, p.kind, w.pointNames(p.kind))
		}
	}
	return v, nil
}

// watch marks what a point speaks of and returns how much it is.
func (w *world) watch(v *watched, p capturePoint) (found int) {
	if p.kind == "link" {
		for i, l := range w.graph.Links {
			if matchesLink(p.pattern, w.graph.Nodes[l.A].Name, w.graph.Nodes[l.B].Name) {
				v.link[i] = true
				found++
			}
		}
		return found
	}
	for i, n := range w.graph.Nodes {
		if (n.Kind == topology.Host) != (p.kind == "host") || p.pattern != "" && !matches(p.pattern, n.Name) {
			continue
		}
		for k := range v.node[i] {
			v.node[i][k] = true
		}
		found++
	}
	return found
}

// matchesLink reports whether A-B, in either order, names a link. Names may
// have dashes in them.
func matchesLink(pattern, a, b string) bool {
	if pattern == "" {
		return true
	}
	for i, c := range pattern {
		if c != '-' {
			continue
		}
		x, y := pattern[:i], pattern[i+1:]
		if matches(x, a) && matches(y, b) || matches(x, b) && matches(y, a) {
			return true
		}
	}
	return false
}

func (w *world) pointNames(kind string) string {
	var names []string
	if kind == "link" {
		for _, l := range w.graph.Links {
			names = append(names, w.graph.Nodes[l.A].Name+"-"+w.graph.Nodes[l.B].Name)
		}
	}
	for _, n := range w.graph.Nodes {
		if kind != "link" && (n.Kind == topology.Host) == (kind == "host") {
			names = append(names, n.Name)
		}
	}
	return "the topology has " + someNames(names)
}

// recorder is a capture of a run.
type recorder struct {
	*capture.Recorder
	opt  CaptureOptions
	file io.Closer // nil while a pilot counts
}

// record captures the run that follows into out.
func (w *world) record(o *CaptureOptions, out io.Writer, version string) (*recorder, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	v, err := w.points(o)
	if err != nil {
		return nil, err
	}
	rec, err := capture.NewRecorder(out, capture.RecorderConfig{Application: "rdmasim " + version, Endpoints: w.wireEndpoints(),
		SnapLen: o.SnapLen, MaxBytes: int64(o.MaxBytes), Fill: o.Fill})
	if err != nil {
		return nil, err
	}
	links, err := w.linkInterfaces(rec, v)
	if err != nil {
		return nil, err
	}
	for i := range w.graph.Nodes {
		if err := w.tap(rec, v, links, i); err != nil {
			return nil, err
		}
	}
	return &recorder{Recorder: rec, opt: *o}, nil
}

// linkInterfaces describes the links that are captured; -1 = not.
func (w *world) linkInterfaces(rec *capture.Recorder, v *watched) (list []int, err error) {
	for i, l := range w.graph.Links {
		n := -1
		if v.link[i] {
			name := fmt.Sprintf("%s:%d-%s:%d", w.graph.Nodes[l.A].Name, l.APort, w.graph.Nodes[l.B].Name, l.BPort)
			n, err = rec.Interface(capture.Interface{Name: name, Speed: uint64(l.AtoB.Rate),
				Description: "link; outbound is what " + w.graph.Nodes[l.A].Name + " sends"})
			if err != nil {
				return nil, err
			}
		}
		list = append(list, n)
	}
	return list, nil
}

// tap watches the ports of a node.
func (w *world) tap(rec *capture.Recorder, v *watched, links []int, node int) error {
	n := &w.graph.Nodes[node]
	host := n.Kind == topology.Host
	var ports []capture.TapPort
	watched := false
	for k, q := range w.ports.Of(node) {
		p := capture.TapPort{Own: capture.PortMAC(node, k), Peer: capture.PortMAC(q.Peer, q.PeerPort), Sent: -1, Received: -1}
		switch {
		case v.node[node][k]:
			face := capture.Interface{Name: fmt.Sprintf("%s:%d", n.Name, k), Speed: uint64(q.Out(w.graph).Rate), MAC: p.Own, HasMAC: true}
			if host {
				v4, v6 := capture.HostAddress(node, k)
				face.Addresses = []netip.Addr{v4, v6}
			}
			i, err := rec.Interface(face)
			if err != nil {
				return err
			}
			p.Sent, p.Received, p.SentDir, p.RecDir = i, i, capture.DirOut, capture.DirIn
			watched = true
		case links[q.Link] >= 0:
			// A link is watched where its frames arrive.
			p.Received, p.RecDir = links[q.Link], capture.DirOut
			if q.IsA {
				p.RecDir = capture.DirIn
			}
			watched = true
		}
		ports = append(ports, p)
	}
	t := rec.Tap(node, ports)
	switch {
	case !watched:
	case host:
		w.nics[node].SetTap(t)
	default:
		w.switches[node].SetTap(t)
	}
	return nil
}

// wireEndpoints returns the addresses of hosts on the wire.
func (w *world) wireEndpoints() (list []capture.Endpoint) {
	encap := []string{"none", "vlan", "ipv6", "vxlan"} // in the order of capture.Encapsulation
	for _, e := range w.routes.Endpoints() {
		first, _ := w.routes.Of(e.Node)
		c := capture.Endpoint{Node: e.Node, Port: e.Port,
			Encap: capture.Encapsulation(max(slices.Index(encap, w.nicSpec[e.Node].Encapsulation), 0))}
		c.IPv4, c.IPv6 = capture.HostAddress(e.Node, len(list)-first)
		list = append(list, c)
	}
	return list
}

// recordAt is how many frames may wait in memory before they are written.
const recordAt = 1 << 14

// keep writes what was captured if there is enough of it.
func (r *recorder) keep() error {
	if r == nil || r.Waiting() < recordAt {
		return nil
	}
	return r.Flush()
}

// end completes the capture and says what there is to say of it.
func (r *recorder) end(at sim.Time) (notes []string, err error) {
	if r == nil {
		return nil, nil
	}
	if err := r.Close(at); err != nil {
		return nil, err
	}
	if r.file != nil {
		if err := r.file.Close(); err != nil {
			return nil, err
		}
	}
	written, left := r.Packets()
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%s reached its limit of %v after %d packets: %d more were not written", FileCapture, r.opt.MaxBytes, written, left))
	}
	return notes, nil
}

// openCapture begins the capture in a run directory.
func (w *world) openCapture(out *trace.Writer, o Options) error {
	if o.Capture == nil {
		return nil
	}
	f, err := out.Stream(FileCapture)
	if err != nil {
		return err
	}
	w.recorder, err = w.record(o.Capture, f, o.Version)
	if err != nil {
		_ = f.Close()
		return &InputError{err}
	}
	w.recorder.file = f
	return nil
}
