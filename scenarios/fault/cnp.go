package fault

import (
	"fmt"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// CNP is congestion notification that fails: CNPs of a host are lost, late, or
// travel in the class of the data that they should slow down.
type CNP struct {
	Host        string       `key:"host" required:"true" doc:"whose CNPs, a name or a pattern"`
	Probability sim.Ratio    `key:"probability" doc:"share of the CNPs that are lost"`
	Delay       sim.Duration `key:"delay" doc:"by which they are late"`
	Priority    int          `key:"priority" range:"-1..7" doc:"that they are sent with; -1 = as configured"`
	DSCP        int          `key:"dscp" range:"-1..63" doc:"that they carry; -1 = as configured"`
	When
}

var _ = register("cnp", `{host: "*", probability: 50%}`, "lets CNPs be lost, late, or in the wrong class", CNP{Priority: -1, DSCP: -1}, func(f CNP) error {
	if err := required("host", f.Host, "a name or a pattern"); err != nil {
		return err
	}
	if f.Probability == 0 && f.Delay == 0 && f.Priority < 0 && f.DSCP < 0 {
		return fmt.Errorf("probability: changes nothing: give probability, delay, or priority and dscp")
	}
	if f.Priority > 7 || f.DSCP > 63 {
		return fmt.Errorf("priority: want 0..7, and a dscp of 0..63")
	}
	return probability("probability", f.Probability)
})

// Inject lets the CNPs of its hosts fail.
func (f CNP) Inject(c *Context) error {
	list, err := c.nodes("host", f.Host, topology.Host)
	if err != nil {
		return err
	}
	for _, node := range list {
		n := c.NICs[node]
		prio, dscp := n.CNPClass()
		c.on(node, f.When, func(on bool, _ sim.Time) {
			p, d := prio, dscp
			if on && f.Priority >= 0 {
				p = uint8(f.Priority)
			}
			if on && f.DSCP >= 0 {
				d = uint8(f.DSCP)
			}
			n.SetCNPClass(p, d)
		})
		for p := range c.Ports.Of(node) {
			d := direction{node, p}
			r, n := c.rand(c.portName(d)), c.counter()
			moved := f.Priority >= 0 || f.DSCP >= 0
			c.tamper(d, tamperFunc(func(now sim.Time, m *packet.Packet, v *fabric.Verdict) {
				if m.Kind != packet.CNP || !f.Active(now) || v.Drop != "" {
					return
				}
				if f.Probability > 0 && r.Float64() < float64(f.Probability) {
					v.Drop = "CNP lost"
					*n++
					return
				}
				v.Delay += f.Delay
				if f.Delay > 0 || moved {
					*n++
				}
			}))
		}
	}
	c.tell(list[0], f)
	return nil
}

func (f CNP) String() string {
	switch {
	case f.Probability > 0:
		return fmt.Sprintf("%s of the CNPs of %s lost", percent(f.Probability), f.Host)
	case f.Delay > 0:
		return fmt.Sprintf("CNPs of %s late by %v", f.Host, f.Delay)
	}
	return fmt.Sprintf("CNPs of %s in the wrong class", f.Host)
}
