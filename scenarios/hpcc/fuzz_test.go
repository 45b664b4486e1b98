package hpcc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// seeds adds a file of the fixture, whole, cut and mangled.
func seeds(f *testing.F, file string) {
	text := mesh(f)[file]
	f.Add(text)
	f.Add(text[:len(text)/2])
	f.Add(strings.ReplaceAll(text, "1", "-1"))
	f.Add(strings.ReplaceAll(text, "1", "1e9"))
	f.Add(strings.ReplaceAll(text, "\n", " "))
	f.Add("")
	f.Add("999999999999999999999999999999 0x1 NaN")
}

// named requires that an error begins with the file.
func named(t *testing.T, err error) {
	require.True(t, strings.HasPrefix(err.Error(), "f"), err.Error())
	require.Less(t, len(err.Error()), 2000)
}

func FuzzParseConfig(f *testing.F) {
	seeds(f, "config.txt")
	f.Fuzz(func(t *testing.T, text string) {
		c, notes, err := ParseConfig("f", []byte(text))
		if err != nil {
			named(t, err)
			return
		}
		require.Positive(t, c.Payload)
		require.Positive(t, c.Buffer)
		require.NotEmpty(t, notes)
		for _, e := range c.ECN {
			require.LessOrEqual(t, e.Kmin, e.Kmax)
			got, err := c.Marking(e.Rate)
			require.NoError(t, err)
			require.Equal(t, e, got)
		}
	})
}

func FuzzParseTopology(f *testing.F) {
	seeds(f, "topology.txt")
	f.Fuzz(func(t *testing.T, text string) {
		topo, _, err := ParseTopology("f", []byte(text))
		if err != nil {
			named(t, err)
			return
		}
		require.Len(t, topo.Hosts(), topo.Nodes-len(topo.Switches))
		for _, l := range topo.Links {
			require.Positive(t, l.Rate)
			require.NotEqual(t, l.A, l.B)
		}
		if hosts := topo.Hosts(); len(hosts) < 100 {
			NewPaths(topo, 1000).Largest()
		}
	})
}

func FuzzParseFlows(f *testing.F) {
	topo, _, err := ParseTopology("t", []byte(mesh(f)["topology.txt"]))
	require.NoError(f, err)
	seeds(f, "flow.txt")
	f.Add("2\n0 0 1 3 100 5 2\n1 1 2 3 100 5 2\n")
	f.Add("1\n0 1 3 5 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		flows, _, err := ParseFlows("f", []byte(text), topo)
		if err != nil {
			named(t, err)
			return
		}
		for i, fl := range flows {
			require.Positive(t, fl.Size)
			require.False(t, topo.IsSwitch(fl.Src) || topo.IsSwitch(fl.Dst))
			require.LessOrEqual(t, fl.ModelTime, fl.Start+1000)
			require.True(t, i == 0 || flows[i-1].Start <= fl.Start)
		}
	})
}

func FuzzParseTrace(f *testing.F) {
	topo, _, err := ParseTopology("t", []byte(mesh(f)["topology.txt"]))
	require.NoError(f, err)
	seeds(f, "trace.txt")
	f.Add("3\n0 1 5\n")
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := ParseTrace("f", []byte(text), topo)
		if err != nil {
			named(t, err)
			return
		}
		for _, n := range nodes {
			require.Less(t, n, topo.Nodes)
		}
	})
}
