package ibv

import (
	"encoding/binary"

	"rdmasim/verbs"
)

// gidWords lays the bytes of a GID into the words of the struct.
func gidWords(g verbs.GID) [2]uint64 {
	return [2]uint64{binary.NativeEndian.Uint64(g[:8]), binary.NativeEndian.Uint64(g[8:])}
}

func gidBytes(w [2]uint64) (g verbs.GID) {
	binary.NativeEndian.PutUint64(g[:8], w[0])
	binary.NativeEndian.PutUint64(g[8:], w[1])
	return g
}

// networkOrder turns immediate data from host to network order, or back.
func networkOrder(v uint32) uint32 {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], v)
	return binary.NativeEndian.Uint32(b[:])
}
