package validation

import (
	"fmt"
	"strings"

	"rdmasim/verbs"
)

var _ = register("F5", Row{
	Title: "PSNs of WRITE, READ of 10 000 B, WRITE",
	Hard:  true,
	Explain: `A READ takes as many PSNs as its response has packets, ceil(length / path MTU), and its responses carry them: 0, 1..10, 11.
Numbers have 24 bits. Two NICs on one cable; the packets are those that a tap sees at their ports.
Source: InfiniBand Architecture volume 1, 9.7.2 and 9.7.3.`,
	Measure: measurePSN,
})

func measurePSN(b *Bench) error {
	want, found := Line{Name: "1 + ceil(length / MTU) and so on", Oracle: true}, Line{Name: "seen at the port"}
	for i, p := range []struct {
		first uint32
		mtu   int
		read  uint32
	}{
		{0, 1024, 10_000}, {1<<24 - 5, 1024, 10_000}, {1<<24 - 1, 1024, 10_000},
		{0, 256, 10_000}, {77, 4096, 10_000}, {1 << 23, 512, 512}, {1<<24 - 2, 2048, 2049}, {5, 1024, 1}, {9, 4096, 0},
	} {
		responses, err := b.readBetweenWrites(p.first, p.mtu, p.read)
		if err != nil {
			return err
		}
		if i == 0 {
			for n, psn := range responses {
				want.at(float64(n+1), float64(n+1))
				found.at(float64(n+1), float64(psn))
			}
		}
	}
	b.Draw(Curve{Name: "psn", Title: "PSNs of the responses of a READ of 10 000 B", X: Axis{Label: "response"}, Y: Axis{Label: "PSN"}, Lines: []Line{want, found}})
	return nil
}

// readBetweenWrites checks the PSNs of WRITE, READ, WRITE from a first one on,
// and returns those of the responses.
func (b *Bench) readBetweenWrites(first uint32, mtu int, read uint32) ([]uint32, error) {
	d := newDirect(mtu)
	d.psn = first
	if err := d.run(func(p *pair) error {
		for _, r := range []struct {
			op     verbs.Opcode
			length uint32
		}{{verbs.OpWrite, 100}, {verbs.OpRead, read}, {verbs.OpWrite, 100}} {
			if err := p.post(r.op, 0, r.length); err != nil {
				return err
			}
		}
		return nil
	}, nil); err != nil {
		return nil, err
	}
	packets := max(1, (read+uint32(mtu)-1)/uint32(mtu))
	at := func(n uint32) uint32 { return (first + n) & (1<<24 - 1) }
	what := fmt.Sprintf("from PSN %d, READ of %d B at MTU %d: ", first, read, mtu)
	b.Exact(what+"requests", fmt.Sprint([]uint32{at(0), at(1), at(1 + packets)}), fmt.Sprint(d.requests), "IBA 9.7.2")
	b.Alike(what+"responses", int(packets), func(i int) (want, got any) { return at(uint32(i) + 1), nth(d.responses, i) }, "IBA 9.7.3")
	b.Exact(what+"number of responses", packets, len(d.responses), "IBA 9.7.3")
	b.Exact(what+"completions", "SUCCESS SUCCESS SUCCESS", strings.Join(d.statuses[0], " "), "IBA 10.8")
	return d.responses, nil
}
