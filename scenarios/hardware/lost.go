package hardware

import (
	"fmt"
	"strings"

	"rdmasim/sim/trace"
)

// lose keeps why an agent takes no more part in the run: it was killed, or the
// connection to it was. Calls that wait for it are answered in its place.
func (c *coordinator) lose(i int, why error) {
	a := c.agents[i]
	if a.lost != nil {
		return
	}
	a.lost, a.lostAt = why, c.now()-c.zero
	if c.log != nil {
		fmt.Fprintf(c.log, "rdmasim: lost %s: %v; the run ends here\n", a.machine, why)
	}
	for seq, k := range c.calls {
		if k.to != i {
			continue
		}
		delete(c.calls, seq)
		if from := c.agents[k.from]; from.lost == nil {
			_ = from.link.send(message{Kind: kindReply, Seq: k.seq, Lost: true})
		}
	}
}

// anyLost reports whether an agent takes no more part in the run.
func (c *coordinator) anyLost() bool {
	for _, a := range c.agents {
		if a.lost != nil {
			return true
		}
	}
	return false
}

// tell sends a message to an agent. That one is gone is an error before the run;
// during the run it goes on without it.
func (c *coordinator) tell(i int, m message) error {
	a := c.agents[i]
	if a.lost != nil {
		return nil
	}
	if a.link.send(m) == nil {
		return nil
	}
	return c.gone(i, a.why())
}

// silent finds an agent of which nothing has been heard for the time of a lease.
func (c *coordinator) silent() (int, error) {
	for i, a := range c.agents {
		if a.greeted && a.result == nil && a.lost == nil && a.link.silence() > c.lease {
			return i, lapsed("agent", c.lease)
		}
	}
	return -1, nil
}

// losses says in the run directory what is missing, and returns the reason why the
// run is partial; "" where no agent was lost.
func (c *coordinator) losses(file *trace.DevicesFile) string {
	var list []string
	for _, a := range c.agents {
		if a.lost == nil {
			continue
		}
		what := "the rest of the run on " + a.machine
		if a.result == nil {
			what = "all that " + a.machine + " has sent, received and counted"
		}
		file.Missing = append(file.Missing, trace.Missing{What: what, Reason: "lost: " + a.lost.Error()})
		list = append(list, fmt.Sprintf("lost %s after %v: %v", a.machine, a.lostAt.Round(1e6), a.lost))
	}
	return strings.Join(list, "; ")
}
