package validation

import (
	"context"
	"fmt"
	"strings"

	"rdmasim/congestion"
	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
	"rdmasim/verbs/simnic"
)

// direct is two simulated NICs on one cable, without a scenario around them:
// queue pairs with memory, keys and states.
type direct struct {
	e         *sim.Engine[packet.Packet]
	nics      [2]*simnic.NIC
	mtu       int
	psn       uint32
	deaf      bool         // the peer's queue pair does not listen
	retries   uint8        // both counts: of timeouts and of RNR NAKs
	peer      verbs.Access // what the peer's memory region allows
	requests  []uint32     // PSNs of requests and of READ responses
	responses []uint32     //
	statuses  [2][]string  // of completions by side, in order, without IBV_WC_
	ids       [2][]uint64  // of the same
}

// allAccess is what memory regions allow unless a test says less.
const allAccess = verbs.LocalWrite | verbs.RemoteWrite | verbs.RemoteRead

func newDirect(mtu int) *direct {
	d := &direct{e: sim.NewEngine[packet.Packet](), retries: 1, mtu: mtu, peer: allAccess}
	none, _ := congestion.NewNone(congestion.NoneParams{})
	names, memory := trace.NewNames(), simnic.NewMemory(2)
	for i := range d.nics {
		d.nics[i] = simnic.New(d.e, simnic.Config{Name: fmt.Sprint("h", i), Node: i, Endpoints: []int32{int32(i)}, PeerIDs: []trace.ObjectID{0}, Sizes: simnic.RoCEv2(mtu, "none"),
			Algorithm: none, Ports: []fabric.PortConfig{{Rate: 100 * sim.Gbps, RxRate: 100 * sim.Gbps, Delay: sim.Microsecond, Overhead: fabric.EthernetOverhead, PFCSize: simnic.SizePFC}},
			AckEvery: 1, AckPriority: -1, AckDSCP: -1, TTL: 64, Memory: memory,
			SourcePort: func(int32, int32, int) uint16 { return 0xc000 },
			Path: func(int32, int32, uint16, uint16, uint8) simnic.Path {
				return simnic.Path{BaseRTT: 2 * sim.Microsecond}
			},
			EndpointName: func(e int32) string { return fmt.Sprint("h", e) },
			Rand:         func(name string) *sim.Rand { return sim.NewRand(1, name) }, Sink: &trace.Sink{Node: int32(i)}, Names: names}, -1)
	}
	for i := range d.nics {
		d.e.Connect(d.nics[i].Node(), 0, d.nics[1-i].Node(), 0, sim.Microsecond)
		d.nics[i].SetTap(directTap{d})
	}
	return d
}

// directTap notes packet sequence numbers.
type directTap struct{ *direct }

func (d directTap) Sent(_ sim.Time, _ int, m packet.Packet) {
	switch {
	case m.Kind == packet.Data && m.IsResponse():
		d.responses = append(d.responses, m.PSN)
	case m.Kind == packet.Data:
		d.requests = append(d.requests, m.PSN)
	}
}
func (directTap) Received(sim.Time, int, packet.Packet, bool)  {}
func (directTap) Dropped(sim.Time, int, packet.Packet, string) {}
func (directTap) Marked(int64)                                 {}
func (directTap) Message(sim.Time, packet.Packet, sim.Bytes)   {}

// directApp posts when the run begins.
type directApp struct{ start func() }

func (a directApp) OnStart()                                    { a.start() }
func (directApp) OnAccept(*simnic.QP, uint64)                   {}
func (directApp) OnCompletion(*simnic.QP, verbs.WorkCompletion) {}
func (directApp) OnTimer(uint64)                                {}

// pair is one side of a connection: its queue pair, and both memory regions.
type pair struct {
	qp        verbs.QueuePair
	mine, its verbs.MemoryRegion
	cq        verbs.CompletionQueue
	ask       verbs.WorkRequest // what requests begin from
}

// post posts a request of so many bytes; an even id asks for a completion.
func (p *pair) post(op verbs.Opcode, id uint64, length uint32) error {
	w := p.ask
	w.Opcode, w.WRID, w.Signaled = op, id, id%2 == 0
	w.SGList = []verbs.SGE{{Addr: w.SGList[0].Addr, Length: length, LKey: w.SGList[0].LKey}}
	_, err := p.qp.PostSend(w)
	return err
}

// receive posts a receive of so many bytes.
func (p *pair) receive(id uint64, length, lkey uint32) error {
	_, err := p.qp.PostRecv(verbs.RecvRequest{WRID: id, SGList: []verbs.SGE{{Addr: p.mine.Addr(), Length: length, LKey: lkey}}})
	return err
}

// open makes the device, memory and queue pair of one side.
func (d *direct) open(side int) (*pair, error) {
	dev, err := d.nics[side].Device()
	if err != nil {
		return nil, err
	}
	ctx, err := dev.Open()
	if err != nil {
		return nil, err
	}
	pd, err := ctx.AllocPD()
	if err != nil {
		return nil, err
	}
	p := &pair{}
	if p.cq, err = ctx.CreateCQ(64, nil); err != nil {
		return nil, err
	}
	access := allAccess
	if side == 1 {
		access = d.peer
	}
	if p.mine, err = pd.RegisterMemory(verbs.MRParams{Length: 1 << 16, Access: access}); err != nil {
		return nil, err
	}
	p.qp, err = pd.CreateQP(verbs.QPParams{Service: verbs.RC, SendCQ: p.cq, RecvCQ: p.cq, Capacity: verbs.Capacity{SendWR: 32, RecvWR: 8}})
	return p, err
}

// run connects two queue pairs, lets each side post, nil for nothing, and
// collects the completions of both.
func (d *direct) run(first, second func(*pair) error) error {
	var sides [2]*pair
	for i := 1; i >= 0; i-- {
		p, err := d.open(i)
		if err != nil {
			return err
		}
		sides[i] = p
	}
	mtu := verbs.MTU256
	for ; 128<<mtu < d.mtu; mtu++ {
	}
	var failed [2]error
	for i, post := range []func(*pair) error{first, second} {
		p, peer := sides[i], sides[1-i]
		a := verbs.QPAttr{Access: allAccess, Port: 1, AH: verbs.AHAttr{DGID: simnic.GIDOf(int32(1 - i)), Port: 1}, PathMTU: mtu, DestQPN: peer.qp.QPN(),
			RQPSN: d.psn, SQPSN: d.psn, MaxRDAtomic: 1, MaxDestRDAtomic: 1, MinRNRTimer: 1, RetryCount: d.retries, RNRRetry: d.retries, Timeout: 6}
		for _, s := range []verbs.State{verbs.StateInit, verbs.StateRTR, verbs.StateRTS} {
			need, _, _ := verbs.Masks(verbs.RC, p.qp.State(), s)
			if a.State = s; d.deaf && i == 1 {
				break
			}
			if err := p.qp.Modify(a, need); err != nil {
				return err
			}
		}
		p.its = peer.mine
		p.ask = verbs.WorkRequest{RemoteAddr: p.its.Addr(), RKey: p.its.RKey(), SGList: []verbs.SGE{{Addr: p.mine.Addr(), LKey: p.mine.LKey()}}}
		d.nics[i].Attach(directApp{func() {
			if post != nil {
				failed[i] = post(p)
			}
		}})
	}
	d.e.Run(context.Background(), sim.RunOptions{Until: sim.Time(100 * sim.Millisecond), Workers: 1})
	for i, p := range sides {
		if failed[i] != nil {
			return failed[i]
		}
		wc := make([]verbs.WorkCompletion, 64)
		n, err := p.cq.Poll(wc)
		if err != nil {
			return err
		}
		for _, c := range wc[:n] {
			d.statuses[i] = append(d.statuses[i], strings.TrimPrefix(c.Status.String(), "IBV_WC_"))
			d.ids[i] = append(d.ids[i], c.WRID)
		}
	}
	return nil
}
