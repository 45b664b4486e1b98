// Package scenarios turns one file into one run: it parses and validates the
// scenario, builds fabric, NICs and traffic from it, runs them, and leaves the
// run directory.
package scenarios

import (
	"rdmasim/scenarios/hpcc"
	"rdmasim/sim"
)

// Spec is a scenario as data, defaults filled in. Field tags give the keys of
// the YAML form; every key has a sentence in `doc`.
type Spec struct {
	Name        string        `key:"name" doc:"name of the run"`
	Description string        `key:"-"` // the comment at the top of the file
	Seed        uint64        `key:"seed" doc:"seed of every random stream"`
	Duration    sim.Duration  `key:"duration" doc:"simulated time; until_done runs until all traffic has completed"`
	UntilDone   bool          `key:"-"`
	MaxDuration sim.Duration  `key:"max_duration" doc:"bound on a run that goes until_done"`
	Warmup      sim.Duration  `key:"warmup" doc:"what happens before this time is left out of counters and goodput"`
	Series      SeriesSpec    `key:"series" doc:"time series"`
	Topology    Member        `key:"topology" doc:"the fabric: one topology of the catalogue with its parameters"`
	Switch      SwitchSpec    `key:"switch" doc:"every switch"`
	Switches    []SwitchRule  `key:"switches" doc:"exceptions: switches whose name matches take these values instead"`
	NIC         NICSpec       `key:"nic" doc:"every NIC"`
	NICs        []NICRule     `key:"nics" doc:"exceptions: hosts whose name matches take these values instead"`
	Links       []LinkRule    `key:"links" doc:"exceptions: links whose ends match"`
	Traffic     []TrafficSpec `key:"traffic" doc:"workloads of the catalogue with their parameters"`
	Expect      []string      `key:"expect" doc:"expectations over metrics.json, for example packets.dropped.lossless == 0"`
	Compat      string        `key:"compat" doc:"none, or hpcc: the arithmetic and the rules of the HPCC ns-3 model"`
	Dir         string        `key:"-"` // directory of the file, for files that it names

	hpccCase *hpcc.Case // of a scenario in the format of the HPCC model
}

// Member is one entry of a catalogue with its parameters.
type Member struct {
	Name   string
	Params any // struct of the entry's type
}

// TrafficSpec is one workload of a scenario.
type TrafficSpec struct {
	Member
	Line int // of the scenario file
}

// SeriesSpec says what is sampled.
type SeriesSpec struct {
	Interval sim.Duration `key:"interval" doc:"length of a bin; 0s turns series off"`
	Hosts    bool         `key:"hosts" doc:"also per queue pair: goodput, rate, alpha"`
	MaxQPs   int          `key:"max_qps" doc:"queue pairs beyond this number have no series of their own"`
}

// SwitchSpec describes a switch.
type SwitchSpec struct {
	Latency   sim.Duration    `key:"latency" doc:"pipeline latency"`
	Mode      string          `key:"mode" doc:"store_and_forward or cut_through"`
	Buffer    BufferSpec      `key:"buffer" doc:"shared packet buffer"`
	PFC       PFCSpec         `key:"pfc" doc:"priority flow control"`
	ECN       map[int]ECNSpec `key:"ecn" doc:"marking per priority"`
	ECNByRate []ECNRateSpec   `key:"ecn_by_rate" doc:"marking for ports of one rate, instead of ecn"`
	Scheduler SchedulerSpec   `key:"scheduler" doc:"egress scheduling"`
	Balance   BalanceSpec     `key:"balance" doc:"choice among equal-cost paths"`
	Trust     string          `key:"trust" doc:"dscp or pcp: which field selects the priority"`
	DSCPMap   map[int]int     `key:"dscp_map" doc:"DSCP to priority; DSCPs not named go to priority 0"`
	VTEP      bool            `key:"vtep" doc:"tunnel end point: VXLAN begins and ends at the ports towards hosts"`
}

// Auto is a value that may be given or computed.
type Auto[T any] struct {
	Auto  bool
	Value T
}

// BufferSpec describes the shared buffer of a switch.
type BufferSpec struct {
	Size      sim.Bytes       `key:"size" doc:"whole packet buffer"`
	Alpha     sim.Ratio       `key:"alpha" doc:"dynamic threshold: XOFF at alpha times the free shared buffer"`
	Reserve   sim.Bytes       `key:"reserve" doc:"guaranteed per port and lossless priority"`
	Headroom  Auto[sim.Bytes] `key:"headroom" doc:"auto, or bytes per port and lossless priority for what arrives after XOFF"`
	XonOffset sim.Bytes       `key:"xon_offset" doc:"resume when shared use is so far below the threshold"`
	// EgressAlpha bounds lossy queues: tail drop at this multiple of the free buffer.
	EgressAlpha sim.Ratio `key:"egress_alpha" doc:"dynamic limit of a lossy egress queue"`
}

// PFCSpec describes priority flow control.
type PFCSpec struct {
	Priorities []int              `key:"priorities" doc:"lossless priorities"`
	Quanta     int                `key:"quanta" doc:"pause time asked for, in units of 512 bit times; 1..65535"`
	Refresh    Auto[sim.Duration] `key:"refresh" doc:"auto (half of the pause time), or how often XOFF is repeated while it holds"`
	Timer      bool               `key:"timer" doc:"false: a pause lasts until XON, as some simulators have it"`
	Response   Auto[sim.Duration] `key:"response" doc:"auto (the quanta of the link speed), or how long a peer takes to obey"`
}

// ECNSpec is a marking curve: 0 up to Kmin, linear to Pmax at Kmax, 1 above.
type ECNSpec struct {
	Kmin   sim.Bytes `key:"kmin" doc:"queue length at which marking begins"`
	Kmax   sim.Bytes `key:"kmax" doc:"queue length above which AboveKmax holds"`
	Pmax   sim.Ratio `key:"pmax" doc:"marking probability at kmax"`
	MarkAt string    `key:"mark_at" doc:"dequeue or enqueue"`
	Above  string    `key:"above_kmax" doc:"mark_all or pmax"`
}

// ECNRateSpec is ECN for ports of one rate.
type ECNRateSpec struct {
	Rate sim.Rate        `key:"rate" doc:"port rate"`
	ECN  map[int]ECNSpec `key:"ecn" doc:"marking per priority"`
}

// SchedulerSpec describes egress scheduling.
type SchedulerSpec struct {
	Strict  []int       `key:"strict" doc:"priorities served first, the highest number first"`
	Weights map[int]int `key:"weights" doc:"DWRR weights of the others, default 1"`
	Quantum sim.Bytes   `key:"quantum" doc:"bytes per unit of weight and round; 0B: one packet per turn"`
}

// BalanceSpec chooses among equal-cost next hops.
type BalanceSpec struct {
	Method string       `key:"method" doc:"ecmp, spray or flowlet"`
	Gap    sim.Duration `key:"gap" doc:"flowlet: idle time after which a flow may move"`
	Hash   string       `key:"hash" doc:"mix64, or hpcc"`
	Seed   uint64       `key:"seed" doc:"seed of the hash"`
	Same   bool         `key:"same_seed" doc:"all switches hash alike (polarisation)"`
}

// NICSpec describes a NIC and its transport.
type NICSpec struct {
	PathMTU       int             `key:"path_mtu" doc:"256, 512, 1024, 2048 or 4096"`
	Congestion    Member          `key:"congestion" doc:"one algorithm of the catalogue"`
	Priority      int             `key:"priority" doc:"802.1p priority of data"`
	DSCP          int             `key:"dscp" doc:"DSCP of data"`
	AckPriority   int             `key:"ack_priority" doc:"priority of ACK and NAK; -1: that of the data"`
	CNPPriority   int             `key:"cnp_priority" doc:"priority of CNPs"`
	CNPDSCP       int             `key:"cnp_dscp" doc:"DSCP of CNPs"`
	AckDSCP       int             `key:"ack_dscp" doc:"DSCP of ACK and NAK; -1: that of the data"`
	Encapsulation string          `key:"encapsulation" doc:"none, vlan, ipv6 or vxlan"`
	Frame         FrameSpec       `key:"frame" doc:"sizes instead of the true RoCEv2 ones, for comparisons"`
	AckEvery      int             `key:"ack_every" doc:"packets per ACK; the last packet of a message is always acknowledged"`
	Recovery      string          `key:"recovery" doc:"go_back_n or go_back_0"`
	Timeout       int             `key:"timeout" doc:"local ACK timeout n: 4.096 us times 2^n; 0 = never"`
	RetryCount    int             `key:"retry_count" doc:"0..7"`
	RNRTimer      int             `key:"rnr_timer" doc:"code 0..31 of the RNR NAK timer"`
	RNRRetry      int             `key:"rnr_retry" doc:"0..7, 7 = for ever"`
	Window        sim.Bytes       `key:"window" doc:"unacknowledged payload per queue pair; 0B = unlimited"`
	Drain         sim.Rate        `key:"drain" doc:"rate at which the host takes packets from the NIC; 0bps = line rate"`
	RxBuffer      sim.Bytes       `key:"rx_buffer" doc:"receive buffer in front of a slow host"`
	RxXoff        Auto[sim.Bytes] `key:"rx_xoff" doc:"receive buffer use at which the NIC pauses the switch; auto leaves the headroom of the link free"`
	SourcePorts   string          `key:"source_ports" doc:"rule for UDP source ports: hash (of hosts, QP and index), sequential (10000 and up per pair) or fixed"`
	NackInterval  sim.Duration    `key:"nack_interval" doc:"repeat a NAK for the same packet after this time; 0s = once per episode"`
}

// FrameSpec overrides sizes; zero values keep the true ones.
type FrameSpec struct {
	Payload  sim.Bytes       `key:"payload" doc:"payload per full packet, instead of path_mtu"`
	Header   sim.Bytes       `key:"header" doc:"bytes around the payload in a frame"`
	Ack      sim.Bytes       `key:"ack" doc:"frame of an ACK"`
	CNP      sim.Bytes       `key:"cnp" doc:"frame of a CNP"`
	PFC      sim.Bytes       `key:"pfc" doc:"frame of a PFC pause"`
	Overhead Auto[sim.Bytes] `key:"overhead" doc:"preamble and gap per frame on the wire; auto = 20B"`
	Set      bool            `key:"-"`
}

// SwitchRule replaces values for switches whose name matches a pattern.
type SwitchRule struct {
	Match  string
	Switch SwitchSpec
}

// NICRule replaces values for hosts whose name matches a pattern.
type NICRule struct {
	Match string
	NIC   NICSpec
}

// LinkRule changes links whose two ends match.
type LinkRule struct {
	A, B  string
	Rate  sim.Rate     `key:"rate"`
	Delay sim.Duration `key:"delay"`
	Cable sim.Length   `key:"cable"`
	Loss  sim.Ratio    `key:"loss" doc:"probability that a packet is lost, each direction"`
}
