package fabric

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

const us = sim.Time(sim.Microsecond)

// Maps decide which queue a frame joins, which group it is charged to, and
// which priority a pause names.
func TestMapsDecide(t *testing.T) {
	th, err := buildThreshold("static", StaticParams{Bytes: 3000})
	require.NoError(t, err)
	r := newRig(t, 2, 1<<3, func(c *SwitchConfig) {
		maps := PlainMaps()
		maps.Class[26] = 5                  // DSCP 26 is class 5
		maps.Queue[5], maps.Group[5] = 2, 4 // which leaves by queue 2 and is charged to group 4
		maps.Asks = [8]uint8{4: 1 << 3}     // whose pauses name priority 3
		maps.Stops = [8]uint8{3: 1 << 2}    // and pauses of priority 3 stop queue 2
		for i := range c.Ports {
			c.Ports[i].Maps = &maps
			c.Ports[i].MMU.Groups[4] = GroupConfig{Threshold: th, Headroom: 20_000}
			c.Ports[i].MMU.Queues[2].Threshold = nil
		}
	})
	r.testers[0].at(us, pauseFrame(1<<3, 65535))
	end := r.stream(1, 2*us, 10, frame(0, 26, 1000, packet.ECT0))
	r.testers[0].at(end.Add(5*sim.Microsecond), pauseFrame(1<<3, 0))
	r.run(100 * sim.Microsecond)
	assert.Len(t, r.testers[0].got, 10)
	assert.Greater(t, r.testers[0].got[0].at, end.Add(5*sim.Microsecond), "priority 3 stopped queue 2")
	require.NotEmpty(t, r.testers[1].pause)
	assert.Equal(t, uint8(1<<3), r.testers[1].pause[0].Classes)
	assert.Equal(t, uint16(65535), r.testers[1].pause[0].Quanta)
	assert.Equal(t, 3000.0, r.counter(100*sim.Microsecond, "sw:1", 4, trace.CountSharedMax))
	assert.Equal(t, 10000.0, r.counter(100*sim.Microsecond, "sw:0/q2", 2, trace.CountQueueMax))
}

// One wrong entry of a map: the class that PFC protects lands in a queue that
// pauses do not stop and that is bounded, and is dropped there; or the pause
// names a priority that the sender does not use, and the headroom overflows.
func TestWrongMapsHurt(t *testing.T) {
	th, err := buildThreshold("static", StaticParams{Bytes: 5000})
	require.NoError(t, err)
	for _, c := range []struct {
		name  string
		wrong func(*Maps)
		cause string
	}{
		{"right", func(*Maps) {}, ""},
		{"class to queue", func(m *Maps) { m.Queue[3] = 0 }, "egress queue full"},
		{"class to group", func(m *Maps) { m.Group[3] = 0 }, "priority group full"},
		{"pause to queue", func(m *Maps) { m.Stops[3] = 1 << 4 }, ""},
	} {
		r := newRig(t, 3, 1<<3, func(cfg *SwitchConfig) {
			maps := PlainMaps()
			c.wrong(&maps)
			for i := range cfg.Ports {
				cfg.Ports[i].Maps = &maps
				m := plainMMU(th, th, 0, 50_000, 0, 1<<3)
				m.Groups[0].Threshold = th
				cfg.Ports[i].MMU = m
			}
		})
		r.testers[0].at(us, pauseFrame(1<<3, 2000)) // 10.24 us
		for port := 1; port <= 2; port++ {
			r.stream(port, 2*us, 20, frame(0, 3, 1000, packet.ECT0))
		}
		r.run(100 * sim.Microsecond)
		drops := r.events(trace.EventDrop)
		if c.cause != "" {
			require.NotEmpty(t, drops, c.name)
			assert.Equal(t, c.cause, drops[0].Cause, c.name)
			assert.Less(t, len(r.testers[0].got), 40, c.name)
			continue
		}
		assert.Empty(t, drops, c.name)
		assert.Len(t, r.testers[0].got, 40, c.name)
		assert.Equal(t, c.name == "right", r.testers[0].got[0].at > 11*us, "%s: a pause of another queue stops nothing", c.name)
	}
}

// An 802.3x pause stops the whole link of a port in that mode, and nothing of a
// port under PFC, which counts it apart; the other way round as well.
func TestGlobalPause(t *testing.T) {
	global := packet.Packet{Kind: packet.Pause, Quanta: 200, Size: 64, Src: -1, Dst: -1} // 200 quanta at 100G: 1.024 us
	for _, c := range []struct {
		name   string
		mode   bool
		pause  packet.Packet
		stops3 bool
		stops6 bool
	}{
		{"802.3x at a PFC port", false, global, false, false},
		{"802.3x at an 802.3x port", true, global, true, true},
		{"PFC at a PFC port", false, pauseFrame(1<<3, 200), true, false},
		{"PFC at an 802.3x port", true, pauseFrame(1<<3, 200), false, false},
	} {
		r := newRig(t, 2, 1<<3, func(cfg *SwitchConfig) { cfg.Ports[0].Global = c.mode })
		r.testers[0].at(us, c.pause)
		for _, dscp := range []uint8{3, 6} {
			r.testers[1].at(us+us/2, frame(0, dscp, 64, packet.ECT0))
		}
		r.run(50 * sim.Microsecond)
		require.Len(t, r.testers[0].got, 2)
		late := map[uint8]bool{}
		for _, a := range r.testers[0].got {
			late[a.DSCP] = a.at > 2*us
		}
		assert.Equal(t, c.stops3, late[3], c.name)
		assert.Equal(t, c.stops6, late[6], c.name)
		now := 50 * sim.Microsecond
		if c.pause.Kind == packet.Pause {
			assert.Equal(t, 1.0, r.counter(now, "sw:0", -1, trace.CountPauseXoffRx), c.name)
			assert.Zero(t, r.counter(now, "sw:0", 3, trace.CountPFCXoffRx))
		}
		want := 0.0
		if c.stops3 {
			want = (200 * 512 * sim.Picosecond * 10).Seconds() // a bit lasts 10 ps
		}
		prio := 3
		if c.mode {
			prio = -1
		}
		assert.InDelta(t, want, r.counter(now, "sw:0", prio, trace.CountPausedSeconds), 1e-12, c.name)
	}
}

// A port in 802.3x mode that is congested in two classes sends one pause, and
// ends it when neither class needs it.
func TestGlobalPauseIsSent(t *testing.T) {
	th, err := buildThreshold("static", StaticParams{Bytes: 3000})
	require.NoError(t, err)
	r := newRig(t, 2, 1<<3|1<<4, func(c *SwitchConfig) {
		for i := range c.Ports {
			c.Ports[i].MMU = plainMMU(th, nil, 0, 50_000, 1000, 1<<3|1<<4)
		}
		c.Ports[1].Global = true
	})
	r.testers[0].at(us, pauseFrame(1<<3|1<<4, 1000)) // 5.12 us
	at := r.stream(1, us, 6, frame(0, 3, 1000, packet.ECT0))
	r.stream(1, at, 6, frame(0, 4, 1000, packet.ECT0))
	r.run(100 * sim.Microsecond)
	var quanta []uint16
	for _, p := range r.testers[1].pause {
		require.Equal(t, packet.Pause, p.Kind)
		quanta = append(quanta, p.Quanta)
	}
	assert.Equal(t, []uint16{65535, 65535, 0}, quanta, "XOFF of each class, one XON")
	assert.Len(t, r.testers[0].got, 12)
}

// A headroom pool that holds the headroom of m groups loses nothing while no
// more than m of them are beyond their thresholds, and loses when one more is:
// over-subscription is a bet on how many.
func TestSharedHeadroomBound(t *testing.T) {
	th, err := buildThreshold("static", StaticParams{Bytes: 10_000})
	require.NoError(t, err)
	const room = 20_000 // each sender goes on for so long after its XOFF
	for m := 1; m <= 4; m++ {
		for busy := 1; busy <= 5; busy++ {
			r := newRig(t, 6, 1<<3, func(c *SwitchConfig) {
				c.MMU.Pools[0].Headroom = int64(m) * room
				for i := range c.Ports {
					c.Ports[i].MMU = plainMMU(th, nil, 0, room, 0, 1<<3)
				}
			})
			r.testers[0].at(us, pauseFrame(1<<3, 65535))
			for port := 1; port <= busy; port++ {
				r.stream(port, us, 30, frame(0, 3, 1000, packet.ECT0)) // threshold and headroom, to the byte
			}
			r.run(50 * sim.Microsecond)
			drops := len(r.events(trace.EventDrop))
			assert.Equal(t, max(busy-m, 0)*20, drops, "headroom for %d, %d busy", m, busy)
			assert.Equal(t, float64(min(busy, m)*room), r.counter(50*sim.Microsecond, "sw/pool", -1, trace.CountPoolHeadroomMax))
		}
	}
}

// XON comes at the larger of xon and threshold less xon_offset.
func TestResumeLevel(t *testing.T) {
	th, err := buildThreshold("static", StaticParams{Bytes: 20_000})
	require.NoError(t, err)
	for _, c := range []struct{ xon, offset, want int64 }{{0, 5000, 15_000}, {8000, 5000, 15_000}, {18_000, 5000, 18_000}, {8000, 0, 8000}, {0, 30_000, 0}} {
		r := newRig(t, 2, 1<<3, func(cfg *SwitchConfig) {
			for i := range cfg.Ports {
				cfg.Ports[i].MMU = plainMMU(th, nil, 0, 50_000, c.offset, 1<<3)
				cfg.Ports[i].MMU.Groups[3].Xon = c.xon
			}
		})
		r.testers[0].at(us, pauseFrame(1<<3, 1000))
		r.stream(1, us, 30, frame(0, 3, 1000, packet.ECT0))
		r.run(100 * sim.Microsecond)
		xon := r.events(trace.EventXon)
		require.Len(t, xon, 1)
		assert.Equal(t, float64(c.want), xon[0].Value, "xon %d, xon_offset %d", c.xon, c.offset)
	}
}
