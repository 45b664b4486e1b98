package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rdmasim/fabric/netem"
	"rdmasim/scenarios/hardware"
	"rdmasim/sim"
	"rdmasim/verbs"
)

const hwDoctorLong = `Look at this host and say what stands in the way of RoCE, and what to do about it.
Nothing is changed. Exit code 1 if there is an error among the findings.

--profile says how the fabric means to deal with loss: lossless (PFC end to end),
semi-lossless, or lossy, where PFC off is right.

With MACHINES an agent is started on each, as by hw run --host. What they find is
put together, they are compared, and messages go from every RDMA device to every
other: a short one, and one of the path MTU.`

func newHWDoctor(a *app) *cobra.Command {
	var profile, via string
	var asJSON, probe bool
	cmd := &cobra.Command{
		Use:     "doctor [MACHINE...]",
		Short:   "Say what stands in the way of RoCE on this host, or among several machines",
		Long:    hwDoctorLong,
		Example: "  rdmasim hw doctor --profile lossy\n  rdmasim hw doctor node1 node2 node3",
	}
	cmd.Flags().StringVar(&profile, "profile", "lossless", "`DESIGN`: lossless, semi-lossless or lossy")
	cmd.Flags().BoolVar(&asJSON, "json", false, "JSON")
	cmd.Flags().BoolVar(&probe, "probe", true, "also send one RDMA message between every pair of devices: a firewall of the host says nothing about a NIC that bypasses it")
	cmd.Flags().StringVar(&via, "via", hardware.DefaultVia, "`COMMAND` that starts an agent, without a shell; {} is the machine")
	cmd.RunE = func(cmd *cobra.Command, machines []string) error {
		p := netem.Profile(profile)
		if !slices.Contains([]netem.Profile{netem.Lossless, netem.SemiLossless, netem.Lossy}, p) {
			return inputError(fmt.Errorf("--profile %s: want lossless, semi-lossless or lossy", profile))
		}
		if len(machines) > 0 {
			return a.doctorMachines(cmd.Context(), machines, hardware.DoctorOptions{Profile: p, Via: via, Version: version(), NoProbe: !probe}, asJSON)
		}
		findings, err := netem.Doctor(cmd.Context(), netem.DoctorOptions{Root: "/", Profile: p, Runner: netem.Exec{}})
		if err != nil {
			return runError(err)
		}
		if probe {
			findings = append(findings, probes(cmd.Context())...)
		}
		if asJSON {
			e := json.NewEncoder(a.stdout)
			e.SetIndent("", "  ")
			err = e.Encode(findings)
		} else {
			err = a.printFindings(findings)
		}
		if err != nil {
			return runError(err)
		}
		if slices.ContainsFunc(findings, func(f netem.Finding) bool { return f.Severity == netem.Fault }) {
			return &exitError{code: exitExpect}
		}
		return nil
	}
	return cmd
}

// probes sends one message between every pair of devices.
func probes(ctx context.Context) []netem.Finding {
	devices, err := netem.ReadDevices("/")
	if err != nil || len(devices) < 2 {
		return nil
	}
	var list []netem.Finding
	for i := range devices {
		for k := i + 1; k < len(devices); k++ {
			a, b := devices[i].Name, devices[k].Name
			f := netem.Finding{ID: "reach", Severity: netem.Good, Where: a + " to " + b}
			r, err := hardware.Ping(ctx, hardware.PingOptions{From: a, To: b, Service: verbs.RC, Sizes: []sim.Bytes{64}, Count: 1})
			if err != nil {
				f.Severity, f.What = netem.Fault, err.Error()
				f.Remedy = "check routes and neighbours between the addresses; UDP port 4791 may be filtered on the way"
			} else {
				f.What = "an RDMA message comes back in " + seconds(r[0].RoundTrip.Min)
			}
			list = append(list, f)
		}
	}
	return list
}

func (a *app) printFindings(findings []netem.Finding) error {
	rank := map[netem.Severity]int{netem.Fault: 0, netem.Warning: 1, netem.Unknown: 2, netem.Note: 3, netem.Good: 4}
	slices.SortStableFunc(findings, func(x, y netem.Finding) int { return rank[x.Severity] - rank[y.Severity] })
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", strings.ToUpper(string(f.Severity)), f.ID, f.Where, f.What)
		if f.Remedy != "" && f.Severity != netem.Good {
			fmt.Fprintf(t, "\t\t\t-> %s\n", f.Remedy)
		}
	}
	return t.Flush()
}
