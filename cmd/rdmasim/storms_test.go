package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	figures "rdmasim/reports/figure"
	"rdmasim/scenarios"
	"rdmasim/scenarios/library"
)

// Every scenario of the library says which figures it is about, and those of
// storms and traps have the first of them beside their page.
func TestFiguresOfTheLibrary(t *testing.T) {
	for _, e := range library.List() {
		s, err := realLoad(e.Name, nil)
		require.NoError(t, err)
		require.NotEmpty(t, s.Report.Figures, "%s: report.figures", e.Name)
		if len(s.Counterfactual()) == 0 {
			continue
		}
		text, err := os.ReadFile(stormFigure(e.Name))
		if !*update {
			require.NoError(t, err, "run: go test ./cmd/rdmasim -run FiguresOfTheLibrary -update")
			require.True(t, strings.HasPrefix(string(text), "<?xml"), e.Name)
		}
	}
}

// In a run of each scenario the figures that it names have something to show.
func TestFiguresOfTheLibraryShowSomething(t *testing.T) {
	if testing.Short() && !*update {
		t.Skip("runs the whole library")
	}
	for _, e := range library.List() {
		s, err := realLoad(e.Name, nil)
		require.NoError(t, err)
		dir := filepath.Join(t.TempDir(), e.Name)
		_, err = realRun(context.Background(), s, scenarios.Options{Out: dir, Workers: 1})
		require.NoError(t, err)
		r, err := figures.Load(dir)
		require.NoError(t, err)
		list, err := figures.DrawAll(r)
		require.NoError(t, err)
		for i, name := range s.Report.Figures {
			f := list[slices.IndexFunc(list, func(p figures.Placed) bool { return p.Name == name })]
			if !assert.NotEmpty(t, f.Panels, "%s: %s: %s", e.Name, name, f.Empty) {
				continue
			}
			if i == 0 && *update && len(s.Counterfactual()) > 0 {
				require.NoError(t, os.MkdirAll(filepath.Dir(stormFigure(e.Name)), 0o755))
				require.NoError(t, os.WriteFile(stormFigure(e.Name), f.SVG(), 0o644))
			}
		}
	}
}

// stormFigure is the file of the figure of a page of storms.
func stormFigure(name string) string {
	return filepath.Join("..", "..", "docs", "images", "storms", name+".svg")
}
