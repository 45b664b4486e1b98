package page

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/reports/reporttest"
)

func TestLook(t *testing.T) {
	out := os.Getenv("PAGES")
	if out == "" {
		t.Skip("set PAGES to a directory to see the pages")
	}
	for name, make := range map[string]func(string) error{
		"incast": func(d string) error { return reporttest.Incast(d, reporttest.Options{Ping: true, Fault: true}) },
		"big":    func(d string) error { return reporttest.Big(d, reporttest.Hundreds) },
		"empty":  reporttest.Empty,
	} {
		dir := filepath.Join(out, name)
		require.NoError(t, make(dir))
		require.NoError(t, Write(dir))
	}
}
