package hardware

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
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
const DefaultVia = "ssh -o BatchMode=yes {} rdmasim hw agent"

// agentEnd is an agent as the coordinator sees it.
type agentEnd struct {
	machine string
	devices map[string]string // by host
	link    *link
	cmd     *exec.Cmd
	stdin   io.Closer
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
}

// call is who asked, and under which number.
type call struct {
	agent int
	seq   uint64
}

func (c *coordinator) now() time.Duration { return time.Since(c.started) }

// RunRemote executes a scenario with the devices of several machines: an agent is
// started on each by the command via, in which {} stands for the machine, and
// spoken with over its standard input and output.
func RunRemote(ctx context.Context, s *scenarios.Spec, o Options, places []Place, via string) (res *scenarios.Result, err error) {
	c, err := newCoordinator(s, places)
	if err != nil {
		return nil, &scenarios.InputError{Err: err}
	}
	if o.DryRun {
		return nil, &scenarios.InputError{Err: errors.New("--dry-run shows what changes on this machine; run it on each of the others with --device")}
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.connect(ctx, via, o); err != nil {
		return nil, err
	}
	w := c.world()
	out, err := w.create(o)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	stopped, err := c.run(ctx, o)
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
	c := &coordinator{spec: s, traffic: traffic, of: map[string]int{}, started: time.Now(), inbox: make(chan message, 1024), calls: map[uint64]call{}}
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
		m, err := c.expect(ctx, i, kindHello)
		if err != nil {
			return err
		}
		a.version = m.Version
		if m.Version != o.Version && o.Log != nil {
			fmt.Fprintf(o.Log, "rdmasim: %s has version %s, this is %s\n", a.machine, m.Version, o.Version)
		}
		if a.offset, err = c.offsetOf(ctx, i); err != nil {
			return fmt.Errorf("%s: the clock: %w", a.machine, err)
		}
		if o.Log != nil {
			fmt.Fprintf(o.Log, "rdmasim: %s: its clock is within %v\n", a.machine, a.offset.Error)
		}
	}
	for i, a := range c.agents {
		if err := a.link.send(message{Kind: kindPrepare, Scenario: string(yaml), Devices: a.devices, Poll: o.Poll}); err != nil {
			return fmt.Errorf("%s: %w", a.machine, err)
		}
		if _, err := c.expect(ctx, i, kindReady); err != nil {
			return err
		}
	}
	return nil
}

// start starts an agent.
func (c *coordinator) start(ctx context.Context, i int, via string, log io.Writer) error {
	a := c.agents[i]
	words := strings.Fields(via)
	if len(words) == 0 {
		return errors.New("--via is empty")
	}
	for k := range words {
		words[k] = strings.ReplaceAll(words[k], "{}", a.machine)
	}
	a.cmd = exec.CommandContext(context.WithoutCancel(ctx), words[0], words[1:]...)
	a.cmd.Stderr = log
	a.cmd.WaitDelay = 2 * time.Second
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt at the terminal is for the coordinator
	in, err := a.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := a.cmd.Start(); err != nil {
		a.cmd = nil
		return err
	}
	a.stdin = in
	a.link = newLink(out, in)
	go func() {
		for m := range a.link.in {
			m.from = i
			c.inbox <- m
		}
		c.inbox <- message{Kind: kindBye, from: i}
	}()
	return nil
}

// close ends the agents: their standard input closes, and each undoes what it
// has changed.
func (c *coordinator) close() error {
	var errs []error
	for _, a := range c.agents {
		if a.cmd == nil {
			continue
		}
		_ = a.link.send(message{Kind: kindBye})
		_ = a.stdin.Close()
	}
	for _, a := range c.agents {
		if a.cmd == nil {
			continue
		}
		done := make(chan error, 1)
		go func() { done <- a.cmd.Wait() }()
		select {
		case err := <-done:
			if err != nil && a.result != nil {
				errs = append(errs, fmt.Errorf("%s: %w", a.machine, err))
			}
		case <-time.After(10 * time.Second):
			errs = append(errs, fmt.Errorf("%s: the agent did not end", a.machine), a.cmd.Process.Kill())
		}
	}
	return errors.Join(errs...)
}
