package credibility

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"rdmasim/reports/tuning"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// counter says how a kind is called, and which counters of a run it is.
type counter struct {
	kind   Kind
	name   string // with %d for priority, queue or group
	device string
	unit   string
	of     []string
	scale  float64
	nic    bool
	more   string // what it means if the simulation has more
	less   string // and less
}

// counters in the order of a table.
var counters = []counter{
	{PFCRx, "PFC frames received, priority %d", "Port Rx PFC%d of show pfc counters", "frames/s per port", []string{trace.CountPFCXoffRx, trace.CountPFCXonRx}, 1, false, tooManyPauses, tooFewPauses},
	{PFCTx, "PFC frames sent, priority %d", "Port Tx PFC%d of show pfc counters", "frames/s per port", []string{trace.CountPFCXoffTx, trace.CountPFCRefreshTx, trace.CountPFCXonTx}, 1, false, tooManyPauses, tooFewPauses},
	{Marked, "packets marked, queue %d", "UC%d EcnMarked/pkts of show queue wredcounters", "packets/s per port", []string{trace.CountECNMarked}, 1, false, tooManyMarks, tooFewMarks},
	{WREDDropped, "packets dropped by WRED, queue %d", "UC%d WredDrp/pkts of show queue wredcounters", "packets/s per port", []string{trace.CountWREDDropped}, 1, false, "traffic that is not ECN-capable is not there in such amounts", "traffic that is not ECN-capable is missing"},
	{QueuePackets, "packets sent, queue %d", "UC%d Counter/pkts of show queue counters", "packets/s per port", []string{trace.CountQueueTxPackets}, 1, false, tooMuchLoad, tooLittleLoad},
	{QueueMax, "watermark of queue %d, the highest port", "UC%d of show queue watermark unicast", "bytes", []string{trace.CountQueueMax}, 1, false, "bursts of the model are larger than the real ones, or begin more at one time", "bursts are missing: more senders at once, or larger messages"},
	{GroupMax, "watermark of priority group %d, the highest port", "PG%d of show priority-group watermark shared", "bytes", []string{trace.CountIngressMax}, 1, false, "bursts of the model are larger than the real ones, or fewer ports share them", "bursts are missing: more senders at once, or larger messages"},
	{HeadroomMax, "headroom used by priority group %d, the highest port", "PG%d of show priority-group watermark headroom", "bytes", []string{trace.CountHeadroomMax}, 1, false, "cables are shorter, or peers obey sooner, than in the model", "cables are longer, or peers obey later, than in the model"},
	{NICPauseRx, "pauses received by NICs, priority %d", "rx_prio%d_pause of ethtool -S", "frames/s per NIC", []string{trace.CountPFCXoffRx, trace.CountPFCXonRx}, 1, true, tooManyPauses, tooFewPauses},
	{NICPauseTx, "pauses sent by NICs, priority %d", "tx_prio%d_pause of ethtool -S", "frames/s per NIC", []string{trace.CountPFCXoffTx, trace.CountPFCRefreshTx, trace.CountPFCXonTx}, 1, true, "hosts of the model are slower than the real ones", "a slow receiver is missing: nic.drain"},
	{NICPaused, "time that NICs were paused, priority %d", "rx_prio%d_pause_duration of ethtool -S", "us/s per NIC", []string{trace.CountPausedSeconds}, 1e6, true, tooManyPauses, tooFewPauses},
	{NICCNPSent, "CNPs sent by NICs", "np_cnp_sent of ethtool -S", "packets/s per NIC", []string{trace.CountCNPSent}, 1, true, tooManyMarks, tooFewMarks},
	{NICCNP, "CNPs handled by NICs", "rp_cnp_handled of ethtool -S", "packets/s per NIC", []string{trace.CountCNPHandled}, 1, true, tooManyMarks, tooFewMarks},
	{NICMarked, "marked packets that NICs received", "np_ecn_marked_roce_packets of ethtool -S", "packets/s per NIC", []string{trace.CountCEReceived}, 1, true, tooManyMarks, tooFewMarks},
}

const (
	tooManyPauses = "its bursts are larger, its buffer or alpha smaller, or its ECN marks later than the real one's"
	tooFewPauses  = "bursts, incasts or slow receivers are missing, or its buffer or alpha is larger than the real one's"
	tooManyMarks  = "it is more congested: load or incast degree are too high, or Kmin is too low"
	tooFewMarks   = "congestion is missing: load, incast degree or unevenness of paths, or Kmin is too high"
	tooMuchLoad   = "its load is too high"
	tooLittleLoad = "load is missing: other jobs, or the traffic of other hosts"
)

// fewEvents is how many events a rate must be made of on both sides: of fewer
// nothing can be said within a factor of two (a Poisson count of ten lies within
// 5 and 18 with 95 %).
const fewEvents = 10

// fewBytes is the watermark below which a queue holds a few frames by accident
// of their order: it is not compared.
const fewBytes = 20_000

// Options of a comparison.
type Options struct {
	Node string // pattern of the switches that the counters are of; "" = every switch
	// Ports says which port of the run a port of the counters is: Ethernet0=leaf1:1,
	// ens1np0=h4. Where it is nil, ports that the run knows by the names of the
	// counters are found by these, if all of one kind are.
	Ports []PortPair
}

// Compare lays today's counters beside a run, per second and per port. A
// counter that differs by more than tuning.CredibleFactor refutes the run.
func Compare(t *Today, dir string, o Options) (*tuning.Credibility, error) {
	run, err := trace.Open(dir)
	if err != nil {
		return nil, err
	}
	list, err := run.Counters()
	if err != nil {
		return nil, err
	}
	m, err := newPortMap(t, run.Topology, o)
	if err != nil {
		return nil, err
	}
	t = m.keep(t)
	w, err := newWorld(run, list, o, m)
	if err != nil {
		return nil, err
	}
	c := &tuning.Credibility{Ports: m.words(), Schema: tuning.CredibilitySchema, Files: t.Files, Run: dir, Interval: t.Interval.Seconds(), Credible: true}
	compared := 0
	for i := range counters {
		k := &counters[i]
		indices := t.indices(k, w)
		if len(indices) == 0 && t.has(k.kind) && w.has(k) {
			compared++
			c.Rows = append(c.Rows, w.none(t, k))
		}
		for _, index := range indices {
			row := w.row(t, k, index)
			switch row.Verdict {
			case tuning.Differs:
				c.Credible = false
				c.Missing = append(c.Missing, missing(k, &row))
				compared++
			case tuning.Agrees:
				compared++
			}
			c.Rows = append(c.Rows, row)
		}
	}
	c.Missing = append(c.Missing, t.Notes...)
	if compared == 0 {
		c.Credible = false
		c.Missing = append(c.Missing, "No counter could be compared: the run is too short, or has none of those that were given.")
	}
	return c, nil
}

// missing says what a difference means.
func missing(k *counter, r *tuning.Counters) string {
	why := k.less
	how := "less"
	if r.Simulated != nil && (r.Real == nil || *r.Simulated > *r.Real) {
		why, how = k.more, "more"
	}
	amount := ""
	if r.Factor != nil {
		f := *r.Factor
		if f < 1 {
			f = 1 / f
		}
		amount = fmt.Sprintf(" by a factor of %.3g", f)
	}
	return fmt.Sprintf("%s: the model has %s%s: %s.", r.Name, how, amount, why)
}

// world is the simulated side.
type world struct {
	seconds float64
	ports   int // of switches that sent anything
	nics    int
	sum     map[place]float64
	max     map[place]float64
	count   map[string]bool // names that the run has
}

type place struct {
	name  string
	nic   bool
	index int
}

func newWorld(run *trace.Run, list []trace.Counter, o Options, m *portMap) (*world, error) {
	w := &world{seconds: sim.Time(run.Manifest.Simulated - run.Manifest.Warmup).Seconds(), sum: map[place]float64{}, max: map[place]float64{}, count: map[string]bool{}}
	if w.seconds <= 0 {
		return nil, fmt.Errorf("%s: the run measured no time", run.Path(""))
	}
	kind := map[string]string{}
	matched := false
	for _, n := range run.Topology.Nodes {
		if n.Kind != "host" && o.Node != "" {
			ok, err := path.Match(o.Node, n.Name)
			if err != nil {
				return nil, fmt.Errorf("--node %q: %w", o.Node, err)
			}
			if !ok {
				continue
			}
			matched = true
		}
		kind[n.Name] = n.Kind
	}
	if o.Node != "" && !matched {
		return nil, fmt.Errorf("--node %q: no switch of the run has such a name", o.Node)
	}
	for _, c := range list {
		node, index := split(c)
		k, ok := kind[node]
		if !ok {
			continue
		}
		nic := k == "host"
		if !m.has(c.Object, nic) {
			continue
		}
		if c.Name == trace.CountTxPackets && c.Value > 0 {
			if nic {
				w.nics++
			} else {
				w.ports++
			}
		}
		p := place{c.Name, nic, index}
		w.count[c.Name] = true
		w.sum[p] += c.Value
		w.max[p] = math.Max(w.max[p], c.Value)
	}
	if n := m.count(false); n > 0 {
		w.ports = n // also those that carried nothing
	}
	if n := m.count(true); n > 0 {
		w.nics = n
	}
	return w, nil
}

// split returns node and priority or queue of a counter: leaf0:3 with priority
// 3, leaf0:3/q3, h4.
func split(c trace.Counter) (node string, index int) {
	object, tail, _ := strings.Cut(c.Object, "/")
	node, _, _ = strings.Cut(object, ":")
	index = int(c.Prio)
	if index < 0 && len(tail) == 2 && tail[0] == 'q' && tail[1] >= '0' && tail[1] <= '9' {
		index = int(tail[1] - '0')
	}
	return node, index
}

// has reports whether the text has counters of a kind.
func (t *Today) has(k Kind) bool {
	for key := range t.Value {
		if key.Kind == k {
			return true
		}
	}
	return false
}

// has reports whether the run counts a kind, or has ports that would.
func (w *world) has(k *counter) bool {
	return w.seconds > 0 && (k.nic && w.nics > 0 || !k.nic && w.ports > 0) && k.kind != QueuePackets && k.kind != WREDDropped
}

// none is the row of what neither side counts at all.
func (w *world) none(t *Today, k *counter) tuning.Counters {
	any := func(s string) string { return strings.ReplaceAll(s, "%d", "any") }
	name := strings.NewReplacer("priority %d", "any priority", "queue %d", "any queue", "group %d", "any group").Replace(k.name)
	return tuning.Counters{Name: name, Counter: any(k.device), Unit: k.unit, Ports: len(t.ports(k.nic)), SimPorts: w.portsOf(k), Real: tuning.Number(0), Simulated: tuning.Number(0),
		Verdict: tuning.Agrees, Why: "neither counts any"}
}

func (w *world) portsOf(k *counter) int {
	if k.nic {
		return w.nics
	}
	return w.ports
}

// indices are the priorities, queues or groups of a kind that the text has and
// that count anything on either side.
func (t *Today) indices(k *counter, w *world) []int {
	seen := map[int]bool{}
	for key, v := range t.Value {
		if key.Kind == k.kind && (v > 0 || w.sumOf(k, key.Index) > 0) {
			seen[key.Index] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func (w *world) sumOf(k *counter, index int) (sum float64) {
	for _, name := range k.of {
		if k.kind.Watermark() {
			sum = math.Max(sum, w.max[place{name, k.nic, index}])
			continue
		}
		sum += w.sum[place{name, k.nic, index}]
	}
	return sum * k.scale
}

// row compares one counter.
func (w *world) row(t *Today, k *counter, index int) tuning.Counters {
	r := tuning.Counters{Name: k.name, Counter: k.device, Unit: k.unit, Verdict: tuning.NotCompared}
	if index >= 0 {
		r.Name, r.Counter = strings.ReplaceAll(k.name, "%d", fmt.Sprint(index)), strings.ReplaceAll(k.device, "%d", fmt.Sprint(index))
	}
	used := t.ports(k.nic)
	sum, top := 0.0, 0.0
	for key, v := range t.Value {
		if key.Kind == k.kind && key.Index == index && used[key.Port] {
			sum, top = sum+v, math.Max(top, v)
		}
	}
	r.Ports, r.SimPorts = len(used), w.portsOf(k)
	if k.kind.Watermark() {
		r.Real = tuning.Number(top)
	} else if r.Ports > 0 {
		r.Real = tuning.Number(sum / float64(r.Ports))
	}
	known := slices.ContainsFunc(k.of, func(name string) bool { return w.count[name] })
	if !known || r.SimPorts == 0 {
		r.Why = "the run has no such counter"
		return r
	}
	total := w.sumOf(k, index)
	if k.kind.Watermark() {
		r.Simulated = tuning.Number(total)
	} else {
		r.Simulated = tuning.Number(total / w.seconds / float64(r.SimPorts))
	}
	w.judge(&r, k, total)
	return r
}

// judge compares both sides of a row.
func (w *world) judge(r *tuning.Counters, k *counter, total float64) {
	if r.Real == nil || r.Simulated == nil {
		r.Why = "one side has no port that carried anything"
		return
	}
	expected := *r.Real * w.seconds * float64(r.SimPorts)
	if !k.kind.Watermark() && k.kind != NICPaused && total < fewEvents && expected < fewEvents {
		r.Why = fmt.Sprintf("%.3g events in the simulated time, %.3g to be expected: too few to tell", total, expected)
		return
	}
	if k.kind.Watermark() && math.Max(*r.Real, *r.Simulated) < fewBytes {
		r.Why = "a few frames on either side"
		return
	}
	if *r.Real > 0 && *r.Simulated > 0 {
		r.Factor = tuning.Number(*r.Simulated / *r.Real)
	}
	if r.Factor != nil && *r.Factor <= tuning.CredibleFactor && *r.Factor >= 1/tuning.CredibleFactor {
		r.Verdict = tuning.Agrees
		return
	}
	r.Verdict = tuning.Differs
}
