package hardware

import (
	"fmt"
	"time"
)

// Offset is by how much the clock of an agent is ahead of the coordinator's, and
// how far that may be off: half of the shortest round trip, whichever way the
// delays are shared. Source: RFC 5905, section 8.
type Offset struct {
	Ahead time.Duration
	Error time.Duration
}

func (o Offset) String() string {
	return fmt.Sprintf("%v, give or take %v", o.Ahead, o.Error)
}

// exchange is one question for the time: when it was asked, what the other clock
// said, and when the answer was here.
type exchange struct{ asked, other, answered time.Duration }

// estimate takes the exchange with the shortest round trip: queues delay the others.
func estimate(list []exchange) (Offset, error) {
	best := Offset{Error: -1}
	for _, e := range list {
		trip := e.answered - e.asked
		if trip < 0 {
			return best, fmt.Errorf("an answer %v before its question: the clock went back", -trip)
		}
		if best.Error < 0 || (trip+1)/2 < best.Error {
			best = Offset{Ahead: e.other - e.asked - trip/2, Error: (trip + 1) / 2}
		}
	}
	if best.Error < 0 {
		return best, fmt.Errorf("no answer")
	}
	return best, nil
}
