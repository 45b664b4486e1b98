package tune

import (
	"embed"
	"path"
	"strings"
)

// plans are the plans that come with the program.
//
//go:embed plans/*.yaml
var plans embed.FS

// Plans lists the names of the plans that come with the program.
func Plans() (names []string) {
	entries, err := plans.ReadDir("plans")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// PlanText returns the text of a plan that comes with the program.
func PlanText(name string) ([]byte, bool) {
	text, err := plans.ReadFile(path.Join("plans", name+".yaml"))
	return text, err == nil
}
