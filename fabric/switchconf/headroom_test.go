package switchconf

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric"
	"rdmasim/sim"
)

// The formula gives every published row of NVIDIA, xoff, xon and size.
func TestHeadroomReproducesPublishedTables(t *testing.T) {
	perPlatform := map[string]int{}
	for _, r := range PublishedHeadroom {
		what := fmt.Sprintf("%s, %v, %v", r.Platform, r.Speed, r.Cable)
		h, err := ComputeHeadroom(r.Query())
		require.NoError(t, err, what)
		if !strings.HasPrefix(r.ASIC, "spc") {
			continue
		}
		perPlatform[r.Platform]++
		assert.Equal(t, "formula", h.Method, what)
		assert.Equal(t, r.Xoff, h.Xoff, "xoff of %s", what)
		assert.Equal(t, r.Xon, h.Xon, "xon of %s", what)
		if r.Platform == "NVIDIA SN5600" && r.Speed == 40*sim.Gbps && r.Cable == 5*sim.Metre {
			assert.Equal(t, r.Xon+r.Xoff-1024, r.Size, "the slip of the table is still there")
			continue
		}
		assert.Equal(t, r.Size, h.Size, "size of %s", what)
	}
	assert.Equal(t, map[string]int{"NVIDIA SN2700": 15, "NVIDIA SN3700": 18, "NVIDIA SN3800": 15, "NVIDIA SN4700": 21, "NVIDIA SN5600": 24, "NVIDIA SN5610N": 32}, perPlatform)
}

// Rows that are written down here a second time, by hand, in another form.
func TestHeadroomRowsOfFixture(t *testing.T) {
	n := 0
	readProfiles(t, filepath.Join("testdata", "headroom_rows.txt"), func(asic string, speed sim.Rate, cable sim.Length, size, xon, xoff sim.Bytes) {
		h, err := ComputeHeadroom(HeadroomQuery{ASIC: asic, Speed: speed, Cable: cable, MTU: 9216})
		require.NoError(t, err)
		assert.Equal(t, [3]sim.Bytes{size, xon, xoff}, [3]sim.Bytes{h.Size, h.Xon, h.Xoff}, "%s %v %v", asic, speed, cable)
		n++
	})
	assert.Equal(t, 11, n)
}

// readProfiles reads lines of asic, speed in Mb/s, cable, size, xon, xoff.
func readProfiles(t *testing.T, file string, f func(asic string, speed sim.Rate, cable sim.Length, size, xon, xoff sim.Bytes)) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
		w := strings.Fields(lines.Text())
		if len(w) < 6 || strings.HasPrefix(w[0], "#") {
			continue
		}
		cable, err := sim.ParseLength(w[2])
		require.NoError(t, err)
		f(w[0], sim.Rate(number(t, w[1]))*sim.Mbps, cable, number(t, w[3]), number(t, w[4]), number(t, w[5]))
	}
}

func number(t *testing.T, s string) sim.Bytes {
	n, err := strconv.ParseInt(s, 10, 64)
	require.NoError(t, err, s)
	return sim.Bytes(n)
}

// Figures that were worked out by hand from the formula, at points that no
// table has.
func TestHeadroomByHand(t *testing.T) {
	share := func(p sim.Ratio) *sim.Ratio { return &p }
	for _, c := range []struct {
		what string
		q    HeadroomQuery
		xoff sim.Bytes
	}{
		{"dynamic, half small", HeadroomQuery{ASIC: "spc1", Speed: 100 * sim.Gbps, Cable: 40 * sim.Metre, MTU: 9100, Rule: DynamicHeadroom}, 48128},
		{"dynamic, all small", HeadroomQuery{ASIC: "spc1", Speed: 100 * sim.Gbps, Cable: 40 * sim.Metre, MTU: 9100, Rule: DynamicHeadroom, SmallPackets: share(1)}, 81920},
		// 1024 + 3*(1500 + 101010.1 + 819.2 + 57920 + 6000) = 502772, 491 KiB
		{"spc4 with a small MTU", HeadroomQuery{ASIC: "spc4", Speed: 400 * sim.Gbps, Cable: 200 * sim.Metre, MTU: 1500}, 502784},
		// no small packets: s = 64/1024, occupancy 1.125: 1024 + 1.125*94157.3 = 106951; 104.44 KiB, and 2 KiB
		{"spc4, no small packets", HeadroomQuery{ASIC: "spc4", Speed: 400 * sim.Gbps, Cable: 40 * sim.Metre, Rule: DynamicHeadroom, SmallPackets: share(0)}, 109568},
	} {
		h, err := ComputeHeadroom(c.q)
		require.NoError(t, err, c.what)
		assert.Equal(t, c.xoff, h.Xoff, c.what)
	}
}

// The generic model is the headroom of the simulator's switch.
func TestGenericHeadroomIsThatOfTheSimulator(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		q := HeadroomQuery{ASIC: "generic", Speed: upTo1T6[r.IntN(len(upTo1T6))], Cable: sim.Length(r.Int64N(2_000_000)), MTU: sim.Bytes(64 + r.IntN(9000))}
		h, err := ComputeHeadroom(q)
		require.NoError(t, err)
		quanta, _ := quantaOf(q.Speed)
		response := q.Speed.TxTime(sim.Bytes(quanta * 64))
		want := fabric.Headroom(q.Speed, q.Speed, 2*q.Cable.Delay(), response, q.MTU, 20, 64)
		assert.InDelta(t, float64(want), float64(h.Xoff), 1, "%+v", q) // whole picoseconds, once each
	}
}

// What must hold at every point: headroom grows with cable, MTU, speed and the
// share of small packets; the terms add up; sizes are whole units.
func TestHeadroomIsMonotone(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		m := headroomModels[r.IntN(len(headroomModels))]
		q := HeadroomQuery{ASIC: m.name, Speed: m.speeds[r.IntN(len(m.speeds))], Cable: sim.Length(r.Int64N(3_000_000))}
		if !m.table {
			p := sim.Ratio(r.Float64())
			q.MTU, q.SmallPackets, q.Rule = sim.Bytes(1500+r.IntN(9000)), &p, HeadroomRules[r.IntN(2)]
		}
		h, err := ComputeHeadroom(q)
		require.NoError(t, err, "%+v", q)
		more := q
		more.Cable += sim.Length(r.Int64N(500_000))
		if !m.table {
			more.MTU += sim.Bytes(r.IntN(3000))
		}
		g, err := ComputeHeadroom(more)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, g.Xoff, h.Xoff, "%+v", q)
		assert.GreaterOrEqual(t, g.Size, h.Size, "%+v", q)
		assert.GreaterOrEqual(t, float64(h.Xoff), h.Exact, "%+v", q)
		assert.Less(t, (h.Cells-1)*int64(h.Cell), int64(h.Xoff))
		for _, term := range h.Terms {
			assert.NotEmpty(t, term.How)
			assert.NotEmpty(t, term.Source)
		}
	}
}

// Rows of Broadcom tables are whole cells, and come back as they are.
func TestHeadroomOfTables(t *testing.T) {
	for _, r := range PublishedHeadroom {
		m, err := lookupHeadroom(r.ASIC)
		require.NoError(t, err)
		if !m.table {
			continue
		}
		if m.name != "j2" && m.name != "td2" { // their tables are not in cells of the packet buffer
			assert.Zero(t, r.Xoff%m.cell, "%s %v %v", r.Platform, r.Speed, r.Cable)
		}
		h, err := ComputeHeadroom(r.Query())
		require.NoError(t, err)
		if h.Published.Platform == r.Platform {
			assert.Equal(t, r.Xoff, h.Xoff)
		}
	}
	for _, c := range []struct {
		asic   string
		cable  sim.Length
		method string
		xoff   sim.Bytes
	}{
		{"th", 40 * sim.Metre, "published row", 177632},
		{"th", 1 * sim.Metre, "longer row", 165568},
		{"th", 170 * sim.Metre, "between rows", 223184}, // half way from 177632 to 268736
		{"th", 560 * sim.Metre, "beyond rows", 359840},
		{"j2", 400 * sim.Metre, "shorter row", 110592},
	} {
		h, err := ComputeHeadroom(HeadroomQuery{ASIC: c.asic, Speed: 100 * sim.Gbps, Cable: c.cable})
		require.NoError(t, err)
		assert.Equal(t, c.method, h.Method, "%s %v", c.asic, c.cable)
		assert.Equal(t, c.xoff, h.Xoff, "%s %v", c.asic, c.cable)
	}
}

func TestHeadroomErrors(t *testing.T) {
	bad := sim.Ratio(1.5)
	ok := HeadroomQuery{ASIC: "spc4", Speed: 400 * sim.Gbps, Cable: 40 * sim.Metre}
	for want, change := range map[string]func(*HeadroomQuery){
		`unknown ASIC "spc9": did you mean spc`:                        func(q *HeadroomQuery) { q.ASIC = "spc9" },
		"speed 30Gbps: spc4 (NVIDIA Spectrum-4) has":                   func(q *HeadroomQuery) { q.Speed = 30 * sim.Gbps },
		"speed 25Gbps: no row of td3 (Broadcom Trident3) is published": func(q *HeadroomQuery) { q.ASIC, q.Speed = "td3", 25*sim.Gbps },
		"ASIC s1 (Cisco Silicon One): its vendor publishes neither":    func(q *HeadroomQuery) { q.ASIC = "s1" },
		"speed 0bps: want one of":                                      func(q *HeadroomQuery) { q.Speed = 0 },
		"cable -1mm: want 0m to 120km":                                 func(q *HeadroomQuery) { q.Cable = -1 },
		"cable 121km: want":                                            func(q *HeadroomQuery) { q.Cable = 121 * sim.Kilometre },
		"mtu 63: want 64 to 16384":                                     func(q *HeadroomQuery) { q.MTU = 63 },
		"lossless mtu 20000: want":                                     func(q *HeadroomQuery) { q.LosslessMTU = 20000 },
		"share of small packets 1.5":                                   func(q *HeadroomQuery) { q.SmallPackets = &bad },
		"3 lanes: want":                                                func(q *HeadroomQuery) { q.Lanes = 3 },
		"gearbox delay -1ps":                                           func(q *HeadroomQuery) { q.Gearbox = -1 },
		"response of the peer, -1 bytes":                               func(q *HeadroomQuery) { q.Peer = -1 },
		`unknown headroom rule "x"`:                                    func(q *HeadroomQuery) { q.Rule = "x" },
		"no formula that lanes could go into":                          func(q *HeadroomQuery) { q.ASIC, q.Lanes = "th5", 4 },
	} {
		q := ok
		change(&q)
		_, err := ComputeHeadroom(q)
		assert.ErrorContains(t, err, want)
	}
}

// Every chip of NVIDIA that the configuration knows has a model.
func TestHeadroomKnowsTheASICs(t *testing.T) {
	for _, a := range ASICs {
		m, err := lookupHeadroom(a.Name)
		if a.Vendor == "nvidia" {
			require.NoError(t, err, a.Name)
		}
		if err == nil {
			assert.Equal(t, a.Cell, m.cell)
			assert.NotEmpty(t, m.speeds, a.Name)
		}
	}
	names, docs := HeadroomASICs()
	assert.IsIncreasing(t, names)
	assert.Len(t, docs, len(names))
}
