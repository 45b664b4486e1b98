package analysis

import (
	"fmt"

	"rdmasim/fabric/capture"
)

// notes says what of a capture could not be told, and why.
func (a *Analyzer) notes() (list []string) {
	t := &a.total
	note := func(n uint64, format string) {
		if n > 0 {
			list = append(list, fmt.Sprintf(format, n))
		}
	}
	note(t.Kinds[capture.KindFragment], "%d fragments of IP were not put together")
	note(t.Kinds[capture.KindMalformed], "%d packets are RDMA by their type, and not by what follows")
	note(t.ICRCInvalid, "%d packets have a wrong ICRC: their receiver throws them away, and so does this analysis")
	note(t.ICRCAbsent, "%d packets were captured without their end, so that their ICRC is not known")
	note(t.OutOfOrder, "%d records have a time before that of the record before them")
	note(t.NoTime, "%d records have no time")
	note(t.CaptureDrops, "the capture says that it lost %d packets")
	note(t.OtherLink, "%d frames are of a link type that is not read")
	note(t.NotFollowed, "%d packets were not followed: too many queue pairs, hosts or interfaces")
	note(a.connsLeft, "%d requests for connections were not followed: too many")
	note(a.unpaired, "%d answers could not be told to belong to any requests")
	if a.events > maxEvents {
		note(a.events-maxEvents, "%d events beyond the first million are not in events.parquet")
	}
	note(a.unlisted, "%d messages are counted and not listed in flows.csv, which holds at most four million, and of those without an end 32768")
	alone, partial := 0, uint64(0)
	for _, s := range a.streams {
		if s.requests && s.reverse == nil && (s.transport == capture.TransportRC || s.transport == capture.TransportXRC) {
			alone++
		}
		partial += s.partial
	}
	note(uint64(alone), "of %d requesters no answers were captured: their messages have no end")
	note(partial, "%d messages have packets that were never captured: their length may be an estimate")
	for _, p := range a.pauserList {
		for i := range p.classes {
			if c := &p.classes[i]; c.unknown > 0 && p.rate == 0 {
				list = append(list, "the speed of the links is not known: give --rate, so that the length of pauses without XON is measured")
				return list
			}
		}
	}
	return list
}
