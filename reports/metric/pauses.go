package metric

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// FilePauses is the machine form of pause forensics in a run directory.
const FilePauses = "pauses.json"

// Kinds of roots of pauses.
const (
	RootCongestion = "congested egress" // more came for a port than it could send
	RootReceiver   = "slow receiver"    // a host took packets more slowly than they came
	RootStorm      = "storming NIC"     // a host sent pause frames for no reason that the run knows
	RootStuck      = "stuck switch"     // a switch sent them although it held nothing
	RootUnknown    = "pauser"           // the run does not tell why
)

// Pauses is pauses.json: who paused whom, from which root, and who lost by it.
// Times are in seconds, sizes in bytes.
type Pauses struct {
	Roots    []PauseRoot    `json:"roots"`    // most paused time first
	Victims  []Victim       `json:"victims"`  // most time lost first
	Blocking []Blocking     `json:"blocking"` // the head-of-line matrix
	Ports    []PausedPort   `json:"ports"`    // longest paused first
	Headroom []HeadroomUse  `json:"headroom"` // most used first
	Deadlock []DeadlockSeen `json:"deadlocks"`
	Partial  string         `json:"partial,omitempty"` // what was left out, and why
}

// PauseRoot is one cause of pauses with the tree of ports that it stopped.
type PauseRoot struct {
	Where      string      `json:"where"` // egress queue of a switch, or port of the host or switch that paused
	Kind       string      `json:"kind"`
	Prio       int8        `json:"priority"`
	First      float64     `json:"first_s"` // the first pause began
	Last       float64     `json:"last_s"`  // the last one ended, or the run
	Episodes   int         `json:"episodes"`
	Paused     float64     `json:"paused_s"`   // port-priority seconds
	Depth      int         `json:"depth"`      // links between the root and the farthest port that it stopped
	Breadth    int         `json:"breadth"`    // largest number of ports in one step
	PortCount  int         `json:"port_count"` // ports that it stopped
	Recover    *float64    `json:"recover_s"`  // from the end of the last pause next to the root to the end of the last one anywhere; null while pauses last
	Victims    int         `json:"victims"`    // queue pairs that do not cross the root and lost time
	VictimLost float64     `json:"victim_lost_s"`
	Tree       []PauseEdge `json:"tree"` // in order of level, then of paused time

	cross trace.Object // the port that flows of the root pass
}

// PauseEdge is one port of a tree: it stopped because its peer asked for it,
// whose frames waited for the parent.
type PauseEdge struct {
	Port     string  `json:"port"`
	By       string  `json:"by"`     // the ingress that paused it
	Parent   string  `json:"parent"` // port, nearer to the root, for which its frames waited; "" = the root itself
	Level    int     `json:"level"`  // 1 = next to the root
	Episodes int     `json:"episodes"`
	Paused   float64 `json:"paused_s"`
	First    float64 `json:"first_s"`
	Lag      float64 `json:"lag_s"` // mean time from the beginning of the parent's pause to that of this one
}

// Victim is a queue pair that a root has slowed down although it does not cross it.
type Victim struct {
	Src      string  `json:"src"`
	Dst      string  `json:"dst"`
	QP       uint32  `json:"qp"`
	Root     string  `json:"root"`
	Kind     string  `json:"kind"`
	At       string  `json:"at"` // the port of its way that was paused longest
	Messages int     `json:"messages"`
	Lost     float64 `json:"lost_s"`
	Share    float64 `json:"share"` // of the time of its messages
}

// Blocking is one cell of the head-of-line matrix: time that traffic to a
// destination lost to a root that it does not cross.
type Blocking struct {
	Root string  `json:"root"`
	Dst  string  `json:"dst"`
	Lost float64 `json:"lost_s"`
	QPs  int     `json:"qps"`
}

// PausedPort is how long one priority of a port was stopped.
type PausedPort struct {
	Port     string  `json:"port"`
	Prio     int8    `json:"priority"`
	Share    float64 `json:"share"` // of the measured time
	Paused   float64 `json:"paused_s"`
	Longest  float64 `json:"longest_s"`
	Episodes int64   `json:"episodes"`
}

// HeadroomUse is the high-water mark of a headroom.
type HeadroomUse struct {
	Port       string  `json:"port"`
	Prio       int8    `json:"priority"`
	Max        float64 `json:"max_used"`
	Configured float64 `json:"configured"`
}

// DeadlockSeen is a deadlock that the run found.
type DeadlockSeen struct {
	At    float64 `json:"at_s"` // when the circle closed
	Prio  int8    `json:"priority"`
	Cycle string  `json:"cycle"`
}

// Most rows of the lists of pauses.json.
const (
	maxVictims = 1000
	maxPorts   = 1000
)

// ComputePauses reads a run and tells who paused whom and why.
func ComputePauses(run *trace.Run) (*Pauses, error) {
	f, err := trackPauses(run)
	if err != nil {
		return nil, err
	}
	return f.report(run)
}

func (f *pauseTrack) report(run *trace.Run) (*Pauses, error) {
	p := &Pauses{Roots: []PauseRoot{}, Victims: []Victim{}, Blocking: []Blocking{}, Ports: []PausedPort{}, Headroom: []HeadroomUse{}, Deadlock: []DeadlockSeen{}}
	p.Partial, p.Deadlock = f.partial, append(p.Deadlock, f.deadlocks...)
	if err := p.counters(run); err != nil {
		return nil, err
	}
	roots := f.trees()
	if err := f.findVictims(run, p, roots); err != nil {
		return nil, err
	}
	p.Roots = append(p.Roots, roots...)
	slices.SortStableFunc(p.Roots, func(a, b PauseRoot) int { return cmp.Compare(b.Paused, a.Paused) })
	return p, nil
}

// counters fills in what the totals of the run tell.
func (p *Pauses) counters(run *trace.Run) error {
	list, err := run.Counters()
	if err != nil {
		return err
	}
	measured := sim.Time(run.Manifest.Simulated).Sub(sim.Time(run.Manifest.Warmup)).Seconds()
	ports, heads := map[class]*PausedPort{}, map[class]*HeadroomUse{}
	for i := range list {
		c := &list[i]
		k := class{c.Object, c.Prio}
		switch c.Name {
		case trace.CountPausedSeconds, trace.CountPauseLongest, trace.CountPauseEpisodes:
			if ports[k] == nil {
				ports[k] = &PausedPort{Port: c.Object, Prio: c.Prio}
			}
		case trace.CountHeadroomMax, trace.CountHeadroomSize:
			if heads[k] == nil {
				heads[k] = &HeadroomUse{Port: c.Object, Prio: c.Prio}
			}
		}
		switch c.Name {
		case trace.CountPausedSeconds:
			ports[k].Paused = c.Value
			if measured > 0 {
				ports[k].Share = c.Value / measured
			}
		case trace.CountPauseLongest:
			ports[k].Longest = c.Value
		case trace.CountPauseEpisodes:
			ports[k].Episodes = int64(c.Value)
		case trace.CountHeadroomMax:
			heads[k].Max = c.Value
		case trace.CountHeadroomSize:
			heads[k].Configured = c.Value
		}
	}
	for _, v := range ports {
		p.Ports = append(p.Ports, *v)
	}
	for _, v := range heads {
		if v.Max > 0 {
			p.Headroom = append(p.Headroom, *v)
		}
	}
	slices.SortFunc(p.Ports, func(a, b PausedPort) int {
		return cmp.Or(cmp.Compare(b.Paused, a.Paused), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Prio, b.Prio))
	})
	slices.SortFunc(p.Headroom, func(a, b HeadroomUse) int {
		return cmp.Or(cmp.Compare(b.Max, a.Max), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Prio, b.Prio))
	})
	p.Ports, p.Headroom = p.Ports[:min(len(p.Ports), maxPorts)], p.Headroom[:min(len(p.Headroom), maxPorts)]
	return nil
}

// Write writes pauses.json into a run directory.
func (p *Pauses) Write(dir string) error { return writeJSON(dir, FilePauses, p) }

// LoadPauses reads pauses.json of a run; a run without it has it computed.
func LoadPauses(run *trace.Run) (*Pauses, error) {
	var p Pauses
	if ok, err := run.ReadJSON(FilePauses, &p); ok || err != nil {
		return &p, err
	}
	return ComputePauses(run)
}

func writeJSON(dir, name string, v any) error {
	b, err := trace.EncodeJSON(v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return trace.WriteWhole(dir+string(os.PathSeparator)+name, b)
}
