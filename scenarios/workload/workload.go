// Package workload holds the traffic of scenarios: state machines driven by
// completions, written against the verbs contract alone, so that the same
// workload runs on a simulated fabric and on real NICs.
package workload

import (
	"rdmasim/sim"
	"rdmasim/verbs"
)

// ConnParams describes a connection between two hosts.
type ConnParams struct {
	Peer     int           // index of the remote host in the scenario's order of hosts
	Index    int           // which of several connections to the same peer (qps_per_peer), or the number of the flow
	Rail     int           // NIC port on both hosts, for hosts with several NICs
	Priority int           // 802.1p priority / traffic class of its data, -1 = the NIC's default
	SrcPort  uint16        // UDP source port, 0 = chosen by the NIC's rule
	DstPort  uint16        // UDP destination port, 0 = 4791
	Private  uint64        // private data handed to the peer's OnAccept
	Depth    int           // send queue depth, 0 = unlimited
	Service  verbs.Service // zero = RC
}

// Host is what a workload instance may do on its host. All of it happens at
// Now, on one thread.
type Host interface {
	Index() int
	// Hosts returns the number of hosts in the scenario.
	Hosts() int
	Now() sim.Time
	// LineRate returns the rate of the host's NIC port.
	LineRate() sim.Rate
	// Rand returns this instance's own named random stream.
	Rand(name string) *sim.Rand
	// After calls OnTimer(token) after d.
	After(d sim.Duration, token uint64)
	// Connect returns a queue pair in state RTS to the peer, at once; the peer
	// sees OnAccept before the first message arrives.
	Connect(p ConnParams) verbs.Connection
	// Done says that this instance will post nothing more of itself. A run
	// without a duration ends when every instance is done and nothing is outstanding.
	Done()
}

// Instance is a workload on one host. Instances share nothing with those of
// other hosts and know of each other only by messages.
type Instance interface {
	Start(h Host)
	// OnAccept is called when the peer's connection reaches this host.
	OnAccept(h Host, qp verbs.Connection, peer int, private uint64)
	OnCompletion(h Host, qp verbs.Connection, wc verbs.WorkCompletion)
	OnTimer(h Host, token uint64)
}

// Context is what a workload may know of the scenario when it is planned.
type Context struct {
	Hosts    []string // names, in the scenario's order
	LineRate []sim.Rate
	Duration sim.Duration // 0 = until done
	Warmup   sim.Duration
	// MaxMessage is the largest message that a queue pair carries; 0 = 2 GiB
	// (InfiniBand Architecture Specification volume 1, section 9.7.7).
	MaxMessage sim.Bytes
	// MTU is the smallest path MTU of the hosts' NICs, which bounds datagrams;
	// 0 = unknown.
	MTU  sim.Bytes
	Rand func(name string) *sim.Rand
	// File reads a file named by the scenario, relative to it.
	File func(name string) ([]byte, error)
	// HostIndex resolves a host name.
	HostIndex func(name string) (int, error)
	// Offer, if it is set, is told of open loops: messages that come whether or
	// not those before are done.
	Offer func(Offer)
}

// Offer is what an open loop sends from one host.
type Offer struct {
	Host     int
	Gap      sim.Duration // mean time between messages
	Mean     float64      // bytes of a message
	Messages int64        // at most
	Span     sim.Duration // during which messages come; 0 = until there were Messages
}

// Workload is a piece of traffic over many hosts.
type Workload interface {
	// Plan checks the workload against the scenario and returns the instance
	// for every host by index; hosts without one are absent.
	Plan(c *Context) (map[int]Instance, error)
}

// Workloads holds every workload by the name used in scenarios.
var Workloads = sim.NewCatalogue[Workload]("workload")

// Nop is an Instance that does nothing; embed it and override what is needed.
type Nop struct{}

func (Nop) Start(Host)                                                {}
func (Nop) OnAccept(Host, verbs.Connection, int, uint64)              {}
func (Nop) OnCompletion(Host, verbs.Connection, verbs.WorkCompletion) {}
func (Nop) OnTimer(Host, uint64)                                      {}
