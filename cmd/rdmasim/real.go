package main

import (
	"context"
	"io"

	"rdmasim/reports/metric"
	"rdmasim/scenarios"
)

// realProduct wires the commands to the packages below.
func realProduct() product {
	return product{
		load:           func(string, []string) (*scenarios.Spec, error) { return nil, errNotBuilt },
		run:            func(context.Context, *scenarios.Spec, runOptions) (*runResult, error) { return nil, errNotBuilt },
		estimate:       func(*scenarios.Spec) (*estimate, error) { return nil, errNotBuilt },
		page:           func(string) (string, error) { return "", errNotBuilt },
		compare:        func([]string, string) (string, error) { return "", errNotBuilt },
		metrics:        metric.Load,
		library:        func() []libraryEntry { return nil },
		source:         func(string) (string, error) { return "", errNotBuilt },
		catalogues:     func() []catalogue { return nil },
		importTopology: func(string, io.Reader, string, io.Writer) error { return errNotBuilt },
	}
}
