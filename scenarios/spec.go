// Package scenarios turns one file into one run: it parses and validates the
// scenario, builds fabric, NICs and traffic from it, runs them, and leaves the
// run directory.
package scenarios

import (
	"rdmasim/scenarios/hpcc"
	"rdmasim/sim"
)

// Spec is a scenario as data, defaults filled in. Field tags give the keys of
// the YAML form: `key` the name (",inline": the keys of the field stand among
// those of its struct), `doc` a sentence, `oneof` the words that are valid,
// `range` the numbers (of elements, in lists and maps), `keys` the numbers that
// are valid as keys of a map, `required` that a key has no default, `catalogue`
// where a Member comes from.
type Spec struct {
	Name        string        `key:"name" doc:"name of the run"`
	Description string        `key:"-"` // the comment at the top of the file
	Seed        uint64        `key:"seed" doc:"seed of every random stream"`
	Duration    sim.Duration  `key:"duration" doc:"simulated time; until_done runs until all traffic has completed"`
	UntilDone   bool          `key:"-"`
	MaxDuration sim.Duration  `key:"max_duration" doc:"bound on a run that goes until_done"`
	Warmup      sim.Duration  `key:"warmup" doc:"what happens before this time is left out of counters and goodput"`
	Series      SeriesSpec    `key:"series" doc:"time series"`
	Diagnosis   bool          `key:"diagnosis" doc:"keep account of where the time of each message goes, and of the way of each queue pair; false saves memory and disk"`
	Topology    Member        `key:"topology" catalogue:"topology" doc:"the fabric: one topology of the catalogue with its parameters"`
	Switch      SwitchSpec    `key:"switch" doc:"every switch"`
	Switches    []SwitchRule  `key:"switches" doc:"exceptions: switches whose name matches take these values instead"`
	NIC         NICSpec       `key:"nic" doc:"every NIC"`
	NICs        []NICRule     `key:"nics" doc:"exceptions: hosts whose name matches take these values instead"`
	Links       []LinkRule    `key:"links" doc:"exceptions: links whose ends match"`
	Routes      []RouteRule   `key:"routes" doc:"static routes: at some switches, traffic to some hosts leaves by other ports than those of a shortest path; they may loop"`
	Traffic     []TrafficSpec `key:"traffic" doc:"workloads of the catalogue with their parameters"`
	Faults      []FaultSpec   `key:"faults" doc:"what goes wrong: faults of the catalogue with their parameters"`
	Expect      []string      `key:"expect" doc:"expectations over metrics.json, for example packets.dropped.lossless == 0"`
	Without     []string      `key:"without" doc:"settings (path=value, as after --set) that take the phenomenon away: with them an expectation must fail, see rdmasim test --without; empty = without the faults"`
	Report      ReportSpec    `key:"report" doc:"what the report of the run shows first"`
	Long        bool          `key:"long" doc:"true: rdmasim test --short leaves it out"`
	Compat      string        `key:"compat" oneof:"none,hpcc" doc:"hpcc: the arithmetic and the rules of the HPCC ns-3 model"`
	Dir         string        `key:"-"` // directory of the file, for files that it names

	inFull   bool       // every switch has its buffer manager in full, by tests
	source   *source    // where the values stand; nil for a spec made by code
	hpccCase *hpcc.Case // of a scenario in the format of the HPCC model
	left     []string   // what a foreign file says and the scenario does not
}

// ReportSpec is the preset of the report: which figures a scenario is about.
type ReportSpec struct {
	Figures []string `key:"figures" doc:"names of figures that come first, in this order; rdmasim list figures"`
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
	MaxQPs   int          `key:"max_qps" range:"0..1000000" doc:"queue pairs beyond this number have no series of their own"`
}

// SwitchSpec describes a switch.
type SwitchSpec struct {
	Latency    sim.Duration    `key:"latency" doc:"pipeline latency"`
	Mode       string          `key:"mode" oneof:"store_and_forward,cut_through" doc:"when a frame is handed on: when it is complete, or at its header"`
	Buffer     BufferSpec      `key:"buffer" doc:"shared packet buffer"`
	PFC        PFCSpec         `key:"pfc" doc:"priority flow control"`
	Watchdog   Member          `key:"watchdog" catalogue:"watchdog" doc:"PFC watchdog: one flavour of the catalogue with its parameters"`
	Watchdogs  []WatchdogRule  `key:"watchdogs" doc:"exceptions: ports with another watchdog"`
	ECN        map[int]ECNSpec `key:"ecn" keys:"0..7" doc:"marking per priority"`
	ECNByRate  []ECNRateSpec   `key:"ecn_by_rate" doc:"marking for ports of one rate, instead of ecn"`
	WRED       []WREDRule      `key:"wred" doc:"drop and mark curves per colour, instead of ecn in the queues that they name"`
	Scheduler  SchedulerSpec   `key:"scheduler" doc:"egress scheduling"`
	Schedulers []SchedulerRule `key:"schedulers" doc:"exceptions: ports with another scheduler"`
	Balance    BalanceSpec     `key:"balance" doc:"choice among equal-cost paths"`
	MapSpec                    // trust, dscp_map and what follows from the class
	Maps       []MapRule       `key:"maps" doc:"exceptions: ports with other maps"`
	ColorMap   map[int]string  `key:"color_map" keys:"0..63" oneof:"green,yellow,red" doc:"DSCP to drop precedence, for wred; DSCPs not named are green"`
	VTEP       bool            `key:"vtep" doc:"tunnel end point: frames travel in VXLAN between switches with it; hosts see none of it"`
	Sonic      SonicSpec       `key:"sonic" doc:"files of SONiC that the switch is configured by; keys beside it override them"`
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

	Xon          sim.Bytes   `key:"xon" doc:"resume at this shared use, or xon_offset below the threshold, whichever is more"`
	HeadroomPool sim.Bytes   `key:"headroom_pool" doc:"headroom that all groups of the switch share, instead of one each; 0B: one each"`
	Cell         sim.Bytes   `key:"cell" doc:"size of a cell: a frame takes whole cells, and thresholds are rounded down to cells; 0B: bytes are counted"`
	Pools        []PoolSpec  `key:"pools" doc:"parts of the buffer, instead of one for everything"`
	Groups       []GroupRule `key:"groups" doc:"priority groups with values of their own; of several rules that match, the last holds"`
	Queues       []QueueRule `key:"queues" doc:"egress queues with values of their own; of several rules that match, the last holds"`
}

// PFCSpec describes priority flow control.
type PFCSpec struct {
	Mode       string             `key:"mode" oneof:"pfc,global" doc:"pfc: a pause per priority; global: 802.3x pauses that stop the whole link"`
	Priorities []int              `key:"priorities" range:"0..7" doc:"lossless priorities"`
	Ports      []PFCRule          `key:"ports" doc:"exceptions: ports with other lossless priorities"`
	Quanta     int                `key:"quanta" range:"1..65535" doc:"pause time asked for, in units of 512 bit times"`
	Refresh    Auto[sim.Duration] `key:"refresh" doc:"auto (half of the pause time), or how often XOFF is repeated while it holds"`
	Timer      bool               `key:"timer" doc:"false: a pause lasts until XON, as some simulators have it"`
	Response   Auto[sim.Duration] `key:"response" doc:"auto (the quanta of the link speed), or how long a peer takes to obey"`
}

// ECNSpec is a marking curve: 0 up to Kmin, linear to Pmax at Kmax, 1 above.
type ECNSpec struct {
	Kmin   sim.Bytes `key:"kmin" required:"true" doc:"queue length at which marking begins"`
	Kmax   sim.Bytes `key:"kmax" required:"true" doc:"queue length above which above_kmax holds"`
	Pmax   sim.Ratio `key:"pmax" required:"true" doc:"marking probability at kmax"`
	MarkAt string    `key:"mark_at" oneof:"dequeue,enqueue" doc:"when a packet is marked: on the queue that it leaves behind, or that it joins"`
	Above  string    `key:"above_kmax" oneof:"mark_all,pmax" doc:"beyond kmax every packet is marked, or pmax of them"`

	from baselineUse // the baseline that it starts from, until that is resolved
}

// ECNRateSpec is ECN for ports of one rate.
type ECNRateSpec struct {
	Rate sim.Rate        `key:"rate" required:"true" doc:"port rate"`
	ECN  map[int]ECNSpec `key:"ecn" required:"true" keys:"0..7" doc:"marking per priority"`
}

// SchedulerSpec describes egress scheduling.
type SchedulerSpec struct {
	Strict  []int       `key:"strict" range:"0..7" doc:"priorities served first, the highest number first"`
	Weights map[int]int `key:"weights" keys:"0..7" range:"1..127" doc:"DWRR weights of the others, default 1"`
	Quantum sim.Bytes   `key:"quantum" doc:"bytes per unit of weight and round; 0B: WRR, a weight is the packets of a turn"`

	Groups []ETSGroupSpec    `key:"groups" doc:"ETS groups: queues that share a part of the link"`
	Shape  map[int]ShapeSpec `key:"shape" keys:"0..7" doc:"largest rate per queue"`
	Floor  map[int]ShapeSpec `key:"guarantee" keys:"0..7" doc:"guaranteed rate per queue: one that is below it goes before all that are not; SONiC's cir"`
	Port   ShapeSpec         `key:"port" doc:"largest rate of the port as a whole; rate 0bps: that of the link"`
}

// BalanceSpec chooses among equal-cost next hops.
type BalanceSpec struct {
	Method string       `key:"method" oneof:"ecmp,spray,flowlet" doc:"by flow, by packet, or by flow with a new choice after a gap"`
	Gap    sim.Duration `key:"gap" doc:"flowlet: idle time after which a flow may move"`
	Hash   string       `key:"hash" oneof:"mix64,hpcc" doc:"hash of the 5-tuple"`
	Seed   uint64       `key:"seed" doc:"seed of the hash"`
	Same   bool         `key:"same_seed" doc:"all switches hash alike (polarisation)"`
}

// NICSpec describes a NIC and its transport.
type NICSpec struct {
	PathMTU       int             `key:"path_mtu" oneof:"256,512,1024,2048,4096" doc:"payload of a full packet, in bytes"`
	Congestion    Member          `key:"congestion" catalogue:"congestion" doc:"one algorithm of the catalogue"`
	Priority      int             `key:"priority" range:"0..7" doc:"802.1p priority of data"`
	DSCP          int             `key:"dscp" range:"0..63" doc:"DSCP of data"`
	AckPriority   int             `key:"ack_priority" range:"-1..7" doc:"priority of ACK and NAK; -1: that of the data"`
	CNPPriority   int             `key:"cnp_priority" range:"0..7" doc:"priority of CNPs"`
	CNPDSCP       int             `key:"cnp_dscp" range:"0..63" doc:"DSCP of CNPs"`
	AckDSCP       int             `key:"ack_dscp" range:"-1..63" doc:"DSCP of ACK and NAK; -1: that of the data"`
	TTL           int             `key:"ttl" range:"1..255" doc:"IPv4 time to live of what the NIC sends: a switch takes one away and discards what has none left"`
	Encapsulation string          `key:"encapsulation" oneof:"none,vlan,ipv6,vxlan" doc:"headers around the RoCEv2 packet from host to host: IPv4, IPv4 with a VLAN tag, IPv6, or IPv4 in VXLAN"`
	Frame         FrameSpec       `key:"frame" doc:"sizes instead of the true RoCEv2 ones, for comparisons"`
	AckEvery      int             `key:"ack_every" range:"1..65536" doc:"packets per ACK; the last packet of a message is always acknowledged"`
	Recovery      string          `key:"recovery" oneof:"go_back_n,go_back_0,selective_repeat" doc:"what is sent again after a loss: from the lost packet on, the whole message, or what is lost alone (IRN)"`
	Timeout       int             `key:"timeout" range:"0..31" doc:"local ACK timeout n: 4.096 us times 2^n; 0 = never"`
	TimeoutPolicy string          `key:"timeout_policy" oneof:"exact,jitter,adaptive" doc:"when the local ACK timer of time T expires: at T, anywhere between T and 4T, or after 2, 4, 8 and 16 ms (adaptive retransmission)"`
	Host          HostSpec        `key:"host" doc:"what the host's software takes, nothing by default"`
	IRN           IRNSpec         `key:"irn" doc:"selective repeat"`
	MaxRDAtomic   int             `key:"max_rd_atomic" range:"1..16" doc:"READs and atomics that a queue pair has outstanding"`
	Setup         SetupSpec       `key:"setup" doc:"how connections come to be"`
	ReadFeedback  string          `key:"read_feedback" oneof:"auto,none" doc:"auto: where congestion control lives on ACKs, READ responses are answered by feedback; none: such a responder is not controlled"`
	RetryCount    int             `key:"retry_count" range:"0..7" doc:"timeouts in a row before a queue pair fails"`
	RNRTimer      int             `key:"rnr_timer" range:"0..31" doc:"code of the RNR NAK timer"`
	RNRRetry      int             `key:"rnr_retry" range:"0..7" doc:"RNR NAKs in a row before a queue pair fails; 7 = never"`
	Window        sim.Bytes       `key:"window" doc:"unacknowledged payload per queue pair; 0B = unlimited"`
	Drain         sim.Rate        `key:"drain" doc:"rate at which the host takes packets from the NIC; 0bps = line rate"`
	RxBuffer      sim.Bytes       `key:"rx_buffer" doc:"receive buffer in front of a slow host"`
	RxXoff        Auto[sim.Bytes] `key:"rx_xoff" doc:"receive buffer use at which the NIC pauses the switch; auto leaves the headroom of the link free"`
	SourcePorts   string          `key:"source_ports" oneof:"hash,sequential,fixed" doc:"rule for UDP source ports: of hosts, QP and index; 10000 and up per pair of hosts; or one for all"`
	PauseWatchdog sim.Duration    `key:"pause_watchdog" doc:"after a pause of its own has lasted so long, the NIC gives it up and drops what does not fit, until its host has caught up; 0s: never"`
	NackInterval  sim.Duration    `key:"nack_interval" doc:"repeat a NAK for the same packet after this time; 0s = once per episode"`
}

// SetupSpec says how connections come to be.
type SetupSpec struct {
	Method  string       `key:"method" oneof:"none,cm" doc:"none: they are there when they are asked for; cm: REQ, REP and RTU of connection management go over the fabric, and data waits for them"`
	Timeout sim.Duration `key:"timeout" doc:"cm: a REQ is repeated after this time"`
	Retries int          `key:"retries" range:"0..15" doc:"cm: so often; then what waits for the connection ends with IBV_WC_RESP_TIMEOUT_ERR"`
	Accept  sim.Duration `key:"accept" doc:"cm: what a host takes to accept one connection, one after the other"`
}

// HostSpec is what a host's software takes: one core posts and polls.
type HostSpec struct {
	Post       sim.Duration `key:"post" doc:"time of the core to post a request"`
	Doorbell   sim.Duration `key:"doorbell" doc:"from the end of posting until the NIC has the request"`
	Poll       sim.Duration `key:"poll" doc:"time of the core to take a completion"`
	Moderation sim.Duration `key:"moderation" doc:"a first completion waits so long for others before the host hears of them"`

	Bus          Member    `key:"bus" catalogue:"bus" doc:"between NIC and memory: one bus of the catalogue with its parameters"`
	Contexts     Member    `key:"contexts" catalogue:"nic_cache" doc:"what the NIC keeps of its queue pairs' contexts (QPC)"`
	Translations Member    `key:"translations" catalogue:"nic_cache" doc:"what the NIC keeps of the translations of memory (MTT)"`
	Page         sim.Bytes `key:"page" doc:"memory that one translation stands for"`
	Memory       sim.Bytes `key:"memory" doc:"registered memory that messages lie in, anywhere, for translations"`
}

// IRNSpec are the parameters of recovery selective_repeat.
type IRNSpec struct {
	BDP     Auto[sim.Bytes] `key:"bdp" doc:"auto (line rate times round trip of the path), or the payload that a queue pair may have in flight"`
	RTOLow  sim.Duration    `key:"rto_low" doc:"timeout while few packets are in flight"`
	RTOHigh sim.Duration    `key:"rto_high" doc:"timeout otherwise"`
	Few     int             `key:"few" range:"0..65536" doc:"so many packets are few"`
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
	Match  string     `key:"match" required:"true" doc:"name, or a pattern such as tor* or *"`
	Switch SwitchSpec `key:",inline"`
}

// NICRule replaces values for hosts whose name matches a pattern.
type NICRule struct {
	Match string  `key:"match" required:"true" doc:"name, or a pattern such as h1*"`
	NIC   NICSpec `key:",inline"`
}

// LinkRule changes links whose two ends match, in either order; zero values
// leave the link as it is.
type LinkRule struct {
	A     string       `key:"a" required:"true" doc:"name of one end, or a pattern"`
	B     string       `key:"b" required:"true" doc:"name of the other end, or a pattern"`
	Rate  sim.Rate     `key:"rate" doc:"rate of both directions; 0bps = as it is"`
	Delay sim.Duration `key:"delay" doc:"propagation delay; 0s = as it is"`
	Cable sim.Length   `key:"cable" doc:"length of the cable, instead of delay; 0mm = as it is"`
	Loss  sim.Ratio    `key:"loss" doc:"probability that a frame is lost, each direction"`

	DataLoss  sim.Ratio `key:"data_loss" doc:"probability that a data packet is lost, on top of loss, each direction"`
	DropEvery int64     `key:"drop_every" range:"0..1000000000" doc:"every so manieth data packet of each direction is lost; 0 = none"`
}
