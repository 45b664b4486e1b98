package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"rdmasim/scenarios"
	"rdmasim/sim"
)

// captureFlags are the flags of commands that capture a run.
type captureFlags struct {
	on      bool
	at      []string
	snap    int
	limit   string
	fill    bool
	flagSet *pflag.FlagSet
}

// captureHelp is what the help of `run` says of them.
const captureHelp = `
With --pcap the run directory also holds capture.pcapng: the packets as they
would be on the wire, for Wireshark and for rdmasim pcap. --pcap-at says where:
` + scenarios.CapturePoints + `.`

func (f *captureFlags) register(flags *pflag.FlagSet) {
	f.flagSet = flags
	flags.BoolVar(&f.on, "pcap", false, "capture the packets of the run into capture.pcapng")
	flags.StringSliceVar(&f.at, "pcap-at", nil, "capture at `POINT`: host (the default), switch, link, or one by name such as host:h1 or link:h0-leaf* (repeatable; implies --pcap)")
	flags.IntVar(&f.snap, "pcap-snaplen", 0, "keep `N` bytes of each frame, 0 for all (implies --pcap)")
	flags.StringVar(&f.limit, "pcap-max-size", "", "end the capture before the file grows beyond `SIZE`, such as 500MB (implies --pcap)")
	flags.BoolVar(&f.fill, "pcap-pattern", false, "payloads count up instead of being zero (implies --pcap)")
}

// options returns what the flags ask for, nil for no capture.
func (f *captureFlags) options() (*scenarios.CaptureOptions, error) {
	asked := f.on
	for _, name := range []string{"pcap-at", "pcap-snaplen", "pcap-max-size", "pcap-pattern"} {
		asked = asked || f.flagSet.Changed(name)
	}
	if !asked {
		return nil, nil
	}
	o := &scenarios.CaptureOptions{At: f.at, SnapLen: f.snap, Fill: f.fill}
	if f.limit != "" {
		n, err := sim.ParseBytes(f.limit)
		if err != nil {
			return nil, fmt.Errorf("--pcap-max-size: %w", err)
		}
		if n <= 0 {
			return nil, fmt.Errorf("--pcap-max-size %s: want more than nothing", f.limit)
		}
		o.MaxBytes = n
	}
	return o, o.Check()
}
