package netem

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Command is a program and its arguments.
type Command []string

// String returns the command as a shell would take it.
func (c Command) String() string {
	q := make([]string, len(c))
	for i, a := range c {
		q[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`;|&<>(){}[]*?!#~") {
			q[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(q, " ")
}

// Change is one change of the host and how it is taken back.
type Change struct {
	What string // in plain words
	Do   Command
	Undo Command // nil: nothing is left behind
}

// Runner executes commands. Exec is the real one; tests have their own.
type Runner interface {
	Run(ctx context.Context, c Command) (stdout string, err error)
}

// Exec runs commands on this host.
type Exec struct{}

// Run executes a command and returns what it printed; what it said on standard
// error is in the error.
func (Exec) Run(ctx context.Context, c Command) (string, error) {
	cmd := exec.CommandContext(ctx, c[0], c[1:]...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w: %s", c, err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}
