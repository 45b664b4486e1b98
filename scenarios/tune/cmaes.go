package tune

import (
	"math"

	"gonum.org/v1/gonum/optimize"

	"rdmasim/sim"
)

// evolution hands out the generations of CMA-ES one by one and takes their
// values back, so that a whole generation can be run at once.
type evolution struct {
	method  *optimize.CmaEsChol
	tasks   chan optimize.Task
	results chan optimize.Task
	pending []optimize.Task
	ended   bool

	start     []float64
	deviation float64
}

// newEvolution begins at a place of the unit cube with a standard deviation in
// every direction. population is the size of a generation.
func newEvolution(start []float64, deviation float64, population int, seed uint64) *evolution {
	// The method draws from its covariance alone, which is that of a step size of
	// one: its own coordinates are in deviations from the start.
	m := &optimize.CmaEsChol{InitStepSize: 1, Population: population, Src: source{sim.NewRand(seed, "tune/cmaes")}}
	e := &evolution{method: m, start: start, deviation: deviation, tasks: make(chan optimize.Task, population+1), results: make(chan optimize.Task, population+1)}
	tasks := make([]optimize.Task, m.Init(len(start), population))
	for i := range tasks {
		tasks[i].Location = &optimize.Location{X: make([]float64, len(start))}
	}
	go m.Run(e.tasks, e.results, tasks)
	return e
}

// source is a random stream as gonum takes it.
type source struct{ r *sim.Rand }

func (s source) Uint64() uint64 { return s.r.Uint64() }

// ask returns the places of the next generation; none when the method has
// converged. Places outside of the cube are mirrored into it.
func (e *evolution) ask() [][]float64 {
	if e.ended {
		return nil
	}
	e.pending = e.pending[:0]
	for len(e.pending) < e.method.Population {
		t := <-e.tasks
		switch t.Op {
		case optimize.FuncEvaluation:
			e.pending = append(e.pending, t)
		case optimize.MajorIteration:
			e.results <- t // go on
		default: // converged, or the covariance has no root any more
			e.stop()
			return nil
		}
	}
	out := make([][]float64, len(e.pending))
	for _, t := range e.pending {
		u := make([]float64, len(t.X))
		for k, v := range t.X {
			u[k] = mirror(e.start[k] + e.deviation*v)
		}
		out[t.ID] = u
	}
	return out
}

// tell gives the values of the generation, in the order of ask.
func (e *evolution) tell(values []float64) {
	for _, t := range e.pending {
		t.F = values[t.ID]
		e.results <- t
	}
}

// stop ends the method.
func (e *evolution) stop() {
	if e.ended {
		return
	}
	e.ended = true
	e.results <- optimize.Task{Op: optimize.PostIteration}
	close(e.results)
	go func() {
		for range e.tasks { // until it closes them
		}
	}()
}

// mirror folds the line onto 0..1.
func mirror(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0.5
	}
	v = math.Mod(math.Abs(v), 2)
	if v > 1 {
		v = 2 - v
	}
	return v
}
