package analysis

import (
	"net/netip"

	"rdmasim/fabric/capture"
)

// A packet names the queue pair that it goes to and not the one that it comes
// from, so that an answer must be found to belong to what it answers: it comes
// from the host that the requests went to, its PSN is one of theirs, and mostly
// both directions use one UDP source port.

// pairKey names the streams that an answer may belong to.
type pairKey struct{ src, dst netip.Addr }

// patience is how many answers that fit more than one stream are let go by
// before the best guess is taken.
const patience = 64

// pair finds the requests that an answer on s belongs to, and joins the two
// directions; nil if that cannot be told yet.
func (a *Analyzer) pair(s *stream, f *capture.Frame) *stream {
	var best *stream
	bestScore, ties := 0, 0
	k := pairKey{s.key.dst, s.key.src}
	list := a.byPair[k]
	for i, c := range list {
		if i == maxScan {
			break
		}
		if c.reverse != nil || len(c.views) == 0 || !c.upstream().requests.begun || c == s {
			continue
		}
		score := c.fits(s, f)
		switch {
		case score == 0 || score < bestScore:
		case score > bestScore:
			best, bestScore, ties = c, score, 1
		default:
			ties++
		}
	}
	if best == nil {
		return nil
	}
	if ties > 1 {
		if s.guesses++; s.guesses < patience {
			return nil
		}
	}
	join(s, best)
	for i, c := range list {
		if c == best {
			a.byPair[k] = append(list[:i], list[i+1:]...)
			break
		}
	}
	return best
}

// join makes two streams the two directions of a queue pair.
func join(s, r *stream) {
	s.reverse, r.reverse = r, s
	if s.mtu == 0 {
		s.mtu = r.mtu
	} else if r.mtu == 0 {
		r.mtu = s.mtu
	}
}

// fits says how well an answer on s fits the requests on c: 0 not at all.
func (c *stream) fits(s *stream, f *capture.Frame) int {
	q := &c.upstream().requests
	number := expand(q.next, f.BTH.PSN)
	if number+maxMessages < q.start || number >= q.next+q.slack || number+jump < q.next {
		return 0
	}
	score := 1
	if c.sport == s.sport && c.sport != 0 {
		score += 4
	}
	if t := c.stampOf(number); t != nil && t.asks {
		score += 2
	}
	if m := c.out.find(number); m != nil {
		if (m.verb == capture.VerbRead) == (f.Info().Verb == capture.VerbReadResponse) {
			score++
		}
	}
	return score
}
