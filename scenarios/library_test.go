package scenarios

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/fabric/switchconf"
	"rdmasim/scenarios/library"
)

// Every scenario of the library has the name of its file, says whether packets
// are dropped, and gives no reason for a warning unless that is what it teaches:
// then it has a counterfactual.
func TestLibraryScenarios(t *testing.T) {
	for _, e := range library.List() {
		text, err := library.Get(e.Name)
		require.NoError(t, err)
		s, err := Parse(library.File(e.Name), text)
		require.NoError(t, err)
		require.Equal(t, e.Name, s.Name)
		expect := strings.Join(s.Expect, "\n")
		if len(s.Counterfactual()) > 0 {
			require.Regexp(t, "dropped|completed|pause_off|rnr", expect, e.Name)
			continue
		}
		require.Regexp(t, `packets\.dropped\.lossless (== 0|> \d)`, expect, e.Name)
		require.Empty(t, notesThatMatter(s), e.Name)
	}
}

// notesThatMatter are those of a scenario that controls congestion.
func notesThatMatter(s *Spec) (list []string) {
	for _, f := range Lint(s) {
		if f.Severity != switchconf.Remark {
			list = append(list, FindingText(&f))
		}
	}
	return list
}

var (
	commandLine = regexp.MustCompile(`(?m)^ *rdmasim run (\S+)((?:\s+--set\s+(?:'[^']*'|\S+))*)`)
	settingWord = regexp.MustCompile(`--set\s+('[^']*'|\S+)`)
)

// The commands that the comments propose are valid.
func TestCommandsInLibraryComments(t *testing.T) {
	found := 0
	for _, e := range library.List() {
		text, err := library.Get(e.Name)
		require.NoError(t, err)
		s, err := Parse(library.File(e.Name), text)
		require.NoError(t, err)
		for _, m := range commandLine.FindAllStringSubmatch(s.Description, -1) {
			require.Equal(t, e.Name, m[1])
			var settings []string
			for _, w := range settingWord.FindAllStringSubmatch(m[2], -1) {
				settings = append(settings, strings.Trim(w[1], "'"))
			}
			require.NotEmpty(t, settings, m[0])
			_, err := ParseSet(library.File(e.Name), text, settings)
			require.NoError(t, err, m[0])
			found++
		}
	}
	require.Greater(t, found, 5)
	require.Contains(t, settingWord.FindString("--set 'a=b c' x"), "b c")
}
