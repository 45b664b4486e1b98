package verbs

import "rdmasim/sim"

// Connection is a connected queue pair as workloads use it: the provider sets
// it up, finds the memory of every request, polls, and calls back with the
// completions. It is what a QueuePair is when one does not want to know about
// keys, addresses, completion queues and states.
type Connection interface {
	// QPN returns the queue pair number, unique on its host.
	QPN() uint32
	// PostSend appends a request to the send queue. Requests give Length and no
	// SGList; RemoteAddr and RKey are the provider's. It returns ErrNoMemory
	// when the queue is full, and ErrInvalid when state, length or opcode do not
	// fit.
	PostSend(wr WorkRequest) error
	// PostRecv adds a receive buffer of the given length.
	PostRecv(wrid uint64, length sim.Bytes) error
	// State returns the state of the queue pair.
	State() State
	// Close destroys the queue pair; outstanding work is flushed.
	Close()
}

// WriteWatcher is a Connection that can tell when a WRITE of the peer is in
// memory: its owner gets a completion with Recv and OpWrite and without a WRID,
// as if it polled the last byte.
type WriteWatcher interface{ WatchWrites() }
