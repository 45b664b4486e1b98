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
