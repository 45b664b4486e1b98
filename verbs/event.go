package verbs

import "fmt"

// AsyncKind is the kind of an asynchronous event, ibv_event_type.
type AsyncKind uint8

// Asynchronous events.
const (
	AsyncCQError     AsyncKind = iota // a completion queue has overrun
	AsyncQPFatal                      // a queue pair failed without a request to blame
	AsyncQPRequest                    // a peer's request was invalid
	AsyncQPAccess                     // a peer's request violated memory protection
	AsyncCommEst                      // a packet arrived on a queue pair in RTR
	AsyncSQDrained                    // the send queue of a queue pair in SQD is empty
	AsyncDeviceFatal                  // the device has failed
	AsyncPortActive                   // a port came up
	AsyncPortError                    // a port went down
	AsyncSRQError                     // a shared receive queue failed
	AsyncSRQLimit                     // fewer receives are left than its limit
	AsyncQPLastWQE                    // a queue pair in error has taken its last receive of a shared queue
)

var asyncNames = [...]string{"CQ_ERR", "QP_FATAL", "QP_REQ_ERR", "QP_ACCESS_ERR", "COMM_EST", "SQ_DRAINED", "DEVICE_FATAL",
	"PORT_ACTIVE", "PORT_ERR", "SRQ_ERR", "SRQ_LIMIT_REACHED", "QP_LAST_WQE_REACHED"}

// String returns the name that libibverbs has, such as IBV_EVENT_CQ_ERR.
func (k AsyncKind) String() string {
	if int(k) < len(asyncNames) {
		return "IBV_EVENT_" + asyncNames[k]
	}
	return fmt.Sprintf("IBV_EVENT_%d", uint8(k))
}

// AsyncEvent is something that happened to a device, ibv_async_event. What it
// happened to is set.
type AsyncEvent struct {
	Kind AsyncKind
	QPN  uint32
	CQ   CompletionQueue
	SRQ  SharedReceiveQueue
	Port uint8
}
