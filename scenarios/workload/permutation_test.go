package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
)

// Every host sends to one other and receives from one other.
func TestPermutation(t *testing.T) {
	different := map[string]bool{}
	for seed := range uint64(20) {
		p := defaults[workload.PermutationParams](t, "permutation")
		p.Message, p.Repeat = 10*sim.KB, 3
		f := scene{hosts: 7, seed: seed}.play(t, "permutation", p)
		f.allDone()
		sizes, _ := f.bytes()
		require.Len(t, sizes, 7)
		from, to, key := map[int]bool{}, map[int]bool{}, make([]byte, 7)
		for pair, n := range sizes {
			require.Equal(t, int64(30_000), n)
			require.NotEqual(t, pair[0], pair[1])
			from[pair[0]], to[pair[1]], key[pair[0]] = true, true, byte(pair[1])
		}
		require.Len(t, from, 7)
		require.Len(t, to, 7)
		different[string(key)] = true
	}
	require.Greater(t, len(different), 15, "seeds give different permutations")
}

// Of three hosts there are two derangements, each as likely.
func TestDerangementIsUniform(t *testing.T) {
	n := 0
	for seed := range uint64(400) {
		f := scene{hosts: 3, seed: seed}.play(t, "permutation", nil)
		for _, m := range f.messages {
			if m.from == 0 && m.to == 1 {
				n++
			}
		}
	}
	require.InDelta(t, 200, n, 40) // four standard deviations
}

func TestPermutationShiftAndExplicit(t *testing.T) {
	p := defaults[workload.PermutationParams](t, "permutation")
	p.Shift = -1
	_, counts := scene{hosts: 3}.play(t, "permutation", p).bytes()
	require.Equal(t, map[[2]int]int64{{0, 2}: 1, {1, 0}: 1, {2, 1}: 1}, counts)

	p = defaults[workload.PermutationParams](t, "permutation")
	p.Hosts, p.To, p.Verb = workload.HostSet{"h0", "h1"}, []string{"h3", "h0"}, "send"
	f := scene{hosts: 4}.play(t, "permutation", p)
	f.allDone()
	_, counts = f.bytes()
	require.Equal(t, map[[2]int]int64{{0, 3}: 1, {1, 0}: 1}, counts)
}

func TestPermutationErrors(t *testing.T) {
	for want, change := range map[string]func(p *workload.PermutationParams){
		`permutation: shift: 8: each of the 4 hosts would send to itself`: func(p *workload.PermutationParams) { p.Shift = 8 },
		`permutation: hosts: a permutation needs at least 2 hosts, not 1`: func(p *workload.PermutationParams) { p.Hosts = workload.HostSet{"1"} },
		`permutation: to: 1 destinations for 4 hosts`:                     func(p *workload.PermutationParams) { p.To = []string{"h1"} },
		`permutation: to and shift exclude each other`:                    func(p *workload.PermutationParams) { p.To, p.Shift = []string{"h1"}, 1 },
		`permutation: to: h0 cannot send to itself`:                       func(p *workload.PermutationParams) { p.To = []string{"h0", "h1", "h2", "h3"} },
		`permutation: to: h1 is named twice, so that this is no permutation: use incast or flows`: func(p *workload.PermutationParams) {
			p.To = []string{"h1", "h0", "h1", "h2"}
		},
	} {
		p := defaults[workload.PermutationParams](t, "permutation")
		change(&p)
		_, err := scene{hosts: 4}.plan("permutation", p)
		require.EqualError(t, err, want)
	}
}
