package verbs

// MemoryWindow gives one queue pair's peer access to a part of a region for as
// long as it is bound, ibv_mw of type 2. It is bound by OpBindMW, and freed for
// another binding by OpLocalInv or by the peer's OpSendInv. Source: InfiniBand
// Architecture, volume 1, section 10.6.7.2; ibv_alloc_mw(3).
type MemoryWindow interface {
	// RKey returns the key of the window, which every binding changes.
	RKey() uint32
	// Dealloc ends the window and its binding.
	Dealloc() error
}

// WindowBind says how a window is bound, ibv_mw_bind_info. A binding that may not be
// ends its request with StatusMWBind: the window is bound already or is of
// another domain, the region does not allow windows (MWBind), or the range, the
// rights (remote writes and atomics need local write) or the key do not fit.
type WindowBind struct {
	MW     MemoryWindow
	MR     MemoryRegion
	RKey   uint32 // that the window gets: NextRKey of its present one
	Addr   uint64
	Length uint64 // more than 0
	Access Access // RemoteRead, RemoteWrite, RemoteAtomic
}

// NextRKey returns the key after another of the same window: the lowest byte is
// the program's, ibv_inc_rkey.
func NextRKey(key uint32) uint32 { return key&^0xff | (key+1)&0xff }
