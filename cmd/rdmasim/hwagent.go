package main

import (
	"errors"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"rdmasim/scenarios/hardware"
)

func newHWAgent(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "agent",
		Short:   "Run the hosts of this machine for hw run --host (started by ssh)",
		Long:    "Speak with the coordinator over standard input and output. It is started by\nrdmasim hw run --host on every machine; there is nothing to type.",
		Example: "  ssh node1 rdmasim hw agent",
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			// When the connection is gone there is still something to undo.
			signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP)
			ctx, stop := a.interrupts(cmd.Context(), func() {})
			defer stop()
			err := hardware.Agent(ctx, cmd.InOrStdin(), a.stdout, a.stderr, version())
			if told := (hardware.Told{}); errors.As(err, &told) {
				return &exitError{code: exitRun} // the coordinator prints it
			}
			return runError(err)
		},
	}
}
