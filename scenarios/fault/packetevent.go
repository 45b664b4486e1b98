package fault

import (
	"fmt"
	"slices"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/fabric/topology"
	"rdmasim/sim"
	"rdmasim/verbs/simnic"
)

// PacketEvent does something to exactly named data packets, as the test tool
// Lumina does in its switch (Yu et al., SIGCOMM'23): which queue pair, which
// packet of it, and at which of its transmissions.
type PacketEvent struct {
	Host  string       `key:"host" required:"true" doc:"that sends the packets"`
	QP    int          `key:"qp" range:"1..65535" doc:"queue pair of the host, numbered from 1 in the order in which they are made"`
	PSN   []int64      `key:"psn" required:"true" range:"0..16777215" doc:"packets, numbered from 0, the first packet of the queue pair"`
	Nth   int          `key:"nth" range:"0..1000000" doc:"transmission of the packet: 1 = the first, 2 = the first time that it is sent again; 0 = every"`
	Do    string       `key:"do" oneof:"drop,ce,corrupt,delay" doc:"lose it, mark it as having met congestion, break its ICRC, or hold it back"`
	Delay sim.Duration `key:"delay" doc:"of do: delay"`
	When
}

var _ = register("packet", `{host: h0, qp: 1, psn: [3], do: drop}`, "does something to exactly named packets", PacketEvent{QP: 1, Nth: 1, Do: "drop"}, func(f PacketEvent) error {
	if err := required("host", f.Host, "the name of a host"); err != nil {
		return err
	}
	switch {
	case len(f.PSN) == 0:
		return fmt.Errorf("psn: is missing: want a list of packets, numbered from 0")
	case f.QP < 1 || f.QP > 65535:
		return fmt.Errorf("qp: %d: want 1..65535", f.QP)
	case f.Nth < 0:
		return fmt.Errorf("nth: %d: want 0 or more", f.Nth)
	case !slices.Contains([]string{"drop", "ce", "corrupt", "delay"}, f.Do):
		return fmt.Errorf("do: %s: want drop, ce, corrupt or delay", f.Do)
	case (f.Do == "delay") != (f.Delay > 0):
		return fmt.Errorf("delay: %v: belongs to do: delay, and must be more than 0s there", f.Delay)
	}
	for _, n := range f.PSN {
		if n < 0 || n > 1<<24-1 {
			return fmt.Errorf("psn: %d: want 0..%d", n, 1<<24-1)
		}
	}
	return nil
})

// Inject puts the event on the links of its host.
func (f PacketEvent) Inject(c *Context) error {
	node, ok := c.Graph.Find(f.Host)
	if !ok || c.Graph.Nodes[node].Kind != topology.Host {
		return fmt.Errorf("host: %s: there is none: there are %s", f.Host, c.places("host"))
	}
	psn := slices.Clone(f.PSN)
	slices.Sort(psn)
	psn = slices.Compact(psn)
	times := make([]int, len(psn)) // that each was sent
	wire := simnic.WireQPN(f.QP)
	n := c.counter()
	event := tamperFunc(func(now sim.Time, m *packet.Packet, v *fabric.Verdict) {
		if m.Kind != packet.Data || m.SrcQP&^packet.AcceptedQP != wire {
			return
		}
		i, ok := slices.BinarySearch(psn, int64(m.PSN))
		if !ok {
			return
		}
		if times[i]++; f.Nth > 0 && times[i] != f.Nth || !f.Active(now) || v.Drop != "" {
			return
		}
		switch f.Do {
		case "drop":
			v.Drop = "packet event"
		case "corrupt":
			m.Kind = packet.Corrupt
		case "delay":
			v.Delay += f.Delay
		case "ce":
			m.ECN = packet.CE // whatever it was: the event writes the field, as Lumina's switch does
		}
		*n++
	})
	for p := range c.Ports.Of(node) {
		c.tamper(direction{node, p}, event)
	}
	c.tell(node, f)
	return nil
}

func (f PacketEvent) String() string {
	return fmt.Sprintf("%s of packets of %s/qp%d", f.Do, f.Host, f.QP)
}
