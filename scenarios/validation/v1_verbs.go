package validation

import (
	"fmt"

	"rdmasim/verbs"
)

var _ = register("V1", Row{
	Title: "states, attribute masks, statuses and flush order of queue pairs",
	Hard:  true,
	Explain: `Statuses of work completions have the order and names of ibv_wc_status, states those of ibv_qp_state.
Each step of a queue pair to RTS takes the attributes that ibv_modify_qp(3) lists, and is refused without one of them.
After a failure everything is flushed in the order of posting: the first request ends with the reason, the others with
WR_FLUSH, signalled or not, then the receives.
Source: infiniband/verbs.h of rdma-core, ibv_modify_qp(3), InfiniBand Architecture volume 1, 10.3.1 and 10.8.3.`,
	Measure: func(b *Bench) error {
		for _, c := range []struct {
			status verbs.Status
			number int
			name   string
		}{{verbs.StatusSuccess, 0, "SUCCESS"}, {verbs.StatusLocalLength, 1, "LOC_LEN_ERR"}, {verbs.StatusLocalQPOperation, 2, "LOC_QP_OP_ERR"}, {verbs.StatusLocalEECOperation, 3, "LOC_EEC_OP_ERR"},
			{verbs.StatusLocalProtection, 4, "LOC_PROT_ERR"}, {verbs.StatusWRFlush, 5, "WR_FLUSH_ERR"}, {verbs.StatusMWBind, 6, "MW_BIND_ERR"}, {verbs.StatusBadResponse, 7, "BAD_RESP_ERR"},
			{verbs.StatusLocalAccess, 8, "LOC_ACCESS_ERR"}, {verbs.StatusRemoteInvalidRequest, 9, "REM_INV_REQ_ERR"}, {verbs.StatusRemoteAccess, 10, "REM_ACCESS_ERR"},
			{verbs.StatusRemoteOperation, 11, "REM_OP_ERR"}, {verbs.StatusRetryExceeded, 12, "RETRY_EXC_ERR"}, {verbs.StatusRNRRetryExceeded, 13, "RNR_RETRY_EXC_ERR"}, {verbs.StatusGeneral, 21, "GENERAL_ERR"}} {
			b.Exact(fmt.Sprintf("status %d", c.number), fmt.Sprint(c.number, " IBV_WC_", c.name), fmt.Sprint(int(c.status), " ", c.status), "verbs.h")
		}
		b.Exact("states RESET INIT RTR RTS SQD SQE ERR", []int{0, 1, 2, 3, 4, 5, 6},
			[]int{int(verbs.StateReset), int(verbs.StateInit), int(verbs.StateRTR), int(verbs.StateRTS), int(verbs.StateSQD), int(verbs.StateSQE), int(verbs.StateError)}, "verbs.h")
		if err := measureMasks(b); err != nil {
			return err
		}
		return measureFlush(b)
	},
})

// minimumMasks are those of ibv_modify_qp(3), for the steps to INIT, RTR and RTS.
var minimumMasks = []struct {
	service verbs.Service
	masks   [3]string
}{
	{verbs.RC, [3]string{"STATE|ACCESS_FLAGS|PKEY_INDEX|PORT", "STATE|AV|PATH_MTU|RQ_PSN|MIN_RNR_TIMER|MAX_DEST_RD_ATOMIC|DEST_QPN", "STATE|TIMEOUT|RETRY_CNT|RNR_RETRY|MAX_QP_RD_ATOMIC|SQ_PSN"}},
	{verbs.UC, [3]string{"STATE|ACCESS_FLAGS|PKEY_INDEX|PORT", "STATE|AV|PATH_MTU|RQ_PSN|DEST_QPN", "STATE|SQ_PSN"}},
	{verbs.UD, [3]string{"STATE|PKEY_INDEX|PORT|QKEY", "STATE", "STATE|SQ_PSN"}},
}

func measureMasks(b *Bench) error {
	attr := verbs.QPAttr{Port: 1, PathMTU: verbs.MTU1024}
	for _, c := range minimumMasks {
		for i, text := range c.masks {
			from, to := verbs.StateReset+verbs.State(i), verbs.StateInit+verbs.State(i)
			mask, err := verbs.ParseAttrMask(text)
			if err != nil {
				return err
			}
			attr.State = to
			refused, bits := 0, 0
			for bit := verbs.AttrMask(1); bit <= verbs.AttrDestQPN; bit <<= 1 {
				if mask&bit != 0 && bit != verbs.AttrState {
					bits++
					if verbs.CheckModify(c.service, from, &attr, mask&^bit) != nil {
						refused++
					}
				}
			}
			what := fmt.Sprintf("%v, %v to %v", c.service, from, to)
			b.Exact(what+": "+text, "taken", map[bool]string{true: "taken", false: "refused"}[verbs.CheckModify(c.service, from, &attr, mask) == nil], "ibv_modify_qp(3)")
			b.Exact(what+": refused without one of them", bits, refused, "ibv_modify_qp(3)")
		}
	}
	return nil
}

func measureFlush(b *Bench) error {
	d := newDirect(1)
	d.deaf = true
	err := d.run(func(q verbs.QueuePair, w verbs.WorkRequest) error {
		for id := range uint64(2) {
			if _, err := q.PostRecv(verbs.RecvRequest{WRID: 100 + id}); err != nil {
				return err
			}
		}
		for id := range uint64(3) {
			w.WRID, w.Signaled, w.SGList[0].Length = id, id != 1, 8
			if _, err := q.PostSend(w); err != nil {
				return err
			}
		}
		return nil
	})
	b.Exact("peer does not answer: ids of completions", "[0 1 2 100 101]", fmt.Sprint(d.ids), "IBA 10.8.3")
	b.Exact("peer does not answer: statuses", "[RETRY_EXC_ERR WR_FLUSH_ERR WR_FLUSH_ERR WR_FLUSH_ERR WR_FLUSH_ERR]", fmt.Sprint(d.statuses), "IBA 10.8.3")
	return err
}
