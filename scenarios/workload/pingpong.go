package workload

import (
	"fmt"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// PingpongParams are the parameters of pingpong.
type PingpongParams struct {
	Common
	Hosts   HostSet   `key:"hosts" doc:"hosts that take part, an even number: the first plays with the second, the third with the fourth, and so on"`
	Message sim.Bytes `key:"message" doc:"size of a message"`
	Count   int       `key:"count" doc:"round trips per queue pair"`
	Service string    `key:"service" doc:"rc, uc or ud"`
}

// Size and count are those of ibv_rc_pingpong.
var _ = sim.Register(Workloads, "pingpong", "Pairs of hosts throw one message to and fro, as ibv_rc_pingpong does.",
	PingpongParams{Common: Common{Verb: "send", QPsPerPeer: 1}, Hosts: HostSet{"all"}, Message: 4 * sim.KiB, Count: 1000, Service: "rc"}, nil,
	func(p PingpongParams) (Workload, error) { return pingpong{p}, nil })

type pingpong struct{ PingpongParams }

func (w pingpong) Plan(c *Context) (map[int]Instance, error) {
	plan, err := w.plan(c)
	if err != nil {
		return nil, fmt.Errorf("pingpong: %w", err)
	}
	return plan, nil
}

func (w pingpong) plan(c *Context) (map[int]Instance, error) {
	t, err := w.Common.resolve(c, "pingpong")
	if err != nil {
		return nil, err
	}
	hosts, err := w.Hosts.resolve(c, "hosts", -1)
	if err != nil {
		return nil, err
	}
	service, ok := services[w.Service]
	switch {
	case !ok:
		return nil, fmt.Errorf("service: %q: want rc, uc or ud", w.Service)
	case !service.Allows(t.opcode):
		return nil, fmt.Errorf("verb: %s does not exist on %s", w.Verb, w.Service)
	case service == verbs.UD && c.MTU > 0 && w.Message > c.MTU:
		return nil, fmt.Errorf("message: %v: a datagram carries at most the path MTU, %v", w.Message, c.MTU)
	case len(hosts)%2 != 0:
		return nil, fmt.Errorf("hosts: %d do not make pairs", len(hosts))
	case w.Count < 1 || w.Count > maxIterations:
		return nil, fmt.Errorf("count: %d: want 1..%d", w.Count, maxIterations)
	}
	if err := checkMessage(c, "message", w.Message); err != nil {
		return nil, err
	}
	plan := map[int]Instance{}
	for i := 0; i+1 < len(hosts); i += 2 {
		ping := duel{traffic: t, service: service, lat: true, sends: true, peer: hosts[i+1], sizes: []sim.Bytes{w.Message}, tags: []string{t.tag},
			iterations: w.Count, depth: 1, batch: 1, moderation: 1}
		pong := ping
		pong.sends, pong.peer = false, hosts[i]
		plan[hosts[i]], plan[hosts[i+1]] = &ping, &pong
	}
	return plan, nil
}
