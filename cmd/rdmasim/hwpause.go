package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"rdmasim/scenarios"
	"rdmasim/scenarios/hardware"
)

const hwPauseLong = `Send real PFC frames by one interface for a bounded time, and then let the link go.

What is at the other end of the link stops sending on these priorities, and a
switch that has stopped stops others in turn: this is how a pause storm begins. It
is for a fabric of your own, and needs --i-own-this-fabric.

The frames come twice for each pause that they ask for. They are refused on an
interface that carries the default route, this ssh session, a bond, a bridge or
queue pairs of a process, while a network file system is mounted, and on a second
link at the same time. They end with this process, also when it is killed; then
another process sends XON. That they left is verified by the interface's counters.`

func newHWPause(a *app) *cobra.Command {
	var o hardware.PauseOptions
	cmd := &cobra.Command{
		Use:     "pause IF",
		Short:   "Send real pause frames by one interface, for a bounded time",
		Long:    hwPauseLong,
		Example: "  rdmasim hw pause eth1 --priority 3 --for 2s --i-own-this-fabric",
		Args:    exactArgs("IF"),
	}
	f := cmd.Flags()
	f.IntSliceVar(&o.Priorities, "priority", []int{3}, "`PRIORITIES` 0 to 7")
	f.Uint16Var(&o.Quanta, "quanta", 65535, "how long each frame stops the link, in 512 bit times")
	f.DurationVar(&o.For, "for", time.Second, "how `LONG`, at most 1m")
	f.BoolVar(&o.Own, "i-own-this-fabric", false, "the fabric is yours, and all traffic on it")
	f.BoolVar(&o.DryRun, "dry-run", false, "print what would be sent, and send nothing")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Interface, o.Log, o.Out = args[0], a.stderr, a.stdout
		ctx, stop := a.interrupts(cmd.Context(), func() {})
		defer stop()
		err := hardware.Pause(ctx, o)
		if input := new(scenarios.InputError); errors.As(err, &input) {
			return inputError(err)
		}
		return runError(err)
	}
	return cmd
}

// newHWResume is what undoes a pause.
func newHWResume() *cobra.Command {
	var priorities []int
	cmd := &cobra.Command{
		Use:    "resume IF",
		Short:  "Let a link go that hw pause has stopped (started when hw pause ends)",
		Hidden: true,
		Args:   exactArgs("IF"),
		RunE:   func(_ *cobra.Command, args []string) error { return runError(hardware.Resume(args[0], priorities)) },
	}
	cmd.Flags().IntSliceVar(&priorities, "priority", []int{3}, "`PRIORITIES` 0 to 7")
	return cmd
}
