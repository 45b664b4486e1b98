package scenarios

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/capture"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// The file depends on the scenario alone: not on workers.
func TestCaptureDoesNotDependOnWorkers(t *testing.T) {
	var first []byte
	for workers := 1; workers <= 3; workers++ {
		s := parse(t, lossy, []string{"traffic.0.permutation.message=40KB"})
		out := filepath.Join(t.TempDir(), "run")
		w, err := s.prepare()
		require.NoError(t, err)
		w.exactly = true
		o := Options{Out: out, Workers: workers, Capture: &CaptureOptions{At: []string{"host", "switch:leaf0", "link:leaf*-spine1"}}}
		dir, err := w.create(o)
		require.NoError(t, err)
		require.NoError(t, w.openCapture(dir, o))
		_, err = w.simulate(context.Background(), dir, o)
		require.NoError(t, err)
		data, err := os.ReadFile(filepath.Join(out, FileCapture))
		require.NoError(t, err)
		assert.Greater(t, len(data), 100_000)
		if first == nil {
			first = data
		}
		assert.True(t, bytes.Equal(first, data), "%d workers", workers)
	}
}

// A capture changes nothing of the run.
func TestCaptureChangesNothing(t *testing.T) {
	print := func(c *CaptureOptions) string {
		r, err := Run(context.Background(), parse(t, lossy, nil), Options{Out: filepath.Join(t.TempDir(), "run"), Capture: c})
		require.NoError(t, err)
		return r.Fingerprint
	}
	assert.Equal(t, print(nil), print(&CaptureOptions{At: []string{"host", "switch", "link"}}))
}

// Wherever a run is captured, it is the same run.
func TestCaptureAtSwitchesAndLinks(t *testing.T) {
	for _, at := range []string{"switch", "link", "switch:leaf*", "link:h*-leaf*"} {
		t.Run(at, func(t *testing.T) {
			s := parse(t, lossy, nil)
			ran, read, sum := captured(t, s, 2, at)
			want := sums(t, ran, func(string) bool { return true })
			got := sums(t, read, func(string) bool { return true })
			for _, name := range []string{trace.CountRetransmitted, trace.CountPayloadDelivered, trace.CountDataDelivered, trace.CountNaks, trace.CountCNPSent} {
				switch {
				case at[0] == 'l': // damaged frames are seen, and known to be damaged
					assert.Equal(t, want[name], got[name], name)
				case name == trace.CountRetransmitted:
					// What was lost in front of the first switch was not seen.
					assert.InEpsilon(t, want[name], got[name], 0.05, name)
				}
			}
			assert.Zero(t, sum.ICRC.Invalid)
			assert.Zero(t, sum.Frames.Malformed)
			for _, c := range sum.Checks {
				assert.Zero(t, c.Violations, "%s: %v", c.Name, c.Examples)
			}
			messages := 0
			for _, n := range flowLines(t, ran) {
				messages += n
			}
			for _, n := range flowLines(t, read) {
				messages -= n
			}
			assert.Zero(t, messages, "messages")
		})
	}
}

// The frames are as long as the model says, and hold what it counts.
func TestCapturedFramesAreAsLongAsTheModelSays(t *testing.T) {
	for _, encapsulation := range []string{"none", "vlan", "ipv6", "vxlan"} {
		s := parse(t, lossy, []string{"nic.encapsulation=" + encapsulation})
		out := filepath.Join(t.TempDir(), "run")
		_, err := Run(context.Background(), s, Options{Out: out, Capture: &CaptureOptions{At: []string{"host"}}})
		require.NoError(t, err)
		run, err := trace.Open(out)
		require.NoError(t, err)
		list, err := run.Counters()
		require.NoError(t, err)
		wire := map[string]float64{}
		for _, c := range list {
			if c.Name == trace.CountTxBytes {
				wire[c.Object] += c.Value
			}
		}
		got := map[string]float64{}
		records(t, filepath.Join(out, FileCapture), func(r *capture.Reader, rec *capture.Record) {
			if rec.Direction == capture.DirOut {
				got[r.Interfaces[rec.Interface].Name] += float64(rec.Original + 4 + 20) // FCS, preamble and gap
			}
		})
		assert.Len(t, got, 6)
		for name, n := range got {
			assert.Equal(t, wire[name], n, "%s, %s", encapsulation, name)
		}
	}
}

// records calls f for every record of a capture.
func records(t *testing.T, file string, f func(*capture.Reader, *capture.Record)) {
	t.Helper()
	in, err := os.Open(file)
	require.NoError(t, err)
	defer in.Close()
	r, err := capture.NewReader(in)
	require.NoError(t, err)
	var rec capture.Record
	for {
		err := r.Next(&rec)
		if err == io.EOF {
			return
		}
		require.NoError(t, err)
		f(r, &rec)
	}
}

func TestCaptureEndsAtItsLimit(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	r, err := Run(context.Background(), parse(t, lossy, nil), Options{Out: out, Capture: &CaptureOptions{MaxBytes: 100 * sim.KB}})
	require.NoError(t, err)
	info, err := os.Stat(filepath.Join(out, FileCapture))
	require.NoError(t, err)
	assert.LessOrEqual(t, info.Size(), int64(100_000))
	assert.Greater(t, info.Size(), int64(98_000))
	require.NotEmpty(t, r.Notes)
	assert.Contains(t, r.Notes[0], "capture.pcapng reached its limit of 100KB")
}

func TestCapturePointsThatAreNone(t *testing.T) {
	for at, want := range map[string]string{
		"hosts":         `--pcap-at "hosts": want host, switch or link`,
		"host:":         "the name behind the colon is missing",
		"host:h9":       `no host of that name: the topology has [h0 h1 h2 h3 h4 h5]`,
		"switch:h1":     "no switch of that name: the topology has [leaf0 leaf1 spine0 spine1]",
		"link:h0-leaf1": "no link of that name: the topology has h0-leaf0 .. leaf1-spine1 (10)",
		"link:[":        "the pattern is malformed",
	} {
		out := filepath.Join(t.TempDir(), "run")
		_, err := Run(context.Background(), parse(t, lossy, nil), Options{Out: out, Capture: &CaptureOptions{At: []string{at}}})
		require.ErrorContains(t, err, want)
		assert.NoDirExists(t, out, "nothing is left behind")
	}
}
