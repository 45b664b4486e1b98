package hardware

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"rdmasim/scenarios"
	"rdmasim/sim/trace"
)

// Place is where a host of the scenario is.
type Place struct{ Host, Machine, Device string }

// ParsePlace reads HOST=MACHINE/DEVICE.
func ParsePlace(s string) (p Place, err error) {
	host, rest, ok1 := strings.Cut(s, "=")
	at := strings.LastIndexByte(rest, '/')
	if !ok1 || at < 1 || host == "" || rest[at+1:] == "" || strings.HasPrefix(rest, "-") || strings.ContainsAny(rest, " \t\n") {
		return p, fmt.Errorf("--host %s: want HOST=MACHINE/DEVICE, such as h0=node1/mlx5_0", s)
	}
	return Place{host, rest[:at], rest[at+1:]}, nil
}

// DefaultVia is how an agent is started on a machine.
const DefaultVia = "ssh -T -o BatchMode=yes -o ConnectTimeout=10 -o ClearAllForwardings=yes {} rdmasim hw agent"

// agentEnd is an agent as the coordinator sees it.
type agentEnd struct {
	machine string
	devices map[string]string // by host
	link    *link
	cmd     *exec.Cmd
	stdin   io.Closer
	errs    *said
	closed  chan struct{} // closed with its standard output
	ended   chan struct{} // closed with the process; then exit says how
	exit    error
	pulse   pulse
	greeted bool
	lost    error         // why it takes no more part
	lostAt  time.Duration // since time 0
	offset  Offset
	objects []string // names of the agent's objects, by number
	result  *wireResult
	sink    trace.Sink
	version string
}

// coordinator runs a scenario whose hosts are at agents.
type coordinator struct {
	spec    *scenarios.Spec
	traffic *scenarios.Traffic
	agents  []*agentEnd
	of      map[string]int // agent of a host
	started time.Time
	inbox   chan message
	calls   map[uint64]call // outstanding, by the number that they have here
	seq     uint64
	early   []message // that came before their turn
	lease   time.Duration
	log     io.Writer
	running bool          // an agent that is lost is no reason to give up any more
	zero    time.Duration // when the run began
}

// call is who asked whom, and under which number.
type call struct {
	from, to int
	seq      uint64
}

func (c *coordinator) now() time.Duration { return time.Since(c.started) }

// RunRemote executes a scenario with the devices of several machines: an agent is
// started on each by the command via, in which {} stands for the machine, and
// spoken with over its standard input and output.
func RunRemote(ctx context.Context, s *scenarios.Spec, o Options, places []Place, via string) (*scenarios.Result, error) {
	c, err := newCoordinator(s, places)
	if err != nil {
		return nil, &scenarios.InputError{Err: err}
	}
	return c.runRemote(ctx, o, via)
}

func (c *coordinator) runRemote(ctx context.Context, o Options, via string) (res *scenarios.Result, err error) {
	if o.DryRun {
		return nil, &scenarios.InputError{Err: errors.New("--dry-run shows what changes on this machine; run it on each of the others with --device")}
	}
	c.log = o.Log
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.connect(ctx, via, o); err != nil {
		return nil, &scenarios.InputError{Err: err}
	}
	w := c.world()
	out, err := w.create(o)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	stopped, err := c.run(ctx)
	if err != nil {
		out.Abort()
		return nil, err
	}
	res = &scenarios.Result{Dir: o.Out, Partial: stopped, Wall: time.Since(start).Seconds(), Workers: len(c.agents)}
	if err := c.merge(w, out, res); err != nil {
		out.Abort()
		return nil, err
	}
	return res, nil
}

func newCoordinator(s *scenarios.Spec, places []Place) (*coordinator, error) {
	traffic, err := scenarios.PlanTraffic(s)
	if err != nil {
		return nil, err
	}
	c := &coordinator{spec: s, traffic: traffic, of: map[string]int{}, started: time.Now(), inbox: make(chan message, 1024), calls: map[uint64]call{}, lease: leaseTime}
	for _, p := range places {
		if !slices.Contains(traffic.Hosts, p.Host) {
			return nil, fmt.Errorf("--host %s=...: the scenario has no such host; it has %s", p.Host, strings.Join(traffic.Hosts, ", "))
		}
		if _, twice := c.of[p.Host]; twice {
			return nil, fmt.Errorf("--host %s=...: given twice", p.Host)
		}
		i := slices.IndexFunc(c.agents, func(a *agentEnd) bool { return a.machine == p.Machine })
		if i < 0 {
			i = len(c.agents)
			c.agents = append(c.agents, &agentEnd{machine: p.Machine, devices: map[string]string{}})
		}
		c.agents[i].devices[p.Host] = p.Device
		c.of[p.Host] = i
	}
	for _, h := range traffic.Hosts {
		if _, ok := c.of[h]; !ok {
			return nil, fmt.Errorf("--host: host %s is nowhere", h)
		}
	}
	return c, nil
}

// connect starts the agents, estimates their clocks and hands out the scenario.
func (c *coordinator) connect(ctx context.Context, via string, o Options) error {
	yaml, _, err := scenarios.Resolved(c.spec)
	if err != nil {
		return err
	}
	for i, a := range c.agents {
		if err := c.start(ctx, i, via, o.Log); err != nil {
			return fmt.Errorf("%s: %w", a.machine, err)
		}
	}
	for i, a := range c.agents {
		if err := c.greet(ctx, i, o.Version); err != nil {
			return err
		}
		if a.offset, err = c.offsetOf(ctx, i); err != nil {
			return err
		}
		if o.Log != nil {
			fmt.Fprintf(o.Log, "rdmasim: %s: its clock is within %v\n", a.machine, a.offset.Error)
		}
	}
	for i, a := range c.agents {
		if err := c.tell(i, message{Kind: kindPrepare, Scenario: string(yaml), Devices: a.devices, Poll: o.Poll}); err != nil {
			return err
		}
	}
	for i := range c.agents {
		if _, err := c.expect(ctx, i, kindReady); err != nil {
			return err
		}
	}
	return nil
}
