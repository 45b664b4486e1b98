package library_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/library"
)

func TestEveryScenarioTeaches(t *testing.T) {
	require.GreaterOrEqual(t, len(library.List()), 10)
	require.Len(t, library.SwitchTests(), 11)
	for _, list := range [][]library.Entry{library.List(), library.SwitchTests()} {
		teaches(t, list)
	}
}

func teaches(t *testing.T, list []library.Entry) {
	word := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	for i, e := range list {
		require.Regexp(t, word, e.Name)
		require.Regexp(t, `^[A-Z].{20,110}\.$`, e.Doc, e.Name)
		if i > 0 {
			require.Less(t, list[i-1].Name, e.Name)
		}
		text, err := library.Get(e.Name)
		require.NoError(t, err)
		lines := strings.Split(string(text), "\n")
		comment := 0
		for comment < len(lines) && strings.HasPrefix(lines[comment], "#") {
			comment++
		}
		require.GreaterOrEqual(t, comment, 5, e.Name)
		require.Contains(t, lines, "name: "+e.Name)
		require.Contains(t, lines, "expect:")
		for _, line := range lines {
			require.LessOrEqual(t, len(line), 120, e.Name)
		}
	}
}

func TestGetSaysWhatThereIs(t *testing.T) {
	for _, name := range []string{"incast-9to1", "", "../library", "incast-8to1.yaml"} {
		_, err := library.Get(name)
		require.ErrorContains(t, err, "want one of ")
		require.ErrorContains(t, err, "incast-8to1, incast-first-burst, incast-pfc-only")
	}
}
