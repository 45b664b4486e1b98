package scenarios

import (
	"rdmasim/sim"
	"rdmasim/verbs/simnic"
)

// Defaults returns a spec that lacks only its topology and traffic. Where a
// value has no source it is a choice, and says so.
func Defaults() Spec {
	return Spec{
		Name:        "scenario",
		Seed:        1,
		UntilDone:   true,
		MaxDuration: 10 * sim.Second, // a choice: above the 4.3 s in which retries end at timeout 14 (4 x 67.1 ms x 8, InfiniBand Architecture 9.7.6)
		Series:      SeriesSpec{Interval: 10 * sim.Microsecond, Hosts: true, MaxQPs: 128},
		Diagnosis:   true,
		Switch:      DefaultSwitch(),
		NIC:         DefaultNIC(),
		Compat:      "none",
	}
}

// DefaultSwitch returns a switch as data centres configure it for RoCEv2.
func DefaultSwitch() SwitchSpec {
	return SwitchSpec{
		// RoCE switches take 300 to 600 ns from port to port.
		Latency: 500 * sim.Nanosecond,
		Mode:    "store_and_forward",
		Buffer: BufferSpec{
			Size: 32 * sim.MiB, // that of a 32-port 100 Gb/s switch in the HPCC paper (SIGCOMM'19, section 5.1)
			// SONiC dynamic_th -3 for lossless priority groups (Trident 3), and the HPCC ns-3 model.
			Alpha:     1.0 / 8,
			Reserve:   4 * sim.KiB, // HPCC ns-3 model, per port and priority
			Headroom:  AutoValue[sim.Bytes](),
			XonOffset: 3 * sim.KiB, // HPCC ns-3 model; SONiC profiles have 2048 to 3556 B
			// Choudhury and Hahne, "Dynamic Queue Length Thresholds", 1998: with
			// alpha 1 a lone queue takes half of the buffer.
			EgressAlpha: 1,
		},
		PFC: PFCSpec{
			Mode:       "pfc",
			Priorities: []int{3}, // the RoCE priority of vendors' guides (NVIDIA roce mode, Cisco AI/ML blueprint)
			Quanta:     65535,    // the longest that IEEE 802.1Qbb, clause 36, can ask for
			Refresh:    AutoValue[sim.Duration](),
			Timer:      true,
			Response:   AutoValue[sim.Duration](), // IEEE 802.1Qbb, annex O: quanta of the link speed
		},
		Scheduler: SchedulerSpec{
			Strict:  []int{6, 7}, // CNPs (priority 6) are served first, as in the guides above
			Quantum: 2 * sim.KiB, // a choice: about a frame
		},
		Balance: BalanceSpec{
			Method: "ecmp",
			Gap:    100 * sim.Microsecond, // a choice, above the difference in delay of two paths
			Hash:   "mix64",
		},
		Watchdog: noWatchdog(),
		MapSpec: MapSpec{
			Trust:   "dscp",
			DSCPMap: map[int]int{26: 3, 48: 6}, // DSCP of RoCE and of CNPs in the guides above
		},
	}
}

// DefaultECN returns what an ECN curve has besides Kmin, Kmax and Pmax: DCQCN,
// SIGCOMM'15, section 3.1, marks at egress and everything beyond Kmax.
func DefaultECN() ECNSpec { return ECNSpec{MarkAt: "dequeue", Above: "mark_all"} }

// DefaultNIC returns a NIC as it is shipped, with RoCEv2 frames.
func DefaultNIC() NICSpec {
	cc, err := NewMember("congestion", "dcqcn", "connectx")
	if err != nil {
		panic(err) // the member is part of this program
	}
	return NICSpec{
		PathMTU:       1024, // the largest that fits a 1500-byte Ethernet MTU
		Congestion:    cc,   // mlxconfig defaults
		Priority:      3,
		DSCP:          26,
		AckPriority:   -1,
		CNPPriority:   6,  // CNP_802P_PRIO, mlxconfig
		CNPDSCP:       48, // CNP_DSCP, mlxconfig
		AckDSCP:       -1,
		TTL:           64, // RFC 1700; default of Linux
		Encapsulation: "none",
		Frame:         FrameSpec{Overhead: AutoValue[sim.Bytes]()},
		AckEvery:      16, // a choice: responders coalesce as they please (InfiniBand Architecture, 9.7.5.1), and do
		Recovery:      "go_back_n",
		TimeoutPolicy: "exact",
		IRN:           IRNSpec{BDP: AutoValue[sim.Bytes](), RTOLow: simnic.IRNTimeoutLow, RTOHigh: simnic.IRNTimeoutHigh, Few: simnic.IRNFew},
		MaxRDAtomic:   16, // what ConnectX devices report as max_qp_rd_atom
		Timeout:       14, // 67.1 ms; default of rdma-core's examples and perftest
		ReadFeedback:  "auto",
		Setup:         DefaultSetup(),
		RetryCount:    7,
		RNRTimer:      12, // 640 us; perftest and rdma-core's examples
		RNRRetry:      7,
		RxBuffer:      1 * sim.MiB, // a choice: holds the headroom of an 800 Gb/s link and as much again
		RxXoff:        AutoValue[sim.Bytes](),
		SourcePorts:   "hash",
		Host:          DefaultHost(),
	}
}
