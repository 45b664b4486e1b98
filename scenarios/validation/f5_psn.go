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

var _ = register("F5", Row{
	Title: "PSNs of WRITE, READ of 10 000 B, WRITE",
	Hard:  true,
	Explain: `A READ takes as many PSNs as its response has packets, ceil(length / path MTU), and its responses carry them: 0, 1..10, 11.
Numbers have 24 bits. Two NICs on one cable; the packets are those that a tap sees at their ports.
Source: InfiniBand Architecture volume 1, 9.7.2 and 9.7.3.`,
	Measure: func(b *Bench) error {
		for _, first := range []uint32{0, 1<<24 - 5, 1<<24 - 1} {
			d := newDirect(1)
			d.psn = first
			if err := d.run(func(q verbs.QueuePair, w verbs.WorkRequest) error {
				for _, r := range []struct {
					op     verbs.Opcode
					length uint32
				}{{verbs.OpWrite, 1000}, {verbs.OpRead, 10_000}, {verbs.OpWrite, 1000}} {
					w.Opcode, w.SGList[0].Length = r.op, r.length
					if _, err := q.PostSend(w); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				return err
			}
			at := func(n uint32) uint32 { return (first + n) & (1<<24 - 1) }
			b.Exact(fmt.Sprintf("from PSN %d: requests", first), fmt.Sprint([]uint32{at(0), at(1), at(11)}), fmt.Sprint(d.requests), "IBA 9.7.2")
			var want []uint32
			for n := range uint32(10) {
				want = append(want, at(n+1))
			}
			b.Exact(fmt.Sprintf("from PSN %d: READ responses", first), fmt.Sprint(want), fmt.Sprint(d.responses), "IBA 9.7.3")
			b.Exact(fmt.Sprintf("from PSN %d: completions", first), "SUCCESS SUCCESS SUCCESS", strings.Join(d.statuses, " "), "IBA 10.8")
		}
		return nil
	},
})

// direct is two simulated NICs on one cable, without a scenario around them:
// queue pairs with memory, keys and states.
type direct struct {
	e         *sim.Engine[packet.Packet]
	nics      [2]*simnic.NIC
	psn       uint32
	deaf      bool // the peer's queue pair does not listen
	retries   uint8
	requests  []uint32 // PSNs of requests and of READ responses
	responses []uint32
	statuses  []string // of completions, in order, without IBV_WC_
	ids       []uint64
}

func newDirect(retries uint8) *direct {
	d := &direct{e: sim.NewEngine[packet.Packet](), retries: retries}
	none, _ := congestion.NewNone(congestion.NoneParams{})
	names, memory := trace.NewNames(), simnic.NewMemory(2)
	for i := range d.nics {
		d.nics[i] = simnic.New(d.e, simnic.Config{Name: fmt.Sprint("h", i), Node: i, Endpoints: []int32{int32(i)}, PeerIDs: []trace.ObjectID{0}, Sizes: simnic.RoCEv2(1024, "none"),
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

// run connects two queue pairs, posts on the first and collects its completions.
func (d *direct) run(post func(q verbs.QueuePair, w verbs.WorkRequest) error) error {
	const all = verbs.LocalWrite | verbs.RemoteWrite | verbs.RemoteRead
	var qps [2]verbs.QueuePair
	var mrs [2]verbs.MemoryRegion
	var cq verbs.CompletionQueue
	for i := 1; i >= 0; i-- {
		dev, err := d.nics[i].Device()
		if err != nil {
			return err
		}
		ctx, err := dev.Open()
		if err != nil {
			return err
		}
		pd, err := ctx.AllocPD()
		if err != nil {
			return err
		}
		if cq, err = ctx.CreateCQ(64, nil); err != nil {
			return err
		}
		if mrs[i], err = pd.RegisterMemory(verbs.MRParams{Length: 1 << 16, Access: all}); err != nil {
			return err
		}
		if qps[i], err = pd.CreateQP(verbs.QPParams{Service: verbs.RC, SendCQ: cq, RecvCQ: cq, Capacity: verbs.Capacity{SendWR: 32, RecvWR: 8}}); err != nil {
			return err
		}
	}
	for i, q := range qps {
		a := verbs.QPAttr{Access: all, Port: 1, AH: verbs.AHAttr{DGID: simnic.GIDOf(int32(1 - i)), Port: 1}, PathMTU: verbs.MTU1024, DestQPN: qps[1-i].QPN(),
			RQPSN: d.psn, SQPSN: d.psn, MaxRDAtomic: 1, MaxDestRDAtomic: 1, MinRNRTimer: 1, RetryCount: d.retries, Timeout: 6}
		for _, s := range []verbs.State{verbs.StateInit, verbs.StateRTR, verbs.StateRTS} {
			need, _, _ := verbs.Masks(verbs.RC, q.State(), s)
			if a.State = s; d.deaf && i == 1 {
				break
			}
			if err := q.Modify(a, need); err != nil {
				return err
			}
		}
	}
	var failed error
	d.nics[0].Attach(directApp{func() {
		failed = post(qps[0], verbs.WorkRequest{Signaled: true, RemoteAddr: mrs[1].Addr(), RKey: mrs[1].RKey(), SGList: []verbs.SGE{{Addr: mrs[0].Addr(), LKey: mrs[0].LKey()}}})
	}})
	d.nics[1].Attach(directApp{func() {}})
	d.e.Run(context.Background(), sim.RunOptions{Until: sim.Time(100 * sim.Millisecond), Workers: 1})
	wc := make([]verbs.WorkCompletion, 64)
	n, err := cq.Poll(wc)
	for _, c := range wc[:n] {
		d.statuses = append(d.statuses, strings.TrimPrefix(c.Status.String(), "IBV_WC_"))
		d.ids = append(d.ids, c.WRID)
	}
	if failed != nil {
		return failed
	}
	return err
}
