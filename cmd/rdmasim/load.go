package main

import (
	"fmt"
	"slices"

	figures "rdmasim/reports/figure"
	"rdmasim/scenarios"
)

// realLoad reads a scenario. Its figures are looked up here, since scenarios
// know nothing of reports.
func realLoad(name string, sets []string) (*scenarios.Spec, error) {
	s, err := scenarios.Load(name, sets)
	if err != nil {
		return nil, err
	}
	for i, f := range s.Report.Figures {
		at := fmt.Sprintf("report.figures.%d", i)
		if _, err := figures.Figures.Lookup(f); err != nil {
			return nil, s.Locate(at, err)
		}
		if slices.Contains(s.Report.Figures[:i], f) {
			return nil, s.Locate(at, fmt.Errorf("%s: stands there twice: want each figure once", f))
		}
	}
	return s, nil
}
