package verbs

import (
	"fmt"
	"math/bits"
	"strings"
)

// AttrMask says which fields of QPAttr a call means, ibv_qp_attr_mask with its
// values.
type AttrMask uint32

// Bits of AttrMask.
const (
	AttrState         AttrMask = 1 << iota // State
	AttrCurState                           // CurState
	AttrSQDNotify                          // an event tells when the send queue has drained
	AttrAccess                             // Access
	AttrPKeyIndex                          // PKeyIndex
	AttrPort                               // Port
	AttrQKey                               // QKey
	AttrAV                                 // AH
	AttrPathMTU                            // PathMTU
	AttrTimeout                            // Timeout
	AttrRetryCount                         // RetryCount
	AttrRNRRetry                           // RNRRetry
	AttrRQPSN                              // RQPSN
	AttrMaxRDAtomic                        // MaxRDAtomic
	AttrAltPath                            // alternate path; no RoCE provider has one
	AttrMinRNRTimer                        // MinRNRTimer
	AttrSQPSN                              // SQPSN
	AttrMaxDestRD                          // MaxDestRDAtomic
	AttrPathMigration                      // path migration state
	AttrCapacity                           // Capacity
	AttrDestQPN                            // DestQPN
)

var attrNames = [...]string{"STATE", "CUR_STATE", "EN_SQD_ASYNC_NOTIFY", "ACCESS_FLAGS", "PKEY_INDEX", "PORT", "QKEY", "AV", "PATH_MTU",
	"TIMEOUT", "RETRY_CNT", "RNR_RETRY", "RQ_PSN", "MAX_QP_RD_ATOMIC", "ALT_PATH", "MIN_RNR_TIMER", "SQ_PSN", "MAX_DEST_RD_ATOMIC",
	"PATH_MIG_STATE", "CAP", "DEST_QPN"}

// String lists the bits by the names of libibverbs without IBV_QP_.
func (m AttrMask) String() string {
	var s []string
	for r := uint32(m); r != 0; r &= r - 1 {
		if i := bits.TrailingZeros32(r); i < len(attrNames) {
			s = append(s, attrNames[i])
		} else {
			s = append(s, fmt.Sprintf("1<<%d", i))
		}
	}
	return strings.Join(s, "|")
}

// ParseAttrMask reads what String prints.
func ParseAttrMask(s string) (m AttrMask, err error) {
next:
	for _, f := range strings.Split(s, "|") {
		for i, n := range attrNames {
			if f == n {
				m |= 1 << i
				continue next
			}
		}
		return 0, fmt.Errorf("unknown attribute %q: want %s", f, strings.Join(attrNames[:], " "))
	}
	return m, nil
}

// QPAttr are the attributes of a queue pair, ibv_qp_attr.
type QPAttr struct {
	State           State
	CurState        State
	Access          Access
	PKeyIndex       uint16
	Port            uint8 // from 1
	QKey            uint32
	AH              AHAttr
	PathMTU         MTU
	Timeout         uint8 // local ACK timeout code, 0..31
	RetryCount      uint8 // 0..7
	RNRRetry        uint8 // 0..7, 7 = for ever
	RQPSN, SQPSN    uint32
	MaxRDAtomic     uint8 // READs and atomics outstanding as requester
	MaxDestRDAtomic uint8 // ... and as responder
	MinRNRTimer     uint8 // RNR NAK timer code, 0..31
	DestQPN         uint32
	Capacity        Capacity
}

// Capacity is the room of a queue pair, ibv_qp_cap. A provider may give more
// than was asked for and returns what it gave.
type Capacity struct {
	SendWR, RecvWR   int // requests
	SendSGE, RecvSGE int // pieces of memory per request
	Inline           int // bytes
}

// Access are the rights of a memory region or of a queue pair's responder,
// ibv_access_flags with its values.
type Access uint32

// Rights.
const (
	LocalWrite      Access = 1 << 0
	RemoteWrite     Access = 1 << 1
	RemoteRead      Access = 1 << 2
	RemoteAtomic    Access = 1 << 3
	MWBind          Access = 1 << 4
	ZeroBased       Access = 1 << 5
	OnDemand        Access = 1 << 6
	HugePages       Access = 1 << 7
	RelaxedOrdering Access = 1 << 20
)

// Valid reports whether rights may be given together: remote write and remote
// atomic need local write. Source: ibv_reg_mr(3).
func (a Access) Valid() bool {
	const known = LocalWrite | RemoteWrite | RemoteRead | RemoteAtomic | MWBind | ZeroBased | OnDemand | HugePages | RelaxedOrdering
	return a&^known == 0 && (a&(RemoteWrite|RemoteAtomic) == 0 || a&LocalWrite != 0)
}
