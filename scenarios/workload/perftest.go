package workload

import (
	"fmt"
	"strings"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// PerftestParams are the parameters of perftest.
type PerftestParams struct {
	Common
	Client        string  `key:"client" doc:"the host that measures; empty = the second"`
	Server        string  `key:"server" doc:"the other host; empty = the first"`
	Test          string  `key:"test" doc:"bw: as many messages as the link carries; lat: one after the other. verb may be read, fetch_add and cmp_swap too"`
	Service       string  `key:"service" doc:"rc, uc or ud"`
	Sizes         SizeSet `key:"sizes" doc:"sizes of messages, measured one after the other; atomics have 8 bytes"`
	Iterations    int     `key:"iterations" doc:"messages per size and queue pair"`
	Depth         int     `key:"depth" doc:"messages outstanding per queue pair (perftest --tx-depth)"`
	Batch         int     `key:"batch" doc:"messages posted at once (perftest --post_list)"`
	Moderation    int     `key:"cq_mod" doc:"every so manieth message asks for a completion"`
	Bidirectional bool    `key:"bidirectional" doc:"both hosts send (bw)"`
}

// SizeSet is a list of sizes; in text separated by commas.
type SizeSet []sim.Bytes

// UnmarshalText reads sizes separated by commas.
func (s *SizeSet) UnmarshalText(b []byte) error {
	*s = nil
	for _, f := range strings.Split(string(b), ",") {
		n, err := sim.ParseBytes(strings.TrimSpace(f))
		if err != nil {
			return err
		}
		*s = append(*s, n)
	}
	return nil
}

// MarshalText prints what UnmarshalText reads.
func (s SizeSet) MarshalText() ([]byte, error) {
	words := make([]string, len(s))
	for i, n := range s {
		words[i] = n.String()
	}
	return []byte(strings.Join(words, ",")), nil
}

// Defaults are those of perftest 24.04 (ib_write_bw), with fewer iterations.
var _ = sim.Register(Workloads, "perftest", "Bandwidth or latency between two hosts as the tools of perftest measure it: ib_send_bw, ib_write_lat, ib_read_bw, ib_atomic_lat and so on.",
	PerftestParams{Common: defaultCommon(), Test: "bw", Service: "rc", Sizes: SizeSet{64 * sim.KiB}, Iterations: 1000, Depth: 128, Batch: 1, Moderation: 1}, nil,
	func(p PerftestParams) (Workload, error) { return perftest{p}, nil })

type perftest struct{ PerftestParams }

// Bounds on what a scenario may ask for.
const (
	maxSizes      = 64
	maxIterations = 10_000_000
)

var (
	verbsOfPerftest = map[string]verbs.Opcode{"send": verbs.OpSend, "write": verbs.OpWrite, "read": verbs.OpRead, "fetch_add": verbs.OpFetchAdd, "cmp_swap": verbs.OpCompareSwap}
	services        = map[string]verbs.Service{"rc": verbs.RC, "uc": verbs.UC, "ud": verbs.UD}
)

func (w perftest) Plan(c *Context) (map[int]Instance, error) {
	plan, err := w.plan(c)
	if err != nil {
		return nil, fmt.Errorf("perftest: %w", err)
	}
	return plan, nil
}

func (w perftest) plan(c *Context) (map[int]Instance, error) {
	op, ok := verbsOfPerftest[w.Verb]
	if !ok {
		return nil, fmt.Errorf("verb: %q: want send, write, read, fetch_add or cmp_swap", w.Verb)
	}
	common := w.Common
	common.Verb = "write" // resolve knows what closed loops do
	t, err := common.resolve(c, "perftest")
	if err != nil {
		return nil, err
	}
	t.opcode = op
	if op.IsAtomic() {
		w.Sizes = SizeSet{8}
	}
	if err := w.check(c, op); err != nil {
		return nil, err
	}
	client, server := 1, 0
	if w.Client != "" {
		if client, err = c.host(w.Client); err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
	}
	if w.Server != "" {
		if server, err = c.host(w.Server); err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
	}
	if client == server {
		return nil, fmt.Errorf("client and server are both %s", c.Hosts[client])
	}
	d := duel{traffic: t, service: services[w.Service], lat: w.Test == "lat", sizes: w.Sizes, iterations: w.Iterations, depth: w.Depth, batch: w.Batch, moderation: w.Moderation}
	for _, n := range w.Sizes {
		d.tags = append(d.tags, d.label(w.PerftestParams, n))
	}
	a, b := d, d
	a.peer, b.peer = server, client
	a.sends, b.sends = true, w.Bidirectional
	return map[int]Instance{client: &a, server: &b}, nil
}

// label names what is measured: tool, service and size, as reports take it apart.
func (d *duel) label(p PerftestParams, n sim.Bytes) string {
	verb := p.Verb
	if d.opcode.IsAtomic() {
		verb = "atomic_" + p.Verb
	}
	s := fmt.Sprintf("%s_%s/%s/%d", verb, p.Test, p.Service, int64(n))
	if p.Bidirectional {
		s += "/both"
	}
	if p.Tag != "" {
		s += "/" + p.Tag
	}
	return s
}

func (w perftest) check(c *Context, op verbs.Opcode) error {
	service, ok := services[w.Service]
	switch {
	case !ok:
		return fmt.Errorf("service: %q: want rc, uc or ud", w.Service)
	case !service.Allows(op):
		return fmt.Errorf("verb: %s does not exist on %s", w.Verb, w.Service)
	case w.Test != "bw" && w.Test != "lat":
		return fmt.Errorf("test: %q: want bw or lat", w.Test)
	case w.Bidirectional && w.Test == "lat":
		return fmt.Errorf("bidirectional: a latency test goes both ways already")
	case len(w.Sizes) == 0 || len(w.Sizes) > maxSizes:
		return fmt.Errorf("sizes: %d of them: want 1..%d", len(w.Sizes), maxSizes)
	case w.Iterations < 1 || w.Iterations > maxIterations:
		return fmt.Errorf("iterations: %d: want 1..%d", w.Iterations, maxIterations)
	case w.Batch < 1 || w.Batch > w.Depth:
		return fmt.Errorf("batch: %d: want 1..depth (%d)", w.Batch, w.Depth)
	case w.Moderation < 1 || w.Moderation > w.Depth:
		return fmt.Errorf("cq_mod: %d: want 1..depth (%d)", w.Moderation, w.Depth)
	}
	for _, n := range w.Sizes {
		if err := checkMessage(c, "sizes", n); err != nil {
			return err
		}
		if service == verbs.UD && c.MTU > 0 && n > c.MTU {
			return fmt.Errorf("sizes: %v: a datagram carries at most the path MTU, %v", n, c.MTU)
		}
	}
	return checkDepth(w.Depth)
}
