package calibrate

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// ladder is what one measures to calibrate: latency of a few sizes, and the
// rate of small and large messages.
const ladder = `
name: ladder
seed: 1
duration: until_done
topology: {star: {hosts: 2, rate: 100Gbps, delay: 500ns}}
nic: {path_mtu: 4096, congestion: none}
traffic:
  - perftest: {test: lat, verb: write, sizes: [64B, 4KiB, 64KiB], iterations: 100}
  - perftest: {test: bw, verb: write, sizes: [64B, 64KiB], iterations: 300, start: 20ms}
`

// held are other sizes, depths and verbs.
const held = `
name: held
seed: 2
duration: until_done
topology: {star: {hosts: 2, rate: 100Gbps, delay: 500ns}}
nic: {path_mtu: 4096, congestion: none}
traffic:
  - perftest: {test: lat, verb: send, sizes: [512B, 16KiB, 256KiB], iterations: 60}
  - perftest: {test: bw, verb: write, sizes: [256B, 8KiB], depth: 4, iterations: 200, start: 40ms}
  - perftest: {test: bw, verb: send, sizes: [1KiB], depth: 32, iterations: 300, start: 60ms}
`

func run(t *testing.T, text string, settings ...string) *trace.Run {
	t.Helper()
	s, err := scenarios.ParseSet("x.yaml", []byte(text), settings)
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "run")
	_, err = scenarios.Run(context.Background(), s, scenarios.Options{Out: out})
	require.NoError(t, err)
	r, err := trace.Open(out)
	require.NoError(t, err)
	return r
}

// pretend makes a run forget with which values it was made, as hardware does:
// its scenario says what the plain one says.
func pretend(t *testing.T, text string, hidden *trace.Run) *trace.Run {
	t.Helper()
	plain := run(t, text)
	copyFile(t, plain.Path(trace.FileScenario), hidden.Path(trace.FileScenario))
	return hidden
}

var hiddenValues = []map[string]string{
	{"rate": "100Gbps", "delay": "500ns", "post": "0s"},
	{"rate": "25Gbps", "delay": "1.7us", "post": "180ns"},
	{"rate": "9.3Gbps", "delay": "12us", "post": "2.5us"},
	{"rate": "200Gbps", "delay": "300ns", "post": "75ns"},
	{"rate": "400Gbps", "delay": "2us", "post": "1us"},
}

// Values that a run was made with are found again from its messages alone, and
// with them other sizes, depths and verbs are predicted.
func TestHiddenValuesAreRecovered(t *testing.T) {
	for _, h := range hiddenValues {
		set := []string{"topology.star.rate=" + h["rate"], "topology.star.delay=" + h["delay"], "nic.host.post=" + h["post"]}
		r := pretend(t, ladder, run(t, ladder, set...))
		res, err := Fit(context.Background(), r, Options{})
		require.NoError(t, err)
		t.Logf("%v: %d simulations, misfit %.2g\n%s", h, res.Simulations, res.Misfit, res.YAML())
		require.Less(t, res.Misfit, 0.01)
		truth, err := scenarios.ParseSet("x.yaml", []byte(ladder), append(set, `links=[{a: "*", b: "*", rate: `+h["rate"]+", delay: "+h["delay"]+"}]"))
		require.NoError(t, err)
		for _, p := range res.Params {
			want := p.Param.get(truth)
			require.True(t, p.Known, p.Param.Name)
			require.InDelta(t, want, p.Value, 0.02*want+5e-9, p.Param.Name)
			require.LessOrEqual(t, p.Low, want*1.001+2e-9, p.Param.Name)
			require.GreaterOrEqual(t, p.High, want*0.999-2e-9, p.Param.Name)
		}
		list, err := Predict(context.Background(), pretend(t, held, run(t, held, set...)), res, "")
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(list), 6)
		for _, p := range list {
			require.Less(t, math.Abs(p.Off()), 0.02, "%v: %s, predicted %s", p.Group, p.Print(p.Value), p.Print(p.Predicted))
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o600))
}

// lossy is one message at a time over a link that loses some: each loss waits
// for the local ACK timer.
const lossy = `
name: lossy
seed: 5
duration: until_done
max_duration: 20s
topology: {star: {hosts: 2, rate: 100Gbps, delay: 500ns}}
nic: {path_mtu: 4096, congestion: none, retry_count: 7}
links: [{a: "*", b: "*", data_loss: 0.6%}]
traffic:
  - perftest: {test: lat, verb: write, sizes: [64B], iterations: 1500}
`

// The policy and the exponent of the timer are those that the run had.
func TestTimeoutPolicyIsRecognised(t *testing.T) {
	for _, c := range []struct {
		policy   string
		exponent int
		set      string
	}{
		{"exact", 8, "8"}, {"exact", 12, "12"}, {"jitter", 9, "9"}, {"jitter", 6, "6"}, {"adaptive", -1, "14"}, {"adaptive", -1, "10"},
	} {
		got, err := timeouts(run(t, lossy, "nic.timeout="+c.set, "nic.timeout_policy="+c.policy))
		require.NoError(t, err)
		require.NotNil(t, got, c)
		require.Equal(t, c.policy, got.Policy, "%+v: %+v", c, got)
		require.Equal(t, c.exponent, got.Exponent, "%+v: %+v", c, got)
		require.Greater(t, got.Explained, 0.9, "%+v: %+v", c, got)
		require.Greater(t, got.Stalls, 10)
	}
	got, err := timeouts(run(t, ladder))
	require.NoError(t, err)
	require.Nil(t, got, "nothing was lost: not measured")
}

// Under DCQCN the number of CNPs says how far apart they are kept.
func TestCNPIntervalIsRecovered(t *testing.T) {
	const incast = `
name: incast
seed: 1
duration: 1ms
topology: {star: {hosts: 9, rate: 100Gbps, delay: 500ns}}
switch: {ecn: {3: {kmin: 1B, kmax: 2B, pmax: 100%}}}
nic: {path_mtu: 1024, congestion: {dcqcn: {preset: connectx, min_rate: 100Gbps}}}
traffic: [{incast: {senders: 8, receiver: h0, message: 1GB}}]
`
	for _, want := range []string{"11us", "47us"} {
		r := pretend(t, incast, run(t, incast, "nic.congestion.dcqcn.cnp_interval="+want))
		got, err := Fit(context.Background(), r, Options{Names: cnpParam})
		require.NoError(t, err)
		d, err := sim.ParseDuration(want)
		require.NoError(t, err)
		require.True(t, got.Params[0].Known)
		require.InEpsilon(t, d.Seconds(), got.Params[0].Value, 0.05, "%s", got.YAML())
		require.Less(t, got.Params[0].Low, d.Seconds()*1.001)
		require.Greater(t, got.Params[0].High, d.Seconds()*0.999)
	}
	_, err := Fit(context.Background(), run(t, incast, "switch.ecn.3.kmax=100MB"), Options{Names: cnpParam})
	require.ErrorContains(t, err, "were marked")
	_, err = Fit(context.Background(), run(t, ladder), Options{Names: cnpParam})
	require.ErrorContains(t, err, "does not run DCQCN")
}

// A value that the messages do not depend on is said to be undetermined.
func TestWhatIsNotDeterminedIsSaid(t *testing.T) {
	const one = `
name: one
duration: until_done
topology: {star: {hosts: 2, rate: 100Gbps, delay: 500ns}}
nic: {path_mtu: 4096, congestion: none}
traffic: [{perftest: {test: lat, verb: write, sizes: [64B], iterations: 50}}]
`
	r, err := Fit(context.Background(), pretend(t, one, run(t, one, "topology.star.delay=900ns")), Options{Names: "rate,delay,post"})
	require.NoError(t, err)
	known := 0
	for _, p := range r.Params {
		if p.Known {
			known++
		}
	}
	require.Less(t, known, 3, "one latency cannot tell three values apart")
	require.Contains(t, r.YAML(), "not determined by this run")
}

// Real completions come in clumps: a batch that is polled at once has no rate,
// and the figure still has an error.
func TestClumpsHaveAnError(t *testing.T) {
	var list []interval
	for i := range 40 {
		at := sim.Time(sim.Millisecond) * sim.Time(1+i/16)
		list = append(list, interval{0, at})
	}
	o := figure(Group{Workload: "w"}, list)
	require.Equal(t, Rate, o.Kind)
	require.False(t, math.IsNaN(o.Error) || math.IsInf(o.Error, 0), "%v", o.Error)
}

func TestParametersAreNamed(t *testing.T) {
	for _, bad := range []string{"speed", "rate,rate", "rate,,post"} {
		_, err := Choose(bad)
		require.Error(t, err, bad)
	}
}
