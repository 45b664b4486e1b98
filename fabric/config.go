package fabric

import (
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Router says which ports lead to an endpoint. A value with bit 15 set is a
// link aggregation group whose member ports LAG returns for that value.
type Router interface {
	Next(node, endpoint int) []uint16
	LAG(node int, hop uint16) []uint16
}

// LAGBit marks a next hop that is a group of links.
const LAGBit = 0x8000

// MarkAt says when a queue decides about ECN.
type MarkAt uint8

// Where marking happens.
const (
	MarkAtDequeue MarkAt = iota // on the length left behind
	MarkAtEnqueue               // on the length with the arriving frame
)

// ECNConfig is a marking curve: probability 0 up to Kmin, linear to Pmax at
// Kmax, above it 1 (or Pmax where KeepPmax). Source: DCQCN, SIGCOMM'15, section 3.1.
type ECNConfig struct {
	On         bool
	Kmin, Kmax int64 // bytes
	Pmax       float64
	At         MarkAt
	KeepPmax   bool
}

// BufferConfig is the shared packet buffer of a switch.
type BufferConfig struct {
	Size    int64 // bytes, headroom and reserves included
	Reserve int64 // per port and lossless class
	// AlphaEgress bounds lossy queues at a multiple of the free buffer, in 1/65536.
	AlphaEgress int64
	XonOffset   int64
	// OncePerPort sets headroom and reserve aside once per port, however many
	// lossless classes there are, as the HPCC ns-3 model does.
	OncePerPort bool
	// WholeFrames lets a frame into the shared buffer only if all of it stays
	// below the threshold, as that model does; otherwise the frame that crosses
	// the threshold is the last one there.
	WholeFrames bool
}

// Balance is the method of choosing among equal-cost paths.
type Balance uint8

// Methods of load balancing.
const (
	BalanceECMP Balance = iota
	BalanceSpray
	BalanceFlowlet
)

// SwitchConfig describes a switch. Per-port values are in Ports.
type SwitchConfig struct {
	Name       string
	Index      int // of the node, in the order of the topology
	CutThrough bool
	Buffer     BufferConfig
	Lossless   uint8 // classes under PFC
	Strict     uint8 // classes served before all others, highest first
	Weights    [8]int64
	Quantum    int64 // bytes per unit of weight; 0 = weights are packets per turn
	ClassOf    [64]uint8
	TrustPCP   bool
	Balance    Balance
	FlowletGap sim.Duration
	HashSeed   uint64
	HashHPCC   bool     // hash and seed as the HPCC ns-3 model
	Addresses  []uint32 // IPv4 address by endpoint, for that hash
	VTEP       bool
	Bypass     uint8 // classes that are neither admitted nor accounted nor marked
	Ports      []SwitchPortConfig
	Router     Router
	MMU        *MMUConfig // the buffer manager in full, instead of Buffer and the maps; every port then has its MMU and Maps
	Rand       func(name string) *sim.Rand
	Sink       *trace.Sink
	Names      *trace.Names
	Interval   sim.Duration // of series, 0 = none
	Queues     uint8        // classes whose queues have series of their own
	PauseLog   bool         // pause and XOFF events go to the sink
}

// SwitchPortConfig is one port of a switch.
type SwitchPortConfig struct {
	PortConfig
	Alpha    int64         // dynamic threshold in 1/65536 of the free shared buffer
	Headroom int64         // bytes per lossless class
	ECN      *[8]ECNConfig // by class; ports that mark alike share it; nil = none
	MMU      *PortMMU
	Maps     *Maps
	Watchdog WatchdogConfig
	// Scheduler replaces strict priorities, weights and quantum of the switch.
	Scheduler *SchedulerConfig
	ToHost    bool
	Peer      string // name of the port at the other end, node:port
	PeerID    trace.ObjectID
}

// AlphaOne is alpha = 1 in the units of SwitchPortConfig.Alpha.
const AlphaOne = 1 << 16
