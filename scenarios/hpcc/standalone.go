package hpcc

import (
	"math/bits"
	"slices"

	"rdmasim/sim"
)

// headerBytes surround the payload of a data packet there: 14 of the link, 20
// IP, 8 UDP, 6 of sequence number and priority group.
const headerBytes = 48

// Pair is what that model knows of the path between two hosts. Everything is
// in whole nanoseconds.
type Pair struct {
	Hops       int
	Delay      sim.Duration // propagation, one way
	TxDelay    sim.Duration // one payload, without headers, over every hop
	Bottleneck sim.Rate
}

// RTT returns 2 delay + txDelay.
func (p Pair) RTT() sim.Duration { return 2*p.Delay + p.TxDelay }

// BDP returns the bandwidth-delay product, which is the window of HAS_WIN.
func (p Pair) BDP() sim.Bytes { return p.Bottleneck.BytesIn(p.RTT()) }

// Standalone returns what that model takes a flow to need when it is alone:
// RTT + (size + 48 ceil(size/payload)) 8 / bottleneck, in whole nanoseconds.
func (p Pair) Standalone(size, payload sim.Bytes) sim.Duration {
	total := size + (size+payload-1)/payload*headerBytes
	return p.RTT() + wholeNanoseconds(total, p.Bottleneck)
}

// wholeNanoseconds returns how long n bytes take at rate r, cut off to
// nanoseconds, and at most an hour beyond the longest run.
func wholeNanoseconds(n sim.Bytes, r sim.Rate) sim.Duration {
	const most = (maxTime + 3600) * sim.Second
	hi, lo := bits.Mul64(uint64(n), 8_000_000_000)
	if hi >= uint64(r) {
		return most
	}
	q, _ := bits.Div64(hi, lo, uint64(r))
	return sim.Duration(min(q, uint64(most/sim.Nanosecond))) * sim.Nanosecond
}

// Paths finds Pairs. It keeps the paths to one host at a time, so that asking
// for all sources of one destination before the next is cheap.
type Paths struct {
	t       *Topology
	payload sim.Bytes
	links   [][]int // of every node
	to      int
	pairs   []Pair
	queue   []int
}

// NewPaths prepares the paths of a topology for packets of that payload.
func NewPaths(t *Topology, payload sim.Bytes) *Paths {
	p := &Paths{t: t, payload: payload, links: make([][]int, t.Nodes), to: -1, pairs: make([]Pair, t.Nodes)}
	for i, l := range t.Links {
		p.links[l.A] = append(p.links[l.A], i)
		p.links[l.B] = append(p.links[l.B], i)
	}
	return p
}

// Pair returns the path from one host to another: the first one that a breadth
// first search from the destination finds, hosts not forwarding. Hops is 0 if
// there is none.
func (p *Paths) Pair(from, to int) Pair {
	if p.to != to {
		p.search(to)
	}
	return p.pairs[from]
}

func (p *Paths) search(to int) {
	p.to = to
	clear(p.pairs)
	p.queue = append(p.queue[:0], to)
	for i := 0; i < len(p.queue); i++ {
		at := p.queue[i]
		for _, k := range p.links[at] {
			l := &p.t.Links[k]
			next := l.A + l.B - at
			if next == to || p.pairs[next].Hops > 0 {
				continue
			}
			here := p.pairs[at]
			pair := Pair{Hops: here.Hops + 1, Delay: here.Delay + l.Delay, TxDelay: here.TxDelay + wholeNanoseconds(p.payload, l.Rate), Bottleneck: l.Rate}
			if at != to {
				pair.Bottleneck = min(here.Bottleneck, l.Rate)
			}
			p.pairs[next] = pair
			if p.t.isSwitch[next] {
				p.queue = append(p.queue, next)
			}
		}
	}
}

// Largest returns the largest RTT and the largest bandwidth-delay product of
// all pairs of hosts, which GLOBAL_T gives to all of them.
func (p *Paths) Largest() (rtt sim.Duration, bdp sim.Bytes) {
	hosts := p.t.Hosts()
	for _, to := range hosts {
		for _, from := range hosts {
			if pair := p.Pair(from, to); pair.Hops > 0 {
				rtt, bdp = max(rtt, pair.RTT()), max(bdp, pair.BDP())
			}
		}
	}
	return rtt, bdp
}

// FillStandalone sets Standalone of every row.
func (p *Paths) FillStandalone(rows []FCT) {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return NodeOf(rows[a].DstIP) - NodeOf(rows[b].DstIP) })
	for _, i := range order {
		r := &rows[i]
		from, to := NodeOf(r.SrcIP), NodeOf(r.DstIP)
		if from >= p.t.Nodes || to >= p.t.Nodes {
			continue
		}
		if pair := p.Pair(from, to); pair.Hops > 0 {
			r.Standalone = pair.Standalone(r.Size, p.payload)
		}
	}
}
