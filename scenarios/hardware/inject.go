package hardware

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"

	"rdmasim/fabric/netem"
	"rdmasim/fabric/topology"
	"rdmasim/scenarios/fault"
	"rdmasim/sim"
)

// injection is a fault of the scenario made into changes of this host.
type injection struct {
	name  string
	f     fault.Fault
	sites []*site
	event *fault.PacketEvent // nil unless the fault is about exact packets
	hit   int64              // packets that it has acted on so far
	seen  int64              // packets that passed it

	late    sim.Duration // by which receives are posted late, without any change of the host
	lateAt  []int        // hosts
	dropped int64        // by queues and rules
}

// site is one interface where a fault acts.
type site struct {
	dev     string
	changes []netem.Change
	table   string // of nftables, "" for a queue
	marks   bool   // acts on what passes; else on what it drops
	drops   bool   // of a rule: what it acts on is lost
	risky   bool   // touches traffic that is not RoCE
	active  bool
}

// inject plans the faults. Nothing is changed here.
func (w *world) inject() error {
	names := w.traffic.FaultNames
	for i, f := range w.traffic.Faults {
		in := &injection{name: names[i], f: f}
		if err := w.plan(in, i); err != nil {
			return fmt.Errorf("fault %s on real hardware: %w", names[i], err)
		}
		w.faults = append(w.faults, in)
		w.names.ID("fault/" + in.name)
	}
	return w.checkOverlap()
}

// plan makes one fault into sites.
func (w *world) plan(in *injection, number int) error {
	id := "f" + strconv.Itoa(number)
	switch f := in.f.(type) {
	case fault.Loss:
		return w.planLoss(in, f, id)
	case fault.GilbertElliott:
		return w.atEgress(in, f.Wire, netem.Impairment{Gilbert: &netem.GilbertElliott{P: float64(f.ToBad), R: float64(f.ToGood), LossBad: float64(f.LossBad), LossGood: float64(f.LossGood)}}, false)
	case fault.Delay:
		if f.Distribution == "exponential" || f.Order == "kept" {
			return fmt.Errorf("%w: netem has neither an exponential jitter nor one that keeps the order", netem.ErrNotSupported)
		}
		m := netem.Impairment{Delay: f.Delay, Jitter: f.Jitter}
		if f.Jitter > 0 {
			m.Distribution = f.Distribution
		}
		return w.atEgress(in, f.Wire, m, true)
	case fault.Reorder:
		if f.Every > 0 {
			return fmt.Errorf("%w: netem reorders at random, not every nth packet", netem.ErrNotSupported)
		}
		// netem says which share goes ahead; the others are held back.
		return w.atEgress(in, f.Wire, netem.Impairment{Delay: f.Delay, Reorder: 1 - float64(f.Probability)}, true)
	case fault.Duplicate:
		return w.atEgress(in, f.Wire, netem.Impairment{Duplicate: float64(f.Probability)}, true)
	case fault.Corrupt:
		return w.atEgress(in, f.Wire, netem.Impairment{Corrupt: float64(f.Probability)}, true)
	case fault.Blocked:
		return w.atIngress(in, f.Wire, id, []netem.Rule{{Action: netem.Drop, PSN: -1}})
	case fault.MTU:
		return w.atIngress(in, f.Wire, id, []netem.Rule{{Action: netem.Drop, PSN: -1, Longer: f.MTU}})
	case fault.Rate:
		return w.atEgress(in, fault.Wire{Where: f.Where, When: f.When}, netem.Impairment{Rate: f.Rate}, true)
	case fault.LinkDown:
		if f.Reroute > 0 {
			return fmt.Errorf("%w: reroute: the routes of a real fabric are its own", netem.ErrNotSupported)
		}
		return w.linkDown(in, f)
	case fault.LateReceives:
		if w.ports != nil {
			return fmt.Errorf("%w: a bridge has no applications", netem.ErrNotSupported)
		}
		return w.planLate(in, f)
	case fault.PacketEvent:
		in.event = &f
		if w.remote != nil {
			return fmt.Errorf("%w: exact packets need both ends on one machine", netem.ErrNotSupported)
		}
		if w.ports != nil {
			return fmt.Errorf("%w: a bridge does not know the queue pairs of the hosts behind it", netem.ErrNotSupported)
		}
		if f.Do == "delay" {
			return fmt.Errorf("%w: nftables cannot hold a packet back", netem.ErrNotSupported)
		}
		return nil
	}
	return fmt.Errorf("%w: the kernel of a host cannot do it; faults that it can do are loss, gilbert_elliott, delay, reorder, duplicate, corrupt, rate, udp_blocked, mtu, link_down, packet and late_receives", netem.ErrNotSupported)
}

// planLoss loses packets at random at the sender, or by number at the receiver.
func (w *world) planLoss(in *injection, f fault.Loss, id string) error {
	if f.Every == 0 && len(f.Numbers) == 0 {
		return w.atEgress(in, f.Wire, netem.Impairment{Loss: float64(f.Probability), LossCorrelation: float64(f.Correlation)}, false)
	}
	if f.Probability > 0 {
		return fmt.Errorf("%w: at random and by number at once: make two faults of it", netem.ErrNotSupported)
	}
	var rules []netem.Rule
	if f.Every > 0 {
		rules = append(rules, netem.Rule{Action: netem.Drop, PSN: -1, Every: uint32(f.Every), Nth: uint32(f.Every - 1)})
	}
	for _, n := range f.Numbers {
		rules = append(rules, netem.Rule{Action: netem.Drop, PSN: -1, Nth: uint32(n)})
	}
	return w.atIngress(in, f.Wire, id, rules)
}

// devices returns the interfaces whose sending, or receiving, a place is about.
// A wire between two hosts is what the sender sends and what the receiver
// receives, so that only the ends of the scenario's paths matter.
func (w *world) devices(place fault.Where, sending bool) ([]string, error) {
	ways, err := place.Ways(w.traffic.Graph, w.traffic.Ports)
	if err != nil {
		return nil, err
	}
	var list []string
	elsewhere := false
	add := func(host int) {
		if w.endOf[host] < 0 { // the agent of that host does it
			elsewhere = true
			return
		}
		if dev := w.ends[w.endOf[host]].info.Netdev; !slices.Contains(list, dev) {
			list = append(list, dev)
		}
	}
	hosts := len(w.traffic.Hosts)
	if w.ports != nil {
		return w.bridgePorts(ways, sending), nil
	}
	for _, way := range ways {
		from, to := w.hostAt(way.From), w.hostAt(way.To)
		switch {
		case from >= 0 && sending:
			add(from)
		case to >= 0 && !sending:
			add(to)
		case hosts == 2 && from >= 0: // the other end receives all that it sends
			add(1 - from)
		case hosts == 2 && to >= 0:
			add(1 - to)
		}
	}
	if len(list) == 0 && !elsewhere {
		key := "what hosts send"
		if !sending {
			key = "what hosts receive"
		}
		return nil, fmt.Errorf("%w: it is not about %s, and this machine has no other links", netem.ErrNotSupported, key)
	}
	return list, nil
}

// bridgePorts returns the ports of a bridge at which frames of a way leave, or
// enter. What enters at one port leaves at the other.
func (w *world) bridgePorts(ways []fault.Way, leaving bool) (list []string) {
	for _, way := range ways {
		port := w.hostAt(way.To)
		if from := w.hostAt(way.From); from >= 0 {
			port = 1 - from
		}
		if !leaving {
			port = 1 - port
		}
		if !slices.Contains(list, w.ports[port]) {
			list = append(list, w.ports[port])
		}
	}
	return list
}

// hostAt returns the number of the host at a node, -1 for a switch.
func (w *world) hostAt(node int) int {
	if w.traffic.Graph.Nodes[node].Kind != topology.Host {
		return -1
	}
	return indexOf(w.traffic.Hosts, w.traffic.Graph.Nodes[node].Name)
}

// plainFrames refuses choices among frames that queues and rules cannot make.
func plainFrames(f fault.Frames) error {
	if len(f.Only) > 0 || f.Src != "" || f.Dst != "" || f.Class > 0 || f.QP > 0 {
		return fmt.Errorf("%w: only, src, dst, priority and qp choose among frames, which is for the simulated fabric; see the fault packet", netem.ErrNotSupported)
	}
	return nil
}

func (w *world) atEgress(in *injection, wire fault.Wire, m netem.Impairment, marks bool) error {
	if err := plainFrames(wire.Frames); err != nil {
		return err
	}
	devs, err := w.devices(wire.Where, true)
	if err != nil {
		return err
	}
	for _, dev := range devs {
		c, err := netem.Impair(dev, m, netem.Select{})
		if err != nil {
			return err
		}
		in.sites = append(in.sites, &site{dev: dev, changes: c, marks: marks})
	}
	return nil
}

func (w *world) atIngress(in *injection, wire fault.Wire, id string, rules []netem.Rule) error {
	if err := plainFrames(wire.Frames); err != nil {
		return err
	}
	devs, err := w.devices(wire.Where, false)
	if err != nil {
		return err
	}
	for k, dev := range devs {
		s, err := ruleSite(dev, fmt.Sprintf("%s_%d", id, k), rules)
		if err != nil {
			return err
		}
		in.sites = append(in.sites, s)
	}
	return nil
}

func ruleSite(dev, id string, rules []netem.Rule) (*site, error) {
	id = fmt.Sprintf("%d_%s", os.Getpid(), id) // several agents may share a machine
	c, err := netem.Rules(dev, id, rules)
	// Corrupted packets do not pass the ICRC.
	drops := len(rules) > 0 && rules[0].Action != netem.MarkCE
	return &site{dev: dev, changes: c, table: netem.Table(id), drops: drops}, err
}

func (w *world) linkDown(in *injection, f fault.LinkDown) error {
	devs, err := w.devices(f.Where, true)
	if err != nil {
		return err
	}
	if w.ports != nil { // a link of a bridge is one port, in both directions
		ways, err := f.Where.Ways(w.traffic.Graph, w.traffic.Ports)
		if err != nil {
			return err
		}
		devs = nil
		for _, way := range ways {
			if port := w.ports[max(w.hostAt(way.From), w.hostAt(way.To))]; !slices.Contains(devs, port) {
				devs = append(devs, port)
			}
		}
	}
	for _, dev := range devs {
		c, err := netem.LinkDown(dev)
		if err != nil {
			return err
		}
		in.sites = append(in.sites, &site{dev: dev, changes: c, marks: true, risky: true})
	}
	return nil
}

// checkOverlap refuses two impairments of one interface: it has one queue.
func (w *world) checkOverlap() error {
	owner := map[string]string{}
	for _, in := range w.faults {
		for _, s := range in.sites {
			if s.table != "" || s.risky {
				continue
			}
			if other, ok := owner[s.dev]; ok {
				return fmt.Errorf("faults %s and %s: %w: both need the queue of %s: one at a time", other, in.name, netem.ErrNotSupported, s.dev)
			}
			owner[s.dev] = in.name
		}
	}
	return nil
}

// refused says why an interface that others need must not lose its link or its
// queue, which all traffic passes; rules for RoCE packets at its ingress touch
// nothing else. "" means that nothing speaks against it.
func (s *site) refused(root string) string {
	if s.table != "" {
		return ""
	}
	return netem.Refuse(root, s.dev)
}

// refuse says why a fault must not touch this host; nothing has been changed.
func (w *world) refuse(devices []netem.Device) error {
	for _, in := range w.faults {
		for _, e := range w.ends {
			if in.late == 0 && e != nil && e.info.Offloaded() {
				return fmt.Errorf("fault %s: %w: %s (%s) builds its packets in hardware and bypasses the kernel's queues, so that nothing would be injected; put a Linux bridge (rdmasim hw bridge), Soft-RoCE or the switch in the path", in.name, netem.ErrNotSupported, e.info.Name, e.info.Driver)
			}
		}
		for _, s := range in.sites {
			why := netem.RefuseBusy(context.Background(), netem.Exec{}, devices, s.dev, os.Getpid())
			if why == "" {
				why = s.refused("/")
			}
			if why != "" {
				return fmt.Errorf("fault %s: %s must not be touched: %s", in.name, s.dev, why)
			}
		}
	}
	return nil
}
