package simnic

import (
	"fmt"

	"rdmasim/sim"
)

// PCIeParams describe a PCI Express slot and the way from it to memory.
type PCIeParams struct {
	Generation int       `key:"generation" oneof:"3,4,5,6" doc:"of PCI Express: 8, 16, 32 or 64 GT/s per lane"`
	Lanes      int       `key:"lanes" oneof:"1,2,4,8,16" doc:"width of the slot"`
	MaxPayload sim.Bytes `key:"max_payload" doc:"largest payload of one transaction (MPS): 128B, 256B or 512B"`
	MaxRequest sim.Bytes `key:"max_read_request" doc:"largest read that one transaction asks for (MRRS): 128B to 4096B"`

	Relaxed     bool     `key:"relaxed_ordering" doc:"writes to memory may overtake each other; false: ordered_rate holds"`
	OrderedRate sim.Rate `key:"ordered_rate" doc:"payload that the host takes while writes keep their order; 0bps = order costs nothing"`

	Latency     sim.Duration `key:"latency" doc:"from a read of the NIC to the first byte from memory"`
	NUMALatency sim.Duration `key:"numa_latency" doc:"so much more where the memory is that of another socket; 0s = it is the NIC's own"`
	NUMARate    sim.Rate     `key:"numa_rate" doc:"payload that the link between the sockets carries, each way; 0bps = no limit"`
}

// Sizes of PCI Express in bytes: framing, sequence number and CRC of the link
// layer take 8, the header of a write or read with a 64-bit address 16, that of
// the data which answers a read 12. Source: PCI Express Base Specification, as
// summed up by the pcie-bench model (Neugebauer et al., "Understanding PCIe
// performance for end host networking", SIGCOMM'18), model/pcie.py.
const (
	tlpWrite  = 24
	tlpRead   = 24
	tlpAnswer = 20
)

// Sizes of what NIC and driver exchange besides payload: a work queue element
// and a completion of 64 bytes, a doorbell of 8. Source: mlx5 (WQE basic block,
// CQE size, doorbell register).
const (
	sizeWQE      = 64
	sizeCQE      = 64
	sizeDoorbell = 8
)

// creditEvery is after how many bytes the link layer acknowledges, and renews
// credits, 8 bytes each, by lanes and MPS. Source: PCI Express Base
// Specification 5.0, tables 2-48 and 3-9 (8 GT/s and above), as above.
var creditEvery = map[int]map[sim.Bytes]float64{
	1:  {128: 333, 256: 512, 512: 655},
	2:  {128: 224, 256: 313, 512: 385},
	4:  {128: 169, 256: 214, 512: 250},
	8:  {128: 163, 256: 203, 512: 182},
	16: {128: 144, 256: 168, 512: 182},
}

// dllp is the size of an acknowledgement or a renewal of credits, with framing;
// a skip of 4 bytes comes every 1538.
const (
	dllp      = 8
	skip      = 4.0
	skipEvery = 1538
)

// Rate returns what the link carries in each direction beside the link layer's
// own packets: lanes times transfers times the code (128b/130b; 242 of 256 bytes
// of a flit), less acknowledgements, credits and skips.
func (p *PCIeParams) Rate() sim.Rate {
	perLane := 8e9 * float64(int(1)<<(p.Generation-3))
	code := 128.0 / 130
	if p.Generation >= 6 {
		code = 242.0 / 256
	}
	own := 2*dllp/creditEvery[p.Lanes][p.MaxPayload] + skip/skipEvery
	return sim.Rate(perLane * float64(p.Lanes) * code * (1 - own))
}

// pieces returns in how many transactions of at most so many bytes a payload goes.
func pieces(payload, most sim.Bytes) sim.Bytes { return (payload + most - 1) / most }

// WriteBytes, ReadBytes and AskBytes return what a payload takes of the link:
// written to memory, read from it, and asked for.
func (p *PCIeParams) WriteBytes(payload sim.Bytes) sim.Bytes {
	return payload + pieces(payload, p.MaxPayload)*tlpWrite
}

// ReadBytes returns what the answers take that bring a payload from memory.
func (p *PCIeParams) ReadBytes(payload sim.Bytes) sim.Bytes {
	return payload + pieces(payload, p.MaxPayload)*tlpAnswer
}

// AskBytes returns what the questions take that fetch a payload.
func (p *PCIeParams) AskBytes(payload sim.Bytes) sim.Bytes {
	return pieces(payload, p.MaxRequest) * tlpRead
}

// Goodput returns the payload rates that the bus carries in packets of so many
// bytes, one direction alone: out of memory and into it.
func (p *PCIeParams) Goodput(payload sim.Bytes) (read, write sim.Rate) {
	rate := float64(p.Rate())
	read = p.slower(sim.Rate(rate*float64(payload)/float64(p.ReadBytes(payload))), false)
	write = p.slower(sim.Rate(rate*float64(payload)/float64(p.WriteBytes(payload))), true)
	return read, write
}

// slower returns a payload rate within what the sockets and the ordering allow.
func (p *PCIeParams) slower(r sim.Rate, write bool) sim.Rate {
	if p.NUMARate > 0 {
		r = min(r, p.NUMARate)
	}
	if write && !p.Relaxed && p.OrderedRate > 0 {
		r = min(r, p.OrderedRate)
	}
	return r
}

// Published figures that presets have.
const (
	// The median of 2 million reads of 64 bytes from memory on a Xeon E5-2630
	// v4 (413 ns where the cache has the line). Source: pcie-bench/data,
	// nfp6000-1.2GHz_bdw-Xeon-E5-2630v4-dell-t430, lat_cmd_sweep_rd_rnd_64.
	pcieLatency = 480 * sim.Nanosecond
	// 195.7 ns to the memory of the other socket, 108.2 ns to its own, by Intel
	// Memory Latency Checker. Source: S. Scargall, "Linux NUMA Distances
	// Explained", 2022.
	numaLatency = 87500 * sim.Picosecond
	// An AMD EPYC host took 150 Gb/s from a 200 Gb/s NIC without relaxed
	// ordering, and all of it with. Source: openucx/ucx, pull request 8062.
	epycOrdered = 150 * sim.Gbps
	// On Intel Emerald Rapids about 16 GB/s without relaxed ordering, above 40
	// GB/s with. Source: openucx/ucx, pull request 10955.
	emeraldOrdered = 128 * sim.Gbps
)

// slot returns a slot with the settings that servers have: MPS 256 and MRRS 512,
// as most firmware sets them.
func slot(generation, lanes int) PCIeParams {
	return PCIeParams{Generation: generation, Lanes: lanes, MaxPayload: 256, MaxRequest: 512, Relaxed: true, Latency: pcieLatency}
}

func (p PCIeParams) with(change func(*PCIeParams)) PCIeParams {
	change(&p)
	return p
}

var _ = sim.Register(Buses, "pcie", "PCI Express: payload goes in transactions with headers, reads take a round trip, and each direction carries one after the other",
	slot(4, 16), map[string]PCIeParams{
		"gen3_x8": slot(3, 8), "gen3_x16": slot(3, 16), "gen4_x8": slot(4, 8), "gen4_x16": slot(4, 16), "gen5_x16": slot(5, 16), "gen6_x16": slot(6, 16),
		"epyc_ordered":           slot(4, 16).with(func(p *PCIeParams) { p.Relaxed, p.OrderedRate = false, epycOrdered }),
		"emerald_rapids_ordered": slot(5, 16).with(func(p *PCIeParams) { p.Relaxed, p.OrderedRate = false, emeraldOrdered }),
		"gen4_x16_far":           slot(4, 16).with(func(p *PCIeParams) { p.NUMALatency = numaLatency }),
	}, NewPCIe)

// NewPCIe checks the parameters and returns the bus.
func NewPCIe(p PCIeParams) (Bus, error) {
	if err := p.check(); err != nil {
		return Bus{}, fmt.Errorf("bus pcie: %w", err)
	}
	rate := p.Rate()
	far := func(d sim.Duration, payload sim.Bytes, write bool) sim.Duration {
		if limit := p.slower(1<<62, write); limit < 1<<62 {
			d = max(d, limit.TxTime(payload))
		}
		return d
	}
	return Bus{
		Read:       func(n sim.Bytes) sim.Duration { return far(rate.TxTime(p.ReadBytes(n)), n, false) },
		Ask:        func(n sim.Bytes) sim.Duration { return rate.TxTime(p.AskBytes(n)) },
		Write:      func(n sim.Bytes) sim.Duration { return far(rate.TxTime(p.WriteBytes(n)), n, true) },
		Request:    rate.TxTime(sizeWQE + tlpAnswer + sizeDoorbell + tlpWrite),
		Completion: rate.TxTime(sizeCQE + tlpWrite),
		Latency:    p.Latency + p.NUMALatency,
	}, nil
}

func (p *PCIeParams) check() error {
	switch {
	case creditEvery[p.Lanes] == nil:
		return fmt.Errorf("lanes %d: want 1, 2, 4, 8 or 16", p.Lanes)
	case p.Generation < 3 || p.Generation > 6:
		return fmt.Errorf("generation %d: want 3 to 6", p.Generation)
	case creditEvery[p.Lanes][p.MaxPayload] == 0:
		return fmt.Errorf("max_payload %v: want 128B, 256B or 512B", p.MaxPayload)
	case p.MaxRequest < 128 || p.MaxRequest > 4096 || p.MaxRequest&(p.MaxRequest-1) != 0:
		return fmt.Errorf("max_read_request %v: want a power of two from 128B to 4096B", p.MaxRequest)
	case p.OrderedRate < 0 || p.OrderedRate > 0 && p.OrderedRate < sim.Mbps:
		return fmt.Errorf("ordered_rate %v: want 0bps or at least 1Mbps", p.OrderedRate)
	case p.NUMARate < 0 || p.NUMARate > 0 && p.NUMARate < sim.Mbps:
		return fmt.Errorf("numa_rate %v: want 0bps or at least 1Mbps", p.NUMARate)
	case p.Latency < 0 || p.NUMALatency < 0 || p.Latency > sim.Second || p.NUMALatency > sim.Second:
		return fmt.Errorf("latency %v, numa_latency %v: want 0s to 1s", p.Latency, p.NUMALatency)
	case !p.Relaxed && p.OrderedRate == 0:
		return fmt.Errorf("relaxed_ordering false: ordered_rate says what that costs, such as 150Gbps")
	}
	return nil
}
