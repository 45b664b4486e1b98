package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ns3Case copies the case that is counted by hand into an empty directory.
func ns3Case(t *testing.T) string {
	from, err := filepath.Abs(filepath.Join("..", "..", "scenarios", "reference", "testdata", "alone"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.CopyFS("cases/alone", os.DirFS(from)))
	return "cases"
}

func productCommand(line string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = execute(context.Background(), quietApp(&out, &errs), strings.Fields(line))
	return code, out.String(), errs.String()
}

func TestNS3(t *testing.T) {
	cases := ns3Case(t)
	code, out, errs := productCommand("ns3 " + cases)
	assert.Equal(t, exitOK, code, errs)
	assert.Contains(t, out, "| alone | 1 | 2 of 2 | 2002500 | 0 | 2 of 2 | mean FCT 87.20 us, want 86.76 to 87.63 | holds |")
	assert.Contains(t, errs, "alone, seed 1: mean FCT 87.195 us")

	// Into a page, twice, with the true model beside it.
	for range 2 {
		code, out, errs = productCommand("ns3 " + cases + " --true-model --out page.md")
		assert.Equal(t, exitOK, code, errs)
		assert.Empty(t, out)
	}
	page, err := os.ReadFile("page.md")
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(page), "Completion times, true model"))
	assert.Contains(t, string(page), "Made by `rdmasim ns3 cases --seeds 10 --true-model`")

	// A result that is not met.
	fct := filepath.Join(cases, "alone", "fct_hpcc.txt")
	text, err := os.ReadFile(fct)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(fct, []byte(strings.Replace(string(text), " 170091 ", " 175091 ", 1)), 0o666))
	code, out, errs = productCommand("ns3 " + cases)
	assert.Equal(t, exitExpect, code)
	assert.Contains(t, out, "**fails**: mean FCT 87.20 us")
	assert.Contains(t, errs, "rdmasim: 1 of 1 cases fail\n")
}

func TestNS3Errors(t *testing.T) {
	ns3Case(t)
	require.NoError(t, os.WriteFile("mine.md", []byte("a page of mine\n"), 0o666))
	require.NoError(t, os.WriteFile("bad.csv", []byte("case\n"), 0o666))
	require.NoError(t, os.Mkdir("empty", 0o777))
	for _, c := range []struct{ line, want string }{
		{"ns3", "rdmasim: ns3: DIR is missing: usage: rdmasim ns3 DIR..."},
		{"ns3 cases --seeds 0", "rdmasim: --seeds 0: want 1 to 1000"},
		{"ns3 empty", "empty/config.txt: no such file"},
		{"ns3 cases --out mine.md", "rdmasim: --out mine.md: there is no line"},
		{"ns3 cases --counts bad.csv", "rdmasim: bad.csv: "},
	} {
		code, out, errs := productCommand(c.line)
		assert.Equal(t, exitInput, code, c.line)
		assert.Empty(t, out, c.line)
		assert.Contains(t, errs, c.want, c.line)
		assert.Equal(t, 1, strings.Count(errs, "\n"), c.line)
	}
	left, err := os.ReadFile("mine.md")
	require.NoError(t, err)
	assert.Equal(t, "a page of mine\n", string(left))
}
