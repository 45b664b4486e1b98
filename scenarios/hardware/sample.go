package hardware

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rdmasim/fabric/netem"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// reading is what the counters of a device and of its interface say at a moment.
type reading struct {
	device    netem.Counters // hw_counters of the port, with what the rdma command knows besides
	net       netem.Counters // of the interface, ethtool -S
	link      netem.Counters // of the interface, the kernel's own
	optional  netem.Counters // those that only the rdma command shows
	noDevice  error
	noEthtool error
}

// linkCounters are those that every interface has.
var linkCounters = []string{"tx_bytes", "rx_bytes", "tx_packets", "rx_packets", "tx_dropped", "rx_dropped"}

func readCounters(d *netem.Device) (r reading) {
	r.device, r.noDevice = netem.HardwareCounters("/", d.Name, 1)
	if d.Optional.Counts() {
		r.optional, _ = d.Optional.Read(context.Background(), netem.Exec{}, d.Name, 1) // once more at the next reading
	}
	if d.Netdev == "" {
		return r
	}
	r.net, r.noEthtool = netem.EthtoolStats(d.Netdev)
	r.link = netem.Counters{}
	for _, name := range linkCounters {
		b, err := os.ReadFile(filepath.Join("/sys/class/net", d.Netdev, "statistics", name))
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil {
			r.link[name] = n
		}
	}
	return r
}

// since returns what has been counted since an earlier reading.
func (r *reading) since(b *reading) reading {
	return reading{device: r.device.Sub(b.device), net: r.net.Sub(b.net), link: r.link.Sub(b.link), optional: r.optional.Sub(b.optional)}
}

// counters lists the totals of a run. Counters of the interface that did not move
// are left out, but for those of priorities: there are thousands of them.
func (r *reading) counters(d *netem.Device) (list []trace.Counter) {
	for _, k := range slices.Sorted(maps.Keys(r.device)) {
		name := k
		if n, ok := known[k]; ok {
			name = n
		}
		list = append(list, trace.Counter{Object: d.Name, Prio: -1, Name: name, Value: float64(r.device[k])})
	}
	for _, k := range slices.Sorted(maps.Keys(r.optional)) {
		list = append(list, trace.Counter{Object: d.Name, Prio: -1, Name: k, Value: float64(r.optional[k])})
	}
	for _, k := range slices.Sorted(maps.Keys(r.link)) {
		list = append(list, trace.Counter{Object: d.Netdev, Prio: -1, Name: "link_" + k, Value: float64(r.link[k])})
	}
	for _, k := range slices.Sorted(maps.Keys(r.net)) {
		if p, ok := netem.OfPriority(k); ok {
			list = append(list, trace.Counter{Object: d.Netdev, Prio: int8(p.Prio), Name: p.Name, Value: float64(r.net[k]) * p.Scale})
		}
		if r.net[k] != 0 {
			list = append(list, trace.Counter{Object: d.Netdev, Prio: -1, Name: k, Value: float64(r.net[k])})
		}
	}
	return list
}

// sampleEvery is the shortest time between readings: each reads a hundred files.
const sampleEvery = 100 * time.Millisecond

// maxSamples bounds the points of a run.
const maxSamples = 500_000

// sampler reads counters beside the reactor and keeps their rates.
type sampler struct {
	devices []*netem.Device
	every   time.Duration
	clock   clock
	stop    chan struct{}
	done    chan struct{}
	points  []samplePoint
	last    map[[2]string]float64 // value of the last point of an object and metric
}

type samplePoint struct {
	object string
	point  trace.Point
}

// startSampler begins; bin is the scenario's, 0 = no series.
func startSampler(devices []*netem.Device, bin sim.Duration, c clock) *sampler {
	s := &sampler{devices: devices, every: max(time.Duration(bin/sim.Nanosecond), sampleEvery), clock: c,
		stop: make(chan struct{}), done: make(chan struct{}), last: map[[2]string]float64{}}
	if bin <= 0 {
		close(s.done)
		return s
	}
	go s.run()
	return s
}

func (s *sampler) run() {
	defer close(s.done)
	before := make([]reading, len(s.devices))
	for i, d := range s.devices {
		before[i] = readCounters(d)
	}
	at := s.clock.now()
	wait := s.every
	for len(s.points) < maxSamples {
		select {
		case <-s.stop:
			return
		case <-time.After(wait):
		}
		now := s.clock.now()
		for i, d := range s.devices {
			r := readCounters(d)
			s.rates(d, r.since(&before[i]), at, now)
			before[i] = r
		}
		at = now
		wait = max(s.every, readingShare*time.Duration((s.clock.now()-now)/1000))
	}
}

// readingShare bounds what reading costs: a slow machine reads less often.
const readingShare = 20

// rates adds the points of one interval.
func (s *sampler) rates(d *netem.Device, r reading, from, to sim.Time) {
	dt := to.Sub(from).Seconds()
	if dt <= 0 {
		return
	}
	for k, n := range r.device {
		s.add(d.Name, k+"/s", from, float64(n)/dt)
		switch k {
		case "np_cnp_sent", "cnpSent", "tx_cnp_pkts":
			s.add(d.Name, trace.SeriesCNP, from, float64(n)/dt)
		}
	}
	for k, n := range r.optional {
		s.add(d.Name, k+"/s", from, float64(n)/dt)
	}
	if n, ok := r.link["tx_bytes"]; ok {
		s.add(d.Netdev, "link_tx_bps", from, float64(n)*8/dt)
	}
	if n, ok := r.link["rx_bytes"]; ok {
		s.add(d.Netdev, "link_rx_bps", from, float64(n)*8/dt)
	}
	for k, n := range r.net {
		p, ok := netem.OfPriority(k)
		if !ok {
			continue
		}
		object := d.Netdev + "/q" + strconv.Itoa(p.Prio)
		if p.Name == netem.PausedRx {
			s.add(object, trace.SeriesPaused, from, min(float64(n)*p.Scale/dt, 1))
			continue
		}
		s.add(object, p.Name+"/s", from, float64(n)*p.Scale/dt)
	}
}

// add keeps a value that differs from the one before; series begin at 0.
func (s *sampler) add(object, metric string, at sim.Time, v float64) {
	key := [2]string{object, metric}
	if s.last[key] == v {
		return
	}
	s.last[key] = v
	s.points = append(s.points, samplePoint{object, trace.Point{Time: at, Metric: metric, Mean: v, Min: v, Max: v}})
}

// end stops and hands over the points in an order that does not depend on maps.
func (s *sampler) end(w *world) {
	select {
	case <-s.done:
	default:
		close(s.stop)
		<-s.done
	}
	slices.SortStableFunc(s.points, func(a, b samplePoint) int {
		if a.point.Time != b.point.Time {
			if a.point.Time < b.point.Time {
				return -1
			}
			return 1
		}
		return strings.Compare(a.object+" "+a.point.Metric, b.object+" "+b.point.Metric)
	})
	for _, p := range s.points {
		p.point.Object = w.names.ID(p.object)
		w.sink.Point(p.point)
	}
}
