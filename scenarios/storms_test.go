package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/library"
	"rdmasim/sim/simtest"
)

const storms = "../docs/storms"

// The pages of storms and traps are what the library says and what its golden
// files have measured: an index, and a page of one screen for each scenario that
// knows what it is about.
func TestStormsIsUpToDate(t *testing.T) {
	pages := stormPages(t)
	if simtest.Updating() {
		require.NoError(t, os.MkdirAll(storms, 0o755))
		for file, text := range pages {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
	}
	for file, want := range pages {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, string(text) == want, "%s is not what the library says; run: go test ./scenarios -run TestStorms -update", file)
	}
	files, err := filepath.Glob(storms + "/*.md")
	require.NoError(t, err)
	for _, file := range files {
		require.Contains(t, pages, file, "a page of a scenario that is not there")
	}
}

// stormPages makes the pages, by file.
func stormPages(t *testing.T) map[string]string {
	pages := map[string]string{}
	var table strings.Builder
	for _, e := range library.List() {
		text, err := library.Get(e.Name)
		require.NoError(t, err)
		s, err := Parse(library.File(e.Name), text)
		require.NoError(t, err)
		if len(s.Counterfactual()) == 0 {
			continue
		}
		fmt.Fprintf(&table, "| [%s](storms/%s.md) | %s |\n", e.Name, e.Name, cell(e.Doc))
		page := stormPage(t, s)
		require.LessOrEqual(t, strings.Count(page, "\n"), 70, "%s: a page of one screen", e.Name)
		pages[storms+"/"+e.Name+".md"] = page
	}
	pages[storms+".md"] = stormsHead + table.String()
	return pages
}

// stormPage is the page of one scenario.
func stormPage(t *testing.T, s *Spec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", s.Name, stormText(s.Description))
	fmt.Fprintf(&b, "![The figure that the report of this run shows first: %s](../images/storms/%s.svg)\n\n", s.Report.Figures[0], s.Name)
	b.WriteString("| expected | measured |\n|---|---|\n")
	for _, x := range s.Expect {
		fmt.Fprintf(&b, "| `%s` | %s |\n", cell(x), measured(t, s.Name, x))
	}
	fmt.Fprintf(&b, "\nRun it, and run it without what it is about:\n\n```sh\nrdmasim run %s\nrdmasim run %s", s.Name, s.Name)
	for _, set := range s.Counterfactual() {
		b.WriteString(" \\\n  --set '" + set + "'")
	}
	return b.String() + "\n```\n\n[All storms and traps](../storms.md)\n"
}

// measured is the value of an expectation in the golden file of a scenario.
func measured(t *testing.T, name, expectation string) string {
	golden, err := os.ReadFile(filepath.Join("testdata", "library", name+".golden"))
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(golden), "\nexpect "+expectation+": ")
	require.True(t, ok, "%s.golden has no value of %s", name, expectation)
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

const stormsHead = `# Storms and traps

**What does this look like, and how do I tell it from its neighbours?**

Each scenario of this list shows one thing that goes wrong in RDMA fabrics. Its
page says what to look for, with the figure that tells it, what is expected and
what a run has measured, and the settings that take it away, so that its
expectations are known to tell the two apart. ` + "`rdmasim show NAME`" + ` prints one, to
start from. Two are reports of users: [5 Gb/s of 25](storms/lossy-2to1-25g.md) and
[159, 80, 80, 80](storms/dwrr-3to1-400g.md).

` + "```console" + `
$ rdmasim test --without nic-storm-one-port alpha-misconfig cnp-late
PASS  nic-storm-one-port            7 expectations hold
PASS  nic-storm-one-port (without)  an expectation fails, as it should
PASS  alpha-misconfig               4 expectations hold
PASS  alpha-misconfig (without)     an expectation fails, as it should
PASS  cnp-late                      4 expectations hold
PASS  cnp-late (without)            an expectation fails, as it should
6 passed, 0 failed
` + "```" + `

These pages are made from the library and its golden files (` + "`make docs`" + `).

| scenario | what it shows |
|---|---|
`

// stormText is a comment as Markdown: what is indented is set as it stands.
func stormText(comment string) string {
	lines := strings.Split(comment, "\n")
	indented := func(i int) bool {
		return i >= 0 && i < len(lines) && strings.HasPrefix(lines[i], "  ") && !strings.HasPrefix(strings.TrimSpace(lines[i]), "* ")
	}
	var b strings.Builder
	bullet := false
	open := false
	for i, line := range lines {
		code := indented(i) && (open || !bullet || strings.HasPrefix(strings.TrimSpace(line), "rdmasim "))
		if code != open {
			b.WriteString("```" + map[bool]string{true: "text", false: ""}[code] + "\n")
			open = code
		}
		bullet = strings.HasPrefix(strings.TrimSpace(line), "* ") || bullet && indented(i) && !code
		if code {
			line = strings.TrimPrefix(line, "  ")
		}
		b.WriteString(line + "\n")
	}
	if open {
		b.WriteString("```\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
