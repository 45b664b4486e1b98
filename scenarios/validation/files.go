package validation

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"rdmasim/scenarios/library"
)

//go:embed *.yaml
var files embed.FS

// Scenario returns the text of a scenario of this package, or of a switch test
// of the library, by file name.
func Scenario(file string) ([]byte, error) {
	text, err := files.ReadFile(file)
	if err != nil {
		text, err = library.Get(strings.TrimSuffix(file, ".yaml"))
	}
	if err != nil {
		return nil, fmt.Errorf("no row runs a scenario %q: want one of %s", file, strings.Join(fileNames(), ", "))
	}
	return text, nil
}

// fileNames are those of the scenarios that rows run.
func fileNames() (names []string) {
	for _, id := range IDs() {
		row, err := Lookup(id)
		if err != nil {
			continue
		}
		for _, file := range row.Scenarios {
			if !slices.Contains(names, file) {
				names = append(names, file)
			}
		}
	}
	slices.Sort(names)
	return names
}
