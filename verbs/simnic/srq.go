package simnic

import (
	"fmt"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// srq is a shared receive queue.
type srq struct {
	pd     *protectionDomain
	params verbs.SRQParams
	list   []posted
	head   int
	uses   int
	dead   bool
}

func (p *protectionDomain) CreateSRQ(a verbs.SRQParams) (verbs.SharedReceiveQueue, error) {
	switch {
	case p.dead:
		return nil, errGone("protection domain")
	case a.WR < 1 || a.WR > maxQPWR || a.SGE < 0 || a.SGE > maxSGE:
		return nil, fmt.Errorf("%w: shared receive queue of %d requests of %d pieces: want 1..%d of at most %d", verbs.ErrInvalid, a.WR, a.SGE, maxQPWR, maxSGE)
	case a.Limit < 0 || a.Limit > a.WR:
		return nil, fmt.Errorf("%w: limit %d of a shared receive queue of %d", verbs.ErrInvalid, a.Limit, a.WR)
	}
	p.uses++
	return &srq{pd: p, params: a}, nil
}

func (s *srq) PostRecv(rs ...verbs.RecvRequest) (int, error) {
	if s.dead {
		return 0, errGone("shared receive queue")
	}
	for i := range rs {
		if len(s.list)-s.head >= s.params.WR {
			return i, fmt.Errorf("%w: %d receives are posted", verbs.ErrNoMemory, s.params.WR)
		}
		if len(rs[i].SGList) > max(s.params.SGE, 1) {
			return i, fmt.Errorf("%w: %d pieces: the limit is %d", verbs.ErrInvalid, len(rs[i].SGList), max(s.params.SGE, 1))
		}
		s.list = append(s.list, receiveOf(&rs[i]))
	}
	return len(rs), nil
}

// receiveOf makes a receive of a request.
func receiveOf(r *verbs.RecvRequest) posted {
	p := posted{wrid: r.WRID, sg: append([]verbs.SGE(nil), r.SGList...)}
	for i := range p.sg {
		p.length += sim.Bytes(p.sg[i].Length)
	}
	return p
}

// take removes the oldest receive.
func (s *srq) take() posted {
	r := s.list[s.head]
	s.head++
	if s.head == len(s.list) {
		s.list, s.head = s.list[:0], 0
	} else if s.head > 256 && s.head*2 > len(s.list) {
		s.list = append(s.list[:0], s.list[s.head:]...)
		s.head = 0
	}
	if s.params.Limit > 0 && len(s.list)-s.head < s.params.Limit {
		s.params.Limit = 0
		s.pd.ctx.tell(verbs.AsyncEvent{Kind: verbs.AsyncSRQLimit, SRQ: s})
	}
	return r
}

func (s *srq) Arm(limit int) error {
	if s.dead {
		return errGone("shared receive queue")
	}
	if limit < 0 || limit > s.params.WR {
		return fmt.Errorf("%w: limit %d of a shared receive queue of %d", verbs.ErrInvalid, limit, s.params.WR)
	}
	s.params.Limit = limit
	if limit > 0 && len(s.list)-s.head < limit {
		s.params.Limit = 0
		s.pd.ctx.tell(verbs.AsyncEvent{Kind: verbs.AsyncSRQLimit, SRQ: s})
	}
	return nil
}

func (s *srq) Query() verbs.SRQParams { return s.params }

func (s *srq) Destroy() error {
	if s.dead {
		return errGone("shared receive queue")
	}
	if s.uses > 0 {
		return fmt.Errorf("%w: %d queue pairs use the shared receive queue", verbs.ErrBusy, s.uses)
	}
	s.dead = true
	s.pd.uses--
	return nil
}
