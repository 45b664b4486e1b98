package validation

// Rows that cannot be run yet. Each moves to a file of its own when it can.
var _ = register("F5", Row{Title: "PSNs of WRITE, READ of 10 000 B, WRITE", Hard: true,
	Explain: "A READ takes as many PSNs as its response has packets, ceil(length / path MTU): 0, 1..10, 11. Source: InfiniBand Architecture volume 1, 9.7.2.",
	Lacks:   "no workload of a scenario posts a READ"})
