package scenarios

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"rdmasim/fabric/switchconf"
	"rdmasim/fabric/topology"
	"rdmasim/scenarios/hpcc"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Estimate says what a run will cost, and what its fabric is. It comes from a
// pilot: the first part of the run, simulated without writing anything.
type Estimate struct {
	Hosts, Switches, Links int
	Tiers                  []string // oversubscription, one line per tier
	PacketHops             float64
	WallSeconds            float64
	Memory, Disk           sim.Bytes
	Simulated              sim.Duration // of the whole run, as far as it is known
	Pilot                  sim.Duration // how much of it was simulated
	Complete               bool         // the pilot was the whole run
	LowerBound             bool         // the run ends with its traffic, which is longer than the pilot
	Capture                sim.Bytes    // the capture, if the run is captured; part of Disk
	Notes                  []string
}

// pilotTime bounds the pilot.
const pilotTime = 700 * time.Millisecond

// NewEstimate builds the scenario and runs its pilot, captured where c says so.
func NewEstimate(s *Spec, c *CaptureOptions) (*Estimate, error) {
	w, err := s.prepare()
	if err != nil {
		return nil, err
	}
	e := &Estimate{Links: len(w.graph.Links), Hosts: len(w.hosts), Switches: len(w.graph.Nodes) - len(w.hosts), Notes: s.foreignNotes()}
	for _, o := range w.graph.Oversubscription() {
		e.Tiers = append(e.Tiers, o.String())
	}
	if c != nil {
		if w.recorder, err = w.record(c, io.Discard, ""); err != nil {
			return nil, err
		}
	}
	rows, res := w.pilot()
	e.Pilot = res.End.Sub(0)
	e.Complete = !res.Stopped
	scale := 1.0
	e.Simulated = e.Pilot
	if !e.Complete {
		if s.UntilDone {
			e.LowerBound = true
		} else if e.Pilot > 0 {
			e.Simulated = s.Duration
			scale = float64(s.Duration) / float64(e.Pilot)
		}
	}
	hops := w.countHops()
	e.PacketHops = float64(hops) * scale
	e.WallSeconds = res.wall.Seconds() * scale
	e.Disk = sim.Bytes(float64(rows) * scale)
	if w.recorder != nil {
		if _, err := w.recorder.end(res.End); err != nil {
			return nil, err
		}
		e.Capture = sim.Bytes(float64(w.recorder.Bytes()) * scale)
		if c.MaxBytes > 0 {
			e.Capture = min(e.Capture, c.MaxBytes)
		}
		e.Disk += e.Capture
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	e.Memory = max(sim.Bytes(m.Sys), sim.Bytes(peakRSS())) + sim.Bytes(float64(res.messages)*scale)*bytesPerMessage
	return e, nil
}

// pilotResult is how a pilot ended.
type pilotResult struct {
	sim.RunResult
	wall     time.Duration
	messages int // that have ended
}

// pilot runs the first part of a scenario and returns how many bytes of rows
// it would have written.
func (w *world) pilot() (disk int64, res pilotResult) {
	s := w.spec
	perFlow := int64(trace.BytesPerFlow)
	if s.Diagnosis {
		perFlow += trace.BytesPerDelay
	}
	opt := sim.RunOptions{Until: sim.Time(s.Duration), UntilDone: s.UntilDone, Workers: 1}
	if s.UntilDone {
		opt.Until = sim.Time(s.MaxDuration)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	start := time.Now()
	opt.Between = func(sim.Time) {
		for _, k := range w.sinks {
			res.messages += len(k.Flows)
			disk += int64(len(k.Points))*trace.BytesPerPoint + int64(len(k.Events))*trace.BytesPerEvent + int64(len(k.Flows))*perFlow + int64(len(k.QPs))*trace.BytesPerQP
			k.Reset()
		}
		_ = w.recorder.keep() // what is discarded cannot fail
		if time.Since(start) > pilotTime {
			cancel()
		}
	}
	res.RunResult = w.engine.Run(ctx, opt)
	res.wall = time.Since(start)
	return disk, res
}

// countHops returns the packet-hops so far.
func (w *world) countHops() uint64 {
	hops := w.hops
	for i := range w.graph.Nodes {
		hops += w.sentBy(i)
	}
	return hops
}

// sentBy returns how many frames a node has sent since the counters were reset.
func (w *world) sentBy(node int) uint64 {
	if sw := w.switches[node]; sw != nil {
		return sw.TxPackets()
	}
	return w.nics[node].TxPackets()
}

// prepare builds a scenario with its traffic.
func (s *Spec) prepare() (*world, error) {
	if err := s.checkMemory(); err != nil {
		return nil, err
	}
	w, err := build(s)
	if err != nil {
		return nil, err
	}
	return w, w.attach(s.readBeside)
}

// bytesPerMessage is what a message that has ended takes in memory until the run
// is over: figures and where its time went (measured on runs of 10^4 to 10^5).
const bytesPerMessage = 600 * sim.Byte

// What the parts of a fabric take in memory at the least.
const (
	bytesPerPort = 6 * sim.KB
	bytesPerHost = 3 * sim.KB
)

// checkMemory refuses a fabric that does not fit into this machine.
func (s *Spec) checkMemory() error {
	e, err := topology.Topologies.Lookup(s.Topology.Name)
	if err != nil {
		return err
	}
	g, err := e.Build(s.Topology.Params)
	if err != nil {
		return s.at("topology."+s.Topology.Name, err)
	}
	need := sim.Bytes(2*len(g.Links))*bytesPerPort + sim.Bytes(len(g.Nodes))*bytesPerHost
	if have := availableMemory(); have > 0 && need > have {
		return s.at("topology."+s.Topology.Name, fmt.Errorf("a fabric of %d nodes and %d links needs about %v of memory, %v are available: want a smaller one", len(g.Nodes), len(g.Links), need, have))
	}
	return nil
}

// availableMemory returns what the system can still give, 0 = not known.
func availableMemory() sim.Bytes {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			f := strings.Fields(rest)
			if len(f) > 0 {
				kib, _ := strconv.ParseInt(f[0], 10, 64)
				return sim.Bytes(kib) * sim.KiB
			}
		}
	}
	return 0
}

// notes returns what a reader of foreign files has to say about them, and what
// lint finds worse than a note.
func (s *Spec) notes() []string {
	list := s.foreignNotes()
	for _, f := range Lint(s) {
		if f.Severity != switchconf.Remark {
			list = append(list, FindingText(&f))
		}
	}
	return list
}

// foreignNotes returns what a reader of foreign files has to say about them.
func (s *Spec) foreignNotes() []string {
	var list []string
	for _, l := range s.left {
		list = append(list, "left out: "+l)
	}
	if s.hpccCase != nil {
		for _, n := range s.hpccCase.Notes {
			if n.Status != hpcc.Honoured || n.Reason != "" {
				list = append(list, n.String())
			}
		}
	}
	return list
}
