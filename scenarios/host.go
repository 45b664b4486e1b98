package scenarios

import (
	"fmt"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/verbs"
	"rdmasim/verbs/simnic"
)

// host is a workload instance on a simulated NIC: it gives the instance what
// workload.Host promises, and the NIC an application.
type host struct {
	w      *world
	nic    *simnic.NIC
	node   int
	number int // of the host
	client int
	name   string // of the workload and its place in the scenario
	kind   string
	inst   workload.Instance
	done   bool
}

var (
	_ workload.Host = (*host)(nil)
	_ simnic.Client = (*host)(nil)
)

func (h *host) Name() string       { return h.kind }
func (h *host) Index() int         { return h.number }
func (h *host) Hosts() int         { return len(h.w.hosts) }
func (h *host) Now() sim.Time      { return h.nic.Node().Now() }
func (h *host) LineRate() sim.Rate { return h.nic.LineRate(0) }

func (h *host) Rand(name string) *sim.Rand {
	return h.w.rand(fmt.Sprintf("%s/%s/%s", h.w.graph.Nodes[h.node].Name, h.name, name))
}

func (h *host) After(d sim.Duration, token uint64) { h.nic.After(h.client, d, token) }

func (h *host) Connect(p workload.ConnParams) verbs.Connection {
	peer := h.w.hosts[p.Peer]
	port := p.Rail % len(h.w.ports.Of(h.node))
	first, end := h.w.routes.Of(peer)
	dst := first + p.Rail%(end-first)
	return h.nic.Connect(simnic.Conn{Client: h.client, Port: port, Peer: int32(dst), Priority: p.Priority,
		SrcPort: p.SrcPort, DstPort: p.DstPort, Private: p.Private, Depth: p.Depth, Service: p.Service})
}

func (h *host) Done() {
	if !h.done {
		h.done = true
		h.nic.Done(h.client)
	}
}

func (h *host) OnStart() { h.inst.Start(h) }

func (h *host) OnAccept(qp *simnic.QP, private uint64) {
	peer := h.w.hostOf[h.w.routes.Endpoints()[qp.PeerEndpoint()].Node]
	h.inst.OnAccept(h, qp, peer, private)
}

func (h *host) OnCompletion(qp *simnic.QP, wc verbs.WorkCompletion) { h.inst.OnCompletion(h, qp, wc) }

func (h *host) OnTimer(token uint64) { h.inst.OnTimer(h, token) }

// idle is the instance of a host that a workload leaves alone.
type idle struct{ workload.Nop }

func (idle) Start(h workload.Host) { h.Done() }

// attach plans the traffic and puts its instances on the hosts.
func (w *world) attach(files func(string) ([]byte, error)) error {
	plans, err := w.plan(files)
	if err != nil {
		return err
	}
	for k, plan := range plans {
		kind := w.spec.Traffic[k].Name
		for i, node := range w.hosts {
			h := &host{w: w, nic: w.nics[node], node: node, number: i, kind: kind, name: fmt.Sprintf("%s%d", kind, k), inst: plan[i]}
			if h.inst == nil {
				h.inst = idle{}
			}
			h.client = w.nics[node].Attach(h)
		}
	}
	return nil
}

// plan returns the instances of every workload by number of host.
func (w *world) plan(files func(string) ([]byte, error)) ([]map[int]workload.Instance, error) {
	c := &workload.Context{Duration: w.spec.Duration, Warmup: w.spec.Warmup, Rand: w.rand, File: files}
	if w.spec.hpcc() {
		c.MaxMessage = sim.TiB
	}
	if w.spec.UntilDone {
		c.Duration = 0
	}
	number := map[string]int{}
	for i, node := range w.hosts {
		c.Hosts = append(c.Hosts, w.graph.Nodes[node].Name)
		c.LineRate = append(c.LineRate, w.nics[node].LineRate(0))
		if mtu := sim.Bytes(w.sizes[node].Payload); c.MTU == 0 || mtu < c.MTU {
			c.MTU = mtu
		}
		number[w.graph.Nodes[node].Name] = i
	}
	c.HostIndex = func(name string) (int, error) {
		if i, ok := number[name]; ok {
			return i, nil
		}
		return 0, fmt.Errorf("unknown host %q: the topology has %s", name, someNames(c.Hosts))
	}
	if len(w.spec.Traffic) > 255 {
		return nil, fmt.Errorf("traffic: %d workloads: want at most 255", len(w.spec.Traffic))
	}
	plans := make([]map[int]workload.Instance, len(w.spec.Traffic))
	for k := range w.spec.Traffic {
		plan, err := w.planOne(c, k)
		if err != nil {
			return nil, w.spec.at(fmt.Sprintf("traffic.%d", k), err)
		}
		plans[k] = plan
	}
	return plans, nil
}

func (w *world) planOne(c *workload.Context, k int) (map[int]workload.Instance, error) {
	t := &w.spec.Traffic[k]
	e, err := workload.Workloads.Lookup(t.Name)
	if err != nil {
		return nil, err
	}
	load, err := e.Build(t.Params)
	if err != nil {
		return nil, err
	}
	c.Rand = w.planRand(k)
	var offers []workload.Offer
	c.Offer = func(o workload.Offer) { offers = append(offers, o) }
	plan, err := load.Plan(c)
	if err != nil {
		return nil, err
	}
	if err := w.checkOffers(offers); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return plan, nil
}

// planRand returns the streams from which entry k of the traffic is planned:
// two permutations of one scenario are not the same. The first entry of a kind
// has the plain names.
func (w *world) planRand(k int) func(string) *sim.Rand {
	before := 0
	for _, t := range w.spec.Traffic[:k] {
		if t.Name == w.spec.Traffic[k].Name {
			before++
		}
	}
	if before == 0 {
		return w.rand
	}
	return func(name string) *sim.Rand { return w.rand(fmt.Sprintf("%s/%d", name, before)) }
}

// someNames lists the first names of a list, for errors.
func someNames(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) <= 8 {
		return fmt.Sprintf("%v", names)
	}
	return fmt.Sprintf("%s .. %s (%d)", names[0], names[len(names)-1], len(names))
}
