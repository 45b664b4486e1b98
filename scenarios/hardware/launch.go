package hardware

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// start starts the agent of a machine; what it says comes to the inbox.
func (c *coordinator) start(ctx context.Context, i int, via string, log io.Writer) error {
	a := c.agents[i]
	words := strings.Fields(via)
	if len(words) == 0 {
		return errors.New("--via is empty")
	}
	for k := range words {
		words[k] = strings.ReplaceAll(words[k], "{}", a.machine)
	}
	a.errs = &said{machine: a.machine, to: log}
	a.cmd = exec.CommandContext(context.WithoutCancel(ctx), words[0], words[1:]...)
	a.cmd.Stderr = a.errs
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
	a.closed, a.ended = make(chan struct{}), make(chan struct{})
	a.pulse.asked = map[uint64]time.Duration{}
	a.link = newLink(out, in, func(_ *link, m message) { a.pulse.answered(m, c.now()) })
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	go a.pulse.beat(beating, a.link, c.now, c.lease/renewals)
	go func() {
		defer close(a.ended)
		defer stop()
		for m := range a.link.in {
			m.from = i
			c.inbox <- m
		}
		close(a.closed)
		c.inbox <- message{Kind: kindBye, from: i}
		a.exit = a.cmd.Wait()
	}()
	return nil
}

// greet takes the first message of an agent and refuses other versions: what they
// mean by the same words may differ.
func (c *coordinator) greet(ctx context.Context, i int, version string) error {
	a := c.agents[i]
	m, err := c.expect(ctx, i, kindHello)
	if err != nil {
		return err
	}
	a.version = m.Version
	if m.Version != version {
		return fmt.Errorf("%s: rdmasim there is version %q and here %q: install the same on both; nothing was changed", a.machine, m.Version, version)
	}
	a.greeted = true
	a.errs.flush()
	return nil
}

// why says how an agent has come to its end.
func (a *agentEnd) why() error {
	soon := time.After(time.Second)
	err := errClosed
	select {
	case <-a.closed:
		err = a.link.errGone()
	case <-soon:
	}
	if errors.Is(err, errClosed) {
		err = errors.New("the agent has ended")
		if !a.greeted {
			err = errors.New("no agent answers")
		}
	}
	select {
	case <-a.ended:
		if a.exit != nil {
			err = fmt.Errorf("%w (%w)", err, a.exit)
		}
	case <-soon:
	}
	if text := a.errs.last(); text != "" {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// close ends the agents: their standard input closes, and each undoes what it
// has changed.
func (c *coordinator) close() error {
	var errs []error
	for _, a := range c.agents {
		if a.cmd == nil {
			continue
		}
		if a.lost == nil { // to write to a connection that is lost may take for ever
			_ = a.link.send(message{Kind: kindBye})
		}
		_ = a.stdin.Close()
	}
	for _, a := range c.agents {
		if a.cmd == nil {
			continue
		}
		patience := 10 * time.Second
		quiet := a.lost != nil || !a.greeted // one that was never heard of has changed nothing
		if quiet {
			patience = time.Second
		}
		select {
		case <-a.ended:
			if a.exit != nil && a.result != nil {
				errs = append(errs, fmt.Errorf("%s: %w", a.machine, a.exit))
			}
			continue
		case <-time.After(patience):
		}
		if !quiet {
			errs = append(errs, fmt.Errorf("%s: the agent did not end", a.machine))
		}
		if err := syscall.Kill(-a.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// said is what an agent, and the program that carries it, print as errors. Until
// the agent has said hello it is kept, since it may be the reason of an error;
// then it is passed on, line by line, with the machine in front.
type said struct {
	machine string
	mu      sync.Mutex
	to      io.Writer // nil = nowhere
	open    bool
	rest    []byte
	lines   []string // the latest, or those that have not been passed on
}

// keptLines bounds what is kept of the errors of an agent.
const keptLines = 20

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, p...)
	for {
		line, rest, ok := bytes.Cut(s.rest, []byte{'\n'})
		if !ok && len(s.rest) < 4096 {
			return len(p), nil
		}
		s.rest = rest
		s.add(strings.TrimSpace(string(line)))
	}
}

func (s *said) add(line string) {
	if line == "" {
		return
	}
	if s.open && s.to != nil {
		fmt.Fprintf(s.to, "%s: %s\n", s.machine, line)
	}
	if s.open && strings.HasPrefix(line, "+ ") { // a command that it runs: no reason of an end
		return
	}
	s.lines = append(s.lines, line)
	if len(s.lines) > keptLines {
		s.lines = s.lines[1:]
	}
}

// flush passes on what was kept, and from now on everything.
func (s *said) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		if s.to != nil {
			fmt.Fprintf(s.to, "%s: %s\n", s.machine, l)
		}
	}
	s.open, s.lines = true, nil
}

// last returns the last thing that was said: all of it before the agent's hello.
func (s *said) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := append([]string{}, s.lines...)
	if rest := strings.TrimSpace(string(s.rest)); rest != "" {
		lines = append(lines, rest)
	}
	if s.open && len(lines) > 1 {
		lines = lines[len(lines)-1:]
	}
	return strings.Join(lines, "; ")
}
