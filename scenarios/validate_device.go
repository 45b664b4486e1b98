package scenarios

import (
	"slices"
	"strconv"

	"rdmasim/sim"
)

// checkSwitch checks a switch whose keys stand at path.
func (s *Spec) checkSwitch(w *SwitchSpec, path string) error {
	if err := s.checkBuffer(w, path); err != nil {
		return err
	}
	if err := s.distinct(w.PFC.Priorities, path+".pfc.priorities"); err != nil {
		return err
	}
	if err := s.checkECN(w.ECN, path+".ecn"); err != nil {
		return err
	}
	for i, e := range w.ECNByRate {
		at := path + ".ecn_by_rate." + strconv.Itoa(i)
		if e.Rate <= 0 {
			return s.errorAt(at+".rate", e.Rate.String(), "want more than 0bps")
		}
		if j := slices.IndexFunc(w.ECNByRate, func(o ECNRateSpec) bool { return o.Rate == e.Rate }); j < i {
			return s.errorAt(at+".rate", e.Rate.String(), "is there twice: give each rate once")
		}
		if err := s.checkECN(e.ECN, at+".ecn"); err != nil {
			return err
		}
	}
	if w.PFC.Timer && !w.PFC.Refresh.Auto && w.PFC.Refresh.Value == 0 {
		return s.errorAt(path+".pfc.refresh", "0s", "want auto, or more than 0s")
	}
	if w.Balance.Method == "flowlet" && w.Balance.Gap == 0 {
		return s.errorAt(path+".balance.gap", "0s", "want more than 0s for flowlets")
	}
	return s.checkRules(w, path)
}

func (s *Spec) checkBuffer(w *SwitchSpec, path string) error {
	b := &w.Buffer
	at := path + ".buffer."
	lossless := sim.Bytes(len(w.PFC.Priorities))
	for _, a := range []struct {
		key string
		v   sim.Ratio
	}{{"alpha", b.Alpha}, {"egress_alpha", b.EgressAlpha}} {
		if a.v < minAlpha || a.v > maxAlpha {
			return s.errorAt(at+a.key, a.v.String(), "want more than 0, from 1/65536 to %d, for example 1/8", maxAlpha)
		}
	}
	switch {
	case b.Size <= 0:
		return s.errorAt(at+"size", b.Size.String(), "want more than 0B")
	case b.Size > sim.TiB:
		return s.errorAt(at+"size", b.Size.String(), "want at most %v", sim.TiB)
	case b.Reserve >= b.Size:
		return s.errorAt(at+"reserve", b.Reserve.String(), "is not less than the whole buffer, %v", b.Size)
	case !b.Headroom.Auto && b.Headroom.Value >= b.Size:
		return s.errorAt(at+"headroom", b.Headroom.Value.String(), "is not less than the whole buffer, %v: headroom is per port and lossless priority", b.Size)
	case !b.Headroom.Auto && (b.Headroom.Value+b.Reserve)*lossless >= b.Size:
		return s.errorAt(at+"headroom", b.Headroom.Value.String(), "with a reserve of %v for each of %d lossless priorities, one port takes the whole buffer, %v", b.Reserve, lossless, b.Size)
	case b.XonOffset >= b.Size:
		return s.errorAt(at+"xon_offset", b.XonOffset.String(), "is not less than the whole buffer, %v", b.Size)
	}
	return nil
}

func (s *Spec) distinct(list []int, path string) error {
	for i, p := range list {
		if slices.Index(list, p) < i {
			return s.errorAt(path+"."+strconv.Itoa(i), strconv.Itoa(p), "is there twice")
		}
	}
	return nil
}

func (s *Spec) checkECN(curves map[int]ECNSpec, path string) error {
	for p := range 8 {
		e, ok := curves[p]
		if !ok || e.from.name != "" { // a baseline is checked when it is resolved
			continue
		}
		at := path + "." + strconv.Itoa(p)
		switch {
		case e.Kmin > e.Kmax:
			return s.errorAt(at+".kmin", e.Kmin.String(), "is more than kmax, %v: want kmin <= kmax", e.Kmax)
		case !(e.Pmax > 0 && e.Pmax <= 1):
			return s.errorAt(at+".pmax", e.Pmax.String(), "want a probability above 0 and up to 1, such as 20%%")
		}
	}
	return nil
}

// checkNIC checks a NIC whose keys stand at path.
func (s *Spec) checkNIC(n *NICSpec, path string) error {
	f := &n.Frame
	payload := sim.Bytes(n.PathMTU)
	for _, b := range []struct {
		key string
		v   sim.Bytes
	}{{"payload", f.Payload}, {"header", f.Header}, {"ack", f.Ack}, {"cnp", f.CNP}, {"pfc", f.PFC}, {"overhead", f.Overhead.Value}} {
		if b.v > maxFrame {
			return s.errorAt(path+".frame."+b.key, b.v.String(), "want at most %v", maxFrame)
		}
	}
	if f.Set && f.Payload > 0 {
		payload = f.Payload
	}
	switch {
	case n.Recovery == "selective_repeat" && (n.IRN.RTOLow <= 0 || n.IRN.RTOHigh < n.IRN.RTOLow):
		return s.errorAt(path+".irn.rto_high", n.IRN.RTOHigh.String(), "want 0s < rto_low (%v) <= rto_high", n.IRN.RTOLow)
	case !n.IRN.BDP.Auto && n.IRN.BDP.Value < payload:
		return s.errorAt(path+".irn.bdp", n.IRN.BDP.Value.String(), "is less than a packet of %v: nothing could be sent", payload)
	case (n.Drain > 0 || n.Host.slows()) && n.RxBuffer <= 0:
		return s.errorAt(path+".rx_buffer", n.RxBuffer.String(), "want more than 0B where drain, bus or caches make packets wait")
	case !n.RxXoff.Auto && n.RxXoff.Value > n.RxBuffer:
		return s.errorAt(path+".rx_xoff", n.RxXoff.Value.String(), "is more than rx_buffer, %v", n.RxBuffer)
	case n.Window > 0 && n.Window < payload:
		return s.errorAt(path+".window", n.Window.String(), "is less than a packet of %v: nothing could be sent", payload)
	case n.Window > 0 && n.Window < payload*sim.Bytes(n.AckEvery):
		return s.errorAt(path+".window", n.Window.String(), "is less than ack_every, %d packets of %v: the sender would wait for an ACK that the receiver does not send", n.AckEvery, payload)
	}
	return s.checkHost(&n.Host, path+".host")
}

// maxFrame bounds sizes that a scenario gives frames: that of an IPv4 packet.
const maxFrame = 65535 * sim.Byte
