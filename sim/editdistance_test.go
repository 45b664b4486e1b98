package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "kmin", 4}, {"kmin", "kmin", 0}, {"kmin", "kmax", 2}, {"intervall", "interval", 1}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}} {
		require.Equal(t, c.want, EditDistance(c.a, c.b), "%s, %s", c.a, c.b)
		require.Equal(t, c.want, EditDistance(c.b, c.a), "%s, %s", c.b, c.a)
	}
}
