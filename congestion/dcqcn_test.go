package congestion

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

func mustDCQCN(t testing.TB, p DCQCNParams) *dcqcn {
	t.Helper()
	a, err := NewDCQCN(p)
	require.NoError(t, err)
	return a.(*dcqcn)
}

// TestStateIsCompact: a fabric has a point per queue pair; two cache lines.
func TestStateIsCompact(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(dcqcnPoint{}), uintptr(128))
}

// TestRecoveryIsMonotone: without CNPs the rate never falls, the target
// neither, alpha never rises, and in the end the rate is the line rate.
func TestRecoveryIsMonotone(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 5))
		p := randomDCQCN(r)
		p.IntegerRates = false // truncation may lose a bit per step
		d := newDCQCNPoint(mustDCQCN(t, p), 100*sim.Gbps)
		now := sim.Time(0)
		for range 20 {
			now = now.Add(sim.Duration(r.IntN(60)) * sim.Microsecond)
			d.OnCNP(now)
		}
		now = now.Add(p.CutInterval) // a pending cut
		d.advance(now)
		d.alphaNow(now.Add(p.AlphaTimer)) // a pending rise of alpha
		rc, rt, alpha := d.rc, d.rt, 1.0
		for range 2000 {
			now = now.Add(sim.Duration(r.IntN(5000)) * sim.Microsecond)
			d.OnSend(now, 5000)
			a := d.alphaNow(now)
			require.True(t, d.rc >= rc && d.rt >= rt && a <= alpha && d.rt >= d.rc, "%v: %+v", now, d)
			rc, rt, alpha = d.rc, d.rt, a
		}
		d.advance(now.Add(1000 * sim.Second))
		require.Equal(t, 100*sim.Gbps, d.Rate(now.Add(1000*sim.Second)))
	}
}

// TestScaleOfRates: DCQCN knows no unit of rate. Four times every rate gives
// four times the result, to the last bit.
func TestScaleOfRates(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 6))
		p := randomDCQCN(r)
		p.IntegerRates = false
		q := p
		q.MinRate, q.FirstCNPRate, q.RAI, q.RHAI = 4*p.MinRate, 4*p.FirstCNPRate, 4*p.RAI, 4*p.RHAI
		one, four := newDCQCNPoint(mustDCQCN(t, p), 25*sim.Gbps), newDCQCNPoint(mustDCQCN(t, q), 100*sim.Gbps)
		now := sim.Time(0)
		for range 300 {
			now = now.Add(sim.Duration(r.IntN(200)) * sim.Microsecond)
			if r.IntN(2) == 0 {
				one.OnCNP(now)
				four.OnCNP(now)
			} else {
				one.OnSend(now, 30000)
				four.OnSend(now, 30000)
			}
			require.Equal(t, 4*one.rc, four.rc)
			require.Equal(t, 4*one.rt, four.rt)
			require.Equal(t, one.alphaNow(now), four.alphaNow(now))
		}
	}
}

// TestScaleOfTime: three times every time, and three times fewer bytes per
// time, give the same rates.
func TestScaleOfTime(t *testing.T) {
	p := sigcomm15()
	q := p
	q.AlphaTimer, q.RateTimer = 3*p.AlphaTimer, 3*p.RateTimer
	fast, slow := newDCQCNPoint(mustDCQCN(t, p), 40*sim.Gbps), newDCQCNPoint(mustDCQCN(t, q), 40*sim.Gbps)
	r := rand.New(rand.NewPCG(1, 7))
	now := sim.Time(0)
	for range 1000 {
		now = now.Add(sim.Duration(r.IntN(100)) * sim.Microsecond)
		if r.IntN(3) == 0 {
			fast.OnCNP(now)
			slow.OnCNP(3 * now)
		} else {
			fast.OnSend(now, 500000)
			slow.OnSend(3*now, 500000)
		}
		require.Equal(t, observe(fast, now), observe(slow, 3*now))
	}
}

// TestTimeOfOriginIsFree: a queue pair opened later behaves the same later.
func TestTimeOfOriginIsFree(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 8))
		a := mustDCQCN(t, randomDCQCN(r))
		early, late := newDCQCNPoint(a, 40*sim.Gbps), newDCQCNPoint(a, 40*sim.Gbps)
		now, origin := sim.Time(0), sim.Time(123456789)
		for range 200 {
			now = now.Add(sim.Duration(r.IntN(100_000)) * sim.Nanosecond)
			early.OnCNP(now)
			late.OnCNP(now + origin)
			require.Equal(t, observe(early, now), observe(late, now+origin))
		}
	}
}

// TestDecayIsThePower: one factor for k ticks against k multiplications, and
// an idle hour of 1 us ticks costs no more than an idle millisecond.
func TestDecayIsThePower(t *testing.T) {
	a := mustDCQCN(t, connectx())
	slow := 1.0
	for k := range uint64(20000) {
		require.InEpsilon(t, slow, a.decay(1, k), 1e-12)
		slow *= 1019.0 / 1024
	}
	require.Zero(t, a.decay(1, 3_600_000_000))
	require.Equal(t, 0.75, a.decay(0.75, 0))
	p := connectx()
	p.G = 0
	require.Equal(t, 1.0, mustDCQCN(t, p).decay(1, 1<<62))
}

// TestMaxRateIsTheLine: a cap acts as a slower port.
func TestMaxRateIsTheLine(t *testing.T) {
	p := sigcomm15()
	p.MaxRate = 10 * sim.Gbps
	capped, slow := mustDCQCN(t, p).NewReactionPoint(100*sim.Gbps, 0), mustDCQCN(t, sigcomm15()).NewReactionPoint(10*sim.Gbps, 0)
	for i := range 1000 {
		now := sim.Time(i) * sim.Time(7*sim.Microsecond)
		if i%100 < 10 {
			capped.OnCNP(now)
			slow.OnCNP(now)
		}
		require.Equal(t, slow.Rate(now), capped.Rate(now))
	}
}

// TestVariableWindow follows the rate and never closes.
func TestVariableWindow(t *testing.T) {
	p := hpcc()
	p.VariableWindow = 100 * sim.KB
	rp := mustDCQCN(t, p).NewReactionPoint(100*sim.Gbps, 0)
	require.Equal(t, 100*sim.KB, rp.Window(0))
	rp.OnCNP(0)
	now := sim.Time(5 * sim.Microsecond)
	require.InDelta(t, 100e3*float64(rp.Rate(now))/100e9, float64(rp.Window(now)), 1)
	p.VariableWindow = 1
	rp = mustDCQCN(t, p).NewReactionPoint(100*sim.Gbps, 0)
	rp.OnCNP(0)
	require.Equal(t, sim.Bytes(1), rp.Window(now))
}

// FuzzDCQCN drives points of arbitrary parameters: parameters are refused, or
// the point keeps to its bounds and agrees with its eager twin.
func FuzzDCQCN(f *testing.F) {
	f.Add(uint64(1), []byte{0, 1, 2, 3, 200, 7, 9})
	f.Add(uint64(7), []byte("a train of marks and sends"))
	f.Fuzz(func(t *testing.T, seed uint64, train []byte) {
		r := rand.New(rand.NewPCG(seed, 9))
		p := randomDCQCN(r)
		p.F = int(seed % 7)
		p.G = sim.Ratio(float64(seed%1001) / 1000)
		p.ByteCounter = sim.Bytes(seed % 100000)
		a, err := NewDCQCN(p)
		if err != nil {
			return
		}
		d, e := newDCQCNPoint(a.(*dcqcn), 100*sim.Gbps), newEager(p, 100*sim.Gbps)
		now := sim.Time(0)
		for len(train) >= 3 && now < sim.Time(sim.Second) {
			now = now.Add(sim.Duration(binary.LittleEndian.Uint16(train)) * 10 * sim.Nanosecond)
			if train[2]&1 == 0 {
				d.OnCNP(now)
				e.cnp(now)
			} else {
				n := sim.Bytes(train[2]) * 40
				d.OnSend(now, n)
				e.send(now, n)
			}
			train = train[3:]
			rate := d.Rate(now)
			if rate <= 0 || rate > 100*sim.Gbps || !near(d.rc, e.rc, 1e-9) || !near(d.rt, e.rt, 1e-9) {
				t.Fatalf("at %v: rc %v eager %v, rt %v eager %v, %+v", now, d.rc, e.rc, d.rt, e.rt, p)
			}
		}
	})
}
