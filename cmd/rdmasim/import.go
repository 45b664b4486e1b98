package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// maxInput bounds a file that is read as a whole, in bytes.
const maxInput = 64 << 20

func newImport(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "import", Short: "Turn files of other tools into scenario parts"}
	cmd.AddCommand(newImportTopology(a), newImportSonic(a), newImportLumina(a))
	return cmd
}

func newImportTopology(a *app) *cobra.Command {
	var format, out string
	long := "Turn a topology file of another tool into YAML for the topology key of a\nscenario. FILE may be - for standard input. The formats:\n"
	var names []string
	for _, f := range a.formats() {
		names = append(names, f.Name)
		long += fmt.Sprintf("\n  %-14s %s", f.Name, f.Doc)
	}
	cmd := &cobra.Command{
		Use:     "topology FILE",
		Short:   "Turn a foreign topology file into the topology of a scenario",
		Long:    long,
		Example: "  rdmasim import topology fabric.dot --format ptm --rate 100Gbps --out fabric.yaml",
		Args:    exactArgs("FILE"),
	}
	cmd.Flags().StringVar(&format, "format", "", "`FORMAT` of the file: "+strings.Join(names, ", "))
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write, instead of standard output")
	cmd.Flags().String("rate", "", "`RATE` of links that give none, such as 100Gbps")
	cmd.Flags().String("delay", "", "propagation `DELAY` of links that give neither delay nor cable, such as 500ns")
	cmd.Flags().String("hosts", "", "`PATTERNS` of the names of hosts, separated by commas, where the file does not say what is one")
	cmd.Flags().Bool("servers", false, "the adapters of one server become one host with several ports")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if format == "" {
			return inputError(fmt.Errorf("import topology: --format is missing: want one of %s", strings.Join(names, ", ")))
		}
		set := map[string]string{}
		for _, key := range []string{"rate", "delay", "hosts", "servers"} {
			if f := cmd.Flags().Lookup(key); f.Changed {
				set[key] = f.Value.String()
			}
		}
		data, err := readInput(cmd.InOrStdin(), args[0])
		if err != nil {
			return inputError(err)
		}
		name := args[0]
		if name == "-" {
			name = "stdin"
		}
		text, err := a.importTopology(format, name, data, set)
		if err != nil {
			return inputError(err)
		}
		if out == "" {
			_, err = a.stdout.Write(text)
			return err
		}
		return inputError(os.WriteFile(out, text, 0o666))
	}
	return cmd
}

// readInput reads a file by name, or stdin for "-".
func readInput(stdin io.Reader, name string) ([]byte, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && len(data) > maxInput {
		err = fmt.Errorf("%s: it has more than %d bytes: want a file of at most that", name, maxInput)
	}
	return data, err
}
