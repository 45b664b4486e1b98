// Package trace is the run directory: what a run leaves behind, as typed rows,
// with their writer and reader. It is the only bridge between models and reports.
package trace

import (
	"math"

	"rdmasim/sim"
)

// Object is the name of a thing that rows speak of, in one grammar:
//
//	host           h3
//	port           leaf0:5            (node:port index, the side that transmits)
//	queue          leaf0:5/q3         (egress queue of a port)
//	priority group leaf0:5/pg3        (ingress side of a port)
//	queue pair     h3/qp12
//	link           leaf0:5>spine1:0   (one direction)
type Object = string

// ObjectID is the index of an Object in the run's table of names.
type ObjectID uint32

// Flow is one message: the row of flows.csv.
type Flow struct {
	ID          uint64
	Src, Dst    string
	QP          uint32
	Workload    string
	Verb        string // WRITE, SEND, ...
	Bytes       sim.Bytes
	Start       sim.Time // posted
	End         sim.Time // completion, or -1 if unfinished
	Ideal       sim.Duration
	Delivered   sim.Bytes // payload delivered in order (all of Bytes when completed)
	Retransmits uint64    // packets sent again, or RetransmitsUnknown
	Status      string    // IBV_WC_SUCCESS, ..., or "unfinished"
	Tag         string    // the workload's own label, for example a step of a collective
	Delays      Delays    // where the time went: the row of delays.csv
}

// RetransmitsUnknown stands for what a NIC does not tell of single messages; its
// field in flows.csv is empty.
const RetransmitsUnknown = math.MaxUint64

// Metrics of series. Value is the time-weighted mean over the bin.
const (
	SeriesQueueBytes   = "queue_bytes"   // queue: bytes waiting
	SeriesIngressBytes = "ingress_bytes" // priority group: shared bytes in use
	SeriesHeadroom     = "headroom_bytes"
	SeriesThreshold    = "xoff_bytes"       // priority group: its dynamic XOFF threshold
	SeriesThroughput   = "tx_bps"           // port: wire bits sent
	SeriesPaused       = "paused"           // queue: share of the bin during which it was paused by its peer (0..1)
	SeriesMarked       = "ce_pps"           // queue: packets marked per second
	SeriesGoodput      = "goodput_bps"      // queue pair: payload delivered in order
	SeriesReadGoodput  = "read_goodput_bps" // queue pair: payload that its READs have brought, in order
	SeriesRate         = "rate_bps"         // queue pair: rate of its reaction point
	SeriesAlpha        = "alpha"            // queue pair: DCQCN alpha
	SeriesCNP          = "cnp_pps"          // host: CNPs sent per second
)

// Point is one bin of a time series. Rows are written on change: a missing bin
// repeats the row before it, and the value before the first row is 0.
type Point struct {
	Time           sim.Time // start of the bin
	Object         ObjectID
	Metric         string
	Mean, Min, Max float64
}

// EventKind names what happened.
type EventKind string

// The kinds of events.
const (
	EventPauseOn   EventKind = "pause_on"  // Object port stopped sending class Prio because Peer asked
	EventPauseOff  EventKind = "pause_off" // the same, resumed; Value is the duration in seconds
	EventXoff      EventKind = "xoff"      // Object port decided to pause its peer for Prio; Value = ingress bytes, Cause = why
	EventXon       EventKind = "xon"
	EventHeld      EventKind = "held"     // at an XOFF of Object: Peer = egress queue that held its frames, Value = bytes of that queue, Cause = its share of the frames of Object
	EventDrop      EventKind = "drop"     // Cause = lossless | lossy | fault ..., Value = bytes
	EventMark      EventKind = "first_ce" // first mark of a queue in a busy period; Value = queue bytes
	EventNAK       EventKind = "nak"
	EventRNR       EventKind = "rnr"
	EventTimeout   EventKind = "timeout"
	EventCNP       EventKind = "cnp"
	EventQPState   EventKind = "qp_state"
	EventFault     EventKind = "fault"
	EventWatchdog  EventKind = "watchdog"
	EventDeadlock  EventKind = "deadlock"
	EventLinkState EventKind = "link"
)

// Event is one row of events.parquet.
type Event struct {
	Time   sim.Time
	Node   int32  // index of the node in topology.json; orders rows of one instant
	Seq    uint64 // order within the node
	Kind   EventKind
	Object ObjectID
	Peer   ObjectID // 0 = none; names are numbered from 1
	Prio   int8     // -1 = none
	Value  float64
	Cause  string
}

// Counter is one total at the end of the measured interval: the row of
// counters.csv. Prio is -1 where a counter has none. Names ending in _max hold
// a maximum; names ending in _byte_seconds a time integral.
type Counter struct {
	Object string
	Prio   int8
	Name   string
	Value  float64
}

// CauseSlow begins the cause of a link event of a direction that a fault slows
// down, from value 1 to value 0; the fault in words follows.
const CauseSlow = "slow: "

// Names of counters that reports compute metrics from. Packets are frames.
const (
	CountPacketHops       = "packet_hops" // object "fabric"
	CountTxPackets        = "tx_packets"  // port
	CountTxBytes          = "tx_bytes"    // port: wire bytes (frame + overhead)
	CountDataSent         = "data_packets_sent"
	CountDataDelivered    = "data_packets_delivered"
	CountRetransmitted    = "data_packets_retransmitted"
	CountDiscarded        = "data_packets_discarded" // out of order at a go-back-N receiver, or duplicate
	CountPayloadDelivered = "payload_bytes_delivered"
	CountOutOfSequence    = "out_of_sequence_packets" // host: ahead of the expected PSN; part of discarded
	CountCEReceived       = "ce_packets_received"     // host: data packets that arrived with CE
	CountAcks             = "acks_sent"
	CountNaks             = "naks_sent"
	CountNaksReceived     = "naks_received"
	CountTimeouts         = "timeouts"
	CountCNPSent          = "cnp_sent"
	CountCNPHandled       = "cnp_handled"
	CountECNEligible      = "ecn_eligible"   // queue: ECT packets that left a queue with marking on
	CountECNMarked        = "ecn_marked"     // queue
	CountDropLossless     = "drops_lossless" // port
	CountDropLossy        = "drops_lossy"
	CountDropFault        = "drops_fault"
	CountFaultCopies      = "fault_copies"  // port: frames that a fault doubled
	CountFaultPackets     = "fault_packets" // object fault/NAME: frames that the fault has touched
	CountPFCXoffTx        = "pfc_xoff_tx"   // port,prio: XOFF frames sent, refreshes excluded
	CountPFCXonTx         = "pfc_xon_tx"
	CountPFCRefreshTx     = "pfc_refresh_tx"
	CountPFCXoffRx        = "pfc_xoff_rx" // refreshes included: the receiver cannot tell them apart
	CountPFCXonRx         = "pfc_xon_rx"
	CountPauseEpisodes    = "pause_episodes"     // port,prio: how often its transmitter was stopped
	CountPausedSeconds    = "paused_seconds"     // port,prio: how long
	CountPauseLongest     = "pause_longest_max"  // port,prio: the longest episode, seconds
	CountQueueIntegral    = "queue_byte_seconds" // queue
	CountQueueMax         = "queue_bytes_max"    // queue
	CountQueueP99         = "queue_bytes_p99"    // queue: time-weighted 99th percentile
	CountIngressMax       = "ingress_bytes_max"  // port,prio: reserve plus shared
	CountXoffMinimum      = "xoff_threshold_min" // port,prio: smallest XOFF threshold seen at an arrival
	CountClosestToXoff    = "xoff_fraction_max"  // port,prio: largest shared use / threshold seen
	CountHeadroomMax      = "headroom_bytes_max" // port,prio
	CountHeadroomSize     = "headroom_bytes"     // port,prio: configured
	CountBufferMax        = "buffer_bytes_max"   // node
	CountBufferSize       = "buffer_bytes"       // node
	CountSharedMax        = "shared_bytes_max"   // port,prio: of a priority group, reserve excluded
	CountQueueSharedMax   = "queue_shared_bytes_max"
	CountPoolSize         = "pool_bytes"     // pool: shared bytes
	CountPoolMax          = "pool_bytes_max" // pool
	CountPoolHeadroomSize = "pool_headroom_bytes"
	CountPoolHeadroomMax  = "pool_headroom_bytes_max"
	CountWREDDropped      = "wred_dropped"       // queue
	CountWREDGreen        = "wred_dropped_green" // queue, by colour
	CountWREDYellow       = "wred_dropped_yellow"
	CountWREDRed          = "wred_dropped_red"
	CountQueueTxPackets   = "queue_tx_packets"       // queue, in a switch whose buffer manager is configured in full
	CountWatchdogStorms   = "watchdog_storms"        // queue: storms that a PFC watchdog has found
	CountWatchdogRestored = "watchdog_restored"      // queue: those that it has seen the end of
	CountWatchdogTxDrops  = "watchdog_tx_drops"      // queue: frames dropped that were to leave by it
	CountWatchdogRxDrops  = "watchdog_rx_drops"      // queue: frames of its priority dropped that came by its port
	CountWatchdogSeconds  = "watchdog_storm_seconds" // queue: how long storms were in force
	CountDropWatchdog     = "drops_watchdog"         // port
	CountPauseXoffTx      = "pause_xoff_tx"          // port: 802.3x pauses, which stop the whole link
	CountPauseXonTx       = "pause_xon_tx"
	CountPauseRefreshTx   = "pause_refresh_tx"
	CountPauseXoffRx      = "pause_xoff_rx"
	CountPauseXonRx       = "pause_xon_rx"
	CountPauseWarnings    = "pause_storm_warnings" // host: pauses of its own that lasted for most of nic.pause_watchdog
	CountPauseErrors      = "pause_storm_errors"   // host: those that it gave up
	CountICRCValid        = "icrc_valid"           // of a capture: packets whose ICRC holds
	CountICRCInvalid      = "icrc_invalid"

	CountContextLookups     = "context_lookups"     // host: contexts of queue pairs that its NIC looked up
	CountContextMisses      = "context_misses"      // host: those that its NIC did not have
	CountTranslationLookups = "translation_lookups" // host: pages of memory
	CountTranslationMisses  = "translation_misses"
)
