package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim/trace"
)

// Soft-RoCE has no DCQCN to fit; other NICs do not show the rates that they set.
func TestCalibrateRefusesDCQCN(t *testing.T) {
	on := func(device string) *trace.Run {
		return &trace.Run{Manifest: trace.Manifest{Mode: trace.ModeHardware, Versions: map[string]string{"kernel": "6.1", "device of h0": device}}}
	}
	rxe, mlx := on("rxe0 (rdma_rxe, firmware none, veth0, path MTU 1024)"), on("mlx5_0 (mlx5_core, firmware 22.31, eth0, path MTU 4096)")
	for _, fit := range []string{"dcqcn", "rate,dcqcn", "rate, cnp_interval", "alpha"} {
		assert.ErrorContains(t, refuseReaction(rxe, fit), "refused: h0 is rxe0", fit)
	}
	assert.ErrorContains(t, refuseReaction(mlx, "dcqcn"), "not supported")
	assert.NoError(t, refuseReaction(mlx, "cnp_interval"))
	assert.NoError(t, refuseReaction(rxe, "rate,delay"))
	assert.NoError(t, refuseReaction(rxe, ""))
}

// Bad input of calibrate is one line and exit code 2, and writes nothing.
func TestCalibrateBadInput(t *testing.T) {
	t.Chdir(t.TempDir())
	const taken = "taken.yaml"
	require.NoError(t, os.WriteFile(taken, []byte("mine"), 0o600))
	program := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := execute(t.Context(), quietApp(&out, &errs), args)
		return code, out.String() + errs.String()
	}
	code, text := program("run", "perftest-lat", "--no-report", "--quiet", "--out", "lat")
	require.Equal(t, exitOK, code, text)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"is not a run directory", []string{"nope"}},
		{"unknown parameter", []string{"lat", "--fit", "speed"}},
		{"stands there twice", []string{"lat", "--fit", "rate,rate"}},
		{"is not written over", []string{"lat", "--out", taken}},
		{"is not a run directory", []string{"lat", "--predict", "nope"}},
		{"does not run DCQCN", []string{"lat", "--fit", "cnp_interval"}},
	} {
		code, text := program(append([]string{"calibrate"}, c.args...)...)
		assert.Equal(t, exitInput, code, c.args)
		assert.Contains(t, text, c.want, c.args)
	}
	left, err := os.ReadFile(taken)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(left))
}
