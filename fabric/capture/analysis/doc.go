// Package analysis reads what a capture tells of RDMA: queue pairs, messages,
// retransmissions, NAKs, timeouts, round trips, marks, notifications and
// pauses, and whether requesters and responders did what go-back-N asks of
// them. It leaves the same run directory as a simulation.
//
// An Analyzer is fed one frame at a time and keeps what it needs to know of
// every queue pair: its memory is bounded by the limits below, whatever the
// length of the capture.
package analysis

// Bounds of what is kept. What goes beyond them is counted, and reported as not
// followed.
const (
	MaxStreams = 1 << 15 // directions of queue pairs
	// MaxConnections bounds the connections whose making is followed.
	MaxConnections = 1 << 14
	MaxHosts       = 1 << 15 // addresses
	maxViews       = 8       // interfaces at which one direction is followed
	maxAllViews    = 1 << 16 // the same of all directions together
	maxGaps        = 16      // holes in the sequence of one direction at one interface
	maxMessages    = 4096    // unacknowledged messages of a queue pair
	maxWaiting     = 50_000  // the same of all queue pairs together
	maxStamps      = 1024    // packets of a queue pair that wait for their ACK to be timed
	maxTimed       = 512     // queue pairs of which round trips are measured
	maxScan        = 4096    // streams that an answer is compared with until its requests are found
	maxPaces       = 1 << 15 // pairs of addresses of which CNPs are told apart
	maxSeries      = 256     // hosts that have a series
	maxPausers     = 4096    // sources of pause frames
	maxExamples    = 20      // examples of each violation that are reported
	maxEvents      = 1 << 20 // rows of events.parquet
	maxFlows       = 4 << 20 // rows of flows.csv
	maxOpen        = 1 << 15 // of these, messages without an end
)
