//go:build linux && (amd64 || arm64)

package ibv

import (
	"fmt"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"
)

func TestRawPost(t *testing.T) {
	l, err := load()
	require.NoError(t, err)
	var n int32
	list, err := call("ibv_get_device_list", l.getDeviceList, address(&n))
	if err != nil || n == 0 {
		t.Skip("no device", err)
	}
	ptrs := unsafe.Slice((*uintptr)(pointer(list)), int(n))
	for _, p := range ptrs {
		nm, _ := call("name", l.getDeviceName, p)
		fmt.Println(goString(nm))
	}
	ctx, err := call("open", l.openDevice, ptrs[0])
	require.NoError(t, err)
	pd, err := call("pd", l.allocPD, ctx)
	require.NoError(t, err)
	m, err := NewMemory(8192, false)
	require.NoError(t, err)
	mr, err := call("mr", l.regMR, pd, m.Addr(), 8192, 0xf)
	require.NoError(t, err)
	M := at[objMR](mr)
	fmt.Printf("lkey %x rkey %x len %d\n", M.LKey, M.RKey, M.Length)
	cq, err := call("cq", l.createCQ, ctx, 128, 0, 0, 0)
	require.NoError(t, err)
	ia := &qpInitAttr{SendCQ: cq, RecvCQ: cq, Cap: qpCap{100, 100, 1, 1, 64}, Type: 2}
	qp, err := call("qp", l.createQP, pd, address(ia))
	require.NoError(t, err)
	fmt.Printf("caps %+v\n", ia.Cap)
	Q := at[objQP](qp)
	gid := &[2]uint64{}
	require.NoError(t, status("gid", l.queryGID, ctx, 1, 1, address(gid)))
	mod := func(a *qpAttr, mask uintptr) { require.NoError(t, status("modify", l.modifyQP, qp, address(a), mask)) }
	mod(&qpAttr{State: 1, PortNum: 1, AccessFlags: 0xf}, 1|8|16|32)
	ah := ahAttr{GRH: globalRoute{DGID: *gid, SGIDIndex: 1, HopLimit: 64}, IsGlobal: 1, PortNum: 1}
	mod(&qpAttr{State: 2, PathMTU: 3, DestQPN: Q.Number, RQPSN: 7, MaxDestRDAtomic: 1, MinRNRTimer: 12, AH: ah}, 1|1<<7|1<<8|1<<20|1<<12|1<<17|1<<15)
	mod(&qpAttr{State: 3, SQPSN: 7, Timeout: 18, RetryCount: 6, RNRRetry: 6, MaxRDAtomic: 1}, 1|1<<16|1<<9|1<<10|1<<11|1<<13)
	copy(m.Bytes, "hello verbs")
	wr, _, _ := arenaOf[sendWR](1)
	sg, _, _ := arenaOf[sge](1)
	bad, _, _ := arenaOf[uintptr](1)
	wc, _, _ := arenaOf[workCompletion](16)
	sg[0] = sge{Addr: uint64(m.Addr()), Length: 64, LKey: M.LKey}
	wr[0] = sendWR{ID: 42, SGList: address(&sg[0]), NumSGE: 1, Opcode: 0, Flags: 2, Words: [4]uint64{uint64(m.Addr()) + 4096, uint64(M.RKey)}}
	ops := at[objContext](ctx).Ops
	start := time.Now()
	for i := 0; i < 100; i++ {
		require.NoError(t, status("post", ops[opPostSend], qp, address(&wr[0]), address(&bad[0])))
	}
	fmt.Println("post", time.Since(start)/100)
	got := 0
	for d := time.Now(); got < 100 && time.Since(d) < 5*time.Second; {
		r, _, _ := purego.SyscallN(ops[opPollCQ], cq, 16, address(&wc[0]))
		for i := 0; i < int(int32(r)); i++ {
			require.Zero(t, wc[i].Status)
			got++
		}
		if r == 0 {
			runtime.Gosched()
			time.Sleep(time.Millisecond)
		}
	}
	fmt.Println("completions", got, string(m.Bytes[4096:4096+11]), wc[0])
	start = time.Now()
	for i := 0; i < 10000; i++ {
		purego.SyscallN(ops[opPollCQ], cq, 16, address(&wc[0]))
	}
	fmt.Println("poll", time.Since(start)/10000)
}
