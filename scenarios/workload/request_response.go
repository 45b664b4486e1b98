package workload

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// RequestResponseParams are the parameters of request_response.
type RequestResponseParams struct {
	Common
	Clients HostSet      `key:"clients" doc:"hosts that ask; all = all but the servers"`
	Servers HostSet      `key:"servers" doc:"hosts whose memory is read and written"`
	Reads   sim.Ratio    `key:"reads" doc:"share of requests that are READs; the others are WRITEs"`
	Blocks  BlockMix     `key:"blocks" doc:"sizes of blocks with their weights, such as 4KiB:7,64KiB:3"`
	Depth   int          `key:"depth" doc:"requests outstanding per queue pair"`
	Think   sim.Duration `key:"think" doc:"mean time between the end of a request and the next one in its place; 0s = at once"`
	Fixed   bool         `key:"think_fixed" doc:"the think time is always the same instead of exponential"`
	Repeat  Repeat       `key:"repeat" doc:"requests per queue pair, or forever"`
}

// BlockMix is sizes with weights; in text SIZE:WEIGHT, separated by commas. A
// size without a weight counts once.
type BlockMix []blockShare

type blockShare struct {
	size   sim.Bytes
	weight int64
}

const (
	maxBlocks      = 256
	maxBlockWeight = 1_000_000
)

// UnmarshalText reads sizes and weights.
func (m *BlockMix) UnmarshalText(b []byte) error {
	*m = nil
	for _, f := range strings.Split(string(b), ",") {
		size, weight, ok := strings.Cut(strings.TrimSpace(f), ":")
		s := blockShare{weight: 1}
		var err error
		if s.size, err = sim.ParseBytes(size); err != nil {
			return err
		}
		if ok {
			if s.weight, err = strconv.ParseInt(weight, 10, 64); err != nil || s.weight < 1 || s.weight > maxBlockWeight {
				return fmt.Errorf("%q is not a weight: want 1..%d", weight, maxBlockWeight)
			}
		}
		*m = append(*m, s)
	}
	return nil
}

// MarshalText prints what UnmarshalText reads.
func (m BlockMix) MarshalText() ([]byte, error) {
	words := make([]string, len(m))
	for i, s := range m {
		words[i] = fmt.Sprintf("%v:%d", s.size, s.weight)
	}
	return []byte(strings.Join(words, ",")), nil
}

// The mix is a choice: small random reads are what block storage is asked for most.
var _ = sim.Register(Workloads, "request_response", "Clients read and write blocks in the memory of servers, a few at a time, with pauses to think: storage.",
	RequestResponseParams{Common: defaultCommon(), Clients: HostSet{"all"}, Servers: HostSet{"1"}, Reads: 0.7, Blocks: BlockMix{{4 * sim.KiB, 1}}, Depth: 8, Repeat: 100}, nil,
	func(p RequestResponseParams) (Workload, error) { return requestResponse{p}, nil })

type requestResponse struct{ RequestResponseParams }

func (w requestResponse) Plan(c *Context) (map[int]Instance, error) {
	plan, err := w.plan(c)
	if err != nil {
		return nil, fmt.Errorf("request_response: %w", err)
	}
	return plan, nil
}

func (w requestResponse) plan(c *Context) (map[int]Instance, error) {
	if w.Verb != "write" {
		return nil, fmt.Errorf("verb: %q: reads says how requests are made; leave verb out", w.Verb)
	}
	t, err := w.Common.resolve(c, "request_response")
	if err != nil {
		return nil, err
	}
	servers, err := w.Servers.resolve(c, "servers", -1)
	if err != nil {
		return nil, err
	}
	clients, err := w.clients(c, servers)
	if err != nil {
		return nil, err
	}
	if err := w.check(c, &t); err != nil {
		return nil, err
	}
	plan := map[int]Instance{}
	for _, s := range servers {
		plan[s] = receiver{}
	}
	for _, i := range clients {
		a := &asker{traffic: t, p: w.RequestResponseParams}
		for _, b := range w.Blocks {
			a.weights += b.weight
		}
		for _, s := range servers {
			for k := range t.qps {
				a.lanes = append(a.lanes, loop{peer: s, index: k})
			}
		}
		plan[i] = a
	}
	return plan, nil
}

// clients are the hosts that ask: those named, or all that are not servers.
func (w requestResponse) clients(c *Context, servers []int) ([]int, error) {
	all, err := w.Clients.resolve(c, "clients", -1)
	if err != nil {
		return nil, err
	}
	isServer := map[int]bool{}
	for _, s := range servers {
		isServer[s] = true
	}
	everybody := len(w.Clients) == 0 || len(w.Clients) == 1 && w.Clients[0] == "all"
	var out []int
	for _, i := range all {
		switch {
		case !isServer[i]:
			out = append(out, i)
		case !everybody:
			return nil, fmt.Errorf("clients: %s is a server too", c.Hosts[i])
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("clients: every host is a server")
	}
	return out, nil
}

func (w requestResponse) check(c *Context, t *traffic) error {
	switch {
	case w.Reads < 0 || w.Reads > 1:
		return fmt.Errorf("reads: %v: want 0..1", float64(w.Reads))
	case len(w.Blocks) == 0 || len(w.Blocks) > maxBlocks:
		return fmt.Errorf("blocks: %d sizes: want 1..%d", len(w.Blocks), maxBlocks)
	case w.Think < 0:
		return fmt.Errorf("think: %v is negative", w.Think)
	}
	for _, b := range w.Blocks {
		if err := checkMessage(c, "blocks", b.size); err != nil {
			return err
		}
	}
	if err := checkDepth(w.Depth); err != nil {
		return err
	}
	return t.checkEnds(w.Repeat)
}

// asker is a client: every place of its queues holds one request after the other.
type asker struct {
	Nop
	traffic
	p       RequestResponseParams
	weights int64
	lanes   []loop
	rand    *sim.Rand
	waiting int // places that think
	done    bool
}

// begin is the token of the start; others are the lane whose place has thought.
const begin = 1<<64 - 1

func (a *asker) Start(h Host) { h.After(a.start, begin) }

func (a *asker) OnTimer(h Host, token uint64) {
	if token != begin {
		a.waiting--
		a.ask(h, int(token))
		a.finish(h)
		return
	}
	a.rand = h.Rand("requests")
	for i := range a.lanes {
		l := &a.lanes[i]
		l.qp = h.Connect(ConnParams{Peer: l.peer, Index: l.index, Priority: a.priority, Depth: a.p.Depth, Private: private(1, a.p.Depth)})
		for range a.p.Depth {
			a.ask(h, i)
		}
	}
	a.finish(h)
}

func (a *asker) more(h Host, l *loop) bool {
	return !l.dead && (a.p.Repeat == Forever || l.posted < int64(a.p.Repeat)) && h.Now() < a.stop
}

// ask posts one request.
func (a *asker) ask(h Host, i int) {
	l := &a.lanes[i]
	if !a.more(h, l) {
		return
	}
	size := a.p.Blocks[0].size
	if len(a.p.Blocks) > 1 {
		pick := int64(a.rand.Float64() * float64(a.weights))
		for _, b := range a.p.Blocks {
			if size = b.size; pick < b.weight {
				break
			}
			pick -= b.weight
		}
	}
	op := verbs.OpWrite
	if a.rand.Float64() < float64(a.p.Reads) {
		op = verbs.OpRead
	}
	l.posted++
	l.outstanding++
	if err := l.qp.PostSend(verbs.WorkRequest{WRID: uint64(i), Opcode: op, Length: size, Signaled: true, Tag: a.tagAt(h.Now())}); err != nil {
		l.posted--
		l.outstanding--
		l.dead = l.dead || !errors.Is(err, verbs.ErrNoMemory)
	}
}

func (a *asker) OnCompletion(h Host, _ verbs.Connection, wc verbs.WorkCompletion) {
	i := int(wc.WRID)
	l := &a.lanes[i]
	l.outstanding--
	l.dead = l.dead || wc.Status != verbs.StatusSuccess
	switch d := a.think(); {
	case !a.more(h, l):
	case d > 0:
		a.waiting++
		h.After(d, uint64(i))
	default:
		a.ask(h, i)
	}
	a.finish(h)
}

func (a *asker) think() sim.Duration {
	if a.p.Think == 0 || a.p.Fixed {
		return a.p.Think
	}
	return a.rand.Exp(a.p.Think)
}

func (a *asker) finish(h Host) {
	if a.done || a.waiting > 0 {
		return
	}
	for i := range a.lanes {
		if l := &a.lanes[i]; l.outstanding > 0 || a.more(h, l) {
			return
		}
	}
	a.done = true
	h.Done()
}
