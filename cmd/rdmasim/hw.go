package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"rdmasim/fabric/netem"
	"rdmasim/scenarios"
	"rdmasim/scenarios/hardware"
	"rdmasim/scenarios/hardware/guest"
)

func newHW(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "hw", Short: "Real NICs: devices, runs with real queue pairs, a lab in a guest"}
	cmd.AddCommand(newHWDevices(a), newHWDoctor(a), newHWPing(a), newHWRun(a), newHWAcceptance(a), newHWBridge(a), newHWPause(a), newHWResume(), newHWAgent(a), newHWClean(a), newHWGuard(), newHWVM(a))
	return cmd
}

func newHWDevices(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "devices",
		Short:   "List the RDMA devices of this host, and whether tc/netem can reach them",
		Example: "  rdmasim hw devices",
		Args:    exactArgs(),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "JSON")
	cmd.RunE = func(*cobra.Command, []string) error {
		devices, err := netem.ReadDevices("/")
		if err != nil {
			return runError(err)
		}
		if asJSON {
			e := json.NewEncoder(a.stdout)
			e.SetIndent("", "  ")
			return runError(e.Encode(devices))
		}
		return runError(printDevices(a.stdout, devices))
	}
	return cmd
}

func printDevices(w io.Writer, devices []netem.Device) error {
	if len(devices) == 0 {
		_, err := fmt.Fprintln(w, "This host has no RDMA device. rdmasim hw vm boots a machine with two.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "device\tdriver\tinterface\tport\tstate\trate\tRoCEv2 IPv4 address\tfaults by tc/netem")
	for i := range devices {
		d := &devices[i]
		reach := "yes"
		if d.Offloaded() {
			reach = "no: bypasses the kernel's queues"
		}
		for k := range d.Ports {
			p := &d.Ports[k]
			addr := "none"
			if g, ok := p.RoCEv2(); ok {
				addr = fmt.Sprintf("%s (index %d)", g.Address(), g.Index)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", d.Name, orUnknown(d.Driver), orUnknown(d.Netdev), p.Number, p.State, p.Rate, addr, reach)
		}
	}
	return t.Flush()
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

const hwRunLong = `Run the traffic of a scenario with real queue pairs of this machine and draw the
same report as of a simulation. What the hardware does not tell is shown as not
measured.

Hosts of the scenario are devices: by default those of this machine in order, or
as --device says. Traffic within one device is refused: it would be looped back
inside and never cross a queue or a wire.

With --host the devices are those of several machines: an agent is started on each,
by ssh unless --via says otherwise, and spoken with over its standard input and
output. Faults act at the machine of the interface.`

func newHWRun(a *app) *cobra.Command {
	f := &runFlags{}
	var o hardware.Options
	var hosts []string
	var via string
	cmd := &cobra.Command{
		Use:               "run SCENARIO",
		Short:             "Run a scenario with real queue pairs",
		Long:              hwRunLong,
		Example:           "  rdmasim hw run lab-write --device h0=rxe0 --device h1=rxe1",
		Args:              exactArgs("SCENARIO"),
		ValidArgsFunction: completeScenario(a),
	}
	f.loadFlags.register(cmd)
	cmd.Flags().StringVar(&f.out, "out", "", "run directory `DIR` (default runs/NAME-N)")
	cmd.Flags().BoolVar(&f.noReport, "no-report", false, "leave the data and draw nothing")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no summary")
	cmd.Flags().StringArrayVar(&o.Devices, "device", nil, "`HOST=DEVICE`: which device a host of the scenario is (repeatable)")
	cmd.Flags().StringArrayVar(&hosts, "host", nil, "`HOST=MACHINE/DEVICE`: a host is a device of another machine, on which an agent is started (repeatable)")
	cmd.Flags().StringVar(&via, "via", hardware.DefaultVia, "`COMMAND` that starts an agent, without a shell; {} is the machine")
	cmd.Flags().BoolVar(&o.Poll, "poll", false, "spin on the completion queues instead of waiting for events")
	cmd.Flags().BoolVar(&o.Huge, "huge-pages", false, "register memory of huge pages, where the host has some free")
	cmd.Flags().BoolVar(&o.Optional, "optional-counters", false, "switch on the counters that devices only have on request, and those per type of queue pair, for this run")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "print every command that would change this host, and change nothing")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		spec, err := a.load(args[0], f.settings())
		if err != nil {
			return inputError(err)
		}
		o.Log, o.Version = a.stderr, version()
		if o.DryRun {
			o.Log = a.stdout
		}
		if o.Out, err = runDirectory(f.out, spec.Name); err != nil {
			return inputError(err)
		}
		var places []hardware.Place
		for _, h := range hosts {
			p, err := hardware.ParsePlace(h)
			if err != nil {
				return inputError(err)
			}
			places = append(places, p)
		}
		if len(places) > 0 && (len(o.Devices) > 0 || o.Optional) {
			return inputError(errors.New("--host goes with neither --device nor --optional-counters: give one of them"))
		}
		return a.runHardware(cmd.Context(), spec, f, o, func(ctx context.Context) (*scenarios.Result, error) {
			if len(places) > 0 {
				return hardware.RunRemote(ctx, spec, o, places, via)
			}
			return hardware.Run(ctx, spec, o)
		})
	}
	return cmd
}

// runHardware is `rdmasim hw run`.
func (a *app) runHardware(ctx context.Context, spec *scenarios.Spec, f *runFlags, o hardware.Options, run func(context.Context) (*scenarios.Result, error)) error {
	ctx, stop := a.interrupts(ctx, func() {
		fmt.Fprintln(a.stderr, "rdmasim: interrupted: undoing what was changed and keeping what was measured; interrupt again to stop at once")
	})
	defer stop()
	r, err := run(ctx)
	if input := new(scenarios.InputError); errors.As(err, &input) {
		return inputError(err)
	}
	if err != nil {
		return runError(fmt.Errorf("%s: %w", spec.Name, err))
	}
	if o.DryRun {
		return nil
	}
	failed, err := judgeRun(r.Dir, spec.Expect)
	if err != nil {
		return runError(err)
	}
	page := ""
	if !f.noReport {
		if page, err = a.page(r.Dir); err != nil {
			return runError(fmt.Errorf("the run is complete in %s, but its report could not be drawn: %w", r.Dir, err))
		}
	}
	if !f.quiet {
		if err := a.summarize(&runResult{Dir: r.Dir, Partial: r.Partial, ExpectFailed: failed, Notes: r.Notes}, page); err != nil {
			return runError(err)
		}
	}
	switch {
	case r.Partial:
		return &exitError{code: exitRun}
	case failed > 0:
		return &exitError{code: exitExpect}
	}
	return nil
}

func newHWClean(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "clean",
		Short:   "Undo what runs that were killed have left on this host",
		Example: "  rdmasim hw clean",
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			n, err := netem.Clean(cmd.Context(), netem.DefaultJournals, netem.Exec{})
			if err != nil {
				return runError(err)
			}
			_, err = fmt.Fprintf(a.stdout, "%d runs had left something behind; nothing is left now\n", n)
			return runError(err)
		},
	}
}

// newHWGuard is the process that outlives a run which was killed: when the pipe
// on its standard input closes it undoes what that run has left.
func newHWGuard() *cobra.Command {
	return &cobra.Command{
		Use:    "guard",
		Short:  "Undo the changes of a run when its pipe closes (started by hw run)",
		Hidden: true,
		Args:   exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, _ = io.Copy(io.Discard, cmd.InOrStdin())
			time.Sleep(time.Second) // a command that the run had just started may still make its change
			_, err := netem.Clean(context.Background(), netem.DefaultJournals, netem.Exec{})
			return runError(err)
		},
	}
}

const hwVMLong = `Boot Debian's kernel with two Soft-RoCE devices on a pair of interfaces, in an
emulated machine: a RoCE lab on a laptop. Nothing of this host is changed; the
guest shares one folder with it and has this program as rdmasim.

Without --script there is nothing to type: the guest lists its devices and ends.
The image is built once from Debian packages and cached.`

func newHWVM(a *app) *cobra.Command {
	var script, share string
	var timeout time.Duration
	var install, counted bool
	var machines int
	cmd := &cobra.Command{
		Use:     "vm",
		Short:   "Boot a machine with two Soft-RoCE devices and run a script there",
		Long:    hwVMLong,
		Example: "  rdmasim hw vm --script 'rdmasim hw run lab-write --out run' --share out",
		Args:    exactArgs(),
	}
	cmd.Flags().StringVar(&script, "script", "rdmasim hw devices", "`COMMANDS` that the guest runs as root, in the shared folder")
	cmd.Flags().StringVar(&share, "share", "", "`DIR` of this host that is /share in the guest; nothing leaves it otherwise")
	cmd.Flags().DurationVar(&timeout, "timeout", 200*time.Second, "give up after this `TIME`")
	cmd.Flags().BoolVar(&counted, "counted-time", false, "the guest's clock counts its instructions, 2 ns each: what it measures does not depend on the load of this host")
	cmd.Flags().BoolVar(&install, "install", false, "install missing Debian packages first (root)")
	cmd.Flags().IntVar(&machines, "machines", 1, "`N` machines with two devices each; the script runs on a, which reaches b, c and d by ssh")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if machines < 1 || machines > guest.MaxMachines {
			return inputError(fmt.Errorf("--machines %d: want 1 to %d", machines, guest.MaxMachines))
		}
		if machines > 1 && counted {
			return inputError(errors.New("--machines and --counted-time: the times of several machines would drift apart"))
		}
		ctx, stop := a.interrupts(cmd.Context(), func() {})
		defer stop()
		if install {
			if err := guest.Install(ctx, a.stderr); err != nil {
				return runError(err)
			}
		}
		cache, err := os.UserCacheDir()
		if err != nil {
			return inputError(fmt.Errorf("hw vm: there is no place for the image: %w", err))
		}
		im, err := guest.Build(ctx, filepath.Join(cache, "rdmasim", "guest"), a.stderr)
		if err != nil {
			return runError(err)
		}
		self, err := os.Executable()
		if err != nil {
			return runError(err)
		}
		if share != "" {
			if err := os.MkdirAll(share, 0o755); err != nil {
				return inputError(err)
			}
		}
		code, err := im.Run(ctx, guest.Job{Script: script, Programs: map[string]string{"usr/bin/rdmasim": self}, Share: share, Console: a.stdout, Timeout: timeout, Machines: machines, Counted: counted})
		if err != nil {
			return runError(err)
		}
		if code != 0 {
			return runError(fmt.Errorf("the script ended with status %d in the guest", code))
		}
		return nil
	}
	return cmd
}
