package reporttest

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"rdmasim/reports/tuning"
	"rdmasim/sim"
)

// TuneOptions vary the search.
type TuneOptions struct {
	Name       string
	NoWinner   bool // nothing beats the best baseline
	Partial    bool
	Few        bool // today and three points of one workload, two parameters, one seed
	Incredible bool // today's counters refute the model
	NoRuns     bool // without run directories
	Bare       bool // without run directories, exports, first look and counters
}

// search is the state of a made-up search.
type search struct {
	o   TuneOptions
	rng *sim.Rand
	res tuning.Result
	// raw holds objectives by point, workload, objective and seed.
	raw [][][][]float64
}

// Tune writes the directory of a search over six parameters and three
// workloads: not results of runs, but numbers that fall and rise as one would
// expect of them.
func Tune(dir string, o TuneOptions) error {
	if o.Name == "" {
		o.Name = "ecn-leaf-spine-100g"
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	s := &search{o: o, rng: sim.NewRand(7, "tune")}
	s.plan()
	s.points()
	s.judge()
	if err := s.res.Write(dir); err != nil {
		return err
	}
	if o.Bare {
		return nil
	}
	for name, kmin := range map[string]sim.Bytes{tuning.RunBest: 60 * sim.KB, tuning.RunToday: 1000 * sim.KB, tuning.RunWorst: 1900 * sim.KB} {
		if o.NoRuns {
			break
		}
		if err := Incast(filepath.Join(dir, tuning.DirRuns, name), Options{Name: name, Kmin: kmin, Kmax: 4 * kmin}); err != nil {
			return err
		}
	}
	if err := s.exports(filepath.Join(dir, tuning.DirExport)); err != nil {
		return err
	}
	if err := firstLook().Write(dir); err != nil {
		return err
	}
	return counters(!o.Incredible).Write(dir)
}

func (s *search) plan() {
	par := func(path, role, unit string, low, high float64, scale string, step float64, device string) tuning.Parameter {
		return tuning.Parameter{Path: path, Role: role, Unit: unit, Low: low, High: high, Scale: scale, Step: step, Device: device}
	}
	r := &s.res
	*r = tuning.Result{Schema: tuning.Schema, Name: s.o.Name, Scenario: "leaf-spine-100g", Description: "ECN and shared buffer of 100G leaves under storage traffic.",
		Plan: tuning.Plan{Criterion: tuning.MinimaxRegret, Search: "Successive halving over 96 Latin hypercube points, then CMA-ES in log space.",
			Stages: []tuning.Stage{{Name: "baselines", Points: 7, Workloads: 3, Seeds: 10, Runs: 210}, {Name: "rung 1 of 96 points", Points: 96, Workloads: 3, Seeds: 1, Runs: 288},
				{Name: "rung 2", Points: 32, Workloads: 3, Seeds: 3, Runs: 192}, {Name: "CMA-ES", Points: 40, Workloads: 3, Seeds: 3, Runs: 360}, {Name: "last rung", Points: 8, Workloads: 3, Seeds: 10, Runs: 168}}},
		Parameters: []tuning.Parameter{
			par("switch.ecn.3.kmin", tuning.RoleKmin, tuning.Bytes, 10e3, 4e6, tuning.Log, 1024, "KiB of SONiC's WRED_PROFILE"),
			par("switch.ecn.3.kmax", tuning.RoleKmax, tuning.Bytes, 50e3, 16e6, tuning.Log, 1024, "KiB of SONiC's WRED_PROFILE"),
			par("switch.ecn.3.pmax", tuning.RolePmax, tuning.Ratio, 0.01, 1, tuning.Log, 0.01, "whole per cent of SONiC's WRED_PROFILE"),
			{Path: "switch.buffer.alpha", Role: tuning.RoleAlpha, Unit: tuning.Ratio, Low: 1.0 / 128, High: 8, Scale: tuning.Log, Choices: []float64{1.0 / 128, 1.0 / 64, 1.0 / 32, 1.0 / 16, 0.125, 0.25, 0.5, 1, 2, 4, 8}, Device: "powers of two of dynamic_th"},
			par("switch.pfc.xon_offset", tuning.RoleXonOffset, tuning.Bytes, 0, 60e3, tuning.Linear, 256, "cells of 256 B"),
			par("nic.congestion.dcqcn.rate_ai", "", tuning.BitsPerS, 5e6, 400e6, tuning.Log, 1e6, "Mbit/s of rpg_ai_rate")},
		Objectives: []tuning.Objective{{Metric: "pfc.paused_s", Label: "paused time", Unit: tuning.Seconds, Goal: tuning.Minimize, Weight: 1},
			{Metric: "flows.slowdown.p99", Label: "p99 slowdown", Unit: tuning.Ratio, Goal: tuning.Minimize, Weight: 1},
			{Metric: "goodput_bps.total", Label: "goodput", Unit: tuning.BitsPerS, Goal: tuning.Maximize, Weight: 0.5}},
		Constraints: []tuning.Constraint{{Metric: "packets.dropped.lossless", Unit: tuning.Count, Op: "==", Bound: 0}, {Metric: "goodput_bps.total", Unit: tuning.BitsPerS, Op: ">=", Bound: 70e9}},
		Workloads:   []tuning.Workload{{Name: "incast-32", What: "32:1 incast", Weight: 1}, {Name: "websearch-50", What: "WebSearch at 50 %", Weight: 1}, {Name: "mixed", What: "both", Weight: 2}},
		Seeds:       []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
		Budget:      tuning.Budget{Runs: 1500, RunsDone: 1218, Simulated: 12.18},
		Repro:       tuning.Repro{Command: "rdmasim tune plan.yaml --out tune", Versions: map[string]string{"rdmasim": "0.1.0", "go": "go1.26"}, ScenarioHash: "5c1e0f", PlanHash: "9d00aa", Seed: 1}}
	if s.o.Few {
		r.Parameters, r.Workloads, r.Seeds = r.Parameters[:2], r.Workloads[:1], r.Seeds[:1]
	}
	if s.o.Partial {
		r.Partial, r.Reason = true, "interrupted after 700 of 1500 runs"
		r.Budget.RunsDone = 700
	}
}

// points appends today, baselines and the search with their replicates.
func (s *search) points() {
	s.add(tuning.KindToday, "", 4, 1048576, 2097152, 0.05, 0.125, 0, 50e6)
	for _, b := range []struct {
		name, source     string
		kmin, kmax, pmax float64
	}{{"sonic-default", "SONiC qos_config.j2", 1048576, 2097152, 0.05}, {"sonic-td3-th", "SONiC, Trident3 and Tomahawk platforms", 250e3, 2097152, 0.05},
		{"cisco-100g", "Cisco AI/ML blueprint, NDFC", 150e3, 3e6, 0.07}, {"cumulus", "NVIDIA Cumulus Linux and Onyx, default of RoCE", 150e3, 1.5e6, 1},
		{"hpcc-dcqcn", "HPCC ns-3 model", 400e3, 1.6e6, 0.2}, {"dcqcn-paper", "deployment of the DCQCN paper", 5e3, 200e3, 0.01}} {
		id := s.add(tuning.KindBaseline, b.name, 4, b.kmin, b.kmax, b.pmax, 0.125, 0, 50e6)
		base := tuning.Baseline{Name: b.name, Source: b.source, Point: &id}
		if b.name == "dcqcn-paper" {
			base.Note = "below the range of the search"
		}
		s.res.Baselines = append(s.res.Baselines, base)
	}
	s.res.Baselines = append(s.res.Baselines, tuning.Baseline{Name: "juniper-jvd", Source: "Juniper validated design", Lacks: "fill levels of a queue, not bytes"})
	n := 96
	if s.o.Few {
		n = 3
	}
	var u [6][]int
	for k := range u {
		u[k] = s.rng.Perm(n)
	}
	for i := range n {
		var v [6]float64
		for k := range s.res.Parameters {
			p := &s.res.Parameters[k]
			v[k] = device(p, p.From01((float64(u[k][i])+s.rng.Float64())/float64(n)))
		}
		if v[0] > v[1] {
			v[0], v[1] = v[1], v[0]
		}
		s.add(tuning.KindSearch, "", i%3/2, v[0], v[1], v[2], v[3], v[4], v[5])
	}
	if s.o.Few {
		return
	}
	for i := range 40 {
		z := func(width float64) float64 { return math.Exp((s.rng.Float64() - 0.5) * width * (1.6 - float64(i)/30)) }
		s.add(tuning.KindSearch, "", 2+i/32, 61440*z(2), 307200*z(2), min(1, 0.22*z(1.5)), []float64{0.25, 0.5, 1, 0.5}[i%4], 256*float64(s.rng.IntN(120)), 40e6*z(2))
	}
}

// device rounds to what a device takes.
func device(p *tuning.Parameter, v float64) float64 {
	if len(p.Choices) > 0 {
		return slices.MinFunc(p.Choices, func(a, b float64) int {
			return cmp.Compare(math.Abs(math.Log(a/v)), math.Abs(math.Log(b/v)))
		})
	}
	return max(p.Low, math.Round(v/p.Step)*p.Step)
}

// respond is a caricature of what the settings do.
func (s *search) respond(v []float64, w int) (paused, slowdown, goodput float64) {
	full := []float64{1048576, 2097152, 0.05, 0.125, 0, 50e6}
	copy(full, v)
	k := math.Log(full[0]/6e4) + 0.4*math.Log(full[1]/3e5) // above 0: late marking
	hard := math.Log(full[2] / 0.2)
	load := []float64{1, 0.35, 0.8}[w%3]
	paused = load * 4e-3 * math.Exp(0.75*k-0.35*hard-0.4*math.Log(full[3]/0.125)) * (1 + full[4]/4e5)
	paused = max(0, min(paused, 0.05)-2e-4)
	early := max(0, -k+0.25*hard)
	slowdown = 4 + 3*load + 2.2*math.Log1p(paused*2e3) + 1.6*early*early + 0.3*math.Abs(math.Log(full[5]/4e7))
	goodput = 92e9 - 4e9*early*early - 30e9*paused - 0.6e9*math.Log1p(full[5]/1e8)
	return paused, slowdown, max(20e9, goodput)
}

func (s *search) add(kind, name string, rung int, values ...float64) int {
	r := &s.res
	values = values[:len(r.Parameters)]
	if kind == tuning.KindSearch {
		for k := range values {
			values[k] = max(r.Parameters[k].Low, min(device(&r.Parameters[k], values[k]), r.Parameters[k].High))
		}
	}
	p := tuning.Point{ID: len(r.Points), Kind: kind, Name: name, Values: values, Rung: rung, Feasible: true}
	seeds := min([]int{1, 3, 3, 10, 10}[rung], len(r.Seeds))
	raw := make([][][]float64, len(r.Workloads))
	for w := range r.Workloads {
		paused, slow, good := s.respond(values, w)
		cell := tuning.Cell{Seeds: seeds}
		list := [][]float64{nil, nil, nil}
		for k := range seeds {
			common := sim.NewRand(uint64(k), r.Workloads[w].Name).Float64() - 0.5 // the same traffic at every point
			own := func() float64 { return 1 + 0.06*(s.rng.Float64()-0.5) + 0.2*common }
			list[0], list[1], list[2] = append(list[0], paused*own()), append(list[1], slow*own()), append(list[2], good*(1+0.01*common))
		}
		for _, l := range list {
			cell.Objectives = append(cell.Objectives, tuning.ValueOf(l))
		}
		drops := make([]float64, seeds)
		if values[0] > 2e6 && w != 1 {
			drops[0], p.Feasible = 3, false
			p.Violations = append(p.Violations, fmt.Sprintf("packets.dropped.lossless == 0: 3 under %s", r.Workloads[w].Name))
		}
		cell.Constraints = []tuning.Value{tuning.ValueOf(drops), cell.Objectives[2]}
		if *cell.Objectives[2].Mean < 70e9 {
			p.Feasible = false
			p.Violations = append(p.Violations, "goodput_bps.total >= 70 Gbit/s under "+r.Workloads[w].Name)
		}
		p.Cells, raw[w] = append(p.Cells, cell), list
	}
	r.Points, s.raw = append(r.Points, p), append(s.raw, raw)
	return p.ID
}
