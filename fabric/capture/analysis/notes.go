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
	if a.held.is == distrusted {
		note(t.ICRCInvalid, "%d packets have a wrong ICRC, and the first ones all have: the capture was rewritten, so they are followed nevertheless")
	} else {
		note(t.ICRCInvalid, "%d packets have a wrong ICRC: their receiver throws them away, and so does this analysis")
	}
	note(t.ICRCAbsent, "%d packets were captured without their end, so that their ICRC is not known")
	note(t.HeadersCut, "%d packets were captured without all of their headers: lengths of messages are estimated")
	note(t.AnswersCut, "%d acknowledgements were captured too short to tell an ACK from a NAK")
	note(t.ReservedOpcodes, "%d packets have opcodes that the standard does not define")
	note(t.Damaged, "%d frames are damaged or dropped, as the capture says: they did not arrive")
	a.noteCopies(note)
	note(a.bareCNPs, "%d CNPs came for packets that were not seen marked: they were captured in front of the switch that marks")
	note(t.OutOfOrder, "%d records have a time before that of the record before them: if the order of packets is wrong, sort them with reordercap first")
	note(t.NoTime, "%d records have no time")
	note(t.CaptureDrops, "the capture says that it lost %d packets")
	note(t.OtherLink, "%d frames are of a link type that is not read")
	note(t.NotFollowed, "%d packets were not followed: too many queue pairs, hosts or interfaces")
	note(a.connsLeft, "%d requests for connections were not followed: too many")
	if t := &t.Answers; a.unpaired > 0 {
		list = append(list, fmt.Sprintf("%d answers could not be told to belong to any requests; in all there are %d ACKs, %d NAKs for PSN sequence errors, %d RNR NAKs, %d other NAKs, %d READ responses and %d ATOMIC ACKs",
			a.unpaired, t.Acks, t.Naks, t.RNRs, t.OtherNaks, t.Responses, t.AtomicAcks))
	}
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
