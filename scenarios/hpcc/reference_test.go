package hpcc

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// referenceDir holds cases with the results of that model, where they are at
// hand: beside the repository.
const referenceDir = "../../../shared/reference/data/hpcc"

func referenceCases(t *testing.T) []string {
	dirs, err := filepath.Glob(filepath.Join(referenceDir, "*", "config.txt"))
	require.NoError(t, err)
	if len(dirs) == 0 {
		t.Skip("reference data absent")
	}
	return dirs
}

// Every case is read, and what that model says of the flows when they are
// alone, and when they start, is what the formulas here say, row by row.
func TestReferenceCases(t *testing.T) {
	for _, config := range referenceCases(t) {
		dir := filepath.Dir(config)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			c, err := Read(config, os.ReadFile)
			require.NoError(t, err)
			require.NoError(t, c.Config.Require(NoCC, DCQCN))
			for _, n := range c.Notes {
				require.NotEmpty(t, n.Key, n.String())
			}
			text, err := os.ReadFile(filepath.Join(dir, "fct_hpcc.txt"))
			require.NoError(t, err)
			rows, err := ParseFCT("fct_hpcc.txt", text)
			require.NoError(t, err)
			require.Len(t, rows, len(c.Flows))

			again := slices.Clone(rows)
			for i := range again {
				again[i].Standalone = 0
			}
			NewPaths(c.Topology, c.Config.Payload).FillStandalone(again)
			require.Equal(t, rows, again)

			type flow struct {
				src, dst     int
				sport, dport uint16
				size         sim.Bytes
				start        sim.Duration
			}
			want, got := map[flow]bool{}, map[flow]bool{}
			for _, r := range rows {
				want[flow{NodeOf(r.SrcIP), NodeOf(r.DstIP), r.SrcPort, r.DstPort, r.Size, sim.Duration(r.Start)}] = true
			}
			for _, f := range c.Flows {
				got[flow{f.Src, f.Dst, f.SrcPort, f.DstPort, f.Size, f.ModelTime}] = true
			}
			require.Equal(t, want, got)
		})
	}
}

// The published summary of the largest case.
func TestReferenceSummary(t *testing.T) {
	referenceCases(t)
	text, err := os.ReadFile(filepath.Join(referenceDir, "fat_k4_ws30", "fct_hpcc.txt"))
	require.NoError(t, err)
	rows, err := ParseFCT("fct", text)
	require.NoError(t, err)
	s := Summarise(rows)
	require.Equal(t, 342, s.Flows)
	require.InDelta(t, 336e-6, s.FCT.Mean, 0.5e-6)
	require.InDelta(t, 35.3e-6, s.FCT.P50, 0.05e-6)
	require.InDelta(t, 8079e-6, s.FCT.Max, 0.5e-6)
	require.InDelta(t, 1.949, s.Slowdown.Mean, 5e-4)
	require.InDelta(t, 6.84, s.Slowdown.P99, 5e-3)
}
