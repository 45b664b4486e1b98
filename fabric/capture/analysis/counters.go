package analysis

import (
	"fmt"
	"slices"
	"strings"

	"rdmasim/fabric/capture"
	"rdmasim/sim/trace"
)

// counterTable adds counters up by object, priority and name.
type counterTable struct {
	list  []trace.Counter
	index map[string]int
}

func (t *counterTable) add(object string, prio int8, name string, v float64) {
	k := fmt.Sprintf("%s/%d/%s", object, prio, name)
	i, ok := t.index[k]
	if !ok {
		i = len(t.list)
		t.index[k] = i
		t.list = append(t.list, trace.Counter{Object: object, Prio: prio, Name: name})
	}
	t.list[i].Value += v
}

func (t *counterTable) max(object string, prio int8, name string, v float64) {
	t.add(object, prio, name, 0)
	c := &t.list[t.index[fmt.Sprintf("%s/%d/%s", object, prio, name)]]
	c.Value = max(c.Value, v)
}

// counters are the totals of a capture. What a capture cannot tell has none.
func (a *Analyzer) counters(sum *Summary) []trace.Counter {
	t := &counterTable{index: map[string]int{}}
	t.add("capture", -1, trace.CountICRCValid, float64(sum.ICRC.Valid))
	t.add("capture", -1, trace.CountICRCInvalid, float64(sum.ICRC.Invalid))
	for _, s := range a.streams {
		a.streamCounters(t, s)
	}
	for _, h := range a.hostList {
		if h.cnp.count > 0 {
			t.add(h.name, -1, trace.CountCNPSent, float64(h.cnp.count))
		}
	}
	if sum.Frames.PFC > 0 || sum.Frames.Pause > 0 {
		a.pauseCounters(t)
	}
	return t.list
}

// streamCounters adds what one direction tells of both of its hosts.
func (a *Analyzer) streamCounters(t *counterTable, s *stream) {
	src, dst := s.from.name, s.to.name
	up, down := s.upstream(), s.downstream()
	if s.requests {
		t.add(src, -1, trace.CountDataSent, float64(up.counts.data))
		t.add(src, -1, trace.CountRetransmitted, float64(up.counts.again))
		t.add(dst, -1, trace.CountDataDelivered, float64(down.got.delivered))
		t.add(dst, -1, trace.CountDiscarded, float64(down.got.discarded))
		t.add(dst, -1, trace.CountPayloadDelivered, float64(down.got.payload))
		t.add(dst, -1, trace.CountOutOfSequence, float64(down.got.early))
		t.add(dst, -1, trace.CountCEReceived, float64(down.counts.ce))
		t.add(dst+"/arrivals", -1, trace.CountECNEligible, float64(down.counts.ect))
		t.add(dst+"/arrivals", -1, trace.CountECNMarked, float64(down.counts.ce))
		t.add(src, -1, trace.CountTimeouts, float64(s.causes[causeTimeout]))
		t.add(src, -1, trace.CountCNPSent, 0)
		if s.transport == capture.TransportRC {
			t.add(src, -1, trace.CountNaksReceived, 0)
			t.add(dst, -1, trace.CountNaks, 0)
		}
	}
	if up.answers.readPackets > 0 {
		got := &down.answers
		t.add(src, -1, trace.CountDataSent, float64(up.answers.readPackets))
		t.add(dst, -1, trace.CountDataDelivered, float64(got.readPackets))
		t.add(dst, -1, trace.CountPayloadDelivered, float64(got.readBytes))
		t.add(dst, -1, trace.CountCEReceived, float64(got.ce))
		t.add(dst+"/arrivals", -1, trace.CountECNEligible, float64(got.ect))
		t.add(dst+"/arrivals", -1, trace.CountECNMarked, float64(got.ce))
	}
	ack := &s.answers
	if naks := ack.sequenceNaks + ack.otherNaks; ack.acks+naks+ack.rnrs+ack.atomicAcks > 0 {
		t.add(src, -1, trace.CountAcks, float64(ack.acks+naks+ack.rnrs+ack.atomicAcks))
		t.add(src, -1, trace.CountNaks, float64(naks))
		t.add(dst, -1, trace.CountNaksReceived, float64(down.answers.naks+down.answers.rnrs))
	}
	if s.cnp.count > 0 {
		t.add(dst, -1, trace.CountCNPHandled, float64(down.answers.cnps))
	}
}

// pauseCounters counts each pause frame once as sent and once as received,
// whether it was captured at one end of its link or at both.
func (a *Analyzer) pauseCounters(t *counterTable) {
	out, in := map[[6]byte]bool{}, map[[6]byte]bool{}
	for _, p := range a.pauserList {
		if p.key.dir == capture.DirOut {
			out[p.key.mac] = true
		} else {
			in[p.key.mac] = true
		}
	}
	list := slices.Clone(a.pauserList)
	counted := map[[6]byte]bool{}
	for _, p := range list {
		mac := p.key.mac
		if p.key.dir == capture.DirOut {
			p.sent(t, p.object)
			if !in[mac] {
				p.obeyed(t, "peer-of-"+strings.ReplaceAll(p.object, "/", "-"))
			}
			continue
		}
		if counted[mac] {
			continue // seen at several places
		}
		counted[mac] = true
		if !out[mac] {
			p.sent(t, fmt.Sprintf("mac-%x", mac[:]))
		}
		p.obeyed(t, p.object)
	}
}

// sent counts frames at the port that sends them.
func (p *pauser) sent(t *counterTable, object string) {
	for i := range p.classes {
		c, prio := &p.classes[i], prioOf(i)
		if c.xoff+c.xon+c.refresh > 0 {
			t.add(object, prio, trace.CountPFCXoffTx, float64(c.xoff))
			t.add(object, prio, trace.CountPFCXonTx, float64(c.xon))
			t.add(object, prio, trace.CountPFCRefreshTx, float64(c.refresh))
		}
	}
}

// obeyed counts frames and pauses at the port that they stop.
func (p *pauser) obeyed(t *counterTable, object string) {
	for i := range p.classes {
		c, prio := &p.classes[i], prioOf(i)
		if c.xoff+c.xon+c.refresh == 0 {
			continue
		}
		t.add(object, prio, trace.CountPFCXoffRx, float64(c.xoff+c.refresh))
		t.add(object, prio, trace.CountPFCXonRx, float64(c.xon))
		t.add(object, prio, trace.CountPauseEpisodes, float64(c.episodes))
		if p.rate > 0 || c.unknown == 0 {
			t.add(object, prio, trace.CountPausedSeconds, c.total.Seconds())
			t.max(object, prio, trace.CountPauseLongest, c.longest.Seconds())
		}
	}
}

func prioOf(class int) int8 {
	if class == global {
		return -1
	}
	return int8(class)
}
