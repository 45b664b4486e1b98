package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// topologyFormats are the foreign formats that `import topology` reads.
var topologyFormats = []string{"csv", "ptm", "ibnetdiscover"}

func newImport(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "import", Short: "Turn files of other tools into scenario parts"}
	cmd.AddCommand(newImportTopology(a))
	return cmd
}

func newImportTopology(a *app) *cobra.Command {
	var format, out string
	cmd := &cobra.Command{
		Use:   "topology FILE",
		Short: "Turn a foreign topology file into the topology of a scenario",
		Long: `Turn a topology file of another tool into YAML for the topology key of a
scenario. The formats:

  csv            a,b,rate,delay: one link per line
  ptm            Graphviz, as prescriptive topology managers read it
  ibnetdiscover  the output of ibnetdiscover

FILE may be - for standard input.`,
		Example: "  rdmasim import topology fabric.dot --format ptm --out fabric.yaml",
		Args:    exactArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(topologyFormats, format) {
				return inputError(fmt.Errorf("--format %q: want one of %s", format, strings.Join(topologyFormats, ", ")))
			}
			in, err := openInput(cmd.InOrStdin(), args[0])
			if err != nil {
				return inputError(err)
			}
			defer in.Close()
			var text strings.Builder
			if err := a.importTopology(format, in, args[0], &text); err != nil {
				return inputError(err)
			}
			if out == "" {
				_, err = io.WriteString(a.stdout, text.String())
				return err
			}
			return inputError(os.WriteFile(out, []byte(text.String()), 0o666))
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "`FORMAT` of the file: csv, ptm or ibnetdiscover")
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write, instead of standard output")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(topologyFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// openInput opens a file by name, or stdin for "-".
func openInput(stdin io.Reader, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	return os.Open(name)
}
