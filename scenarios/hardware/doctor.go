package hardware

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rdmasim/fabric/netem"
)

// Reach is how far messages from one device to another come.
type Reach string

// Reaches. A message of the path MTU that does not arrive, where a short one does,
// means that a link on the way carries less than both ends believe.
const (
	ReachSelf    Reach = "self"
	ReachFull    Reach = "ok"    // a short message and one of the path MTU
	ReachShort   Reach = "short" // the short one alone
	ReachNone    Reach = "none"
	ReachUnknown Reach = "unknown" // one of the devices could not be opened
)

// Examined are several machines as their doctors see them.
type Examined struct {
	Findings []netem.Finding `json:"findings"`
	Devices  []string        `json:"devices,omitempty"` // MACHINE/DEVICE
	Reach    [][]Reach       `json:"reach,omitempty"`   // from row to column
}

// differentMTUs is the finding about the interfaces of one machine, and of all.
const differentMTUs = "mtu-differs"

// shortProbe is the payload of a short message, in bytes.
const shortProbe = 64

// tries is how often a message is sent before it counts as lost.
const tries = 3

// device is one device of all machines.
type device struct {
	wireDevice
	agent  int
	name   string // MACHINE/DEVICE
	errors map[int]string
}

// DoctorOptions say how several machines are examined.
type DoctorOptions struct {
	Profile netem.Profile
	Via     string // command that starts an agent; {} is the machine
	Version string // of this program
	NoProbe bool   // send no messages
}

// Doctor examines several machines by an agent on each, compares them, and sends
// messages between every pair of their devices. A machine from which nothing can
// be had is a finding. Nothing is changed.
func Doctor(ctx context.Context, machines []string, o DoctorOptions) (*Examined, error) {
	c := &coordinator{started: time.Now(), inbox: make(chan message, 1024), calls: map[uint64]call{}, lease: leaseTime, running: true}
	for _, m := range machines {
		c.agents = append(c.agents, &agentEnd{machine: m})
	}
	for i := range c.agents {
		if err := c.start(ctx, i, o.Via, nil); err != nil {
			c.lose(i, err)
		}
	}
	for i, a := range c.agents {
		if a.lost != nil {
			continue
		}
		if err := c.greet(ctx, i, o.Version); err != nil && a.lost == nil {
			c.lose(i, err)
		}
	}
	x := &Examined{}
	devices, kernels, err := c.examine(ctx, x, o.Profile)
	if err == nil {
		x.compare(devices, kernels)
		if !o.NoProbe {
			err = c.probes(ctx, x, devices)
		}
	}
	for _, a := range c.agents {
		if a.lost != nil {
			x.Findings = append(x.Findings, netem.Finding{ID: "machine", Severity: netem.Fault, Where: a.machine, What: a.lost.Error(),
				Remedy: "ssh " + a.machine + " rdmasim version must work without a question, and print what rdmasim version prints here"})
		}
	}
	_ = c.close() // the agents have changed nothing
	return x, err
}

// ask sends a message to every agent that is there and calls f with each answer.
func (c *coordinator) ask(ctx context.Context, list []int, q message, f func(i int, m message)) error {
	for _, i := range list {
		if err := c.tell(i, q); err != nil {
			return err
		}
	}
	for _, i := range list {
		if c.agents[i].lost != nil {
			continue
		}
		m, err := c.expect(ctx, i, q.Kind)
		switch {
		case err == nil:
			f(i, m)
		case ctx.Err() != nil:
			return err
		case c.agents[i].lost == nil:
			c.lose(i, err)
		}
	}
	return nil
}

// all returns the numbers of the agents.
func (c *coordinator) all() []int {
	list := make([]int, len(c.agents))
	for i := range list {
		list[i] = i
	}
	return list
}

// examine runs the doctor of every machine.
func (c *coordinator) examine(ctx context.Context, x *Examined, profile netem.Profile) (devices []*device, kernels map[string]string, err error) {
	kernels = map[string]string{}
	merged := map[netem.Finding]int{}
	var where []string
	err = c.ask(ctx, c.all(), message{Kind: kindDoctor, Doctor: &wireDoctor{Profile: profile}}, func(i int, m message) {
		if m.Doctor == nil {
			return
		}
		name := c.agents[i].machine
		kernels[name] = m.Doctor.Kernel
		for _, f := range m.Doctor.Findings { // what is the same everywhere is one line
			if f.ID == differentMTUs { // all of them are compared
				continue
			}
			k, ok := merged[f]
			if !ok {
				k = len(x.Findings)
				merged[f] = k
				x.Findings, where = append(x.Findings, f), append(where, name)
			} else {
				where[k] += ", " + name
			}
		}
		for _, d := range m.Doctor.Devices {
			devices = append(devices, &device{wireDevice: d, agent: i, name: name + "/" + d.Name, errors: map[int]string{}})
		}
	})
	for k := range x.Findings {
		x.Findings[k].Where = where[k] + ": " + x.Findings[k].Where
	}
	return devices, kernels, err
}

// probes fills the matrix: from every device a short message and one of the path
// MTU to every other.
func (c *coordinator) probes(ctx context.Context, x *Examined, devices []*device) error {
	for i, d := range devices {
		x.Devices = append(x.Devices, d.name)
		row := make([]Reach, len(devices))
		for k, to := range devices {
			switch {
			case i == k:
				row[k] = ReachSelf
			case d.Why != "" || to.Why != "":
				row[k] = ReachUnknown
			default:
				row[k] = ReachNone
			}
		}
		x.Reach = append(x.Reach, row)
		for _, step := range []struct{ from, to Reach }{{ReachNone, ReachShort}, {ReachShort, ReachFull}} {
			waiting := map[string]int{}
			for range tries {
				if err := c.round(ctx, devices, i, row, step.from, step.to, waiting); err != nil {
					return err
				}
			}
		}
		for k, r := range row { // lost in the meantime
			if r == ReachNone && (c.agents[d.agent].lost != nil || c.agents[devices[k].agent].lost != nil) {
				row[k] = ReachUnknown
			}
		}
	}
	x.judge(devices)
	return nil
}

// onItsWay is how long is waited for a message before it is sent again; one that
// comes later still counts.
const onItsWay = 400 * time.Millisecond

// round sends one message from device i to each that its row has at from, and
// moves those at which one arrives to the next step. waiting has the messages that
// are on their way, with the number of their device.
func (c *coordinator) round(ctx context.Context, devices []*device, i int, row []Reach, from, to Reach, waiting map[string]int) error {
	d := devices[i]
	q := &wireProbe{Device: d.Name}
	agents := []int{}
	for k, t := range devices {
		if row[k] != from {
			continue
		}
		size := shortProbe
		if from == ReachShort {
			size = int(min(d.MTU, t.MTU).Bytes())
		}
		c.seq++
		q.Targets = append(q.Targets, wireTarget{GID: t.GID, QPN: t.QPN, Size: size, Tag: c.seq})
		waiting[probeKey(t.agent, t.Name, c.seq)] = k
		if !slices.Contains(agents, t.agent) {
			agents = append(agents, t.agent)
		}
	}
	if len(q.Targets) == 0 {
		return nil
	}
	err := c.ask(ctx, []int{d.agent}, message{Kind: kindReach, Reach: q}, func(_ int, m message) {
		if m.Reach == nil {
			return
		}
		for _, t := range m.Reach.Targets {
			for k := range devices {
				if t.Err != "" && devices[k].QPN == t.QPN && devices[k].GID == t.GID {
					d.errors[k] = t.Err
				}
			}
		}
	})
	for deadline := c.now() + onItsWay; err == nil && slices.Contains(row, from) && c.now() < deadline; {
		err = c.ask(ctx, agents, message{Kind: kindReach, Reach: &wireProbe{}}, func(a int, m message) {
			if m.Reach == nil {
				return
			}
			for _, p := range m.Reach.Arrived {
				key := probeKey(a, p.Device, p.Tag)
				if k, ok := waiting[key]; ok {
					delete(waiting, key)
					row[k] = to
				}
			}
		})
		if slices.Contains(row, from) {
			time.Sleep(20 * time.Millisecond)
		}
	}
	return err
}

func probeKey(agent int, device string, tag uint64) string {
	return fmt.Sprintf("%d/%s/%d", agent, device, tag)
}

// judge makes the matrix into findings, one per receiving device.
func (x *Examined) judge(devices []*device) {
	for k, t := range devices {
		if t.Why != "" {
			x.Findings = append(x.Findings, netem.Finding{ID: "reach", Severity: netem.Fault, Where: t.name, What: "takes no part in probes: " + t.Why})
			continue
		}
		var none, short []string
		why, size := "", 0
		for i, d := range devices {
			switch x.Reach[i][k] {
			case ReachNone:
				none = append(none, d.name)
				if e := d.errors[k]; e != "" {
					why = " (" + d.name + ": " + e + ")"
				}
			case ReachShort:
				short = append(short, d.name)
				size = int(min(d.MTU, t.MTU).Bytes())
			}
		}
		if len(none) > 0 {
			x.Findings = append(x.Findings, netem.Finding{ID: "reach", Severity: netem.Fault, Where: t.name, What: fmt.Sprintf("no RDMA message arrives from %s%s", names(none), why),
				Remedy: "check routes and neighbours between the addresses; UDP port 4791 may be filtered on the way or in a NIC"})
		}
		if len(short) > 0 {
			x.Findings = append(x.Findings, netem.Finding{ID: "path-mtu", Severity: netem.Fault, Where: t.name, What: fmt.Sprintf("messages of %d B arrive from %s, those of %d B do not", shortProbe, names(short), size),
				Remedy: fmt.Sprintf("a link on the way carries less than both ends believe: set the MTU of every switch port there to %d or more", size+pathOverhead)})
		}
	}
}

// pathOverhead is what RoCEv2 adds to a payload inside an Ethernet MTU, at most:
// IPv6, UDP, BTH, RETH and ICRC.
const pathOverhead = 40 + 8 + 12 + 16 + 4

// names joins names, and counts the rest of many.
func names(list []string) string {
	const most = 4
	text, rest := "", 0
	for i, n := range list {
		switch {
		case i >= most:
			rest++
		case i > 0:
			text += ", " + n
		default:
			text = n
		}
	}
	if rest > 0 {
		text += fmt.Sprintf(" and %d others", rest)
	}
	return text
}
