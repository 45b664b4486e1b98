package hpcc

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"rdmasim/sim"
)

// judge says of every key that was given, and of absent ones whose built-in
// default surprises, what becomes of it.
func (c *Config) judge(notes []Note) []Note {
	for i := range notes {
		n := &notes[i]
		if n.Status == Dead { // given again
			continue
		}
		if k := keys[n.Key]; k.judge != nil {
			n.Status, n.Reason = k.judge(c)
		}
		if k := n.Key; n.Status == Honoured && (k == "ALPHA_RESUME_INTERVAL" || k == "RATE_DECREASE_INTERVAL" || k == "RP_TIMER") {
			if v, err := strconv.ParseFloat(n.Value, 64); err == nil && v != math.Trunc(v) {
				n.Reason = fmt.Sprintf("cut off to %g us, as there", math.Trunc(v))
			}
		}
	}
	if _, ok := c.seen["EWMA_GAIN"]; !ok && (c.CCMode == DCQCN || c.CCMode == DCTCP) {
		notes = append(notes, Note{File: c.file, Key: "EWMA_GAIN", Value: "0", Reason: "absent: the built-in default there is 1/16 in integers, which is 0"})
	}
	for i, m := range c.maps {
		for _, v := range m {
			if !c.complete(v.rate) {
				notes = append(notes, Note{File: c.file, Line: c.seen[mapKeys[i]].line, Key: mapKeys[i], Value: fmt.Sprint(v.rate), Status: Dead, Reason: "the other maps lack this rate"})
			}
		}
	}
	return notes
}

func (c *Config) complete(r sim.Rate) bool {
	for _, m := range c.maps {
		if _, ok := find(m, r); !ok {
			return false
		}
	}
	return true
}

func dead(reason string) func(*Config) (Status, string) {
	return func(*Config) (Status, string) { return Dead, reason }
}

func unsupported(reason string) func(*Config) (Status, string) {
	return func(*Config) (Status, string) { return Unsupported, reason }
}

func neverWritten(*Config) (Status, string) {
	return Unsupported, "paths named in a configuration are never written: the run directory has series and events"
}

// under is honoured under some congestion controls and dead under the others.
func under(modes ...CCMode) func(*Config) (Status, string) {
	return func(c *Config) (Status, string) {
		if slices.Contains(modes, c.CCMode) {
			return Honoured, ""
		}
		return Dead, fmt.Sprintf("not read under CC_MODE %v", c.CCMode)
	}
}

func judgeChunk(c *Config) (Status, string) {
	if c.BackToZero {
		return Unsupported, "see L2_BACK_TO_ZERO"
	}
	return Dead, "only L2_BACK_TO_ZERO 1 reads it, and ACKs come for every packet anyway"
}

func judgeAck(c *Config) (Status, string) {
	if c.AckInterval > c.Payload {
		return Unsupported, "every in-order packet is acknowledged: there, only from this byte of a flow on"
	}
	return Honoured, "as there: every in-order packet is acknowledged, whatever the interval"
}

func judgeBackToZero(c *Config) (Status, string) {
	if c.BackToZero {
		return Unsupported, "after a loss the sender begins the message again, not the chunk"
	}
	return Honoured, "go-back-N"
}

func judgeGlobalT(c *Config) (Status, string) {
	if !c.HasWindow && c.CCMode != HPCC && c.CCMode != HPCCPINT {
		return Dead, "there is no window (HAS_WIN 0)"
	}
	if !c.GlobalT {
		return Unsupported, "the largest window of all pairs holds for each"
	}
	return Honoured, ""
}

func judgeVarWindow(c *Config) (Status, string) {
	switch {
	case !c.HasWindow:
		return Dead, "there is no window (HAS_WIN 0)"
	case c.VarWindow && c.CCMode != DCQCN && c.CCMode != NoCC:
		return Unsupported, "the window does not shrink with the rate"
	}
	return Honoured, ""
}

func judgeRateBound(c *Config) (Status, string) {
	switch {
	case c.CCMode == NoCC:
		return Dead, "without congestion control the rate is that of the line"
	case !c.RateBound:
		return Unsupported, "senders are paced by congestion control"
	}
	return Honoured, ""
}

func judgeLinkDown(c *Config) (Status, string) {
	if c.LinkDown.At == 0 {
		return Honoured, "no link goes down"
	}
	return Unsupported, "links stay up"
}

func judgeTrace(c *Config) (Status, string) {
	if c.EnableTrace {
		return Unsupported, "no packet trace is written: the run directory has series and events"
	}
	return Honoured, ""
}

func judgeECN(c *Config) (Status, string) {
	if !c.EnableQCN {
		return Dead, "switches do not mark (ENABLE_QCN 0)"
	}
	return Honoured, ""
}
