package workload

import (
	"embed"
	"fmt"
	"strings"
)

// Published flow-size distributions; every file names its source.
//
//go:embed cdf/*.txt
var cdfFiles embed.FS

// CDFNames returns the names of the built-in distributions in order.
func CDFNames() []string {
	entries, err := cdfFiles.ReadDir("cdf")
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".txt"))
	}
	return names
}

// BuiltinCDF returns the built-in distribution of that name; the error lists
// the names that exist.
func BuiltinCDF(name string) (*CDF, error) {
	text, err := cdfFiles.ReadFile("cdf/" + name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("cdf: unknown distribution %q: want one of %s, fixed or exponential with size, or cdf_file", name, strings.Join(CDFNames(), ", "))
	}
	return ParseCDF("cdf/"+name+".txt", text)
}
