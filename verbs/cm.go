package verbs

import "rdmasim/sim"

// CMParams are what rdma_conn_param says.
type CMParams struct {
	Private                   []byte // at most 56 bytes with a request, 196 with an answer, 148 with a rejection
	ResponderResources, Depth uint8  // READs and atomics that this side answers, and has outstanding
	RetryCount, RNRRetry      uint8
	AckTimeout, MinRNRTimer   uint8
	PathMTU                   MTU
	Timeout                   sim.Duration // of one try of a request; 0 = the provider's
	Retries                   int          // further tries
}

// CMEventKind is the kind of an event of connection management, rdma_cm_event_type.
type CMEventKind uint8

// Events of connection management.
const (
	CMConnectRequest CMEventKind = iota // a peer wants to connect: Accept or Reject
	CMEstablished                       // the queue pair is in RTS
	CMRejected                          // by the peer, with its private data
	CMUnreachable                       // nobody answered in time
	CMConnectError                      // the queue pair could not be made ready
	CMDisconnected                      // the peer has disconnected
)

var cmNames = [...]string{"CONNECT_REQUEST", "ESTABLISHED", "REJECTED", "UNREACHABLE", "CONNECT_ERROR", "DISCONNECTED"}

// String returns the name that librdmacm has, such as RDMA_CM_EVENT_REJECTED.
func (k CMEventKind) String() string {
	if int(k) < len(cmNames) {
		return "RDMA_CM_EVENT_" + cmNames[k]
	}
	return "RDMA_CM_EVENT_?"
}

// CMEvent is one of them.
type CMEvent struct {
	Kind    CMEventKind
	ID      CMID // the identifier; of a CMConnectRequest a new one
	Private []byte
	Params  CMParams // of the peer, in a CMConnectRequest
	Status  int      // reason of a rejection: 28 = the peer's application, 8 = nobody listens
}

// Reasons of rejections. Source: InfiniBand Architecture, volume 1, table 108.
const (
	RejectInvalidService = 8
	RejectByConsumer     = 28
)

// ConnectionManager connects queue pairs as librdmacm does: it exchanges queue
// pair numbers, packet sequence numbers and private data, and takes both queue
// pairs from RESET to RTS.
type ConnectionManager interface {
	// Listen accepts requests for a service on this host.
	Listen(service uint64) error
	// Connect asks the peer for a connection of qp, which is in RESET, or in INIT
	// with receives posted.
	Connect(peer GID, service uint64, qp QueuePair, p CMParams) (CMID, error)
	// Event takes the oldest event; ok is false if there is none.
	Event() (e CMEvent, ok bool)
}

// CMID is one connection that is being made, rdma_cm_id.
type CMID interface {
	QP() QueuePair
	// Accept answers a request with a queue pair in RESET or INIT.
	Accept(qp QueuePair, p CMParams) error
	Reject(private []byte) error
	// Disconnect takes both queue pairs to ERROR.
	Disconnect() error
}
