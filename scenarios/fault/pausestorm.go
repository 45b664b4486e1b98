package fault

import (
	"fmt"
	"math/bits"

	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// PauseStorm is a NIC that sends pause frames whatever its buffer: its receive
// pipeline has stopped, or someone generates them. Source: Guo et al., "RDMA
// over Commodity Ethernet at Scale", SIGCOMM'16, section 4.3.
type PauseStorm struct {
	Host       string       `key:"host" required:"true" doc:"name or pattern"`
	Priorities []int        `key:"priorities" range:"0..7" doc:"that it pauses; empty = all lossless ones of the port"`
	Quanta     int          `key:"quanta" range:"1..65535" doc:"pause time that a frame asks for, in units of 512 bit times"`
	Interval   sim.Duration `key:"interval" doc:"between frames of one priority; 0s = half of the pause time, which never lets go"`
	Cycle      sim.Duration `key:"cycle" doc:"length of a cycle of pausing and not; 0s = steady"`
	Duty       sim.Ratio    `key:"duty" doc:"share of the cycle that is paused; the last pause of a cycle is cut to it"`
	XON        bool         `key:"xon" doc:"the frames are XON instead (pause time 0): a storm that stops nothing"`
	Global     bool         `key:"global" doc:"802.3x pauses, which stop the whole link of a peer in that mode, and nothing at one under PFC"`
	When
}

var _ = register("pause_storm", `{host: h0, from: 20us, to: 500us}`, "is a NIC that sends pause frames whatever its buffer", PauseStorm{Quanta: 65535, Duty: 1}, func(f PauseStorm) error {
	if err := required("host", f.Host, "a name or a pattern"); err != nil {
		return err
	}
	switch {
	case f.Quanta < 1 || f.Quanta > 65535:
		return fmt.Errorf("quanta: %d: want 1..65535", f.Quanta)
	case !(f.Duty > 0 && f.Duty <= 1):
		return fmt.Errorf("duty: %v: want more than 0 and at most 1", f.Duty)
	case f.Duty < 1 && f.Cycle == 0:
		return fmt.Errorf("cycle: is missing: duty is a share of it")
	case f.Cycle > 0 && f.Cycle < sim.Microsecond:
		return fmt.Errorf("cycle: %v: want at least 1us", f.Cycle)
	case f.Interval > 0 && f.Interval < 100*sim.Nanosecond:
		return fmt.Errorf("interval: %v: want at least 100ns", f.Interval)
	case f.XON && f.Interval == 0:
		return fmt.Errorf("interval: is missing: an XON pauses for no time that could set the pace")
	}
	for _, p := range f.Priorities {
		if p < 0 || p > 7 {
			return fmt.Errorf("priorities: %d: want 0..7", p)
		}
	}
	return nil
})

// Inject lets the hosts storm.
func (f PauseStorm) Inject(c *Context) error {
	list, err := c.nodes("host", f.Host, topology.Host)
	if err != nil {
		return err
	}
	for _, node := range list {
		for p := range c.Ports.Of(node) {
			classes := c.NICs[node].Port(p).Cfg.Lossless
			switch {
			case f.Global:
				classes = 1
			case len(f.Priorities) > 0:
				classes = 0
				for _, k := range f.Priorities {
					classes |= 1 << k
				}
			}
			if classes == 0 {
				return fmt.Errorf("host: %s: its link has no lossless priority: name some in priorities", c.Graph.Nodes[node].Name)
			}
			for k := classes; k != 0; k &= k - 1 {
				c.storm(node, p, uint8(bits.TrailingZeros8(k)), f)
			}
		}
	}
	c.tell(list[0], f)
	return nil
}

// storm lets one priority of a port storm.
func (c *Context) storm(node, port int, class uint8, f PauseStorm) {
	n := c.NICs[node]
	p := n.Port(port)
	sent := c.counter()
	quantum := p.Cfg.RxRate.TxTime(512 / 8) // a pause counts at the speed of who obeys it
	asked := quantum * sim.Duration(f.Quanta)
	every := f.Interval
	if every == 0 {
		every = asked / 2
	}
	on := sim.Duration(float64(f.Cycle) * float64(f.Duty))
	var until sim.Time // of the pause that was asked for last
	c.do(node, sim.Time(f.From), func(now sim.Time) sim.Time {
		if !f.Active(now) {
			return f.next(now)
		}
		stop := f.end(now)
		again, quanta := now.Add(every), uint16(f.Quanta)
		if f.Cycle > 0 {
			in := (sim.Duration(now) - f.From) % f.Cycle
			if in >= on {
				return min(now.Add(f.Cycle-in), max(stop, now+1))
			}
			if left := on - in; asked > left && f.Duty < 1 {
				quanta = uint16(max(left/quantum, 1))
			}
			if again >= now.Add(on-in) {
				again = now.Add(f.Cycle - in)
			}
		}
		if f.XON {
			quanta = 0
		}
		if f.Global {
			n.StormGlobal(port, quanta)
		} else {
			n.Storm(port, class, quanta, quanta > 0 && now < until)
		}
		*sent++
		until = now.Add(quantum * sim.Duration(quanta))
		if again >= stop {
			return f.next(now)
		}
		return again
	})
}

func (f PauseStorm) String() string {
	switch {
	case f.Global:
		return "802.3x storm from " + f.Host
	case f.XON:
		return "XON storm from " + f.Host
	case f.Duty < 1:
		return fmt.Sprintf("pause storm from %s, %s of the time", f.Host, percent(f.Duty))
	}
	return "pause storm from " + f.Host
}
