package packet

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A packet and a time share a cache line: the engine's speed rests on it.
func TestPacketFitsACacheLine(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(Packet{}), uintptr(56))
}
