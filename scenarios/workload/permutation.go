package workload

import (
	"fmt"

	"rdmasim/sim"
)

// PermutationParams are the parameters of permutation.
type PermutationParams struct {
	Common
	Hosts   HostSet      `key:"hosts" doc:"hosts that take part: how many, which, or all"`
	To      []string     `key:"to" doc:"destination of every host in order; empty = a random permutation in which no host sends to itself"`
	Shift   int          `key:"shift" doc:"host i sends to host i+shift, instead of a random permutation; 0 = random"`
	Message sim.Bytes    `key:"message" doc:"size of a message"`
	Repeat  Repeat       `key:"repeat" doc:"messages per queue pair, or forever"`
	Depth   int          `key:"depth" doc:"messages outstanding per queue pair"`
	Jitter  sim.Duration `key:"jitter" doc:"every host starts at a random time within this span"`
}

var _ = sim.Register(Workloads, "permutation", "Every host sends to one other and receives from one other.",
	PermutationParams{Common: defaultCommon(), Hosts: HostSet{"all"}, Message: 1 * sim.MB, Repeat: 1, Depth: 1}, nil,
	func(p PermutationParams) (Workload, error) { return permutation{p}, nil })

type permutation struct{ PermutationParams }

func (w permutation) Plan(c *Context) (map[int]Instance, error) {
	plan, err := w.plan(c)
	if err != nil {
		return nil, fmt.Errorf("permutation: %w", err)
	}
	return plan, nil
}

func (w permutation) plan(c *Context) (map[int]Instance, error) {
	t, err := w.Common.resolve(c, "permutation")
	if err != nil {
		return nil, err
	}
	hosts, err := w.Hosts.resolve(c, "hosts", -1)
	if err != nil {
		return nil, err
	}
	dst, err := w.destinations(c, hosts)
	if err != nil {
		return nil, err
	}
	proto := closedLoops{receiver: receiver{receives: t.send()}, traffic: t, message: w.Message, repeat: w.Repeat, depth: w.Depth, jitter: w.Jitter}
	if err := proto.check(c); err != nil {
		return nil, err
	}
	plan := make(map[int]Instance, len(hosts))
	for i, src := range hosts {
		l := proto
		l.add(dst[i])
		plan[src] = &l
	}
	for _, d := range dst {
		if _, ok := plan[d]; !ok {
			r := proto.receiver
			plan[d] = &r
		}
	}
	return plan, nil
}

// destinations returns where every one of hosts sends to.
func (w permutation) destinations(c *Context, hosts []int) ([]int, error) {
	n := len(hosts)
	if n < 2 {
		return nil, fmt.Errorf("hosts: a permutation needs at least 2 hosts, not %d", n)
	}
	dst := make([]int, n)
	switch {
	case len(w.To) > 0 && w.Shift != 0:
		return nil, fmt.Errorf("to and shift exclude each other")
	case len(w.To) > 0:
		return w.explicit(c, hosts)
	case w.Shift != 0:
		s := w.Shift % n
		if s == 0 {
			return nil, fmt.Errorf("shift: %d: each of the %d hosts would send to itself", w.Shift, n)
		}
		for i := range hosts {
			dst[i] = hosts[(i+s+n)%n]
		}
	default:
		for i, j := range derangement(c.Rand("permutation"), n) {
			dst[i] = hosts[j]
		}
	}
	return dst, nil
}

func (w permutation) explicit(c *Context, hosts []int) ([]int, error) {
	if len(w.To) != len(hosts) {
		return nil, fmt.Errorf("to: %d destinations for %d hosts", len(w.To), len(hosts))
	}
	dst := make([]int, len(hosts))
	taken := make(map[int]bool, len(hosts))
	for i, name := range w.To {
		d, err := c.host(name)
		if err != nil {
			return nil, fmt.Errorf("to: %w", err)
		}
		if d == hosts[i] {
			return nil, fmt.Errorf("to: %s cannot send to itself", name)
		}
		if taken[d] {
			return nil, fmt.Errorf("to: %s is named twice, so that this is no permutation: use incast or flows", name)
		}
		taken[d] = true
		dst[i] = d
	}
	return dst, nil
}

// derangement returns a random permutation of [0,n), n >= 2, without a fixed
// point, each as likely as the others: permutations are drawn until one has
// none, which takes e draws on average. After a thousand draws (probability
// 1e-199) it is the shift by one.
func derangement(r *sim.Rand, n int) []int {
	for range 1000 {
		p := r.Perm(n)
		ok := true
		for i, j := range p {
			ok = ok && i != j
		}
		if ok {
			return p
		}
	}
	p := make([]int, n)
	for i := range p {
		p[i] = (i + 1) % n
	}
	return p
}
