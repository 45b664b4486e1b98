//go:build linux && (amd64 || arm64)

package ibv

import (
	"errors"
	"fmt"

	"rdmasim/verbs"
)

// Attributes of ibv_modify_srq.
const srqLimit = 2

func (p *protectionDomain) CreateSRQ(a verbs.SRQParams) (verbs.SharedReceiveQueue, error) {
	if a.WR <= 0 || a.SGE < 0 || a.Limit < 0 {
		return nil, fmt.Errorf("%w: a shared receive queue of %+v", verbs.ErrInvalid, a)
	}
	s := &sharedQueue{c: p.c, params: a}
	err := withC(srqInitAttr{MaxWR: uint32(a.WR), MaxSGE: uint32(max(a.SGE, 1))}, func(i *srqInitAttr, addr uintptr) (err error) {
		s.srq, err = call("ibv_create_srq", p.c.lib.createSRQ, p.pd, addr)
		s.params.WR, s.params.SGE = int(i.MaxWR), int(i.MaxSGE)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.post = &queuePair{c: p.c, cap: verbs.Capacity{RecvSGE: s.params.SGE}}
	if err := s.post.allocate(); err != nil {
		return nil, errors.Join(err, s.Destroy())
	}
	p.c.mu.Lock()
	p.c.srqs[s.srq] = s
	p.c.mu.Unlock()
	if a.Limit > 0 {
		if err := s.Arm(a.Limit); err != nil {
			return nil, errors.Join(err, s.Destroy())
		}
	}
	return s, nil
}

type sharedQueue struct {
	c      *deviceContext
	srq    uintptr
	params verbs.SRQParams
	post   *queuePair // its memory for requests
}

func (s *sharedQueue) PostRecv(rs ...verbs.RecvRequest) (int, error) {
	return s.post.postRecv(s.c.ops[opPostSRQRecv], s.srq, rs)
}

func (s *sharedQueue) Arm(limit int) error {
	if limit < 0 || limit > s.params.WR {
		return fmt.Errorf("%w: limit %d of a shared receive queue of %d", verbs.ErrInvalid, limit, s.params.WR)
	}
	err := withC([3]uint32{0, 0, uint32(limit)}, func(_ *[3]uint32, addr uintptr) error {
		return status("ibv_modify_srq", s.c.lib.modifySRQ, s.srq, addr, srqLimit)
	})
	if err == nil {
		s.params.Limit = limit
	}
	return err
}

func (s *sharedQueue) Query() verbs.SRQParams { return s.params }

func (s *sharedQueue) Destroy() error {
	if s.srq == 0 {
		return fmt.Errorf("%w: the shared receive queue is gone", verbs.ErrInvalid)
	}
	if err := status("ibv_destroy_srq", s.c.lib.destroySRQ, s.srq); err != nil {
		return err
	}
	s.c.mu.Lock()
	delete(s.c.srqs, s.srq)
	s.c.mu.Unlock()
	s.srq = 0
	if s.post.mem == nil {
		return nil
	}
	return s.post.mem.Free()
}
