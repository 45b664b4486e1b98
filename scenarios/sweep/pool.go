package sweep

import (
	"context"
	"runtime"
	"sync"
)

// Job is one run to be made.
type Job struct {
	Source *Source
	Sets   []Set
	Seed   uint64
}

const idleBytes = 64 << 20

// EvaluateAll makes runs, workers at a time (0 = one per core), each with one
// thread of its own: independent runs are the best use of cores. done is called
// for each as it ends, in any order, never twice at a time; an error of it ends
// everything, as does the context. The order of jobs is that in which they
// begin.
func EvaluateAll(ctx context.Context, jobs []Job, workers int, o Options, done func(i int, r Result) error) error {
	if workers <= 0 {
		workers = runtime.NumCPU()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if o.Scratch == "" {
		own, remove, err := ownScratch(scratchParent())
		if err != nil {
			return err
		}
		defer remove()
		o.Scratch = own
	}
	// The collector begins when as much was allocated as there is. Runs that
	// leave little behind would make it begin over and over: this memory, which
	// nobody touches and which therefore takes none, lets it wait.
	idle := make([]byte, idleBytes)
	defer runtime.KeepAlive(idle)
	next := make(chan int)
	var group sync.WaitGroup
	var one sync.Mutex
	for range min(workers, len(jobs)) {
		group.Go(func() {
			for i := range next {
				r, err := Evaluate(ctx, jobs[i].Source, jobs[i].Sets, jobs[i].Seed, o)
				if err == nil {
					one.Lock()
					if ctx.Err() == nil {
						err = done(i, r)
					}
					one.Unlock()
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for i := range jobs {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	group.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
