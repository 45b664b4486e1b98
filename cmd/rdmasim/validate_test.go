package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/validation"
)

// validated runs `rdmasim validate` with a product whose results are changed
// before they are reported.
func validated(t *testing.T, change func(*validation.Report), args ...string) (code int, stdout string) {
	var out, errs bytes.Buffer
	a := quietApp(&out, &errs)
	run := a.product.validate
	a.product.validate = func(ctx context.Context, o validation.Options) (*validation.Report, error) {
		rep, err := run(ctx, o)
		if err == nil {
			change(rep)
		}
		return rep, err
	}
	code = execute(t.Context(), a, append([]string{"validate"}, args...))
	return code, out.String()
}

// A hard row that does not hold ends the command with code 1; one that is no
// gate does not. Both are told.
func TestValidateFails(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out := validated(t, func(*validation.Report) {}, "--only", "D6,F4", "--quick")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, out, "0 hard rows fail")
	code, out = validated(t, func(r *validation.Report) { r.Results[0].Checks[0].OK = false }, "--only", "D6,F4", "--quick")
	assert.Equal(t, exitExpect, code)
	assert.Contains(t, out, "FAIL")
	assert.Contains(t, out, "1 do not hold, 1 hard rows fail")
	code, out = validated(t, func(r *validation.Report) {
		r.Results[0].Hard, r.Results[0].Checks[0].Hard, r.Results[0].Checks[0].OK = false, false, false
	}, "--only", "D6,F4", "--quick")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, out, "differs")
	code, out = validated(t, func(r *validation.Report) { r.Results[1].Error = "no scenario" }, "--only", "D6,F4", "--quick")
	assert.Equal(t, exitExpect, code)
	assert.Contains(t, out, "no scenario")
}

// --out leaves the table as JSON and Markdown, a figure of each curve, and the
// run directories.
func TestValidateLeaves(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _ := validated(t, func(*validation.Report) {}, "--only", "F2,F4", "--quick", "--out", "v")
	require.Equal(t, exitOK, code)
	text, err := os.ReadFile(filepath.Join("v", validation.FileJSON))
	require.NoError(t, err)
	var rep validation.Report
	require.NoError(t, json.Unmarshal(text, &rep))
	require.Len(t, rep.Results, 2)
	for _, r := range rep.Results {
		require.NotEmpty(t, r.Curves, r.ID)
		for _, c := range r.Curves {
			assert.FileExists(t, filepath.Join("v", validation.DirFigures, c.Name+".svg"))
		}
	}
	text, err = os.ReadFile(filepath.Join("v", validation.FileMarkdown))
	require.NoError(t, err)
	assert.Contains(t, string(text), "| F2 | 40Gbps, 65535 quanta |")
	assert.Contains(t, string(text), "](figures/F2-pause.svg)")
	assert.DirExists(t, filepath.Join("v", "F2", "pause-once-1"))
}

// What would only be found after half an hour is refused before.
func TestValidateRefusesFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("page.md", []byte("no table"), 0o666))
	require.NoError(t, os.Mkdir("full", 0o777))
	require.NoError(t, os.WriteFile(filepath.Join("full", "x"), nil, 0o666))
	for want, args := range map[string][]string{
		"--only: unknown validation row \"X9\": want one of B1, ":                  {"--only", "X9"},
		"--only: F4 stands there twice":                                            {"--only", "F4,F4"},
		"--seeds 1: want 2 to 1000, or 0":                                          {"--seeds", "1"},
		"--into page.md: has no lines \"<!-- table -->\"":                          {"--into", "page.md"},
		"--into: open nothing.md":                                                  {"--into", "nothing.md"},
		"--out full: it exists and is not empty":                                   {"--out", "full"},
		"--out page.md: it exists and is no directory":                             {"--out", "page.md"},
		"--show: no row runs a scenario \"x.yaml\": want one of dcqcn-long.yaml, ": {"--show", "x.yaml"},
	} {
		var out, errs bytes.Buffer
		a := quietApp(&out, &errs)
		a.product.validate = func(context.Context, validation.Options) (*validation.Report, error) {
			t.Error("it was measured")
			return &validation.Report{}, nil
		}
		assert.Equal(t, exitInput, execute(t.Context(), a, append([]string{"validate"}, args...)), want)
		assert.Contains(t, errs.String(), want)
		assert.Empty(t, out.String())
	}
}

// --json prints what --out leaves as a file.
func TestValidateJSON(t *testing.T) {
	code, out := validated(t, func(*validation.Report) {}, "--only", "F4", "--quick", "--json")
	require.Equal(t, exitOK, code)
	var rep validation.Report
	require.NoError(t, json.Unmarshal([]byte(out), &rep))
	require.Len(t, rep.Results, 1)
	assert.Equal(t, "F4", rep.Results[0].ID)
	assert.NotEmpty(t, rep.Results[0].Checks)
}

// An interrupted validation keeps the rows that have been measured, and does not
// put them in the place of a whole table.
func TestValidateInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	page := "<!-- table -->\n\nwhole\n\n<!-- end -->\n"
	require.NoError(t, os.WriteFile("page.md", []byte(page), 0o666))
	var out, errs bytes.Buffer
	a := quietApp(&out, &errs)
	run := a.product.validate
	interrupt := func() {}
	a.interrupts = func(ctx context.Context, onFirst func()) (context.Context, func()) {
		ctx, cancel := context.WithCancelCause(ctx)
		interrupt = func() { onFirst(); cancel(errInterrupted) }
		return ctx, func() { cancel(nil) }
	}
	a.product.validate = func(ctx context.Context, o validation.Options) (*validation.Report, error) {
		o.Progress = func(done *validation.Result) {
			if done.ID == "F4" {
				interrupt()
			}
		}
		return run(ctx, o)
	}
	code := execute(t.Context(), a, []string{"validate", "--only", "F4,P1", "--out", "v", "--into", "page.md"})
	assert.Equal(t, exitRun, code)
	assert.Contains(t, errs.String(), "rdmasim: interrupted: keeping the rows that have been measured")
	assert.Contains(t, errs.String(), "rdmasim: interrupted: 1 of 2 rows were measured")
	assert.Contains(t, out.String(), "1 rows, 3 checks")
	assert.FileExists(t, filepath.Join("v", validation.FileJSON))
	text, err := os.ReadFile("page.md")
	require.NoError(t, err)
	assert.Equal(t, page, string(text))
}
