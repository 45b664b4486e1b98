package validation

import "math"

// dcqcnFluid holds DCQCN's parameters in the units of its fluid model, packets
// and seconds.
type dcqcnFluid struct {
	rc         float64 // fair share C/N, packets/s
	tau        float64 // CNP interval
	alphaTimer float64
	timer      float64 // T
	bytes      float64 // B, packets
	rai        float64 // packets/s
	f          float64
}

// fixedPoint is the exact root of the fluid model.
type fixedPoint struct {
	p, alpha, cnp float64 // marking probability, alpha, CNPs per second and flow
}

// terms returns a, b+d and c+e of the fluid model at marking probability p.
func (d dcqcnFluid) terms(p float64) (a, bd, ce float64) {
	no := math.Log1p(-p)
	a = -math.Expm1(d.tau * d.rc * no)
	b := p / math.Expm1(-d.bytes*no)
	c := b * math.Exp(d.f*d.bytes*no)
	t := d.timer * d.rc
	dd := p / math.Expm1(-t*no)
	e := dd * math.Exp(d.f*t*no)
	return a, b + dd, c + e
}

// fixed solves a^2 alpha / ((b+d)(c+e)) = tau^2 R_AI R_C for p, with
//
//	a = 1-(1-p)^(tau R_C)      b = p/((1-p)^-B - 1)        c = b (1-p)^(F B)
//	d = p/((1-p)^(-T R_C) - 1) e = d (1-p)^(F T R_C)       alpha = 1-(1-p)^(tau' R_C)
//
// Source: the fluid model of Zhu et al., SIGCOMM'15, section 5, with all
// derivatives zero, as printed by Zhu et al., "ECN or Delay", CoNEXT'16, section 3.
func (d dcqcnFluid) fixed() fixedPoint {
	alpha := func(p float64) float64 { return -math.Expm1(d.alphaTimer * d.rc * math.Log1p(-p)) }
	excess := func(p float64) float64 {
		a, bd, ce := d.terms(p)
		return a*a*alpha(p) - d.tau*d.tau*d.rai*d.rc*bd*ce
	}
	lo, hi := 1e-12, 0.5
	for range 200 {
		mid := math.Sqrt(lo * hi)
		if excess(mid) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	a, _, _ := d.terms(lo)
	return fixedPoint{p: lo, alpha: alpha(lo), cnp: a / d.tau}
}

// approximate is the closed form that the same source prints for p.
func (d dcqcnFluid) approximate(c, n float64) float64 {
	x := 1/d.bytes + n/(d.timer*c)
	return math.Cbrt(d.rai * n * n / (d.alphaTimer * c * c) * x * x)
}
