package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newList(a *app) *cobra.Command {
	kinds := func() []string {
		names := []string{"scenarios"}
		for _, c := range a.catalogues() {
			names = append(names, c.Kind)
		}
		return names
	}
	return &cobra.Command{
		Use:   "list [KIND]",
		Short: "List the scenarios of the library, or what a scenario can name",
		Long: `List the scenarios of the library. With KIND, list what scenarios can name:
topologies, congestion, workloads, faults, baselines of ECN; and formats that import
reads.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("list: %q is one argument too many: usage: %s", args[1], cmd.UseLine())
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return kinds(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "scenarios" {
				return writeEntries(a.stdout, a.library())
			}
			for _, c := range a.catalogues() {
				if c.Kind == args[0] {
					return writeEntries(a.stdout, c.Members)
				}
			}
			return unknown("kind", args[0], kinds())
		},
	}
}

// writeEntries writes a table of names and sentences.
func writeEntries(w io.Writer, entries []libraryEntry) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		fmt.Fprintf(t, "%s\t%s\n", e.Name, e.Doc)
	}
	return t.Flush()
}

func newShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "Print a scenario of the library",
		Long:              "Print a scenario of the library as YAML, to read or to begin one's own from.",
		Example:           "  rdmasim show incast-8to1 > my.yaml",
		Args:              exactArgs("NAME"),
		ValidArgsFunction: completeLibrary(a),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := a.source(args[0])
			if err != nil {
				return inputError(err)
			}
			_, err = io.WriteString(a.stdout, text)
			return err
		},
	}
}

// completeLibrary completes the names of library scenarios.
func completeLibrary(a *app) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, e := range a.library() {
			if strings.HasPrefix(e.Name, prefix) {
				names = append(names, e.Name+"\t"+e.Doc)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeScenario completes library scenarios, or files when none begins so.
func completeScenario(a *app) cobra.CompletionFunc {
	library := completeLibrary(a)
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		names, directive := library(cmd, args, prefix)
		if len(args) == 0 && len(names) == 0 {
			directive = cobra.ShellCompDirectiveDefault
		}
		return names, directive
	}
}
