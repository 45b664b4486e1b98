package verbstest

import (
	"fmt"

	"rdmasim/sim"
	"rdmasim/verbs"

	"github.com/stretchr/testify/require"
)

// service is a number that nobody else listens on.
const service = 7471

// params are those of a connection.
func (b *bench) params(private string) verbs.CMParams {
	return verbs.CMParams{Private: []byte(private), ResponderResources: 1, Depth: 1, RetryCount: 6, RNRRetry: verbs.InfiniteRNR, AckTimeout: b.p.AckTimeout, MinRNRTimer: 1}
}

// event waits for the next event of a manager.
func (b *bench) event(m verbs.ConnectionManager) verbs.CMEvent {
	step := max(b.p.Patience/2000, 1)
	for spent := sim.Duration(0); spent < b.p.Patience; spent += step {
		if e, ok := m.Event(); ok {
			return e
		}
		b.w.Sleep(step)
	}
	require.FailNow(b, "no event of connection management")
	return verbs.CMEvent{}
}

// managed returns two ends with their managers, nil where there is none.
func (b *bench) managed() (x, y *end, mx, my verbs.ConnectionManager) {
	x, y = b.open(0, verbs.QPParams{Service: verbs.RC}), b.open(1, verbs.QPParams{Service: verbs.RC})
	mx, my = b.w.Manager(x.ctx), b.w.Manager(y.ctx)
	if mx == nil || my == nil {
		b.Skip("the provider has no connection management")
	}
	return x, y, mx, my
}

var _ = add("connect and accept make both queue pairs ready and carry private data", func(b *bench) {
	x, y, mx, my := b.managed()
	require.NoError(b, my.Listen(service))
	_, err := mx.Connect(y.gid, service, x.qp, b.params("hello"))
	require.NoError(b, err)
	ask := b.event(my)
	require.Equal(b, verbs.CMConnectRequest, ask.Kind)
	require.Equal(b, "hello", string(ask.Private[:5]))
	require.NoError(b, ask.ID.Accept(y.qp, b.params("welcome")))
	up := b.event(mx)
	require.Equal(b, verbs.CMEstablished, up.Kind)
	require.Equal(b, "welcome", string(up.Private[:7]))
	require.Equal(b, verbs.CMEstablished, b.event(my).Kind)
	want := x.fill(0, 5000, 1)
	x.post(verbs.WorkRequest{Opcode: verbs.OpWrite, SGList: []verbs.SGE{x.piece(0, 5000)}, RemoteAddr: y.mr.Addr(), RKey: y.mr.RKey()})
	require.Equal(b, verbs.StatusSuccess, x.wait(1)[0].Status)
	require.Equal(b, want, y.mr.Bytes()[:5000])
	require.NoError(b, up.ID.Disconnect())
	require.Equal(b, verbs.CMDisconnected, b.event(my).Kind)
	require.Equal(b, verbs.StateError, x.qp.State())
	require.Equal(b, verbs.StateError, y.qp.State())
})

var _ = add("a request can be rejected, with a reason", func(b *bench) {
	x, y, mx, my := b.managed()
	require.NoError(b, my.Listen(service))
	_, err := mx.Connect(y.gid, service, x.qp, b.params(""))
	require.NoError(b, err)
	require.NoError(b, b.event(my).ID.Reject([]byte("full")))
	e := b.event(mx)
	require.Equal(b, verbs.CMRejected, e.Kind)
	require.Equal(b, verbs.RejectByConsumer, e.Status)
	require.Equal(b, "full", string(e.Private[:4]))
})

var _ = add("a service that nobody listens on rejects", func(b *bench) {
	x, y, mx, _ := b.managed()
	_, err := mx.Connect(y.gid, service+1, x.qp, b.params(""))
	require.NoError(b, err)
	e := b.event(mx)
	require.Equal(b, verbs.CMRejected, e.Kind)
	require.Equal(b, verbs.RejectInvalidService, e.Status)
})

var _ = add("a storm of connections is served, every one to its own queue pair", func(b *bench) {
	const storm = 60
	x, y, mx, my := b.managed()
	require.NoError(b, my.Listen(service))
	for i := range storm {
		_, err := mx.Connect(y.gid, service, x.create(verbs.QPParams{Service: verbs.RC}), b.params(fmt.Sprintf("%03d", i)))
		require.NoError(b, err)
	}
	pairs := map[string]verbs.QueuePair{}
	for range storm {
		e := b.event(my)
		for e.Kind == verbs.CMEstablished {
			e = b.event(my)
		}
		require.Equal(b, verbs.CMConnectRequest, e.Kind)
		q := y.create(verbs.QPParams{Service: verbs.RC})
		pairs[string(e.Private[:3])] = q
		require.NoError(b, e.ID.Accept(q, b.params(string(e.Private[:3]))))
	}
	require.Len(b, pairs, storm)
	for range storm {
		e := b.event(mx)
		require.Equal(b, verbs.CMEstablished, e.Kind)
		require.Equal(b, pairs[string(e.Private[:3])].QPN(), e.ID.QP().Query().DestQPN)
	}
})
