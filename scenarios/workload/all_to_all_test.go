package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
)

func TestAllToAllMovesWhatItShould(t *testing.T) {
	for _, schedule := range []string{"simultaneous", "rounds"} {
		for _, verb := range []string{"write", "send"} {
			p := defaults[workload.AllToAllParams](t, "all_to_all")
			p.Schedule, p.Verb, p.Message, p.Repeat, p.QPsPerPeer = schedule, verb, 10*sim.KB, 3, 2
			p.Hosts = workload.HostSet{"h1", "h0", "h3", "h4"}
			f := scene{hosts: 5}.play(t, "all_to_all", p)
			f.allDone()
			sizes, counts := f.bytes()
			require.Len(t, sizes, 12)
			for pair := range sizes {
				require.NotContains(t, pair, 2)
				require.Equal(t, int64(60_000), sizes[pair])
				require.Equal(t, int64(6), counts[pair])
			}
		}
	}
}

// In rounds a host sends to one peer at a time: the one after it, the second
// after it, and so on; simultaneously it sends to all before anything is back.
func TestAllToAllSchedules(t *testing.T) {
	p := defaults[workload.AllToAllParams](t, "all_to_all")
	p.Schedule = "rounds"
	f := scene{hosts: 4}.play(t, "all_to_all", p)
	var order []int
	var last sim.Time
	for _, m := range f.messages {
		if m.from == 2 {
			require.GreaterOrEqual(t, m.start, last)
			last = m.end
			order = append(order, m.to)
		}
	}
	require.Equal(t, []int{3, 0, 1}, order)

	p.Schedule = "simultaneous"
	for _, m := range (scene{hosts: 4}).play(t, "all_to_all", p).messages {
		require.Zero(t, m.start)
	}
}

func TestAllToAllSurvivesErrors(t *testing.T) {
	p := defaults[workload.AllToAllParams](t, "all_to_all")
	p.Repeat = 3
	f := scene{hosts: 3, fail: func(m message) bool { return m.from == 1 && m.to == 0 }}.play(t, "all_to_all", p)
	f.allDone()
	_, counts := f.bytes()
	require.Equal(t, map[[2]int]int64{{0, 1}: 3, {0, 2}: 3, {1, 2}: 3, {2, 0}: 3, {2, 1}: 3}, counts)

	// With every queue pair in error there is nothing to wait for.
	p.Repeat, p.Stop = workload.Forever, sim.Second
	f = scene{hosts: 3, fail: func(message) bool { return true }}.play(t, "all_to_all", p)
	f.allDone()
	require.Less(t, f.now, sim.Time(sim.Millisecond))
}

func TestAllToAllErrors(t *testing.T) {
	for want, change := range map[string]func(p *workload.AllToAllParams){
		`all_to_all: hosts: an exchange needs at least 2 hosts, not 1`:                             func(p *workload.AllToAllParams) { p.Hosts = workload.HostSet{"h1"} },
		`all_to_all: schedule: "x": want simultaneous or rounds`:                                   func(p *workload.AllToAllParams) { p.Schedule = "x" },
		`all_to_all: message: 0B: want 1B..2GiB`:                                                   func(p *workload.AllToAllParams) { p.Message = 0 },
		`all_to_all: repeat: forever needs an end: give the run a duration or the workload a stop`: func(p *workload.AllToAllParams) { p.Repeat = workload.Forever },
	} {
		p := defaults[workload.AllToAllParams](t, "all_to_all")
		change(&p)
		_, err := scene{hosts: 4}.plan("all_to_all", p)
		require.EqualError(t, err, want)
	}
}
