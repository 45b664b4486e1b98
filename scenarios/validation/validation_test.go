package validation

import (
	"context"
	"strings"
	"testing"

	"rdmasim/scenarios"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// measureRows runs rows at a level and reports every check that does not hold.
func measureRows(t *testing.T, level Level) {
	for _, id := range IDs() {
		row, err := Lookup(id)
		require.NoError(t, err)
		if row.Measure == nil {
			continue
		}
		t.Run(id, func(t *testing.T) {
			rep, err := Run(context.Background(), Options{Level: level, Only: []string{id}})
			require.NoError(t, err)
			r := rep.Results[0]
			assert.Empty(t, r.Error)
			for _, c := range r.Checks {
				if !c.OK && c.Hard {
					t.Errorf("%s, %s: expected %s (%s, %s), measured %s", id, c.What, c.Expected, c.Source, c.Tolerance, c.Measured)
				}
			}
			t.Logf("%d checks, %.1f s, %d hops", len(r.Checks), r.Wall, r.Hops)
		})
	}
}

// The points that take moments, in every row.
func TestRows(t *testing.T) { measureRows(t, Short) }

func TestLongQuickRows(t *testing.T) {
	if testing.Short() {
		t.Skip("two minutes")
	}
	measureRows(t, Quick)
}

func TestLongFullRows(t *testing.T) {
	if testing.Short() {
		t.Skip("many minutes")
	}
	measureRows(t, Full)
}

// A row says what it expects and from where, or why it cannot be run; what it
// runs is there.
func TestRowsAreComplete(t *testing.T) {
	used := map[string]bool{}
	for _, id := range IDs() {
		row, err := Lookup(id)
		require.NoError(t, err)
		assert.NotEmpty(t, row.Title, id)
		assert.NotEmpty(t, row.Explain, id)
		assert.Equal(t, row.Measure == nil, row.Lacks != "", "%s is either measured or says what it lacks", id)
		for _, file := range row.Scenarios {
			used[file] = true
			text, err := Scenario(file)
			require.NoError(t, err, id)
			assert.True(t, strings.HasPrefix(string(text), "# "), "%s begins with what it shows", file)
			s, err := scenarios.ParseSet(file, text, nil)
			require.NoError(t, err, file)
			assert.Equal(t, strings.TrimSuffix(file, ".yaml"), s.Name)
		}
	}
	list, err := files.ReadDir(".")
	require.NoError(t, err)
	for _, e := range list {
		if e.IsDir() {
			continue
		}
		assert.True(t, used[e.Name()], "no row runs %s", e.Name())
	}
}
