// Package library holds the scenarios that come with the program, as files. Each
// begins with a comment that teaches one mechanism.
package library

import (
	"bufio"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed *.yaml switch-tests/*.yaml
var files embed.FS

const (
	suffix      = ".yaml"
	switchTests = "switch-tests/" // where they are
)

// Entry is a scenario: its name, and the first sentence of the comment at its top.
type Entry struct {
	Name string
	Doc  string
}

// List returns the scenarios in order of their names, without the switch tests.
func List() []Entry { return list("") }

// SwitchTests returns the tests that operators run on a switch before they trust
// it, in order of their names. Get finds them too.
func SwitchTests() []Entry { return list(switchTests) }

// list returns the scenarios of a directory.
func list(dir string) []Entry {
	names, err := fs.Glob(files, dir+"*"+suffix)
	if err != nil {
		panic(err) // the pattern is a constant
	}
	list := make([]Entry, 0, len(names))
	for _, file := range names {
		text, err := files.ReadFile(file)
		if err != nil {
			panic(err) // Glob found it
		}
		list = append(list, Entry{Name: strings.TrimSuffix(path.Base(file), suffix), Doc: firstSentence(text)})
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Get returns the YAML of a scenario. The error lists the names that exist.
func Get(name string) ([]byte, error) {
	if !strings.Contains(name, "/") {
		for _, dir := range []string{"", switchTests} {
			if text, err := files.ReadFile(dir + name + suffix); err == nil {
				return text, nil
			}
		}
	}
	var names []string
	for _, e := range append(List(), SwitchTests()...) {
		names = append(names, e.Name)
	}
	return nil, fmt.Errorf("no scenario is called %q: want one of %s", name, strings.Join(names, ", "))
}

// File returns the name by which errors call the file of a scenario.
func File(name string) string { return name + suffix }

// firstSentence returns the comment lines at the top up to the first full stop
// that ends a word.
func firstSentence(text []byte) string {
	var words []string
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		line, ok := strings.CutPrefix(lines.Text(), "#")
		if !ok {
			break
		}
		for word := range strings.FieldsSeq(line) {
			words = append(words, word)
			if strings.HasSuffix(word, ".") {
				return strings.Join(words, " ")
			}
		}
	}
	return strings.Join(words, " ")
}
