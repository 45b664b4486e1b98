package workload_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/scenarios/workload"
	"rdmasim/sim"
)

// The payload offered is the load times the line rate, whatever the sizes, the
// gaps are exponential, and destinations are uniform among the others.
func TestPoissonOffersItsLoad(t *testing.T) {
	for _, cdf := range []string{"fbhdp", "alistorage2019", "fixed", "exponential"} {
		t.Run(cdf, func(t *testing.T) {
			p := defaults[workload.PoissonParams](t, "poisson")
			p.CDF, p.Load, p.Stop = cdf, 0.4, 200*sim.Millisecond
			if cdf == "fixed" || cdf == "exponential" {
				p.Size = 50 * sim.KB
			}
			f := scene{hosts: 4, seed: 2}.play(t, "poisson", p)
			f.allDone()
			bytes, to := 0.0, map[[2]int]float64{}
			starts := map[int][]sim.Time{}
			for _, m := range f.messages {
				bytes += float64(m.size)
				to[[2]int{m.from, m.to}]++
				if m.from == 0 {
					starts[0] = append(starts[0], m.start)
				}
			}
			require.InEpsilon(t, 0.4*4*100e9*0.2/8, bytes, 0.05)
			require.Len(t, to, 12)
			n := float64(len(f.messages)) / 12
			for pair, k := range to {
				require.InDelta(t, n, k, 5*math.Sqrt(n), pair)
			}
			// Messages complete in the order in which they were posted, so starts
			// ascend; exponential gaps exceed their mean with probability 1/e.
			above, gaps := 0.0, float64(len(starts[0])-1)
			mean := float64(starts[0][len(starts[0])-1]-starts[0][0]) / gaps
			for i, s := range starts[0][1:] {
				if float64(s-starts[0][i]) > mean {
					above++
				}
			}
			require.InDelta(t, math.Exp(-1), above/gaps, 5*math.Sqrt(0.25/gaps))
			require.Zero(t, f.open, "queue pairs of one message are closed")
		})
	}
}

// Adding hosts does not change what the others draw, and sizes do not depend on load.
func TestPoissonStreamsAreIndependent(t *testing.T) {
	sizes := func(load sim.Ratio) (out []sim.Bytes) {
		p := defaults[workload.PoissonParams](t, "poisson")
		p.CDF, p.Load, p.Messages, p.Senders = "fbhdp", load, 50, workload.HostSet{"h2"}
		for _, m := range (scene{hosts: 4, seed: 2}).play(t, "poisson", p).messages {
			out = append(out, m.size)
		}
		return
	}
	require.Len(t, sizes(0.1), 50)
	require.Equal(t, sizes(0.1), sizes(0.2))
}

func TestPoissonPerPeer(t *testing.T) {
	for _, verb := range []string{"write", "send"} {
		p := defaults[workload.PoissonParams](t, "poisson")
		p.CDFFile, p.Connection, p.QPsPerPeer, p.Messages, p.Verb = "sizes.txt", "per_peer", 2, 100, verb
		p.Receivers = workload.HostSet{"h0", "h1"}
		f := scene{hosts: 3, files: map[string]string{"sizes.txt": "1000 100"}}.play(t, "poisson", p)
		f.allDone()
		require.Equal(t, 8, f.open, "two queue pairs to every peer: h0>h1, h1>h0, h2>h0, h2>h1")
		require.Len(t, f.messages, 300)
		used := map[[3]int]int{}
		for _, m := range f.messages {
			require.Equal(t, sim.Bytes(1000), m.size)
			used[[3]int{m.from, m.to, m.conn.Index}]++
		}
		require.Len(t, used, 8)
		require.InDelta(t, used[[3]int{0, 1, 0}], used[[3]int{0, 1, 1}], 1, "queue pairs take turns")
	}
}

func TestPoissonSendsFreshConnections(t *testing.T) {
	p := defaults[workload.PoissonParams](t, "poisson")
	p.CDF, p.Messages, p.Verb, p.Priority = "fbhdp", 20, "send", workload.PriorityOf(5)
	f := scene{hosts: 3}.play(t, "poisson", p)
	f.allDone()
	for _, m := range f.messages {
		require.Equal(t, 5, m.conn.Priority)
	}
	require.Len(t, f.messages, 60)
}

func TestPoissonErrors(t *testing.T) {
	for want, change := range map[string]func(p *workload.PoissonParams){
		`poisson: load: 0: want a share of the link above 0 and up to 1, such as 30%`:                   func(p *workload.PoissonParams) { p.Load = 0 },
		`poisson: load: 30: want a share of the link above 0 and up to 1, such as 30%`:                  func(p *workload.PoissonParams) { p.Load = 30 },
		`poisson: load: NaN: want a share of the link above 0 and up to 1, such as 30%`:                 func(p *workload.PoissonParams) { p.Load = sim.Ratio(math.NaN()) },
		`poisson: load: 1e-18 is less than a message a day (host h0, 100Gbps)`:                          func(p *workload.PoissonParams) { p.Load = 1e-18 },
		`poisson: cdf_file: open no.txt: no such file`:                                                  func(p *workload.PoissonParams) { p.CDFFile = "no.txt" },
		`poisson: cdf_file: short.txt: the distribution ends at 99 %: the last point must be at 100`:    func(p *workload.PoissonParams) { p.CDFFile = "short.txt" },
		`poisson: size: 0B: want 1B..2GiB (cdf: fixed takes its size from size)`:                        func(p *workload.PoissonParams) { p.CDF = "fixed" },
		`poisson: size: 1KB: only cdf: fixed and exponential take a size`:                               func(p *workload.PoissonParams) { p.Size = sim.KB },
		`poisson: connection: "each": want per_message or per_peer`:                                     func(p *workload.PoissonParams) { p.Connection = "each" },
		`poisson: qps_per_peer: 2: only connection: per_peer has queue pairs that last`:                 func(p *workload.PoissonParams) { p.QPsPerPeer = 2 },
		`poisson: receivers: h0 would have nobody to send to but itself`:                                func(p *workload.PoissonParams) { p.Receivers = workload.HostSet{"h0"} },
		`poisson: messages arrive for ever: give the run a duration or the workload a stop or messages`: func(p *workload.PoissonParams) { p.Messages = 0 },
	} {
		p := defaults[workload.PoissonParams](t, "poisson")
		p.Messages = 10
		change(&p)
		_, err := scene{hosts: 3, files: map[string]string{"short.txt": "0 0\n10 99"}}.plan("poisson", p)
		require.EqualError(t, err, want)
	}
}
