package main

import "github.com/spf13/cobra"

import "rdmasim/scenarios/hardware"

func newHWAgent(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "agent",
		Short:   "Run the hosts of this machine for hw run --host (started by ssh)",
		Long:    "Speak with the coordinator over standard input and output. It is started by\nrdmasim hw run --host on every machine; there is nothing to type.",
		Example: "  ssh node1 rdmasim hw agent",
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runError(hardware.Agent(cmd.Context(), cmd.InOrStdin(), a.stdout, a.stderr, version()))
		},
	}
}
