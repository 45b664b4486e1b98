package hardware

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"rdmasim/fabric/netem"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// wireDoctor asks an agent what it finds on its machine, and answers that.
type wireDoctor struct {
	Profile  netem.Profile   `json:"profile"`
	Findings []netem.Finding `json:"findings,omitempty"`
	Kernel   string          `json:"kernel,omitempty"`
	Devices  []wireDevice    `json:"devices,omitempty"`
}

// wireDevice is a device of an agent's machine, and how datagrams reach it.
type wireDevice struct {
	trace.DeviceState
	Module string    `json:"module,omitempty"` // version of the driver's module
	Board  string    `json:"board,omitempty"`
	Why    string    `json:"why,omitempty"` // it takes no part in probes
	GID    verbs.GID `json:"gid"`
	QPN    uint32    `json:"qpn"`
	MTU    verbs.MTU `json:"mtu"` // of the port
}

// wireProbe asks an agent to send a datagram from one of its devices to each
// target, or, without a device, which have arrived; and answers that.
type wireProbe struct {
	Device  string       `json:"device,omitempty"`
	Targets []wireTarget `json:"targets,omitempty"`
	Arrived []wireProbed `json:"arrived,omitempty"`
}

// wireTarget is where a datagram goes, how long it is and what it says.
type wireTarget struct {
	GID  verbs.GID `json:"gid"`
	QPN  uint32    `json:"qpn"`
	Size int       `json:"size"`
	Tag  uint64    `json:"tag"`
	Err  string    `json:"err,omitempty"` // of sending it
}

// wireProbed is a datagram that has arrived at a device.
type wireProbed struct {
	Device string `json:"device"`
	Tag    uint64 `json:"tag"`
}

// probeSlots are the receives of a device: a round of probes has fewer.
const probeSlots = 32

// probeMTU is the longest datagram.
const probeMTU = 4096

// prober is a device that sends and receives datagrams.
type prober struct {
	*endpoint
	qp   verbs.QueuePair
	mr   verbs.MemoryRegion // the receives, then what is sent
	seen []uint64
	done int // sends that have completed
	err  error
}

// examined is what an agent of a doctor keeps.
type examined struct{ probers []*prober }

// answer does what the coordinator of a doctor asks for.
func (x *examined) answer(ctx context.Context, l *link, m message) error {
	reply := message{Kind: m.Kind, Seq: m.Seq}
	switch {
	case m.Kind == kindReach && m.Reach != nil:
		reply.Reach = x.probe(ctx, m.Reach)
	case m.Kind == kindDoctor && m.Doctor != nil && x.probers == nil:
		var err error
		if reply.Doctor, err = x.examine(ctx, m.Doctor.Profile); err != nil {
			return err
		}
	default:
		return fmt.Errorf("a message %q without what it asks for, or again", m.Kind)
	}
	return l.send(reply)
}

// examine runs the doctor of this machine and opens its devices for probes.
func (x *examined) examine(ctx context.Context, profile netem.Profile) (*wireDoctor, error) {
	findings, err := netem.Doctor(ctx, netem.DoctorOptions{Root: "/", Profile: profile, Runner: netem.Exec{}})
	if err != nil {
		return nil, err
	}
	devices, err := netem.ReadDevices("/")
	if err != nil {
		return nil, err
	}
	w := &wireDoctor{Profile: profile, Findings: findings, Kernel: kernelRelease()}
	for i := range devices {
		d := wireDevice{}
		d.DeviceState, _ = deviceState(&devices[i])
		d.Module, d.Board = netem.ModuleVersion("/", devices[i].Driver), netem.Board("/", devices[i].Name)
		p, err := openProber(&devices[i])
		if err != nil {
			d.Why = reason(err)
		} else {
			x.probers = append(x.probers, p)
			d.GID, d.QPN, d.MTU = p.gid, p.qp.QPN(), p.mtu
		}
		w.Devices = append(w.Devices, d)
	}
	return w, nil
}

func (x *examined) close() error {
	var errs []error
	for _, p := range x.probers {
		errs = append(errs, p.destroy())
	}
	return errors.Join(errs...)
}

func openProber(d *netem.Device) (p *prober, err error) {
	e, err := openEndpoint(d, verbs.MTU4096)
	if err != nil {
		return nil, err
	}
	p = &prober{endpoint: e}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.destroy())
		}
	}()
	if p.mr, err = e.pd.RegisterMemory(verbs.MRParams{Length: (probeSlots + 1) * slotBytes, Access: verbs.LocalWrite}); err != nil {
		return nil, err
	}
	p.qp, err = e.pd.CreateQP(verbs.QPParams{Service: verbs.UD, SendCQ: e.cq, RecvCQ: e.cq, Capacity: verbs.Capacity{SendWR: 16, RecvWR: probeSlots, SendSGE: 1, RecvSGE: 1}})
	if err != nil {
		return nil, err
	}
	err = errors.Join(p.qp.Modify(verbs.QPAttr{State: verbs.StateInit, Port: 1, QKey: qKey}, verbs.AttrState|verbs.AttrPKeyIndex|verbs.AttrPort|verbs.AttrQKey),
		p.qp.Modify(verbs.QPAttr{State: verbs.StateRTR}, verbs.AttrState),
		p.qp.Modify(verbs.QPAttr{State: verbs.StateRTS}, verbs.AttrState|verbs.AttrSQPSN))
	for i := range uint64(probeSlots) {
		err = errors.Join(err, p.receive(i))
	}
	return p, err
}

func (p *prober) destroy() error {
	var errs []error
	if p.qp != nil {
		errs = append(errs, p.qp.Destroy())
	}
	if p.mr != nil {
		errs = append(errs, p.mr.Deregister())
	}
	return errors.Join(append(errs, p.endpoint.close())...)
}

// slotBytes is the room of one datagram with its header.
const slotBytes = probeMTU + verbs.GRHBytes

func (p *prober) receive(slot uint64) error {
	_, err := p.qp.PostRecv(verbs.RecvRequest{WRID: slot, SGList: []verbs.SGE{{Addr: p.mr.Addr() + slot*slotBytes, Length: slotBytes, LKey: p.mr.LKey()}}})
	return err
}

// poll takes completions: tags of what has arrived, and sends that are done.
func (p *prober) poll() error {
	for {
		n, err := p.cq.Poll(p.wc)
		if err != nil {
			return err
		}
		for i := range n {
			wc := &p.wc[i]
			if !wc.Recv {
				p.done++
				if wc.Status != verbs.StatusSuccess {
					p.err = fmt.Errorf("completion with %v", wc.Status)
				}
				continue
			}
			at := wc.WRID * slotBytes
			if wc.Status == verbs.StatusSuccess && wc.Length >= verbs.GRHBytes+8 {
				p.seen = append(p.seen, binary.BigEndian.Uint64(p.mr.Bytes()[at+verbs.GRHBytes:]))
			}
			if err := p.receive(wc.WRID); err != nil {
				return err
			}
		}
		if n == 0 {
			return nil
		}
	}
}

// send sends one datagram and waits until the device is done with it.
func (p *prober) send(ctx context.Context, t *wireTarget) error {
	if t.Size < 8 || t.Size > int(p.mtu.Bytes()) {
		return fmt.Errorf("a datagram of %d B: the path MTU is %v", t.Size, p.mtu.Bytes())
	}
	ah, err := p.pd.CreateAH(verbs.AHAttr{DGID: t.GID, SGIDIndex: p.index, Port: 1, HopLimit: 64})
	if err != nil {
		return fmt.Errorf("no way to its address: %w", err)
	}
	at := uint64(probeSlots * slotBytes)
	binary.BigEndian.PutUint64(p.mr.Bytes()[at:], t.Tag)
	p.done, p.err = 0, nil
	_, err = p.qp.PostSend(verbs.WorkRequest{Opcode: verbs.OpSend, Signaled: true, AH: ah, RemoteQPN: t.QPN, RemoteQKey: qKey,
		SGList: []verbs.SGE{{Addr: p.mr.Addr() + at, Length: uint32(t.Size), LKey: p.mr.LKey()}}})
	for deadline := time.Now().Add(lost); err == nil && p.done == 0; {
		if err = p.poll(); err == nil && p.done == 0 {
			time.Sleep(200 * time.Microsecond)
			if time.Now().After(deadline) {
				err = fmt.Errorf("the device was not done with it within %v", lost)
			}
		}
		err = errors.Join(err, ctx.Err())
	}
	return errors.Join(err, p.err, ah.Destroy())
}

// probe answers a wireProbe.
func (x *examined) probe(ctx context.Context, q *wireProbe) *wireProbe {
	a := &wireProbe{Device: q.Device}
	for _, p := range x.probers {
		if q.Device == "" {
			if err := p.poll(); err != nil {
				continue
			}
			for _, tag := range p.seen {
				a.Arrived = append(a.Arrived, wireProbed{p.info.Name, tag})
			}
			p.seen = nil
			continue
		}
		if p.info.Name != q.Device {
			continue
		}
		for _, t := range q.Targets {
			if err := p.send(ctx, &t); err != nil {
				t.Err = reason(err)
			}
			a.Targets = append(a.Targets, t)
		}
	}
	return a
}
