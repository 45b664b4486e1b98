package hardware

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rdmasim/fabric/capture"
	"rdmasim/fabric/netem"
	"rdmasim/scenarios"
	"rdmasim/sim"
)

// PauseOptions say which real pause frames are sent.
type PauseOptions struct {
	Interface  string
	Priorities []int
	Quanta     uint16        // of 512 bit times
	For        time.Duration // at most LongestPause
	Own        bool          // the user owns the fabric: without it nothing is sent
	DryRun     bool
	Log        io.Writer // gets every command that changes the host; nil = nowhere
	Out        io.Writer
}

// LongestPause bounds a pause storm on a real link.
const LongestPause = time.Minute

// Where the speed of a link is not known it counts as a fast one: the frames come
// so often that the pause does not end between them. shortestRefresh spares the host.
const (
	assumedSpeed    = 100 * sim.Gbps
	shortestRefresh = 50 * time.Microsecond
)

// pause is a plan to pause one link.
type pause struct {
	PauseOptions
	dev      *net.Interface
	rate     sim.Rate // 0 = not known
	xoff     []byte
	xon      []byte
	every    time.Duration
	do, undo netem.Command
	sent     int64
	took     time.Duration
}

// Pause sends PFC frames by one interface for a bounded time, again before each
// pause ends, and then lets the link go. It is refused without Own, and on
// an interface that anything else depends on. The frames leave this process alone:
// when it is killed they end, and the guard lets the link go.
func Pause(ctx context.Context, o PauseOptions) (err error) {
	p, err := planPause(ctx, o, "/")
	if err != nil {
		return &scenarios.InputError{Err: err}
	}
	if o.DryRun {
		fmt.Fprintf(o.Out, "%s\n# afterwards, whatever happens\n%s\n", p.do, p.undo)
		return nil
	}
	release, err := onePause(netem.DefaultJournals)
	if err != nil {
		return &scenarios.InputError{Err: err}
	}
	defer release()
	before, err := netem.TxPackets("/", o.Interface)
	if err != nil {
		return err
	}
	x, err := newInjector(o.Log)
	if err != nil {
		return err
	}
	change := netem.Change{What: "pause frames by " + o.Interface, Do: p.do, Undo: p.undo}
	err = x.journal.Apply(ctx, sending{x.runner, p, o.Log}, change)
	if err = errors.Join(err, x.close()); err != nil {
		return err
	}
	after, err := netem.TxPackets("/", o.Interface)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "sent %d XOFF frames of priority %s, %d quanta (%s), by %s in %v, and XON; the interface counted %d packets\n",
		p.sent, numbers(o.Priorities), o.Quanta, p.pauseText(), o.Interface, p.took.Round(time.Millisecond), after-before)
	if after-before < p.sent {
		return fmt.Errorf("of %d pause frames the interface counted %d: nothing shows that they were sent", p.sent, after-before)
	}
	return nil
}

func (p *pause) pauseText() string {
	if p.rate == 0 {
		return "the speed of the link is not known"
	}
	return fmt.Sprintf("%v at %v", netem.PauseTime(p.Quanta, p.rate), p.rate)
}

// planPause checks everything before anything is sent. root is "/" for this host.
func planPause(ctx context.Context, o PauseOptions, root string) (*pause, error) {
	switch {
	case !o.Own:
		return nil, errors.New("real pause frames stop other people's traffic, and can stop a whole fabric: --i-own-this-fabric says that this one is yours")
	case o.For <= 0 || o.For > LongestPause:
		return nil, fmt.Errorf("--for %v: want a time up to %v", o.For, LongestPause)
	case o.Quanta == 0:
		return nil, errors.New("--quanta 0: want 1 to 65535: 0 quanta let a link go")
	case len(o.Priorities) == 0:
		return nil, errors.New("--priority: want 0 to 7, or several, as in 3,4")
	}
	frame, xon := capture.Pause{Priority: true}, capture.Pause{Priority: true}
	for _, n := range o.Priorities {
		if n < 0 || n > 7 {
			return nil, fmt.Errorf("--priority %d: want 0 to 7", n)
		}
		frame.Classes |= 1 << n
		frame.Quanta[n] = o.Quanta
	}
	xon.Classes = frame.Classes
	if why := netem.RefusePause(root, o.Interface); why != "" {
		return nil, fmt.Errorf("%s must not be paused: %s", o.Interface, why)
	}
	devices, err := netem.ReadDevices(root)
	if err != nil {
		return nil, err
	}
	if why := netem.RefuseBusy(ctx, netem.Exec{}, devices, o.Interface, os.Getpid()); why != "" {
		return nil, fmt.Errorf("%s must not be paused: %s", o.Interface, why)
	}
	p := &pause{PauseOptions: o, rate: netem.LinkSpeed(root, o.Interface)}
	if p.dev, err = net.InterfaceByName(o.Interface); err != nil {
		return nil, err
	}
	if len(p.dev.HardwareAddr) != 6 {
		return nil, fmt.Errorf("%s must not be paused: it has no Ethernet address", o.Interface)
	}
	src := [6]byte(p.dev.HardwareAddr)
	p.xoff, p.xon = capture.AppendPause(nil, src, &frame), capture.AppendPause(nil, src, &xon)
	speed := p.rate
	if speed == 0 {
		speed = assumedSpeed
	}
	p.every = max(netem.PauseTime(o.Quanta, speed)/2, shortestRefresh)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	prio := numbers(o.Priorities)
	p.do = netem.Command{self, "hw", "pause", o.Interface, "--priority", prio, "--quanta", strconv.Itoa(int(o.Quanta)), "--for", o.For.String(), "--i-own-this-fabric"}
	p.undo = netem.Command{self, "hw", "resume", o.Interface, "--priority", prio}
	return p, nil
}

func numbers(list []int) string {
	s := make([]string, len(list))
	for i, n := range list {
		s[i] = strconv.Itoa(n)
	}
	return strings.Join(s, ",")
}

// sending runs the command of a pause in this process, and others as commands.
type sending struct {
	netem.Runner
	p   *pause
	log io.Writer
}

func (s sending) Run(ctx context.Context, c netem.Command) (string, error) {
	if !slices.Equal(c, s.p.do) {
		return s.Runner.Run(ctx, c)
	}
	if s.log != nil {
		fmt.Fprintf(s.log, "+ %s (this process)\n", c)
	}
	return "", s.p.send(ctx)
}

// send sends XOFF until the time is over or the context ends. The time is looked at
// before every frame, so that a process that was stopped meanwhile sends none
// later.
func (p *pause) send(ctx context.Context) error {
	send, done, err := frameSender(p.dev, p.xoff)
	if err != nil {
		return err
	}
	defer done()
	begin := time.Now()
	defer func() { p.took = time.Since(begin) }()
	for time.Since(begin) < p.For && ctx.Err() == nil {
		if err := send(); err != nil {
			return fmt.Errorf("%s: %w", p.Interface, err)
		}
		p.sent++
		select {
		case <-ctx.Done():
		case <-time.After(min(p.every, p.For-time.Since(begin))):
		}
	}
	return nil
}

// xons is how many frames let a link go: one may be lost.
const xons = 3

// Resume lets a link go that pause frames have stopped: it sends XON.
func Resume(dev string, priorities []int) error {
	d, err := net.InterfaceByName(dev)
	if err != nil {
		return err
	}
	if len(d.HardwareAddr) != 6 {
		return fmt.Errorf("%s has no Ethernet address", dev)
	}
	on := capture.Pause{Priority: true}
	for _, n := range priorities {
		if n < 0 || n > 7 {
			return fmt.Errorf("--priority %d: want 0 to 7", n)
		}
		on.Classes |= 1 << n
	}
	send, done, err := frameSender(d, capture.AppendPause(nil, [6]byte(d.HardwareAddr), &on))
	if err != nil {
		return err
	}
	defer done()
	for range xons {
		if err := send(); err != nil {
			return err
		}
	}
	return nil
}

// onePause makes sure that this machine pauses one link at a time.
func onePause(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "pause.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := netem.Lock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("another process pauses a link of this machine (%s is locked): one link at a time", path), f.Close())
	}
	return func() { _ = f.Close() }, nil
}
