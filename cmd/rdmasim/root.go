package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const rootLong = `rdmasim simulates RDMA over Ethernet: one scenario file describes a fabric, its
traffic and its faults; a run leaves a directory; every report is drawn from
that directory alone.

  rdmasim list                     the scenarios that come with the program
  rdmasim run incast-8to1          run one and draw its report
  rdmasim check my.yaml            what is wrong with mine, and what a run will cost
  rdmasim compare runs/a-1 runs/b-1`

const exitHelp = `
Exit codes: 0 done, 1 an expectation failed, 2 bad input or usage,
3 the run failed or was cut short.
`

// newRoot returns the command tree.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "rdmasim",
		Short:         "Simulate RDMA fabrics and draw the reports",
		Long:          rootLong,
		Args:          cobra.ArbitraryArgs,
		Version:       versionLine(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknown("command", args[0], commandNames(cmd))
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.profiles.start() },
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.PersistentFlags().StringVar(&a.profiles.cpu, "cpuprofile", "", "write a CPU profile to this file")
	_ = root.PersistentFlags().MarkHidden("cpuprofile")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(root.UsageTemplate() + exitHelp)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpCommand(newHelp())
	for _, c := range []*cobra.Command{
		newRun(a),
		newList(a),
		newShow(a),
		newCheck(a),
		newEstimate(a),
		newCredibility(a),
		newReport(a),
		newWhy(a),
		newCompare(a),
		newTest(a),
		newShrink(a),
		newSweep(a),
		newNS3(a),
		newValidate(a),
		newImport(a),
		newPcap(a),
		newPerftest(a),
		newHeadroom(a),
		newExport(a),
		newTune(a),
		newCalibrate(a),
		newHW(a),
		newVersion(a),
	} {
		root.AddCommand(c)
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		strictSubcommands(c)
	}
	return root
}

// strictSubcommands makes a command that only groups others refuse names that
// are none of them, instead of printing help with exit code 0.
func strictSubcommands(c *cobra.Command) {
	if c.Name() == "help" || !c.HasSubCommands() || c.Runnable() {
		return
	}
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s: want one of %s", shortPath(cmd), strings.Join(commandNames(cmd), ", "))
		}
		return unknown(cmd.Name()+" argument", args[0], commandNames(cmd))
	}
}

// commandNames returns the names of the visible commands below cmd.
func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
	}
	return names
}

// flagError adds what was probably meant to the error for a flag that does not exist.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return fmt.Errorf("%s: %w", shortPath(cmd), plainFlagError(err))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	got := "--" + missing.GetSpecifiedName()
	if missing.GetSpecifiedShortnames() != "" {
		got = "-" + missing.GetSpecifiedName()
	}
	return fmt.Errorf("%s: %w", shortPath(cmd), unknown("flag", got, names))
}

// plainFlagError says what a flag wants instead of which function refused it.
func plainFlagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	f, want := invalid.GetFlag(), invalid.GetFlag().Value.Type()
	switch want {
	case "int", "uint64":
		want = "a whole number"
	case "bool":
		want = "true or false"
	}
	return fmt.Errorf("--%s %q: want %s", f.Name, invalid.GetValue(), want)
}

// shortPath returns the words of a command without the program's name, which
// every error begins with.
func shortPath(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return "usage"
	}
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// newHelp is `help`, which refuses commands that do not exist.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if c, _, err := cmd.Root().Find(args); err == nil {
				return commandNames(c), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				if len(rest) == 0 {
					rest = args
				}
				return unknown("command", rest[0], commandNames(c))
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

// exactArgs returns an argument check that names what is missing.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return fmt.Errorf("%s: %s is missing: usage: %s", shortPath(cmd), names[len(args)], cmd.UseLine())
		}
		if len(args) > len(names) {
			return fmt.Errorf("%s: %q is one argument too many: usage: %s", shortPath(cmd), args[len(names)], cmd.UseLine())
		}
		return nil
	}
}
