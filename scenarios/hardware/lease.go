package hardware

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A connection may be lost without either end being told: a cable, a firewall, a
// machine without power. So both ends hold a lease on it, which the coordinator
// renews, and each gives up by itself when it has run out.
const (
	leaseTime = 20 * time.Second
	renewals  = 10 // in the time of a lease
)

var (
	errLapsed   = errors.New("the connection is lost")
	errPeerLost = errors.New("its machine is lost")
)

// lapsed is the end of a lease.
func lapsed(who string, lease time.Duration) error {
	return fmt.Errorf("nothing was heard of the %s for %v: %w", who, lease, errLapsed)
}

// answerAlive is what an agent does about a renewal. Its clock is in the answer.
func (r *remote) answerAlive(l *link, m message) {
	_ = l.send(message{Kind: kindAlive, Seq: m.Seq, Time: r.now()}) // what is wrong shows soon
}

// watch cancels an agent when its lease has run out.
func (r *remote) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(r.lease / renewals)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if r.link.silence() > r.lease {
			cancel(lapsed("coordinator", r.lease))
			return
		}
	}
}

// pulse renews the lease of one agent, and keeps what its answers say about the
// clocks.
type pulse struct {
	mu    sync.Mutex
	seq   uint64
	asked map[uint64]time.Duration
	last  []exchange // the latest
}

// beat renews the lease until the context ends.
func (p *pulse) beat(ctx context.Context, l *link, now func() time.Duration, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p.mu.Lock()
		p.seq++
		seq := p.seq
		p.asked[seq] = now()
		delete(p.asked, seq-exchanges)
		p.mu.Unlock()
		if l.send(message{Kind: kindAlive, Seq: seq}) != nil {
			return // its end will be noticed
		}
	}
}

// answered keeps an exchange.
func (p *pulse) answered(m message, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked, ok := p.asked[m.Seq]
	if !ok {
		return
	}
	delete(p.asked, m.Seq)
	p.last = append(p.last, exchange{asked, time.Duration(m.Time), now})
	if len(p.last) > exchanges/2 {
		p.last = p.last[1:]
	}
}

// offset estimates the clock once more; ok is false without an exchange.
func (p *pulse) offset() (o Offset, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o, err := estimate(p.last)
	return o, err == nil
}
