package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"rdmasim/scenarios"
	"rdmasim/scenarios/hardware"
)

const hwBridgeLong = `Join two interfaces of this host by a transparent bridge and inject faults into
what crosses it. This is how netem reaches NICs that build their packets in
hardware: the bridge is a third machine in their path.

Faults are those of a scenario, in which the ports are hosts of a switch named
bridge: link: "IF1>bridge" is what enters at IF1, link: IF1-bridge both directions.

Everything is undone when the command ends, and by another process if it is
killed. PFC does not cross a bridge. Its ceiling in packets per second is measured
on interfaces of its own before the ports are joined.`

func newHWBridge(a *app) *cobra.Command {
	o := hardware.BridgeOptions{Measure: true}
	var quiet bool
	cmd := &cobra.Command{
		Use:     "bridge IF1 IF2",
		Short:   "Inject faults between two interfaces by a transparent bridge",
		Long:    hwBridgeLong,
		Example: "  rdmasim hw bridge eth1 eth2 --fault 'loss: {link: \"eth1>bridge\", probability: 1%}' --for 60s",
		Args:    exactArgs("IF1", "IF2"),
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.Faults, "fault", nil, "`FAULT` in the words of a scenario (repeatable)")
	f.DurationVar(&o.For, "for", 0, "end after this `TIME`; 0 = when interrupted")
	f.BoolVar(&o.DryRun, "dry-run", false, "print every command that would change this host, and change nothing")
	f.BoolVar(&quiet, "no-measure", false, "do not measure the ceiling")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Ports, o.Log, o.Out, o.Measure = [2]string{args[0], args[1]}, a.stderr, a.stdout, !quiet
		if o.For < 0 || o.For > 30*24*time.Hour {
			return inputError(errors.New("--for: want 0s to 720h"))
		}
		ctx, stop := a.interrupts(cmd.Context(), func() {})
		defer stop()
		err := hardware.Bridge(ctx, o)
		if input := new(scenarios.InputError); errors.As(err, &input) {
			return inputError(err)
		}
		return runError(err)
	}
	return cmd
}
