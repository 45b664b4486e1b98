package capture

import "encoding/binary"

// MAC control frames.
const (
	EtherTypeMACControl = 0x8808
	opcodePause         = 0x0001 // 802.3x, IEEE 802.3 annex 31B
	opcodePFC           = 0x0101 // IEEE 802.1Qbb, IEEE 802.3 annex 31D
	sizePause           = 4      // opcode and time
	sizePFC             = 20     // opcode, vector, eight times
	// minFrame is the shortest Ethernet frame without its FCS.
	minFrame = 60
)

// PauseDestination is the group address of MAC control frames.
var PauseDestination = [6]byte{0x01, 0x80, 0xc2, 0, 0, 1}

// Pause is a MAC control frame that stops a link (802.3x) or classes of it (PFC).
type Pause struct {
	Priority bool      // PFC; else 802.3x, for all classes
	Classes  uint8     // class-enable vector: classes that Quanta speaks of
	Quanta   [8]uint16 // by class, in units of 512 bit times; 0 lets go on. 802.3x: the first
}

// decode reads what follows the EtherType.
func (h *Pause) decode(b []byte) bool {
	*h = Pause{}
	if len(b) < sizePause {
		return false
	}
	switch binary.BigEndian.Uint16(b) {
	case opcodePause:
		h.Quanta[0] = binary.BigEndian.Uint16(b[2:])
		return true
	case opcodePFC:
		if len(b) < sizePFC {
			return false
		}
		h.Priority, h.Classes = true, b[3]
		for i := range h.Quanta {
			h.Quanta[i] = binary.BigEndian.Uint16(b[4+2*i:])
		}
		return true
	}
	return false
}

// size returns the length without padding, EtherType excluded.
func (h *Pause) size() int {
	if h.Priority {
		return sizePFC
	}
	return sizePause
}

// encode writes size bytes.
func (h *Pause) encode(b []byte) {
	if !h.Priority {
		binary.BigEndian.PutUint16(b, opcodePause)
		binary.BigEndian.PutUint16(b[2:], h.Quanta[0])
		return
	}
	binary.BigEndian.PutUint16(b, opcodePFC)
	b[2], b[3] = 0, h.Classes
	for i, q := range h.Quanta {
		binary.BigEndian.PutUint16(b[4+2*i:], q)
	}
}
