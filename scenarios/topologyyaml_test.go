package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/topology"
)

// Every topology of the catalogue survives being written as a custom one.
func TestTopologyYAMLBuildsTheSameGraph(t *testing.T) {
	for _, name := range topology.Topologies.Names() {
		e, err := topology.Topologies.Lookup(name)
		require.NoError(t, err)
		want, err := e.Build(e.Defaults)
		require.NoError(t, err)
		text, err := TopologyYAML(want)
		require.NoError(t, err)
		s, err := Parse("x.yaml", append(text, "traffic: [permutation]\nduration: 1ms\n"...))
		require.NoError(t, err, "%s:\n%s", name, text)
		got, err := s.graph()
		require.NoError(t, err, name)
		assert.Equal(t, len(want.Nodes), len(got.Nodes), name)
		for i := range want.Nodes {
			assert.Equal(t, want.Nodes[i].Name, got.Nodes[i].Name, name)
			assert.Equal(t, want.Nodes[i].Kind, got.Nodes[i].Kind, name)
			assert.Equal(t, want.Nodes[i].Tier, got.Nodes[i].Tier, name)
			assert.Equal(t, want.Nodes[i].Pod, got.Nodes[i].Pod, name)
		}
		assert.Equal(t, want.Links, got.Links, name)
	}
}
