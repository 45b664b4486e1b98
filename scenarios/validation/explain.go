package validation

import (
	"fmt"
	"strings"

	"rdmasim/congestion/fluid"
)

// Explain returns what a row is compared with, where that holds and who says
// so, or the same of one oracle. The error lists the ids of rows and oracles.
func Explain(id string) (string, error) {
	if o, err := fluid.Explain(id); err == nil {
		return o.String() + comparedBy(id), nil
	}
	row, err := Lookup(id)
	if err != nil {
		var ids []string
		for _, o := range fluid.Oracles() {
			ids = append(ids, o.ID)
		}
		return "", fmt.Errorf("%w; or one of the oracles %s", err, strings.Join(ids, ", "))
	}
	equations, err := row.Equations()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n%s\n", id, row.Title, row.Explain)
	if len(equations) > 0 {
		fmt.Fprintf(&b, "\nWhat is expected is computed by:\n\n%s", strings.Join(equations, ""))
	}
	if row.Lacks != "" {
		fmt.Fprintf(&b, "\nIt cannot be run yet: %s\n", row.Lacks)
	}
	if len(row.Scenarios) > 0 {
		fmt.Fprintf(&b, "\nScenarios, see rdmasim validate --show FILE: %s\n", strings.Join(row.Scenarios, ", "))
	}
	return b.String(), nil
}

// comparedBy says which rows use an oracle.
func comparedBy(oracle string) string {
	var rows []string
	for _, id := range IDs() {
		row, err := Lookup(id)
		if err != nil {
			continue
		}
		for _, o := range row.Oracles {
			if o == oracle {
				rows = append(rows, id)
			}
		}
	}
	if len(rows) == 0 {
		return ""
	}
	return "  rows: " + strings.Join(rows, ", ") + "\n"
}
