package workload_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
)

// Flows are posted at their times, in whatever order they are listed, those of
// one time in the order of the list.
func TestFlowsList(t *testing.T) {
	for _, verb := range []string{"write", "send"} {
		p := defaults[workload.FlowsParams](t, "flows")
		p.Verb, p.Start, p.Priority = verb, 10*sim.Microsecond, workload.PriorityOf(2)
		p.List = []workload.Flow{
			{From: "h0", To: "h1", Size: 5000, At: 100 * sim.Microsecond, SrcPort: 9, DstPort: 7, Priority: workload.PriorityOf(4)},
			{From: "h0", To: "h2", Size: 100, At: 20 * sim.Microsecond, Tag: "mouse"},
			{From: "h0", To: "h1", Size: 200, At: 20 * sim.Microsecond},
			{From: "h2", To: "h0", Size: 300},
		}
		f := scene{hosts: 3}.play(t, "flows", p)
		f.allDone()
		require.Zero(t, f.open)
		got := []string{}
		for _, m := range f.messages {
			m.end = 0
			got = append(got, strings.Replace(m.String(), "..0ps", "", 1))
		}
		op := strings.ToUpper(verb)
		require.Equal(t, []string{
			`2>0 qp3 ` + op + ` 300B "flows" 10us`,
			`0>2 qp1 ` + op + ` 100B "mouse" 30us`,
			`0>1 qp2 ` + op + ` 200B "flows" 30us`,
			`0>1 qp0 ` + op + ` 5KB "flows" 110us`,
		}, got)
		last := f.messages[3].conn
		require.Equal(t, []any{uint16(9), uint16(7), 4}, []any{last.SrcPort, last.DstPort, last.Priority})
		require.Equal(t, 2, f.messages[0].conn.Priority)
	}
}

func TestFlowsFile(t *testing.T) {
	for _, text := range []string{
		"h0,h1,1000,0.000002\nh2,h1,4KB,1us,3\n",
		"src,dst,bytes,start\nh0,h1,1000,2us\nh2,h1,4000,1us\n",
		"# comment\nid,priority,start_s,bytes,src,dst,status\n0,,0.000002,1000,h0,h1,ok\n1,3,1e-6,4000,h2,h1,ok\n",
	} {
		p := defaults[workload.FlowsParams](t, "flows")
		p.File = "f.csv"
		f := scene{hosts: 3, files: map[string]string{"f.csv": text}}.play(t, "flows", p)
		f.allDone()
		sizes, _ := f.bytes()
		require.Equal(t, map[[2]int]int64{{0, 1}: 1000, {2, 1}: 4000}, sizes)
		require.Equal(t, sim.Time(sim.Microsecond), f.messages[0].start)
		require.Equal(t, sim.Time(2*sim.Microsecond), f.messages[1].start)
	}
}

func TestFlowsStop(t *testing.T) {
	p := defaults[workload.FlowsParams](t, "flows")
	p.Stop = 5 * sim.Microsecond
	p.List = []workload.Flow{{From: "h0", To: "h1", Size: 1, At: 6 * sim.Microsecond}, {From: "h0", To: "h1", Size: 2, At: 4 * sim.Microsecond}}
	f := scene{hosts: 2}.play(t, "flows", p)
	f.allDone()
	require.Len(t, f.messages, 1)
	require.Equal(t, sim.Bytes(2), f.messages[0].size)
}

func TestFlowsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                               `flows: f.csv: no flows`,
		"src,dst,bytes,start\n":          `flows: f.csv: no flows`,
		"h0,h1,1000,0\nh0,h9,1000,0\n":   `flows: f.csv:2: unknown host "h9": there are h0, h1, h2`,
		"h0,h0,1000,0\n":                 `flows: f.csv:1: h0 cannot send to itself`,
		"h0,h1,0,0\n":                    `flows: f.csv:1: size: 0B: want 1B..2GiB`,
		"h0,h1,1000\n":                   `flows: f.csv:1: 3 columns: want src,dst,bytes,start,priority,sport,dport,tag`,
		"h0,h1,1000,0,9\n":               `flows: f.csv:1: priority: "9" is not a priority: want 0..7, or -1 for that of the NIC`,
		"h0,h1,1000,0,,70000\n":          `flows: f.csv:1: sport: "70000" is not a UDP port: want 0..65535`,
		"\n\nh0,h1,many,0\n":             `flows: f.csv:3: bytes: "many" is not a size: want a number with a unit, for example 400KB or 32MiB`,
		"h0,h1,1000,-1\n":                `flows: f.csv:1: start: "-1s": a duration must not be negative`,
		"src,dst,bytes\nh0,h1,1000\n":    `flows: f.csv:1: no column start: want src,dst,bytes,start and, if wanted, priority,sport,dport,tag`,
		"src,dst,bytes,start,colour\n":   `flows: f.csv:1: unknown column "colour": want src, dst, bytes, start, priority, sport, dport, tag`,
		"src,dst,bytes,start,src\n":      `flows: f.csv:1: column src stands there twice`,
		"h0,h1,1000,0\nh0,\"h1,1000,0\n": `flows: f.csv:2: extraneous or missing " in quoted-field`,
	} {
		p := defaults[workload.FlowsParams](t, "flows")
		p.File = "f.csv"
		_, err := scene{hosts: 3, files: map[string]string{"f.csv": text}}.plan("flows", p)
		require.EqualError(t, err, want, text)
	}
	p := defaults[workload.FlowsParams](t, "flows")
	_, err := scene{hosts: 3}.plan("flows", p)
	require.EqualError(t, err, "flows: no flows: give list or file")
	p.List = []workload.Flow{{From: "h0", To: "h1", Size: 1}, {From: "h0", To: "h8", Size: 1}}
	_, err = scene{hosts: 3}.plan("flows", p)
	require.EqualError(t, err, `flows: list[1]: unknown host "h8": there are h0, h1, h2`)
}

func FuzzFlowsFile(f *testing.F) {
	for _, s := range []string{"h0,h1,1000,0.000002\nh2,h1,4KB,1us,3\n", "src,dst,bytes,start_s\nh0,h1,1000,2", "h0,h1,1e-400000000,1e-400000000", "\"", "h0,h1,1000,0.00000000000000000001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := defaults[workload.FlowsParams](t, "flows")
		p.File = "f.csv"
		_, err := scene{hosts: 3, files: map[string]string{"f.csv": text}}.plan("flows", p)
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "flows: f.csv:"), err.Error())
		}
	})
}
