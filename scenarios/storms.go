package scenarios

import (
	"fmt"
	"strings"

	"rdmasim/scenarios/library"
)

// Storms returns the page of storms and traps as Markdown: the scenarios of the
// library that know what they are about, each with its comment, what it expects
// and what takes it away.
func Storms() (string, error) {
	var table, sections strings.Builder
	for _, e := range library.List() {
		text, err := library.Get(e.Name)
		if err != nil {
			return "", err
		}
		s, err := Parse(library.File(e.Name), text)
		if err != nil {
			return "", err
		}
		if len(s.Counterfactual()) == 0 {
			continue
		}
		fmt.Fprintf(&table, "| [%s](#%s) | %s |\n", e.Name, e.Name, cell(e.Doc))
		fmt.Fprintf(&sections, "\n## %s\n\n%s\n\nExpected:\n\n```yaml\n", e.Name, stormText(s.Description))
		for _, x := range s.Expect {
			fmt.Fprintf(&sections, "- %s\n", x)
		}
		sections.WriteString("```\n\nWithout it:\n\n```sh\nrdmasim run " + e.Name)
		for _, set := range s.Counterfactual() {
			sections.WriteString(" \\\n  --set '" + set + "'")
		}
		sections.WriteString("\n```\n")
	}
	return stormsHead + table.String() + stormsTest + sections.String(), nil
}

const stormsHead = `# Storms and traps

**What does this look like, and how do I tell it from its neighbours?**

This page is made from the library (` + "`go test ./scenarios -run TestStorms -update`" + `).
Each scenario shows one thing that goes wrong in RDMA fabrics, says what to look
for, and carries the settings that take it away, so that its expectations are
known to tell the two apart. ` + "`rdmasim show NAME`" + ` prints one, to start from.

| scenario | what it shows |
|---|---|
`

const stormsTest = `
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
