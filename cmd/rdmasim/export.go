package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rdmasim/fabric/switchconf"
	"rdmasim/scenarios"
)

// exportFlags are the flags of `rdmasim export`.
type exportFlags struct {
	load            loadFlags
	node, asic, out string
	asJSON          bool
}

const exportLong = `Write the ECN, PFC, buffer and map settings of a switch of a scenario in the
words and units of a vendor. It says what was rounded, what the vendor's words do
not say, and which lines drop packets or take the link down, and adds what to
verify and how to roll back. It never touches a device.

FORMAT is one of:
`

func newExport(a *app) *cobra.Command {
	f := &exportFlags{}
	names := switchconf.Renderers.Names()
	long := exportLong
	for _, n := range names {
		if e, err := switchconf.Renderers.Lookup(n); err == nil {
			long += fmt.Sprintf("\n  %-12s %s", n, e.Doc)
		}
	}
	scenario := completeScenario(a)
	cmd := &cobra.Command{
		Use:     "export FORMAT SCENARIO",
		Short:   "Write a scenario's switch as the configuration of a vendor",
		Long:    long,
		Example: "  rdmasim export nxos my.yaml\n  rdmasim export sonic-patch my.yaml --switch leaf0 --asic th5",
		Args:    exactArgs("FORMAT", "SCENARIO"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return names, cobra.ShellCompDirectiveNoFileComp
			}
			return scenario(cmd, args[1:], prefix)
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.export(f, args[0], args[1]) },
	}
	f.load.register(cmd)
	cmd.Flags().StringVar(&f.node, "switch", "", "`NAME` of the switch; may be left out where all are configured alike")
	cmd.Flags().StringVar(&f.asic, "asic", "", "short name of the `ASIC`, such as th5 or spc4, for its cells and alphas")
	cmd.Flags().StringVar(&f.out, "out", "", "`FILE` to write, instead of standard output")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print lines with their effects, roundings and lacks as JSON")
	return cmd
}

// export is `rdmasim export`.
func (a *app) export(f *exportFlags, format, scenario string) error {
	if _, err := switchconf.Renderers.Lookup(format); err != nil {
		return inputError(fmt.Errorf("export: %w", unknown("export format", format, switchconf.Renderers.Names())))
	}
	spec, err := a.load(scenario, f.load.settings())
	if err != nil {
		return inputError(err)
	}
	r, err := scenarios.Export(spec, format, f.node, strings.ToLower(f.asic))
	if err != nil {
		return inputError(fmt.Errorf("export: %w", err))
	}
	text := []byte(r.Text())
	if f.asJSON {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(r); err != nil {
			return err
		}
		text = b.Bytes()
	}
	if f.out != "" {
		return inputError(os.WriteFile(f.out, text, 0o666))
	}
	_, err = a.stdout.Write(text)
	return err
}
