package validation

import (
	"fmt"

	"rdmasim/verbs"
)

var _ = register("V1", Row{
	Title: "completion statuses and states of queue pairs",
	Hard:  true,
	Explain: `Statuses of work completions have the order and names of ibv_wc_status, states those of ibv_qp_state.
What is not shown yet: attribute masks of ibv_modify_qp, and the order in which a queue pair in error flushes.
Source: infiniband/verbs.h of rdma-core.`,
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
		return nil
	},
})
