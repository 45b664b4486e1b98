// Package verbs is the RDMA contract of the product, libibverbs in Go's words:
// the values and interfaces that workloads are written against once and that a
// simulated NIC (verbs/simnic) and real hardware both implement. It knows
// nothing of a fabric.
package verbs

import (
	"errors"
	"fmt"
)

// ErrNotSupported is wrapped, with the reason, by everything that a provider cannot do.
var ErrNotSupported = errors.New("not supported")

// ErrNoMemory is what posting to a full queue returns (ENOMEM in libibverbs).
var ErrNoMemory = errors.New("ENOMEM: the queue is full")

// ErrBusy is what destroying something returns that others still use (EBUSY).
var ErrBusy = errors.New("EBUSY")

// ErrOverrun is what polling returns after a completion queue has overrun.
var ErrOverrun = errors.New("the completion queue has overrun")

// ErrInvalid is what a call with wrong arguments or in a wrong state returns (EINVAL).
var ErrInvalid = errors.New("EINVAL")

// Service is the transport service of a queue pair.
type Service uint8

// Services, ibv_qp_type. The zero value of Service stands for RC where a
// service may be left out.
const (
	RC Service = iota + 1 // reliable connection
	UC                    // unreliable connection
	UD                    // unreliable datagram
)

func (s Service) String() string {
	switch s {
	case RC:
		return "RC"
	case UC:
		return "UC"
	case UD:
		return "UD"
	}
	return fmt.Sprintf("service(%d)", uint8(s))
}

// Allows reports whether requests of an opcode exist for the service.
// Source: InfiniBand Architecture, volume 1, table 38 (transport functions).
func (s Service) Allows(o Opcode) bool {
	switch s {
	case RC:
		return int(o) < len(opcodeNames)
	case UC:
		return o == OpWrite || o == OpWriteImm || o == OpSend || o == OpSendImm
	case UD:
		return o == OpSend || o == OpSendImm
	}
	return false
}

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
	OpBindMW   // binds a memory window: nothing goes over the wire
	OpLocalInv // ends the binding of a memory window, or the remote rights of a region
)

var opcodeNames = [...]string{"WRITE", "WRITE_WITH_IMM", "SEND", "SEND_WITH_IMM", "READ", "CMP_SWAP", "FETCH_ADD", "SEND_WITH_INV", "BIND_MW", "LOCAL_INV"}

func (o Opcode) String() string {
	if int(o) < len(opcodeNames) {
		return opcodeNames[o]
	}
	return fmt.Sprintf("opcode(%d)", uint8(o))
}

// IsSend reports whether a request consumes a receive by being a SEND.
func (o Opcode) IsSend() bool { return o == OpSend || o == OpSendImm || o == OpSendInv }

// IsWrite reports whether a request writes to remote memory.
func (o Opcode) IsWrite() bool { return o == OpWrite || o == OpWriteImm }

// IsAtomic reports whether a request is an atomic operation on 8 bytes.
func (o Opcode) IsAtomic() bool { return o == OpFetchAdd || o == OpCompareSwap }

// IsLocal reports whether a request is carried out without the peer.
func (o Opcode) IsLocal() bool { return o == OpBindMW || o == OpLocalInv }

// HasImm reports whether a request carries immediate data.
func (o Opcode) HasImm() bool { return o == OpWriteImm || o == OpSendImm }

// Receives reports whether the last packet of a request takes a receive of the
// responder.
func (o Opcode) Receives() bool { return o.IsSend() || o == OpWriteImm }
