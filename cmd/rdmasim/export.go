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
	from            string
	back            bool
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
		Example: "  rdmasim export nxos my.yaml\n  rdmasim export sonic-patch my.yaml --switch leaf0 --asic th5\n  rdmasim export nxos tuned.yaml --from today.yaml",
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
	cmd.Flags().StringVar(&f.from, "from", "", "`SCENARIO` of the switch as it is: print only what changes, and the way back")
	cmd.Flags().BoolVar(&f.back, "rollback", false, "with --from: print the way back instead, as a configuration")
	_ = cmd.RegisterFlagCompletionFunc("from", scenario)
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
	r, err := a.rendered(f, spec, format)
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

// rendered writes the switch of a scenario, or the change that leads to it or
// from it.
func (a *app) rendered(f *exportFlags, spec *scenarios.Spec, format string) (*switchconf.Rendered, error) {
	asic := strings.ToLower(f.asic)
	switch {
	case f.from == "" && f.back:
		return nil, fmt.Errorf("--rollback goes back to the scenario of --from, which is missing")
	case f.from == "":
		return scenarios.Export(spec, format, f.node, asic)
	}
	today, err := a.load(f.from, nil)
	if err != nil {
		return nil, err
	}
	if f.back {
		r, err := scenarios.ExportChange(spec, today, format, f.node, asic)
		if err == nil {
			r.RenameCheckpoint("before-rollback")
		}
		return r, err
	}
	return scenarios.ExportChange(today, spec, format, f.node, asic)
}
