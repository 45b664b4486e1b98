package verbs

import "rdmasim/sim"

// SGE is one piece of registered memory, ibv_sge.
type SGE struct {
	Addr   uint64
	Length uint32
	LKey   uint32
}

// MaxMessage is the longest message of a connected service: 2^31 bytes.
// Source: InfiniBand Architecture, volume 1, section 9.7.7.
const MaxMessage = sim.Bytes(1) << 31

// WorkRequest is one entry of a send queue, ibv_send_wr.
type WorkRequest struct {
	WRID   uint64
	Opcode Opcode
	// Length is the payload of a request that names no memory: on a Connection
	// the provider finds the bytes. Requests with an SGList leave it 0.
	Length    sim.Bytes
	SGList    []SGE
	Signaled  bool // a completion is wanted on success; errors always complete
	Solicited bool // the receiver's completion raises a solicited event
	Fence     bool // starts only when all earlier READs and atomics have completed
	Inline    bool // the bytes are copied while posting; lkeys are not looked at

	Imm           uint32     // SEND_WITH_IMM, WRITE_WITH_IMM: in host byte order
	InvalidateKey uint32     // SEND_WITH_INV: rkey that the responder invalidates; LOCAL_INV: one of this side
	Bind          WindowBind // BIND_MW

	RemoteAddr uint64 // WRITE, READ, atomics
	RKey       uint32
	CompareAdd uint64 // FETCH_ADD: what is added; CMP_SWAP: what is compared with
	Swap       uint64 // CMP_SWAP: what is stored if the comparison holds

	AH         AddressHandle // UD: where to
	RemoteQPN  uint32
	RemoteQKey uint32

	Tag string // label that the report shows; not part of the wire
}

// Bytes returns the payload of a request.
func (w *WorkRequest) Bytes() sim.Bytes {
	if w.SGList == nil {
		return w.Length
	}
	var n sim.Bytes
	for i := range w.SGList {
		n += sim.Bytes(w.SGList[i].Length)
	}
	return n
}

// RecvRequest is one entry of a receive queue, ibv_recv_wr.
type RecvRequest struct {
	WRID   uint64
	SGList []SGE
}

// WorkCompletion is the end of a work request, ibv_wc. On error only WRID,
// Status and QPN are valid.
type WorkCompletion struct {
	WRID   uint64
	Status Status
	Opcode Opcode
	Recv   bool      // of a posted receive (a SEND or WRITE_WITH_IMM arrived)
	Length sim.Bytes // payload; of a datagram with the 40 bytes of GRHBytes
	QPN    uint32
	Imm    uint32 // where HasImm
	HasImm bool

	HasInv         bool   // the peer invalidated InvalidatedKey (SEND_WITH_INV)
	InvalidatedKey uint32 // an rkey of this side
	SrcQP          uint32 // UD: the sender's queue pair
	HasGRH         bool   // UD: the first 40 bytes of the buffer are the global routing header
}

// GRHBytes is what a datagram takes of a receive buffer before its payload.
// Source: ibv_post_recv(3).
const GRHBytes = 40
