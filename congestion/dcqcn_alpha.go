package congestion

import "rdmasim/sim"

// Alpha estimates how congested the path is: every CNP (or window with a CNP)
// moves it towards 1 by the gain g, every tick of alpha_timer without one
// moves it towards 0: alpha = (1-g) alpha [+ g]. SIGCOMM'15, section 3,
// equations 1 and 2.

// alphaNow returns alpha at now. Ticks since alphaAt are not stepped through:
// k of them without a CNP are one factor (1-g)^k.
func (d *dcqcnPoint) alphaNow(now sim.Time) float64 {
	if !d.active {
		return d.alpha
	}
	tick := d.a.p.AlphaTimer
	if d.marked && now.Sub(d.alphaAt) >= tick {
		d.alpha = d.a.raise(d.alpha)
		d.alphaAt = d.alphaAt.Add(tick)
		d.marked = false
	}
	return d.a.decay(d.alpha, uint64(now.Sub(d.alphaAt)/tick))
}

// raiseAlpha takes a CNP into account: at once, or at the end of the window
// into which it falls. The first CNP opens the first window and is not in it.
func (d *dcqcnPoint) raiseAlpha(now sim.Time, first bool) {
	if d.a.p.AlphaUpdate == AlphaPerCNP {
		d.alpha = d.a.raise(d.alphaNow(now))
		d.alphaAt = now
		return
	}
	if first {
		return
	}
	d.alpha = d.alphaNow(now)
	d.alphaAt = now.Add(-(now.Sub(d.alphaAt) % d.a.p.AlphaTimer))
	d.marked = true
}

// raise returns alpha after one update with congestion.
func (a *dcqcn) raise(alpha float64) float64 {
	return float64(a.pow[0]*alpha) + float64(a.p.G)
}

// decay returns alpha after k updates without congestion, alpha (1-g)^k, by
// the binary digits of k.
func (a *dcqcn) decay(alpha float64, k uint64) float64 {
	for i := 0; k != 0 && alpha != 0; i, k = i+1, k>>1 {
		if k&1 != 0 {
			alpha *= a.pow[i]
		}
	}
	return alpha
}
