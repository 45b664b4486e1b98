package verbs

import "rdmasim/sim"

// Device is an RDMA device, ibv_device.
type Device interface {
	Name() string
	// Open returns a context, from which everything else comes.
	Open() (Context, error)
}

// DeviceAttr are the limits of a device, ibv_device_attr.
type DeviceAttr struct {
	MaxQP, MaxQPWR, MaxSGE int
	MaxCQ, MaxCQE          int
	MaxMR                  int
	MaxMRSize              uint64
	MaxPD                  int
	MaxSRQ, MaxSRQWR       int
	MaxInline              int
	MaxRDAtomic            int // per queue pair, as requester
	MaxDestRDAtomic        int // per queue pair, as responder
	MaxAH                  int
	Ports                  int
	AtomicsAreGlobal       bool // atomic also towards the CPU
}

// PortAttr describes a port, ibv_port_attr.
type PortAttr struct {
	Active              bool
	ActiveMTU, MaxMTU   MTU
	Rate                sim.Rate
	GIDs                int
	MaxMessage          sim.Bytes
	BadPKeys, QKeyFails uint32
}

// GID is the address of a port, ibv_gid: an IPv6 address, or an IPv4 address
// mapped into one.
type GID [16]byte

// Context is an open device, ibv_context. Closing something that others still
// use fails with ErrBusy.
type Context interface {
	Query() DeviceAttr
	QueryPort(port uint8) (PortAttr, error)
	// QueryGID returns the address of a port at an index of its table.
	QueryGID(port uint8, index int) (GID, error)
	AllocPD() (ProtectionDomain, error)
	// CreateCompletionChannel returns a place where completion queues announce
	// completions.
	CreateCompletionChannel() (CompletionChannel, error)
	// CreateCQ returns a completion queue with room for at least so many
	// completions; ch may be nil.
	CreateCQ(entries int, ch CompletionChannel) (CompletionQueue, error)
	// AsyncEvent takes the oldest event that has not been taken; ok is false if
	// there is none.
	AsyncEvent() (e AsyncEvent, ok bool)
	Close() error
}

// ProtectionDomain ties memory to the queue pairs that may use it, ibv_pd.
type ProtectionDomain interface {
	RegisterMemory(p MRParams) (MemoryRegion, error)
	CreateQP(p QPParams) (QueuePair, error)
	CreateSRQ(p SRQParams) (SharedReceiveQueue, error)
	CreateAH(a AHAttr) (AddressHandle, error)
	// AllocMW returns a memory window that is not bound. It is an
	// ErrNotSupported where a provider has none.
	AllocMW() (MemoryWindow, error)
	Dealloc() error
}

// MRParams describe memory to register. Any address and length will do.
type MRParams struct {
	// Length of the region. The provider allocates it: memory that a NIC reaches
	// lies outside Go's heap.
	Length uint64
	Access Access
	// Offset of the region's first byte within its first page, so that any
	// address can be had; less than 4096.
	Offset uint64
}

// MemoryRegion is registered memory, ibv_mr.
type MemoryRegion interface {
	Addr() uint64  // of the first byte, for SGEs and remote addresses; never 0
	Bytes() []byte // the memory itself
	LKey() uint32
	RKey() uint32
	Access() Access
	// Deregister ends the region; requests that still name its keys fail.
	Deregister() error
}

// AHAttr is a way to a port, ibv_ah_attr.
type AHAttr struct {
	DGID         GID
	SGIDIndex    int
	Port         uint8
	TrafficClass uint8 // DSCP in its upper six bits
	FlowLabel    uint32
	HopLimit     uint8
}

// AddressHandle is a way to a port, made ready for datagrams, ibv_ah.
type AddressHandle interface {
	Attr() AHAttr
	Destroy() error
}

// CompletionQueue is a completion queue, ibv_cq.
type CompletionQueue interface {
	// Entries returns its room.
	Entries() int
	// Poll takes up to len(wc) completions, oldest first, and returns how many.
	// It fails with ErrOverrun once the queue has overrun.
	Poll(wc []WorkCompletion) (int, error)
	// RequestNotify arms the queue: the next completion that is added, or the
	// next solicited or failed one, puts one event into the channel and disarms.
	RequestNotify(solicitedOnly bool) error
	Destroy() error
}

// CompletionChannel tells of completions, ibv_comp_channel.
type CompletionChannel interface {
	// Event takes the oldest event; ok is false if there is none. Every event
	// has to be acknowledged before its queue can be destroyed.
	Event() (cq CompletionQueue, ok bool)
	// AckEvents acknowledges so many events of a queue.
	AckEvents(cq CompletionQueue, n int)
	Destroy() error
}

// SRQParams describe a shared receive queue.
type SRQParams struct {
	WR, SGE int
	Limit   int // AsyncSRQLimit once fewer are left; 0 = off
}

// SharedReceiveQueue holds receives for many queue pairs, ibv_srq.
type SharedReceiveQueue interface {
	// PostRecv adds receives and returns how many; rs[n] is the bad one on error.
	PostRecv(rs ...RecvRequest) (n int, err error)
	// Arm sets the limit of one AsyncSRQLimit.
	Arm(limit int) error
	Query() SRQParams
	Destroy() error
}

// QPParams describe a queue pair to create, ibv_qp_init_attr.
type QPParams struct {
	Service        Service
	SendCQ, RecvCQ CompletionQueue
	SRQ            SharedReceiveQueue // nil = receives of its own
	Capacity       Capacity
	SignalAll      bool // every request completes, as if Signaled
}

// QueuePair is a queue pair, ibv_qp, created in state RESET.
type QueuePair interface {
	QPN() uint32
	Service() Service
	State() State
	// Modify changes state and attributes as ibv_modify_qp does; CheckModify
	// says what is allowed. An error changes nothing.
	Modify(a QPAttr, mask AttrMask) error
	Query() QPAttr
	// PostSend adds requests and returns how many were taken; wrs[n] is the bad
	// one on error: ErrNoMemory on a full queue, else ErrInvalid. A request keeps
	// its place until a completion at or behind it has been polled, so unsignalled
	// requests alone fill a queue for good.
	PostSend(wrs ...WorkRequest) (n int, err error)
	// PostRecv adds receives in the same way.
	PostRecv(rs ...RecvRequest) (n int, err error)
	Destroy() error
}
