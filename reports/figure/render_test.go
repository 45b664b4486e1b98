package figure

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/reports/reporttest"
)

// TestLook writes every figure to $FIGURES for people to look at.
func TestLook(t *testing.T) {
	out := os.Getenv("FIGURES")
	if out == "" {
		t.Skip("set FIGURES to a directory to see the figures")
	}
	for name, make := range map[string]func(string) error{
		"incast": func(d string) error { return reporttest.Incast(d, reporttest.Options{Ping: true, Fault: true}) },
		"big":    func(d string) error { return reporttest.Big(d, reporttest.Hundreds) },
		"empty":  reporttest.Empty,
	} {
		dir := filepath.Join(t.TempDir(), "run")
		require.NoError(t, make(dir))
		r, err := Load(dir)
		require.NoError(t, err)
		list, err := DrawAll(r)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(out, name), 0o755))
		for _, f := range list {
			if f.Empty != "" {
				t.Log(name, f.Name, f.Empty)
				continue
			}
			p, err := f.PNG()
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(out, name, f.Name+".png"), p, 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(out, name, f.Name+".svg"), f.SVG(), 0o644))
			t.Log(name, f.Name, f.Caption)
		}
	}
}
