package fabric

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// audit stands between a switch and the world. With every frame it counts anew
// what lies in the queues, decides by that, and compares. It is the buffer
// manager as one would explain it: nothing is remembered but how much of a group
// lies in headroom, which depends on the past.
type audit struct {
	t *testing.T
	s *Switch
	r *rig

	head                    map[[2]int]int64 // headroom by port and group
	drops, xoffs, headrooms int
	// straight: the frame went straight through, so that nothing was given back.
	straight bool
}

// held is what lies in the switch, by port and group, and by port and queue.
type held struct{ group, queue map[[2]int]int64 }

func (a *audit) cell() int64 { return a.s.Cfg.MMU.Cell }

func (a *audit) cells(n int) int64 { return (int64(n) + a.cell() - 1) / a.cell() * a.cell() }

func (a *audit) count() held {
	h := held{map[[2]int]int64{}, map[[2]int]int64{}}
	for out := range a.s.ports {
		for q, k := range a.s.ports[out].class {
			if k == nil {
				continue
			}
			k.fifo.each(func(m *packet.Packet) bool {
				h.queue[[2]int{out, q}] += a.cells(int(m.Size))
				h.group[a.groupOf(int(m.InPort), m)] += a.cells(int(m.Size))
				return true
			})
		}
	}
	return h
}

func (a *audit) groupOf(in int, m *packet.Packet) [2]int {
	maps := a.s.Cfg.Ports[in].Maps
	return [2]int{in, int(maps.Group[maps.Class[m.DSCP]])}
}

func (a *audit) group(k [2]int) *GroupConfig { return &a.s.Cfg.Ports[k[0]].MMU.Groups[k[1]] }
func (a *audit) queue(k [2]int) *QueueConfig { return &a.s.Cfg.Ports[k[0]].MMU.Queues[k[1]] }

// used returns what groups, or queues, use of a pool beyond their reserves.
func (a *audit) used(h held, pool int) (used, headroom int64) {
	groups := false
	for in := range a.s.Cfg.Ports {
		for g := range 8 {
			k := [2]int{in, g}
			if a.group(k).Pool == pool {
				groups = true
				used += max(h.group[k]-a.head[k]-a.group(k).Reserve, 0)
				headroom += a.head[k]
			}
		}
	}
	if groups {
		return used, headroom
	}
	for out := range a.s.Cfg.Ports {
		for q := range 8 {
			k := [2]int{out, q}
			if a.queue(k).Pool == pool {
				used += max(h.queue[k]-a.queue(k).Reserve, 0)
			}
		}
	}
	return used, 0
}

func (a *audit) free(h held, pool int) int64 {
	used, _ := a.used(h, pool)
	return max(a.s.full.pools[pool].Size-used, 0)
}

func (a *audit) limit(t Threshold, h held, pool int) int64 {
	n := t.Limit(a.free(h, pool), a.s.full.pools[pool].Size)
	return n / a.cell() * a.cell()
}

// verdict says why a frame is refused, or whether it goes to the headroom.
func (a *audit) verdict(h held, in int, m *packet.Packet) (why string, headroom bool) {
	maps := a.s.Cfg.Ports[in].Maps
	k := a.groupOf(in, m)
	q := [2]int{int(m.Dst), int(a.s.Cfg.Ports[m.Dst].Maps.Queue[maps.Class[m.DSCP]])}
	size := a.cells(int(m.Size))
	var all int64
	for _, v := range h.queue {
		all += v
	}
	if all+size > a.s.Cfg.MMU.Size {
		return "buffer memory full", false
	}
	if c := a.queue(q); c.Threshold != nil && h.queue[q]+size > c.Reserve {
		if h.queue[q]+size-c.Reserve > a.limit(c.Threshold, h, c.Pool) || size > a.free(h, c.Pool) {
			return "egress queue full", false
		}
	}
	c := a.group(k)
	own := h.group[k] - a.head[k]
	if own+size <= c.Reserve {
		return "", false
	}
	lossless := a.s.Cfg.Ports[in].Lossless&maps.Asks[k[1]] != 0
	full := size > a.free(h, c.Pool)
	switch {
	case c.Threshold == nil:
	case lossless || c.Headroom > 0:
		full = full || max(own-c.Reserve, 0) >= a.limit(c.Threshold, h, c.Pool)
	default:
		full = full || own+size-c.Reserve > a.limit(c.Threshold, h, c.Pool)
	}
	if !full {
		return "", false
	}
	_, pooled := a.used(h, c.Pool)
	if p := a.s.full.pools[c.Pool].PoolConfig.Headroom; a.head[k]+size > c.Headroom || p > 0 && pooled+size > p {
		if lossless {
			return "headroom exhausted", false
		}
		return "priority group full", false
	}
	return "", true
}

func (a *audit) OnMessage(in int, m *packet.Packet) {
	if m.Kind >= packet.PFC {
		a.s.OnMessage(in, m)
		return
	}
	before := a.count()
	k, size := a.groupOf(in, m), a.cells(int(m.Size))
	want, headroom := a.verdict(before, in, m)
	n := len(a.r.events(trace.EventDrop))
	a.s.OnMessage(in, m)
	got := ""
	if list := a.r.events(trace.EventDrop); len(list) > n {
		got = list[len(list)-1].Cause
		a.drops++
	}
	at := fmt.Sprintf("at %v, frame of %d bytes at port %d, group %d", a.s.node.Now(), m.Size, in, k[1])
	require.Equal(a.t, want, got, at)
	after := a.count()
	a.straight = got == "" && after.group[k] == before.group[k]
	if got == "" {
		before.group[k] += size
		if headroom {
			a.head[k] += size
			a.headrooms++
		}
	}
	if got == "" && after.group[k] == before.group[k] { // else one has left in the same instant
		c := a.group(k)
		shared := max(after.group[k]-a.head[k]-c.Reserve, 0)
		limit := a.s.full.pools[c.Pool].Size
		if c.Threshold != nil {
			limit = a.limit(c.Threshold, after, c.Pool)
		}
		lossless := a.s.Cfg.Ports[in].Lossless&a.s.Cfg.Ports[in].Maps.Asks[k[1]] != 0
		if lossless && (a.head[k] > 0 || shared >= limit) {
			a.xoffs++
			require.True(a.t, a.s.ports[in].class[k[1]].holds, at+": XOFF")
		}
	}
	a.settle(before, after)
	a.straight = false
}

func (a *audit) OnTimer(kind sim.Kind, port int, arg uint64) {
	before := a.count()
	a.s.OnTimer(kind, port, arg)
	a.settle(before, a.count())
}

// settle takes what has left out of the headroom first, and compares all
// accounts of the switch with what lies in its queues.
func (a *audit) settle(before, after held) {
	for k, n := range before.group {
		gone := n - after.group[k]
		if gone <= 0 {
			continue
		}
		a.head[k] -= min(a.head[k], gone)
		c := a.group(k)
		shared := max(after.group[k]-a.head[k]-c.Reserve, 0)
		limit := a.s.full.pools[c.Pool].Size
		if c.Threshold != nil {
			limit = a.limit(c.Threshold, after, c.Pool)
		}
		resume := max(c.Xon, limit-c.XonOffset)
		if c.Xon > 0 && c.XonOffset == 0 {
			resume = c.Xon
		}
		holds := a.s.ports[k[0]].class[k[1]].holds
		if !a.straight && a.head[k] == 0 && (shared == 0 || shared <= resume) {
			require.False(a.t, holds, "XON of port %d group %d", k[0], k[1])
		}
	}
	var all int64
	for p := range a.s.ports {
		for c, k := range a.s.ports[p].class {
			if k == nil {
				continue
			}
			g := [2]int{p, c}
			all += after.queue[g]
			require.Equal(a.t, after.queue[g], k.Bytes, "queue %v", g)
			require.Equal(a.t, a.head[g], k.Headroom, "headroom of group %v", g)
			require.Equal(a.t, after.group[g]-a.head[g], k.Ingress, "group %v", g)
		}
	}
	require.Equal(a.t, all, a.s.full.total)
	for i := range a.s.full.pools {
		p := &a.s.full.pools[i]
		used, head := a.used(after, i)
		require.Equal(a.t, used, p.used, "pool %d", i)
		if p.PoolConfig.Headroom > 0 {
			require.Equal(a.t, head, p.head, "headroom pool %d", i)
		}
	}
}

// randomMMU draws a buffer: one pool or several, cells, reserves, thresholds of
// all kinds, private and shared headroom.
func randomMMU(t *testing.T, rnd *sim.Rand, c *SwitchConfig) {
	m := c.MMU
	m.Cell = []int64{1, 1, 208, 254, 96}[rnd.IntN(5)]
	m.Size = int64(60_000 + rnd.IntN(300_000))
	in := PoolConfig{Name: "in", Size: m.Size/2 + int64(rnd.IntN(20_000))}
	if rnd.IntN(2) == 0 {
		in.Headroom = int64(rnd.IntN(40_000))
	}
	m.Pools = []PoolConfig{in}
	if rnd.IntN(2) == 0 {
		m.Pools = append(m.Pools, PoolConfig{Name: "lossy", Size: int64(20_000 + rnd.IntN(40_000))}, PoolConfig{Name: "out", Size: m.Size})
	}
	draw := func() Threshold {
		var th Threshold
		var err error
		switch rnd.IntN(4) {
		case 0:
			return nil
		case 1:
			th, err = buildThreshold("static", StaticParams{Bytes: sim.Bytes(rnd.IntN(40_000))})
		default:
			th, err = buildThreshold("dynamic", DynamicParams{Alpha: []sim.Ratio{1.0 / 8, 1.0 / 2, 1, 4}[rnd.IntN(4)]})
		}
		require.NoError(t, err)
		return th
	}
	for i := range c.Ports {
		p := &PortMMU{}
		for g := range p.Groups {
			p.Groups[g] = GroupConfig{Reserve: int64(rnd.IntN(3) * 2000), Threshold: draw(), Headroom: int64(rnd.IntN(3) * 8000), Xon: int64(rnd.IntN(2) * 4000), XonOffset: int64(rnd.IntN(3) * 3000)}
			p.Queues[g] = QueueConfig{Reserve: int64(rnd.IntN(3) * 2000), Threshold: draw()}
			if len(m.Pools) > 1 {
				p.Groups[g].Pool = rnd.IntN(2)
				p.Queues[g].Pool = 2
			}
		}
		c.Ports[i].MMU = p
	}
}

// Random traffic into random buffers: every verdict, pause and account is that
// of the audit. Sizes, times and classes are drawn; ports are overloaded so
// that each kind of refusal happens.
func TestBufferManagerAgainstRecount(t *testing.T) {
	n := 30
	if testing.Short() {
		n = 15
	}
	drops, xoffs, headrooms := map[string]int{}, 0, 0
	for seed := range n {
		rnd := sim.NewRand(uint64(seed), "mmu")
		const ports = 4
		r := newRig(t, ports, 0b00011000, func(c *SwitchConfig) { randomMMU(t, rnd, c) })
		if rnd.IntN(2) == 0 { // maps that are not plain
			maps := *r.sw.Cfg.Ports[0].Maps
			maps.Queue[3], maps.Group[4], maps.Group[1], maps.Queue[1] = uint8(rnd.IntN(8)), 3, uint8(rnd.IntN(8)), 5
			for i := range ports {
				r.sw.Cfg.Ports[i].Maps, r.sw.ports[i].maps = &maps, &maps
			}
		}
		a := &audit{t: t, s: r.sw, r: r, head: map[[2]int]int64{}}
		r.sw.node.SetHandler(a)
		for p := range ports {
			at := sim.Time(sim.Microsecond)
			for range 250 {
				size := []int{64, 300, 1086, 4174}[rnd.IntN(4)]
				at = at.Add(rigRate.TxTime(sim.Bytes(size+EthernetOverhead)) + sim.Duration(rnd.IntN(30_000)))
				dst := rnd.IntN(ports)
				if rnd.IntN(3) > 0 {
					dst = 0
				}
				r.testers[p].at(at, frame(dst, []uint8{0, 1, 3, 3, 4}[rnd.IntN(5)], size, packet.ECT0))
			}
		}
		r.testers[0].at(sim.Time(5*sim.Microsecond), pauseFrame(0b00001000, 3000))
		r.run(2 * sim.Millisecond)
		for _, e := range r.events(trace.EventDrop) {
			drops[e.Cause]++
		}
		xoffs, headrooms = xoffs+a.xoffs, headrooms+a.headrooms
	}
	for _, why := range []string{"egress queue full", "headroom exhausted", "priority group full", "buffer memory full"} {
		require.Positive(t, drops[why], "no frame was refused for: %s", why)
	}
	require.Positive(t, xoffs)
	require.Positive(t, headrooms)
}
