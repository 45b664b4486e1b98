package switchconf

import (
	"fmt"
	"strings"

	"rdmasim/sim"
)

var _ = registerRenderer("dcb", "Linux switches with mlxsw: dcb and tc of iproute2", dcb{})

// dcb renders the tools of Linux for a switch whose ports are network devices.
// Source: dcb(8), tc-red(8), and mlxsw, which offloads RED with cells for
// bytes.
type dcb struct{}

func (dcb) Comment() string { return "#" }

func (dcb) Render(v *View, r *Rendered) error {
	if err := v.checkAlpha(); err != nil {
		return err
	}
	r.assume("interfaces are swp1, swp2, ... in the order of the ports")
	r.assume("sizes are bytes: a number without a suffix; K would be 1024 bytes (tc(8), parameters). The driver rounds to cells")
	r.assume("RED hangs below a root ets of eight strict bands, band 0 for class 7: put your own scheduler there")
	groups := v.Groups()
	for i := range groups {
		g := &groups[i]
		for _, p := range g.Ports {
			dcbPort(fmt.Sprintf("swp%d", p+1), g, r)
		}
		g.each(func(tc int, c *ClassView) {
			r.lackSchedule(tc, c, true)
			r.lackBuffers(tc, c, "this is of devlink: devlink sb tc bind set swp1 sb 0 tc N type ingress pool 0 th 3..16", FieldAlpha, FieldReserve)
			r.lackBuffers(tc, c, "the driver computes it", FieldXon, FieldXonOffset)
		})
		if g.Cable > 0 {
			r.lack(-1, FieldCable, g.Cable.String(), "headroom is written as such")
		}
		r.lackWatchdog(g.Watchdog, "there is none")
	}
	r.verify("dcb app show dev swp1", "dcb -s pfc show dev swp1", "dcb buffer show dev swp1", "tc -s qdisc show dev swp1")
	r.rollback("dcb app flush dev swp1 dscp-prio", "dcb pfc set dev swp1 prio-pfc all:off", "dcb buffer set dev swp1 prio-buffer all:0 buffer-size all:0", "tc qdisc del dev swp1 root")
	return nil
}

// dcbPort writes what one device is told.
func dcbPort(dev string, g *PortGroup, r *Rendered) {
	var app []string
	for _, tc := range g.mapped() {
		for _, d := range g.dscps(tc) {
			app = append(app, fmt.Sprintf("%d:%d", d, tc))
		}
	}
	if len(app) > 0 {
		r.line(Drops, "dcb app replace dev %s dscp-prio %s", dev, strings.Join(app, " "))
	}
	prio, buffer, size := "all:off", "all:0", ""
	for i, k := range g.lossless() {
		prio += fmt.Sprintf(" %d:on", k)
		if c := &g.Class[k]; c.Buffer && c.Headroom > 0 && i < 7 { // buffers 1..7: one per class
			buffer += fmt.Sprintf(" %d:%d", k, i+1)
			size += fmt.Sprintf(" %d:%d", i+1, c.Headroom)
		} else {
			r.lackBuffers(k, c, "there are seven buffers besides that of lossy traffic", FieldHeadroom)
		}
	}
	if len(g.lossless()) > 0 {
		r.line(Drops, "dcb pfc set dev %s prio-pfc %s", dev, prio)
	}
	if size != "" {
		r.line(Drops, "dcb buffer set dev %s prio-buffer %s buffer-size%s", dev, buffer, size)
	}
	if !g.hasECN() {
		return
	}
	r.line(Drops, "tc qdisc replace dev %s root handle 1: ets bands 8 strict 8 priomap 7 6 5 4 3 2 1 0", dev)
	done := map[int]bool{}
	g.each(func(tc int, c *ClassView) {
		if !c.ECN || done[c.Queue] || c.Queue > 7 {
			return
		}
		done[c.Queue] = true
		low, high := max(c.Kmin, 1), max(c.Kmax, 1)
		r.round(tc, FieldKmin, int64(c.Kmin), int64(low), "RED takes 1 byte or more")
		r.round(tc, FieldKmax, int64(c.Kmax), int64(high), "RED takes 1 byte or more")
		r.line(Hitless, "tc qdisc replace dev %s parent 1:%d handle %d: red limit %d min %d max %d avpkt 1000 probability %s ecn nodrop",
			dev, 8-c.Queue, 100+c.Queue, max(2*high, sim.MB), low, high, c.Pmax)
	})
}

// dialect of dcb and tc: a command sets all of its kind on a device, except
// that entries of the map stay until they are deleted.
func (dcb) dialect() dialect {
	d := dialect{slots: begins(`dcb (pfc|buffer) set dev \S+ `, `tc qdisc replace dev \S+ (root|parent 1:\d) `)}
	d.undo = func(line string) string {
		words := strings.Fields(line)
		switch words[1] {
		case "app":
			return strings.Replace(line, "app replace", "app del", 1)
		case "pfc":
			return "dcb pfc set dev " + words[4] + " prio-pfc all:off"
		case "buffer":
			return "dcb buffer set dev " + words[4] + " prio-buffer all:0 buffer-size all:0"
		}
		return strings.TrimSpace(strings.Replace(match(d.slots, line), "replace", "del", 1))
	}
	return d
}
