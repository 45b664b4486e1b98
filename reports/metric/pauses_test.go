package metric

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A tree lists each port once, children below their parent, whatever the file
// says of parents: none that exists, itself, or a circle.
func TestBranches(t *testing.T) {
	r := PauseRoot{Where: "sw1:0/q3", Kind: RootCongestion, Tree: []PauseEdge{
		{Port: "a", Level: 1}, {Port: "b", Level: 1}, {Port: "c", Parent: "a", Level: 2}, {Port: "d", Parent: "c", Level: 3},
		{Port: "e", Parent: "nobody", Level: 2}, {Port: "x", Parent: "y", Level: 4}, {Port: "y", Parent: "x", Level: 4}, {Port: "z", Parent: "z", Level: 5},
	}}
	var got []string
	for _, b := range r.Branches() {
		got = append(got, b.Indent+b.Edge.Port)
	}
	assert.Equal(t, []string{"+- a", "|  `- c", "|     `- d", "+- b", "`- e", "`- x", "   `- y", "`- z"}, got)
}

func FuzzPauses(f *testing.F) {
	f.Add([]byte(`{"roots":[{"where":"h0:0","kind":"slow receiver","tree":[{"port":"a","parent":""},{"port":"b","parent":"a"},{"port":"b","parent":"b"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p Pauses
		if json.Unmarshal(data, &p) != nil {
			return
		}
		for i := range p.Roots {
			require.Len(t, p.Roots[i].Branches(), len(p.Roots[i].Tree))
			require.NotEmpty(t, p.Roots[i].Sentence())
		}
	})
}
