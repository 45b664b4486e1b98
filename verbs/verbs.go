// Package verbs is the RDMA contract of the product, libibverbs in Go's words:
// the values and interfaces that workloads are written against once and that a
// simulated NIC (verbs/simnic) and real hardware both implement. It knows
// nothing of a fabric.
package verbs

import (
	"errors"
	"fmt"

	"rdmasim/sim"
)

// ErrNotSupported is wrapped, with the reason, by everything that a provider cannot do.
var ErrNotSupported = errors.New("not supported")

// ErrNoMemory is what posting to a full queue returns (ENOMEM in libibverbs).
var ErrNoMemory = errors.New("ENOMEM: the queue is full")

// ErrInvalid is what a call with wrong arguments or in a wrong state returns (EINVAL).
var ErrInvalid = errors.New("EINVAL")

// Service is the transport service of a queue pair.
type Service uint8

// Services, ibv_qp_type.
const (
	RC Service = iota + 1
	UC
	UD
)

// Opcode is the operation of a work request, ibv_wr_opcode.
type Opcode uint8

// Opcodes of work requests.
const (
	OpWrite Opcode = iota
	OpWriteImm
	OpSend
	OpSendImm
	OpRead
	OpCompareSwap
	OpFetchAdd
	OpSendInv
)

var opcodeNames = [...]string{"WRITE", "WRITE_WITH_IMM", "SEND", "SEND_WITH_IMM", "READ", "CMP_SWAP", "FETCH_ADD", "SEND_WITH_INV"}

func (o Opcode) String() string {
	if int(o) < len(opcodeNames) {
		return opcodeNames[o]
	}
	return fmt.Sprintf("opcode(%d)", uint8(o))
}

// Status is the result of a work request, ibv_wc_status, in its order.
type Status uint8

// Completion statuses.
const (
	StatusSuccess Status = iota
	StatusLocalLength
	StatusLocalQPOperation
	StatusLocalEECOperation
	StatusLocalProtection
	StatusWRFlush
	StatusMWBind
	StatusBadResponse
	StatusLocalAccess
	StatusRemoteInvalidRequest
	StatusRemoteAccess
	StatusRemoteOperation
	StatusRetryExceeded
	StatusRNRRetryExceeded
	StatusLocalRDDViolation
	StatusRemoteInvalidRD
	StatusRemoteAborted
	StatusInvalidEECN
	StatusInvalidEECState
	StatusFatal
	StatusResponseTimeout
	StatusGeneral
)

var statusNames = [...]string{"SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR",
	"MW_BIND_ERR", "BAD_RESP_ERR", "LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR", "REM_OP_ERR", "RETRY_EXC_ERR",
	"RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR", "REM_ABORT_ERR", "INV_EECN_ERR", "INV_EEC_STATE_ERR",
	"FATAL_ERR", "RESP_TIMEOUT_ERR", "GENERAL_ERR"}

// String returns the name that libibverbs prints, such as IBV_WC_RETRY_EXC_ERR.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return "IBV_WC_" + statusNames[s]
	}
	return fmt.Sprintf("IBV_WC_%d", uint8(s))
}

// State of a queue pair, ibv_qp_state.
type State uint8

// States of a queue pair.
const (
	StateReset State = iota
	StateInit
	StateRTR
	StateRTS
	StateSQD
	StateSQE
	StateError
)

var stateNames = [...]string{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERROR"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// WorkRequest is one entry of a send queue.
type WorkRequest struct {
	WRID     uint64
	Opcode   Opcode
	Length   sim.Bytes // payload
	Signaled bool      // a completion is wanted on success; errors always complete
	Imm      uint32
	Tag      string // label that the report shows; not part of the wire
}

// WorkCompletion is the end of a work request, ibv_wc. On error only WRID,
// Status and QPN are valid.
type WorkCompletion struct {
	WRID   uint64
	Status Status
	Opcode Opcode
	Recv   bool // of a posted receive (a SEND or WRITE_WITH_IMM arrived)
	Length sim.Bytes
	QPN    uint32
	Imm    uint32
}

// QueuePair is a connected queue pair as workloads use it.
type QueuePair interface {
	// QPN returns the queue pair number, unique on its host.
	QPN() uint32
	// PostSend appends a request to the send queue. It returns ErrNoMemory
	// when the queue is full and ErrInvalid when state, length or opcode do
	// not fit.
	PostSend(wr WorkRequest) error
	// PostRecv adds a receive buffer of the given length.
	PostRecv(wrid uint64, length sim.Bytes) error
	// State returns the state of the queue pair.
	State() State
	// Close destroys the queue pair; outstanding work is flushed.
	Close()
}
