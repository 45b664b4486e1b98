package simnic

import (
	"rdmasim/congestion"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// Where a queue pair stands in its port's schedule.
const (
	schedIdle    = iota // nothing to send, or held back by its window
	schedReady          // in the list of its class
	schedWaiting        // in the heap, until its pacing lets it
)

// message is one work request of a send queue.
type message struct {
	id       uint64
	wrid     uint64
	op       verbs.Opcode
	signaled bool
	fence    bool
	started  bool         // a READ or atomic that counts towards max_rd_atomic
	bad      verbs.Status // cannot be carried out here
	imm      uint32       // immediate data, or the rkey to invalidate
	length   sim.Bytes
	first    uint64 // packet numbers, counted over the life of the queue pair
	last     uint64
	posted   sim.Time
	ready    sim.Time // the NIC has it; only where hosts cost time
	retx     uint64
	time     *messageTime // nil until its first packet leaves
	tag      string
	work     *work // what a queue pair with memory knows besides
}

// responds reports whether the request is completed by a response.
func (m *message) responds() bool { return m.op == verbs.OpRead || m.op.IsAtomic() }

// qp is a queue pair: requester and responder half. What every packet needs
// comes first, on three cache lines.
type qp struct {
	next     int32 // in the ready list
	slot     int32
	qpn      uint32
	peer     int32 // endpoint
	peerQP   uint32
	srcPort  uint16
	dstPort  uint16
	prio     uint8
	dscp     uint8
	state    verbs.State
	sched    uint8
	service  verbs.Service
	accepted bool
	special  bool // not WRITEs and SENDs of a sized connection alone
	hosted   bool // its requests take time to reach the NIC
	closing  bool
	handle   *QP
	resp     *responses // READ responses to send; nil until there is one
	irn      *selective // nil unless lost packets are repaired one by one

	una     uint64
	nxt     uint64
	end     uint64 // packets posted
	sent    uint64 // one past the highest packet ever sent
	availAt sim.Time
	holdAt  sim.Time // RNR: nothing is sent before
	rp      congestion.ReactionPoint

	msgs   []message
	cur    int // of msgs: the message that nxt belongs to
	head   int // of msgs: the oldest message that is not complete
	mtu    sim.Bytes
	rtoAt  sim.Time
	wakeAt sim.Time // when the timer goes off, at rtoAt or before it; 0 = never

	client   int32
	port     int32
	private  uint64
	dialling bool // the connection is being made
	tries    uint8
	fedEcho  bool // one of the READ responses since the last feedback was marked
	fetched  bool // the context for the next packet is there, or will be at fetchAt
	waitAt   sim.Time
	fetchAt  sim.Time
	upAt     sim.Time // the connection was made
	depth    int

	// Requester.
	path     Path
	timeout  sim.Duration // T
	rto      sim.Duration // of the present try
	extended bool         // the timer runs on between T and 4T
	retries  int
	retryMax uint8
	rnr      int
	rnrMax   uint8
	rnrTimer uint8 // code that this side's RNR NAKs carry
	rd       int   // READs and atomics outstanding
	maxRD    uint8
	ackHigh  uint64    // acknowledged beyond a READ that is not answered yet
	asked    uint64    // one more than the response that has been asked for again
	respSeen uint64    // the latest response out of sequence, 0 = none
	fedBytes sim.Bytes // of READ responses, since the last feedback

	// Responder.
	epsn       uint64
	msgStart   uint64 // first packet of the message being received
	msn        uint32
	nakAt      sim.Time
	nakFor     uint64
	nakSent    bool
	echo       bool
	watch      bool // its owner wants to know of WRITEs
	receives   bool // inside a message (UC)
	unacked    int
	fedPackets int // READ responses since the last feedback
	np         congestion.NotificationPoint
	recvs      []posted
	recvHead   int
	recvLen    sim.Bytes

	full    *fullQP        // nil = sized connection, without memory
	series  trace.ObjectID // of the requester: rate and alpha
	last    [2]float64
	inbound *inbound
	reads   *inbound // what its READs bring, where it has series
	account *account // nil where none is kept
}

type posted struct {
	wrid   uint64
	length sim.Bytes
	sg     []verbs.SGE
}

var _ verbs.Connection = (*QP)(nil)
