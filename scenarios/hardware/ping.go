package hardware

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"rdmasim/fabric/netem"
	"rdmasim/sim"
	"rdmasim/verbs"
	"rdmasim/verbs/ibv"
)

// PingOptions say what is measured.
type PingOptions struct {
	From, To string        // devices of this machine; "" = the first two
	Service  verbs.Service // RC or UD
	Sizes    []sim.Bytes   // payloads
	Count    int           // pings per size
	Warmup   int           // pings before, not counted
	Interval time.Duration // between pings; 0 = back to back
	Poll     bool          // spin instead of sleeping until an event
	MTU      verbs.MTU     // path MTU at most; 0 = what the ports allow
}

// PingResult are the times of one size, in seconds.
type PingResult struct {
	Size      sim.Bytes `json:"size_bytes"`
	Count     int       `json:"count"`
	RoundTrip Latency   `json:"round_trip_s"`
	// OneWay is from posting to the completion of the receive; both ends are
	// on this machine and share its clock.
	OneWay Latency `json:"one_way_s"`
	// Post is how long posting a request takes, Poll how long a poll that finds
	// a completion takes: costs of the host.
	Post Latency `json:"post_s"`
	Poll Latency `json:"poll_s"`
}

// Latency summarises times in seconds; quantile p is sorted[floor(p n)].
type Latency struct {
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99_9"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`

	sorted []float64
}

func summarize(d []time.Duration) Latency {
	if len(d) == 0 {
		return Latency{}
	}
	s := make([]float64, len(d))
	sum := 0.0
	for i, v := range d {
		s[i] = v.Seconds()
		sum += s[i]
	}
	slices.Sort(s)
	q := func(p float64) float64 { return s[min(int(p*float64(len(s))), len(s)-1)] }
	return Latency{Min: s[0], P50: q(0.5), P90: q(0.9), P99: q(0.99), P999: q(0.999), Max: s[len(s)-1], Mean: sum / float64(len(s)), sorted: s}
}

// Histogram counts the times in n bins of equal ratio between the smallest and
// the largest; bounds has n+1 values in seconds.
func (l *Latency) Histogram(n int) (bounds []float64, counts []int) {
	if len(l.sorted) == 0 || n < 1 {
		return nil, nil
	}
	lo, hi := max(l.Min, 1e-9), max(l.Max, 1e-9)
	bounds, counts = make([]float64, n+1), make([]int, n)
	for i := range bounds {
		bounds[i] = lo * math.Pow(hi/lo, float64(i)/float64(n))
	}
	k := 0
	for _, v := range l.sorted {
		for k < n-1 && v >= bounds[k+1] {
			k++
		}
		counts[k]++
	}
	return bounds, counts
}

// pinger is one end.
type pinger struct {
	*endpoint
	qp  verbs.QueuePair
	mr  verbs.MemoryRegion
	ah  verbs.AddressHandle // UD: to the other end
	o   *PingOptions
	buf []verbs.WorkCompletion
}

// qKey is the queue key of the datagrams of pings.
const qKey = 0x11111111

// Ping measures round trips between two devices of this machine.
func Ping(ctx context.Context, o PingOptions) (results []PingResult, err error) {
	a, b, err := pingEnds(&o)
	if a != nil {
		defer func() { err = errors.Join(err, a.destroy()) }()
	}
	if b != nil {
		defer func() { err = errors.Join(err, b.destroy()) }()
	}
	if err != nil {
		return nil, err
	}
	defer withoutCollector()()
	_, undo := settle(&a.info, o.Poll)
	defer undo()
	for _, size := range o.Sizes {
		if o.Service == verbs.UD && size > min(a.mtu, b.mtu).Bytes() {
			return results, fmt.Errorf("%w: a datagram of %v: the path MTU is %v", verbs.ErrInvalid, size, min(a.mtu, b.mtu).Bytes())
		}
		r, err := a.measure(ctx, b, size)
		if err != nil {
			return results, fmt.Errorf("size %v: %w", size, err)
		}
		results = append(results, r)
	}
	return results, nil
}

func pingEnds(o *PingOptions) (a, b *pinger, err error) {
	devices, err := netem.ReadDevices("/")
	if err != nil {
		return nil, nil, err
	}
	var given []string
	if o.From != "" {
		given = append(given, "from="+o.From)
	}
	if o.To != "" {
		given = append(given, "to="+o.To)
	}
	if len(given) == 1 {
		return nil, nil, fmt.Errorf("give both devices, or none")
	}
	of, err := assign([]string{"from", "to"}, devices, given)
	if err != nil {
		return nil, nil, err
	}
	if of[0] == of[1] {
		return nil, nil, fmt.Errorf("%s at both ends: it would loop the packets back inside, and neither a queue nor a wire would see them", devices[of[0]].Name)
	}
	if a, err = newPinger(&devices[of[0]], o); err != nil {
		return a, nil, err
	}
	if b, err = newPinger(&devices[of[1]], o); err != nil {
		return a, b, err
	}
	return a, b, errors.Join(a.connect(b), b.connect(a))
}

func newPinger(d *netem.Device, o *PingOptions) (*pinger, error) {
	mtu := o.MTU
	if mtu == 0 {
		mtu = verbs.MTU4096
	}
	e, err := openEndpoint(d, mtu)
	if err != nil {
		return nil, err
	}
	p := &pinger{endpoint: e, o: o, buf: make([]verbs.WorkCompletion, 16)}
	size := slices.Max(append([]sim.Bytes{1}, o.Sizes...)) + verbs.GRHBytes
	if p.mr, err = e.pd.RegisterMemory(verbs.MRParams{Length: 2 * uint64(size), Access: verbs.LocalWrite}); err != nil {
		return p, err
	}
	p.qp, err = e.pd.CreateQP(verbs.QPParams{Service: o.Service, SendCQ: e.cq, RecvCQ: e.cq, Capacity: verbs.Capacity{SendWR: 16, RecvWR: 16, SendSGE: 1, RecvSGE: 1}})
	return p, err
}

func (p *pinger) destroy() error {
	var errs []error
	if p.ah != nil {
		errs = append(errs, p.ah.Destroy())
	}
	if p.qp != nil {
		errs = append(errs, p.qp.Destroy())
	}
	if p.mr != nil {
		errs = append(errs, p.mr.Deregister())
	}
	return errors.Join(append(errs, p.endpoint.close())...)
}

func (p *pinger) connect(to *pinger) error {
	to0 := verbs.AHAttr{DGID: to.gid, SGIDIndex: p.index, Port: 1, HopLimit: 64}
	if p.o.Service == verbs.UD {
		var err error
		if p.ah, err = p.pd.CreateAH(to0); err != nil {
			return err
		}
		return errors.Join(
			p.qp.Modify(verbs.QPAttr{State: verbs.StateInit, Port: 1, QKey: qKey}, verbs.AttrState|verbs.AttrPKeyIndex|verbs.AttrPort|verbs.AttrQKey),
			p.qp.Modify(verbs.QPAttr{State: verbs.StateRTR}, verbs.AttrState),
			p.qp.Modify(verbs.QPAttr{State: verbs.StateRTS}, verbs.AttrState|verbs.AttrSQPSN))
	}
	return errors.Join(
		p.qp.Modify(verbs.QPAttr{State: verbs.StateInit, Port: 1}, verbs.AttrState|verbs.AttrPKeyIndex|verbs.AttrPort|verbs.AttrAccess),
		p.qp.Modify(verbs.QPAttr{State: verbs.StateRTR, PathMTU: min(p.mtu, to.mtu), DestQPN: to.qp.QPN(), MaxDestRDAtomic: 1, MinRNRTimer: 1, AH: to0},
			verbs.AttrState|verbs.AttrAV|verbs.AttrPathMTU|verbs.AttrDestQPN|verbs.AttrRQPSN|verbs.AttrMaxDestRD|verbs.AttrMinRNRTimer),
		p.qp.Modify(verbs.QPAttr{State: verbs.StateRTS, Timeout: 18, RetryCount: 6, RNRRetry: 6, MaxRDAtomic: 1},
			verbs.AttrState|verbs.AttrSQPSN|verbs.AttrTimeout|verbs.AttrRetryCount|verbs.AttrRNRRetry|verbs.AttrMaxRDAtomic))
}

func (p *pinger) receive(size sim.Bytes) error {
	n := uint32(size)
	if p.o.Service == verbs.UD {
		n += verbs.GRHBytes
	}
	_, err := p.qp.PostRecv(verbs.RecvRequest{SGList: []verbs.SGE{{Addr: p.mr.Addr(), Length: n, LKey: p.mr.LKey()}}})
	return err
}

func (p *pinger) send(to *pinger, size sim.Bytes) error {
	wr := verbs.WorkRequest{Opcode: verbs.OpSend, Signaled: true, SGList: []verbs.SGE{{Addr: p.mr.Addr() + uint64(len(p.mr.Bytes())/2), Length: uint32(size), LKey: p.mr.LKey()}}}
	if p.o.Service == verbs.UD {
		wr.AH, wr.RemoteQPN, wr.RemoteQKey = p.ah, to.qp.QPN(), qKey
	}
	_, err := p.qp.PostSend(wr)
	return err
}

// lost is how long a ping may take before it counts as lost.
const lost = 5 * time.Second

// await polls until a receive has completed. It returns when that was, and how
// long the poll took that found it.
func (p *pinger) await(ctx context.Context) (at time.Time, poll time.Duration, err error) {
	for deadline := time.Now().Add(lost); ; {
		before := time.Now()
		n, err := p.cq.Poll(p.buf)
		at = time.Now()
		if err != nil {
			return at, 0, err
		}
		got := false
		for _, wc := range p.buf[:n] {
			if wc.Status != verbs.StatusSuccess {
				return at, 0, fmt.Errorf("completion with %v", wc.Status)
			}
			got = got || wc.Recv
		}
		switch {
		case got:
			return at, at.Sub(before), nil
		case ctx.Err() != nil:
			return at, 0, ctx.Err()
		case at.After(deadline):
			return at, 0, fmt.Errorf("no answer within %v", lost)
		}
		if n == 0 && !p.o.Poll {
			if err := p.sleep(); err != nil {
				return at, 0, err
			}
		}
	}
}

func (p *pinger) sleep() error {
	for {
		cq, ok := p.ch.Event()
		if !ok {
			break
		}
		p.ch.AckEvents(cq, 1)
	}
	if err := p.cq.RequestNotify(false); err != nil {
		return err
	}
	// What came before the arming raises no event: a short sleep bounds the harm.
	return ibv.Wait([]verbs.CompletionChannel{p.ch}, time.Millisecond)
}

// measure runs the pings of one size: this end asks, the other answers.
func (p *pinger) measure(ctx context.Context, to *pinger, size sim.Bytes) (PingResult, error) {
	var trip, way, post, poll []time.Duration
	for i := range p.o.Warmup + p.o.Count {
		if err := errors.Join(p.receive(size), to.receive(size)); err != nil {
			return PingResult{}, err
		}
		start := time.Now()
		if err := p.send(to, size); err != nil {
			return PingResult{}, err
		}
		posted := time.Since(start)
		arrived, _, err := to.await(ctx)
		if err != nil {
			return PingResult{}, err
		}
		if err := to.send(p, size); err != nil {
			return PingResult{}, err
		}
		back, took, err := p.await(ctx)
		if err != nil {
			return PingResult{}, err
		}
		if i >= p.o.Warmup {
			trip, way = append(trip, back.Sub(start)), append(way, arrived.Sub(start))
			post, poll = append(post, posted), append(poll, took)
		}
		time.Sleep(p.o.Interval)
	}
	return PingResult{Size: size, Count: len(trip), RoundTrip: summarize(trip), OneWay: summarize(way), Post: summarize(post), Poll: summarize(poll)}, nil
}
