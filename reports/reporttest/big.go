package reporttest

import (
	"fmt"
	"math"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// Empty writes a run in which nothing was sent and nothing recorded.
func Empty(dir string) error {
	r := newRun()
	return r.write(dir, trace.Manifest{Name: "nothing", Seed: 1}, trace.ManifestEnd{Simulated: sim.Time(sim.Millisecond)}, map[string]any{}, nil)
}

// Size says how big a run Big writes.
type Size struct {
	Leaves, Hosts, Spines int // hosts per leaf
	Flows                 int
	Bins                  int
	Change                float64 // share of bins that differ from the one before
}

// Hundreds is 500 messages over 200 links.
var Hundreds = Size{Leaves: 10, Hosts: 16, Spines: 4, Flows: 500, Bins: 300, Change: 1}

// Thousand is 1024 hosts and 3072 links with a permutation's worth of series.
var Thousand = Size{Leaves: 64, Hosts: 16, Spines: 32, Flows: 100000, Bins: 500, Change: 0.5}

// Big writes a run of many flows over many links with random load.
func Big(dir string, z Size) error {
	r := newRun()
	r.leafSpine(z.Leaves, z.Hosts, z.Spines, 100e9)
	rng := sim.NewRand(7, "big")
	w := trace.Manifest{Name: fmt.Sprintf("websearch-%d", z.Leaves*z.Hosts), Seed: 7}
	end := sim.Time(bin) * sim.Time(z.Bins)
	r.bigFlows(z, rng, end)
	var objects []walk
	for _, l := range r.topo.Links {
		for _, port := range []string{fmt.Sprintf("%s:%d", r.topo.Nodes[l.A].Name, l.APort), fmt.Sprintf("%s:%d", r.topo.Nodes[l.B].Name, l.BPort)} {
			load := 0.1 + 0.5*rng.Float64()
			objects = append(objects, walk{port, trace.SeriesThroughput, load * 1e11, 1e11}, walk{port + "/q3", trace.SeriesQueueBytes, load * 8e4, 4e6})
			r.count(port, -1, trace.CountTxBytes, load*1e11/8*end.Seconds())
			r.count(port+"/q3", -1, trace.CountQueueMax, load*4e5)
			r.count(port, 3, trace.CountClosestToXoff, load*0.5)
			r.count(port, 3, trace.CountIngressMax, load*2e5)
			r.count(port, 3, trace.CountXoffMinimum, 9e5)
			r.count(port, 3, trace.CountHeadroomMax, 0)
			r.count(port, 3, trace.CountHeadroomSize, 96e3)
		}
	}
	for h := range min(z.Leaves*z.Hosts, 256) {
		objects = append(objects, walk{fmt.Sprintf("h%d/qp%d", h, 1), trace.SeriesGoodput, 2e10 * (0.5 + rng.Float64()), 1e11},
			walk{fmt.Sprintf("h%d/qp%d", h, 1), trace.SeriesRate, 5e10, 1e11})
	}
	for i := range z.Bins {
		t := sim.Time(bin) * sim.Time(i)
		for k := range objects {
			if w := &objects[k]; i == 0 || rng.Float64() < z.Change {
				w.v = min(w.top, max(0, w.v*(0.85+0.3*rng.Float64())))
				r.point(t, w.object, w.metric, math.Round(w.v), math.Round(w.v*0.8), min(w.top, math.Round(w.v*1.3)))
			}
		}
	}
	return r.write(dir, w, trace.ManifestEnd{Simulated: end}, resolved("100KB", "400KB"), nil)
}

// walk is a random series.
type walk struct {
	object, metric string
	v, top         float64
}

// bigFlows adds messages of heavy-tailed size.
func (r *run) bigFlows(z Size, rng *sim.Rand, end sim.Time) {
	n := z.Leaves * z.Hosts
	for i := range z.Flows {
		size := sim.Bytes(math.Exp(7 + 9*rng.Float64()*rng.Float64()))
		ideal := 8*sim.Microsecond + sim.Rate(100e9).TxTime(size)
		slow := 1 + 4*rng.Float64()*rng.Float64()*rng.Float64()
		start := sim.Time(rng.Float64() * float64(end) * 0.9)
		f := trace.Flow{ID: uint64(i), Src: fmt.Sprintf("h%d", rng.IntN(n)), Dst: fmt.Sprintf("h%d", rng.IntN(n)), QP: 1, Workload: "poisson", Verb: "WRITE",
			Bytes: size, Start: start, End: start.Add(sim.Duration(float64(ideal) * slow)), Ideal: ideal, Delivered: size, Status: trace.StatusSuccess}
		if f.End >= end {
			f.End, f.Status, f.Delivered = -1, trace.StatusUnfinished, size/2
		}
		r.flows = append(r.flows, f)
	}
}
