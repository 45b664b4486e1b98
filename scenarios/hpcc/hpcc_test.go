package hpcc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// The fixture has most of the traps of real files: a comment, a fraction of a
// microsecond, a key given twice, four numbers in the header of the topology,
// parallel links, prose behind the links, a count that lies and flows that are
// not sorted.
func TestReadMesh(t *testing.T) {
	c, err := Read(filepath.Join("testdata", "mesh", "config.txt"), os.ReadFile)
	require.NoError(t, err)
	cfg := c.Config
	require.Equal(t, DCQCN, cfg.CCMode)
	require.Equal(t, sim.Microsecond, cfg.AlphaResumeInterval)
	require.Equal(t, 300*sim.Microsecond, cfg.RPTimer)
	require.Equal(t, 4*sim.Second, cfg.StopTime)
	require.Equal(t, 20*sim.Mbps, cfg.RateAI)
	require.Equal(t, 32*sim.MiB, cfg.Buffer)
	require.Equal(t, 1.0/256, cfg.EWMAGain)
	require.False(t, cfg.HasWindow)
	require.True(t, cfg.GlobalT, "the built-in default")
	require.Equal(t, []ECN{{100 * sim.Gbps, 400_000, 1_600_000, 0.2}, {25 * sim.Gbps, 100_000, 400_000, 0.2}}, cfg.ECN)

	require.Equal(t, 6, c.Topology.Nodes)
	require.Equal(t, []int{0, 1, 2, 3}, c.Topology.Hosts())
	require.Equal(t, []int{4, 5}, c.Topology.Switches)
	require.Len(t, c.Topology.Links, 6)
	require.Equal(t, Link{A: 1, B: 4, Rate: 25 * sim.Gbps, Delay: sim.Microsecond, Line: 4}, c.Topology.Links[1])
	require.Equal(t, 0.001, c.Topology.Links[3].Loss)
	for _, l := range c.Topology.Links {
		require.Equal(t, sim.Microsecond, l.Delay)
	}

	var flows []string
	for _, f := range c.Flows {
		flows = append(flows, fmt.Sprintf("line %d: %d>%d pg%d %d:%d %v at %v", f.Line, f.Src, f.Dst, f.PG, f.SrcPort, f.DstPort, f.Size, f.Start))
	}
	require.Equal(t, []string{
		"line 3: 0>2 pg3 10000:100 1KB at 2s",
		"line 5: 3>0 pg3 10000:100 1B at 2s",
		"line 4: 0>2 pg4 10001:200 4KB at 2.000000001s",
		"line 2: 1>2 pg3 10000:100 20MB at 2.000005827s",
	}, noSpace(flows))

	notes := make([]string, len(c.Notes))
	for i, n := range c.Notes {
		notes[i] = strings.TrimPrefix(filepath.ToSlash(n.String()), "testdata/mesh/")
	}
	for _, want := range []string{
		"config.txt:3: USE_DYNAMIC_PFC_THRESHOLD 1: dead: never read: the threshold is always dynamic",
		"config.txt:9: FCT_OUTPUT_FILE out/fct.txt: unsupported: paths named in a configuration are never written: see fct.txt in the run directory",
		"config.txt:13: ALPHA_RESUME_INTERVAL 1.5: honoured: cut off to 1 us, as there",
		"config.txt:16: RP_TIMER 300: honoured",
		"config.txt:26: U_TARGET 0.95: dead: not read under CC_MODE 1 (DCQCN)",
		"config.txt:33: BUFFER_SIZE 16: dead: given again in line 34, and the last one counts",
		"config.txt:34: BUFFER_SIZE 32: honoured",
		"topology.txt:1: honoured: the first line has four numbers: read as nodes, switches, ToR switches (4, not needed) and links",
		"topology.txt:10: dead: what follows the 6 links is no link and not read",
		"flow.txt:6: dead: the first line says 4 flows, and 5 lines follow: those from here on are not read",
		"flow.txt:2: honoured: flows are not sorted by start, which that model needs: sorted here",
	} {
		require.Contains(t, notes, want)
	}
	keyed := 0
	for _, n := range c.Notes {
		if n.Key != "" {
			keyed++
		}
	}
	require.Equal(t, 33, keyed, "every key of the file has its note")
}

// noSpace writes a start in seconds, whatever unit String prefers.
func noSpace(s []string) []string {
	out := slices.Clone(s)
	for i := range out {
		out[i] = strings.NewReplacer("2000000001ns", "2.000000001s", "2000005827ns", "2.000005827s", "2000005.827us", "2.000005827s", "2000000.001us", "2.000000001s").Replace(out[i])
	}
	return out
}

// Written from one directory higher, as the scripts of that model do.
func TestReadFindsFilesFromAbove(t *testing.T) {
	files := mesh(t)
	files["sim/mix/config.txt"] = strings.NewReplacer("TOPOLOGY_FILE ", "TOPOLOGY_FILE mix/", "FLOW_FILE ", "FLOW_FILE mix/", "TRACE_FILE ", "TRACE_FILE mix/").Replace(files["config.txt"])
	for _, f := range []string{"topology.txt", "flow.txt", "trace.txt"} {
		files["sim/mix/"+f] = files[f]
		delete(files, f)
	}
	c, err := Read("sim/mix/config.txt", open(files))
	require.NoError(t, err)
	require.Len(t, c.Flows, 4)
}

func mesh(t testing.TB) map[string]string {
	files := map[string]string{}
	for _, f := range []string{"config.txt", "topology.txt", "flow.txt", "trace.txt"} {
		text, err := os.ReadFile(filepath.Join("testdata", "mesh", f))
		require.NoError(t, err)
		files[f] = string(text)
	}
	return files
}

func open(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if text, ok := files[filepath.ToSlash(filepath.Clean(name))]; ok {
			return []byte(text), nil
		}
		return nil, fmt.Errorf("open %s: no such file", name)
	}
}

// Every mistake is one error that names file, line, what is wrong and what
// would be right.
func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{"config.txt", "RP_TIMER 300", "RPTIMER 300", `config.txt:16: unknown key "RPTIMER": did you mean RP_TIMER?`},
		{"config.txt", "CC_MODE 1", "CC_MODE 1 2", `config.txt:12: "2" stands where a key should: the key before it takes fewer values`},
		{"config.txt", "CC_MODE 1", "CC_MODE", `config.txt:13: CC_MODE: "ALPHA_RESUME_INTERVAL": want a whole number from -2147483648 to 2147483647`},
		{"config.txt", "CC_MODE 1", "CC_MODE 5", `config.txt:12: CC_MODE: 5: want 0 (none), 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP) or 10 (HPCC-PINT)`},
		{"config.txt", "# Two", "# RP_TIMER", `config.txt:1: a comment contains the key RP_TIMER: the HPCC simulator knows no comments and would read it; remove the line`},
		{"config.txt", "RP_TIMER 300", "", `config.txt: RP_TIMER: is missing, and CC_MODE 1 (DCQCN) needs it: it has no default`},
		{"config.txt", "RP_TIMER 300", "RP_TIMER 0.5", `config.txt:16: RP_TIMER: "0.5": want 1 or more microseconds: a fraction is cut off, and a timer of 0 never lets time pass`},
		{"config.txt", "L2_ACK_INTERVAL 1", "L2_ACK_INTERVAL 0", `config.txt:23: L2_ACK_INTERVAL: 0, which is also the default: no packet would be acknowledged and no flow would end; want 1 or more`},
		{"config.txt", "HAS_WIN 0", "HAS_WIN yes", `config.txt:25: HAS_WIN: "yes": want 0 or 1`},
		{"config.txt", "RATE_AI 20Mb/s", "RATE_AI fast", `config.txt:19: RATE_AI: "fast" is not a rate: want 100Gbps, 40Mb/s or a number of bit/s`},
		{"config.txt", "BUFFER_SIZE 32\n", "BUFFER_SIZE\n", `config.txt:34: the file ends where a value of BUFFER_SIZE should follow`},
		{"config.txt", "KMIN_MAP 2 100000000000 400 25000000000.0 100", "KMIN_MAP 1 100000000000 400", `config.txt:31: KMIN_MAP: has no value for 25Gbps (25000000000), and a switch has a port of that rate`},
		{"config.txt", "KMIN_MAP 2 100000000000 400 25000000000.0 100", "", `config.txt: KMIN_MAP: has no value for 100Gbps (100000000000), and a switch has a port of that rate`},
		{"config.txt", "KMIN_MAP 2", "KMIN_MAP 3", `config.txt:32: KMIN_MAP: pair 3 of 3: "PMAX_MAP" is not a rate: want 100Gbps, 40Mb/s or a number of bit/s`},
		{"config.txt", "KMIN_MAP 2 100000000000 400", "KMIN_MAP 2 100000000000 1700", `config.txt:31: KMIN_MAP: 100Gbps: Kmin 1700 is above Kmax 1600`},
		{"config.txt", "PMAX_MAP 2 100000000000 0.2", "PMAX_MAP 2 100000000000 20", `config.txt:32: PMAX_MAP: pair 1 of 2: "20": want a number from 0 to 1`},
		{"config.txt", "FLOW_FILE flow.txt", "FLOW_FILE flows.txt", `config.txt:6: FLOW_FILE: open flows.txt: no such file`},
		{"config.txt", "FLOW_FILE flow.txt", "", `config.txt: FLOW_FILE: is missing`},
		{"config.txt", "LINK_DOWN 0 0 0", "LINK_DOWN 100 0 5", `config.txt:28: LINK_DOWN: no link between nodes 0 and 5`},

		{"topology.txt", "6 2 4 6", "6 2 4 5", `topology.txt:8: the first line says 5 links, and this is one more`},
		{"topology.txt", "6 2 4 6", "6 2 7", `topology.txt:10: link 7 of 7: node "First": want a whole number from 0 to 5`},
		{"topology.txt", "\n\nFirst line: nodes, switches, ToR switches, links.", "", ""},
		{"topology.txt", "4 5 100Gbps 1us 0\n4 5 100Gbps 1us 0\n\nFirst line: nodes, switches, ToR switches, links.\n", "4 5 100Gbps 1us 0\n", `topology.txt:7: the file ends where link 6 of 6 should follow`},
		{"topology.txt", "6 2 4 6\n4 5\n", "6 2 4 6\n4 4\n", `topology.txt:2: switch 2 of 2: 4 is named twice`},
		{"topology.txt", "6 2 4 6\n4 5\n", "6 2 4 6\n4 6\n", `topology.txt:2: switch 2 of 2: "6": want a whole number from 0 to 5`},
		{"topology.txt", "3 5 100Gbps", "6 5 100Gbps", `topology.txt:6: link 4 of 6: node "6": want a whole number from 0 to 5`},
		{"topology.txt", "3 5 100Gbps", "3 3 100Gbps", `topology.txt:6: link 4 of 6: node 3 is joined to itself`},
		{"topology.txt", "3 5 100Gbps 1us", "3 5 100Gbps 1000", `topology.txt:6: link 4 of 6: "1000": a link delay above 1s; a number without a unit is in seconds in this format`},
		{"topology.txt", "3 5 100Gbps 1us", "3 5 100Gbps 1uss", `topology.txt:6: link 4 of 6: "1uss" is not a delay: want 1us, 0.001ms or 1000ns`},
		{"topology.txt", "3 5 100Gbps", "3 5 100", `topology.txt:6: link 4 of 6: rate 100bps ("100"): want 1Mbps or more`},
		{"topology.txt", "1us 0.001", "1us 2", `topology.txt:6: link 4 of 6: loss: "2": want a number from 0 to 1`},
		{"topology.txt", "3 5 100Gbps 1us 0.001", "3 5 100Gbps 1us", `topology.txt:6: link 4 of 6: want five values in a line: node, node, rate, delay, loss`},

		{"flow.txt", "4\n1 2", "9\n1 2", `flow.txt:6: the file ends after 5 of 9 flows`},
		{"flow.txt", "4\n1 2", "4 flows\n1 2", `flow.txt:1: 2 values in the first line: want the number of flows alone`},
		{"flow.txt", "1 2 3 100 20000000", "1 4 3 100 20000000", `flow.txt:2: dst: node 4 is a switch, and only hosts send and receive`},
		{"flow.txt", "1 2 3 100 20000000", "1 9 3 100 20000000", `flow.txt:2: dst: node "9": want a whole number from 0 to 5`},
		{"flow.txt", "1 2 3 100 20000000", "1 1 3 100 20000000", `flow.txt:2: host 1 cannot send to itself`},
		{"flow.txt", "1 2 3 100 20000000", "1 2 8 100 20000000", `flow.txt:2: pg (priority group): "8": want a whole number from 0 to 7`},
		{"flow.txt", "1 2 3 100 20000000", "1 2 3 100 0", `flow.txt:2: size: "0": want a whole number from 1 to 1099511627776 bytes`},
		{"flow.txt", "1 2 3 100 20000000", "1 2 3 70000 20000000", `flow.txt:2: dport: "70000": want a whole number from 0 to 65535 (older models have ` + "`src dst pg packets start stop`" + `, which is not this format)`},
		{"flow.txt", "20000000 2.000005827", "20000000 -2", `flow.txt:2: start: "-2": want seconds from 0 to 864000`},
		{"flow.txt", "20000000 2.000005827", "20000000 ", `flow.txt:3: 6 columns, and the first flow has 5`},
		{"flow.txt", "1 2 3 100 20000000 2.000005827", "1 2 3", `flow.txt:3: 6 columns, and the first flow has 3`},
		{"flow.txt", "4\n", "", `flow.txt:1: 6 values in the first line: want the number of flows alone`},
		{"topology.txt", "1 4 25000000000.0 0.001ms 0", "0 4 25000000000.0 0.001ms 0", `topology.txt:1: the first line says 6 nodes, and no link joins node 1`},
		{"topology.txt", "4 5 100Gbps 1us 0\n4 5 100Gbps 1us 0\n", "0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n", `flow.txt:3: no path from host 0 to host 2 (hosts do not forward)`},
		{"flow.txt", "4\n1 2", "0\n1 2", `flow.txt:1: number of flows: "0": want a whole number from 1 to 10000000`},
		{"trace.txt", "0\n", "1 7\n", `trace.txt:1: node 1 of 1: "7": want a whole number from 0 to 5`},
	} {
		files := mesh(t)
		require.Contains(t, files[c.file], c.old)
		files[c.file] = strings.Replace(files[c.file], c.old, c.new, 1)
		_, err := Read("config.txt", open(files))
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, c.want, "%s: %q instead of %q", c.file, c.new, c.old)
	}
	for _, f := range []string{"config.txt", "topology.txt", "flow.txt", "trace.txt"} {
		files := mesh(t)
		files[f] = ""
		_, err := Read("config.txt", open(files))
		require.ErrorContains(t, err, f)
	}
}

// Cut off anywhere, a file gives an error or, at the very end, the same case;
// it never gives a smaller one in silence.
func TestReadTruncated(t *testing.T) {
	for _, f := range []string{"topology.txt", "flow.txt"} {
		whole := mesh(t)[f]
		needed := map[string]string{"topology.txt": "\n\nFirst", "flow.txt": "\n2 3 3"}[f]
		for n := range strings.Index(whole, needed) {
			files := mesh(t)
			files[f] = whole[:n]
			c, err := Read("config.txt", open(files))
			if err != nil {
				require.True(t, strings.HasPrefix(err.Error(), f), err.Error())
				continue
			}
			// Only digits of the last value are missing.
			require.Len(t, c.Flows, 4)
			require.Len(t, c.Topology.Links, 6)
		}
	}
}

func TestRequire(t *testing.T) {
	files := mesh(t)
	files["config.txt"] = strings.Replace(files["config.txt"], "CC_MODE 1", "CC_MODE 3", 1)
	c, err := Read("config.txt", open(files))
	require.NoError(t, err)
	require.NoError(t, c.Config.Require(NoCC, HPCC))
	require.EqualError(t, c.Config.Require(NoCC, DCQCN), "config.txt:12: CC_MODE: 3 (HPCC) is not supported: want 0 (none) or 1 (DCQCN)")
}

func TestFlowColumns(t *testing.T) {
	topo, _, err := ParseTopology("t", []byte("3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n"))
	require.NoError(t, err)
	for _, c := range []struct {
		text, note string
		stop       sim.Duration
		dport      uint16
	}{
		{"0 1 3 7 5000 2.0", "", 0, 7},
		{"0 1 3 5000 2.0", "f:2: honoured: five columns are read as src dst pg size start; the destination port is 100", 0, 100},
		{"0 1 3 7 5000 2.0 2.5", "f:2: unsupported: seven columns are read as src dst pg dport size start stop; flows end when their bytes are through, not at a time", 2500 * sim.Millisecond, 7},
		{"0 0 1 3 7 5000 2.0", "f:2: honoured: seven columns are read as id src dst pg dport size start", 0, 7},
	} {
		flows, notes, err := ParseFlows("f", []byte("1\n"+c.text+"\n"), topo)
		require.NoError(t, err)
		require.Equal(t, []Flow{{Src: 0, Dst: 1, PG: 3, SrcPort: 10000, DstPort: c.dport, Size: 5000, Start: 2 * sim.Second, ModelTime: 2 * sim.Second, Stop: c.stop, Line: 2}}, flows)
		if c.note == "" {
			require.Empty(t, notes)
		} else {
			require.Equal(t, c.note, notes[0].String())
		}
	}
}

func TestAddresses(t *testing.T) {
	require.Equal(t, uint32(0x0b000001), IP(0))
	require.Equal(t, uint32(0x0b013f01), IP(319))
	for _, i := range []int{0, 1, 255, 256, 1000, 65535} {
		require.Equal(t, i, NodeOf(IP(i)))
	}
}

func TestValues(t *testing.T) {
	for s, want := range map[string]sim.Duration{"1us": sim.Microsecond, "0.001ms": sim.Microsecond, "1000ns": sim.Microsecond, "0.000001": sim.Microsecond,
		"1e-6": sim.Microsecond, "1.9999ns": sim.Nanosecond, "0": 0, "0.1ns": 0} {
		d, err := parseDelay(s)
		require.NoError(t, err, s)
		require.Equal(t, want, d, s)
	}
	for s, want := range map[string]sim.Rate{"100Gbps": 100 * sim.Gbps, "25000000000.0": 25 * sim.Gbps, "1e11": 100 * sim.Gbps, "40Mb/s": 40 * sim.Mbps} {
		r, err := parseRate(s)
		require.NoError(t, err, s)
		require.Equal(t, want, r, s)
	}
	for _, s := range []string{"", "1.1", "us", "1e999999999us", "NaNus", "-1us", "1 us", "Inf"} {
		_, err := parseDelay(s)
		require.Error(t, err, s)
	}
	require.Equal(t, "RP_TIMER", nearest("RP_TIMERS", keyNames()))
	require.Equal(t, "", nearest("xyzzy", keyNames()))
}
