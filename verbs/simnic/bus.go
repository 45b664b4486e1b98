package simnic

import "rdmasim/sim"

// Bus is what lies between a NIC and the memory of its host. The zero value
// costs nothing. Both directions are served one transfer after the other.
type Bus struct {
	// Read and Write return how long the bus carries the bytes of a packet
	// that the NIC reads from memory, and writes to it. Reading asks first:
	// Ask is what that takes of the other direction. nil = no time.
	Read, Ask, Write func(payload sim.Bytes) sim.Duration
	// Request is what a request takes besides its payload, of the direction
	// from the host: its doorbell and its descriptor. Completion is the
	// descriptor of one, of the direction to the host.
	Request, Completion sim.Duration
	// Latency is from the question to the first byte that comes from memory.
	Latency sim.Duration
}

// Buses is the catalogue of what can be between NIC and memory.
var Buses = sim.NewCatalogue[Bus]("bus")

// NoBusParams are those of no bus.
type NoBusParams struct{}

var _ = sim.Register(Buses, "none", "memory is as near as can be: nothing takes time", NoBusParams{}, nil,
	func(NoBusParams) (Bus, error) { return Bus{}, nil })

// limits reports whether the bus takes time of packets.
func (b *Bus) limits() bool { return b.Read != nil }
