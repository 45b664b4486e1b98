package hardware

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// guard is a process of its own that undoes what this one leaves behind when it
// is killed. One that is killed itself is replaced.
type guard struct {
	command func() (*exec.Cmd, error)
	mu      sync.Mutex
	in      io.Closer // the other end of its standard input
	pid     int
	closed  bool
	done    chan struct{}
}

// guardsAtMost and guardPause bound how often a guard that ends at once is
// replaced.
const (
	guardsAtMost = 100
	guardPause   = 100 * time.Millisecond
)

// guardCommand is this program as a guard: it sleeps until the other end of its
// pipe closes, which the kernel does however this process ends.
func guardCommand() (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.Command(self, "hw", "guard"), nil
}

func startGuard(command func() (*exec.Cmd, error)) (*guard, error) {
	g := &guard{command: command, done: make(chan struct{})}
	c, err := g.start()
	if err != nil {
		return nil, fmt.Errorf("the guard that cleans up after a kill cannot be started: %w", err)
	}
	go g.watch(c)
	return g, nil
}

func (g *guard) start() (*exec.Cmd, error) {
	c, err := g.command()
	if err != nil {
		return nil, err
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	g.in, g.pid = in, c.Process.Pid
	return c, nil
}

// watch replaces a guard that ends before it is let go.
func (g *guard) watch(c *exec.Cmd) {
	defer close(g.done)
	for n := 1; ; n++ {
		_ = c.Wait()
		if n == guardsAtMost {
			return
		}
		time.Sleep(guardPause)
		g.mu.Lock()
		if g.closed {
			g.mu.Unlock()
			return
		}
		next, err := g.start()
		g.mu.Unlock()
		if err != nil {
			return
		}
		c = next
	}
}

// Close lets the guard go: it looks once for what is left, and ends.
func (g *guard) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	err := g.in.Close()
	if errors.Is(err, os.ErrClosed) { // the process is gone already
		return nil
	}
	return err
}
