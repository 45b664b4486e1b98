package fluid

import "math"

var _ = describe(Oracle{
	ID:    "dcqcn_convergence",
	Title: "upper bound of the time in which unequal DCQCN flows become equal",
	Equation: `t = (-1+sqrt(1+8 Kmax/(N R_AI tau')))/2   dT = 2 + (t/2 + C/(2 N R_AI)) alpha
alpha = (1-g)^(dT-1) ((1-g) alpha + g)   time = smallest x with (1-alpha/2)^(x/(tau' dT)) <= 0.1/N`,
	Source: "Zhu et al., ECN or Delay, CoNEXT'16, section 3.3 and appendix; their published results need the exponent dT-1, the appendix prints dT",
	Limits: "discrete model in units of tau', all flows cut together, marking by a threshold at Kmax",
})

// Convergence is the cycle of cuts of the discrete model of DCQCN.
type Convergence struct {
	Alpha float64 // before every cut
	Cycle float64 // time between cuts in units of tau'
	Time  float64 // seconds until the largest difference of rates is below 0.1/N of the first
}

// Convergence returns the bound of the discrete model. Source: the oracle
// dcqcn_convergence.
func (m DCQCN) Convergence() (Convergence, error) {
	if err := m.check(); err != nil {
		return Convergence{}, err
	}
	n, unit := float64(m.Flows), m.AlphaTimer.Seconds()
	rai := m.packets(m.RAI)
	kmax := float64(m.Kmax) / float64(m.Packet)
	t := (-1 + math.Sqrt(1+8*kmax/(n*rai*unit))) / 2
	cycle := func(alpha float64) float64 { return 2 + (t/2+m.packets(m.Capacity)/(2*n*rai))*alpha }
	alpha := bisectLog(1e-12, 1, func(a float64) bool {
		return math.Pow(1-m.G, cycle(a)-1)*((1-m.G)*a+m.G) > a
	})
	c := Convergence{Alpha: alpha, Cycle: cycle(alpha)}
	c.Time = unit * c.Cycle * math.Log(0.1/n) / math.Log1p(-alpha/2)
	return c, nil
}
