package validation

import (
	"flag"
	"fmt"
	"testing"

	"rdmasim/congestion/fluid"
	"rdmasim/scenarios"
	"rdmasim/sim"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pointsSeed and points vary the points that are drawn: go test
// ./scenarios/validation -run OddPoints -points-seed 7.
var (
	pointsSeed = flag.Uint64("points-seed", 1, "seed of the points that no table lists")
	pointsMore = flag.Int("points", 6, "how many of them a long test draws for each row")
)

// draws takes what it needs for points that nobody has chosen.
type draws struct{ *sim.Rand }

func (d draws) between(low, high int) int { return low + int(d.Uint64()%uint64(high-low+1)) }

func (d draws) rate() sim.Rate {
	return []sim.Rate{10, 25, 40, 50, 100, 200, 400, 800}[d.between(0, 7)] * sim.Gbps
}

func (d draws) mtu() int { return 256 << d.between(0, 4) }

// metres are those of cables, whose frames under way a buffer of a few MB holds.
func (d draws) metres(rate sim.Rate) int {
	list := []int{1, 3, 40, 300, 2000}
	if rate > 100*sim.Gbps {
		list = list[:4]
	}
	return list[d.between(0, len(list)-1)]
}

// oddPoints check a row at a point that is drawn; cheap ones take moments.
var oddPoints = map[string]struct {
	cheap bool
	check func(b *Bench, d draws) error
}{
	"F1": {true, func(b *Bench, d draws) error {
		rate := d.rate()
		_, err := b.stream(rate, d.mtu(), []string{"none", "vlan", "ipv6"}[d.between(0, 2)], fmt.Sprintf("topology.star.cable=%dm", d.metres(rate)))
		return err
	}},
	"F2": {true, func(b *Bench, d draws) error {
		_, err := b.pauseOnce(d.rate(), d.between(50, fluid.MaxQuanta))
		return err
	}},
	"F5": {true, func(b *Bench, d draws) error {
		_, err := b.readBetweenWrites(uint32(d.between(0, 1<<24-1)), d.mtu(), uint32(d.between(0, 60_000)))
		return err
	}},
	"Q1": {false, func(b *Bench, d draws) error {
		rho := float64(d.between(20, 80)) / 100
		p := port{d.rate(), d.between(32, 120)}
		for _, l := range lawsOfService() {
			if _, err := b.waiting(l, p, rho, 500_000); err != nil {
				return err
			}
		}
		return nil
	}},
	"Q2": {true, func(b *Bench, d draws) error {
		// A message is many packets: the one that is shorter, and the header of
		// the first, are not in the formula.
		c := incastCase{senders: d.between(2, 40), mtu: d.mtu(), rate: d.rate()}
		c.message = sim.Bytes(c.mtu * d.between(100, 1000))
		_, _, err := b.incast(c, fmt.Sprintf("topology.star.cable=%dm", d.metres(c.rate)))
		return err
	}},
	"B1": {false, func(b *Bench, d draws) error {
		c := boundCase{sw: fluid.SwitchBuffer{Ports: d.between(8, 40), Priorities: 8, Flight: sim.Bytes(d.between(5, 60)) * sim.KB}, beta: float64(d.between(1, 64)) / 2, frames: 4*d.between(0, 1) - 2}
		// What is left gives each queue 8 to 40 KB.
		c.sw.Buffer = sim.Bytes(8*c.sw.Ports) * (c.sw.Flight + sim.Bytes(d.between(8, 40))*sim.KB)
		c.alpha = fmt.Sprint(c.beta / 8)
		_, err := b.whoIsFirst(c)
		return err
	}},
	"B2": {true, func(b *Bench, d draws) error {
		e := d.between(-6, 3)
		c := fullBuffer{n: d.between(1, 40), rate: d.rate(), size: sim.Bytes(d.between(6, 40)) * sim.MB, mtu: d.mtu()}
		if c.alpha, c.value = fmt.Sprintf("1/%d", 1<<max(0, -e)), 1/float64(int(1)<<max(0, -e)); e > 0 {
			c.alpha, c.value = fmt.Sprint(1<<e), float64(int(1)<<e)
		}
		_, err := b.saturate(c)
		return err
	}},
	"B3": {false, func(b *Bench, d draws) error {
		c := roomCase{rate: d.rate(), mtu: d.mtu(), write: d.between(0, 1) == 1, response: sim.Duration(d.between(0, 2000)) * sim.Nanosecond}
		c.cable = d.metres(c.rate)
		_, err := b.room(c, 40)
		return err
	}},
	"D1": {false, func(b *Bench, d draws) error {
		n := d.between(2, 12)
		// From 3.5 to 30 Gb/s for each: a fixed point exists from 2.67 on.
		rate := sim.Rate(n) * sim.Rate(d.between(35, 300)) * 100 * sim.Mbps
		_, _, err := b.standStill(longFlows{n: n, rate: min(rate, 200*sim.Gbps), packet: 250 * d.between(2, 6), sets: []string{"warmup=200ms", "duration=500ms"}})
		return err
	}},
	"D6": {true, func(b *Bench, d draws) error {
		timer := sim.Duration(d.between(20, 400)) * sim.Microsecond
		_, _, err := b.react(reaction{line: d.rate(), g: 1 / float64(d.between(2, 1024)), cnps: d.between(1, 9), gap: min(timer, sim.Duration(d.between(1, 100))*sim.Microsecond) - 1, timer: timer,
			f: d.between(1, 9), rai: sim.Rate(d.between(1, 500)) * sim.Mbps, observed: 100})
		return err
	}},
	"P1": {false, func(b *Bench, d draws) error {
		ports := []int{d.between(2, 6), d.between(1, 4)}
		if d.between(0, 1) == 1 {
			ports = append(ports, d.between(1, 3))
		}
		rate := d.rate()
		// The buffer is that of the scenario at every speed, as a time, and each host
		// has more posted, 40 messages, than the sixteenth that its port may fill: or
		// what it posts, not PFC, would hold it back.
		bytes := max(12_000_000, 300_000*int64(rate/sim.Gbps))
		buffer, message := fmt.Sprintf("switch.buffer.size=%dB", bytes), fmt.Sprintf("traffic.0.incast.message=%dB", bytes/120)
		_, err := b.park(lot{name: fmt.Sprint(ports), rate: rate, mtu: d.mtu(), ports: ports, sets: []string{buffer, message}})
		return err
	}},
	"P2": {true, func(b *Bench, d draws) error {
		p := everyKth{verb: []string{"write", "send", "read"}[d.between(0, 2)], mtu: d.mtu(), rate: d.rate(), delay: 500 * sim.Nanosecond}
		// About 3 us are under way, of which a loss is to be a third at most.
		p.every = d.between(max(50, 3*int(p.rate.BytesIn(3*sim.Microsecond))/p.mtu), 900)
		_, _, _, err := b.loseEvery(p)
		return err
	}},
	"P4": {true, func(b *Bench, d draws) error {
		ms := sim.Millisecond
		poll := sim.Duration(d.between(1, 40)) * 10 * ms
		detect := max(100*ms, poll*sim.Duration(d.between(10, 45))/10)
		_, _, err := b.storm(storms{poll: poll, detect: detect, restore: max(100*ms, poll*sim.Duration(d.between(10, 60))/10)}, d.between(1, 999))
		return err
	}},
	"P5": {false, func(b *Bench, d draws) error {
		n := d.between(2, 8)
		c := loopCase{n: n, ttl: d.between(4, 64), link: d.rate()}
		for _, e := range c.entries() {
			if err := b.goRound(c, e); err != nil {
				return err
			}
		}
		return nil
	}},
	"R1": {false, func(b *Bench, d draws) error {
		c := lossCase{p: 1 / float64(d.between(80, 3000)), rate: d.rate(), mtu: d.mtu(), delay: sim.Duration(d.between(200, 3000)) * sim.Nanosecond}
		for c.timeout = 2; scenarios.AckTimeout(c.timeout) < 4*(c.rate.TxTime(plainWire(c.mtu))+2*c.delay); c.timeout++ {
		}
		_, err := b.lose(c)
		return err
	}},
	"R2": {true, func(b *Bench, d draws) error {
		if _, err := b.loseLast(lastLost{n: d.between(1, 22), packets: d.between(2, 200)}); err != nil {
			return err
		}
		_, err := b.silentPeer(silence{n: d.between(1, 20), retries: d.between(0, 7)})
		return err
	}},
	"T1": {true, func(b *Bench, d draws) error { _, _, err := b.fatTree(2 * d.between(1, 10)); return err }},
	"T3": {false, func(b *Bench, d draws) error {
		spines := d.between(2, 9)
		t := tree{fmt.Sprint(spines, " spines"), fmt.Sprintf("leaf_spine: {leaves: 2, spines: %d, hosts_per_leaf: 4, rate: %v, delay: 1us}", spines, d.rate()), "spine", spines, "h7", "h1", "h6"}
		if err := b.keepPath(t, 4); err != nil {
			return err
		}
		_, err := b.collisions(t, d.between(2, 6), 24)
		return err
	}},
	"S1": {true, func(b *Bench, d draws) error {
		c := step{mtu: d.mtu(), rate: d.rate(), packets: d.between(40, 200)}
		c.packets = min(c.packets, int(c.rate.BytesIn(70*sim.Microsecond))/c.mtu)
		c.threshold = sim.Bytes(d.between(1, c.packets)) * sim.Bytes(c.mtu)
		if err := b.dequeue(c); err != nil {
			return err
		}
		return b.twoPriorities(rates{a: d.between(10, 98), b: d.between(10, 98)}, "")
	}},
}

// drawn checks rows at points that are drawn.
func drawn(t *testing.T, level Level, n int, all bool) {
	for _, id := range IDs() {
		row, ok := oddPoints[id]
		if !ok || !row.cheap && !all {
			continue
		}
		t.Run(id, func(t *testing.T) {
			r, err := Lookup(id)
			require.NoError(t, err)
			d := draws{sim.NewRand(*pointsSeed, "points of "+id)}
			for range n {
				b := newBench(t.Context(), id, r, t.TempDir(), Options{Level: level})
				require.NoError(t, row.check(b, d))
				require.NotEmpty(t, b.result.Checks)
				for _, c := range b.result.Checks {
					assert.True(t, c.OK, "%s: expected %s (%s), measured %s", c.What, c.Expected, c.Tolerance, c.Measured)
					t.Logf("%s: expected %s, measured %s", c.What, c.Expected, c.Measured)
				}
			}
		})
	}
}

// Rows hold at points that no table lists.
func TestOddPoints(t *testing.T) { drawn(t, Short, 1, false) }

func TestLongOddPoints(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes")
	}
	drawn(t, Quick, *pointsMore, true)
}
