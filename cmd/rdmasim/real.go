package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"

	"rdmasim/congestion"
	"rdmasim/fabric"
	"rdmasim/fabric/topology"
	"rdmasim/reports"
	figures "rdmasim/reports/figure"
	"rdmasim/reports/metric"
	"rdmasim/reports/page"
	"rdmasim/scenarios"
	"rdmasim/scenarios/fault"
	"rdmasim/scenarios/library"
	"rdmasim/scenarios/validation"
	"rdmasim/scenarios/workload"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// realProduct wires the commands to the packages below.
func realProduct() product {
	return product{
		load:     realLoad,
		run:      realRun,
		estimate: realEstimate,
		deadlock: scenarios.CheckDeadlock,
		lint:     scenarios.Lint,
		page:     realPage,
		why:      realWhy,
		compare:  realCompare,
		metrics:  metric.Load,
		library: func() (list []libraryEntry) {
			for _, e := range library.List() {
				list = append(list, libraryEntry(e))
			}
			return list
		},
		source: func(name string) (string, error) {
			text, err := library.Get(name)
			return string(text), err
		},
		catalogues: func() []catalogue {
			return []catalogue{
				members("topologies", topology.Topologies),
				members("congestion", congestion.Algorithms),
				members("workloads", workload.Workloads),
				members("faults", fault.Faults),
				members("thresholds", fabric.Thresholds),
				members("watchdogs", fabric.Watchdogs),
				members("formats", topology.Importers),
				members("baselines", scenarios.Baselines),
				switchTests(),
				members("figures", figures.Figures),
			}
		},
		validate:       validation.Run,
		formats:        func() []libraryEntry { return members("", topology.Importers).Members },
		importTopology: realImport,
	}
}

// switchTests are the scenarios of the library that operators run on a switch.
func switchTests() catalogue {
	c := catalogue{Kind: "switch-tests"}
	for _, e := range library.SwitchTests() {
		c.Members = append(c.Members, libraryEntry(e))
	}
	return c
}

// realRun runs a scenario, computes its metrics and judges its expectations.
func realRun(ctx context.Context, spec *scenarios.Spec, opt scenarios.Options) (*runResult, error) {
	opt.Version = version()
	r, err := scenarios.Run(ctx, spec, opt)
	if input := new(scenarios.InputError); errors.As(err, &input) {
		return nil, inputError(err)
	}
	if err != nil {
		return nil, err
	}
	if !opt.Lean {
		debug.FreeOSMemory() // the fabric is gone: its report begins anew
	}
	if err := estimateInto(r.Dir, spec); err != nil {
		return nil, err
	}
	failed, err := judgeRun(r.Dir, spec.Expect)
	if err != nil {
		return nil, err
	}
	res := &runResult{Dir: r.Dir, Partial: r.Partial, ExpectFailed: failed, Notes: r.Notes}
	for _, t := range spec.Traffic {
		if t.Name == metric.PerftestWorkload && res.Table == "" {
			var b strings.Builder
			if _, err := printPerftest(&b, r.Dir); err != nil {
				return nil, err
			}
			res.Table = b.String()
		}
	}
	return res, nil
}

// realEstimate says what a run would cost.
func realEstimate(spec *scenarios.Spec, capture *scenarios.CaptureOptions) (*estimate, error) {
	e, err := scenarios.NewEstimate(spec, capture)
	if err != nil {
		return nil, err
	}
	out := &estimate{Hosts: e.Hosts, Switches: e.Switches, Links: e.Links, PacketHops: e.PacketHops, WallSeconds: e.WallSeconds,
		MemoryBytes: e.Memory, DiskBytes: e.Disk, CaptureBytes: e.Capture, Tiers: e.Tiers, Notes: e.Notes}
	switch {
	case e.LowerBound:
		out.Notes = append(out.Notes, fmt.Sprintf("the run ends with its traffic: the figures are those of its first %s, and a lower bound", shortTime(e.Pilot)))
	case !e.Complete:
		out.Notes = append(out.Notes, fmt.Sprintf("estimated from a trial of the first %s of %s", shortTime(e.Pilot), shortTime(e.Simulated)))
	}
	return out, nil
}

// shortTime prints a duration in four digits.
func shortTime(d sim.Duration) string { return metric.Format(d.Seconds(), metric.Seconds) }

// judgeRun writes metrics.json and expect.xml of a run directory and returns
// how many expectations do not hold.
func judgeRun(dir string, expect []string) (failed int, err error) {
	run, err := trace.Open(dir)
	if err != nil {
		return 0, err
	}
	m, err := metric.Compute(run)
	if err != nil {
		return 0, err
	}
	if _, err := m.Check(expect); err != nil {
		return 0, err
	}
	for _, v := range m.Expect {
		if !v.OK {
			failed++
		}
	}
	return failed, errors.Join(m.Write(dir), m.WriteJUnit(dir))
}

// realPage draws the report of a run directory.
func realPage(dir string) (string, error) {
	write := page.Write
	if page.IsTune(dir) {
		write = page.WriteTune
	}
	if err := write(dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, page.Dir, "index.html"), nil
}

// realCompare draws the comparison of runs.
func realCompare(dirs []string, out string, o reports.Options) (text, path string, err error) {
	c, err := reports.Compare(dirs, out, o)
	if err != nil {
		return "", "", err
	}
	return c.Text(), filepath.Join(out, "index.html"), nil
}

// members lists a catalogue.
func members[T any](kind string, c *sim.Catalogue[T]) catalogue {
	list := catalogue{Kind: kind}
	for _, name := range c.Names() {
		if e, err := c.Lookup(name); err == nil {
			list.Members = append(list.Members, libraryEntry{name, e.Doc})
		}
	}
	return list
}

// realImport reads a foreign topology file.
func realImport(format, file string, data []byte, set map[string]string) ([]byte, error) {
	e, err := topology.Importers.Lookup(format)
	if err != nil {
		return nil, err
	}
	params, err := withText(e.Defaults, set)
	if err != nil {
		return nil, fmt.Errorf("format %s: %w", format, err)
	}
	read, err := e.Build(params)
	if err != nil {
		return nil, err
	}
	g, err := read(file, data)
	if err != nil {
		return nil, err
	}
	return scenarios.TopologyYAML(g)
}
