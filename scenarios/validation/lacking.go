package validation

// Rows that cannot be run yet. Each moves to a file of its own when it can.
var (
	_ = register("F3", Row{Title: "ICRC of two published frames", Hard: true,
		Explain: "CRC-32 over eight bytes of ones, the IP header with TOS, TTL and checksum set to ones, UDP with its checksum set to ones, BTH with byte 4 set to ones, and the rest. Source: InfiniBand Architecture annex A17.3.",
		Lacks:   "frames of the model have sizes and no bytes: it needs the encoder of fabric/capture"})
	_ = register("B4", Row{Title: "headroom table of a SN2700 switch", Hard: true,
		Explain: "xoff = ceil_1K(mtu + occupancy * (port mtu + 2 L C / 198e6 m/s / 8 + 2 gearbox + 0.8 KiB + peer response)). Source: SONiC buffer_headroom_mellanox.lua and pg_profile_lookup.ini.",
		Lacks:   "the product computes the headroom of an ideal switch (B3) and has no calculator of vendors' formulas: it needs fabric/switchconf"})
)
