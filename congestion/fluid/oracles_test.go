package fluid

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// TestExplain: every oracle says what, how and who; docstrings that name an
// oracle name one that exists, and every oracle is named by a function.
func TestExplain(t *testing.T) {
	require.NotEmpty(t, Oracles())
	named := map[string]bool{}
	fset := token.NewFileSet()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	mention := regexp.MustCompile(`Source:\s+the\s+oracle\s+([a-z0-9_]+)`)
	for _, name := range files {
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil {
				continue
			}
			for _, m := range mention.FindAllStringSubmatch(f.Doc.Text(), -1) {
				_, err := Explain(m[1])
				require.NoError(t, err, f.Name.Name)
				named[m[1]] = true
			}
		}
	}
	for i, o := range Oracles() {
		require.True(t, named[o.ID], "no function computes %s", o.ID)
		require.NotEmpty(t, o.Title, o.ID)
		require.NotEmpty(t, o.Equation, o.ID)
		require.NotEmpty(t, o.Source, o.ID)
		require.Contains(t, o.String(), o.Source)
		if i > 0 {
			require.Less(t, Oracles()[i-1].ID, o.ID)
		}
	}
	_, err = Explain("tea_leaves")
	require.ErrorContains(t, err, "dcqcn_fixed_point")
}

func TestGoBackN(t *testing.T) {
	for _, c := range []struct{ p, w, want float64 }{
		{1e-4, 50, 0.99502}, {1e-3, 50, 0.9523}, {1.0 / 256, 50, 0.8361},
		{1e-4, 100, 0.9901}, {1e-3, 100, 0.909}, {1.0 / 256, 100, 0.7183},
		{0, 100, 1}, {1, 100, 0},
	} {
		require.InDelta(t, c.want, GoBackN(c.p, c.w), 1e-4, "p %v, W %v", c.p, c.w)
	}
	require.InDelta(t, 1-50.0/256, GoBackNPeriodic(256, 50), 1e-12)
	require.Zero(t, GoBackNPeriodic(256, 300))
	require.Equal(t, 0.999, SelectiveRepeat(0.001))
	require.InEpsilon(t, GoBackN(1e-3, 1), SelectiveRepeat(1e-3), 1e-9, "W = 1 is selective repeat")
	// 8 us at 100 Gb/s are 100 KB: 100 packets of 1000 B.
	require.InDelta(t, 101, RecoveryWindow(8*sim.Microsecond, 100*sim.Gbps, 1000), 1e-9)
}

// TestGoBack0 is the livelock of SIGCOMM'16: 4000 packets, one in 256 lost.
func TestGoBack0(t *testing.T) {
	require.InEpsilon(t, 1.61e9, GoBack0Packets(1.0/256, 4000), 5e-3)
	require.InEpsilon(t, 2.5e-6, 4000/GoBack0Packets(1.0/256, 4000), 1e-2)
	require.Equal(t, 4000.0, GoBack0Packets(0, 4000))
	require.InEpsilon(t, 1/(1-0.25), GoBack0Packets(0.25, 1), 1e-12, "one packet: geometric")
	require.True(t, GoBack0Completes(256, 255))
	require.False(t, GoBack0Completes(256, 256))
	require.False(t, GoBack0Completes(256, 4000))
}

func TestDynamicThreshold(t *testing.T) {
	for _, c := range []struct {
		buffer sim.Bytes
		alpha  float64
		n      int
		want   float64
	}{
		{12 * sim.MB, 1, 1, 6e6}, {12 * sim.MB, 1, 4, 2.4e6}, {12 * sim.MB, 1.0 / 16, 1, 705.9e3}, {12 * sim.MB, 8, 32, 373.5e3},
		{9 * sim.MB, 1.0 / 16, 1, 529.4e3}, {9 * sim.MB, 1.0 / 64, 1, 138.5e3},
	} {
		got := DynamicThreshold(c.buffer, c.alpha, c.n)
		require.InEpsilon(t, c.want, got, 5e-4)
		require.InEpsilon(t, float64(c.buffer), float64(c.n)*got+DynamicFree(c.buffer, c.alpha, c.n), 1e-12, "conservation")
	}
	require.InDelta(t, 3.82, DynamicThreshold(9*sim.MB, 1.0/16, 1)/DynamicThreshold(9*sim.MB, 1.0/64, 1), 5e-3)
}

func TestSIGCOMM15Thresholds(t *testing.T) {
	s := SwitchBuffer{Buffer: 12 * sim.MB, Ports: 32, Priorities: 8, Flight: 22400}
	require.InDelta(t, 24475, s.PFC(), 0.01)
	require.InDelta(t, 764.8, s.StaticECN(), 0.1)
	require.InDelta(t, 21756, s.DynamicECN(8), 0.5)
	require.Less(t, s.DynamicECN(1e9), s.PFC()+1e-3, "a dynamic threshold never beats an empty buffer")
}

func TestHPCCQueue(t *testing.T) {
	headroom := HPCCHeadroom(100*sim.Gbps, sim.Microsecond)
	require.Equal(t, sim.Bytes(37500), headroom)
	require.InEpsilon(t, 6.694e6, HPCCQueue(32*sim.MiB, headroom, 2), 1e-4)
	require.InEpsilon(t, 16.81e6, HPCCQueue(32*sim.MiB, headroom, 8), 1.5e-2, "that model's maximum, frames in flight at XOFF included")
	// The same by the law of dynamic thresholds with alpha 1/8 on what is left.
	left := 32*sim.MiB - 3*(headroom+4096)
	require.InEpsilon(t, DynamicThreshold(left, 1.0/8, 2), HPCCThreshold(32*sim.MiB, headroom, 2), 1e-12)
}

func TestHeadroom(t *testing.T) {
	for frame, want := range map[sim.Bytes]sim.Bytes{1086: 7296, 1102: 7328, 4174: 13472} {
		require.Equal(t, want, IdealHeadroom(100*sim.Gbps, (40*sim.Metre).Delay(), 0, frame))
	}
	require.Equal(t, sim.Bytes(7296+1250), IdealHeadroom(100*sim.Gbps, 200*sim.Nanosecond, 100*sim.Nanosecond, 1086))
	for _, c := range []struct {
		rate            sim.Rate
		cable           sim.Length
		frame, lossless sim.Bytes
		want            sim.Bytes
	}{
		{40 * sim.Gbps, 100 * sim.Metre, 1518, 1518, 21856},
		{40 * sim.Gbps, 1 * sim.Metre, 9216, 2300, 25386},
		{100 * sim.Gbps, 100 * sim.Metre, 9216, 9216, 86992},
	} {
		got, err := BitTimeHeadroom(c.rate, c.cable, c.frame, c.lossless)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	// Bytes on the wire by hand: (5000 + 1106 + 84)/1106 = 5.6; (5000 + 4194 + 84)/4194 = 2.2; 2 km at 50 Gb/s: (125000 + 1106 + 84)/1106 = 114.1.
	for _, c := range []struct {
		rate  sim.Rate
		cable sim.Length
		frame sim.Bytes
		want  int64
	}{{100 * sim.Gbps, 40 * sim.Metre, 1086, 6}, {100 * sim.Gbps, 40 * sim.Metre, 4174, 3}, {50 * sim.Gbps, 2000 * sim.Metre, 1086, 115}} {
		require.Equal(t, c.want, IdealHeadroomFrames(c.rate, c.cable.Delay(), 0, c.frame))
	}
	_, err := BitTimeHeadroom(400*sim.Gbps, sim.Metre, 1518, 1518)
	require.ErrorContains(t, err, "400Gbps")
}

func TestPause(t *testing.T) {
	for rate, us := range map[sim.Rate]float64{10: 3355.39, 25: 1342.16, 40: 838.85, 100: 335.54, 200: 167.77, 400: 83.89} {
		require.InDelta(t, us, PauseTime(rate*sim.Gbps, MaxQuanta).Seconds()*1e6, 0.01)
	}
	require.Equal(t, 51200*sim.Picosecond, PauseTime(10*sim.Gbps, 1))
	require.Zero(t, PauseTime(10*sim.Gbps, 0))
	for rate, fps := range map[sim.Rate]float64{10: 298.0, 40: 1192.1, 100: 2980.3} {
		require.InDelta(t, fps, PauseRefresh(rate*sim.Gbps), 0.06)
	}
	require.InDelta(t, 0.168, PausedShare(40*sim.Gbps, 200), 5e-4)
	require.Equal(t, 1.0, PausedShare(40*sim.Gbps, 2000), "the storm of SIGCOMM'16 blocks for good")
}

func TestLoopDeadlock(t *testing.T) {
	require.Equal(t, 5e9, LoopDeadlockRate(2, 40*sim.Gbps, 16))
	require.InDelta(t, 5.33e9, LoopDeadlockRateStrict(2, 40*sim.Gbps, 16), 0.01e9)
}

func TestQueues(t *testing.T) {
	for _, c := range []struct{ rho, md1, mm1 float64 }{
		{0.5, 0.25, 0.5}, {0.7, 0.8167, 1.633}, {0.8, 1.6, 3.2}, {0.9, 4.05, 8.1}, {0.95, 9.025, 18.05},
	} {
		require.InEpsilon(t, c.md1, MD1Waiting(c.rho), 5e-4)
		require.InEpsilon(t, c.mm1, MM1Waiting(c.rho), 5e-4)
		require.InEpsilon(t, c.rho/(1-c.rho), MM1Present(c.rho), 1e-12)
		require.InEpsilon(t, MD1Waiting(c.rho), c.rho*MD1Wait(c.rho), 1e-12, "Little")
		mean := 0.0 // the sum of the tail is the mean
		for k := range 5000 {
			mean += MM1Tail(c.rho, k)
		}
		require.InEpsilon(t, MM1Present(c.rho), mean, 1e-9)
	}
	require.Zero(t, MD1Waiting(0))
	require.True(t, math.IsInf(MD1Waiting(1), 1) && math.IsInf(MM1Waiting(1.2), 1) && math.IsInf(MD1Wait(1), 1))
}

func TestWireEfficiency(t *testing.T) {
	for _, c := range []struct {
		mtu                     sim.Bytes
		v4, vlan, v6, reth, bps float64
	}{
		{256, 0.757396, 0.748538, 0.715084, 0.723164, 75.740},
		{512, 0.861953, 0.856187, 0.833876, 0.839344, 86.195},
		{1024, 0.925859, 0.922523, 0.909414, 0.912656, 92.586},
		{2048, 0.961502, 0.959700, 0.952558, 0.954334, 96.150},
		{4096, 0.980373, 0.979436, 0.975703, 0.976633, 98.037},
	} {
		require.InDelta(t, c.v4, Framing{}.Efficiency(c.mtu), 5e-7)
		require.InDelta(t, c.vlan, Framing{VLAN: true}.Efficiency(c.mtu), 5e-7)
		require.InDelta(t, c.v6, Framing{IPv6: true}.Efficiency(c.mtu), 5e-7)
		require.InDelta(t, c.reth, Framing{RETH: true}.Efficiency(c.mtu), 5e-7)
		require.InDelta(t, c.bps, 100*Framing{}.Efficiency(c.mtu), 5e-4)
	}
	require.Equal(t, sim.Bytes(1086), Framing{}.Frame(1024))
	require.Equal(t, sim.Bytes(1102), Framing{RETH: true}.Frame(1024))
	for _, c := range []struct {
		message, mtu sim.Bytes
		us           float64
	}{{sim.MiB, 1024, 90.605}, {sim.MiB, 4096, 85.567}, {64, 1024, 0.01296}} {
		require.InDelta(t, c.us, Framing{}.WriteTime(100*sim.Gbps, c.message, c.mtu).Seconds()*1e6, 1e-3)
	}
	require.Equal(t, (100 * sim.Gbps).TxTime(62+16+20), Framing{}.WriteTime(100*sim.Gbps, 0, 1024), "an empty message is one packet")
	require.Equal(t, (100 * sim.Gbps).TxTime(2*82+1025+16), Framing{}.WriteTime(100*sim.Gbps, 1025, 1024))
}

func TestIncast(t *testing.T) {
	eight := Incast{Senders: 8, Message: 64 * sim.KB, Payload: 1024, Frame: 1086, Rate: 100 * sim.Gbps}
	require.InDelta(t, 44.24e-6, eight.Finish(), 5e-9)
	require.InDelta(t, 475125, eight.Peak(), 0.5)
	sixteen := Incast{Senders: 16, Message: sim.MB, Payload: 1024, Frame: 1086, Rate: 100 * sim.Gbps, Base: sim.Microsecond}
	require.InDelta(t, 1383.5e-6, sixteen.Finish(), 5e-8)
	require.Zero(t, Incast{Senders: 1, Message: sim.MB, Payload: 1024, Frame: 1086, Rate: 100 * sim.Gbps}.Peak())
	// Seven senders too many at 12.5 GB/s for 10 us, but never more than they have.
	require.InDelta(t, 875e3, Incast{Senders: 8, Message: sim.GB, Payload: 1024, Frame: 1086, Rate: 100 * sim.Gbps}.FirstBurst(10*sim.Microsecond), 1e-3)
	require.Equal(t, eight.Peak(), eight.FirstBurst(sim.Second))
}

func TestPath(t *testing.T) {
	p := Path{Links: 3, Rate: 100 * sim.Gbps, Prop: 3 * sim.Microsecond}
	require.Equal(t, 3*sim.Microsecond+3*80*sim.Nanosecond, p.OneWay(1000, 1))
	require.Equal(t, 3*sim.Microsecond+12*80*sim.Nanosecond, p.OneWay(1000, 10))
	p.CutThrough = 100
	require.Equal(t, 3*sim.Microsecond+2*8*sim.Nanosecond+80*sim.Nanosecond, p.OneWay(1000, 1))
	p.CutThrough = 9000
	require.Equal(t, 3*sim.Microsecond+3*80*sim.Nanosecond, p.OneWay(1000, 1), "a header longer than the frame saves nothing")
	// htsim's single flow: 2500 packets of 4160 B over 6 links of 1 us at
	// 100 Gb/s, and the ACK of 64 B back: 845.695 us.
	htsim := Path{Links: 6, Rate: 100 * sim.Gbps, Prop: 6 * sim.Microsecond}
	require.InDelta(t, 845.695, (htsim.OneWay(4160, 2500)+htsim.OneWay(64, 1)).Seconds()*1e6, 5e-4)
}

func TestParkingLot(t *testing.T) {
	require.Equal(t, []float64{20e9, 20e9 / 3}, ParkingLot(40*sim.Gbps, 40*sim.Gbps, 1, 3))
	got := ParkingLot(40*sim.Gbps, 40*sim.Gbps, 1, 2, 1)
	require.InDeltaSlice(t, []float64{13.33e9, 6.67e9, 13.33e9}, got, 0.01e9)
	for _, split := range [][]int{{1}, {5, 0, 2}, {1, 1, 1, 1}, {7, 3, 9, 2}} {
		sum := 0.0
		for i, r := range ParkingLot(40*sim.Gbps, 40*sim.Gbps, split...) {
			sum += r * float64(split[i])
		}
		require.InEpsilon(t, 40e9, sum, 1e-12, "the port is full: %v", split)
	}
	require.Equal(t, []float64{10e9, 5e9}, ParkingLot(40*sim.Gbps, 10*sim.Gbps, 1, 2), "slow ingress ports are not paused")
	require.Equal(t, []float64{0, 0}, ParkingLot(40*sim.Gbps, 40*sim.Gbps, 0, 0))
	require.Equal(t, 10e9, FairShare(40*sim.Gbps, 4))
}

func TestECMP(t *testing.T) {
	for m, want := range map[int]float64{8: 0.6564, 16: 0.6439, 64: 0.6350, 1 << 20: 1 - 1/math.E} {
		require.InDelta(t, want, ECMPThroughput(m, m), 5e-5)
	}
	require.InDelta(t, 0.4102, ECMPNoCollision(8, 4), 5e-5)
	require.Equal(t, 1.0, ECMPUsed(1, 5))
	require.Zero(t, ECMPUsed(8, 0))
	require.Zero(t, ECMPNoCollision(4, 5))
	require.InDelta(t, 8, ECMPUsed(8, 10000), 1e-9)
}
