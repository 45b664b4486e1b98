package metric

import (
	"strings"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// examiner turns what a sender saw of a message into causes, with what the run
// knows of pauses, queues and links.
type examiner struct {
	pauses  *pauseTrack
	links   *linkLoads
	fixed   bool               // senders pace at a rate of their own: no algorithm slows them
	slow    map[string]float64 // hosts that hold packets back: most bytes in their receive buffers
	drops   map[trace.Object]dropSum
	verdict map[string]verdict // by way and kind: what congestion on it is
	sick    slowLinks
	why     [NumCauses]reason // of the message examined last
}

// reason is what evidence is made of.
type reason struct {
	root *root
	port trace.Object
	time sim.Duration // the largest part
}

func newExaminer(run *trace.Run, f *pauseTrack) (*examiner, error) {
	x := &examiner{pauses: f, slow: map[string]float64{}, drops: map[trace.Object]dropSum{}, verdict: map[string]verdict{}}
	list, err := run.Counters()
	if err != nil {
		return nil, err
	}
	for i := range list {
		if c := &list[i]; c.Name == trace.CountBufferMax && f.host[c.Object] && c.Value > 0 {
			x.slow[c.Object] = c.Value
		}
	}
	x.links = newLinkLoads(run, list)
	if x.sick, err = findSlowLinks(run); err != nil {
		return nil, err
	}
	if nic, ok := run.Resolved["nic"].(map[string]any); ok {
		if alg, ok := nic["congestion"].(map[string]any); ok {
			_, x.fixed = alg["none"]
		} else {
			x.fixed = nic["congestion"] == "none"
		}
	}
	for e, err := range run.Events(trace.EventDrop) {
		if err != nil {
			return nil, err
		}
		d := x.drops[e.Object]
		d.packets++
		d.why = e.Cause
		x.drops[e.Object] = d
	}
	return x, nil
}

// dropSum is what was dropped at one port.
type dropSum struct {
	packets int
	why     string // of the last one
}

// examine splits the time of a message.
func (x *examiner) examine(m *passage) FlowDiagnosis {
	x.why = [NumCauses]reason{}
	o := FlowDiagnosis{Flow: m.Flow, Elapsed: m.elapsed()}
	s := &o.Shares
	of := m.delays.Of
	ideal := m.ideal()
	s[CauseLine] = ideal
	base := of[trace.DelaySend] + of[trace.DelayFlight]
	network := of[trace.DelayNetwork]
	switch {
	case base >= ideal:
		network += base - ideal
	default:
		// The message was slower than its path, but less than all of what held
		// its sender back was lost: the path takes time for that as well.
		spare := ideal - base
		for _, d := range []trace.Delay{trace.DelayCongestion, trace.DelayWindow, trace.DelayShared, trace.DelayPaused, trace.DelayQueue, trace.DelayHold,
			trace.DelayResend, trace.DelayRNR, trace.DelayTimeout} {
			take := min(spare, of[d])
			of[d] -= take
			spare -= take
		}
		network -= spare // what is left can only be there
	}
	network -= x.wasted(m, s, &of, network)
	s[CauseHost] += of[trace.DelayQueue] + of[trace.DelayHold] + of[trace.DelayShared]
	s[CauseWindow] += of[trace.DelayWindow]
	s[CauseResend] += of[trace.DelayResend]
	s[CauseTimeout] += of[trace.DelayTimeout]
	s[CauseRNR] += of[trace.DelayRNR]
	x.held(m, s, of[trace.DelayCongestion])
	x.stopped(m, s, of[trace.DelayPaused], true)
	x.inNetwork(m, s, network)
	return o
}

// wasted books the time in which packets left that were not delivered, of a
// message that has not succeeded: on what made the sender send them again, or, of
// one that is still on its way, on its path.
func (x *examiner) wasted(m *passage, s *Shares, of *[trace.NumDelays]sim.Duration, most sim.Duration) sim.Duration {
	if m.Status == trace.StatusSuccess || m.Bytes == 0 {
		return 0
	}
	d := min(most, sim.Duration(float64(of[trace.DelaySend])*(1-float64(m.Delivered)/float64(m.Bytes))))
	d = max(d, 0)
	again := trace.DelayResend
	for _, k := range []trace.Delay{trace.DelayTimeout, trace.DelayRNR} {
		if of[k] > of[again] {
			again = k
		}
	}
	if of[again] == 0 {
		s[CauseLine] += d
	} else {
		of[again] += d
	}
	return d
}

// held books the time that the reaction point held a sender back.
func (x *examiner) held(m *passage, s *Shares, d sim.Duration) {
	if d <= 0 {
		return
	}
	if x.fixed {
		s[CauseHost] += d
		return
	}
	v := x.bySlowLink(m, x.onWay(m, true), 0)
	x.book(s, v.cause, d, v.root, v.port)
}

// book adds time to a cause and keeps the largest reason.
func (x *examiner) book(s *Shares, c Cause, d sim.Duration, r *root, port trace.Object) {
	s[c] += d
	if w := &x.why[c]; d > w.time {
		*w = reason{r, port, d}
	}
}

// stopped books the time that pauses took: at the sender's own port, or on the
// way behind it. It returns what no pause that was recorded explains.
func (x *examiner) stopped(m *passage, s *Shares, d sim.Duration, own bool) (rest sim.Duration) {
	if d <= 0 {
		return 0
	}
	type part struct {
		root int32
		port trace.Object
		d    sim.Duration
	}
	var parts []part
	var sum sim.Duration
	if m.way != nil && len(m.way.There) > 0 {
		ports, from := m.way.There[:1], m.Start
		if !own {
			ports = bothWays(m.way)[1:]
			if m.delays.Of[trace.DelayNetwork] == 0 && m.delays.LastSent >= 0 {
				from = m.delays.LastSent
			}
		}
		x.pauses.stops(ports, m.way.Prio, from, m.end, func(r int32, port trace.Object, d sim.Duration) {
			parts = append(parts, part{r, port, d})
			sum += d
		})
	}
	if sum == 0 {
		if own {
			x.book(s, CausePaused, d, nil, "")
			return 0
		}
		return d
	}
	all := d
	if !own {
		all = min(d, sum)
	}
	left := all
	for i, p := range parts {
		share := left
		if i < len(parts)-1 {
			share = min(left, sim.Duration(float64(all)*(float64(p.d)/float64(sum))))
		}
		left -= share
		r := x.pauses.roots[p.root]
		x.book(s, x.pauseCause(m, r), share, r, p.port)
	}
	return d - all
}

// pauseCause says what pauses of a root mean to a message.
func (x *examiner) pauseCause(m *passage, r *root) Cause {
	switch {
	case !r.crosses(m.way):
		return CauseVictim
	case r.kind == RootReceiver:
		return CauseReceiver
	case r.kind == RootStorm || r.kind == RootStuck:
		return CauseFault
	}
	return CausePaused
}

// inNetwork books the time that packets or their answers took longer than alone.
func (x *examiner) inNetwork(m *passage, s *Shares, d sim.Duration) {
	if d <= 0 {
		s[CauseUnknown] += d // never: examine leaves nothing that is negative
		return
	}
	rest := x.stopped(m, s, d, false)
	if rest <= 0 {
		return
	}
	v := x.bySlowLink(m, x.onWay(m, false), rest)
	x.book(s, v.cause, rest, v.root, v.port)
}

// verdict is what congestion on a way is, and where.
type verdict struct {
	cause Cause
	port  trace.Object
	root  *root
}

// onWay says what slows down traffic on the way of a message: the port of most
// marks, or with the longest queue.
func (x *examiner) onWay(m *passage, marked bool) verdict {
	if m.way == nil || len(m.way.There) == 0 {
		return verdict{cause: CauseUnknown}
	}
	key := strings.Join(m.way.There, " ")
	if marked {
		key += " marked"
	}
	v, ok := x.verdict[key]
	if !ok {
		v = x.judge(m, marked)
		x.verdict[key] = v
	}
	return v
}

// bySlowLink blames the fault that has slowed a link down for what a message has
// lost: that whose queue is the hottest of a way or, where no queue was ever long
// enough to explain half of it, any of both ways.
func (x *examiner) bySlowLink(m *passage, v verdict, lost sim.Duration) verdict {
	if m.way == nil || len(x.sick) == 0 {
		return v
	}
	var ports []trace.Object
	switch v.cause {
	case CauseUnknown:
		ports = bothWays(m.way)
	case CauseCongestion, CauseCollision:
		ports = []trace.Object{v.port}
		longest := x.links.at(v.port, m.way.Prio, x.links.longest)
		if 2*longest*8 < lost.Seconds()*float64(x.pauses.rate[v.port]) {
			ports = bothWays(m.way)
		}
	}
	if port, ok := x.sick.on(ports, m); ok {
		return verdict{cause: CauseFault, port: port}
	}
	return v
}

func (x *examiner) judge(m *passage, marked bool) verdict {
	hot, score := trace.Object(""), 0.0
	if marked {
		hot, score = x.links.hottest(m.way.There[1:], m.way.Prio, x.links.marks)
	}
	if score == 0 {
		hot, score = x.links.hottest(m.way.There[1:], m.way.Prio, x.links.queues)
	}
	last := m.way.There[len(m.way.There)-1]
	_, slow := x.slow[m.Dst]
	switch {
	case slow && (hot == last || score == 0):
		return verdict{cause: CauseReceiver, port: last}
	case score == 0:
		if back, s := x.links.hottest(m.way.Back, m.way.Prio, x.links.queues); s > 0 {
			return verdict{cause: CauseCongestion, port: back}
		}
		return verdict{cause: CauseUnknown}
	}
	for _, r := range x.pauses.roots {
		if r.cross == hot && r.kind == RootReceiver {
			return verdict{cause: CauseReceiver, port: hot, root: r}
		}
	}
	if x.links.collision(hot) {
		return verdict{cause: CauseCollision, port: hot}
	}
	return verdict{cause: CauseCongestion, port: hot}
}
