package sweep

import "rdmasim/sim/stat"

// Confidence of the intervals that are printed.
const Confidence = 0.95

// PointSummary is a point over its seeds.
type PointSummary struct {
	Point   *Point
	OK      int             // runs that ended well
	Other   map[Status]int  // others, by how they ended
	Problem string          // of the first of them
	Metrics []stat.Interval // in the order of the metrics asked for: the mean over seeds with its Student-t interval; N = 0 where no run has measured it
}

// ByPoint summarises metrics over the seeds of each point, in order; names that
// were not kept have no values.
func (m *Merged) ByPoint(metrics []string, confidence float64) []PointSummary {
	at := make([]int, len(metrics))
	for k, name := range metrics {
		at[k] = -1
		for i, kept := range m.Metrics {
			if kept == name {
				at[k] = i
			}
		}
	}
	list := make([]PointSummary, len(m.Points))
	samples := make([][][]float64, len(m.Points))
	for i := range list {
		list[i] = PointSummary{Point: &m.Points[i], Other: map[Status]int{}, Metrics: make([]stat.Interval, len(metrics))}
		samples[i] = make([][]float64, len(metrics))
	}
	for u, r := range m.Records {
		if r == nil {
			continue
		}
		p := m.Units[u].Point
		if r.Status != OK {
			if list[p].Other[r.Status]++; list[p].Problem == "" {
				list[p].Problem = r.Error
			}
			continue
		}
		list[p].OK++
		for k, i := range at {
			if i >= 0 && r.Values[i] != nil {
				samples[p][k] = append(samples[p][k], *r.Values[i])
			}
		}
	}
	for i := range list {
		for k, s := range samples[i] {
			if len(s) > 0 {
				list[i].Metrics[k] = stat.MeanInterval(s, confidence)
			}
		}
	}
	return list
}
