package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rdmasim/fabric/switchconf"
	"rdmasim/scenarios"
)

//nolint:funlen // steps in their order
func newImportSonic(a *app) *cobra.Command {
	var platform, out string
	var asJSON bool
	var ports []string
	cmd := &cobra.Command{
		Use:   "sonic FILE...",
		Short: "Turn the configuration of a SONiC switch into the switch of a scenario",
		Long: `Turn files of SONiC into YAML for the switch key of a scenario, and say of
every field what became of it: used, defaulted, not expressed, not understood.
FILE is config_db.json, a piece of it such as rendered QoS and buffer templates,
or pg_profile_lookup.ini; later files override earlier ones. - is standard input.
Nothing is sent to a switch.`,
		Example: `  rdmasim import sonic config_db.json
  rdmasim import sonic qos.json buffers.json pg_profile_lookup.ini --platform th --out switch.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return inputError(fmt.Errorf("import sonic: FILE is missing: usage: rdmasim import sonic FILE..."))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&platform, "platform", "", "`PLATFORM`, hwsku or ASIC (th, td3, spc3, ...), instead of that in the files")
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write the YAML to; the explanation goes to standard output")
	cmd.Flags().StringSliceVar(&ports, "ports", nil, "`NAMES`, separated by commas, of the ports that ports 0, 1, ... of the switch are to be; the others follow")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print switch, ports and explanation as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		files, err := sonicFiles(cmd.InOrStdin(), args)
		if err != nil {
			return inputError(err)
		}
		s, err := scenarios.ImportSonic(files, switchconf.Options{Platform: platform}, ports...)
		if err != nil {
			return inputError(err)
		}
		text, err := s.YAML()
		if err != nil {
			return err
		}
		var said bytes.Buffer
		if asJSON {
			err = sonicJSON(&said, s)
		} else {
			err = explainSonic(&said, s)
		}
		if err != nil {
			return err
		}
		switch {
		case out != "":
			if err := os.WriteFile(out, text, 0o666); err != nil {
				return inputError(err)
			}
		case !asJSON:
			text = append(text, '\n')
			for line := range strings.Lines(said.String()) {
				text = append(text, strings.TrimRight("# "+line, " \n")+"\n"...)
			}
			_, err = a.stdout.Write(text)
			return err
		}
		_, err = said.WriteTo(a.stdout)
		return err
	}
	return cmd
}

// sonicFiles reads files by name.
func sonicFiles(stdin io.Reader, names []string) ([]switchconf.File, error) {
	var files []switchconf.File
	for _, n := range names {
		data, err := readInput(stdin, n)
		if err != nil {
			return nil, err
		}
		if n == "-" {
			n = "stdin"
		}
		files = append(files, switchconf.File{Name: n, Data: data})
	}
	return files, nil
}

// sonicJSON writes an import for machines.
func sonicJSON(w io.Writer, s *scenarios.SonicImport) error {
	sw, err := s.JSON()
	if err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Switch json.RawMessage        `json:"switch"`
		Ports  []string               `json:"ports"`
		Fields []scenarios.SonicField `json:"fields"`
	}{sw, s.Ports, s.Fields})
}

// sonicSections are the statuses in the order in which they are read.
var sonicSections = []struct{ status, title string }{
	{"not understood", "Not understood"},
	{"not expressed", "Understood, but the simulator cannot express it"},
	{"defaulted", "In no file: defaults, and what follows from other values"},
	{"overridden", "Overridden by a later file"},
	{"used", "Used"},
	{"unrelated", "Not about the fabric"},
}

// explainSonic writes what became of each field, like ones together.
func explainSonic(w io.Writer, s *scenarios.SonicImport) error {
	if len(s.Ports) > 0 {
		fmt.Fprintf(w, "Ports, in the order of the numbers above: %s\n", portSpan(s.Ports))
	}
	var counts []string
	for _, sec := range sonicSections {
		n := 0
		for _, f := range s.Fields {
			if f.Status == sec.status {
				n++
			}
		}
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, sec.status))
		}
	}
	fmt.Fprintf(w, "Fields: %s\n", strings.Join(counts, ", "))
	for _, sec := range sonicSections {
		groups := groupSonic(s.Fields, sec.status)
		if len(groups) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", sec.title)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, g := range groups {
			fmt.Fprintf(t, "  %s\t%s\t%s\n", g.what(), g.where(), g.text())
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// portSpan lists ports, the middle of a long list left out.
func portSpan(names []string) string {
	if len(names) <= 8 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, ... %s (%d)", strings.Join(names[:4], ", "), names[len(names)-1], len(names))
}

// shortKey leaves the middle of a long list of ports in a key out.
func shortKey(key string) string {
	list, rest, _ := strings.Cut(key, "|")
	if names := strings.Split(list, ","); len(names) > 4 {
		list = fmt.Sprintf("%s,%s,...%s", names[0], names[1], names[len(names)-1])
		if rest != "" {
			list += "|" + rest
		}
		return list
	}
	return key
}

// sonicGroup is fields of which the same is said.
type sonicGroup struct {
	first  scenarios.SonicField
	fields int
	keys   []string // entries, each once
	values []string // each once
	names  []string
}

// groupSonic puts together fields of one table of which the same is said.
func groupSonic(fields []scenarios.SonicField, status string) []*sonicGroup {
	var list []*sonicGroup
	at := map[string]*sonicGroup{}
	for _, f := range fields {
		if f.Status != status {
			continue
		}
		id := strings.Join([]string{f.File, f.Table, f.Text, strings.Join(f.Keys, " ")}, "\x00")
		if !strings.HasSuffix(f.Table, "_MAP") && !strings.HasPrefix(f.Table, "MAP_") && f.Table != "CABLE_LENGTH" || f.Table == "PORT_QOS_MAP" {
			id += "\x00" + f.Field
			if status != "not expressed" {
				id += "\x00" + f.Value
			}
		} else {
			id += "\x00" + f.Key
		}
		if status == "unrelated" {
			id = f.File + "\x00" + f.Table + "\x00" + f.Text
		}
		g := at[id]
		if g == nil {
			g = &sonicGroup{first: f}
			at[id] = g
			list = append(list, g)
		}
		g.fields++
		g.keys = addOnce(g.keys, f.Key)
		g.values = addOnce(g.values, f.Value)
		g.names = addOnce(g.names, f.Field)
	}
	return list
}

// addOnce appends a word that is not there; a handful is enough to show.
func addOnce(list []string, s string) []string {
	if s == "" || len(list) > 64 || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// what names the fields of a group: TABLE|entry field = value.
func (g *sonicGroup) what() string {
	f := g.first
	if f.Table == "" { // a decision without a field
		return strings.Join(f.Keys, ", ") + " = " + f.Value
	}
	s := f.Table
	switch {
	case len(g.keys) == 1:
		s += "|" + shortKey(g.keys[0])
	case len(g.keys) > 1:
		s += fmt.Sprintf("|%s (and %d more)", shortKey(g.keys[0]), g.fields/max(len(g.names), 1)-1)
	}
	switch {
	case len(g.names) == 1 && len(g.values) == 1:
		s += " " + g.names[0] + " = " + g.values[0]
	case len(g.names) == 1:
		s += " " + g.names[0]
	case len(g.names) > 1 && len(g.names) <= 4:
		s += " " + strings.Join(g.names, ", ")
	case len(g.names) > 4:
		s += fmt.Sprintf(" %s ... %s (%d fields)", g.names[0], g.names[len(g.names)-1], g.fields)
	case f.Value != "":
		s += ", " + f.Value
	}
	return s
}

// where is the place of the first field.
func (g *sonicGroup) where() string {
	if g.first.Line == 0 {
		return "-"
	}
	return fmt.Sprintf("%s:%d", filepath.Base(g.first.File), g.first.Line)
}

// text says what became of the group.
func (g *sonicGroup) text() string {
	if len(g.first.Keys) == 0 || g.first.Table == "" {
		return g.first.Text
	}
	return strings.Join(g.first.Keys, ", ") + ": " + g.first.Text
}
