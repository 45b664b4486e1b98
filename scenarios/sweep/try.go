package sweep

import (
	"errors"
	"fmt"
	"strings"

	"rdmasim/reports/metric"
	"rdmasim/scenarios"
)

// mostTried is how many points are looked at before anything is run.
const mostTried = 64

// Try reads the scenario at some of the points of the plan. A parameter that the
// scenario does not know is an error at its place in the plan; so is a plan whose
// points are all invalid. Some invalid points are not: they become rows.
func (p *Plan) Try(src *Source) error {
	points := p.Points()
	var first error
	for k := range min(len(points), mostTried) {
		pt := points[k*len(points)/min(len(points), mostTried)]
		_, err := src.Spec(pt.Sets)
		if err == nil && first == nil {
			return nil // any point that can be read knows all parameters
		}
		if first == nil {
			first = p.locate(err, pt)
		}
		if err == nil {
			return nil
		}
	}
	if len(points) > 1 {
		return fmt.Errorf("%w; no other point that was tried is valid either", first)
	}
	return first
}

// locate returns an error of the scenario at a point with its place in the
// plan, if it is about a value that the plan sets.
func (p *Plan) locate(err error, pt Point) error {
	var at *scenarios.Error
	if errors.As(err, &at) && strings.HasPrefix(at.Pos.File, "--set ") {
		for i := range p.Parameters {
			for _, path := range p.Parameters[i].Paths {
				if !strings.HasPrefix(at.Pos.File, "--set "+path+"=") {
					continue
				}
				problem := at.Problem
				if at.Value != "" {
					problem = at.Value + ": " + problem
				}
				if at.Path != path {
					problem = at.Path + ": " + problem
				}
				return p.Parameters[i].fail("%s", problem)
			}
		}
	}
	return fmt.Errorf("%s: %w", p.File, err)
}

// plainError names the scenario as the plan does, wherever the file is: the same
// error reads the same on every machine.
func (s *Source) plainError(text string) string {
	if s.shown == "" || s.shown == s.Name {
		return text
	}
	return strings.ReplaceAll(text, s.shown, s.Name)
}

// names are the metrics that are kept of each unit, in order.
func (p *Plan) names() []string {
	if len(p.Metrics) > 0 {
		return p.Metrics
	}
	var list []string
	for _, m := range metric.Paths() {
		list = append(list, m.Name)
	}
	return list
}
