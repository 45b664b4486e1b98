package validation

import (
	"embed"
	"fmt"
)

//go:embed *.yaml
var files embed.FS

// Scenario returns the text of a scenario of this package, by file name.
func Scenario(file string) ([]byte, error) {
	text, err := files.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("validation has no scenario %q", file)
	}
	return text, nil
}
