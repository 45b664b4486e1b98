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

	"rdmasim/fabric/netem"
	"rdmasim/scenarios"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// BridgeOptions say what a bridge does.
type BridgeOptions struct {
	Ports   [2]string     // interfaces
	Faults  []string      // faults of a scenario, in its words; the ports are hosts of a switch named bridge
	For     time.Duration // 0 = until the context ends
	DryRun  bool          // print what would change the host, and change nothing
	Measure bool          // measure how many packets per second a bridge of this host forwards
	Log     io.Writer     // gets every command that changes the host; nil = nowhere
	Out     io.Writer     // gets what a person wants to know
}

// bridgeNote is what a bridge cannot do.
const bridgeNote = `PFC does not cross this bridge: pause frames end at its ports, and its own buffer is not lossless.
Frames with VLAN tags or IPv4 options pass without faults.`

// Bridge joins two interfaces by a transparent bridge and injects faults into
// what crosses it, which is how netem reaches NICs that build their packets in
// hardware. Everything is undone when it ends.
func Bridge(ctx context.Context, o BridgeOptions) (err error) {
	w, err := planBridge(ctx, &o)
	if err != nil {
		return &scenarios.InputError{Err: err}
	}
	join, err := netem.Bridge("/", o.Ports[0], o.Ports[1])
	if err != nil {
		return &scenarios.InputError{Err: err}
	}
	if o.DryRun {
		w.printBridge(o.Out, join)
		return nil
	}
	if w.injector, err = newInjector(o.Log); err != nil {
		return err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, w.injector.close())
		}
	}()
	fmt.Fprintln(o.Out, bridgeNote)
	ceiling := 0.0
	if o.Measure {
		if ceiling, err = w.measureCeiling(ctx, o.Out); err != nil {
			return err
		}
	}
	for _, c := range join {
		if err := w.injector.journal.Apply(ctx, w.injector.runner, c); err != nil {
			return err
		}
	}
	if err := awaitForwarding(ctx, o.Ports[:]...); err != nil && ctx.Err() == nil {
		return err
	}
	most, before, err := w.bridge(ctx, &o)
	if err != nil {
		return err
	}
	fmt.Fprint(o.Out, forwarded(&o, before, most, ceiling))
	closed = true
	if err := w.stopFaults(); err != nil {
		return err
	}
	for _, in := range w.faults {
		fmt.Fprintf(o.Out, "fault %s: %s: %d of %d packets that passed it, %d of them dropped\n", in.name, in.f, in.hit, in.seen, in.dropped)
	}
	w.reconcile(nil)
	for _, c := range w.checks {
		fmt.Fprintf(o.Out, "%s: %s\n", verdict(c), c.Text)
	}
	return nil
}

// longest is the time in seconds within which a fault has to begin: a day, the
// longest scenario.
const longest = 24 * 3600

// printBridge lists what a bridge with its faults would do.
func (w *world) printBridge(to io.Writer, join []netem.Change) {
	for _, c := range join {
		fmt.Fprintln(to, c.Do)
	}
	w.print(Options{Log: to})
	for _, c := range slices.Backward(join) {
		if c.Undo != nil {
			fmt.Fprintln(to, c.Undo)
		}
	}
}

// planBridge makes the faults into changes of the ports and says why the ports
// must not be touched. Nothing has been changed.
func planBridge(ctx context.Context, o *BridgeOptions) (*world, error) {
	a, b := o.Ports[0], o.Ports[1]
	if a == b {
		return nil, fmt.Errorf("%s twice: a bridge joins two interfaces", a)
	}
	devices, err := netem.ReadDevices("/")
	if err != nil {
		return nil, err
	}
	for _, dev := range o.Ports {
		why := netem.RefuseBridge("/", dev, addresses)
		if why == "" {
			why = netem.RefuseBusy(ctx, netem.Exec{}, devices, dev, os.Getpid())
		}
		if why != "" {
			return nil, fmt.Errorf("%s must not become a port of a bridge: %s", dev, why)
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "name: bridge\nduration: %ds\nseries: {interval: 0s}\ntopology: {custom: {nodes: [{name: %q, kind: host}, {name: %q, kind: host}, {name: bridge, kind: switch}], links: [{a: %q, b: bridge}, {a: %q, b: bridge}]}}\n", longest, a, b, a, b)
	fmt.Fprintf(&text, "traffic: [{incast: {senders: 1, receiver: %q, message: 1B, repeat: 1}}]\n", a)
	for i, f := range o.Faults {
		if strings.ContainsAny(f, "\n\r") {
			return nil, fmt.Errorf("--fault %q: one fault on one line", f)
		}
		if i == 0 {
			text.WriteString("faults:\n")
		}
		fmt.Fprintf(&text, "  - %s\n", f)
	}
	spec, err := scenarios.Parse("--fault", []byte(text.String()))
	if err != nil {
		return nil, err
	}
	traffic, err := scenarios.PlanTraffic(spec)
	if err != nil {
		return nil, err
	}
	w := &world{spec: spec, traffic: traffic, names: trace.NewNames(), ports: o.Ports[:]}
	return w, w.inject()
}

// addresses lists the addresses of an interface.
func addresses(dev string) ([]string, error) {
	i, err := net.InterfaceByName(dev)
	if err != nil {
		return nil, err
	}
	all, err := i.Addrs()
	if err != nil {
		return nil, err
	}
	var list []string
	for _, a := range all {
		list = append(list, a.String())
	}
	return list, nil
}

// bridge keeps the faults going. It returns the most packets that were forwarded
// within a second, and what the ports had counted at the start.
func (w *world) bridge(ctx context.Context, o *BridgeOptions) (most float64, before [2]portCounts, err error) {
	w.clock = clock{time.Now()}
	limit := sim.Never
	if o.For > 0 {
		limit = sim.Time(o.For.Nanoseconds()) * 1000
	}
	if len(w.faults) > 0 {
		if err := w.startFaults(ctx, limit); err != nil {
			return 0, before, err
		}
	}
	for i, p := range o.Ports {
		before[i] = readPort(p)
	}
	fmt.Fprintf(o.Out, "forwarding between %s and %s\n", o.Ports[0], o.Ports[1])
	last, at := before, time.Now()
	for ctx.Err() == nil && w.clock.now() < limit {
		now := w.clock.now()
		for {
			f, ok := w.timers.due(now)
			if !ok {
				break
			}
			f()
		}
		next := min(w.timers.next(), limit)
		wait := min(time.Duration(next.Sub(now)/sim.Nanosecond), 200*time.Millisecond)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		if d := time.Since(at); d >= time.Second {
			var sent int64
			for i, p := range o.Ports {
				c := readPort(p)
				sent += c.tx - last[i].tx
				last[i] = c
			}
			most, at = max(most, float64(sent)/d.Seconds()), time.Now()
		}
	}
	return most, before, nil
}

// portCounts are packets.
type portCounts struct{ rx, tx, rxDropped, txDropped int64 }

func readPort(dev string) (c portCounts) {
	for _, k := range []struct {
		name string
		to   *int64
	}{{"rx_packets", &c.rx}, {"tx_packets", &c.tx}, {"rx_dropped", &c.rxDropped}, {"tx_dropped", &c.txDropped}} {
		b, err := os.ReadFile(filepath.Join("/sys/class/net", dev, "statistics", k.name))
		if err == nil {
			*k.to, _ = strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
		}
	}
	return c
}

// forwarded says what the ports have counted, and whether that is near what the
// bridge can do.
func forwarded(o *BridgeOptions, before [2]portCounts, most, ceiling float64) string {
	var s strings.Builder
	for i, p := range o.Ports {
		c := readPort(p)
		fmt.Fprintf(&s, "%s: %d packets in, %d out, %d and %d dropped by the interface\n", p, c.rx-before[i].rx, c.tx-before[i].tx, c.rxDropped-before[i].rxDropped, c.txDropped-before[i].txDropped)
	}
	if ceiling > 0 && most > 0 {
		fmt.Fprintf(&s, "at most %.0f packets/s were forwarded, %.1f %% of the ceiling\n", most, 100*most/ceiling)
		if most > ceiling/2 {
			s.WriteString("that is near the ceiling: losses and delays may be the bridge's own\n")
		}
	}
	return s.String()
}
