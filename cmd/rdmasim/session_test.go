package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Documents are run: a page is a session in an empty directory, top to bottom.
//
//	```yaml my.yaml         a block with a file name in its info string is written there
//	```console              a block of commands:
//	$ rdmasim check my.yaml     runs in-process; so do cat FILE..., head -N FILE and ls DIR
//	scenario  my  ok            what follows is compared, stdout first, then stderr;
//	...                         this line stands for any lines;
//	(exit 2)                    the exit code, 0 if nothing is said
//
// A command without output lines only has to end with its exit code. A comment
// <!-- show: REGEXP --> above a block keeps of its outputs only the lines that
// match. With -update, wrong output is rewritten; a line "?" after a command
// asks for its output, "?5" for the first five lines of it.

// block is a fenced block of a page.
type block struct {
	info []string // words after the fence
	line int      // number of the first line inside
	text []string
	show *regexp.Regexp // lines of outputs to keep, nil = all
}

var showComment = regexp.MustCompile(`^<!-- show: (.*) -->$`)

// blocks returns the fenced blocks of a page.
func blocks(page string) []block {
	var all []block
	inside := false
	var show *regexp.Regexp
	for i, l := range strings.Split(page, "\n") {
		if m := showComment.FindStringSubmatch(l); m != nil && !inside {
			show = regexp.MustCompile(m[1])
			continue
		}
		fence, isFence := strings.CutPrefix(l, "```")
		switch {
		case isFence && !inside:
			all, inside = append(all, block{info: strings.Fields(fence), line: i + 2, show: show}), true
			show = nil
		case isFence:
			inside = false
		case inside:
			all[len(all)-1].text = append(all[len(all)-1].text, l)
		}
	}
	return all
}

// step is one command of a console block with the lines that it prints.
type step struct {
	command string
	line    int // of the first output line
	output  []string
	exit    int
}

var exitLine = regexp.MustCompile(`^\(exit (\d+)\)$`)

// steps splits a console block.
func steps(b block) ([]step, error) {
	var all []step
	for i := 0; i < len(b.text); i++ {
		l := b.text[i]
		if command, ok := strings.CutPrefix(l, "$ "); ok {
			for strings.HasSuffix(command, `\`) && i+1 < len(b.text) {
				i++
				command = strings.TrimSuffix(command, `\`) + strings.TrimSpace(b.text[i])
			}
			all = append(all, step{command: command, line: b.line + i + 1})
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("line %d: a console block begins with a command: $ rdmasim ...", b.line+i)
		}
		s := &all[len(all)-1]
		if m := exitLine.FindStringSubmatch(l); m != nil {
			s.exit, _ = strconv.Atoi(m[1])
			continue
		}
		s.output = append(s.output, l)
	}
	return all, nil
}

// words splits a command line at blanks; quotes hold words together and # at
// the beginning of a word starts a comment.
func words(line string) ([]string, error) {
	var all []string
	var word strings.Builder
	quote, in := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ':
			if in {
				all, in = append(all, word.String()), false
				word.Reset()
			}
		case r == '#' && !in:
			return all, nil
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("%s: a quote is not closed", line)
	}
	if in {
		all = append(all, word.String())
	}
	return all, nil
}

// perform runs one command in the working directory and returns what it
// printed and its exit code.
func perform(newApp func(stdout, stderr *bytes.Buffer) *app, command string) (string, int, error) {
	args, err := words(command)
	if err != nil || len(args) == 0 {
		return "", 0, fmt.Errorf("%q is no command: %w", command, err)
	}
	target := ""
	if n := len(args); n > 2 && args[n-2] == ">" {
		target, args = args[n-1], args[:n-2]
	}
	var out, errs bytes.Buffer
	exit := 0
	switch args[0] {
	case "rdmasim":
		exit = execute(context.Background(), newApp(&out, &errs), args[1:])
	case "cat", "head", "ls":
		err = performFile(&out, args)
	default:
		err = fmt.Errorf("%q: docs run rdmasim, cat, head and ls, and nothing else", args[0])
	}
	if target != "" && err == nil {
		err = os.WriteFile(target, out.Bytes(), 0o666)
		out.Reset()
	}
	return out.String() + errs.String(), exit, err
}

// performFile is cat FILE..., head -N FILE and ls DIR.
func performFile(out *bytes.Buffer, args []string) error {
	if args[0] == "ls" {
		entries, err := os.ReadDir(args[len(args)-1])
		for _, e := range entries {
			fmt.Fprintln(out, e.Name())
		}
		return err
	}
	if args[0] == "cat" {
		for _, name := range args[1:] {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			out.Write(text)
		}
		return nil
	}
	text, err := os.ReadFile(args[len(args)-1])
	if args[0] == "head" && len(args) == 3 {
		n, _ := strconv.Atoi(strings.TrimPrefix(args[1], "-"))
		lines := strings.SplitAfter(string(text), "\n")
		text = []byte(strings.Join(lines[:min(n, len(lines))], ""))
	}
	out.Write(text)
	return err
}

// volatile are the parts of outputs that differ from run to run or from
// machine to machine.
var volatile = []struct {
	re *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`(?m)^((?:wall time|memory) +).*$`), "${1}*"},
	{regexp.MustCompile(`rdmasim \S+ go1\S+ \w+/\w+`), "rdmasim *"},
	{regexp.MustCompile(`"(wall_s|cpu_s|eta_s|events_per_s|ns_per_hop|peak_rss_bytes)": ?[0-9.e+-]+`), `"$1":*`},
	{regexp.MustCompile(`(?m)[ \t]+$`), ""},
}

// settled replaces what is volatile.
func settled(s string) string {
	for _, v := range volatile {
		s = v.re.ReplaceAllString(s, v.by)
	}
	return s
}

// outputMatches compares lines; a wanted line "..." stands for any lines.
func outputMatches(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if want[0] == "..." {
		for i := range len(got) + 1 {
			if outputMatches(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && want[0] == got[0] && outputMatches(want[1:], got[1:])
}

// kept returns the lines that match, with "..." for the others.
func kept(lines []string, show *regexp.Regexp) []string {
	if show == nil {
		return lines
	}
	var out []string
	for _, l := range lines {
		switch {
		case show.MatchString(l):
			out = append(out, l)
		case len(out) == 0 || out[len(out)-1] != "...":
			out = append(out, "...")
		}
	}
	return out
}

// linesOf splits output into lines, without the empty one at the end.
func linesOf(s string) []string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// runPage runs a page in the working directory and returns it with the outputs
// that -update would write.
func runPage(t *testing.T, page string, newApp func(stdout, stderr *bytes.Buffer) *app, update bool) string {
	lines := strings.Split(page, "\n")
	type edit struct {
		at, old int
		text    []string
	}
	var edits []edit
	for _, b := range blocks(page) {
		if len(b.info) == 2 && b.info[0] != "console" {
			require.NoError(t, os.MkdirAll(filepath.Dir(b.info[1]), 0o777))
			require.NoError(t, os.WriteFile(b.info[1], []byte(strings.Join(b.text, "\n")+"\n"), 0o666))
		}
		if len(b.info) == 0 || b.info[0] != "console" {
			continue
		}
		all, err := steps(b)
		require.NoError(t, err)
		for _, s := range all {
			got, exit, err := perform(newApp, s.command)
			require.NoError(t, err, "line %d: %s", s.line, s.command)
			assert.Equal(t, s.exit, exit, "line %d: exit code of: %s\n%s", s.line, s.command, got)
			if len(s.output) == 0 {
				continue
			}
			got = strings.Join(kept(linesOf(got), b.show), "\n")
			want := linesOf(settled(strings.Join(s.output, "\n")))
			if outputMatches(want, linesOf(settled(got))) {
				continue
			}
			if update {
				edits = append(edits, edit{s.line - 1, len(s.output), asked(s.output, linesOf(got))})
				continue
			}
			t.Errorf("line %d: output of: %s\n--- the page says\n%s\n--- the program says\n%s", s.line, s.command, strings.Join(s.output, "\n"), got)
		}
	}
	for i := len(edits) - 1; i >= 0; i-- {
		e := edits[i]
		lines = append(lines[:e.at], append(e.text, lines[e.at+e.old:]...)...)
	}
	return strings.Join(lines, "\n")
}

// asked returns the new output of a step: all of it, or as many lines as "?N" asks for.
func asked(old, got []string) []string {
	if n, err := strconv.Atoi(strings.TrimPrefix(old[0], "?")); err == nil && strings.HasPrefix(old[0], "?") && n < len(got) {
		return append(append([]string(nil), got[:n]...), "...")
	}
	return append([]string(nil), got...)
}
