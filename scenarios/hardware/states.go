package hardware

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rdmasim/fabric/netem"
	"rdmasim/sim/trace"
)

// deviceStates says how the devices are set up, and what could not be measured.
func (w *world) deviceStates(before []reading, missing []trace.Missing) (f trace.DevicesFile) {
	f.Missing, f.Pollers = append(append(append([]trace.Missing{}, missing...), w.missing...), w.stillOff()...), w.poller
	for i, e := range w.ends {
		if e == nil {
			continue
		}
		s, missing := deviceState(&e.info)
		f.Devices = append(f.Devices, s)
		if err := before[i].noEthtool; err != nil {
			missing = append(missing, trace.Missing{What: "counters of the driver of " + e.info.Netdev, Reason: reason(err)})
		} else if !pausesCounted(before[i].net) {
			missing = append(missing, trace.Missing{What: "PFC of " + e.info.Netdev, Reason: "its driver counts no pauses of priorities"})
		}
		f.Missing = append(f.Missing, missing...)
	}
	return f
}

func pausesCounted(c netem.Counters) bool {
	for k := range c {
		if _, ok := netem.OfPriority(k); ok {
			return true
		}
	}
	return false
}

// deviceState reads the settings of a device. Nothing is changed.
func deviceState(d *netem.Device) (s trace.DeviceState, missing []trace.Missing) {
	s = trace.DeviceState{Name: d.Name, Driver: d.Driver, Firmware: d.Firmware, Netdev: d.Netdev, NUMA: d.NUMA}
	if len(d.Ports) > 0 {
		if g, ok := d.Ports[0].RoCEv2(); ok {
			s.Address = g.Address()
		}
	}
	if d.Netdev != "" {
		b, err := os.ReadFile(filepath.Join("/sys/class/net", d.Netdev, "mtu"))
		if err == nil {
			s.MTU, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		}
		dcb, err := netem.ReadDCB(context.Background(), netem.Exec{}, d.Netdev)
		if err == nil {
			s.PFC, s.TrustDSCP = append([]int{}, dcb.Lossless()...), dcb.TrustDSCP
		} else {
			missing = append(missing, trace.Missing{What: "DCB of " + d.Netdev, Reason: "neither dcb nor mlnx_qos tells"})
		}
	}
	cc, err := netem.CongestionParameters("/", d)
	if err != nil {
		missing = append(missing, trace.Missing{What: "congestion control of " + d.Name, Reason: "its driver shows no parameters"})
	}
	s.Congestion = cc
	return s, missing
}

// reason is the first line of an error, without the words that all of them share.
func reason(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	if errors.Is(err, netem.ErrNotSupported) {
		text = strings.TrimPrefix(text, fmt.Sprintf("%v: ", netem.ErrNotSupported))
	}
	return strings.TrimSuffix(text, ": ")
}
