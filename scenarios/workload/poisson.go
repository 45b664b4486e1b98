package workload

import (
	"fmt"
	"math"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// PoissonParams are the parameters of poisson.
type PoissonParams struct {
	Common
	CDF        string    `key:"cdf" doc:"distribution of message sizes: websearch, fbhdp, alistorage2019, googlerpc2008, fixed or exponential"`
	CDFFile    string    `key:"cdf_file" doc:"file with lines of bytes and cumulative percent, instead of cdf"`
	Size       sim.Bytes `key:"size" doc:"size of messages of cdf fixed, mean size of cdf exponential"`
	Load       sim.Ratio `key:"load" doc:"payload offered by every sender as a share of the rate of its link"`
	Senders    HostSet   `key:"senders" doc:"hosts that send: how many, which, or all"`
	Receivers  HostSet   `key:"receivers" doc:"hosts that are sent to, each as likely as the others: how many, which, or all"`
	Connection string    `key:"connection" doc:"per_message (a fresh queue pair for every message, as published simulations have it) or per_peer"`
	Messages   int64     `key:"messages" doc:"messages per sender; 0 = until the workload stops"`
}

var _ = sim.Register(Workloads, "poisson", "Messages of random size arrive at every host at random times and go to random hosts.",
	PoissonParams{Common: defaultCommon(), CDF: "websearch", Load: 0.3, Senders: HostSet{"all"}, Receivers: HostSet{"all"}, Connection: "per_message"}, nil,
	func(p PoissonParams) (Workload, error) { return poisson{p}, nil })

type poisson struct{ PoissonParams }

func (w poisson) Plan(c *Context) (map[int]Instance, error) {
	plan, err := w.plan(c)
	if err != nil {
		return nil, fmt.Errorf("poisson: %w", err)
	}
	return plan, nil
}

func (w poisson) plan(c *Context) (map[int]Instance, error) {
	t, err := w.Common.resolve(c, "poisson")
	if err != nil {
		return nil, err
	}
	sizes, err := w.sizes(c)
	if err != nil {
		return nil, err
	}
	if largest := c.maxMessage(); sizes.Max() > largest {
		return nil, fmt.Errorf("sizes reach %v, and a message is at most %v", sizes.Max(), largest)
	}
	senders, err := w.Senders.resolve(c, "senders", -1)
	if err != nil {
		return nil, err
	}
	receivers, err := w.Receivers.resolve(c, "receivers", -1)
	if err != nil {
		return nil, err
	}
	if err := w.check(t); err != nil {
		return nil, err
	}
	g := generator{receiver: receiver{receives: t.send()}, traffic: t, sizes: sizes, perPeer: w.Connection == "per_peer", left: w.Messages}
	if w.Messages == 0 {
		g.left = math.MaxInt64
	}
	plan := make(map[int]Instance, len(c.Hosts))
	place := make(map[int]int, len(receivers))
	for i, r := range receivers {
		plan[r] = &receiver{receives: t.send()}
		place[r] = i
	}
	for _, s := range senders {
		i := g
		i.peers, i.self = receivers, -1
		if p, ok := place[s]; ok {
			i.self = p
			if len(receivers) == 1 {
				return nil, fmt.Errorf("receivers: %s would have nobody to send to but itself", c.Hosts[s])
			}
		}
		if i.gap, err = meanGap(sizes.Mean(), w.Load, c.LineRate[s]); err != nil {
			return nil, fmt.Errorf("%w (host %s, %v)", err, c.Hosts[s], c.LineRate[s])
		}
		plan[s] = &i
		if c.Offer != nil {
			o := Offer{Host: s, Gap: i.gap, Mean: sizes.Mean(), Messages: i.left}
			if t.stop != sim.Never {
				o.Span = t.stop.Sub(sim.Time(t.start))
			}
			c.Offer(o)
		}
	}
	return plan, nil
}

func (w poisson) check(t traffic) error {
	switch {
	case !(w.Load > 0 && w.Load <= 1):
		return fmt.Errorf("load: %v: want a share of the link above 0 and up to 1, such as 30%%", w.Load)
	case w.Messages < 0:
		return fmt.Errorf("messages: %d is negative", w.Messages)
	case w.Messages == 0 && t.stop == sim.Never:
		return fmt.Errorf("messages arrive for ever: give the run a duration or the workload a stop or messages")
	case w.Connection != "per_peer" && t.qps != 1:
		return fmt.Errorf("qps_per_peer: %d: only connection: per_peer has queue pairs that last", t.qps)
	}
	return oneOf("connection", w.Connection, "per_message", "per_peer")
}

func (w poisson) sizes(c *Context) (Sizes, error) {
	if w.CDFFile != "" {
		text, err := c.File(w.CDFFile)
		if err != nil {
			return nil, fmt.Errorf("cdf_file: %w", err)
		}
		cdf, err := ParseCDF(w.CDFFile, text)
		if err != nil {
			return nil, fmt.Errorf("cdf_file: %w", err)
		}
		return cdf, nil
	}
	switch w.CDF {
	case "fixed", "exponential":
		if err := checkMessage(c, "size", w.Size); err != nil {
			return nil, fmt.Errorf("%w (cdf: %s takes its size from size)", err, w.CDF)
		}
		if w.CDF == "fixed" {
			return fixedSize(w.Size), nil
		}
		return exponentialSize(w.Size), nil
	}
	if w.Size != 0 {
		return nil, fmt.Errorf("size: %v: only cdf: fixed and exponential take a size", w.Size)
	}
	return BuiltinCDF(w.CDF)
}

// meanGap returns the mean time between messages, mean size * 8 / (load * rate):
// the load counts payload, headers come on top.
func meanGap(meanSize float64, load sim.Ratio, rate sim.Rate) (sim.Duration, error) {
	if rate <= 0 {
		return 0, fmt.Errorf("load: the link has no rate")
	}
	gap := meanSize * 8 / (float64(load) * float64(rate)) * float64(sim.Second)
	if gap > float64(24*3600*sim.Second) {
		return 0, fmt.Errorf("load: %v is less than a message a day", load)
	}
	return max(1, sim.Duration(math.Round(gap))), nil
}

// generator is the instance of a host that sends at random: an open loop.
type generator struct {
	receiver
	traffic
	sizes    Sizes
	gap      sim.Duration // mean time between messages
	peers    []int        // shared between hosts, read only
	self     int          // the host's own place among peers, passed over; -1 = it is none
	perPeer  bool
	left     int64
	arrivals *sim.Rand
	lengths  *sim.Rand
	choices  *sim.Rand

	conns       map[int]*peerConns // per_peer: by host, made when first used
	sent        int
	outstanding int
	ended, done bool
}

func (g *generator) Start(h Host) {
	g.arrivals, g.lengths, g.choices = h.Rand("arrivals"), h.Rand("sizes"), h.Rand("destinations")
	g.conns = map[int]*peerConns{}
	g.next(h, g.start)
}

// next arms the timer of the next arrival, after d more.
func (g *generator) next(h Host, d sim.Duration) {
	d += g.arrivals.Exp(g.gap)
	if g.left == 0 || h.Now().Add(d) >= g.stop {
		g.ended = true
		g.finish(h)
		return
	}
	g.left--
	h.After(d, 0)
}

func (g *generator) OnTimer(h Host, _ uint64) {
	n := len(g.peers)
	if g.self >= 0 {
		n--
	}
	i := g.choices.IntN(n)
	if g.self >= 0 && i >= g.self {
		i++
	}
	size := g.sizes.Draw(g.lengths)
	qp := g.connection(h, g.peers[i], size)
	g.sent++
	if qp.State() == verbs.StateRTS { // one that lasts may be in error, which a completion has reported
		g.outstanding++
		if qp.PostSend(verbs.WorkRequest{WRID: uint64(g.sent), Opcode: g.opcode, Length: size, Signaled: true, Tag: g.tagAt(h.Now())}) != nil {
			g.outstanding--
		}
	}
	g.next(h, 0)
}

// connection returns the queue pair for a message of that size.
func (g *generator) connection(h Host, peer int, size sim.Bytes) verbs.Connection {
	if !g.perPeer {
		return h.Connect(ConnParams{Peer: peer, Index: g.sent, Priority: g.priority, Private: private(size, 1)})
	}
	c, ok := g.conns[peer]
	if !ok {
		c = &peerConns{}
		for i := range g.qps {
			c.qps = append(c.qps, h.Connect(ConnParams{Peer: peer, Index: i, Priority: g.priority, Private: private(g.sizes.Max(), perPeerReceives)}))
		}
		g.conns[peer] = c
	}
	i := c.turn
	c.turn = (i + 1) % g.qps
	return c.qps[i]
}

// peerConns are the lasting queue pairs to one peer, used in turn.
type peerConns struct {
	qps  []verbs.Connection
	turn int
}

// perPeerReceives is how many receives are kept posted for a connection that
// carries many messages: an open loop bounds nothing, but messages of one queue
// pair arrive one after the other.
const perPeerReceives = 64

func (g *generator) OnCompletion(h Host, qp verbs.Connection, wc verbs.WorkCompletion) {
	if wc.Recv {
		if g.perPeer {
			g.receiver.OnCompletion(h, qp, wc)
		}
		return
	}
	g.outstanding--
	if !g.perPeer {
		qp.Close()
	}
	g.finish(h)
}

func (g *generator) finish(h Host) {
	if g.ended && g.outstanding == 0 && !g.done {
		g.done = true
		h.Done()
	}
}
