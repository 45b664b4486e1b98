package scenarios

import (
	"slices"
	"strconv"

	"rdmasim/sim"
)

// checkRules checks the parts of a switch that hold for some of its ports, or
// that name each other.
func (s *Spec) checkRules(w *SwitchSpec, path string) error {
	for _, check := range []func(*SwitchSpec, string) error{s.checkPoolsOf, s.checkGroups, s.checkQueues, s.checkWRED, s.checkSchedulers, s.checkPortRules} {
		if err := check(w, path); err != nil {
			return err
		}
	}
	return nil
}

// maxCell bounds the cell of a buffer: Jericho counts in 4096 bytes.
const maxCell = 64 * sim.KiB

func (s *Spec) checkPoolsOf(w *SwitchSpec, path string) error {
	if s.hpcc() && (w.full() || w.schedulerOf(portAt{}) != nil) {
		return s.errorAt(path+".buffer", "", "compat: hpcc has one pool, plain maps and no watchdog: remove what that model does not have")
	}
	b := &w.Buffer
	at := path + ".buffer."
	switch {
	case b.Cell > maxCell:
		return s.errorAt(at+"cell", b.Cell.String(), "want at most %v", maxCell)
	case b.HeadroomPool >= b.Size:
		return s.errorAt(at+"headroom_pool", b.HeadroomPool.String(), "is not less than the whole buffer, %v", b.Size)
	case b.HeadroomPool > 0 && len(b.Pools) > 0:
		return s.errorAt(at+"headroom_pool", b.HeadroomPool.String(), "the buffer has pools: give each its own headroom instead")
	case b.Xon >= b.Size:
		return s.errorAt(at+"xon", b.Xon.String(), "is not less than the whole buffer, %v", b.Size)
	}
	for i, p := range b.Pools {
		pool := at + "pools." + strconv.Itoa(i)
		switch {
		case p.Name == "" || len(p.Name) > maxMatch:
			return s.errorAt(pool+".name", orEmpty(p.Name), "want a name of up to %d letters", maxMatch)
		case slices.IndexFunc(b.Pools, func(o PoolSpec) bool { return o.Name == p.Name }) < i:
			return s.errorAt(pool+".name", p.Name, "is there twice: give each pool a name of its own")
		case p.Size <= 0 || p.Size > b.Size:
			return s.errorAt(pool+".size", p.Size.String(), "want more than 0B and at most the whole buffer, %v", b.Size)
		case p.Headroom > b.Size:
			return s.errorAt(pool+".headroom", p.Headroom.String(), "is more than the whole buffer, %v", b.Size)
		case p.Headroom > 0 && p.Side == "egress":
			return s.errorAt(pool+".headroom", p.Headroom.String(), "an egress pool has no headroom: that is where frames arrive")
		}
	}
	for _, side := range []string{"ingress", "egress"} {
		if len(b.Pools) > 0 && b.pool("", side) < 0 {
			return s.errorAt(at+"pools", "", "there is no pool for the %s side: want one with side: %s or both", side, side)
		}
	}
	return nil
}

// pool returns the number of the pool of a name that accounts a side; without
// a name, of the first one; -1 where there is none.
func (b *BufferSpec) pool(name, side string) int {
	return slices.IndexFunc(b.Pools, func(p PoolSpec) bool {
		return (name == "" || p.Name == name) && (p.Side == side || p.Side == "both")
	})
}

func (s *Spec) checkPoolName(w *SwitchSpec, name, side, path string) error {
	if name == "" || w.Buffer.pool(name, side) >= 0 {
		return nil
	}
	var names []string
	for _, p := range w.Buffer.Pools {
		if p.Side == side || p.Side == "both" {
			names = append(names, p.Name)
		}
	}
	return s.errorAt(path+".pool", name, "no such pool on the %s side: %sthere are %s", side, didYouMean(name, names), some(names))
}

func (s *Spec) checkGroups(w *SwitchSpec, path string) error {
	for i := range w.Buffer.Groups {
		g := &w.Buffer.Groups[i]
		at := path + ".buffer.groups." + strconv.Itoa(i)
		if err := s.checkPorts(&g.PortMatch, at); err != nil {
			return err
		}
		if err := s.distinct(g.Groups, at+".groups"); err != nil {
			return err
		}
		if err := s.checkPoolName(w, g.Pool, "ingress", at); err != nil {
			return err
		}
		for _, v := range []struct {
			key string
			v   sim.Bytes
		}{{"reserve", g.Reserve}, {"headroom", g.Headroom.Value}, {"xon", g.Xon}, {"xon_offset", g.XonOffset}} {
			if v.v >= w.Buffer.Size {
				return s.errorAt(at+"."+v.key, v.v.String(), "is not less than the whole buffer, %v", w.Buffer.Size)
			}
		}
	}
	return nil
}

func (s *Spec) checkQueues(w *SwitchSpec, path string) error {
	for i := range w.Buffer.Queues {
		q := &w.Buffer.Queues[i]
		at := path + ".buffer.queues." + strconv.Itoa(i)
		if err := s.checkPorts(&q.PortMatch, at); err != nil {
			return err
		}
		if err := s.distinct(q.Queues, at+".queues"); err != nil {
			return err
		}
		if err := s.checkPoolName(w, q.Pool, "egress", at); err != nil {
			return err
		}
		if q.Reserve >= w.Buffer.Size {
			return s.errorAt(at+".reserve", q.Reserve.String(), "is not less than the whole buffer, %v", w.Buffer.Size)
		}
	}
	return nil
}

func (s *Spec) checkWRED(w *SwitchSpec, path string) error {
	for i := range w.WRED {
		r := &w.WRED[i]
		at := path + ".wred." + strconv.Itoa(i)
		if err := s.checkPorts(&r.PortMatch, at); err != nil {
			return err
		}
		if err := s.distinct(r.Queues, at+".queues"); err != nil {
			return err
		}
		for _, c := range []struct {
			key string
			v   CurveSpec
		}{{"green", r.Green}, {"yellow", r.Yellow}, {"red", r.Red}} {
			switch {
			case c.v.Min > c.v.Max:
				return s.errorAt(at+"."+c.key+".min", c.v.Min.String(), "is more than max, %v: want min <= max", c.v.Max)
			case c.v.Probability > 1:
				return s.errorAt(at+"."+c.key+".probability", c.v.Probability.String(), "want a probability from 0 to 1, such as 5%%")
			}
		}
	}
	return nil
}

func (s *Spec) checkSchedulers(w *SwitchSpec, path string) error {
	if err := s.checkScheduler(&w.Scheduler, path+".scheduler"); err != nil {
		return err
	}
	for i := range w.Schedulers {
		at := path + ".schedulers." + strconv.Itoa(i)
		if err := s.checkPorts(&w.Schedulers[i].PortMatch, at); err != nil {
			return err
		}
		if err := s.checkScheduler(&w.Schedulers[i].SchedulerSpec, at); err != nil {
			return err
		}
	}
	return nil
}

func (s *Spec) checkScheduler(c *SchedulerSpec, path string) error {
	if err := s.distinct(c.Strict, path+".strict"); err != nil {
		return err
	}
	for p := range 8 {
		if _, ok := c.Weights[p]; ok && slices.Contains(c.Strict, p) {
			return s.errorAt(path+".weights."+strconv.Itoa(p), "", "priority %d is served strictly and takes no weight: remove it from strict or from weights", p)
		}
		if h, ok := c.Shape[p]; ok && h.Rate <= 0 {
			return s.errorAt(path+".shape."+strconv.Itoa(p)+".rate", h.Rate.String(), "want more than 0bps")
		}
		if h, ok := c.Floor[p]; ok && h.Rate <= 0 {
			return s.errorAt(path+".guarantee."+strconv.Itoa(p)+".rate", h.Rate.String(), "want more than 0bps")
		}
	}
	if len(c.Groups) > 0 && c.Quantum == 0 {
		return s.errorAt(path+".quantum", "0B", "want more than 0B: ETS groups share bytes, not packets")
	}
	var seen [8]bool
	var sum sim.Ratio
	for i, g := range c.Groups {
		at := path + ".groups." + strconv.Itoa(i)
		if len(g.Queues) == 0 {
			return s.errorAt(at+".queues", "", "want at least one queue")
		}
		for k, q := range g.Queues {
			switch {
			case q < 0 || q > 7: // the walk says so
			case slices.Contains(c.Strict, q):
				return s.errorAt(at+".queues."+strconv.Itoa(k), strconv.Itoa(q), "is served strictly: remove it from strict or from the group")
			case seen[q]:
				return s.errorAt(at+".queues."+strconv.Itoa(k), strconv.Itoa(q), "is in two groups")
			default:
				seen[q] = true
			}
		}
		if g.Share < minShare || g.Share > 1 {
			return s.errorAt(at+".share", g.Share.String(), "want a share from 1/1000 to 1, such as 30%%")
		}
		sum += g.Share
	}
	if sum > 1+1e-9 {
		return s.errorAt(path+".groups", "", "shares add up to %v: want at most 1", sum)
	}
	return nil
}

// minShare keeps the rounds of a scheduler short.
const minShare = 1.0 / 1000

func (s *Spec) checkPortRules(w *SwitchSpec, path string) error {
	for i := range w.Maps {
		if err := s.checkPorts(&w.Maps[i].PortMatch, path+".maps."+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	for i := range w.PFC.Ports {
		at := path + ".pfc.ports." + strconv.Itoa(i)
		if err := s.checkPorts(&w.PFC.Ports[i].PortMatch, at); err != nil {
			return err
		}
		if err := s.distinct(w.PFC.Ports[i].Priorities, at+".priorities"); err != nil {
			return err
		}
	}
	for i := range w.Watchdogs {
		if err := s.checkPorts(&w.Watchdogs[i].PortMatch, path+".watchdogs."+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}
