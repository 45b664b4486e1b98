package ibv

// The structs of libibverbs as they lie in memory on 64-bit Linux, from
// infiniband/verbs.h of rdma-core 44; the tag gives the C name of a field,
// which a test checks against the header where that is installed. Pointers to C
// are uintptr, so that the collector leaves them alone. Immediate data and GIDs
// are in network byte order.

type qpCap struct {
	MaxSendWR     uint32 `c:"max_send_wr"`
	MaxRecvWR     uint32 `c:"max_recv_wr"`
	MaxSendSGE    uint32 `c:"max_send_sge"`
	MaxRecvSGE    uint32 `c:"max_recv_sge"`
	MaxInlineData uint32 `c:"max_inline_data"`
}

type qpInitAttr struct {
	Context uintptr `c:"qp_context"`
	SendCQ  uintptr `c:"send_cq"`
	RecvCQ  uintptr `c:"recv_cq"`
	SRQ     uintptr `c:"srq"`
	Cap     qpCap   `c:"cap"`
	Type    uint32  `c:"qp_type"`
	SigAll  int32   `c:"sq_sig_all"`
	_       [4]byte
}

type globalRoute struct {
	DGID         [2]uint64 `c:"dgid"` // bytes in network order
	FlowLabel    uint32    `c:"flow_label"`
	SGIDIndex    uint8     `c:"sgid_index"`
	HopLimit     uint8     `c:"hop_limit"`
	TrafficClass uint8     `c:"traffic_class"`
	_            [1]byte
}

type ahAttr struct {
	GRH         globalRoute `c:"grh"`
	DLID        uint16      `c:"dlid"`
	SL          uint8       `c:"sl"`
	SrcPathBits uint8       `c:"src_path_bits"`
	StaticRate  uint8       `c:"static_rate"`
	IsGlobal    uint8       `c:"is_global"`
	PortNum     uint8       `c:"port_num"`
	_           [1]byte
}

type qpAttr struct {
	State           uint32 `c:"qp_state"`
	CurState        uint32 `c:"cur_qp_state"`
	PathMTU         uint32 `c:"path_mtu"`
	PathMigState    uint32 `c:"path_mig_state"`
	QKey            uint32 `c:"qkey"`
	RQPSN           uint32 `c:"rq_psn"`
	SQPSN           uint32 `c:"sq_psn"`
	DestQPN         uint32 `c:"dest_qp_num"`
	AccessFlags     uint32 `c:"qp_access_flags"`
	Cap             qpCap  `c:"cap"`
	AH              ahAttr `c:"ah_attr"`
	AltAH           ahAttr `c:"alt_ah_attr"`
	PKeyIndex       uint16 `c:"pkey_index"`
	AltPKeyIndex    uint16 `c:"alt_pkey_index"`
	SQDAsync        uint8  `c:"en_sqd_async_notify"`
	SQDraining      uint8  `c:"sq_draining"`
	MaxRDAtomic     uint8  `c:"max_rd_atomic"`
	MaxDestRDAtomic uint8  `c:"max_dest_rd_atomic"`
	MinRNRTimer     uint8  `c:"min_rnr_timer"`
	PortNum         uint8  `c:"port_num"`
	Timeout         uint8  `c:"timeout"`
	RetryCount      uint8  `c:"retry_cnt"`
	RNRRetry        uint8  `c:"rnr_retry"`
	AltPortNum      uint8  `c:"alt_port_num"`
	AltTimeout      uint8  `c:"alt_timeout"`
	RateLimit       uint32 `c:"rate_limit"`
}

type sge struct {
	Addr   uint64 `c:"addr"`
	Length uint32 `c:"length"`
	LKey   uint32 `c:"lkey"`
}

// sendWR is ibv_send_wr. Words holds the union wr: RDMA {remote_addr, rkey},
// atomic {remote_addr, compare_add, swap, rkey}, datagram {ah, qpn | qkey<<32}.
type sendWR struct {
	ID     uint64    `c:"wr_id"`
	Next   uintptr   `c:"next"`
	SGList uintptr   `c:"sg_list"`
	NumSGE int32     `c:"num_sge"`
	Opcode uint32    `c:"opcode"`
	Flags  uint32    `c:"send_flags"`
	Imm    uint32    `c:"imm_data"`
	Words  [4]uint64 `c:"wr"`
	SRQN   uint32    `c:"qp_type"`
	Rest   [6]uint64 `c:"bind_mw"`
}

type recvWR struct {
	ID     uint64  `c:"wr_id"`
	Next   uintptr `c:"next"`
	SGList uintptr `c:"sg_list"`
	NumSGE int32   `c:"num_sge"`
	_      [4]byte
}

type workCompletion struct {
	ID        uint64 `c:"wr_id"`
	Status    uint32 `c:"status"`
	Opcode    uint32 `c:"opcode"`
	VendorErr uint32 `c:"vendor_err"`
	ByteLen   uint32 `c:"byte_len"`
	Imm       uint32 `c:"imm_data"`
	QPNum     uint32 `c:"qp_num"`
	SrcQP     uint32 `c:"src_qp"`
	Flags     uint32 `c:"wc_flags"`
	PKeyIndex uint16 `c:"pkey_index"`
	SLID      uint16 `c:"slid"`
	SL        uint8  `c:"sl"`
	PathBits  uint8  `c:"dlid_path_bits"`
	_         [2]byte
}

type portAttr struct {
	State       uint32 `c:"state"`
	MaxMTU      uint32 `c:"max_mtu"`
	ActiveMTU   uint32 `c:"active_mtu"`
	GIDs        int32  `c:"gid_tbl_len"`
	CapFlags    uint32 `c:"port_cap_flags"`
	MaxMsg      uint32 `c:"max_msg_sz"`
	BadPKey     uint32 `c:"bad_pkey_cntr"`
	BadQKey     uint32 `c:"qkey_viol_cntr"`
	PKeys       uint16 `c:"pkey_tbl_len"`
	LID         uint16 `c:"lid"`
	SMLID       uint16 `c:"sm_lid"`
	LMC         uint8  `c:"lmc"`
	MaxVL       uint8  `c:"max_vl_num"`
	SMSL        uint8  `c:"sm_sl"`
	Timeout     uint8  `c:"subnet_timeout"`
	InitType    uint8  `c:"init_type_reply"`
	ActiveWidth uint8  `c:"active_width"`
	ActiveSpeed uint8  `c:"active_speed"`
	PhysState   uint8  `c:"phys_state"`
	LinkLayer   uint8  `c:"link_layer"`
	Flags       uint8  `c:"flags"`
	CapFlags2   uint16 `c:"port_cap_flags2"`
	_           [2]byte
}

type deviceAttr struct {
	FirmwareVersion [64]byte `c:"fw_ver"`
	NodeGUID        uint64   `c:"node_guid"`
	SystemGUID      uint64   `c:"sys_image_guid"`
	MaxMRSize       uint64   `c:"max_mr_size"`
	PageSizes       uint64   `c:"page_size_cap"`
	VendorID        uint32   `c:"vendor_id"`
	VendorPart      uint32   `c:"vendor_part_id"`
	HardwareVersion uint32   `c:"hw_ver"`
	MaxQP           int32    `c:"max_qp"`
	MaxQPWR         int32    `c:"max_qp_wr"`
	CapFlags        uint32   `c:"device_cap_flags"`
	MaxSGE          int32    `c:"max_sge"`
	MaxSGERead      int32    `c:"max_sge_rd"`
	MaxCQ           int32    `c:"max_cq"`
	MaxCQE          int32    `c:"max_cqe"`
	MaxMR           int32    `c:"max_mr"`
	MaxPD           int32    `c:"max_pd"`
	MaxQPRDAtomic   int32    `c:"max_qp_rd_atom"`
	MaxEERDAtomic   int32    `c:"max_ee_rd_atom"`
	MaxResRDAtomic  int32    `c:"max_res_rd_atom"`
	MaxQPInitRD     int32    `c:"max_qp_init_rd_atom"`
	MaxEEInitRD     int32    `c:"max_ee_init_rd_atom"`
	AtomicCap       uint32   `c:"atomic_cap"`
	MaxEE           int32    `c:"max_ee"`
	MaxRDD          int32    `c:"max_rdd"`
	MaxMW           int32    `c:"max_mw"`
	MaxRawIPv6      int32    `c:"max_raw_ipv6_qp"`
	MaxRawEthernet  int32    `c:"max_raw_ethy_qp"`
	MaxMulticast    int32    `c:"max_mcast_grp"`
	MaxMulticastQP  int32    `c:"max_mcast_qp_attach"`
	MaxMulticastAll int32    `c:"max_total_mcast_qp_attach"`
	MaxAH           int32    `c:"max_ah"`
	MaxFMR          int32    `c:"max_fmr"`
	MaxMapPerFMR    int32    `c:"max_map_per_fmr"`
	MaxSRQ          int32    `c:"max_srq"`
	MaxSRQWR        int32    `c:"max_srq_wr"`
	MaxSRQSGE       int32    `c:"max_srq_sge"`
	MaxPKeys        uint16   `c:"max_pkeys"`
	LocalCAAckDelay uint8    `c:"local_ca_ack_delay"`
	PhysicalPorts   uint8    `c:"phys_port_cnt"`
}

type srqInitAttr struct {
	Context uintptr `c:"srq_context"`
	MaxWR   uint32  `c:"attr.max_wr"`
	MaxSGE  uint32  `c:"attr.max_sge"`
	Limit   uint32  `c:"attr.srq_limit"`
	_       [4]byte
}

type asyncEvent struct {
	Element uintptr `c:"element"`
	Type    uint32  `c:"event_type"`
	_       [4]byte
}

// Heads of the objects that the library allocates: only what is read here.

type objContext struct {
	Device      uintptr     `c:"device"`
	Ops         [32]uintptr `c:"ops"`
	CmdFD       int32       `c:"cmd_fd"`
	AsyncFD     int32       `c:"async_fd"`
	CompVectors int32       `c:"num_comp_vectors"`
}

// Indices of the function pointers in ibv_context_ops that are used.
const (
	opPollCQ      = 11
	opReqNotifyCQ = 12
	opPostSRQRecv = 20
	opPostSend    = 25
	opPostRecv    = 26
)

type objQP struct {
	Context   uintptr `c:"context"`
	QPContext uintptr `c:"qp_context"`
	PD        uintptr `c:"pd"`
	SendCQ    uintptr `c:"send_cq"`
	RecvCQ    uintptr `c:"recv_cq"`
	SRQ       uintptr `c:"srq"`
	Handle    uint32  `c:"handle"`
	Number    uint32  `c:"qp_num"`
	State     uint32  `c:"state"`
	Type      uint32  `c:"qp_type"`
}

type objCQ struct {
	Context   uintptr `c:"context"`
	Channel   uintptr `c:"channel"`
	CQContext uintptr `c:"cq_context"`
	Handle    uint32  `c:"handle"`
	CQE       int32   `c:"cqe"`
}

type objMR struct {
	Context uintptr `c:"context"`
	PD      uintptr `c:"pd"`
	Addr    uintptr `c:"addr"`
	Length  uint64  `c:"length"`
	Handle  uint32  `c:"handle"`
	LKey    uint32  `c:"lkey"`
	RKey    uint32  `c:"rkey"`
}

type objChannel struct {
	Context uintptr `c:"context"`
	FD      int32   `c:"fd"`
	RefCnt  int32   `c:"refcnt"`
}
