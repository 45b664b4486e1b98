package fault

import (
	"fmt"
	"math"

	"rdmasim/fabric"
	"rdmasim/fabric/packet"
	"rdmasim/sim"
)

// Delay makes frames late.
type Delay struct {
	Wire
	Delay        sim.Duration `key:"delay" doc:"on top of the link's, mean"`
	Jitter       sim.Duration `key:"jitter" doc:"spread around it: half the width of uniform, standard deviation of the others"`
	Distribution string       `key:"distribution" oneof:"uniform,normal,pareto,exponential" doc:"of the jitter; pareto has shape 3, exponential is never early"`
	Order        string       `key:"order" oneof:"free,kept" doc:"free: a frame may overtake one that is later, as behind tc-netem; kept: it waits for it"`
}

var _ = register("delay", `{link: h0-leaf0, delay: 2us, jitter: 500ns, distribution: normal}`, "makes frames late, by a constant or with jitter",
	Delay{Wire: Wire{Frames: anyFrames()}, Distribution: "uniform", Order: "free"}, func(d Delay) error {
		if err := d.check(); err != nil {
			return err
		}
		if d.Delay == 0 && d.Jitter == 0 {
			return fmt.Errorf("delay: delays nothing: give delay or jitter")
		}
		if _, ok := distributions[d.Distribution]; !ok {
			return fmt.Errorf("distribution: %s: want uniform, normal, pareto or exponential", d.Distribution)
		}
		if d.Order != "free" && d.Order != "kept" {
			return fmt.Errorf("order: %s: want free or kept", d.Order)
		}
		return nil
	})

// distributions return a deviate of mean 0 (exponential: at least 0) in units
// of the jitter.
var distributions = map[string]func(r *sim.Rand) float64{
	"uniform":     func(r *sim.Rand) float64 { return 2*r.Float64() - 1 },
	"exponential": func(r *sim.Rand) float64 { return -math.Log1p(-r.Float64()) },
	// Box and Muller, Annals of Mathematical Statistics 29, 1958.
	"normal": func(r *sim.Rand) float64 {
		u, v := r.Float64(), r.Float64()
		return math.Sqrt(-2*math.Log1p(-u)) * math.Cos(2*math.Pi*v)
	},
	// Of shape 3 the mean is 3/2 and the standard deviation sqrt(3)/2.
	"pareto": func(r *sim.Rand) float64 {
		x := math.Pow(1-r.Float64(), -1.0/3)
		return (x - 1.5) / (math.Sqrt(3) / 2)
	},
}

// longestDelay bounds what a heavy tail can ask for.
const longestDelay = 10 * sim.Second

// Inject puts the delay on its links.
func (d Delay) Inject(c *Context) error {
	draw := distributions[d.Distribution]
	list, err := d.directions(c)
	if err != nil {
		return err
	}
	for _, way := range list {
		c.slow(way, d)
	}
	return d.inject(c, d, kindsRoCE, func(_ direction, r *sim.Rand) effect {
		var last sim.Time
		return func(now sim.Time, _ *packet.Packet, v *fabric.Verdict) bool {
			late := d.Delay
			if d.Jitter > 0 {
				late += sim.Duration(math.Round(draw(r) * float64(d.Jitter)))
			}
			late = min(max(late, 0), longestDelay)
			if d.Order == "kept" {
				last = max(last, now.Add(late))
				late = last.Sub(now)
			}
			v.Delay += late
			return late > 0
		}
	})
}

func (d Delay) String() string {
	if d.Jitter > 0 {
		return fmt.Sprintf("delay of %v, jitter %v, on %s", d.Delay, d.Jitter, d.at())
	}
	return fmt.Sprintf("delay of %v on %s", d.Delay, d.at())
}
