package validation

import (
	"embed"
	"fmt"
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
		return nil, fmt.Errorf("validation has no scenario %q", file)
	}
	return text, nil
}
