package trace

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// What is written of ways and delays is read back, whatever order it came in,
// and ways that are alike are written once.
func TestWaysAndDelaysRoundTrip(t *testing.T) {
	names := NewNames()
	a, b, c := names.ID("h0:0"), names.ID("leaf0:1"), names.ID("h1:0")
	dir := t.TempDir() + "/run"
	w, err := Create(dir, Manifest{Name: "x", Mode: ModeSimulated}, names)
	require.NoError(t, err)
	one, two := &Sink{Node: 0}, &Sink{Node: 1}
	two.QueuePair(QueuePair{Time: 5, Host: "h1", QP: 1, Peer: "h0", Prio: 3, SrcPort: 99, There: []ObjectID{c}, Back: []ObjectID{a, b}})
	one.QueuePair(QueuePair{Time: 5, Host: "h0", QP: 2, Peer: "h1", Prio: 4, There: []ObjectID{a, b}, Back: []ObjectID{c}, Spread: true})
	d := Delays{Measured: true, LastSent: 1500}
	d.Of[DelaySend], d.Of[DelayFlight] = 1000, 7
	one.Flow(Flow{ID: 7, Src: "h0", Dst: "h1", Start: 1000, End: 2007, Status: StatusSuccess, Delays: d})
	one.Flow(Flow{ID: 8, Src: "h0", Dst: "h1", Start: 1000, End: 2008, Status: StatusSuccess})
	require.NoError(t, w.Drain([]*Sink{one, two}))
	_, err = w.Finish(ManifestEnd{Simulated: 3000})
	require.NoError(t, err)
	run, err := Open(dir)
	require.NoError(t, err)
	var ways []Way
	for v, err := range run.Ways() {
		require.NoError(t, err)
		ways = append(ways, v)
	}
	require.Equal(t, []Way{
		{Host: "h0", Peer: "h1", QP: 2, Prio: 4, There: []Object{"h0:0", "leaf0:1"}, Back: []Object{"h1:0"}, Spread: true},
		{Host: "h1", Peer: "h0", QP: 1, Prio: 3, There: []Object{"h1:0"}, Back: []Object{"h0:0", "leaf0:1"}},
	}, ways)
	text, err := os.ReadFile(run.Path(FilePaths))
	require.NoError(t, err)
	require.Equal(t, "path,ports\n1,h0:0 leaf0:1\n2,h1:0\n", string(text))
	n := 0
	for v, err := range run.Delays() {
		require.NoError(t, err)
		require.Equal(t, FlowDelays{7, d}, v)
		n++
	}
	require.Equal(t, 1, n, "the other message has none")
	require.Equal(t, sim.Duration(1007), d.Sum())
}

func FuzzDelays(f *testing.F) {
	head := strings.Join(delayColumns(), ",") + "\n"
	f.Add([]byte(head + "1,0,0,0.5,0,0,0,0,0,0,0,0,0.000000000001,0.5\n2,0,0,0,0,0,0,0,0,0,0,0,0,\n"))
	f.Add([]byte(head + "1,-1,0,0.5,0,0,0,0,0,0,0,0,1,0.5\n"))
	f.Add([]byte("id,queue_s\n1,2"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var rows []FlowDelays
		read := func(text []byte) error {
			rows = rows[:0]
			return scanCSV(bytes.NewReader(text), delayColumns(), func(r *row) (bool, error) {
				d, err := r.delays()
				rows = append(rows, d)
				return true, err
			})
		}
		if read(data) != nil {
			return
		}
		before := append([]FlowDelays(nil), rows...)
		out := []byte(head)
		for i := range before {
			out = append(out, appendDelays(nil, &Flow{ID: before[i].ID, Delays: before[i].Delays})...)
		}
		require.NoError(t, read(out))
		require.Equal(t, before, append([]FlowDelays(nil), rows...))
	})
}

func FuzzWays(f *testing.F) {
	f.Add([]byte("path,ports\n1,h0:0 leaf0:1\n"), []byte(strings.Join(qpColumns, ",")+"\nh0,1,h1,3,99,1,1,false\n"))
	f.Add([]byte("path,ports\n2,h0:0\n"), []byte(strings.Join(qpColumns, ",")+"\nh0,1,h1,9,99,7,0,x\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, paths, qps []byte) {
		run := &Run{Dir: dir}
		require.NoError(t, os.WriteFile(run.Path(FilePaths), paths, 0o600))
		require.NoError(t, os.WriteFile(run.Path(FileQPs), qps, 0o600))
		for w, err := range run.Ways() {
			if err != nil {
				require.Contains(t, err.Error(), ".csv")
				return
			}
			require.True(t, w.Prio >= 0 && w.Prio <= 7)
		}
	})
}
