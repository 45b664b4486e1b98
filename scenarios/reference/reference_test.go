package reference

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/scenarios"
)

// referenceDir holds the results of the ns-3 models, where they are at hand:
// beside the repository.
const referenceDir = "../../../shared/reference/data/hpcc"

// The ten cases hold against the results of both ns-3 models: with three seeds,
// and with all ten in a long test.
func TestCases(t *testing.T) {
	dirs := Cases(referenceDir)
	if len(dirs) == 0 {
		t.Skip("reference data absent")
	}
	o := Options{Compat: scenarios.CompatHPCC, Seeds: 10, Jobs: runtime.GOMAXPROCS(0)}
	if testing.Short() {
		o.Seeds = 3
	}
	exact := map[string]bool{"single": true, "incast2_nocc": true, "victim_nocc": true}
	sure := map[string]bool{"single": true, "incast2_nocc": true, "incast8_nocc": true, "victim_nocc": true}
	for _, dir := range dirs {
		c, err := Open(dir)
		require.NoError(t, err)
		t.Run(c.Name, func(t *testing.T) {
			runs, err := c.Run(context.Background(), o)
			require.NoError(t, err)
			j := Judge(c, runs)
			assert.Empty(t, j.Problems)
			assert.Equal(t, !sure[c.Name], j.Random(), "a case that marks nothing draws nothing")
			if exact[c.Name] {
				assert.Equal(t, c.Flows, j.Same, "flows that agree to the nanosecond")
			}
		})
	}
}

// A case whose completion times are counted by hand, in whole nanoseconds.
//
// 2000 frames of 1048 bytes take 83 ns each, the last one as much again on the
// second link, both links 1000 ns; the ACK of 60 bytes 4 ns and 1000 ns on each:
// 2000*83 + 83 + 2*1000 + 2*(4+1000) = 170091.
//
// 2500 bytes are frames of 1048, 1048 and 548 bytes: 83, 83 and 43 ns. The third
// is at the switch at 1209 and waits for the second until 1249; it is there at
// 1249+43+1000 = 2292, its ACK back at 2292 + 2*1004 = 4300.
func TestCountedByHand(t *testing.T) {
	j := judge(t, "testdata/alone", nil)
	assert.Empty(t, j.Problems)
	assert.False(t, j.Random())
	assert.Len(t, j.Runs, 1, "nothing is random: one run tells all")
	assert.Equal(t, 2, j.Same)
}

// judge runs a case of testdata after change has had its way with a copy.
func judge(t *testing.T, from string, change func(dir string)) *Judged {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
	if change != nil {
		change(dir)
	}
	c, err := Open(dir)
	require.NoError(t, err)
	runs, err := c.Run(context.Background(), Options{Compat: scenarios.CompatHPCC, Seeds: 3})
	require.NoError(t, err)
	return Judge(c, runs)
}

func edit(t *testing.T, file, old, new string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), old)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), old, new, 1)), 0o666))
}

// Every gate can fail.
func TestGatesFail(t *testing.T) {
	j := judge(t, "testdata/alone", func(dir string) { edit(t, filepath.Join(dir, "fct_hpcc.txt"), " 170091 ", " 171000 ") })
	assert.Equal(t, []string{"mean FCT 87.20 us, want 87.21 to 88.09"}, j.Problems, "0.52 % off")
	assert.Equal(t, 1, j.Same)

	j = judge(t, "testdata/alone", func(dir string) { edit(t, filepath.Join(dir, "fct_hpcc.txt"), " 2500 ", " 2501 ") })
	assert.Equal(t, []string{"fct_hpcc.txt has 2 flows of 2002501 bytes, flow.txt 2 of 2002500"}, j.Problems)

	j = judge(t, "testdata/alone", func(dir string) {
		edit(t, filepath.Join(dir, "config.txt"), "SIMULATOR_STOP_TIME 4.0", "SIMULATOR_STOP_TIME 2.500001")
	})
	require.NotEmpty(t, j.Problems)
	assert.Equal(t, "seed 1: 1 flows of 2000000 bytes ended, of 2 of 2002500", j.Problems[0])

	c := j.Case
	run := &Outcome{Seed: 1, Rows: c.Results[0].Rows, Summary: c.Results[0].Summary, DropLossless: 1}
	assert.Equal(t, []string{"seed 1: 1 drops in a lossless class"}, Judge(c, []*Outcome{run}).Problems)
}

// With marks, the median over seeds lies between the results of all.
func TestSpread(t *testing.T) {
	mean := func(us float64) *Outcome {
		o := &Outcome{Marks: 1}
		o.FCT.Mean, o.FCT.P99 = us*1e-6, us*1e-6
		return o
	}
	c := &Case{Results: []Result{{Name: "hpcc"}, {Name: "ali"}}}
	c.Results[0].FCT.Mean, c.Results[0].FCT.P99 = 100e-6, 100e-6
	c.Results[1].FCT.Mean, c.Results[1].FCT.P99 = 110e-6, 110e-6
	for _, x := range []struct {
		means []float64
		want  []string
	}{
		{[]float64{50, 94.1, 300}, nil},
		{[]float64{116, 117}, nil}, // the median is 116.5
		{[]float64{93.9}, []string{"mean FCT 93.90 us, want 94.00 to 116.60"}},
		{[]float64{116.7}, []string{"mean FCT 116.70 us, want 94.00 to 116.60"}},
		{[]float64{74}, []string{"mean FCT 74.00 us, want 94.00 to 116.60", "p99 FCT 74.00 us, want 75.00 to 137.50"}},
	} {
		var runs []*Outcome
		for _, m := range x.means {
			runs = append(runs, mean(m))
		}
		assert.Equal(t, x.want, Judge(c, runs).Problems, x.means)
	}
}

func TestOpenErrors(t *testing.T) {
	for _, x := range []struct {
		change func(dir string)
		want   string
	}{
		{func(dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "fct_hpcc.txt"))) }, "no result to compare with: want the FCT file of a simulator as fct_NAME.txt"},
		{func(dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "config.txt"))) }, "config.txt: no such file"},
		{func(dir string) { edit(t, filepath.Join(dir, "fct_hpcc.txt"), "0b000001", "host0") }, `fct_hpcc.txt:1: "host0" is not an address`},
		{func(dir string) { require.NoError(t, os.WriteFile(filepath.Join(dir, "fct_ali.txt"), nil, 0o666)) }, "fct_ali.txt: no flow in it"},
	} {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/alone")))
		x.change(dir)
		_, err := Open(dir)
		assert.ErrorContains(t, err, x.want)
	}
}

// The tables go between the marks of a page, and nothing else is touched.
func TestDocument(t *testing.T) {
	j := judge(t, "testdata/alone", nil)
	j.Name = "alone"
	counts, err := ParseCounts("c.csv", "# a comment\ncase,simulator,pauses,marks,max_queue_bytes,drops\nalone,hpcc,7,0,,0\n")
	require.NoError(t, err)
	d := &Document{Command: "rdmasim ns3 alone", Version: "v1", Ours: []*Judged{j}, True: []*Judged{j}, Counts: counts}
	text := d.String()
	assert.Contains(t, text, "Made by `rdmasim ns3 alone` with rdmasim v1.\n")
	assert.Contains(t, text, "| alone | 1 | 2 of 2 | 2002500 | 0 | 2 of 2 | mean FCT 87.20 us, want 86.76 to 87.63 | holds |\n")
	assert.Contains(t, text, "| alone | mean | 87.195 |  | 87.195 | 1.0000 |\n")
	assert.Contains(t, text, "| alone | 0 | 7 | 0 | 0 | 1 |  | 0 | 0 |\n")

	page, err := d.Insert("before\n" + beginMark + "\nstale\n" + endMark + "\nafter\n")
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(page, "before\n"+beginMark) && strings.HasSuffix(page, endMark+"\nafter\n"), page)
	assert.NotContains(t, page, "stale")
	again, err := d.Insert(page)
	require.NoError(t, err)
	assert.Equal(t, page, again)
	_, err = d.Insert("a page of another kind")
	assert.ErrorContains(t, err, "would be lost")
}

func TestCountsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "want the header",
		"case,simulator\n":        "wrong number of fields",
		"a,b,c,d,e,f\n":           "want the header case,simulator,",
		head("x,hpcc,-1,0,0,0"):   `row 1, pauses: "-1" is not a count`,
		head("x,hpcc,1,0,much,0"): `row 1, max_queue_bytes: "much" is not a count`,
	} {
		_, err := ParseCounts("c.csv", text)
		assert.ErrorContains(t, err, want)
	}
	c, err := ParseCounts("c.csv", head("x,hpcc,1,2,,4"))
	require.NoError(t, err)
	assert.Equal(t, 1.0, c.of("x", "hpcc").Pauses)
	assert.True(t, math.IsNaN(c.of("x", "hpcc").MaxQueue) && math.IsNaN(c.of("y", "hpcc").Pauses))
}

func head(row string) string { return strings.Join(countColumns, ",") + "\n" + row + "\n" }

// FuzzParseCounts: any text is counts or an error.
func FuzzParseCounts(f *testing.F) {
	f.Add(head("x,hpcc,1,2,,4"))
	f.Add("case")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := ParseCounts("c.csv", text); err == nil {
			for name, by := range c {
				for simulator := range by {
					if v := c.of(name, simulator).Pauses; v < 0 {
						t.Fatal(v)
					}
				}
			}
		}
	})
}
