package validation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// Verdicts of checks.
const (
	verdictPass   = "pass"
	verdictFail   = "FAIL"
	verdictSoft   = "differs" // a row that is no gate
	verdictNotYet = "not yet"
)

// Verdict is one word about a check.
func (c *Check) Verdict() string {
	switch {
	case c.OK:
		return verdictPass
	case c.Hard:
		return verdictFail
	}
	return verdictSoft
}

// Text writes the table for a terminal.
func (r *Report) Text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "id\twhat\texpected\tmeasured\ttolerance\tverdict\tsource")
	for _, x := range r.Results {
		for i := range x.Checks {
			c := &x.Checks[i]
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Row, c.What, c.Expected, c.Measured, c.Tolerance, c.Verdict(), c.Source)
		}
		if x.Error != "" {
			fmt.Fprintf(t, "%s\t%s\t\t\t\t%s\t%s\n", x.ID, x.Title, verdictFail, x.Error)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, x := range r.Results {
		if x.Lacks != "" {
			fmt.Fprintf(w, "%s  %s: %s: %s\n", x.ID, verdictNotYet, x.Title, x.Lacks)
		}
	}
	_, err := fmt.Fprintln(w, r.Summary())
	return err
}

// Summary is one sentence about the whole.
func (r *Report) Summary() string {
	rows, checks, wrong, lacking := 0, 0, 0, 0
	for _, x := range r.Results {
		if x.Lacks != "" {
			lacking++
			continue
		}
		rows++
		checks += len(x.Checks)
		for i := range x.Checks {
			if !x.Checks[i].OK {
				wrong++
			}
		}
	}
	return fmt.Sprintf("%d rows, %d checks: %d do not hold, %d hard rows fail; %d rows cannot be run yet (level %s, %.0f s)", rows, checks, wrong, r.Failed(), lacking, r.Level, r.Wall)
}

// Markdown writes the table as a document; figures are links to NAME.svg below
// dir, none where dir is "".
func (r *Report) Markdown(w io.Writer, dir string) error {
	var b strings.Builder
	b.WriteString("| id | what | expected | measured | tolerance | verdict | source |\n|---|---|---|---|---|---|---|\n")
	for _, x := range r.Results {
		for i := range x.Checks {
			c := &x.Checks[i]
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", c.Row, cell(c.What), cell(c.Expected), cell(c.Measured), cell(c.Tolerance), c.Verdict(), cell(c.Source))
		}
		switch {
		case x.Error != "":
			fmt.Fprintf(&b, "| %s | %s | | %s | | %s | |\n", x.ID, cell(x.Title), cell(x.Error), verdictFail)
		case x.Lacks != "":
			fmt.Fprintf(&b, "| %s | %s | | %s | | %s | |\n", x.ID, cell(x.Title), cell(x.Lacks), verdictNotYet)
		}
	}
	b.WriteString("\n" + r.Summary() + "\n")
	if dir != "" {
		for _, x := range r.Results {
			for _, c := range x.Curves {
				fmt.Fprintf(&b, "\n![%s](%s)\n", c.Title, filepath.ToSlash(filepath.Join(dir, c.Name+".svg")))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ").Replace(s)
}

// Files of a validation directory.
const (
	FileJSON     = "validation.json"
	FileMarkdown = "validation.md"
	DirFigures   = "figures"
)

// JSON writes the report for machines.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Write leaves the report in a directory, as JSON and as Markdown.
func (r *Report) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := r.JSON(&text); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, FileJSON), text.Bytes(), 0o666); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, FileMarkdown))
	if err != nil {
		return err
	}
	fmt.Fprint(f, "# Validation\n\n")
	if err := r.Markdown(f, DirFigures); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
