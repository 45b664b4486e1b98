package switchconf

import (
	"fmt"
	"strings"

	"rdmasim/sim"
)

var _ = registerRenderer("junos", "Juniper Junos and Junos Evolved: set commands", junos{})

// junos renders class of service of QFX switches. Source: Junos documentation
// of class of service.
type junos struct{}

func (junos) Comment() string { return "#" }

func (junos) Render(v *View, r *Rendered) error {
	r.assume("interfaces are et-0/0/0, et-0/0/1, ... in the order of the ports")
	r.assume("fill levels are shares of what a queue can hold, not bytes: they are taken of the largest queue that alone fills the buffer, alpha B / (1 + alpha), with alpha and B of this switch")
	groups := v.Groups()
	for i := range groups {
		junosGroup(v, &groups[i], r)
	}
	r.line(Drops, "commit confirmed 10")
	r.verify("show class-of-service congestion-notification", "show interfaces queue et-0/0/0", "show interfaces extensive et-0/0/0")
	r.rollback("rollback 1", "commit")
	return nil
}

// junosGroup writes classes, curves and PFC of a group of ports.
func junosGroup(v *View, g *PortGroup, r *Rendered) {
	const cos = "set class-of-service "
	name := func(kind string, tc int) string { return fmt.Sprintf("RDMASIM%s-%s%d", g.Suffix, kind, tc) }
	g.each(func(tc int, c *ClassView) {
		r.lackSchedule(tc, c, false)
		if c.Queue != tc && len(g.dscps(tc)) == 0 && (c.ECN || c.PFC) {
			r.lack(tc, FieldQueue, fmt.Sprint(c.Queue), "no DSCP leads to this class")
		}
		if !c.PFC && !c.ECN && len(g.dscps(tc)) == 0 {
			return
		}
		noLoss := ""
		if c.PFC {
			noLoss = " no-loss"
		}
		r.line(Drops, cos+"forwarding-classes class %s queue-num %d%s", name("FC", tc), c.Queue, noLoss)
		if c.PFC {
			r.line(Drops, cos+"forwarding-classes class %s pfc-priority %d", name("FC", tc), tc)
		}
		for _, d := range g.dscps(tc) {
			r.line(Drops, cos+"classifiers dscp RDMASIM%s forwarding-class %s loss-priority low code-points %06b", g.Suffix, name("FC", tc), d)
		}
		if c.ECN {
			junosCurve(v, g, tc, c, name, r)
		}
		r.lackBuffers(tc, c, "the switch computes headroom from cable length and MRU", FieldHeadroom, FieldXon, FieldXonOffset, FieldReserve)
		r.lackBuffers(tc, c, "dynamic-threshold of Junos is an index of which no table of alphas is published", FieldAlpha)
	})
	junosPFC(g, r)
	at := cos + "interfaces et-0/0/"
	for _, p := range g.Ports {
		if len(g.lossless()) > 0 {
			r.line(Drops, "%s%d congestion-notification-profile RDMASIM%s", at, p, g.Suffix)
		}
		if g.hasECN() {
			r.line(Hitless, "%s%d scheduler-map RDMASIM%s", at, p, g.Suffix)
		}
		if len(g.mapped()) > 0 {
			r.line(Drops, "%s%d unit 0 classifiers dscp RDMASIM%s", at, p, g.Suffix)
		}
	}
	r.lackWatchdog(g.Watchdog, "the unit of detection of Junos is not published: set congestion-notification-profile pfc-watchdog by hand")
}

// junosCurve writes a curve as fill levels.
func junosCurve(v *View, g *PortGroup, tc int, c *ClassView, name func(string, int) string, r *Rendered) {
	const cos = "set class-of-service "
	limit, ok := v.largestQueue(c)
	if !ok || c.Kmin > limit {
		why := "the largest queue is not known: fill levels need a dynamic threshold and the size of its pool"
		if ok {
			why = fmt.Sprintf("kmin is above the largest queue, %d bytes", limit)
		}
		r.lack(tc, FieldECN, fmt.Sprintf("%d..%d", c.Kmin, c.Kmax), "%s", why)
		return
	}
	fill := func(field string, n sim.Bytes) int64 {
		share := min(int64((2*n*100+limit)/(2*limit)), 100)
		r.round(tc, field, int64(n), int64(limit)*share/100, fmt.Sprintf("%d %% of the largest queue, %d bytes", share, limit))
		return share
	}
	low, high := fill(FieldKmin, c.Kmin), fill(FieldKmax, c.Kmax)
	r.line(Hitless, cos+"drop-profiles %s interpolate fill-level [ %d %d ] drop-probability [ 0 %d ]", name("DP", tc), low, high, r.percent(tc, c.Pmax, 1))
	at := cos + "schedulers " + name("S", tc)
	r.line(Hitless, "%s drop-profile-map loss-priority any protocol any drop-profile %s", at, name("DP", tc))
	r.line(Hitless, "%s explicit-congestion-notification", at)
	r.line(Hitless, cos+"scheduler-maps RDMASIM%s forwarding-class %s scheduler %s", g.Suffix, name("FC", tc), name("S", tc))
}

// largestQueue is what a queue of a class can hold when it alone fills the
// pool that bounds it: the ingress threshold of its lossless group.
func (v *View) largestQueue(c *ClassView) (sim.Bytes, bool) {
	f := v.Switch.Profile(c.Profile)
	if f == nil {
		return 0, false
	}
	if !c.Dynamic {
		return c.Static, c.Static > 0
	}
	pool := v.Switch.Pool(f.Pool.V)
	if pool == nil || pool.Size.V <= 0 {
		return 0, false
	}
	a := float64(f.Alpha())
	return sim.Bytes(a * float64(pool.Size.V) / (1 + a)), true
}

// junosPFC writes the congestion notification profile, by DSCP.
func junosPFC(g *PortGroup, r *Rendered) {
	lossless := g.lossless()
	if len(lossless) == 0 {
		if g.Cable > 0 {
			r.lack(-1, FieldCable, g.Cable.String(), "it belongs to PFC, which these ports have not")
		}
		return
	}
	at := fmt.Sprintf("set class-of-service congestion-notification-profile RDMASIM%s input ", g.Suffix)
	for _, k := range lossless {
		if len(g.dscps(k)) == 0 {
			r.lack(k, FieldPFC, "on", "PFC is by DSCP here, and no DSCP has this class")
		}
		for _, d := range g.dscps(k) {
			r.line(Drops, "%sdscp code-point %06b pfc", at, d)
		}
	}
	if g.Cable > 0 {
		metres := int64((g.Cable + sim.Metre - 1) / sim.Metre)
		if sim.Length(metres)*sim.Metre != g.Cable {
			r.rounded(-1, FieldCable, g.Cable.String(), (sim.Length(metres) * sim.Metre).String(), "Junos takes whole metres")
		}
		r.line(Drops, "%scable-length %d", at, metres)
	}
}

// dialect of Junos: "delete" takes a statement back. A forwarding class and the
// points of a drop profile are written anew, for lists there only grow.
func (junos) dialect() dialect {
	d := dialect{
		frames:  []string{"commit confirmed 10"},
		slots:   begins(`set .* cable-length `, `set .* drop-profile-map loss-priority any protocol any drop-profile `, `set class-of-service interfaces \S+ (congestion-notification-profile|scheduler-map|unit 0 classifiers dscp) `, `set class-of-service scheduler-maps \S+ forwarding-class \S+ scheduler `),
		wholes:  begins(`set class-of-service forwarding-classes class \S+`, `set class-of-service drop-profiles \S+ interpolate`),
		returns: true,
	}
	d.undo = func(line string) string { return "delete " + strings.TrimPrefix(line, "set ") }
	return d
}
