package fault

import (
	"fmt"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// Corrupt changes a bit behind the addresses of a packet, with a frame check
// sequence that fits, as a switch with bad memory or tc-netem does: the packet
// crosses the fabric, and the NIC at its end finds that the ICRC does not hold.
type Corrupt struct {
	Wire
	Probability sim.Ratio `key:"probability" doc:"share of the packets that are broken"`
	Correlation sim.Ratio `key:"correlation" doc:"of the fate of a packet with that of the one before"`
}

var _ = register("corrupt", `{link: h0-leaf0, probability: 1%}`, "breaks packets, which their receiver discards since the ICRC does not hold",
	Corrupt{Wire: anyWire()}, func(f Corrupt) error {
		if err := f.check(); err != nil {
			return err
		}
		if f.Only.bits(0)&kindsPFC != 0 {
			return fmt.Errorf("only: pause frames have no ICRC: see bit_errors, which breaks frames of every kind")
		}
		if f.Probability == 0 {
			return fmt.Errorf("probability: is missing: want a share of the packets, such as 1%%")
		}
		if err := probability("probability", f.Probability); err != nil {
			return err
		}
		return probability("correlation", f.Correlation)
	})

// Inject puts the fault on its links.
func (f Corrupt) Inject(c *Context) error {
	return f.inject(c, f, kindsRoCE, func(_ direction, r *sim.Rand) effect {
		k := chance{share: float64(f.Probability), correlation: float64(f.Correlation), rand: r}
		return func(_ sim.Time, m *packet.Packet, _ *fabric.Verdict) bool {
			broken := k.draw()
			if broken {
				m.Kind = packet.Corrupt
			}
			return broken
		}
	})
}

func (f Corrupt) String() string {
	return fmt.Sprintf("%s of the packets broken on %s", percent(f.Probability), f.at())
}
