package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"rdmasim/reports/credibility"
	figures "rdmasim/reports/figure"
	"rdmasim/reports/tuning"
	"rdmasim/scenarios"
	"rdmasim/sim"
)

// counterFlags say which counters of a real network there are.
type counterFlags struct {
	interval, node string
	ports          []string
}

const credibilityLong = `Lay today's counters of a real network beside a simulated run of today's
settings, per second and per port. A counter that differs by more than a factor of
two refutes the model: the command says what is missing in it, and exits with 1.

FILE is text as pasted from a terminal: show pfc counters (pfcstat), show queue
counters, show queue wredcounters (wredstat), show queue watermark unicast, show
priority-group watermark shared and headroom of SONiC, and ethtool -S of mlx5. Of
one table in two files the first is the sample before and the second the one
after. Over what time it counts is --interval, or follows from lines with the date
(date -Is).

The result goes to RUN/credibility.json.`

func newCredibility(a *app) *cobra.Command {
	f := &counterFlags{}
	asJSON := false
	cmd := &cobra.Command{
		Use:   "credibility RUN FILE...",
		Short: "Compare today's counters of a real network with a simulated today",
		Long:  credibilityLong,
		Example: `  rdmasim credibility runs/today pfc.before.txt pfc.after.txt wred.txt --interval 60s
  rdmasim credibility runs/today leaf1.txt --interval 5m --node leaf1`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return fmt.Errorf("credibility: want a run directory and at least one file of counters: usage: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := f.compare(args[0], args[1:])
			if err != nil {
				return inputError(fmt.Errorf("credibility: %w", err))
			}
			if err := c.Write(args[0]); err != nil {
				return inputError(err)
			}
			if asJSON {
				e := json.NewEncoder(a.stdout)
				e.SetIndent("", "  ")
				err = e.Encode(c)
			} else {
				err = writeCredibility(a.stdout, c)
			}
			if err == nil && !c.Credible {
				return &exitError{code: exitExpect}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&f.interval, "interval", "", "`TIME` that the counters cover, such as 60s, 5m or 24h")
	cmd.Flags().StringVar(&f.node, "node", "", "`PATTERN` of the switches of the run that the counters are of, such as leaf1 or leaf*")
	cmd.Flags().StringArrayVar(&f.ports, "ports", nil, portsUsage)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

const portsUsage = "which port of the run a port of the counters is: `PAIRS` such as Ethernet0=leaf1:1,Ethernet4=leaf1:2 or ens1np0=h4, or a file of them (repeatable); by default those of the same name, else all together"

// pairs reads --ports: pairs, or the name of a file of pairs.
func (f *counterFlags) pairs(flag string) (list []credibility.PortPair, err error) {
	for _, text := range f.ports {
		where := flag
		if !strings.Contains(text, "=") {
			p, err := scenarios.ReadBounded(text)
			if errors.Is(err, os.ErrNotExist) {
				return nil, fmt.Errorf("%s %s: no such file, and not pairs such as Ethernet0=leaf1:1", flag, text)
			}
			if err != nil {
				return nil, err
			}
			where, text = text, string(p)
		}
		some, err := credibility.ParsePortPairs(where, text)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

// compare reads files of counters and lays them beside a run.
func (f *counterFlags) compare(run string, files []string) (*tuning.Credibility, error) {
	today, err := f.read(files)
	if err != nil {
		return nil, err
	}
	pairs, err := f.pairs("--ports")
	if err != nil {
		return nil, err
	}
	return credibility.Compare(today, run, credibility.Options{Node: f.node, Ports: pairs})
}

// read reads files of counters.
func (f *counterFlags) read(files []string) (*credibility.Today, error) {
	interval := time.Duration(0)
	if f.interval != "" {
		var err error
		if interval, err = longTime(f.interval); err != nil {
			return nil, fmt.Errorf("--interval %q: want a time above 0 with its unit, such as 60s, 5m or 24h", f.interval)
		}
	}
	var samples []*credibility.Sample
	for _, name := range files {
		text, err := scenarios.ReadBounded(name)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: no such file", name)
		}
		if err != nil {
			return nil, err
		}
		s, err := credibility.Parse(name, text)
		if err != nil {
			return nil, err
		}
		samples = append(samples, s)
	}
	return credibility.Combine(samples, interval)
}

// longTime reads a time of up to days: that of operators, beyond those of a
// simulation.
func longTime(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil && d <= 0 {
		err = errors.New("not above 0")
	}
	if err != nil {
		if t, e := sim.ParseDuration(s); e == nil && t > 0 {
			return time.Duration(int64(t) / 1000), nil
		}
	}
	return d, err
}

// writeCredibility prints the table and the verdict.
func writeCredibility(w io.Writer, c *tuning.Credibility) error {
	plain := strings.NewReplacer("\u00a0", " ", "\u202f", "").Replace
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "counter\treal\tsimulated\tratio\tverdict\n")
	for _, r := range c.Rows {
		show := func(v *float64) string {
			if v == nil {
				return "not measured"
			}
			return plain(figures.Number(*v)) + " " + r.Unit
		}
		ratio, verdict := "-", r.Verdict
		if r.Factor != nil {
			ratio = plain(figures.Number(*r.Factor))
		}
		if r.Why != "" {
			verdict += ": " + r.Why
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.Name, show(r.Real), show(r.Simulated), ratio, verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(c.Ports) > 0 {
		var list []string
		for _, p := range c.Ports[:min(len(c.Ports), 8)] {
			list = append(list, p.Real+"="+p.Simulated)
		}
		more := ""
		if len(c.Ports) > 8 {
			more = fmt.Sprintf(" and %d more", len(c.Ports)-8)
		}
		fmt.Fprintf(w, "\nports compared: %s%s\n", strings.Join(list, " "), more)
	}
	if c.Credible {
		_, err := fmt.Fprintf(w, "\ncredible: no counter differs by more than a factor of %g\n", tuning.CredibleFactor)
		return err
	}
	fmt.Fprintf(w, "\nnot credible: what the model lacks\n")
	for _, m := range c.Missing {
		fmt.Fprintf(w, "  %s\n", m)
	}
	return nil
}
