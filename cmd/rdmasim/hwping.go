package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"rdmasim/reports/metric"
	"rdmasim/scenarios/hardware"
	"rdmasim/sim"
	"rdmasim/verbs"
)

const hwPingLong = `Measure round trips of RDMA messages between two devices of this machine, over
reliable connections or datagrams, and what posting and polling cost the host.

Sizes make a ladder: one line each. --max-p99 is a threshold: exit code 1 if the
99th percentile of any size is above.`

func newHWPing(a *app) *cobra.Command {
	var o hardware.PingOptions
	var service, sizes, limit string
	var mtu int
	var asJSON, histogram bool
	cmd := &cobra.Command{
		Use:     "ping [FROM TO]",
		Short:   "Measure latency between two devices: percentiles, host costs, threshold",
		Long:    hwPingLong,
		Example: "  rdmasim hw ping rxe0 rxe1 --size 64B,4KB --count 1000 --max-p99 1ms",
		Args:    cobra.MaximumNArgs(2),
	}
	f := cmd.Flags()
	f.StringVar(&service, "service", "rc", "`SERVICE`: rc or ud")
	f.StringVar(&sizes, "size", "64B", "payload `SIZES`, separated by commas")
	f.IntVar(&o.Count, "count", 1000, "`N` pings per size")
	f.IntVar(&o.Warmup, "warmup", 10, "`N` pings before, which do not count")
	f.DurationVar(&o.Interval, "interval", 0, "`TIME` between pings")
	f.BoolVar(&o.Poll, "poll", false, "spin on the completion queue instead of waiting for events")
	f.IntVar(&mtu, "path-mtu", 0, "path `MTU` at most: 256 to 4096; 0 = what the ports allow")
	f.StringVar(&limit, "max-p99", "", "exit with 1 if the 99th percentile of a round trip is above this `TIME`")
	f.BoolVar(&asJSON, "json", false, "JSON")
	f.BoolVar(&histogram, "histogram", false, "also draw the distribution of the round trips")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return inputError(fmt.Errorf("hw ping %s: give both devices, or none", args[0]))
		}
		if len(args) == 2 {
			o.From, o.To = args[0], args[1]
		}
		bound, err := pingOptions(&o, service, sizes, limit, mtu)
		if err != nil {
			return inputError(err)
		}
		ctx, stop := a.interrupts(cmd.Context(), func() {})
		defer stop()
		results, err := hardware.Ping(ctx, o)
		if err != nil {
			return runError(err)
		}
		if asJSON {
			e := json.NewEncoder(a.stdout)
			e.SetIndent("", "  ")
			err = e.Encode(results)
		} else {
			err = a.printPings(results, histogram)
		}
		if err != nil {
			return runError(err)
		}
		for i := range results {
			if p := results[i].RoundTrip.P99; bound > 0 && p > bound.Seconds() {
				return &exitError{code: exitExpect, err: fmt.Errorf("size %v: 99th percentile %s is above %v", results[i].Size, seconds(p), bound)}
			}
		}
		return nil
	}
	return cmd
}

// pingOptions reads the flags that are text.
func pingOptions(o *hardware.PingOptions, service, sizes, limit string, mtu int) (bound sim.Duration, err error) {
	switch strings.ToLower(service) {
	case "rc":
		o.Service = verbs.RC
	case "ud":
		o.Service = verbs.UD
	default:
		return 0, fmt.Errorf("--service %s: want rc or ud", service)
	}
	for _, s := range strings.Split(sizes, ",") {
		n, err := sim.ParseBytes(strings.TrimSpace(s))
		if err != nil || n < 1 || n > sim.GiB {
			return 0, fmt.Errorf("--size %s: want sizes from 1B to 1GiB, such as 64B,4KB", s)
		}
		o.Sizes = append(o.Sizes, n)
	}
	if o.Count < 1 || o.Count > 10_000_000 || o.Warmup < 0 || o.Interval < 0 || o.Interval > time.Hour {
		return 0, fmt.Errorf("--count %d, --warmup %d, --interval %v: want 1 to 10000000 pings", o.Count, o.Warmup, o.Interval)
	}
	if mtu != 0 {
		if o.MTU = verbs.MTUOf(sim.Bytes(mtu)); o.MTU == 0 {
			return 0, fmt.Errorf("--path-mtu %d: want 256, 512, 1024, 2048 or 4096", mtu)
		}
	}
	if limit == "" {
		return 0, nil
	}
	if bound, err = sim.ParseDuration(limit); err != nil || bound <= 0 {
		return 0, fmt.Errorf("--max-p99 %s: want a time such as 20us", limit)
	}
	return bound, nil
}

func seconds(v float64) string { return metric.Format(v, metric.Seconds) }

func (a *app) printPings(results []hardware.PingResult, histogram bool) error {
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "size\tcount\tmin\tp50\tp90\tp99\tp99.9\tmax\tone way p50\tpost p50\tpoll p50\t")
	for i := range results {
		r := &results[i]
		l := &r.RoundTrip
		fmt.Fprintf(t, "%v\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.Size, r.Count, seconds(l.Min), seconds(l.P50), seconds(l.P90), seconds(l.P99), seconds(l.P999), seconds(l.Max),
			seconds(r.OneWay.P50), seconds(r.Post.P50), seconds(r.Poll.P50))
	}
	if err := t.Flush(); err != nil || !histogram {
		return err
	}
	for i := range results {
		r := &results[i]
		fmt.Fprintf(a.stdout, "\nround trips of %v\n", r.Size)
		bounds, counts := r.RoundTrip.Histogram(16)
		most := 1
		for _, c := range counts {
			most = max(most, c)
		}
		for k, c := range counts {
			fmt.Fprintf(a.stdout, "%10s  %7d  %s\n", seconds(bounds[k]), c, strings.Repeat("#", (c*50+most-1)/most))
		}
	}
	return nil
}
