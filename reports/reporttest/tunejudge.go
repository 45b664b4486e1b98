package reporttest

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"

	"rdmasim/reports/tuning"
)

// cost is what a workload makes of a point: a weighted sum of logarithms.
func (s *search) cost(p *tuning.Point, w int) float64 {
	sum := 0.0
	for o, v := range p.Cells[w].Objectives {
		x := math.Log(*v.Mean + 1e-5)
		if s.res.Objectives[o].Goal == tuning.Maximize {
			x = -x
		}
		sum += x * s.res.Objectives[o].Weight
	}
	return sum
}

// judge ranks points and picks a winner, Pareto set, contrasts and ranges.
func (s *search) judge() {
	r := &s.res
	best := make([]float64, len(r.Workloads))
	for w := range best {
		best[w] = math.Inf(1)
		for i := range r.Points {
			best[w] = min(best[w], s.cost(&r.Points[i], w))
		}
	}
	var order []*tuning.Point
	for i := range r.Points {
		p := &r.Points[i]
		worst, score := 0.0, 0.0
		for w := range r.Workloads {
			regret := s.cost(p, w) - best[w]
			p.Cells[w].Regret = tuning.Number(regret)
			worst, score = max(worst, regret), score+regret/float64(len(r.Workloads))
		}
		p.Regret, p.Score = tuning.Number(worst), tuning.Number(score)
		if p.Feasible && (p.Rung >= 3 || s.o.Few) {
			order = append(order, p)
		}
	}
	slices.SortStableFunc(order, func(a, b *tuning.Point) int { return cmp.Compare(*a.Regret, *b.Regret) })
	winner := -1
	for i, p := range order {
		p.Rank = i + 1
		if p.Kind == tuning.KindSearch && winner < 0 {
			winner = p.ID
		}
		if p.Kind == tuning.KindBaseline && r.BestOf == nil {
			r.BestOf = &p.ID
		}
	}
	s.pareto()
	if s.o.NoWinner || s.o.Partial || s.o.Few || winner < 0 {
		if !s.o.Partial {
			r.NoWinner = "No point of the search beats sonic-td3-th beyond its 95 % interval: paused time differs by -2 % ± 9 %."
		}
	} else {
		r.Winner = &winner
	}
	if winner < 0 {
		return
	}
	s.contrasts(winner, r.Today, tuning.AgainstToday)
	if r.BestOf != nil {
		s.contrasts(winner, *r.BestOf, tuning.AgainstBaseline)
	}
	for w, load := range r.Workloads {
		v := s.raw[winner][w][0]
		mean := *tuning.ValueOf(v).Mean
		today := *tuning.ValueOf(s.raw[r.Today][w][0]).Mean
		r.Watch = append(r.Watch, tuning.Watch{Metric: "pfc.paused_s", Counter: "rx_prio3_pause_duration", Unit: tuning.Seconds, Workload: load.Name, Per: "s", Low: tuning.Number(mean * 60), High: tuning.Number(mean * 140), Today: tuning.Number(today * 100)},
			tuning.Watch{Metric: "cnp.sent", Counter: "np_cnp_sent", Unit: tuning.Count, Workload: load.Name, Per: "s", Low: tuning.Number(41e3 * float64(w+1)), High: tuning.Number(63e3 * float64(w+1)), Today: tuning.Number(12e3)})
	}
}

func (s *search) contrasts(point, against int, as string) {
	r := &s.res
	for w, load := range r.Workloads {
		for o, obj := range r.Objectives {
			r.Contrasts = append(r.Contrasts, tuning.NewContrast(point, against, as, load.Name, obj.Metric, s.raw[point][w][o], s.raw[against][w][o]))
		}
	}
	for o, obj := range r.Objectives {
		a, b := make([]float64, len(r.Seeds)), make([]float64, len(r.Seeds))
		for k := range r.Seeds {
			for w := range r.Workloads {
				a[k] += s.raw[point][w][o][k] / float64(len(r.Workloads))
				b[k] += s.raw[against][w][o][k] / float64(len(r.Workloads))
			}
		}
		r.Contrasts = append(r.Contrasts, tuning.NewContrast(point, against, as, "", obj.Metric, a, b))
	}
}

// pareto finds the points that none dominates in the first two objectives.
func (s *search) pareto() {
	r := &s.res
	at := func(p *tuning.Point) [2]float64 {
		a, _ := r.Mean(p, 0)
		b, _ := r.Mean(p, 1)
		return [2]float64{a, b}
	}
	for i := range r.Points {
		p := at(&r.Points[i])
		dominated := !r.Points[i].Feasible
		for k := range r.Points {
			q := at(&r.Points[k])
			dominated = dominated || r.Points[k].Feasible && q[0] <= p[0] && q[1] <= p[1] && q != p
		}
		if !dominated {
			r.Pareto = append(r.Pareto, r.Points[i].ID)
		}
	}
	slices.SortFunc(r.Pareto, func(a, b int) int { return cmp.Compare(at(&r.Points[a])[0], at(&r.Points[b])[0]) })
	if n := len(r.Pareto); n > 0 {
		knee := r.Pareto[n/3]
		r.Knee = &knee
	}
}

func (s *search) exports(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"sonic.json":          "{\n  \"WRED_PROFILE\": {\n    \"AZURE_LOSSLESS\": {\n      \"green_min_threshold\": \"61440\",\n      \"green_max_threshold\": \"307200\"\n    }\n  }\n}\n",
		"sonic-rollback.json": "{\n  \"WRED_PROFILE\": {\n    \"AZURE_LOSSLESS\": {\n      \"green_min_threshold\": \"1048576\",\n      \"green_max_threshold\": \"2097152\"\n    }\n  }\n}\n",
		"nxos.txt":            "policy-map type queuing RDMA\n  class type queuing c-out-8q-q3\n    random-detect minimum-threshold 60 kbytes maximum-threshold 300 kbytes drop-probability 22 weight 0 ecn\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// firstLook is an estimate.json.
func firstLook() *tuning.Estimates {
	e := &tuning.Estimates{Schema: tuning.EstimateSchema, Scenario: "leaf-spine-100g", Where: "leaf0:0 to h0, 100Gbps", Flows: 32, Share: 3.125e9}
	add := func(key, name, unit string, v float64, text, formula, metric, bound string) {
		e.Items = append(e.Items, tuning.Estimate{Key: key, Name: name, Value: tuning.Number(v), Unit: unit, Text: text, Valid: true, Formula: formula,
			Inputs: []tuning.Input{{Name: "N", Value: 32, Unit: tuning.Count, From: "traffic"}, {Name: "C", Value: 100e9, Unit: tuning.BitsPerS, From: "topology"}}, Source: "a paper, section 5", Limit: "long flows", Metric: metric, Bound: bound})
	}
	add(tuning.KeyQueue, "queue at the fixed point", tuning.Bytes, 180e3, "", "p*(q) = p", "queue_bytes.mean", "")
	add(tuning.KeyFirstBurst, "first burst", tuning.Bytes, 3.2e6, "32 hosts send at line rate for 8 us before the first notification acts.", "(N - 1) C t / 8", "queue_bytes.max", tuning.AtLeast)
	add(tuning.KeyCanPrevent, "largest burst without a pause", tuning.Bytes, 1.4e6, "", "B α / (1 + α)", "", "")
	e.Items = append(e.Items, tuning.Estimate{Key: tuning.KeyMargin, Name: "phase margin", Unit: tuning.UnitDegrees, Why: "the fixed point lies above Kmax, where every packet is marked", Formula: "arg L + 180", Source: "ECN or Delay, section 3", Limit: "small swings around the fixed point"})
	for n := 1; n <= 128; n *= 2 {
		e.Margins = append(e.Margins, tuning.Margin{Setting: "today", Flows: n, Degrees: tuning.Number(70 - 12*math.Log2(float64(n)))}, tuning.Margin{Setting: "recommended", Flows: n, Degrees: tuning.Number(78 - 8*math.Log2(float64(n)) + float64(n)/12)})
	}
	return e
}

// counters is a credibility.json.
func counters(credible bool) *tuning.Credibility {
	c := &tuning.Credibility{Schema: tuning.CredibilitySchema, Files: []string{"pfcstat.txt", "wredstat.txt"}, Run: "runs/today", Interval: 60, Credible: credible, Rows: []tuning.Counters{
		{Name: "PFC frames received, priority 3", Counter: "PFC3 of show pfc counters", Unit: "frames/s per port", Ports: 32, Real: tuning.Number(812), Simulated: tuning.Number(1010), SimPorts: 32, Factor: tuning.Number(1.24), Verdict: tuning.Agrees},
		{Name: "packets marked", Counter: "EcnMarked of show queue wredcounters", Unit: "packets/s per port", Ports: 32, Real: tuning.Number(51e3), Simulated: tuning.Number(44e3), SimPorts: 32, Factor: tuning.Number(0.86), Verdict: tuning.Agrees},
		{Name: "watermark of queue 3", Counter: "UC3 of show queue watermark", Unit: "bytes", Ports: 32, Real: tuning.Number(1.2e6), SimPorts: 0, Verdict: tuning.NotCompared, Why: "the run has no such counter"}}}
	if !credible {
		c.Rows[0].Simulated, c.Rows[0].Factor, c.Rows[0].Verdict = tuning.Number(9200), tuning.Number(11.3), tuning.Differs
		c.Missing = []string{"The simulated today pauses 11 times as often as the network: its bursts are larger or its buffer smaller than the real ones."}
	}
	return c
}
