package main

import (
	"context"
	"io"

	"rdmasim/fabric/switchconf"
	"rdmasim/reports"
	"rdmasim/reports/metric"
	"rdmasim/scenarios"
	"rdmasim/scenarios/validation"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// product is everything that the commands ask of the packages below, one
// function each.
type product struct {
	// load reads a scenario by library name, YAML path or HPCC config.txt and
	// applies path=value settings.
	load func(name string, sets []string) (*scenarios.Spec, error)
	// run runs a scenario and leaves its run directory, metrics included.
	run func(ctx context.Context, spec *scenarios.Spec, opt runOptions) (*runResult, error)
	// estimate says what a run will cost, and what its fabric is.
	estimate func(spec *scenarios.Spec, capture *scenarios.CaptureOptions) (*estimate, error)
	// deadlock says whether the routes of a scenario make a deadlock possible.
	deadlock func(spec *scenarios.Spec) (*scenarios.DeadlockCheck, error)
	// lint says what is suspicious about a scenario.
	lint func(spec *scenarios.Spec) []switchconf.Finding
	// page draws the report of a run directory and returns the path of its page.
	page func(dir string) (string, error)
	// why says why a run, or one message of it, is slow.
	why func(w io.Writer, dir string, one bool, which *trace.Message) error
	// compare draws the comparison of several runs into out and returns it as
	// text with the path of its page.
	compare func(dirs []string, out string, o reports.Options) (text, page string, err error)
	// metrics reads metrics.json of a run directory.
	metrics func(dir string) (*metric.Metrics, error)
	// library lists the scenarios that come with the program, in order.
	library func() []libraryEntry
	// source returns the YAML of a library scenario.
	source func(name string) (string, error)
	// catalogues lists what scenarios can name, by kind.
	catalogues func() []catalogue
	// validate reproduces published numbers.
	validate func(ctx context.Context, o validation.Options) (*validation.Report, error)
	// formats lists the foreign topology formats.
	formats func() []libraryEntry
	// importTopology turns a foreign topology file into the topology of a
	// scenario, as YAML; set holds what the file does not say, by key.
	importTopology func(format, file string, data []byte, set map[string]string) ([]byte, error)
}

// runOptions are the options of a run that are not part of the scenario.
type runOptions = scenarios.Options

// progress is how far a run is.
type progress = scenarios.Progress

// runResult is what a run left behind.
type runResult struct {
	Table        string // results in columns of their own, after the summary
	Dir          string
	Partial      bool
	ExpectFailed int // expectations that do not hold
	Notes        []string
}

// estimate is what a run will cost.
type estimate struct {
	Hosts, Switches, Links int
	Tiers                  []string // oversubscription, one line each
	PacketHops             float64
	WallSeconds            float64
	MemoryBytes, DiskBytes sim.Bytes
	CaptureBytes           sim.Bytes // of DiskBytes; 0 = no capture
	Notes                  []string
}

// libraryEntry is a scenario that comes with the program.
type libraryEntry struct{ Name, Doc string }

// catalogue is one kind of thing that a scenario can name.
type catalogue struct {
	Kind    string
	Members []libraryEntry
}
