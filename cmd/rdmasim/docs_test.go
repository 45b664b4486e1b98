package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pages returns the documents of the project by path.
func pages(t *testing.T) []string {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	all, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md"} {
		all = append(all, filepath.Join(root, name))
	}
	return all
}

// quietApp returns the real application without signals and terminal.
func quietApp(stdout, stderr *bytes.Buffer) *app {
	a := newApp(stdout, stderr)
	a.interrupts = func(ctx context.Context, _ func()) (context.Context, func()) { return ctx, func() {} }
	return a
}

// Every command in the documents runs and prints what they say.
func TestDocs(t *testing.T) {
	if len(realProduct().library()) == 0 {
		t.Skip("this build has no scenarios to run")
	}
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		if !strings.Contains(string(text), "```console") {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Chdir(t.TempDir())
			updated := runPage(t, string(text), quietApp, *update)
			if *update && updated != string(text) {
				require.NoError(t, os.WriteFile(page, []byte(updated), 0o666))
			}
		})
	}
}

var link = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)

// Every relative link leads to a file, and every page of docs/ can be reached
// from the README.
func TestDocLinks(t *testing.T) {
	reached := map[string]bool{}
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target := filepath.Join(filepath.Dir(page), m[1])
			assert.FileExists(t, target, "%s links to %s", filepath.Base(page), m[1])
			if filepath.Base(page) == "README.md" {
				reached[target] = true
			}
		}
	}
	for _, page := range pages(t) {
		if filepath.Base(filepath.Dir(page)) == "docs" {
			assert.True(t, reached[page], "README.md does not link to docs/%s", filepath.Base(page))
		}
	}
}

// docs/cli.md names every command and every flag.
func TestEveryFlagIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	require.NoError(t, err)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Name() == "completion" || c.Hidden {
			return // its shells have flags of cobra's own
		}
		if c.HasParent() {
			assert.True(t, strings.Contains(string(text), c.CommandPath()), "docs/cli.md does not speak of %s", c.CommandPath())
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" {
				assert.True(t, strings.Contains(string(text), "`--"+f.Name), "docs/cli.md, %s: does not speak of --%s", c.CommandPath(), f.Name)
			}
		})
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	var out, errs bytes.Buffer
	visit(newRoot(&app{stdout: &out, stderr: &errs, product: (&fakeProduct{}).product()}))
}

// A page that lies is found out, and -update corrects it.
func TestSessions(t *testing.T) {
	fake := func(stdout, stderr *bytes.Buffer) *app {
		return &app{stdout: stdout, stderr: stderr, product: (&fakeProduct{}).product(), interrupts: func(ctx context.Context, _ func()) (context.Context, func()) { return ctx, func() {} }}
	}
	t.Chdir(t.TempDir())
	honest := strings.ReplaceAll(`# A page

~~~yaml sub/my.yaml
name: my
~~~
~~~console
$ cat sub/my.yaml   # a comment
name: my
$ rdmasim show demo > other.yaml
$ head -1 'other.yaml'
name: demo
$ rdmasim list
demo        One sentence.
...
$ rdmasim check \
    demo
...
wall time    about 77s
...
$ rdmasim run nothing
...
(exit 2)
~~~
`, "~~~", "```")
	assert.Equal(t, honest, runPage(t, honest, fake, true), "nothing to correct")
	assert.True(t, t.Run("honest", func(t *testing.T) { runPage(t, honest, fake, false) }))

	shown := "<!-- show: ^other -->\n```console\n$ rdmasim list\n...\nother-demo  Another.\n```\n"
	assert.Equal(t, shown, runPage(t, shown, fake, true))
	assert.Equal(t, shown, runPage(t, strings.Replace(shown, "Another.", "A lie.", 1), fake, true))

	asks := "```console\n$ rdmasim list\n?1\n$ rdmasim show demo\nname: wrong\nand more\n```\n"
	assert.Equal(t, "```console\n$ rdmasim list\ndemo        One sentence.\n...\n$ rdmasim show demo\nname: demo\n```\n", runPage(t, asks, fake, true))

	for _, lie := range []string{
		"```console\n$ rdmasim list\ndemo  Another sentence.\n...\n```",
		"```console\n$ rdmasim show demo\nname: demo\nmore\n```",
		"```console\n$ rdmasim show demo\n(exit 1)\n```",
		"```console\n$ rdmasim run nothing\n```",
	} {
		assert.NotEqual(t, lie, correct(t, lie, fake), "a lie was believed:\n%s", lie)
	}
	_, err := steps(block{text: []string{"no command"}})
	assert.Error(t, err)
	_, _, err = perform(fake, "curl example.org")
	assert.Error(t, err)
}

// correct returns what is wrong with the steps of a page, or the page.
func correct(t *testing.T, page string, newApp func(stdout, stderr *bytes.Buffer) *app) string {
	for _, b := range blocks(page) {
		all, err := steps(b)
		require.NoError(t, err)
		for _, s := range all {
			got, exit, err := perform(newApp, s.command)
			require.NoError(t, err)
			if exit != s.exit || len(s.output) > 0 && !outputMatches(linesOf(settled(strings.Join(s.output, "\n"))), linesOf(settled(got))) {
				return got
			}
		}
	}
	return page
}
