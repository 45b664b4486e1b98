package fabric

import "rdmasim/sim"

// Threshold says how many shared bytes of a pool a priority group or a queue
// may use. It is a rule of the buffer manager, and is asked with every frame
// that does not go straight through.
type Threshold interface {
	// Limit returns the shared bytes that may be in use while so many of the
	// pool of that size are free.
	Limit(free, size int64) int64
}

// Thresholds is the catalogue of such rules.
var Thresholds = sim.NewCatalogue[Threshold]("threshold")
