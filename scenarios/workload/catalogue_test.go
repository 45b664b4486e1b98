package workload_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
)

// Every workload, as it is when nothing is said about it, moves bytes among 8
// hosts, the same ones for the same seed, and in a run without hosts, or with
// one, says so.
func TestEveryWorkload(t *testing.T) {
	for _, name := range workload.Workloads.Names() {
		t.Run(name, func(t *testing.T) {
			s := scene{hosts: 8, duration: 10 * sim.Millisecond, seed: 7}
			if _, err := s.plan(name, nil); err != nil {
				require.ErrorContains(t, err, name+": no ")
				t.Skip("does nothing of itself")
			}
			a, b := s.play(t, name, nil), s.play(t, name, nil)
			require.NotEmpty(t, a.messages)
			require.Equal(t, a.messages, b.messages)
			for _, hosts := range []int{0, 1} {
				_, err := scene{hosts: hosts, duration: sim.Millisecond}.plan(name, nil)
				require.ErrorContains(t, err, name+": ")
			}
		})
	}
}

// Keys are what people write: each has one name and a sentence.
func TestEveryParameterHasKeyAndDoc(t *testing.T) {
	var check func(t *testing.T, p reflect.Type, seen map[string]bool)
	check = func(t *testing.T, p reflect.Type, seen map[string]bool) {
		for i := range p.NumField() {
			f := p.Field(i)
			if f.Anonymous {
				check(t, f.Type, seen)
				continue
			}
			require.NotEmpty(t, f.Tag.Get("key"), f.Name)
			require.NotEmpty(t, f.Tag.Get("doc"), f.Name)
			require.False(t, seen[f.Tag.Get("key")], f.Name)
			seen[f.Tag.Get("key")] = true
		}
	}
	for _, name := range workload.Workloads.Names() {
		t.Run(name, func(t *testing.T) {
			e, err := workload.Workloads.Lookup(name)
			require.NoError(t, err)
			seen := map[string]bool{}
			check(t, reflect.TypeOf(e.Defaults), seen)
			for _, key := range []string{"start", "stop", "verb", "qps_per_peer", "priority", "tag"} {
				require.True(t, seen[key], key)
			}
		})
	}
}
