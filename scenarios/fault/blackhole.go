package fault

import (
	"fmt"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// MTU is a link that silently loses what is longer than its MTU: short messages
// and pings pass, long ones never arrive.
type MTU struct {
	Wire
	MTU sim.Bytes `key:"mtu" required:"true" doc:"longest IP packet that passes, such as 1500B"`
}

var _ = register("mtu", `{link: leaf0-spine0, mtu: 1000B}`, "is an MTU black hole: longer packets are lost without a word", MTU{Wire: anyWire()}, func(f MTU) error {
	if f.MTU < 68 { // RFC 791: every link carries 68 bytes
		return fmt.Errorf("mtu: %v: want at least 68B", f.MTU)
	}
	return f.check()
})

// ethernet is the header and the frame check sequence around an IP packet.
const ethernet = 14 + 4

// Inject puts the fault on its links.
func (f MTU) Inject(c *Context) error {
	return f.inject(c, f, kindsRoCE, func(direction, *sim.Rand) effect {
		return func(_ sim.Time, m *packet.Packet, v *fabric.Verdict) bool {
			if sim.Bytes(m.Size)-ethernet <= f.MTU {
				return false
			}
			v.Drop = "longer than the MTU"
			return true
		}
	})
}

func (f MTU) String() string { return fmt.Sprintf("MTU of %v on %s", f.MTU, f.at()) }

// Blocked is a filter that blocks UDP port 4791: no RoCEv2 packet passes.
type Blocked struct{ Wire }

var _ = register("udp_blocked", `{link: h0-leaf0, to: 100us}`, "is a filter that lets no packet to UDP port 4791 pass", Blocked{Wire: anyWire()}, func(f Blocked) error { return f.check() })

// Inject puts the filter on its links.
func (f Blocked) Inject(c *Context) error {
	return f.inject(c, f, kindsRoCE, func(direction, *sim.Rand) effect {
		return func(_ sim.Time, _ *packet.Packet, v *fabric.Verdict) bool {
			v.Drop = "UDP 4791 blocked"
			return true
		}
	})
}

func (f Blocked) String() string { return "UDP 4791 blocked on " + f.at() }
