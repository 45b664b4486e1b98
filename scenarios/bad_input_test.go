package scenarios

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What only the fabric or the workload finds out has its place in the scenario
// too, and leaves no run directory behind.
func TestMistakesThatShowWhenARunIsBuilt(t *testing.T) {
	for _, c := range []struct{ text, err string }{
		{"topology: {fat_tree: {k: 3}}\ntraffic: [incast]\n", "s.yaml:1:26: topology.fat_tree.k: 3: want an even number of at least 2"},
		{"topology: {star: {rate: 0bps}}\ntraffic: [incast]\n", "s.yaml:1:25: topology.star.rate: 0bps: want more than 0, for example 100Gbps"},
		{"topology: {custom: {nodes: [{name: h0, kind: host}, {name: h1, kind: host}, {name: sw0, kind: switch}], links: [{a: h0, b: sw0}]}}\ntraffic: [incast]\n",
			"s.yaml:1:12: topology.custom: "},
		{"topology: star\nlinks: [{a: h0, b: h1, loss: 1%}]\ntraffic: [incast]\n", "s.yaml:2:9: links.0: h0 - h1: matches no link"},
		{"topology: star\nnics: [{match: host0}]\ntraffic: [incast]\n", "s.yaml:2:16: nics.0.match: host0: matches no host"},
		{"topology: star\nswitch:\n  buffer: {size: 300KB}\ntraffic: [incast]\n", "s.yaml:3:18: switch.buffer.size: "},
		{"topology: star\ntraffic:\n  - incast: {receiver: h99}\n", `s.yaml:3:24: traffic.0.incast.receiver: unknown host "h99": `},
		{"topology: star\ntraffic:\n  - incast: {repeat: forever}\n", "s.yaml:3:22: traffic.0.incast.repeat: forever needs an end"},
		{"topology: star\ntraffic:\n  - flows: {list: [{from: h0, to: h77, size: 1KB}]}\n", "s.yaml:3:20: traffic.0.flows.list.0: unknown host"},
		{"topology: star\ntraffic:\n  - poisson: {cdf_file: nowhere.txt}\n", "s.yaml:3:25: traffic.0.poisson.cdf_file: "},
	} {
		s := parsed(t, c.text)
		out := filepath.Join(t.TempDir(), "run")
		_, err := Run(context.Background(), s, Options{Out: out})
		requireOneError(t, err, c.err, c.text)
		_, err = os.Stat(out)
		require.ErrorIs(t, err, os.ErrNotExist)
		_, err = NewEstimate(s, nil)
		requireOneError(t, err, c.err, c.text)
	}
}
