package credibility

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim/trace"
)

func TestParsePortPairs(t *testing.T) {
	list, err := ParsePortPairs("x", "# a map\nEthernet0=leaf1:1, Ethernet4=leaf1:2\n\n ens1=h4 # a NIC\r\n")
	require.NoError(t, err)
	assert.Equal(t, []PortPair{{"Ethernet0", "leaf1:1"}, {"Ethernet4", "leaf1:2"}, {"ens1", "h4"}}, list)
	for text, want := range map[string]string{"": "no ports", "a=b\nc": "x:2: \"c\": want a port", "=b": "want a port", "a=": "want a port"} {
		_, err := ParsePortPairs("x", text)
		require.ErrorContains(t, err, want, text)
	}
}

func FuzzParsePortPairs(f *testing.F) {
	f.Add("Ethernet0=leaf1:1,Ethernet4=leaf1:2\n# x\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParsePortPairs("x", text)
		if (err == nil) != (len(list) > 0) {
			t.Fatalf("%v, %v", list, err)
		}
	})
}

// twoLeaves has two switches with a host each; ports of leaf0 are named as SONiC
// does, one of leaf1 too.
func twoLeaves() trace.TopologyFile {
	return trace.TopologyFile{
		Nodes: []trace.TopologyNode{{Name: "leaf0", Kind: "switch"}, {Name: "leaf1", Kind: "switch"}, {Name: "h0", Kind: "host"}, {Name: "h1", Kind: "host"}},
		Links: []trace.TopologyLink{{A: 0, APort: 0, AName: "Ethernet0", B: 2}, {A: 1, APort: 0, AName: "Ethernet0", B: 3}, {A: 0, APort: 1, AName: "Ethernet4", B: 1, BPort: 1, BName: "Ethernet8"}},
	}
}

func today(ports ...string) *Today {
	t := &Today{Value: map[Key]float64{}}
	for i, p := range ports {
		t.Value[Key{PFCRx, p, 3}] = float64(10 * (i + 1))
	}
	return t
}

// Ports are found by their names where these are clear, and only those that both
// sides have are compared.
func TestPortsAreFoundByName(t *testing.T) {
	m, err := newPortMap(today("Ethernet4", "Ethernet8", "Ethernet99"), twoLeaves(), Options{})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"Ethernet4": "leaf0:1", "Ethernet8": "leaf1:1"}, m.sides[0])
	assert.True(t, m.has("leaf0:1/q3", false))
	assert.False(t, m.has("leaf0:0", false))
	assert.True(t, m.has("h0", true), "NICs are not mapped: all are compared")
	kept := m.keep(today("Ethernet4", "Ethernet8", "Ethernet99"))
	assert.Len(t, kept.Value, 2)
	assert.Contains(t, kept.Notes[0], "Ethernet99")
	assert.Len(t, kept.ports(false), 2)

	m, err = newPortMap(today("Ethernet0"), twoLeaves(), Options{})
	require.NoError(t, err)
	assert.Nil(t, m.sides[0], "two switches have an Ethernet0")
	m, err = newPortMap(today("Ethernet0"), twoLeaves(), Options{Node: "leaf1"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"Ethernet0": "leaf1:0"}, m.sides[0], "one of them")
	m, err = newPortMap(today("swp1"), twoLeaves(), Options{})
	require.NoError(t, err)
	assert.Nil(t, m.sides[0], "the run knows no such name: all ports are compared")
}

// A port of the map counts on both sides even where nothing happened on it.
func TestMappedPortsCountWhenTheyAreIdle(t *testing.T) {
	real := today("Ethernet0", "Ethernet4")
	real.Value[Key{PFCRx, "Ethernet4", 3}] = 0
	m, err := newPortMap(real, twoLeaves(), Options{Ports: []PortPair{{"Ethernet0", "leaf0:0"}, {"Ethernet4", "leaf0:1"}}})
	require.NoError(t, err)
	assert.Len(t, m.keep(real).ports(false), 2)
	assert.Equal(t, 2, m.count(false))
	assert.Len(t, m.words(), 2)
}

func TestBadPorts(t *testing.T) {
	for want, ports := range map[string][]PortPair{
		"the run has no port leaf9:1":         {{"Ethernet0", "leaf9:1"}},
		"the counters have no port Ethernet7": {{"Ethernet7", "leaf0:1"}},
		"one is a port of a switch":           {{"Ethernet0", "h0"}},
		"are both leaf0:0":                    {{"Ethernet0", "leaf0:0"}, {"Ethernet4", "leaf0:0"}},
		"is both leaf0:0 and leaf0:1":         {{"Ethernet0", "leaf0:0"}, {"Ethernet0", "leaf0:1"}},
	} {
		_, err := newPortMap(today("Ethernet0", "Ethernet4"), twoLeaves(), Options{Ports: ports})
		require.ErrorContains(t, err, want)
	}
}
