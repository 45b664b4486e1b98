package hardware

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"rdmasim/fabric/netem"
	"rdmasim/scenarios"
	"rdmasim/sim/trace"
)

// world is what reports and checks of the whole run need.
func (c *coordinator) world() *world {
	n := len(c.traffic.Hosts)
	w := &world{spec: c.spec, traffic: c.traffic, names: trace.NewNames(), sent: make([]int64, n), arrived: make([]int64, n)}
	for _, h := range c.traffic.Hosts {
		w.names.ID(h)
	}
	w.versions = map[string]string{"go": runtime.Version()}
	for _, a := range c.agents {
		w.versions["agent on "+a.machine] = fmt.Sprintf("version %s, clock within %v", a.version, a.offset.Error)
		for h, d := range a.devices {
			w.versions["device of "+h] = a.machine + "/" + d
		}
	}
	for i, f := range c.traffic.Faults {
		w.faults = append(w.faults, &injection{name: c.traffic.FaultNames[i], f: f})
		w.names.ID("fault/" + c.traffic.FaultNames[i])
	}
	return w
}

// merge writes the rows of all agents. Their times are those of one run: all
// began at the same instant, as well as their clocks are known.
func (c *coordinator) merge(w *world, out *trace.Writer, res *scenarios.Result) error {
	var list []trace.Counter
	var deltas []netem.Counters
	file := trace.DevicesFile{Missing: []trace.Missing{}}
	total := int64(0)
	first := true
	for i, a := range c.agents {
		r := a.result
		if r == nil {
			continue
		}
		c.rows(w, i, first)
		first = false
		res.End = max(res.End, r.End)
		total += r.Payload
		prefix := a.machine + "/"
		for _, k := range r.Counters {
			k.Object = prefix + k.Object
			list = append(list, k)
		}
		for _, d := range r.Deltas {
			deltas = append(deltas, d)
		}
		for _, in := range w.faults {
			f := r.Faults[in.name]
			in.hit, in.seen, in.dropped = in.hit+f[0], in.seen+f[1], in.dropped+f[2]
		}
		for k := range min(len(w.sent), len(r.Sent), len(r.Arrived)) {
			w.sent[k], w.arrived[k] = w.sent[k]+r.Sent[k], w.arrived[k]+r.Arrived[k]
		}
		w.anyReliable = w.anyReliable || r.Reliable
		w.checks = append(w.checks, r.Checks...)
		for _, d := range r.Devices.Devices {
			d.Name = prefix + d.Name
			file.Devices = append(file.Devices, d)
		}
		for _, p := range r.Devices.Pollers {
			p.Device = prefix + p.Device
			file.Pollers = append(file.Pollers, p)
		}
		for _, m := range r.Devices.Missing {
			m.What += " on " + a.machine
			file.Missing = append(file.Missing, m)
		}
	}
	if w.reason = c.losses(&file); w.reason != "" {
		res.Notes = append(res.Notes, w.reason)
	}
	if !res.Partial {
		if err := w.allActed(); err != nil {
			return err
		}
	}
	for _, a := range c.agents {
		w.checks = append(w.checks, trace.Check{Subject: "clock/" + a.machine, OK: true, Value: ptr(a.offset.Error.Seconds()),
			Text: fmt.Sprintf("the clock of %s is known within %v: times of different machines compare no better%s", a.machine, a.offset.Error, a.drift())})
	}
	w.total = total
	return w.writeRest(out, list, deltas, file, res)
}

// drift says by how much the clock of an agent may have moved since the start,
// where that can be told.
func (a *agentEnd) drift() string {
	o, ok := a.pulse.offset()
	if !ok {
		return ""
	}
	return fmt.Sprintf("; until the end it moved by %v at most", (o.Ahead-a.offset.Ahead).Abs()+o.Error+a.offset.Error)
}

// rows adds the rows of an agent under the names and numbers of the run. Faults
// are told of once: all agents tell of all.
func (c *coordinator) rows(w *world, i int, faults bool) {
	a := c.agents[i]
	name := func(id trace.ObjectID) trace.ObjectID {
		if id == 0 || int(id) > len(a.objects) {
			return 0
		}
		o := a.objects[id-1]
		if !strings.HasPrefix(o, "fault/") && !slices.Contains(c.traffic.Hosts, o) {
			o = a.machine + "/" + o
		}
		return w.names.ID(o)
	}
	for _, f := range a.sink.Flows {
		f.ID = f.ID*uint64(len(c.agents)) + uint64(i)
		w.sink.Flow(f)
	}
	for _, p := range a.sink.Points {
		if o := w.names.Name(name(p.Object)); slices.Contains(c.traffic.Hosts, o) && c.of[o] != i {
			continue // every agent has a series of every host, and values for its own
		}
		p.Object = name(p.Object)
		if p.Time >= 0 {
			w.sink.Point(p)
		}
	}
	for _, e := range a.sink.Events {
		if e.Kind == trace.EventFault && !faults {
			continue
		}
		e.Object, e.Peer, e.Time = name(e.Object), name(e.Peer), max(e.Time, 0)
		w.sink.Event(e)
	}
}
