package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"rdmasim/fabric/capture"
	"rdmasim/fabric/capture/analysis"
	"rdmasim/scenarios"
	"rdmasim/sim"
)

// pcapFlags are the flags of `rdmasim pcap`.
type pcapFlags struct {
	out, rate, cnpInterval, toScenario string
	untilXon, skipCopies               bool
	noReport, quiet                    bool
}

const pcapLong = `Read captures of RDMA traffic and draw the same report as of a simulation: queue
pairs, messages, retransmissions, NAKs, timeouts, round trips, marks, CNPs and
pauses, and whether requesters and responders kept the rules of their transport.

FILE is pcap or pcapng of RoCEv2, RoCEv1 or InfiniBand, packed by gzip or not, or -
for standard input.
Several files are read as one, in the order of their time stamps: captures of
both ends tell more than one of them. A capture is read as a stream: its length
does not matter to memory.

The run directory is --out, by default runs/pcap-NAME-1 and so on. What a capture
cannot tell is "not measured".`

func newPcap(a *app) *cobra.Command {
	f := &pcapFlags{}
	cmd := &cobra.Command{
		Use:   "pcap FILE...",
		Short: "Analyse captures of RDMA traffic",
		Long:  pcapLong,
		Example: `  rdmasim pcap sender.pcapng receiver.pcapng
  zstd -dc mirror.pcap.zst | rdmasim pcap - --rate 100Gbps --out runs/mirror
  rdmasim pcap sender.pcapng --to-scenario replay.yaml && rdmasim run replay.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("pcap: FILE is missing: usage: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.pcap(cmd.Context(), args, f) },
	}
	cmd.Flags().StringVar(&f.out, "out", "", "run directory `DIR` (default runs/pcap-NAME-N)")
	cmd.Flags().StringVar(&f.rate, "rate", "", "`RATE` of the links, where the capture does not tell: a pause lasts by it")
	cmd.Flags().BoolVar(&f.untilXon, "pause-until-xon", false, "pauses last until they are taken back, whatever their quanta")
	cmd.Flags().StringVar(&f.cnpInterval, "cnp-interval", "", "check that CNPs of a flow are at least this `TIME` apart")
	cmd.Flags().BoolVar(&f.skipCopies, "skip-copies", false, "leave packets out that are the same as one shortly before, of a mirror that copies everything twice")
	cmd.Flags().StringVar(&f.toScenario, "to-scenario", "", "write a scenario that sends the messages of the capture to `FILE`")
	cmd.Flags().BoolVar(&f.noReport, "no-report", false, "leave the data and draw nothing")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no summary")
	return cmd
}

// options reads the flags that have units.
func (f *pcapFlags) options() (o analysis.Options, err error) {
	if f.rate != "" {
		if o.Rate, err = sim.ParseRate(f.rate); err != nil {
			return o, fmt.Errorf("--rate: %w", err)
		}
		if o.Rate <= 0 {
			return o, fmt.Errorf("--rate %s: want more than nothing", f.rate)
		}
	}
	if f.cnpInterval != "" {
		if o.CNPInterval, err = sim.ParseDuration(f.cnpInterval); err != nil {
			return o, fmt.Errorf("--cnp-interval: %w", err)
		}
	}
	o.PauseUntilXon, o.SkipCopies = f.untilXon, f.skipCopies
	return o, nil
}

// captureFiles opens captures; the function closes them.
func captureFiles(names []string) (sources []capture.Source, closeAll func(), err error) {
	var files []*os.File
	closeAll = func() {
		for _, f := range files {
			_ = f.Close()
		}
	}
	for _, name := range names {
		if name == "-" {
			sources = append(sources, capture.Source{Name: "standard input", In: os.Stdin})
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		files = append(files, f)
		if info, err := f.Stat(); err == nil && info.IsDir() {
			closeAll()
			return nil, nil, fmt.Errorf("%s: a directory: want a capture, pcap or pcapng", name)
		}
		sources = append(sources, capture.Source{Name: filepath.Base(name), In: f})
	}
	return sources, closeAll, nil
}

// captureName names the run of a capture by its first file.
func captureName(file string) string {
	if file == "-" {
		return "pcap-stdin"
	}
	base := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	clean := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
			return c
		}
		return '-'
	}, base)
	return "pcap-" + strings.Trim(clean, ".-")
}

// maxReplay bounds the messages of a scenario that is made of a capture.
const maxReplay = 1_000_000

// pcap is `rdmasim pcap`.
func (a *app) pcap(ctx context.Context, names []string, f *pcapFlags) error {
	o, err := f.options()
	if err != nil {
		return inputError(err)
	}
	out, err := runDirectory(f.out, captureName(names[0]))
	if err != nil {
		return inputError(err)
	}
	sources, closeAll, err := captureFiles(names)
	if err != nil {
		return inputError(err)
	}
	defer closeAll()
	m, err := capture.Merge(sources)
	if err != nil {
		return inputError(err)
	}
	ctx, stop := a.interrupts(ctx, func() {
		fmt.Fprintln(a.stderr, "rdmasim: interrupted: keeping what was read so far; interrupt again to stop at once")
	})
	defer stop()
	cfg := analysis.RunConfig{Options: o, Dir: out, Name: captureName(names[0]), Files: names,
		Versions: map[string]string{"rdmasim": version(), "go": runtime.Version()}}
	if f.toScenario != "" {
		cfg.Keep = &analysis.Replay{Limit: maxReplay}
	}
	// Memory matters more than time: a capture may be larger than the machine.
	defer debug.SetGCPercent(debug.SetGCPercent(40))
	sum, dir, err := analysis.Run(ctx, m, cfg)
	if err != nil {
		return inputError(err)
	}
	if _, err := judgeRun(dir, nil); err != nil {
		return runError(err)
	}
	if f.toScenario != "" {
		if err := writeReplay(f.toScenario, cfg.Keep, o.Rate); err != nil {
			return inputError(err)
		}
	}
	page := ""
	if !f.noReport {
		if page, err = a.page(dir); err != nil {
			return runError(fmt.Errorf("the analysis is complete in %s, but its report could not be drawn: %w", dir, err))
		}
	}
	if !f.quiet {
		writeCapture(a.stdout, sum, dir, page)
	}
	if ctx.Err() != nil {
		return &exitError{code: exitRun}
	}
	return nil
}

// writeReplay writes a scenario of the messages of a capture.
func writeReplay(file string, r *analysis.Replay, rate sim.Rate) error {
	text, err := scenarios.ReplayYAML(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), r, rate)
	if err != nil {
		return fmt.Errorf("--to-scenario %s: %w", file, err)
	}
	return os.WriteFile(file, text, 0o644)
}
