package validation

// Rows that cannot be run yet. Each moves to a file of its own when it can.
var (
	_ = register("F3", Row{Title: "ICRC of two published frames", Hard: true,
		Explain: "CRC-32 over eight bytes of ones, the IP header with TOS, TTL and checksum set to ones, UDP with its checksum set to ones, BTH with byte 4 set to ones, and the rest. Source: InfiniBand Architecture annex A17.3.",
		Lacks:   "frames of the model have sizes and no bytes: it needs the encoder of fabric/capture"})
	_ = register("F5", Row{Title: "PSNs of WRITE, READ of 10 000 B, WRITE", Hard: true,
		Explain: "A READ takes as many PSNs as its response has packets, ceil(length / path MTU): 0, 1..10, 11. Source: InfiniBand Architecture volume 1, 9.7.2.",
		Lacks:   "simnic has no READ"})
	_ = register("B4", Row{Title: "headroom table of a SN2700 switch", Hard: true,
		Explain: "xoff = ceil_1K(mtu + occupancy * (port mtu + 2 L C / 198e6 m/s / 8 + 2 gearbox + 0.8 KiB + peer response)). Source: SONiC buffer_headroom_mellanox.lua and pg_profile_lookup.ini.",
		Lacks:   "the product computes the headroom of an ideal switch (B3) and has no calculator of vendors' formulas: it needs fabric/switchconf"})
	_ = register("P4", Row{Title: "PFC watchdog", Hard: true,
		Explain: "A watchdog that polls counters each P and asks for a storm of D finds one within (D, D + P]. Source: SONiC pfcwd.",
		Lacks:   "switches have no watchdog"})
	_ = register("S1", Row{Title: "switch tests of operators", Hard: true,
		Explain: "Dequeue ECN, RED accuracy, ECN of two priorities, PFC and global pause, watchdog, many to one, mixed speed, RoCEv2 1:1 and N:1. Source: test plans of sonic-net/sonic-mgmt.",
		Lacks:   "storms with a beginning and an end, traffic of a fixed rate without transport, and 802.3x pauses are faults and generators that scenarios do not have"})
)
