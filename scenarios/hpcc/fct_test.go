package hpcc

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

func TestFCTRoundTrip(t *testing.T) {
	text := "0b000001 0b013f01 10000 100 20000000 2000000000 1664091 1680960\n0b000101 0b000201 10001 65535 1 0 0 0\n"
	rows, err := ParseFCT("fct.txt", []byte(text))
	require.NoError(t, err)
	require.Equal(t, FCT{IP(0), IP(319), 10000, 100, 20_000_000, sim.Time(2 * sim.Second), 1664091 * sim.Nanosecond, 1680960 * sim.Nanosecond}, rows[0])
	require.InDelta(t, 0.98997, rows[0].Slowdown(), 1e-5)
	require.True(t, math.IsNaN(rows[1].Slowdown()))
	var out bytes.Buffer
	require.NoError(t, WriteFCT(&out, rows))
	require.Equal(t, text, out.String())

	rows[0].FCT += 999 // picoseconds are cut off
	out.Reset()
	require.NoError(t, WriteFCT(&out, rows))
	require.Equal(t, text, out.String())
}

func TestFCTErrors(t *testing.T) {
	for text, want := range map[string]string{
		"0b000001 0b000201 10000 100 1 2 3\n":    "f:1: 7 values: want sip dip sport dport size start_ns fct_ns standalone_ns",
		"\n0b000001 x 10000 100 1 2 3 4\n":       `f:2: "x" is not an address in hexadecimal such as 0b000001`,
		"0b000001 0b000201 70000 100 1 2 3 4\n":  `f:1: value 3 (of sip dip sport dport size start_ns fct_ns standalone_ns): "70000": want a whole number from 0 to 65535`,
		"0b000001 0b000201 10000 100 1 2 3 -4\n": `f:1: value 8 (of sip dip sport dport size start_ns fct_ns standalone_ns): "-4": want a whole number from 0 to 9223372036854775`,
	} {
		_, err := ParseFCT("f", []byte(text))
		require.EqualError(t, err, want)
	}
}

func TestSummarise(t *testing.T) {
	var rows []FCT
	for i := 1; i <= 200; i++ {
		rows = append(rows, FCT{Size: 10, FCT: sim.Duration(i) * sim.Microsecond, Standalone: 10 * sim.Microsecond})
	}
	rows[0].Standalone = 0
	s := Summarise(rows)
	require.Equal(t, 200, s.Flows)
	require.Equal(t, sim.Bytes(2000), s.Bytes)
	// sorted[floor(p n)]: of 1..200 us the 101st, the 191st and the 199th.
	require.InDeltaSlice(t, []float64{100.5e-6, 101e-6, 191e-6, 199e-6, 200e-6}, []float64{s.FCT.Mean, s.FCT.P50, s.FCT.P95, s.FCT.P99, s.FCT.Max}, 1e-15)
	require.InDelta(t, 10.1, s.Slowdown.P50, 1e-9, "without the first row the 100th of 2..200")
	require.True(t, math.IsNaN(Summarise(nil).FCT.Mean))
}

// The formula by hand: two hops of 1 us and 100G are 2*2000 + 2*80 = 4160 ns;
// 20000 packets of 1048 bytes are 1676800 ns.
func TestStandaloneByHand(t *testing.T) {
	topo, _, err := ParseTopology("t", []byte("3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n"))
	require.NoError(t, err)
	p := NewPaths(topo, 1000)
	pair := p.Pair(0, 1)
	require.Equal(t, 4160*sim.Nanosecond, pair.RTT())
	require.Equal(t, 1680960*sim.Nanosecond, pair.Standalone(20_000_000, 1000))
	require.Equal(t, sim.Bytes(52_000), pair.BDP())
	rtt, bdp := p.Largest()
	require.Equal(t, pair.RTT(), rtt)
	require.Equal(t, pair.BDP(), bdp)
	require.Zero(t, p.Pair(0, 0).Hops)
}

// Hosts do not forward, and the slowest link of a path is its bottleneck.
func TestPaths(t *testing.T) {
	topo, _, err := ParseTopology("t", []byte("6 2 5\n4 5\n0 4 100Gbps 1us 0\n1 4 25Gbps 2us 0\n4 5 400Gbps 3us 0\n2 5 100Gbps 1us 0\n2 3 100Gbps 1us 0\n"))
	require.NoError(t, err)
	p := NewPaths(topo, 1000)
	require.Equal(t, Pair{Hops: 3, Delay: 6 * sim.Microsecond, TxDelay: (80 + 20 + 320) * sim.Nanosecond, Bottleneck: 25 * sim.Gbps}, p.Pair(1, 2))
	require.Equal(t, p.Pair(1, 2), p.Pair(2, 1))
	require.Zero(t, p.Pair(0, 3).Hops, "host 2 stands between")
	require.Equal(t, 1, p.Pair(3, 2).Hops)
}

func FuzzParseFCT(f *testing.F) {
	f.Add("0b000001 0b013f01 10000 100 20000000 2000000000 1664091 1680960\n")
	f.Add("0b000001 0b000201 10000 100 1 2 3\n")
	f.Add("ffffffff 0 65535 0 1099511627776 9223372036854775 9223372036854775 1\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := ParseFCT("f", []byte(text))
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "f:"), err.Error())
			return
		}
		var out bytes.Buffer
		require.NoError(t, WriteFCT(&out, rows))
		again, err := ParseFCT("f", out.Bytes())
		require.NoError(t, err)
		require.Equal(t, rows, again)
		Summarise(rows)
	})
}
