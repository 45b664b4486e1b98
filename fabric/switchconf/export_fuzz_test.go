package switchconf

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// Whatever things are called, no format gets a line that its reader does not
// know, and nothing panics.
func FuzzRenderNames(f *testing.F) {
	for i, n := range hostile {
		f.Add(n, n+"x", "host"+n, uint64(i))
	}
	f.Add("Ethernet0", "AZURE_LOSSLESS", "leaf0", uint64(99))
	f.Fuzz(func(t *testing.T, port, profile, host string, seed uint64) {
		ports := randomPorts(rand.New(rand.NewPCG(seed, 1)))
		ports[0].name = port
		for i := range ports {
			for k := range ports[i].class {
				ports[i].class[k].wred, ports[i].class[k].profile = profile, profile
			}
		}
		sw := switchOf(host, ports)
		for _, format := range Renderers.Names() {
			r, err := Render(format, sw)
			if err != nil {
				require.NotContains(t, err.Error(), "\n")
				continue
			}
			text := r.Text()
			require.False(t, strings.ContainsAny(text, "\r\u2028\u2029\x00\x1b"), format)
			readers[format](t, text, len(ports))
			change, err := RenderChange(format, sw, switchOf(host, randomPorts(rand.New(rand.NewPCG(seed, 2)))))
			if err == nil {
				require.False(t, strings.ContainsAny(change.Text(), "\r\u2028\u2029\x00\x1b"), format)
			}
		}
	})
}

// Any query has an answer or an error, and an answer is sound.
func FuzzHeadroom(f *testing.F) {
	f.Add("spc4", int64(400e9), int64(40_000), int64(9216), int64(1024), 0.5, 0, int64(0), int64(0), true, true)
	f.Add("th5", int64(800e9), int64(120_000), int64(0), int64(0), -1.0, 0, int64(0), int64(0), false, false)
	f.Add("generic", int64(1600e9), int64(120_000_000), int64(16384), int64(64), 1.0, 8, int64(1e8), int64(1e9), true, false)
	f.Fuzz(func(t *testing.T, asic string, speed, cable, mtu, lossless int64, small float64, lanes int, gearbox, peer int64, shared, dynamic bool) {
		q := HeadroomQuery{ASIC: asic, Speed: sim.Rate(speed), Cable: sim.Length(cable), MTU: sim.Bytes(mtu), LosslessMTU: sim.Bytes(lossless), Lanes: lanes,
			Gearbox: sim.Duration(gearbox), Peer: sim.Bytes(peer), SharedPool: shared}
		if dynamic {
			q.Rule = DynamicHeadroom
		}
		if p := sim.Ratio(small); small != -1 {
			q.SmallPackets = &p
		}
		h, err := ComputeHeadroom(q)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.Positive(t, h.Xoff)
		require.GreaterOrEqual(t, float64(h.Xoff), h.Exact)
		require.GreaterOrEqual(t, h.Size, sim.Bytes(0))
		require.GreaterOrEqual(t, h.Cells*int64(h.Cell), int64(h.Xoff))
	})
}

// The tables as they are shipped, row by row, where they stand beside this
// checkout.
func TestHeadroomOfShippedFiles(t *testing.T) {
	for file, asic := range map[string]string{"pg_profile_lookup.ACS-MSN2700.ini": "spc1", "pg_profile_lookup.Arista-7060CX-32S.ini": "th"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "reference", "data", "sonic", file))
		if err != nil {
			t.Skip("reference data absent")
		}
		rows, err := ReadLookup(File{Name: file, Data: data})
		require.NoError(t, err)
		require.Len(t, rows, 15)
		for _, r := range rows {
			h, err := ComputeHeadroom(HeadroomQuery{ASIC: asic, Speed: r.Speed, Cable: r.Cable, MTU: 9216})
			require.NoError(t, err)
			require.Equal(t, [4]sim.Bytes{r.Size, r.Xon, r.Xoff, r.XonOffset}, [4]sim.Bytes{h.Size, h.Xon, h.Xoff, h.XonOffset}, "%s %v %v", file, r.Speed, r.Cable)
		}
	}
}
