package verbs

import "fmt"

// Status is the result of a work request, ibv_wc_status, in its order.
type Status uint8

// Completion statuses.
const (
	StatusSuccess Status = iota
	StatusLocalLength
	StatusLocalQPOperation
	StatusLocalEECOperation
	StatusLocalProtection
	StatusWRFlush
	StatusMWBind
	StatusBadResponse
	StatusLocalAccess
	StatusRemoteInvalidRequest
	StatusRemoteAccess
	StatusRemoteOperation
	StatusRetryExceeded
	StatusRNRRetryExceeded
	StatusLocalRDDViolation
	StatusRemoteInvalidRD
	StatusRemoteAborted
	StatusInvalidEECN
	StatusInvalidEECState
	StatusFatal
	StatusResponseTimeout
	StatusGeneral
	StatusTagMatching           // of devices that match tags
	StatusTagMatchingIncomplete // ... and found the first part of a message only
)

var statusNames = [...]string{"SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR",
	"MW_BIND_ERR", "BAD_RESP_ERR", "LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR", "REM_OP_ERR", "RETRY_EXC_ERR",
	"RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR", "REM_ABORT_ERR", "INV_EECN_ERR", "INV_EEC_STATE_ERR",
	"FATAL_ERR", "RESP_TIMEOUT_ERR", "GENERAL_ERR", "TM_ERR", "TM_RNDV_INCOMPLETE"}

// String returns the name that libibverbs prints, such as IBV_WC_RETRY_EXC_ERR.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return "IBV_WC_" + statusNames[s]
	}
	return fmt.Sprintf("IBV_WC_%d", uint8(s))
}
