package netem

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// dcb looks at how a device treats priorities, marks and notifications.
func (d *doctor) dcb(ctx context.Context, dev *Device) {
	cc, _ := CongestionParameters(d.root, dev)
	d.reaction(dev)
	if dev.Netdev == "" {
		return
	}
	var s DCB
	err := error(nil)
	if d.runner == nil {
		err = ErrNotSupported
	} else {
		s, err = ReadDCB(ctx, d.runner, dev.Netdev)
	}
	d.pfc(dev, &s, err)
	d.trust(dev, &s)
	d.dataPriority(dev, &s)
	d.cnpPriority(dev, &s, cc)
	d.buffers(dev, &s)
}

// pfc compares the priorities that may be paused with the design.
func (d *doctor) pfc(dev *Device, s *DCB, err error) {
	on := fmt.Sprintf("dcb pfc set dev %s prio-pfc all:off 3:on, or mlnx_qos -i %s --pfc 0,0,0,1,0,0,0,0; on SONiC: show pfc priority", dev.Netdev, dev.Netdev)
	switch list := s.Lossless(); {
	case s.PFC == nil:
		why := "neither dcb nor mlnx_qos tells"
		if err == nil {
			why = "dcb does not tell"
		}
		d.add("pfc", Unknown, dev.Netdev, "whether PFC is on cannot be read: "+why, "apt-get install iproute2 (dcb); dcb pfc show dev "+dev.Netdev)
	case d.profile == Lossy && len(list) > 0:
		d.add("pfc", Note, dev.Netdev, fmt.Sprintf("PFC is on for priorities %v; a lossy design does not need it, and the switch must not send pauses either", list), fmt.Sprintf("dcb pfc set dev %s prio-pfc all:off", dev.Netdev))
	case d.profile == Lossy:
		d.add("pfc", Good, dev.Netdev, "PFC is off, which is right in a lossy design: ECN and retransmission carry the load", "")
	case len(list) == 0:
		d.add("pfc", Warning, dev.Netdev, "PFC is off on all priorities: a "+string(d.profile)+" design drops packets at this host", on)
	case len(list) > 2:
		d.add("pfc", Warning, dev.Netdev, fmt.Sprintf("PFC is on for %d priorities, %v: most switches have headroom for two lossless classes", len(list), list), on)
	default:
		d.add("pfc", Good, dev.Netdev, fmt.Sprintf("PFC is on for priorities %v", list), "")
	}
}

func (d *doctor) trust(dev *Device, s *DCB) {
	remedy := fmt.Sprintf("mlnx_qos -i %s --trust dscp, or dcb app add dev %s dscp-prio 26:3", dev.Netdev, dev.Netdev)
	switch {
	case s.TrustDSCP == nil:
		d.add("trust", Unknown, dev.Netdev, "the trust mode cannot be read", "dcb app show dev "+dev.Netdev+"; mlnx_qos -i "+dev.Netdev)
	case *s.TrustDSCP:
		d.add("trust", Good, dev.Netdev, "the priority of a packet follows its DSCP", "")
	case d.profile == Lossy:
		d.add("trust", Note, dev.Netdev, "the priority of a packet follows its VLAN tag, and untagged packets have priority 0", remedy)
	default:
		d.add("trust", Warning, dev.Netdev, "the priority of a packet follows its VLAN tag: untagged RoCE has priority 0, whatever its DSCP, and PFC on another priority does not stop it", remedy)
	}
}

// prioOf returns the priority of a DSCP: its entry, or else its upper three bits.
func (s *DCB) prioOf(dscp int) int {
	if p, ok := s.DSCPPrio[dscp]; ok {
		return p
	}
	return dscp >> 3
}

// dataPriority looks at the DSCP that connections get unless they ask for one.
func (d *doctor) dataPriority(dev *Device, s *DCB) {
	tos, where := -1, ""
	for _, f := range []struct{ dir, name string }{
		{d.path("sys/kernel/config/rdma_cm", dev.Name, "ports/1"), "default_roce_tos"},
		{d.path("sys/class/infiniband", dev.Name, "tc/1"), "traffic_class"},
	} {
		text := value(f.dir, f.name)
		text = strings.TrimPrefix(text, "Global tclass=")
		if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < 256 {
			tos, where = n, f.name
		}
	}
	if tos < 0 || s.PFC == nil || d.profile == Lossy {
		return
	}
	prio := s.prioOf(tos >> 2)
	remedy := fmt.Sprintf("cma_roce_tos -d %s -t 106 and echo 106 > /sys/class/infiniband/%s/tc/1/traffic_class (DSCP 26, ECT(0)), or the DSCP that your switches map to a lossless class", dev.Name, dev.Name)
	if slices.Contains(s.Lossless(), prio) {
		d.add("data-dscp", Good, dev.Name, fmt.Sprintf("%s gives RoCE DSCP %d, priority %d, on which PFC is on", where, tos>>2, prio), "")
		return
	}
	d.add("data-dscp", Warning, dev.Name, fmt.Sprintf("%s gives RoCE DSCP %d, which is priority %d, and PFC is on for %v: the data is not lossless", where, tos>>2, prio, s.Lossless()), remedy)
}

// reaction looks at DCQCN of mlx5: NVIDIA's driver shows its switches below the
// interface; the kernel's own has none, and its parameters in debugfs.
func (d *doctor) reaction(dev *Device) {
	base := d.path("sys/class/net", dev.Netdev, "ecn")
	if dev.Netdev == "" || value(base, "roce_np/enable/3")+value(base, "roce_rp/enable/3") == "" {
		d.add("ecn", Unknown, dev.Name, "the driver does not show whether it reacts to ECN", "mlx5 with the kernel's driver: ls /sys/kernel/debug/mlx5/*/cc_params; its counters np_ecn_marked_roce_packets and rp_cnp_handled tell under load")
		return
	}
	for _, side := range []struct{ dir, what string }{{"roce_np", "send CNPs"}, {"roce_rp", "slow down on CNPs"}} {
		if value(base, side.dir+"/enable/3") == "1" {
			d.add("ecn", Good, dev.Netdev, "set to "+side.what+" on priority 3", "")
			continue
		}
		d.add("ecn", Warning, dev.Netdev, "does not "+side.what+" on priority 3: ECN is off", fmt.Sprintf("echo 1 > /sys/class/net/%s/ecn/%s/enable/3", dev.Netdev, side.dir))
	}
}

// cnpPriority looks at where CNPs travel: behind the data whose senders they are
// to slow down they come late, and in a paused class not at all.
func (d *doctor) cnpPriority(dev *Device, s *DCB, cc Counters) {
	dscp, ok := cc["np_cnp_dscp"]
	if !ok || dscp < 0 || dscp > 63 {
		return
	}
	prio := s.prioOf(int(dscp))
	if s.TrustDSCP == nil || !*s.TrustDSCP {
		p, ok := cc["np_cnp_prio"]
		if !ok {
			p, ok = cc["np_cnp_802p_prio"]
		}
		if !ok || p < 0 || p > 7 {
			return
		}
		prio = int(p)
	}
	if d.profile != Lossy && slices.Contains(s.Lossless(), prio) {
		d.add("cnp-priority", Warning, dev.Name, fmt.Sprintf("CNPs have DSCP %d, priority %d, which is lossless: they wait behind the data that they are about, and stop with it", dscp, prio),
			fmt.Sprintf("echo 48 > /sys/class/net/%s/ecn/roce_np/cnp_dscp, or np_cnp_dscp below cc_params, and serve its class first", dev.Netdev))
		return
	}
	d.add("cnp-priority", Good, dev.Name, fmt.Sprintf("CNPs have DSCP %d, priority %d", dscp, prio), "")
}

// buffers looks for a lossless priority whose receive buffer lossy ones share.
func (d *doctor) buffers(dev *Device, s *DCB) {
	if s.Buffer == nil || d.profile == Lossy {
		return
	}
	lossless := s.Lossless()
	for _, p := range lossless {
		for q, b := range s.Buffer {
			if b == s.Buffer[p] && !slices.Contains(lossless, q) {
				d.add("receive-buffer", Warning, dev.Netdev, fmt.Sprintf("priority %d, lossless, shares receive buffer %d with priority %d, which fills it without being paused", p, b, q),
					fmt.Sprintf("dcb buffer set dev %s prio-buffer all:0 %d:1, or mlnx_qos -i %s --prio2buffer", dev.Netdev, p, dev.Netdev))
				return
			}
		}
	}
}
