package hardware

import (
	"errors"
	"fmt"
	"strings"

	"rdmasim/fabric/netem"
	"rdmasim/scenarios"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
	"rdmasim/verbs/ibv"
)

// endpoint is an open device with what its queue pairs share.
type endpoint struct {
	info  netem.Device
	ctx   verbs.Context
	attr  verbs.DeviceAttr
	port  verbs.PortAttr
	pd    verbs.ProtectionDomain
	ch    verbs.CompletionChannel
	cq    verbs.CompletionQueue
	gid   verbs.GID
	index int // of the GID
	mtu   verbs.MTU
	conns map[uint32]*conn // by queue pair number
	wc    []verbs.WorkCompletion
}

// cqEntries is the room of a device's completion queue; queue pairs are given
// no more requests than fit.
const cqEntries = 1 << 14

// openEndpoint opens a device and checks that its first port can carry RoCEv2.
func openEndpoint(info *netem.Device, want verbs.MTU) (e *endpoint, err error) {
	e = &endpoint{info: *info, conns: map[uint32]*conn{}, wc: make([]verbs.WorkCompletion, 64)}
	if len(info.Ports) == 0 {
		return nil, fmt.Errorf("%s has no port", info.Name)
	}
	gid, ok := info.Ports[0].RoCEv2()
	if !ok {
		return nil, fmt.Errorf("%s has no RoCEv2 IPv4 address: give its interface %s an IPv4 address", info.Name, info.Netdev)
	}
	e.index = gid.Index
	dev, err := ibv.Lookup(info.Name)
	if err != nil {
		return nil, err
	}
	if e.ctx, err = dev.Open(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	e.attr = e.ctx.Query()
	if e.port, err = e.ctx.QueryPort(1); err != nil {
		return e, err
	}
	if !e.port.Active {
		return e, fmt.Errorf("port 1 of %s is down: ip link set dev %s up", info.Name, info.Netdev)
	}
	e.mtu = min(want, e.port.ActiveMTU)
	if e.gid, err = e.ctx.QueryGID(1, gid.Index); err != nil {
		return e, err
	}
	if e.pd, err = e.ctx.AllocPD(); err != nil {
		return e, err
	}
	if e.ch, err = e.ctx.CreateCompletionChannel(); err != nil {
		return e, err
	}
	e.cq, err = e.ctx.CreateCQ(min(cqEntries, e.attr.MaxCQE), e.ch)
	return e, err
}

func (e *endpoint) close() error {
	var errs []error
	for _, c := range e.conns {
		errs = append(errs, c.destroy())
	}
	if e.cq != nil {
		errs = append(errs, e.cq.Destroy())
	}
	if e.ch != nil {
		errs = append(errs, e.ch.Destroy())
	}
	if e.pd != nil {
		errs = append(errs, e.pd.Dealloc())
	}
	if e.ctx != nil {
		errs = append(errs, e.ctx.Close())
	}
	return errors.Join(errs...)
}

// assign says which device each host of the scenario is. Given is a list of
// host=device, or of devices in the order of the hosts; empty takes the
// devices of this machine in order.
func assign(hosts []string, devices []netem.Device, given []string) ([]int, error) {
	if len(devices) == 0 {
		return nil, fmt.Errorf("%w: this host has no RDMA device; rdmasim hw doctor says what is missing, rdmasim hw vm boots a machine with two", verbs.ErrNotSupported)
	}
	number := map[string]int{}
	var names []string
	for i := range devices {
		number[devices[i].Name] = i
		names = append(names, devices[i].Name)
	}
	of := make([]int, len(hosts))
	for i := range of {
		of[i] = -1
	}
	if len(given) == 0 {
		if len(hosts) > len(devices) {
			return nil, fmt.Errorf("the scenario has %d hosts and this machine %d devices (%s): say which host is which with --device HOST=DEVICE", len(hosts), len(devices), strings.Join(names, ", "))
		}
		for i := range of {
			of[i] = i
		}
		return of, nil
	}
	for k, g := range given {
		host, dev, named := strings.Cut(g, "=")
		if !named {
			host, dev = "", g
			if k < len(hosts) {
				host = hosts[k]
			}
		}
		i := indexOf(hosts, host)
		if i < 0 {
			return nil, fmt.Errorf("--device %s: the scenario has no host %q; it has %s", g, host, strings.Join(hosts, ", "))
		}
		d, ok := number[dev]
		if !ok {
			return nil, fmt.Errorf("--device %s: there is no device %q; this machine has %s", g, dev, strings.Join(names, ", "))
		}
		of[i] = d
	}
	for i, d := range of {
		if d < 0 {
			return nil, fmt.Errorf("--device: host %s has no device", hosts[i])
		}
	}
	return of, nil
}

// assignHere says which device each of an agent's hosts is; -1 are those of others.
func assignHere(hosts []string, devices []netem.Device, at map[string]string) ([]int, error) {
	of := make([]int, len(hosts))
	for i, h := range hosts {
		of[i] = -1
		want, ok := at[h]
		if !ok {
			continue
		}
		var names []string
		for k := range devices {
			if devices[k].Name == want {
				of[i] = k
			}
			names = append(names, devices[k].Name)
		}
		if of[i] < 0 {
			return nil, fmt.Errorf("host %s: there is no device %q on %s; it has %s", h, want, machine(), orNone(strings.Join(names, ", ")))
		}
	}
	return of, nil
}

func indexOf(list []string, s string) int {
	for i, v := range list {
		if v == s {
			return i
		}
	}
	return -1
}

// world is a scenario on real devices.
type world struct {
	spec    *scenarios.Spec
	traffic *scenarios.Traffic
	ends    []*endpoint
	endOf   []int // by host
	clock   clock
	timers  timers
	apps    [][]*app // by workload and host
	left    int      // instances that are not done
	busy    int      // messages outstanding
	sink    trace.Sink
	names   *trace.Names
	flowID  uint64
	payload []int64      // delivered in the present bin, by host
	sends   map[int]bool // hosts that have delivered payload
	total   int64        // payload delivered since the warm-up
	made    []int        // connections, by host
	err     error

	remote        *remote // of an agent, which has some of the hosts; nil = all are here
	sampler       *sampler
	watching      []*conn // whose owners wait for WRITEs
	sent, arrived []int64 // messages by SEND over unreliable services: sent by a host, and of its messages arrived
	checks        []trace.Check
	versions      map[string]string // of a run of several machines
	anyReliable   bool
	reason        string // why the run is partial; "" = nothing was lost

	ports    []string // of a bridge, by host: there are no devices then
	faults   []*injection
	injector *injector // nil without faults
	poller   []trace.Poller
	missing  []trace.Missing // counters that the devices do not have
	collect  func()          // lets the garbage collector run again; nil = it does
}

// checkPath refuses traffic within one device: it is looped back inside and
// neither crosses a queue nor the wire.
func (w *world) checkPath(from, to int) error {
	if w.endOf[from] != w.endOf[to] || w.endOf[to] < 0 {
		return nil
	}
	return fmt.Errorf("%s and %s are the same device %s: their traffic would be looped back inside it, and neither the wire nor a fault would see it",
		w.traffic.Hosts[from], w.traffic.Hosts[to], w.ends[w.endOf[from]].info.Name)
}

// close destroys everything.
func (w *world) close() error {
	if w.collect != nil {
		w.collect()
	}
	var errs []error
	for _, e := range w.ends {
		if e != nil {
			errs = append(errs, e.close())
		}
	}
	return errors.Join(errs...)
}

// goodput writes the series of a bin.
func (w *world) goodput(at sim.Time, bin sim.Duration) {
	for i, n := range w.payload {
		if n == 0 && !w.sends[i] { // a series begins with what is not 0
			continue
		}
		w.sends[i] = true
		bps := float64(n) * 8 / bin.Seconds()
		w.sink.Point(trace.Point{Time: at, Object: w.names.Lookup(w.traffic.Hosts[i]), Metric: trace.SeriesGoodput, Mean: bps, Min: bps, Max: bps})
		w.payload[i] = 0
	}
}
