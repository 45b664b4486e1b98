package simnic

import (
	"testing"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/verbs"
	"rdmasim/verbs/verbstest"

	"github.com/stretchr/testify/require"
)

// world makes a lab one of verbstest.
type world struct{ *lab }

func (w world) Devices() (list []verbs.Device) {
	for _, n := range w.nics {
		d, err := n.Device()
		require.NoError(w.t, err)
		list = append(list, d)
	}
	return list
}

func (w world) Sleep(d sim.Duration) { w.sleep(d) }

func (w world) Manager(c verbs.Context) verbs.ConnectionManager {
	m, err := Manager(c)
	require.NoError(w.t, err)
	return m
}

// provider is the simulated NIC as verbstest wants it.
func provider(change func(*Config)) verbstest.Provider {
	return verbstest.Provider{Port: 1, AckTimeout: 8, Patience: 20 * sim.Millisecond, Run: func(t *testing.T, program func(t *testing.T, w verbstest.World)) {
		inLab(t, 2, change, func(l *lab) { program(t, world{l}) })
	}}
}

// The simulated NIC keeps the contract.
func TestContract(t *testing.T) { verbstest.Test(t, provider(nil)) }

// With selective repeat it keeps it too.
func TestContractSelectiveRepeat(t *testing.T) {
	verbstest.Test(t, provider(func(c *Config) {
		c.IRN = &IRN{BDP: 64 << 10, RTOLow: IRNTimeoutLow, RTOHigh: IRNTimeoutHigh, Few: IRNFew}
	}))
}

// Messages of connection management that are lost are sent again, and nobody
// waits for ever for a peer that never answers.
func TestConnectionManagementSurvivesLoss(t *testing.T) {
	for lost := range 12 {
		n := 0
		inLab(t, 2, nil, func(l *lab) {
			l.wire.see = func(m *packet.Packet) bool {
				if m.DstQP != cmQP {
					return true
				}
				n++
				return n != lost%3+1 && n != lost/3+1
			}
			a, b := world{l}.Manager(l.open(0)), world{l}.Manager(l.open(1))
			require.NoError(t, b.Listen(7))
			p := verbs.CMParams{Timeout: sim.Millisecond, Retries: 3}
			_, err := a.Connect(GIDOf(1), 7, cmQueuePair(t, a), p)
			require.NoError(t, err)
			var up int
			for range 12 {
				l.sleep(sim.Millisecond)
				for _, m := range []verbs.ConnectionManager{a, b} {
					switch e, ok := m.Event(); {
					case !ok:
					case e.Kind == verbs.CMConnectRequest:
						require.NoError(t, e.ID.Accept(cmQueuePair(t, b), p))
					case e.Kind == verbs.CMEstablished:
						up++
					default:
						t.Fatal(e.Kind)
					}
				}
			}
			require.Equal(t, 2, up, "messages %d and %d lost", lost%3+1, lost/3+1)
		})
	}
	inLab(t, 2, nil, func(l *lab) {
		a := world{l}.Manager(l.open(0))
		l.wire.see = func(*packet.Packet) bool { return false }
		_, err := a.Connect(GIDOf(1), 7, cmQueuePair(t, a), verbs.CMParams{Timeout: sim.Millisecond, Retries: 3})
		require.NoError(t, err)
		l.sleep(3900 * sim.Microsecond)
		_, ok := a.Event()
		require.False(t, ok)
		l.sleep(200 * sim.Microsecond)
		e, ok := a.Event()
		require.True(t, ok)
		require.Equal(t, verbs.CMUnreachable, e.Kind)
	})
}

func cmQueuePair(t *testing.T, m verbs.ConnectionManager) verbs.QueuePair {
	ctx := m.(*manager).ctx
	pd, err := ctx.AllocPD()
	require.NoError(t, err)
	cq, err := ctx.CreateCQ(16, nil)
	require.NoError(t, err)
	q, err := pd.CreateQP(verbs.QPParams{Service: verbs.RC, SendCQ: cq, RecvCQ: cq})
	require.NoError(t, err)
	return q
}

// One datagram queue pair reaches hundreds of peers, each by its own handle.
func TestDatagramsFanOut(t *testing.T) {
	const peers = 200
	inLab(t, peers+1, nil, func(l *lab) {
		var ends []*party
		for i := range peers + 1 {
			p := &party{ctx: l.open(i)}
			p.pd, _ = p.ctx.AllocPD()
			p.cq, _ = p.ctx.CreateCQ(2*peers, nil)
			p.mr, _ = p.pd.RegisterMemory(verbs.MRParams{Length: 4096, Access: verbs.LocalWrite})
			var err error
			p.qp, err = p.pd.CreateQP(verbs.QPParams{Service: verbs.UD, SendCQ: p.cq, RecvCQ: p.cq, Capacity: verbs.Capacity{SendWR: peers, RecvWR: 4}})
			require.NoError(t, err)
			ready(t, p.qp, verbs.QPAttr{Port: 1, QKey: 5})
			_, err = p.qp.PostRecv(verbs.RecvRequest{SGList: []verbs.SGE{{Addr: p.mr.Addr(), Length: 4096, LKey: p.mr.LKey()}}})
			require.NoError(t, err)
			ends = append(ends, p)
		}
		root := ends[0]
		for i, p := range ends[1:] {
			ah, err := root.pd.CreateAH(verbs.AHAttr{DGID: GIDOf(int32(i + 1)), Port: 1})
			require.NoError(t, err)
			_, err = root.qp.PostSend(verbs.WorkRequest{WRID: uint64(i), Opcode: verbs.OpSendImm, Imm: uint32(i), Signaled: true, AH: ah, RemoteQPN: p.qp.QPN(), RemoteQKey: 5,
				SGList: []verbs.SGE{{Addr: root.mr.Addr(), Length: 1024, LKey: root.mr.LKey()}}})
			require.NoError(t, err)
		}
		l.sleep(sim.Millisecond)
		wc := make([]verbs.WorkCompletion, 2*peers)
		k, _ := root.cq.Poll(wc)
		require.Equal(t, peers, k)
		for i, p := range ends[1:] {
			k, _ := p.cq.Poll(wc)
			require.Equal(t, 1, k)
			require.EqualValues(t, i, wc[0].Imm)
			require.Equal(t, root.qp.QPN(), wc[0].SrcQP)
		}
	})
}
