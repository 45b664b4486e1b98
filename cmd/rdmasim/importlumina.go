package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"rdmasim/scenarios"
)

func newImportLumina(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "lumina FILE",
		Short: "Turn a Lumina test into a scenario",
		Long: `Turn the YAML of a Lumina test (traffic with data-pkt-events) into a scenario with
the same queue pairs, messages and packet events. rdmasim run takes the file as
it is, too. FILE may be - for standard input.`,
		Example: "  rdmasim import lumina drop.yml --out drop.yaml",
		Args:    exactArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := readInput(cmd.InOrStdin(), args[0])
			if err != nil {
				return inputError(err)
			}
			text, _, ok, err := scenarios.FromLumina(args[0], data)
			switch {
			case err != nil:
				return inputError(err)
			case !ok:
				return inputError(fmt.Errorf("import lumina: %s: no traffic with data-pkt-events or num-msgs-per-qp is in it", args[0]))
			case out == "":
				_, err = a.stdout.Write(text)
				return err
			}
			return inputError(os.WriteFile(out, text, 0o666))
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write, instead of standard output")
	return cmd
}
