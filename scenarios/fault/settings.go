package fault

import (
	"fmt"
	"math"

	"rdmasim/fabric"
	"rdmasim/fabric/topology"
	"rdmasim/sim"
)

// Alpha is a switch with a wrong dynamic threshold: a new model whose default
// was 1/64 instead of 1/16 made pause frames explode (Guo et al., SIGCOMM'16,
// section 6.2).
type Alpha struct {
	PortsAt
	Alpha sim.Ratio `key:"alpha" required:"true" doc:"dynamic threshold instead of the configured one"`
	When
}

var _ = register("alpha", `{switch: leaf0, alpha: 1/64}`, "gives switch ports a wrong dynamic threshold", Alpha{}, func(f Alpha) error {
	if f.Alpha < 1.0/65536 || f.Alpha > 1024 {
		return fmt.Errorf("alpha: %v: want 1/65536 to 1024", f.Alpha)
	}
	return f.PortsAt.check()
})

// Inject changes the thresholds.
func (f Alpha) Inject(c *Context) error {
	list, err := f.switchPorts(c)
	if err != nil {
		return err
	}
	for _, d := range list {
		s := c.Switches[d.node]
		old, wrong := s.Alpha(d.port), int64(math.Round(float64(f.Alpha)*fabric.AlphaOne))
		c.on(d.node, f.When, func(on bool, _ sim.Time) {
			if on {
				s.SetAlpha(d.port, wrong)
			} else {
				s.SetAlpha(d.port, old)
			}
		})
		if err := c.countClasses(c.peer(d), f.When, s.Cfg.Lossless); err != nil {
			return err
		}
	}
	c.tell(list[0].node, f)
	return nil
}

func (f Alpha) String() string {
	key, value, _ := Where(f.PortsAt).given()
	return fmt.Sprintf("alpha %.4g at %s %s", float64(f.Alpha), key, value)
}

// Headroom is a switch port with the headroom of another cable, or of a size.
type Headroom struct {
	PortsAt
	Cable sim.Length `key:"cable" doc:"for which the headroom is computed, instead of the true one"`
	Size  sim.Bytes  `key:"size" doc:"of the headroom per lossless priority, instead of cable; 0B with no cable = none"`
	When
}

var _ = register("headroom", `{switch: leaf0, cable: 5m}`, "gives switch ports the headroom of another cable", Headroom{}, func(f Headroom) error {
	if f.Cable > 0 && f.Size > 0 {
		return fmt.Errorf("size: %v: is given beside cable, %v: give one of them", f.Size, f.Cable)
	}
	return f.PortsAt.check()
})

// Inject changes the headroom.
func (f Headroom) Inject(c *Context) error {
	list, err := f.switchPorts(c)
	if err != nil {
		return err
	}
	for _, d := range list {
		s := c.Switches[d.node]
		old, wrong := s.Cfg.Ports[d.port].Headroom, int64(f.Size)
		if f.Cable > 0 {
			wrong = c.Headroom(d.node, d.port, f.Cable)
		}
		c.on(d.node, f.When, func(on bool, _ sim.Time) {
			if on {
				s.SetHeadroom(d.port, wrong)
			} else {
				s.SetHeadroom(d.port, old)
			}
		})
		if err := c.countClasses(c.peer(d), f.When, s.Cfg.Lossless); err != nil {
			return err
		}
	}
	c.tell(list[0].node, f)
	return nil
}

func (f Headroom) String() string {
	key, value, _ := Where(f.PortsAt).given()
	if f.Cable > 0 {
		return fmt.Sprintf("headroom of %v of cable at %s %s", f.Cable, key, value)
	}
	return fmt.Sprintf("headroom of %v at %s %s", f.Size, key, value)
}

// Polarisation is switches that hash alike: after the first, the next ones find
// only flows that choose the same path again.
type Polarisation struct {
	Switch string `key:"switch" required:"true" doc:"name or pattern"`
	Seed   uint64 `key:"seed" doc:"that all of them hash with"`
	When
}

var _ = register("polarisation", `{switch: "*"}`, "lets switches hash alike, so that flows that met once stay together", Polarisation{}, func(f Polarisation) error {
	return required("switch", f.Switch, "a name or a pattern")
})

// Inject changes the seeds.
func (f Polarisation) Inject(c *Context) error {
	list, err := c.nodes("switch", f.Switch, topology.Switch)
	if err != nil {
		return err
	}
	for _, node := range list {
		for p := range c.Ports.Of(node) {
			if err := c.countFrames(direction{node, p}, f.When, anyFrames()); err != nil {
				return err
			}
		}
	}
	c.tell(list[0], f)
	return c.global(f.When, func(on bool, _ sim.Time) {
		for _, node := range list {
			s := c.Switches[node]
			if on {
				s.SetHashSeed(f.Seed)
			} else {
				s.SetHashSeed(s.HashSeed())
			}
		}
		c.Rerouted()
	})
}

func (f Polarisation) String() string { return "switches that hash alike: " + f.Switch }
